"""What the suite's users do, typed as they type it, at services that keep the interface and at some that do not.

Each takes a whole run or more, so `.ci/run` runs them apart from the project's other tests; the longest come first.
"""

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

import pytest

from registry_contracts.interface.description import load_description
from registry_contracts.interface.location import PROGRAM
from registry_contracts.proving.services import AND, draw_services, settings_needed
from registry_contracts.settings.embedded_sandbox import SANDBOX_SETTINGS, EmbeddedSandbox
from registry_contracts.settings.target import ACCOUNT_ROLES, DOCUMENT_REALMS
from tests.meta.program import clean_environment

ALL: Final = tuple(load_description().operations)
SERVICES_SEED: Final = 35
#: Drawn services over which the operations are dealt; the proof has all of them at each of its services.
SERVICES: Final = 3
ACCOUNTS: Final = {
    **{f"SANDBOX_{role.upper()}_EMAIL": f"{role}@sandbox.test" for role in ACCOUNT_ROLES},
    **{f"SANDBOX_{role.upper()}_PASSWORD": f"sandbox-{role}" for role in ACCOUNT_ROLES},
}
GATE: Final = "gate --target sandbox --consumer sdk.toml"
FAULT: Final = "--sandbox-arguments '--fault listDrafts:first-lost'"
#: Many cases ask by it whether a draft is there.
NEVER_EXISTS: Final = "--sandbox-arguments '--fault draftExists:refused-404'"
#: By name: operations of the SDK, a command, its exit code, and what its last line begins with. The gates of one
#: operation are dealt over the realms; that of all operations has every cell of theirs in each of them.
AT_THE_SANDBOX: Final = {
    **{
        operation: ([operation], f"{GATE} --realm {realm}", 0, "gate: pass")
        for operation, realm in zip(ALL, cycle(DOCUMENT_REALMS), strict=False)
    },
    "fault": (["listDrafts"], f"{GATE} --realm abs-dev {FAULT}", 1, "gate: fail: .*listDrafts"),
    "fault-elsewhere": (["createContact"], f"{GATE} --realm abs-dev {FAULT}", 0, "gate: pass"),
    "check-elsewhere": (["saveDraft", "getDraft"], f"{GATE} --realm abs-dev {NEVER_EXISTS}", 0, "gate: pass"),
    "call": (ALL, "call listDrafts --set 'query.$top=5' --realm bch-dev", 0, "curl +curl -i -X GET"),
}
#: A run sends wrong requests on purpose; of the service nothing is found.
CLIENT_ALONE: Final = r"verdict: fail \(1\): the client breaks the interface"
#: What replaces what in the sandbox's settings.
NO_RIGHTS: Final = {"SANDBOX_AUTHOR": "SANDBOX_RESTRICTED"}
TWO_FILES: Final = {r'\n  "sandbox-temporary-\w+-dev-(?!0[12])\d+",': ""}

Does = Callable[..., str]
Serve = Callable[..., str]


