"""Every defect can be applied, and names what the catalogue has; `prove` shows that each is seen."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from contracts.errors import SuiteError, UsageError
from contracts.interface.catalogue import Level, load_catalogue
from contracts.sandbox.defects import ALL, UNBREAKABLE, load
from contracts.sandbox.defects.declaration import defects, refuse
from contracts.sandbox.habits import Settings
from contracts.sandbox.http_requests import bad_request
from contracts.sandbox.serve import altered, main
from contracts.sandbox.service import OPERATIONS, create_app

CATALOGUE = load_catalogue()
TEN_CHARACTERS = "/api/v2013/documents/abcdefghij/versions/draft"


def replaced(service: Any) -> set[str]:
    """Name what a service has of its own that a fresh one takes from its classes."""
    parts = {name: part for name, part in vars(service).items() if name not in {"settings", "habits"}}
    return {
        f"{name}.{attribute}"
        for name, part in {**parts, "tokens": service.identity.tokens}.items()
        for attribute in vars(part)
        if hasattr(type(part), attribute)
    }


def test_a_defect_alters_the_service_it_is_applied_to_and_no_other() -> None:
    """Altering one sandbox alters no other, even in the same process; the next service is a faithful one."""
    service, another = (create_app(Settings()).state.service for _ in range(2))
    for defect in ALL:
        load(defect.name).apply(service)
    assert replaced(service)
    assert replaced(another) == set()
    service.close()
    another.close()


def test_a_defect_shows_in_a_sandbox_that_is_started_with_it(
    serve_app: Callable[[Any], str], caller: Any
) -> None:
    broken = serve_app(altered(Settings(defects=("uid-accepts-ten",))))
    assert [caller(url=url).get(TEN_CHARACTERS).status_code for url in (broken, "")] == [404, 400]


def test_a_list_that_holds_published_records_can_lack_its_newest_draft_at_once(
    start_sandbox: Callable[..., Any], caller: Any
) -> None:
    """Each defect of a list gives rows as whole as it was given, so that another finds in them what it needs."""
    names = ("list-mydrafts-with-published", "list-mydrafts-lacks-newest")
    for order in (names, names[::-1]):
        client = caller(url=start_sandbox(*(f"--defect={name}" for name in order)).url)
        client.saved()
        assert client.get("/api/v2013/document-drafts", params={"collection": "mydrafts"}).status_code == 200


def test_every_must_clause_has_a_defect_or_a_reason() -> None:
    broken = {defect.clause for defect in ALL}
    must = {clause.id for clause in CATALOGUE if clause.level is Level.MUST}
    assert must - broken - UNBREAKABLE.keys() == set()
    assert UNBREAKABLE.keys() <= must
    assert not UNBREAKABLE.keys() & broken


def test_what_cannot_be_tested_is_not_broken() -> None:
    """A clause that no case judges would make its defects look as if they had slipped through."""
    assert [defect.name for defect in ALL if CATALOGUE.clause(defect.clause).untested] == []


def test_names_and_sentences_tell_defects_apart() -> None:
    described = {(defect.clause, defect.operations, defect.sentence) for defect in ALL}
    assert len(described) == len({defect.name for defect in ALL}) == len(ALL)
    for defect in ALL:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", defect.name)
        assert re.fullmatch(r"\S[^\n]{10,}\.", defect.sentence), defect.name


def test_a_defect_is_declared_once_and_under_a_name_of_the_table() -> None:
    for name in ("uid-accepts-ten", "uid-accepts-nothing-known"):
        with pytest.raises(SuiteError, match=f"{name!r} must stand once"):
            defects({name: refuse(bad_request)})


def test_a_defect_stays_within_its_clause() -> None:
    operations = {name for name, *_ in OPERATIONS}
    for defect in ALL:
        clause = CATALOGUE.clause(defect.clause)
        assert clause.level is not Level.SILENT
        assert set(defect.operations) <= operations & set(clause.operations), defect.name
        assert set(defect.realms) <= set(clause.realms), defect.name


def test_an_unknown_name_is_a_usage_error_with_a_suggestion() -> None:
    with pytest.raises(UsageError, match="did you mean 'uid-accepts-ten'"):
        load("uid-accept-ten")
    assert load("uid-accepts-ten") in ALL


def test_the_list_shows_every_defect_with_its_clause(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--defect", "list"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert all(f" {each.name} {' '.join(each.sentence.split())} ({each.clause})" in words for each in ALL)
