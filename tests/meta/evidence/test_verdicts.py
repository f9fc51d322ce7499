"""Verdicts on clauses and runs, accepted deviations, and findings grouped by cause."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from registry_contracts.errors import ExitCode
from registry_contracts.evidence.accepted import DeviationState
from registry_contracts.evidence.findings import Finding, Standing, finding_id
from registry_contracts.evidence.record import (
    Block,
    Environment,
    Narrowed,
    RunRecord,
    Untested,
    Verdict,
)
from registry_contracts.evidence.terms import Terms
from registry_contracts.evidence.verdicts import RunVerdict, judge
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.history.observed_facts import Observation
from registry_contracts.interface.catalogue import Clause, Level, load_catalogue
from tests.meta.evidence import sample_records
from tests.meta.evidence.sample_records import REALMS, Story, case, consumer, deviation, finding, waiver
from tests.meta.evidence.sample_records import run_record as record
from tests.meta.messages import exchange, response

REALM = "abs-dev"
NEED = "realm.locked_identifier"
SETTING = "realm.abs-dev.locked_identifier"


def clause(name: str = "c", level: str = "must") -> Clause:
    return replace(sample_records.clause(name, level, "getDraft", realms=(REALM,)), needs=(NEED,))


def judged(run: RunRecord, level: str = "must") -> RunVerdict:
    return judge(run, [clause(level=level)])


PASSED = case("holds", "pass", held=2)
FAILED = case("fails", "fail", contradicted=1)
WAVERED = case("wavers", "pass", held=1, contradicted=1)
ADVISED = case("advises", "advisory", contradicted=1)
BROKEN = case("breaks", "error", reason="KeyError")
STUCK = case("is stuck", "inconclusive", reason="503 from the gateway")
STUCK_HALFWAY = case("is stuck halfway", "inconclusive", held=1, reason="503 from the gateway")
LACKING = case("lacks a setting", "untested", reason=f"setting {SETTING} is missing", settings=(SETTING,))
LIMIT = "attachments.size_limit_bytes"
LACKING_ELSEWHERE = case("lacks another", "untested", reason=f"setting {LIMIT} is missing", settings=(LIMIT,))
SILENT_CASE = case("reaches nothing", "pass")
SEEN = Observation("c", REALM, "getDraft", "t", {"status": 200})


@pytest.mark.parametrize(
    ("level", "run", "expected"),
    [
        ("must", record(PASSED), "pass"),
        ("must", record(FAILED, findings=(finding(FAILED),)), "fail"),
        ("must", record(FAILED, PASSED, BROKEN, findings=(finding(FAILED),)), "fail"),
        ("must", record(WAVERED, findings=(finding(WAVERED, confirmed=False),)), "pass"),
        ("must", record(ADVISED, findings=(finding(ADVISED, confirmed=False),)), "inconclusive"),
        ("must", record(WAVERED), "error"),
        ("must", record(PASSED, BROKEN), "error"),
        ("must", record(PASSED, STUCK), "inconclusive"),
        ("must", record(STUCK_HALFWAY), "inconclusive"),
        ("must", record(LACKING), "untested"),
        ("must", record(PASSED, LACKING), "untested"),
        ("must", record(PASSED, LACKING_ELSEWHERE), "pass"),
        ("must", record(SILENT_CASE), "untested"),
        ("must", record(), "untested"),
        ("must", record(PASSED, untested=(Untested("c", REALM, "out of the profile"),)), "untested"),
        ("must", record(observations=(SEEN,)), "untested"),
        ("should", record(PASSED), "pass"),
        ("should", record(ADVISED, findings=(finding(ADVISED),)), "advisory"),
        ("should", record(ADVISED), "advisory"),
        ("should", record(WAVERED, findings=(finding(WAVERED, confirmed=False),)), "pass"),
        ("silent", record(observations=(SEEN,)), "observed"),
        ("silent", record(PASSED), "observed"),
        ("silent", record(WAVERED, findings=(finding(WAVERED),)), "observed"),
        ("silent", record(SILENT_CASE), "untested"),
    ],
)
def test_a_clause_gets_the_verdict_of_the_table(level: str, run: RunRecord, expected: str) -> None:
    (cell,) = judged(run, level).cells
    assert cell.verdict == expected
    assert cell.reason or cell.verdict in {Verdict.PASS, Verdict.OBSERVED}


@pytest.mark.parametrize("level", list(Level))
def test_no_clause_passes_without_an_assertion(level: Level) -> None:
    cells = (judged(record(case("reaches nothing", outcome)), level).cells for outcome in Verdict)
    assert Verdict.PASS not in {cell.verdict for (cell,) in cells}


@pytest.mark.parametrize(("deals", "code"), [(True, 0), (False, 6)])
def test_a_clause_that_a_case_deals_out_is_judged_where_it_had_its_turn(deals: bool, code: int) -> None:
    here = case("deals", "pass", held=1, deals=deals)
    there = structs.replace(here, id="t.py::deals[bch-dev]", realm="bch-dev", assertions=())
    run = record(here, there, realms=(REALM, "bch-dev"), strict=True)
    verdict = judge(run, [replace(clause(), realms=run.run.realms)])
    assert verdict.exit_code == code
    assert ("rotated: tested in abs-dev" in str(verdict.cells[1].reason)) is deals


def test_a_universal_check_does_not_share_the_fate_of_its_host() -> None:
    host = structs.replace(STUCK_HALFWAY, clauses=("other",))
    verdict = judge(record(host), [clause(), clause("other")])
    assert {cell.clause.id: cell.verdict for cell in verdict.cells} == {"c": "pass", "other": "inconclusive"}


@pytest.mark.parametrize(
    ("run", "code", "says"),
    [
        (record(PASSED), 0, "2 assertions on 1 clause in abs-dev"),
        (record(PASSED, LACKING), 0, "1 must clause untested: a setting is missing"),
        (record(PASSED, LACKING, strict=True), 6, "realm.abs-dev.locked_identifier"),
        (record(PASSED, LACKING, strict=True, waived={"c": "no such record yet"}), 0, "2 assertions"),
        (record(FAILED, findings=(finding(FAILED),)), 1, "1 finding in abs-dev: c (getDraft)"),
        (record(FAILED, findings=(finding(FAILED),), interrupted=True), 2, "1 finding until then"),
        (record(PASSED, BROKEN), 3, "breaks: KeyError"),
        (record(PASSED, problems=("the run has no closing record",)), 3, "no closing record"),
        (record(FAILED), 3, "wrote no confirmed finding"),
        (record(structs.replace(PASSED, clauses=("c", "unheard-of"))), 3, "unheard-of"),
        (record(STUCK), 6, "c in abs-dev: 503 from the gateway"),
        (record(PASSED, environment=Environment(breaker="20 faults in a row")), 6, "20 faults in a row"),
        (record(), 5, "no assertion was reached by 0 cases"),
        (record(LACKING), 5, "no assertion"),
    ],
)
def test_a_run_ends_with_the_exit_code_of_the_table(run: RunRecord, code: int, says: str) -> None:
    verdict = judged(run)
    assert verdict.exit_code == code
    assert says in verdict.sentence


def test_equal_contradictions_become_one_finding_with_the_best_evidence() -> None:
    weak = finding(PASSED, confirmed=False, reproduced=0, seen="once")
    strong = finding(FAILED, seen="each time", exchanges=("main-1",))
    elsewhere = finding(FAILED, realm="bch-dev")
    verdict = judged(record(FAILED, PASSED, findings=(weak, strong, elsewhere)))
    here = next(each for each in verdict.findings if each.realm == REALM)
    assert len(verdict.findings) == 2
    assert (here.seen, here.cases) == ("each time", (PASSED.id, FAILED.id))
    assert here.id == finding_id("c", REALM, "getDraft") != verdict.findings[1].id
    (unconfirmed,) = judged(
        record(PASSED, WAVERED, findings=(weak, finding(WAVERED, confirmed=False)))
    ).findings
    assert (unconfirmed.standing, len(unconfirmed.cases)) == (Standing.UNCONFIRMED, 2)


def test_what_is_seen_once_and_never_again_fails_no_run() -> None:
    once = case("saw it once", "pass", held=1)
    verdict = judged(record(once, findings=(finding(once, confirmed=False, reproduced=1),)))
    assert [told.standing for told in verdict.findings] == [Standing.UNCONFIRMED]
    assert (verdict.exit_code, verdict.cells[0].verdict) == (ExitCode.PASS, Verdict.PASS)


@pytest.mark.parametrize("relied_on", ["draft-get-content", "uid-too-short", ""])
def test_a_blocked_case_leads_to_the_finding_on_the_clause_that_it_relied_on(relied_on: str) -> None:
    story = Story()
    for name in ("draft-get-content", "uid-too-short"):
        story.contradicts(name, operation="getDraft")
    blocked = Block("getDraft", "gives nothing", relied_on)
    story.cases.append(structs.replace(STUCK, blocked_by=blocked))
    story.cases.append(structs.replace(STUCK_HALFWAY, blocked_by=Block("saveDraft", "no rights")))
    found = finding_id(relied_on or "draft-get-content", REALM, "getDraft")
    assert story.verdict().blocked == {STUCK.id: found}


def held_to(*entries: Any) -> Terms:
    return Terms(deviations=entries, deviations_file="deviations/dev.toml")


GET, OTHER = "draft-get-content", deviation("uid-too-short", operation="saveDraft", line=17)
HAPPENS, PARTLY, GONE, UNJUDGED = (DeviationState(word) for word in ("happens", "partly", "gone", "unjudged"))


@pytest.mark.parametrize(
    ("contradicted", "entries", "code", "courses", "says"),
    [
        ([(GET, REALM), (GET, "bch-dev")], (), 1, [], f"1 finding in abs-dev, bch-dev: {GET} (getDraft)"),
        ([(GET, REALM), (GET, "bch-dev")], (deviation(),), 0, [HAPPENS], "; 1 accepted deviation"),
        ([(GET, "bch-dev")], (deviation(),), 0, [PARTLY], "1 accepted deviation"),
        # Not accepted in the other realm.
        ([(GET, REALM), (GET, "bch-dev")], (deviation(realms=(REALM,)),), 1, [HAPPENS], f"1 finding in bch-dev: {GET}"),
        # Another contradiction of the same clause is not accepted.
        ([(GET, REALM), ("uid-too-short", REALM, "getDraft")], (deviation(realms=(REALM,)), OTHER), 1,
         [HAPPENS, GONE], "uid-too-short (getDraft)"),
        ([], (deviation(),), 1, [GONE], "no longer happens"),
        # What only the nightly shows is not missed in a gate.
        ([], (deviation(profile="nightly"),), 0, [UNJUDGED], ""),
    ],
)  # fmt: skip
def test_an_accepted_contradiction_does_not_fail_the_run_and_no_other_hides_behind_it(
    whole: Story, contradicted: list[tuple[str, ...]], entries: Any, code: int, courses: Any, says: str
) -> None:
    for each in contradicted:
        whole.contradicts(*each)
    verdict = whole.verdict(held_to(*entries))
    assert (verdict.exit_code, [outcome.course for outcome in verdict.deviations]) == (code, courses)
    assert says in verdict.reason
    cells = {cell.verdict for cell in verdict.cells if cell.clause.id == GET}
    assert (Verdict.DEVIATION in cells) is bool({HAPPENS, PARTLY} & {*courses})


@pytest.mark.parametrize(
    "change",
    [
        {"facts": {"interrupted": True}},
        {"facts": {"environment": Environment(requests=1, breaker="three refusals")}},
        {"facts": {"profile": "smoke"}},
        {"narrowed": (Narrowed("-k", None),)},
        {"narrowed": (Narrowed("-k", frozenset({("draft-get-content", "abs-dev")})),)},
    ],
    ids=["interrupted", "breaker", "smoke", "some cases", "cases of the clause"],
)
def test_a_run_that_has_seen_too_little_calls_nothing_gone(whole: Story, change: dict[str, Any]) -> None:
    for name, value in change.items():
        setattr(whole, name, value)
    verdict = whole.verdict(held_to(deviation(realms=("abs-dev",))))
    assert verdict.deviations[0].course is DeviationState.UNJUDGED
    assert not verdict.deviations[0].fails


def test_what_stands_behind_a_deviation_is_not_green_unless_it_is_waived(story: Story) -> None:
    story.holds("uid-too-short", "draft-get-absent", "workflow-locked-record")
    for realm in REALMS:
        story.contradicts("draft-save-creates", realm)
        story.case(
            "draft-get-content", realm, "inconclusive", held=0, reason="saveDraft: 500", blocked="saveDraft"
        )
    entry = deviation("draft-save-creates")
    blocked = story.verdict(held_to(entry))
    assert blocked.exit_code is ExitCode.INCONCLUSIVE
    assert blocked.unjudged_lines == [
        "draft-get-content in abs-dev, bch-dev: saveDraft: 500; behind the accepted deviation "
        "deviations/dev.toml:7: a waiver would allow that"
    ]
    used = consumer("saveDraft", "getDraft", waivers=(waiver("draft-get-content"),))
    waived = story.verdict(Terms(used, (entry,), "deviations/dev.toml"))
    assert waived.exit_code is ExitCode.PASS, waived.reason
    assert story.verdict(Terms(consumer("draftExists"), (entry,), "deviations/dev.toml")).unjudged == ()


UID = "rc-abcdefghijk"
BASE = "http://127.0.0.1/api/v2013/"
DRAFT = f"{BASE}documents/{UID}/versions/draft"
HEADERS = {"Realm": "abs-dev", "Authorization": "Bearer $TOKEN", "Content-Type": "application/json"}
MISSING = b'{"message":"there is no draft"}'


def sent(
    operation: str, method: str, url: str, status: int, body: bytes = b"", answer: bytes = b""
) -> Exchange:
    return exchange(response(status, answer), operation, HEADERS, body, id=operation, method=method, url=url)


#: A finding, and the exchange that shows it.
Pair = tuple[Finding, Exchange]
SAVED = sent("saveDraft", "PUT", f"{DRAFT}?schema=contact", 201, b'{"a":1}')
READ = sent("getDraft", "GET", DRAFT, 404, answer=MISSING)
READ_OTHERWISE = sent("getDraft", "GET", DRAFT, 200, answer=b"{}")
LISTED = sent("listDrafts", "GET", f"{BASE}document-drafts?$top=1", 200, answer=b"[1,2]")
SHORT = sent("saveDraft", "PUT", f"{BASE}documents/abcdefghij/versions/draft?schema=contact", 201, b'{"a":1}')


def seen(clause: str, shown: Exchange, says: str, realm: str = "abs-dev", **more: Any) -> Finding:
    by = case(clause, "fail", clauses=(clause,), realm=realm, operations=(str(shown.operation),))
    return finding(by, seen=says, **more)


def weighed(*pairs: Pair, before: Sequence[Exchange] = ()) -> RunVerdict:
    """Judge findings, each with the exchange that shows it, after others of the same case."""
    exchanges = {f"before {n}": each for n, each in enumerate(before)}
    exchanges |= {f"{n}": replace(shown, id=f"{n}") for n, (_, shown) in enumerate(pairs)}
    found = tuple(structs.replace(each, exchanges=(f"{n}",)) for n, (each, _) in enumerate(pairs))
    catalogue = load_catalogue()
    clauses = [catalogue.clause(name) for name in sorted({each.clause for each in found})]
    return judge(record(findings=found, exchanges=exchanges), clauses)


LOST = (seen("draft-save-creates", SAVED, "no draft"), SAVED)
UNREAD = (seen("draft-get-content", READ, "404 {}"), READ)
TOP = (seen("list-top", LISTED, "2 items"), LISTED)
NO_NAME = sent("createContact", "POST", f"{BASE}documents?schema=contact", 400, b'{"lastName":"x"}')
CODE = (seen("errors-code-known", NO_NAME, "Error.Odd", expected="one of the seven"), NO_NAME)
OF_TERM = (seen("errors-code-unexpected-term", NO_NAME, "Error.Odd for 'country'", expected="x"), NO_NAME)


OTHER_CONTENT = (seen("draft-get-content", READ_OTHERWISE, "200 {}"), READ_OTHERWISE)
OTHER_REALM = (seen("draft-get-content", READ, "404 {}", "bch-dev"), READ)
OTHER_WRONG = (seen("uid-too-short", SHORT, "201", check="refused"), SHORT)


@pytest.mark.parametrize(
    ("first", "second", "follows"),
    [
        (LOST, UNREAD, True),
        (LOST, TOP, False),
        (CODE, OF_TERM, True),
        # Read with other content, in another realm, or where saving is wrong in another way.
        (LOST, OTHER_CONTENT, False),
        (LOST, OTHER_REALM, False),
        (OTHER_WRONG, UNREAD, False),
    ],
)
def test_what_follows_is_grouped(first: Pair, second: Pair, follows: bool) -> None:
    causes = weighed(first, second).causes
    tree = {each.lead.clause: [one.lead.clause for one in each.follows] for each in causes}
    names = first[0].clause, second[0].clause
    assert tree == ({names[0]: [names[1]]} if follows else {name: [] for name in names})


CUT_TOKEN = replace(READ_OTHERWISE, authorization="Bearer $TOKEN[:9]")


def test_a_finding_says_what_was_and_which_request_shows_it() -> None:
    shown = seen("token-invalid-refused", CUT_TOKEN, "200 {}", expected="a refusal")
    (cause,) = weighed((shown, CUT_TOKEN), before=[SAVED]).causes
    assert cause.was == (
        "But getDraft was answered 200, though the header Authorization is 'Bearer $TOKEN[:9]', not "
        "'Bearer $TOKEN'; expected: a refusal."
    )
    assert cause.request == f"GET /documents/{UID}/versions/draft after saveDraft 201"
