"""Each defect is seen from outside: the altered sandbox breaks the documented statement, the faithful one keeps it."""

import re
from collections.abc import Callable

import pytest

from contracts.errors import UsageError
from contracts.interface.catalogue import Level, load_catalogue
from contracts.sandbox.app import create_app
from contracts.sandbox.defects import ALL, UNBREAKABLE, Defect, load
from contracts.sandbox.habits import Settings
from contracts.sandbox.service import Service
from tests.meta.defects import (  # noqa: F401 - each registers what it holds
    observe_attachment,
    observe_contact,
    observe_draft,
    observe_errors,
    observe_http,
    observe_list,
    observe_order,
    observe_realm,
    observe_token,
    observe_uid,
    observe_workflow,
    valid,
)
from tests.meta.defects.observing import OBSERVATIONS
from tests.meta.defects.wire import Wire
from tests.meta.defects.witness import Witness

CATALOGUE = load_catalogue()
SETTINGS = Settings(size_limit=observe_attachment.SIZE_LIMIT)
Seen = tuple[str, tuple[str, ...], tuple[str, ...]]


@pytest.fixture(scope="module")
def kept() -> set[Seen]:
    """Return what was already seen to hold on the faithful sandbox."""
    return set()


def realms_of(defect: Defect) -> tuple[str, ...]:
    return defect.realms or ("abs-dev",)


def look(defect: Defect, alter: Callable[[Service], None]) -> None:
    """Run the observations of a defect's clause on a fresh sandbox."""
    app = create_app(SETTINGS)
    alter(app.state.service)
    wire = Wire(app)
    try:
        for observation in OBSERVATIONS[defect.clause]:
            observation(Witness(wire, defect.operations, realms_of(defect)))
    finally:
        wire.close()


@pytest.mark.parametrize("defect", ALL, ids=[defect.name for defect in ALL])
def test_a_defect_shows(defect: Defect, kept: set[Seen]) -> None:
    """The sequence that the faithful sandbox passes fails on the altered one."""
    seen = (defect.clause, defect.operations, defect.realms)
    if seen not in kept:
        look(defect, lambda _: None)
        kept.add(seen)
    with pytest.raises(AssertionError):
        look(defect, defect.apply)


def test_every_must_clause_has_a_defect_or_a_reason() -> None:
    broken = {defect.clause for defect in ALL}
    must = {clause.id for clause in CATALOGUE if clause.level is Level.MUST}
    assert must - broken - UNBREAKABLE.keys() == set()
    assert UNBREAKABLE.keys() <= must
    assert not UNBREAKABLE.keys() & broken


def test_what_cannot_be_tested_is_not_broken() -> None:
    """A clause that no case judges would make its defects look as if they had slipped through."""
    assert [defect.name for defect in ALL if CATALOGUE.clause(defect.clause).untested] == []


def test_every_defect_has_an_observation() -> None:
    assert {defect.clause for defect in ALL} <= OBSERVATIONS.keys()


def test_observations_are_of_clauses_that_defects_break() -> None:
    assert OBSERVATIONS.keys() <= {defect.clause for defect in ALL}


def test_names_are_unique_and_kebab_case() -> None:
    names = [defect.name for defect in ALL]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == []


def test_a_sentence_is_one_line() -> None:
    for defect in ALL:
        assert re.fullmatch(r"\S[^\n]{10,}\.", defect.sentence), defect.name


def test_sentences_tell_defects_of_a_clause_apart() -> None:
    told = [(defect.clause, defect.operations, defect.sentence) for defect in ALL]
    assert [each for each in told if told.count(each) > 1] == []


def test_a_defect_stays_within_its_clause() -> None:
    for defect in ALL:
        clause = CATALOGUE.clause(defect.clause)
        assert clause.level is not Level.SILENT
        assert set(defect.operations) <= set(clause.operations), defect.name
        assert set(defect.realms) <= set(clause.realms), defect.name


def test_an_unknown_name_is_a_usage_error_with_a_suggestion() -> None:
    with pytest.raises(UsageError, match="did you mean 'uid-accepts-ten'"):
        load("uid-accept-ten")
    assert load("uid-accepts-ten") in ALL


def test_a_defect_leaves_the_faithful_service_alone() -> None:
    """Altering one sandbox alters no other, even in the same process."""
    altered = create_app(SETTINGS).state.service
    for defect in ALL:
        defect.apply(altered)
    altered.close()
    for clause in ("uid-too-short", "contact-create-full", "workflow-create-accepted", "list-pages-cover"):
        look(next(defect for defect in ALL if defect.clause == clause), lambda _: None)
