"""What a run says that it will send and can judge: from the cases as they are, without sending anything."""

import ast
import re
from collections.abc import Iterator
from typing import Any

import pytest

from contracts.interface.location import cases_directory
from contracts.interface.profiles import Profile
from contracts.plugin.case import Case
from contracts.plugin.forecast import Forecast
from contracts.settings.target import Account, Pace, Secret, Target
from tests.meta.program import Program

NAME = "scenario/new.py::test_new[abs-dev]"
AUTHOR = {"author": Account("author", "author@example.test", Secret("correct-horse"))}


def forecast(*cases: Case, unused: int = 0, **settings: Any) -> Forecast:
    realms = tuple(dict.fromkeys(case.realm for case in cases))
    target = Target("service", "https://service.test", realms=realms, accounts=AUTHOR, **settings)
    unreached = {("draft-get-content", "abs-dev"): "out of the profile smoke"}
    return Forecast(
        cases,
        target,
        Profile.GATE,
        arranged=[("abs-dev", 2)],
        unreached=unreached,
        budget=500,
        files={"abs-dev": unused},
    )


def case(clause: str = "uid-hyphen", realm: str = "abs-dev", **facts: Any) -> Case:
    name = NAME.replace("abs-dev", realm)
    return Case(name, realm, (clause,), (clause,), **{"requests": 3, **facts})


def decorators() -> Iterator[tuple[str, list[ast.Call]]]:
    """The marks of each case, by file and function."""
    for path in cases_directory().rglob("test_*.py"):
        for function in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(function, ast.FunctionDef):
                continue
            calls = [call for call in function.decorator_list if isinstance(call, ast.Call)]
            if any(ast.unparse(call.func) == "contract" for call in calls):
                yield f"{path.relative_to(cases_directory()).as_posix()}::{function.name}", calls


def test_every_case_says_what_it_sends() -> None:
    silent = [
        name
        for name, calls in decorators()
        if not any(keyword.arg == "requests" for call in calls for keyword in call.keywords)
    ]
    assert not silent, f"take the number of a run on the sandbox, as @contract(…, requests=…): {silent}"


def test_smoke_takes_in_every_case_that_is_marked(program: Program) -> None:
    taken = program("run", "--collect-only", "-q", "--profile=smoke").out
    marked = [
        (function, parameter)
        for function, calls in decorators()
        for call in calls
        if ast.unparse(call.func) == "smoke"
        for parameter in map(ast.literal_eval, call.args or [ast.Constant("")])
    ]
    left_out = [
        (function, parameter)
        for function, parameter in marked
        if not re.search(rf"{re.escape(function)}\[[a-z-]+{re.escape(parameter)}", taken)
    ]
    assert len(marked) > 50, marked
    assert not left_out


def test_requests_minutes_and_what_stays_are_told() -> None:
    planned = forecast(*[case(records=1)] * 400, pace=Pace(requests_per_second=10.0))
    assert (planned.requests, planned.permanent_records) == (1200, 402)
    assert planned.minutes == pytest.approx(2.0)


NEEDED = "realm.contact_schema"
COUNTRY = "contact-country-without-identifier"  # the catalogue says that it needs a contact


@pytest.mark.parametrize(
    ("cases", "sent", "wanting", "settings"),
    [
        ([case("draft-get-content")], 3, set(), set()),
        ([case(COUNTRY, needs=(NEEDED,))], 0, {COUNTRY}, {"realm.<realm>.contact_schema"}),
        ([case(needs=("account.other",))], 0, {"uid-hyphen"}, {"accounts.other"}),
        ([case(needs=("account.other",)), case()], 3, set(), set()),  # the clause itself needs none
        ([case(COUNTRY, needs=(NEEDED,)), case(COUNTRY)], 3, {COUNTRY}, {"realm.<realm>.contact_schema"}),
    ],
)
def test_what_lacks_a_setting_sends_nothing_and_is_counted_as_at_the_end(
    cases: list[Case], sent: int, wanting: set[str], settings: set[str]
) -> None:
    told = forecast(*cases)
    assert (told.requests, told.wanting) == (sent, wanting)
    assert {unlock.setting for unlock in told.unlocks()} == settings


def test_what_is_foretold_untested_is_untested_in_the_end(run: Any, faulty: Any) -> None:
    """Of generated faults all that a setting is missing for, and by the same reason."""
    service = faulty()
    text = service.target.read_text("utf-8")
    bare = re.sub(r"\n\[realm\..*", "\n", text, flags=re.DOTALL)
    service.target.write_text(bare, "utf-8")
    words = ("-k", "test_single_faults and createContact", "--realm=abs-dev", f"--target={service.target}")
    planned = run(*words, "--plan")
    assert (planned.code, service.app.requests, planned.reports.exists()) == (0, [], False), planned.output
    foretold = re.search(r"(\d+) must clauses: setting realm.<realm>.contact_schema", planned.out)
    ended = run(*words)
    untested = [
        clause["id"]
        for clause in ended.verdict["clauses"]
        for cell in clause["realms"].values()
        if cell["reason"] == "setting realm.abs-dev.contact_schema is missing" and clause["level"] == "must"
    ]
    assert foretold is not None
    assert len(untested) == int(foretold[1]) > 10


def test_what_is_dealt_out_is_shared_by_the_realms() -> None:
    one, other = case(requests=1, dealt=6), case(realm="bch-dev", requests=1, dealt=6)
    assert (forecast(one).requests, forecast(one, other).requests) == (7, 8)


def test_temporary_files_that_run_out_are_told_before() -> None:
    plenty, few = forecast(case(files=2), unused=2), forecast(case(files=2), unused=1)
    assert "run out" not in plenty.summary
    assert "temporary files run out (abs-dev needs 2, has 1 left)" in few.summary
    assert "uses up       temporary files: abs-dev needs 2, has 1 left" in "\n".join(few.lines())


def test_a_clause_is_dealt_where_all_its_cases_deal() -> None:
    here, there = case(deals=True), case(realm="bch-dev", deals=True)
    assert forecast(here, there).dealt == ["uid-hyphen"]
    assert "dealt         1 must clause, each judged" in "\n".join(forecast(here, there).lines())
    assert not forecast(here).dealt
    assert not forecast(here, there, case(), case(realm="bch-dev")).dealt
