"""Requests of the page as scenario tests: Python that is right by itself, and that runs as pasted."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contracts.manual.traffic_findings import Seen
from contracts.page.scenario import Literals
from contracts.settings.embedded_sandbox import SANDBOX_SETTINGS
from contracts.settings.target import ACCOUNT_ROLES
from tests.meta.page.conftest import Page

CHECKOUT = Path(__file__).parents[3]
Passes = Callable[..., Seen]


def made_of(page: Page, operation: str, role: str = "author", **wish: Any) -> dict[str, Any]:
    """Send a request that was filled in, changed by `change`, and word it as a test."""
    change = wish.pop("change", as_it_is)
    asked = {"operation": operation, "role": role, "realm": wish.pop("realm", "")}
    filled = page.done("/api/prepare", **asked, live=True, **wish)
    change(filled["form"])
    sent = page.done("/api/send", **asked, form_number=filled["form_number"], form=filled["form"])
    return page.done("/api/scenario", form_number=sent["form_number"])


def as_it_is(form: dict[str, Any]) -> None:
    """Change nothing."""
    assert form


def lines(made: dict[str, Any]) -> list[str]:
    """The lines of the test's body, behind its docstring."""
    text = str(made["text"])
    return [line.strip() for line in text[text.index("request = ") :].splitlines()]


def edit(**members: Any) -> Callable[[dict[str, Any]], None]:
    """Change members of a form's body; None takes one out."""

    def change(form: dict[str, Any]) -> None:
        body = json.loads(form["body"]["text"]) | members
        form["body"]["text"] = json.dumps({name: value for name, value in body.items() if value is not None})

    return change


def test_a_fault_becomes_one_line_and_its_clause_the_claim(faithful_page: Page) -> None:
    made = made_of(faithful_page, "createContact", fault="body.firstName:missing")
    assert made["name"] == "test_by_hand_contact_mandatory_first_name.py"
    assert lines(made)[:4] == [
        'request = ordinary.request("createContact")',
        'del request.body["firstName"]',
        "sent = request.send(author)",
        'claim("contact-mandatory-first-name", "createContact").reports(sent, "Error.Mandatory", "firstName")',
    ]


def test_only_what_was_contradicted_is_claimed(broken_page: Page) -> None:
    made = made_of(broken_page, "saveDraft", fault="path.uid:too-short")
    assert lines(made) == [
        'request = ordinary.request("saveDraft")',
        "uid = fresh.uid(10)",
        'request.path["uid"] = uid',
        "sent = request.send(author)",
        'claim("uid-too-short", "saveDraft").turned_down(sent)',
    ]
    assert made["notes"] == []


def test_changes_are_told_from_what_was_made_up(faithful_page: Page) -> None:
    def change(form: dict[str, Any]) -> None:
        edit(phones=["+1"], country={"identifier": "ke"}, prefix=None, extra=True)(form)
        form["query"]["more"] = "1"
        form["headers"] = {"Realm": None, "X-Note": 'a "note"'}

    assert lines(made_of(faithful_page, "createContact", change=change))[1:8] == [
        'del request.body["prefix"]',
        'request.body["country"]["identifier"] = "ke"',
        'request.body["phones"][0] = "+1"',
        'request.body["extra"] = True',
        'request.query["more"] = "1"',
        'request.headers["Realm"] = None',
        'request.headers["X-Note"] = \'a "note"\'',
    ]


def test_a_body_that_is_another_altogether_stands_in_one_piece(faithful_page: Page) -> None:
    made = made_of(faithful_page, "saveDraft", change=other_draft)
    assert "from dataclasses import replace" in made["text"]
    assert '"identifier": request.path["uid"]' in made["text"]
    assert "rc-" not in made["text"]


def test_what_has_to_be_refused_for_more_than_one_reason_is_claimed_by_one(faithful_page: Page) -> None:
    made = made_of(faithful_page, "createContact", change=two_faults)
    assert 'claim("contact-mandatory-first-name", "createContact").turned_down(sent)' in made["text"]


