"""Observations become facts; which changes break a client, what drift fails a run, and the command that accepts it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.errors import ExitCode, UsageError
from registry_contracts.evidence.run_comparison import ObservationsFile, PlaceFacts
from registry_contracts.evidence.verdicts import judge
from registry_contracts.file_formats import write_file
from registry_contracts.history import baseline
from registry_contracts.history.baseline import Baseline, DriftSettings, accept_facts, read, write
from registry_contracts.history.drift import ADDED, CHANGED, GONE, NO_DRIFT, DriftReport, Mode, compare
from registry_contracts.history.observed_facts import Facts, Observation, Place, Severity, facts_of, shape_of
from registry_contracts.interface.catalogue import Clause, Level
from tests.meta.evidence.sample_records import case, run_record
from tests.meta.program import RunCommand

REALMS = ("abs-dev", "bch-dev", "chm-dev")


def facts(clause: str = "list-envelope", realms: tuple[str, ...] = REALMS, **values: Any) -> Facts:
    return {Place(clause, "listDrafts", realm): dict(values) for realm in realms}


def shape(members: dict[str, str]) -> Facts:
    """An answer of an object; members stand in it as facts do."""
    values = {"200 body": "object"} | {f"200 body.{name}": kind for name, kind in members.items()}
    return {Place("draft-save-answer", "saveDraft", realm): dict(values) for realm in REALMS}


G, C, A = GONE, CHANGED, ADDED


@pytest.mark.parametrize(
    ("was", "now", "kind"),
    [
        (facts(seen="403"), facts(seen="200"), A),
        (facts(items="10"), facts(items="25"), A),
        (facts(seen=("Error.Mandatory",)), facts(seen=("Error.InvalidValue", "Error.Mandatory")), A),
        (facts(seen="200"), facts(seen="403"), C),
        (facts(items="6 or more"), facts(items="5"), C),
        (facts(seen=("Error.InvalidValue", "Error.Mandatory")), facts(seen=("Error.Mandatory",)), C),
        (facts(items="10"), facts(items="6 or more"), None),
        (facts(seen="200 | 201"), facts(seen="200"), None),
        (shape({"a": "string", "b": "string"}), shape({"a": "string"}), G),
        (shape({"a": "string"}), shape({"a": "string", "b": "string, optional"}), A),
        (shape({"a": "string"}), shape({"a": "integer"}), C),
        (shape({"a": "string", "b": "string, optional"}), shape({"a": "string"}), None),
        (shape({"a": "number"}), shape({"a": "integer"}), None),
        (shape({"a": "array", "a[]": "string"}), shape({"a": "array"}), None),
    ],
)
def test_a_change_is_additive_where_there_is_only_more(was: Facts, now: Facts, kind: str | None) -> None:
    severity = Severity.ADDITIVE if kind == A else Severity.BREAKING
    changes = [(each.change, each.severity, each.realms) for each in compare(was, now)]
    assert changes == ([(kind, severity, REALMS)] if kind else [])


AWKWARD = ("true", "~", "0404", "1e3", "a: b", "# no", "- x", "", "401 | 404", "é", "'", "[x]", "12:30")


def test_any_text_reads_back_as_it_was_written(tmp_path: Path) -> None:
    content = facts(realms=("abs-dev",), **{text or "empty": text for text in AWKWARD}, all=AWKWARD[:1])
    written = Baseline("no: such # target", content)
    write(tmp_path / "b.yaml", written)
    assert read(tmp_path / "b.yaml") == written


BODY: dict[str, Any] = {"200 body": "object", "200 body.a": "string"}
WIDER = BODY | {"200 body.a": "string, optional"}
INNER = BODY | {"200 body.gone": "object", "200 body.gone.x": "null"}


@pytest.mark.parametrize(
    ("known", "seen", "merged"),
    [
        (facts(seen="array") | facts("list-fields", seen="1"), facts(seen="object"), None),
        (facts(**INNER), facts(**BODY), facts(**BODY)),
        (facts(**WIDER), facts(**BODY), facts(**WIDER)),
    ],
    ids=["unseen stays", "a member goes", "wider stays"],
)
def test_accepting_takes_over_what_contradicts(known: Facts, seen: Facts, merged: Facts | None) -> None:
    accepted = accept_facts(known, seen, compare(known, seen))
    assert accepted == (known | seen if merged is None else merged)
    assert compare(accepted, seen) == ()


OBJECT = {"body": "object"}
DATED = OBJECT | {"body.createdOn": "string date-time"}


def noted(*seen: Any) -> dict[str, Any]:
    """The facts of notes at one place."""
    notes = [Observation("draft-save-answer", "abs-dev", "saveDraft", "case", each) for each in seen]
    return next(iter(facts_of(notes).values()), {})


def answer(body: Any, status: int = 201) -> dict[str, Any]:
    return {"status": status, "type": "application/json", "body": body}


TYPE = {"201 type": "application/json", "status": "201"}


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ([{"create": 201, "update": 200}], {"create": "201", "update": "200"}),
        ([{"fault": "body:missing", "status": 400}], {"fault body:missing": "400"}),
        ([["b", "a", "b"]], {"seen": ("a", "b")}),
        (
            [answer(DATED), answer(OBJECT | {"body.createdOn": "null"}), answer(OBJECT)],
            TYPE | {"201 body": "object", "201 body.createdOn": "null | string date-time, optional"},
        ),
    ]
)  # fmt: skip
def test_what_cases_noted_is_named(seen: list[Any], expected: dict[str, Any]) -> None:
    assert noted(*seen) == expected


def test_a_body_is_told_member_by_member_and_without_its_values() -> None:
    body: dict[str, Any] = {"createdOn": "2026-11-21T12:00:00Z", "n": [1, 2.5], "a.b": None}
    body |= {"tags": [{"a": 1}, {"b": "https://a.test"}], "rc-abcd-list-0001": 1}
    assert shape_of(body) == {
        "body": "object",
        "body.*": "integer",
        "body.a·b": "null",
        "body.createdOn": "string date-time",
        "body.n": "array",
        "body.n[]": "number",
        "body.tags": "array",
        "body.tags[]": "object",
        "body.tags[].a": "integer, optional",
        "body.tags[].b": "string uri, optional",
    }
    deep: Any = "deepest"
    for _ in range(100):
        deep = [deep]
    assert len(shape_of(deep)) < 30


CLAUSE = Clause("draft-get-content", Level.MUST, ("getDraft",), "Drafts", "Content.", realms=("abs-dev",))
FILE = Path("baselines") / "sandbox.yaml"


def saved(status: str, clause: str = "draft-success-status") -> Facts:
    """What was seen of saving a draft in two realms."""
    return {Place(clause, "saveDraft", realm): {"seen": status} for realm in ("abs-dev", "bch-dev")}


@pytest.fixture
def latest(tmp_path: Path) -> Callable[..., Path]:
    """Makes a run folder of facts, the latest one; other members of its observations may be given."""
    made: list[Path] = []

    def make(facts: Facts, **more: Any) -> Path:
        folder = tmp_path / "reports" / f"run-{len(made)}"
        folder.mkdir(parents=True)
        usual: dict[str, Any] = {"target": "sandbox", "profile": "gate", "complete": True}
        usual |= {"realm_differences": (), "started": "2026-11-21T12:00:00+00:00"}
        observed = tuple(PlaceFacts(*place, values) for place, values in facts.items())
        content = ObservationsFile(observed=observed, **usual | more)
        write_file(folder / "observations.json", content, ObservationsFile)
        (folder.parent / "latest").unlink(missing_ok=True)
        (folder.parent / "latest").write_text(folder.name, "utf-8")
        made.append(folder)
        return folder

    return make


def report(mode: Mode, now: str = "200", was: str = "201", **more: Any) -> DriftReport:
    return DriftReport(mode, "sandbox", "b.yaml", True, compare(saved(was), saved(now)), **more)


BREAKING = report(Mode.FAIL)


@pytest.mark.parametrize(
    ("drift", "code", "says"),
    [
        (BREAKING, 1, "breaking drift from b.yaml: changed: saveDraft: 201, now 200 (draft-success-status) in abs"),
        (report(Mode.WARN), 0, "1 assertion"),
        (report(Mode.FAIL, outside=frozenset(BREAKING.changes)), 0, "1 assertion"),
        (DriftReport(Mode.FAIL, "dev", "baselines/dev.yaml"), 0, "1 assertion"),
    ],
    ids=["breaking", "warned of", "outside the consumer", "no baseline"]
)  # fmt: skip
def test_only_breaking_drift_fails_a_run_that_asked_for_it(drift: DriftReport, code: int, says: str) -> None:
    passing = case("y", "pass", held=1, clauses=(CLAUSE.id,))
    verdict = judge(run_record(passing, clauses=(CLAUSE.id,)), [CLAUSE], drift)
    assert verdict.exit_code is ExitCode(code)
    assert verdict.reason.startswith(says)
    assert drift.sentence is not None
    assert NO_DRIFT.sentence is None


def test_a_run_keeps_the_baseline_it_was_started_with_and_an_altered_note_is_told(tmp_path: Path) -> None:
    folder, path = tmp_path / "run", tmp_path / "b.yaml"
    folder.mkdir()
    assert baseline.load_drift_settings(folder) is None
    known = Baseline("sandbox", saved("201"))
    baseline.write(path, known)
    baseline.save_drift_settings(folder, Mode.FAIL, path)
    path.unlink()
    told = DriftSettings(Mode.FAIL, path.as_posix(), known=True)
    assert baseline.load_drift_settings(folder) == (told, known)
    (folder / baseline.BASELINE_FILE).unlink()
    with pytest.raises(UsageError, match=baseline.BASELINE_FILE):
        baseline.load_drift_settings(folder)


def test_the_command_shows_drift_and_accepts_it(run_command: RunCommand, latest: Callable[..., Path]) -> None:
    latest(saved("201"))
    none = "no baseline of sandbox yet; `registry-contracts drift accept` writes"
    assert run_command("drift").out.startswith(none)
    assert run_command("drift", "accept")[0] == 0
    assert run_command("drift") == (0, f"no drift: run-0 against {FILE}\n", "")
    latest(saved("200") | saved("x", "list-envelope"))
    code, out, _ = run_command("drift")
    changed = "  changed: saveDraft: 201, now 200 (draft-success-status) · abs-dev, bch-dev"
    counted = f"1 breaking, 0 additive: run-1 against {FILE}; 2 facts not accepted yet"
    assert (code, out.splitlines()) == (1, ["breaking (1)", changed, counted])
    accepting = run_command("drift", "accept", "--realm", "abs-dev", "--clause", "draft-success-status")
    assert accepting[1].splitlines()[-1] == f"accepted 1 change and 0 new facts of run-1: {FILE}"
    assert [run_command("drift", "--realm", "abs-dev")[0], run_command("drift")[0]] == [0, 1]
    latest(saved("200") | {Place("draft-success-status", "saveDraft", "bch-dev"): {"seen": "204"}})
    differing = run_command("drift", "--between-realms").out
    assert "    abs-dev: 200\n    bch-dev: 204\n" in differing
    latest(saved("201"), complete=False)
    cut_short = run_command("drift", "accept")
    assert (cut_short.code, "is incomplete" in cut_short.err) == (4, True)