@pytest.fixture
def does(tmp_path: Path) -> Does:
    """Carries out a command, looks at how it ends, and returns what it said."""

    def carry_out(words: str, code: int, last: str, **variables: str) -> str:
        ended = subprocess.run(
            [*PROGRAM, *shlex.split(words)],
            cwd=tmp_path,
            env=clean_environment(**variables),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        end = ended.stdout.strip().splitlines()[-1:]
        assert ended.returncode == code, ended.stdout[-4000:] + ended.stderr
        assert re.match(last, "".join(end)), ended.stdout[-4000:] + ended.stderr
        return ended.stdout

    return carry_out


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Serves a sandbox, writes `dev.toml` for it as its owner would, and returns its address."""
    with ExitStack() as served:

        def start(*options: str, replaced: Mapping[str, str], contact: object = None) -> str:
            sandbox = served.enter_context(EmbeddedSandbox(arguments=options))
            text = SANDBOX_SETTINGS.read_text("utf-8").replace("http://127.0.0.1:8080", sandbox.base_url)
            for pattern, replacement in replaced.items():
                text = re.sub(pattern, replacement, text)
            (tmp_path / "dev.toml").write_text(
                f"{text}\n[attachments]\nsize_limit_bytes = {sandbox.size_limit}\n", "utf-8"
            )
            shutil.copytree(SANDBOX_SETTINGS.with_name("samples"), tmp_path / "samples")
            (tmp_path / "samples" / "contact.json").write_text(json.dumps(contact), "utf-8")
            return sandbox.base_url

        yield start


def uses(folder: Path, operations: Sequence[str]) -> None:
    """Write what an SDK uses."""
    (folder / "sdk.toml").write_text(f"operations = {json.dumps(operations)}\n", "utf-8")


def test_a_release_after_a_night_asks_what_it_kept(does: Does, tmp_path: Path) -> None:
    does("run --profile nightly --realm abs-dev", 0, "verdict: pass")
    uses(tmp_path, ALL)
    asks = "gate --from reports --target sandbox --max-age 1h --consumer sdk.toml"
    does(asks, 6, "gate: inconclusive: the kept run cannot tell: it did not judge the realm bch-dev")
    (tmp_path / "sdk.toml").write_text('realms = ["abs-dev"]\n', "utf-8")
    does(asks, 0, "gate: pass")


def test_an_author_without_rights_is_a_matter_of_the_settings(
    does: Does, serve: Serve, tmp_path: Path
) -> None:
    url = serve(replaced=NO_RIGHTS)
    does("gate --target dev.toml", 6, "gate: inconclusive: .*author", **ACCOUNTS)
    uses(tmp_path, ALL)
    does("gate --target dev.toml --consumer sdk.toml", 6, "gate: inconclusive: .*author", **ACCOUNTS)
    variables = {name: ACCOUNTS[f"SANDBOX_RESTRICTED_{name}"] for name in ("EMAIL", "PASSWORD")}
    given = {"REGISTRY_BASE_URL": url, **{f"REGISTRY_{name}": value for name, value in variables.items()}}
    does("run --profile smoke", 6, "verdict: inconclusive: .*author", **given)


@pytest.mark.parametrize("number", range(SERVICES))
def test_a_gate_at_a_drawn_service(does: Does, serve: Serve, tmp_path: Path, number: int) -> None:
    name = next(islice(draw_services(SERVICES_SEED), number, None))
    needed: dict[str, Any] = settings_needed(name)
    replaced = {"(contact_schema = .*)": r'\1\ncontact_document = "samples/contact.json"'} if needed else {}
    variants = [word for variant in name.split(AND) for word in ("--variant", variant)]
    serve(*variants, replaced=replaced, contact=needed.get("contact_document"))
    uses(tmp_path, ALL[number::SERVICES])
    gate = f"gate --target dev.toml --consumer sdk.toml --realm {DOCUMENT_REALMS[number]}"
    does(gate, 0, "gate: pass", **ACCOUNTS)
    # Where the document is silent, recorded traffic accuses no service either.
    (traffic,) = (tmp_path / "reports" / "latest").glob("traffic.har*")
    does(f"check {traffic}", 1, CLIENT_ALONE)


def test_a_gate_of_all_operations_sends_what_it_announced(does: Does, tmp_path: Path) -> None:
    uses(tmp_path, ALL)
    announced = re.search(r"about ([\d,]+) requests", does(GATE, 0, "gate: pass"))
    sent = json.loads((tmp_path / "reports" / "latest" / "verdict.json").read_text("utf-8"))
    assert announced
    assert int(announced[1].replace(",", "")) == pytest.approx(sent["environment"]["requests"], rel=0.05)


def test_what_no_request_names_is_looked_after(does: Does) -> None:
    fault = "--sandbox-arguments '--fault createContact:unrelated-lost'"
    said = does(f"run --realm abs-dev -k census {fault}", 1, "verdict: fail: 1 finding")
    assert "as it was saved, after the row createContact." in said


def test_recorded_traffic_and_drift(does: Does) -> None:
    run = ("run --profile smoke --realm bch-dev", 0, "verdict: pass")
    does(*run)
    # What a run sends wrongly on purpose is found; what the service answers is not.
    does("check reports/latest/traffic.har", 1, CLIENT_ALONE)
    does("drift accept", 0, "accepted 0 changes and .* new facts")
    does(*run)
    does("drift", 0, "no drift")


def test_a_night_after_the_temporary_files_are_used_up(does: Does, serve: Serve) -> None:
    serve(replaced=TWO_FILES)
    night = "run --target dev.toml --profile nightly --realm abs-dev --operation persistTemporaryFile"
    does(night, 0, "verdict: pass", **ACCOUNTS)
    does(night, 0, "verdict: pass", **ACCOUNTS)


@pytest.mark.parametrize(("operations", "words", "code", "last"), AT_THE_SANDBOX.values(), ids=AT_THE_SANDBOX)
def test_a_job_at_the_sandbox(
    does: Does, tmp_path: Path, operations: Sequence[str], words: str, code: int, last: str
) -> None:
    uses(tmp_path, operations)
    does(words, code, last)


@pytest.mark.parametrize(
    ("weather", "code", "last"),
    [
        ("empty-answers", 0, "verdict: pass"),
        ("filter", 6, "verdict: inconclusive: .* requests like this are blocked on the way"),
    ],
)
def test_a_night_behind_a_way_that_answers_by_itself(
    does: Does, tmp_path: Path, weather: str, code: int, last: str
) -> None:
    smoke = f"run --profile smoke --realm abs-dev --sandbox-arguments '--weather {weather}'"
    does(smoke, code, last)
    verdict = json.loads((tmp_path / "reports" / "latest" / "verdict.json").read_text("utf-8"))
    given = [cell["verdict"] for clause in verdict["clauses"] for cell in clause["realms"].values()]
    assert verdict["findings"] == []
    assert given.count("pass") >= 0.75 * (given.count("pass") + given.count("inconclusive"))


def test_a_finding_is_tried_again_where_it_was_seen_and_nowhere_else(
    does: Does, serve: Serve, tmp_path: Path
) -> None:
    serve("--fault", "uid-accepts-ten", replaced={})
    run = "run --target dev.toml --clause uid-too-short --realm abs-dev"
    printed = re.findall(
        r"^   (\w+) +registry-contracts (.*)$", does(run, 1, "verdict: fail", **ACCOUNTS), re.M
    )
    (kept,) = (tmp_path / "reports" / "latest" / "findings").glob("*.json")
    elsewhere = {"REGISTRY_BASE_URL": "http://127.0.0.1:9", "REGISTRY_EMAIL": "a", "REGISTRY_PASSWORD": "b"}
    does(f"run --finding {kept.stem}", 4, "", **elsewhere)
    # Every command that the run printed to be copied works as it is pasted.
    assert [label for label, _ in printed] == ["explain", "again"]
    for (_, words), (code, last) in zip(printed, ((0, ""), (1, "verdict: fail")), strict=True):
        does(words, code, last, **ACCOUNTS)
    script, named = ["bash", str(kept.with_suffix(".sh"))], ("EMAIL", "PASSWORD")
    variables = clean_environment(
        **{f"REGISTRY_{name}": ACCOUNTS[f"SANDBOX_AUTHOR_{name}"] for name in named}
    )
    ended = subprocess.run(script, env=variables, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_gate_on_a_machine_that_is_set_up_for_other_things(does: Does, tmp_path: Path) -> None:
    uses(tmp_path, ["getDraft"])
    (tmp_path / "reports" / "latest").mkdir(parents=True)
    gate = f"{GATE} --realm abs-dev"
    does(gate, 4, "", PYTEST_ADDOPTS="--html=sdk")
    does(f"{gate} --workers 2", 0, "gate: pass", HOME="/dev/null/none", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