def test_other_roles_work_on_records_of_their_own(faithful_page: Page) -> None:
    made = made_of(faithful_page, "getDraft", role="other")
    assert 'ValidRequests(other, arrange, samples, fresh, worker.target.accounts["other"])' in made["text"]
    anonymous = made_of(faithful_page, "createWorkflowRecord", role="anonymous")
    assert "sent = request.send(anonymous)" in anonymous["text"]
    assert 'claim("workflow-anonymous", "createWorkflowRecord").has_message(sent)' in anonymous["text"]


def test_what_passed_becomes_a_test_too(broken_page: Page, passes: Passes) -> None:
    body = {"header": {"identifier": "somebodys-own-1"}, "firstName": "Ada"}
    path = "/api/v2013/documents/short-one1/versions/draft?schema=contact"
    seen = passes(broken_page, "PUT", path, "saveDraft", body, 201)
    made = broken_page.done("/api/scenario-of-seen", number=seen.number)
    assert "uid = fresh.uid(10)" in made["text"]
    assert 'claim("uid-too-short", "saveDraft").turned_down(sent)' in made["text"]
    assert "short-one1" not in made["text"]


def test_secrets_do_not_come_into_a_test(faithful_page: Page) -> None:
    made = made_of(faithful_page, "createToken", change=edit(email="nobody@example.test"))
    assert 'request.body["email"] = "nobody@example.test"' in made["text"]
    assert "sandbox-author" not in made["text"]
    assert "[redacted]" not in made["text"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain", '"plain"'),
        ('say "so"', "'say \"so\"'"),
        ("it's", '"it\'s"'),
        ("both ' and \"", '"both \' and \\""'),
        ("back\\slash", '"back\\\\slash"'),
        ("line\nbreak", '"line\\nbreak"'),
        ("known", "request.path['uid']"),
        ("rc-ab12x y", 'fresh.prefix + "x y"'),
        ("a rc-ab12 b rc-ab12", '"a " + fresh.prefix + " b " + fresh.prefix'),
    ],
)
def test_texts_are_written_as_python_reads_them(text: str, written: str) -> None:
    made = Literals("rc-ab12", {"known": "request.path['uid']"}).text(text)
    assert made == written
    if "fresh" not in written and "request" not in written:
        assert eval(made) == text  # noqa: S307 - what the test wrote itself


def two_faults(form: dict[str, Any]) -> None:
    """Make a contact that lacks two fields."""
    edit(firstName=None, emails=None)(form)


def other_draft(form: dict[str, Any]) -> None:
    """Make another draft altogether."""
    header = json.loads(form["body"]["text"])["header"]
    form["body"]["text"] = json.dumps({"header": header, "title": {"en": "Seeds", "fr": "Semences"}})


def chain(page: Page) -> dict[str, Any]:
    """Word five requests as one test: what one answers is in the address, or in the filter, of the next."""
    first = page.tried("saveDraft")["form_number"]
    numbers = [first]
    for operation, place in (
        ("getDraft", "path"), ("listDrafts", "query"), ("createAttachment", "path"), ("getAttachment", "path"),
    ):  # fmt: skip
        values = {
            "listDrafts": {"$filter": f"identifier eq '{{{first}.identifier}}'"},
            "getAttachment": {
                "uid": f"{{{first}.identifier}}",
                "attachmentId": f"{{{numbers[-1]}.id}}",
                "filename": f"{{{numbers[-1]}.filename}}",
            },
        }.get(operation, {"uid": f"{{{first}.identifier}}"})
        asked = {"operation": operation, "role": "author", "realm": ""}
        filled = page.done("/api/prepare", **asked, live=True)
        filled["form"][place].update(values)
        sent = page.done("/api/send", **asked, form_number=filled["form_number"], form=filled["form"])
        numbers.append(sent["form_number"])
    return page.done("/api/sequence-scenario", steps=numbers)


def test_a_sequence_becomes_one_test_in_which_answers_give_what_later_requests_need(
    faithful_page: Page,
) -> None:
    made = chain(faithful_page)
    written = lines(made)
    taken = written.index('identifier_1 = value_of(sent, "identifier")')
    assert written[0] == 'request = ordinary.request("saveDraft")'
    assert 'request.path["uid"] = identifier_1' in written[taken:]
    assert """request.query["$filter"] = "identifier eq '" + identifier_1 + "'\"""" in written[taken:]
    assert {'request.path["attachmentId"] = id_2', 'request.path["filename"] = filename_3'} <= {
        *written[taken:]
    }
    assert made["text"].count("sent = ") == 5
    assert "rc-" not in made["text"]


