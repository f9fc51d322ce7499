"""Every defect has its class, and the sample is the same whoever draws it."""

from fnmatch import fnmatchcase

import pytest

from benchmarks.peers.classes import CLAUSE_RULES, DEFECT_RULES, Need, classed, need_of
from benchmarks.peers.sample import draw
from contracts.errors import SuiteError
from contracts.interface.catalogue import Level, load_catalogue
from contracts.sandbox.defects import ALL, Defect

CATALOGUE = load_catalogue()
MUST = [defect for defect in ALL if CATALOGUE.clause(defect.clause).level is Level.MUST]
CLASSED = classed(CATALOGUE)


def test_every_defect_of_a_must_clause_has_exactly_one_class() -> None:
    assert sorted(each.name for defects in CLASSED.values() for each in defects) == [
        each.name for each in MUST
    ]


def test_every_rule_is_needed() -> None:
    """A pattern that fits nothing is a rule about nothing."""
    names, clauses = {each.name for each in MUST}, {each.clause for each in MUST}
    idle = [
        pattern
        for words, rules in ((names, DEFECT_RULES), (clauses, CLAUSE_RULES))
        for _, patterns in rules
        for pattern in patterns
        if not any(fnmatchcase(word, pattern) for word in words)
    ]
    assert idle == []


@pytest.mark.parametrize(
    ("name", "need"),
    [
        ("contact-create-without-type", Need.DESCRIPTION),
        ("uid-accepts-ten", Need.DESCRIPTION),
        ("get-draft-without-token", Need.DESCRIPTION),
        ("draft-text-mangled", Need.CONTENT),
        ("workflow-anonymous-message", Need.CONTENT),
        ("draft-update-lost", Need.CALLS),
        ("list-edge-repeated", Need.CALLS),
        ("draft-create-lost-in-chm", Need.ACCOUNTS),
        ("token-password-of-anyone", Need.ACCOUNTS),
        ("workflow-create-rights-message", Need.ACCOUNTS),
    ],
)
def test_the_class_is_the_last_thing_needed(name: str, need: Need) -> None:
    assert name in {each.name for each in CLASSED[need]}


def test_a_defect_without_a_rule_is_an_error() -> None:
    unruled = Defect("nothing-like-it", "draft-get-content", (), "", lambda _: None)
    assert need_of(unruled, CATALOGUE) is Need.CONTENT
    with pytest.raises(SuiteError, match="has no class"):
        need_of(Defect("nothing-like-it", "uid-percent-encoding", (), "", lambda _: None), CATALOGUE)


def test_the_sample_has_each_clause_once_and_does_not_depend_on_the_order() -> None:
    sample = draw(CLASSED, 10)
    turned = draw({need: defects[::-1] for need, defects in CLASSED.items()}, 10)
    assert sample == turned
    for defects in sample.values():
        assert len({each.clause for each in defects}) == len(defects) == 10


def test_a_wider_sample_holds_the_narrower_one() -> None:
    narrow, wide = draw(CLASSED, 5), draw(CLASSED, 8)
    assert all(wide[need][:5] == narrow[need] for need in Need)
