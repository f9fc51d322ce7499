"""Which runs the history compares: those of one series that say how their target fares."""

from dataclasses import replace

import pytest

from contracts.evidence.run_comparison import is_comparable, series_of
from contracts.interface.catalogue import load_catalogue
from tests.meta.evidence.sample_records import Story, consumer

RUN = Story().record().run


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("pytest -n 2 --target=dev --profile=gate", True),
        ("pytest --clause=list-top --realm=abs-dev", True),
        ("pytest '--sandbox-arguments=--size-limit 100'", True),
        ("pytest '--sandbox-arguments=--defect list-top-ignored'", False),
        ("pytest '--sandbox-arguments=--weather resets'", False),
        ("pytest -k paging", False),
        ("pytest -kpaging", False),
        ("pytest -x", False),
        ("pytest --deselect test_a.py", False),
        ("pytest test_a.py::test_b", False),
        ("pytest 'no end", True),
    ],
)
def test_defects_and_narrowed_runs_make_no_entry(command: str, kept: bool) -> None:
    story = Story()
    story.holds("draft-get-content")
    assert is_comparable(replace(RUN, command=command), story.verdict()) is kept


def test_a_run_that_tested_nothing_makes_no_entry() -> None:
    assert not is_comparable(RUN, Story().verdict())


def test_profile_realms_clauses_and_consumer_make_a_series() -> None:
    whole = replace(RUN, clauses=tuple(clause.id for clause in load_catalogue()))
    assert series_of(whole) == "gate in abs-dev, bch-dev"
    assert series_of(replace(whole, clauses=("list-top",))) == "gate in abs-dev, bch-dev; list-top"
    held = replace(whole, terms=replace(whole.terms, consumer=consumer("getDraft")))
    assert series_of(held) == "gate in abs-dev, bch-dev; for sdk.toml"
    many = [series_of(replace(whole, clauses=whole.clauses[start:])) for start in (1, 2)]
    assert len({series_of(whole), *many}) == 3
