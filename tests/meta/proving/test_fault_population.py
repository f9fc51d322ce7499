"""Faults: the catalogue, the fixed set of a proof, and draws."""

from collections import Counter

import pytest

from registry_contracts.errors import UsageError
from registry_contracts.interface.catalogue import Level, load_catalogue
from registry_contracts.interface.description import load_description
from registry_contracts.model import factors
from registry_contracts.sandbox.faults import conditions, held, population
from registry_contracts.sandbox.faults.conditions import OPERATIONS, conditions_of
from registry_contracts.sandbox.faults.messages import COUNTS_PATH
from tests.meta.samples import CONTACT_SCHEMA, contact, draft_path, record
from tests.meta.sandbox_client import SandboxClient, new_uid, sandbox

#: Clauses that no fault breaks.
UNBREAKABLE = {
    "head-without-body",  # servers drop content of an answer to HEAD, and clients do not read it
    "header-letter-case",  # the server hands header names on in small letters
    "realm-production",  # the sandbox has no production realm
    "token-separate-environments",  # it takes two environments
    "workflow-initiated",  # no operation shows a workflow or its state
    "workflow-order-save-before-initiate",  # neither step can be made to fail, and no answer shows them apart
}


def test_the_fixed_set_has_a_fault_for_every_clause() -> None:
    catalogue, operations = load_catalogue(), load_description().operations
    fixed = population.fixed_set()
    for fault in fixed:
        assert set(fault.at) <= operations.keys(), fault.name
        assert all(catalogue.clause(clause).level is not Level.SILENT for clause in fault.breaks), fault.name
    tried = Counter(fault.breaks[0] for fault in fixed)
    claimed = {c.id for c in catalogue if c.level is not Level.SILENT and c.untested is None}
    assert claimed - tried.keys() == UNBREAKABLE & claimed
    assert max(tried.values()) <= 3


@pytest.mark.parametrize("by_night", [False, True])
def test_a_draw_holds_faults_that_break_a_must_and_that_their_names_give_again(*, by_night: bool) -> None:
    drawn = population.draw(300, 3, by_night=by_night)
    assert drawn == population.draw(300, 3, by_night=by_night) != population.draw(300, 4, by_night=by_night)
    assert len(set(drawn)) == len(drawn)
    for fault in drawn:
        assert population.load(fault.name) == fault
        assert fault.level is Level.MUST
        assert fault.sentence.endswith(".")
        assert fault.realms
    several = {len(conditions_of(fault.when)) for fault in drawn if fault.when}
    assert several == ({1, 2, 3} if by_night else {1, 2})
    effects = (fault.name.partition("@")[0].partition(":") for fault in drawn)
    groups = Counter(population.effects()[operation][effect].group for operation, _, effect in effects)
    assert set(groups.values()) == {300 // len(groups)}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_sandbox_has_the_values_of_the_factor_table(operation: str) -> None:
    theirs = {name: {each.name for each in values} for name, values in factors.table(operation).items()}
    theirs.pop("content", None)  # what texts a draft has is an effect here, by class and place
    assert {
        name: {each.name for each in values} for name, values in conditions.table(operation).items()
    } == theirs


def test_the_sandbox_has_the_relations_of_the_factor_table() -> None:
    assert held.RELATIONS.keys() == factors.RELATIONS.keys()
    assert held.FILE_RELATIONS.keys() == factors.FILE_RELATIONS.keys()


@pytest.mark.parametrize(
    ("name", "clauses"),
    [
        ("updateWorkflowRecord:accepted@locked+caller_nau", {"workflow-locked-record"}),
        ("deleteDraft:twin-lost", {"uid-case-sensitive", "draft-delete-spares-others"}),
        ("saveDraft:without-effect@free", {"draft-save-creates"}),
        ("saveDraft:refused-400@uid_of_11", {"uid-shortest", "draft-save-updates"}),
        ("listDrafts:newest-lost@list_mydrafts", {"list-mydrafts-has-mine"}),
        ("getDraft:emptied@uid_of_11", {"draft-get-content", "uid-shortest"}),
        ("updateWorkflowRecord:status-404@locked+faulty", {"workflow-order-locked-before-validation"}),
    ],
)
def test_a_crossed_fault_has_the_clauses_of_its_effect_and_values(name: str, clauses: set[str]) -> None:
    assert clauses <= set(population.load(name).breaks)


@pytest.mark.parametrize(
    "name",
    [
        # An account may lack a right, some values may be refused, and the collection "my" may hold something else.
        "saveDraft:refused-400@caller_other",
        "saveDraft:refused-400@uid_encoded",
        "listDrafts:newest-lost@list_my",
        "updateWorkflowRecord:status-409@unknown+uid_encoded",
    ],
)
def test_where_nothing_is_promised_there_is_no_fault(name: str) -> None:
    with pytest.raises(UsageError, match="breaks no clause"):
        population.load(name)


@pytest.mark.parametrize(
    ("name", "altered", "mattered"),
    [
        ("saveDraft:without-effect@saved", True, True),
        ("getDraft:unrelated-given", True, True),
        ("updateWorkflowRecord:accepted@locked", True, True),
        # It acts on members that no documented field has, and so breaks no must.
        ("saveDraft:beyond-ascii-null", True, False),
        ("saveDraft:failed@uid_of_128", False, False),
    ],
)
def test_a_sandbox_counts_how_often_a_fault_broke_a_promise(name: str, altered: bool, mattered: bool) -> None:
    with sandbox("--fault", name) as url:
        client, uids = SandboxClient(url), (new_uid(), new_uid())
        for uid in (*uids, *uids):
            client.put(draft_path(uid), params=CONTACT_SCHEMA, json=contact(uid=uid, additional="Жук"))
        client.get(draft_path(uids[0]))
        client.put(
            "/api/v2023/documents/schemas/absPermit/sandbox-locked-abs-dev", json={"document": record()}
        )
        counts = client.get(COUNTS_PATH).json()
    assert (counts["altered"] > 0, counts["mattered"] > 0) == (altered, mattered)
