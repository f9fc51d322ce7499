"""What a drawn proof counts: outcomes, the landed rate, false passes; the knobs that its services are drawn from."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import UsageError
from contracts.interface.catalogue import Level, load_catalogue
from contracts.proving.drawn import (
    ADVISORY,
    ELSEWHERE,
    FAIL,
    FALSE_ALARM,
    FALSE_PASS,
    INCONCLUSIVE,
    NOT_JUDGED,
    NOT_SEEN,
    PASS,
    TOO_MANY_LEFT,
    TROUBLE,
    UNLISTED,
    UNOBSERVABLE,
    DrawnResult,
    cover,
    draw_services,
    false_passes,
    knobs,
    needed,
    together,
)
from contracts.proving.drawn_proof import (
    DrawnOptions,
    below,
    interval,
    kills,
    planned,
    read_landed,
    report,
    write_landed,
)
from contracts.sandbox.faults.observer import SHOWN_PATH
from contracts.sandbox.habits import Settings
from contracts.sandbox.serve import altered
from contracts.sandbox.variants import ALL
from contracts.sandbox.variants.model import (
    CONTRADICTORY,
    SENTENCES,
    SILENT_CLAUSES,
    SILENT_POINTS,
    WITHOUT_KNOB,
)
from tests.meta.sandbox_client import SandboxClient, new_uid, serving

CHECKOUT = Path(__file__).parents[3]
NAME = "state/saveDraft/not-done/always"


def result(kind: str = "fault", **parts: Any) -> DrawnResult:
    return DrawnResult(kind, parts.pop("name", NAME), "abs-dev", **parts)


@pytest.mark.parametrize(
    ("parts", "outcome"),
    [
        ({"found": True, "exit_code": 1}, FAIL),
        ({"musts": {"uid-hyphen": "seen"}, "exit_code": 1}, ELSEWHERE),
        ({"advisory": True}, ADVISORY),
        ({"observable": False}, UNOBSERVABLE),
        ({"reasons": {"uid-hyphen": "budget"}, "exit_code": 6}, INCONCLUSIVE),
        ({"exit_code": 6}, INCONCLUSIVE),
        ({}, NOT_SEEN),
        ({"trouble": "took too long"}, TROUBLE),
        ({"kind": "service"}, PASS),
        ({"kind": "service", "musts": {"uid-hyphen": "seen"}}, FALSE_ALARM),
        ({"kind": "service", "false_passes": {"uid-hyphen": "why"}}, FALSE_PASS),
        ({"kind": "service", "left": 21}, TOO_MANY_LEFT),
        ({"kind": "service", "unlisted": ["rc-somewhere-else"]}, UNLISTED),
        ({"kind": "service", "exit_code": 6}, NOT_JUDGED),
    ],
)
def test_a_trial_ends_in_one_outcome(parts: dict[str, Any], outcome: str) -> None:
    assert result(**parts).outcome == outcome


def test_an_observed_sandbox_tells_drafts_that_are_left_but_none_of_a_locked_record() -> None:
    with (
        serving(altered(Settings(observed=True, variants=("realm-optional",)))) as url,
        SandboxClient(url) as client,
    ):
        gone, kept = client.saved(), client.saved()
        elsewhere = client.saved(realm=None)
        client.delete(f"/api/v2013/documents/{gone}/versions/draft")
        assert client.submit("POST", new_uid()).ok
        shown = client.get(SHOWN_PATH).json()
    assert shown["drafts"] == sorted([kept, elsewhere])


def test_the_kill_rate_leaves_out_what_no_plain_client_sees() -> None:
    results = [result(found=True), result(), result(observable=False), result("service")]
    assert kills(results) == (1, 2)


def test_a_rate_falls_below_the_landed_one_when_chance_does_not_explain_it(tmp_path: Path) -> None:
    path = tmp_path / "landed.json"
    write_landed(path, [result(found=True)] * 9 + [result()], 7, "prove --part drawn")
    landed = read_landed(path)
    assert (landed.failed, landed.drawn, landed.seed) == (9, 10, 7)
    assert not below([result(found=True)] * 8 + [result()] * 2, landed)
    assert below([result(found=True)] * 4 + [result()] * 6, landed)
    assert not below([], landed)
    path.write_text("[]", "utf-8")
    with pytest.raises(UsageError):
        read_landed(path)


def test_the_interval_holds_the_share_and_narrows_with_the_number() -> None:
    low, high = interval(98, 100)
    lower, higher = interval(980, 1000)
    assert low < lower < 0.98 < higher < high <= 1


def test_the_report_names_survivors_first_and_advisories_apart() -> None:
    living = result(name="state/saveDraft/stored-elsewhere/always", altered=0)
    advised = result(name="lists/listDrafts/stale/every-third", advisory=True)
    blind = result(name="content-text/saveDraft/text-trimmed/always", observable=False)
    alarm = result("service", name="gzip+list-hal", musts={"list-top": "expected 2; seen 3"})
    text = report([result(found=True, requests=12), living, advised, blind, alarm], 5, "prove --part drawn")
    places = [text.index(part) for part in ("| survivor |", "level should", "| service |", "| family |")]
    assert places == sorted(places)
    assert "| `state/saveDraft/stored-elsewhere/always` | abs-dev | not seen | only the plain client" in text
    assert "- `lists/listDrafts/stale/every-third` in abs-dev" in text
    assert "1 of 3, 33.3 %" in text
    assert "gzip list-hal | abs-dev | false alarm | list-top: expected 2; seen 3" in text


def test_every_silent_clause_has_a_knob_or_a_reason() -> None:
    silent = {clause.id for clause in load_catalogue() if clause.level is Level.SILENT}
    assert SILENT_CLAUSES.keys() | WITHOUT_KNOB.keys() == silent
    assert not SILENT_CLAUSES.keys() & WITHOUT_KNOB.keys()
    assert {clause for clauses in SENTENCES.values() for clause in clauses} <= silent


def test_every_variant_turns_a_knob() -> None:
    named = {name for table in (SILENT_CLAUSES, SILENT_POINTS) for names in table.values() for name in names}
    assert named == ALL.keys()
    turned = [name for names in knobs().values() for name in names]
    of_settings = [name for name in ALL if ALL[name].settings]
    assert sorted([*turned, "slow", *of_settings]) == sorted(ALL)


def test_drawn_services_hold_only_what_goes_together_and_every_variant() -> None:
    services = [service.split("+") for service in draw_services(24, 1)]
    assert services[:3] == [service.split("+") for service in draw_services(3, 1)]
    assert all(together(*pair) for service in services for pair in combinations(service, 2))
    left_out = {"slow", *(name for name in ALL if ALL[name].settings)}
    assert {name for service in services for name in service} | left_out == ALL.keys()


def test_what_contradicts_a_sentence_together_is_not_drawn_together() -> None:
    assert not together("batches-wait", "drafts-not-existing")
    assert {name for pair in CONTRADICTORY for name in pair} <= ALL.keys()


def test_in_the_whole_cover_all_meet_that_go_together() -> None:
    met = {frozenset(pair) for row in cover(1) for pair in combinations(row, 2)}
    variants = [name for names in knobs().values() for name in names]
    knob_of = {name: knob for knob, names in knobs().items() for name in names}
    assert met == {
        frozenset(pair)
        for pair in combinations(variants, 2)
        if knob_of[pair[0]] != knob_of[pair[1]] and together(*pair)
    }


def _verdict(clause: str, verdict: str = "pass") -> dict[str, Any]:
    return {"clauses": [{"id": clause, "level": "must", "realms": {"abs-dev": {"verdict": verdict}}}]}


@pytest.mark.parametrize(
    ("clause", "shown", "vacuous"),
    [
        ("workflow-created-exists", {}, True),
        ("workflow-created-exists", {"createWorkflowRecordWithIdentifier": {"refusal": 9}}, True),
        ("workflow-created-exists", {"createWorkflowRecordWithIdentifier": {"success": 1}}, False),
        ("draft-get-content", {"getDraft": {"success": 2}}, False),
        ("errors-array", {"createContact": {"success": 2}}, True),
        ("errors-array", {"createContact": {"errors": 1}}, False),
        ("uid-too-short", {"saveDraft": {"success": 5}}, True),
        ("uid-too-short", {"saveDraft": {"refusal": 5}}, False),
        ("no-server-error", {}, False),
    ],
)
def test_a_pass_is_false_where_the_service_did_not_show_what_it_is_about(
    clause: str, shown: dict[str, Any], vacuous: bool
) -> None:
    counts = {"operations": shown, "messages": []}
    assert bool(false_passes(_verdict(clause), counts)) is vacuous
    assert not false_passes(_verdict(clause, "inconclusive"), counts)


def test_a_row_of_the_table_needs_its_message() -> None:
    shown = {
        "operations": {"updateWorkflowRecord": {"refusal": 1}},
        "messages": ["workflow-identifier-unknown"],
    }
    assert not false_passes(_verdict("workflow-identifier-unknown"), shown)
    assert false_passes(_verdict("workflow-locked-record"), shown)


def test_every_must_clause_needs_something_or_is_about_any_answer() -> None:
    for clause in load_catalogue():
        what, operations = needed(clause)
        assert set(operations) <= set(clause.operations) or clause.id == "workflow-created-known"
        assert operations or clause.family == "http", clause.id
        assert what in ("success", "refusal", "errors")


@pytest.mark.parametrize(
    "options",
    [DrawnOptions(names=("none",)), DrawnOptions(variants=("none",)), DrawnOptions(families=("none",))],
)
def test_an_unknown_name_is_one_line(options: DrawnOptions) -> None:
    with pytest.raises(UsageError) as caught:
        planned(options, 1)
    assert "\n" not in str(caught.value)


VACUOUS = '''
from contracts.cases import Actor, Claims, contract


@contract("workflow-created-exists", "draft-get-content")
def test_a_claim_without_what_it_is_about(author: Actor, claim: Claims) -> None:
    """Nothing is submitted, nothing is read, and yet both are said to hold."""
    listed = author.send("listDrafts")
    for clause in ("workflow-created-exists", "draft-get-content"):
        claim(clause).holds(True, listed, expected="anything", seen="nothing")
'''


def test_a_vacuous_case_is_caught_as_a_false_pass(tmp_path: Path) -> None:
    root = tmp_path / "checkout"
    for name in ("contracts", "openapi"):
        shutil.copytree(CHECKOUT / name, root / name, ignore=shutil.ignore_patterns("*.pyc.*"))
    for name in ("conftest.py", "pyproject.toml", "registry_contracts.py"):
        shutil.copy2(CHECKOUT / name, root / name)
    (root / "tests" / "contract").mkdir(parents=True)
    (root / "tests" / "contract" / "test_vacuous.py").write_text(VACUOUS, "utf-8")
    words = [
        "--part",
        "drawn",
        "--service",
        "gzip",
        "--drawn-realm",
        "abs-dev",
        "--reports",
        "proof",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "contracts.proving", *words],
        env={**os.environ, "PYTHONPATH": str(root)},
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    (line,) = (root / "proof" / "drawn.jsonl").read_text("utf-8").splitlines()
    found = json.loads(line)
    assert found["outcome"] == FALSE_PASS
    assert found["false_passes"].keys() == {"workflow-created-exists", "draft-get-content"}
    shown = (root / "proof" / "drawn.md").read_text("utf-8")
    assert (
        "| gzip | abs-dev | false pass | draft-get-content: passes, yet the service showed no success"
        in shown
    )