SAMPLES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("saveDraft", {"fault": "path.uid:too-short"}),
    ("createContact", {"fault": "body.firstName:missing"}),
    ("createContact", {}),
    ("createToken", {}),
    ("createToken", {"fault": "body.password:missing"}),
    ("saveDraft", {"fault": "body:malformed"}),
    ("listDrafts", {"change": lambda form: form["query"].update({"$top": "1"})}),
    ("getDraft", {"fault": "path.uid:pattern", "role": "other"}),
    ("createAttachment", {}),
    ("getAttachmentThumbnail", {}),
    ("draftExists", {}),
    ("createWorkflowRecordWithIdentifier", {}),
    ("createWorkflowRecord", {"role": "restricted"}),
    ("updateWorkflowRecord", {"fault": "header.Realm:empty"}),
    ("createWorkflowRecord", {"role": "anonymous"}),
    ("createContact", {"change": two_faults}),
    ("saveDraft", {"change": other_draft}),
)


@pytest.fixture(scope="module")
def pasted(checkout: Path, faithful_page: Page) -> Path:
    """The checkout with many tests of the page, each in a file of its own."""
    for number, (operation, wish) in enumerate(SAMPLES):
        made = made_of(faithful_page, operation, **wish)
        name = made["name"].replace("test_by_hand", f"test_by_hand_{number}")
        (checkout / made["folder"] / name).write_text(made["text"], "utf-8")
    made = chain(faithful_page)
    (checkout / made["folder"] / "test_by_hand_chain.py").write_text(made["text"], "utf-8")
    return checkout


def run(checkout: Path, scratch: Path, url: str) -> tuple[int, dict[str, Any], str]:
    """Run what was pasted with plain pytest against a sandbox that is served already."""
    text = SANDBOX_SETTINGS.read_text("utf-8").replace("http://127.0.0.1:8080", url)
    (scratch / "aimed.toml").write_text(text, "utf-8")
    shutil.copytree(SANDBOX_SETTINGS.parent / "samples", scratch / "samples")
    accounts = {f"SANDBOX_{role.upper()}_EMAIL": f"{role}@sandbox.test" for role in ACCOUNT_ROLES}
    accounts |= {f"SANDBOX_{role.upper()}_PASSWORD": f"sandbox-{role}" for role in ACCOUNT_ROLES}
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "REGISTRY_"))
    }
    ended = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "tests/contract/scenario",
            "--target", str(scratch / "aimed.toml"), "--reports", str(scratch / "reports"), "--realm", "bch-dev",
        ],
        cwd=checkout, env=kept | accounts | {"PYTHONPATH": str(checkout)},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    (verdict,) = (scratch / "reports").glob("2*/verdict.json")
    return ended.returncode, json.loads(verdict.read_text("utf-8")), ended.stdout + ended.stderr


def test_pasted_tests_pass_on_a_good_service(pasted: Path, tmp_path: Path, sandbox_url: str) -> None:
    code, verdict, output = run(pasted, tmp_path, sandbox_url)
    assert (code, verdict["findings"]) == (0, []), output
    assert f"{len(SAMPLES) + 1} passed" in output


def test_pasted_tests_fail_where_the_finding_was_seen(pasted: Path, tmp_path: Path, broken_url: str) -> None:
    code, verdict, output = run(pasted, tmp_path, broken_url)
    assert code == 1, output
    found = {each["clause"] for each in verdict["findings"]}
    assert found == {"uid-too-short", "contact-mandatory-first-name", "list-top"}


def test_pasted_tests_keep_the_style_of_the_checkout(pasted: Path) -> None:
    settings = str(CHECKOUT / "pyproject.toml")
    for words in (("check", "--no-cache"), ("format", "--check", "--no-cache")):
        command = [sys.executable, "-m", "ruff", *words, "--config", settings, "tests/contract/scenario"]
        ended = subprocess.run(command, cwd=pasted, capture_output=True, text=True, timeout=60, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
