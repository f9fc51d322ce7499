"""`init`: writes settings that can be read, learns from recordings, and keeps no secret and no production address."""

import json
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from contracts.settings.settings_reader import read_target
from tests.meta.manual.sample_traffic import CONTACT, SITE, TOKEN, entry
from tests.meta.program import RunCommand

LOCKED = {"message": "The record is locked for workflow, cannot proceed."}
DOCUMENT = {
    "header": {"schema": "permit", "identifier": "a-record-of-mine"},
    "contact": {"firstName": "Ada", "address": {"en": "12 Row"}, "emails": ["ada@registry.test"]},
    "title": {"en": "A permit"},
}
Archive = Callable[[Iterable[dict[str, Any]]], Path]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that the program runs in, which has no settings yet."""
    monkeypatch.chdir(tmp_path)
    for name in ("BASE_URL", "EMAIL", "PASSWORD"):
        monkeypatch.delenv(f"REGISTRY_{name}", raising=False)
    return tmp_path


def recorded(method: str, path: str, status: int, answer: Any, sent: Any, realm: str) -> dict[str, Any]:
    headers = {"Realm": realm, "Authorization": f"Bearer {TOKEN}"}
    listed = [{"name": name, "value": value} for name, value in headers.items()]
    return entry(method, SITE + path, status, json.dumps(answer), sent=json.dumps(sent), headers=listed)


def recording(realm: str = "abs-dev") -> list[dict[str, Any]]:
    """A session in which a contact and a submission are taken, and a locked record is met."""
    submissions, submission = "/api/v2023/documents/schemas/permit", {"document": DOCUMENT}
    return [
        recorded("POST", "/api/v2013/documents?schema=contact", 201, {}, CONTACT, realm),
        recorded(
            "POST", "/api/v2013/documents?schema=other", 200, {"errors": [{"code": "c"}]}, CONTACT, realm
        ),
        recorded("POST", submissions, 200, {}, submission, realm),
        recorded("PUT", f"{submissions}/a-locked-record", 400, LOCKED, submission, realm),
        recorded("PUT", f"{submissions}/a-record-of-mine", 200, {}, submission, realm),
    ]


def written(here: Path, name: str = "dev") -> dict[str, Any]:
    return tomllib.loads((here / "targets" / f"{name}.toml").read_text("utf-8"))


def test_a_recording_gives_address_realms_and_what_the_service_took(
    command: RunCommand, here: Path, archive: Archive
) -> None:
    ended = command("init", "dev", "--from-har", archive(recording()))
    assert ended.code == 0, ended
    settings = written(here)
    assert (settings["base_url"], settings["realms"]) == (SITE, ["abs-dev"])
    assert settings["realm"]["abs-dev"] == {
        "contact_schema": "contact",
        "country_terms": [CONTACT["country"]["identifier"]],
        "contact_organization": "organization-abs-dev",
        "contact_document": "samples/dev-abs-dev-contact.json",
        "workflow_schema": "permit",
        "workflow_document": "samples/dev-abs-dev-workflow.json",
        "locked_identifier": "a-locked-record",
        "existing_identifier": "a-record-of-mine",
    }
    assert "realm.abs-dev.locked_identifier" in ended.out


def test_what_was_written_is_read_as_a_target(command: RunCommand, here: Path, archive: Archive) -> None:
    assert command("init", "dev", "--from-har", archive(recording())).code == 0
    known = {"REGISTRY_EMAIL": "a@b.test", "REGISTRY_PASSWORD": "p"}
    target = read_target(here / "targets" / "dev.toml", known, "dev.toml")
    document = target.realm_settings("abs-dev").workflow_document
    assert document is not None
    assert document["header"] == {"schema": "permit"}
    assert document["title"] == DOCUMENT["title"]
    contact = target.realm_settings("abs-dev").contact_document
    assert contact is not None
    assert (contact["type"], contact["firstName"]) == (CONTACT["type"], "Sample")


@pytest.mark.parametrize(("words", "kept"), [((), False), (("--keep-personal-data",), True)])
def test_personal_data_is_replaced_unless_it_is_to_be_kept_and_a_token_never_stays(
    command: RunCommand, here: Path, archive: Archive, words: tuple[str, ...], kept: bool
) -> None:
    ended = command("init", "dev", "--from-har", archive(recording()), *words)
    texts = [path.read_text("utf-8") for path in (here / "targets").rglob("*.*")]
    everything = "".join([ended.out, ended.err, *texts])
    assert TOKEN not in everything
    personal = ("12 Row", "ada@registry.test", CONTACT["emails"][0])
    assert [text in everything for text in personal] == [kept] * 3


def test_production_gives_no_address_and_its_realms_nothing(
    command: RunCommand, here: Path, archive: Archive
) -> None:
    ended = command("init", "dev", "--from-har", archive(recording("abs")))
    assert ended.code == 0, ended
    assert "PRODUCTION" in ended.out
    assert written(here)["base_url"] == ""
    assert "a-locked-record" not in (here / "targets" / "dev.toml").read_text("utf-8")


def test_a_spelling_and_a_scheme_that_alone_are_taken_become_settings(
    command: RunCommand, here: Path, archive: Archive
) -> None:
    mixed = [*recording("ABS-DEV"), *recording("abs-dev")]
    entries = json.loads(json.dumps(recording("ABS-DEV")).replace("Bearer ", "Ticket "))
    assert command("init", "both", "--from-har", archive(mixed)).code == 0
    assert command("init", "dev", "--from-har", archive(entries)).code == 0
    settings = written(here)
    assert settings["realm"]["abs-dev"]["sent_as"] == "ABS-DEV"
    assert settings["names"] == {"scheme": "Ticket"}
    assert "sent_as" not in written(here, "both")["realm"]["abs-dev"]


def test_an_environment_that_stands_in_the_way_is_told_and_the_file_stays(
    command: RunCommand, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGISTRY_EMAIL", "author@sandbox.test")
    monkeypatch.setenv("REGISTRY_PASSWORD", "sandbox-author")
    ended = command("init", "dev", "--base-url", "http://127.0.0.1:9")
    assert ended.code == 6
    assert written(here)["base_url"] == "http://127.0.0.1:9"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("dev",), "no address: give --base-url"),
        (("dev", "--base-url", "https://h.example/api/v2013"), "holds the interface's own /api/v"),
        (
            ("dev", "--base-url", "https://h.example/api/v2023/documents/x"),
            "take that out with all behind it",
        ),
        (("../dev", "--base-url", "https://h.example"), "is no name for a target"),
        (("dev", "--base-url", "https://h.example", "--realm", "abs"), "is a production realm"),
        (("dev", "--base-url", "https://h.example", "--realm", "zz-dev"), "unknown realm 'zz-dev'"),
        (("dev", "--from-har", "nowhere.har"), "no HAR file 'nowhere.har'"),
    ],
)
@pytest.mark.usefixtures("here")
def test_what_cannot_be_used_is_one_line(command: RunCommand, words: tuple[str, ...], says: str) -> None:
    ended = command("init", *words)
    assert ended.code == 4
    assert says in ended.err
    assert ended.err.count("\n") == 1


def test_a_file_that_is_there_is_kept_unless_it_is_to_be_replaced(command: RunCommand, here: Path) -> None:
    assert command("init", "dev", "--base-url", "https://one.example").code == 0
    assert command("init", "dev", "--base-url", "https://two.example").code == 4
    assert written(here)["base_url"] == "https://one.example"
    assert command("init", "dev", "--base-url", "https://two.example", "--force").code == 0
    assert written(here)["base_url"] == "https://two.example"
