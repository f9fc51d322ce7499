"""The ledger: what a run may have left, in the words of one worker and of all, and how much of it may stay."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.exchanges.exchange import Response
from registry_contracts.session.budgets import ResidueBudget, ResidueSpent
from registry_contracts.session.ledger import Ledger, named, outcome, read_entries, removable, residue
from registry_contracts.session.shared_state import SharedState
from tests.meta import messages
from tests.meta.messages import answer, settled


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Callable[..., Ledger]]:
    """Makes the ledger of a worker: `ledger("gw0", most=2)`."""
    made: list[Ledger] = []

    def make(name: str = "main", most: int | None = None) -> Ledger:
        given = {"given-by-settings"}
        budget = None if most is None else ResidueBudget(SharedState(tmp_path), most, given.__contains__)
        made.append(Ledger(tmp_path / f"ledger-{name}.jsonl", budget))
        return made[-1]

    yield make
    for each in made:
        each.close()


ERROR = [{"code": "Error.Mandatory"}]


@pytest.mark.parametrize(
    ("seen", "fault", "state"),
    [
        (None, "the connection was reset", "unknown"),
        (answer(status=201), None, "created"),
        (answer({"errors": []}), None, "created"),
        (answer({"errors": ERROR}), None, "refused"),
        (answer({"document": {"found": {"errors": ERROR}}}), None, "refused"),
        (answer(status=409), None, "refused"),
        (answer(status=429), "status 429", "refused"),
        (answer(status=500), None, "unknown"),
        (answer(), "an HTML page", "unknown"),
    ],
)
def test_what_became_of_a_write(seen: Response | None, fault: str | None, state: str) -> None:
    assert outcome(seen, fault) == state


def test_an_identifier_that_the_service_minted_is_found() -> None:
    minted = {"workflow": {"_id": "workflow-0001"}, "document": {"identifier": "minted-00001"}}
    assert named(answer(minted)) == named(answer({"data": {"uid": "minted-00001"}})) == "minted-00001"
    assert named(answer({"id": "short"})) is None


def test_drafts_of_all_workers_are_removable_until_removed(ledger: Any, tmp_path: Path) -> None:
    one, two = ledger("gw0"), ledger("main")
    settled(one, "saveDraft", "rc-test00000001", "created")
    settled(one, "saveDraft", "rc-test00000002", "refused")
    settled(one, "saveDraft", "rc-test00000003", "unknown")
    one.intend(messages.write("saveDraft", "rc-test00000004"))
    paths = sorted(tmp_path.glob("ledger-*.jsonl"))
    assert [each.identifier[-1] for each in removable(read_entries(paths))] == ["4", "3", "1"]
    settled(two, "saveDraft", "rc-test00000001", "created")
    two.removed("abs-dev", "rc-test00000001")
    assert [each.identifier[-1] for each in removable(read_entries(paths))] == ["4", "3"]
    settled(two, "saveDraft", "rc-test00000001", "created")
    assert [each.identifier[-1] for each in removable(read_entries(paths))] == ["1", "4", "3"]


def test_the_savers_of_a_draft_are_those_whose_save_may_be_there_still(ledger: Any) -> None:
    book, place = ledger(), ("abs-dev", "rc-test00000001", "")
    settled(book, "saveDraft", place[1], "created")
    book.removed(*place)
    saves = {"other": "created", "restricted": "refused", "nau": "unknown"}
    for role in (*saves, "other"):
        settled(book, "saveDraft", place[1], saves[role], role=role)
    assert book.savers(place) == ["other", "nau"]
    assert book.savers(("bch-dev", *place[1:])) == []


def test_residue_counts_every_record_once_and_the_nameless_each(ledger: Any, tmp_path: Path) -> None:
    book = ledger()
    settled(book, "createContact", "rc-test00000001", "created")
    settled(book, "updateContact", "rc-test00000001", "created")
    settled(book, "createWorkflowRecord", "", "created")
    settled(book, "createWorkflowRecord", "", "unknown")
    settled(book, "createWorkflowRecord", "", "refused")
    settled(book, "saveDraft", "rc-test00000002", "created")
    assert len(list(residue(read_entries(tmp_path.glob("*.jsonl"))))) == len(list(book.residue())) == 3


def test_the_thirteenth_permanent_record_is_not_created(ledger: Any) -> None:
    books = [ledger("gw0", 12), ledger("gw1", 12)]
    for number in range(12):
        settled(books[number % 2], "createContact", f"rc-test{number:08d}", "created")
    with pytest.raises(ResidueSpent, match=r"12 permanent records .* abs-dev .*pace.permanent_records"):
        books[0].intend(messages.write("createWorkflowRecord", ""))
    settled(books[1], "updateContact", "rc-test00000003", "created")
    settled(books[1], "updateWorkflowRecord", "given-by-settings", "created")
    settled(books[1], "createContact", "rc-test99999999", "created", realm="bch-dev")
    settled(books[1], "createAttachment", "rc-test99999999", "created")


PLAN = {"test_a_contact_is_created": ("abs-dev", 7), "[the kept contact of abs-dev]": ("abs-dev", 1)}


def test_what_ought_to_be_refused_leaves_the_places_of_planned_records(tmp_path: Path) -> None:
    budget = ResidueBudget(SharedState(tmp_path), 12, lambda _: False)
    budget.plan(PLAN)

    def create(record: str, case: str, operation: str = "createContact") -> None:
        sent = messages.write(operation, record, case=case)
        budget.reserve(sent, record)
        budget.settle(sent, record, kept=True)

    for number in range(9):
        create(f"rc-test-{number}", f"case {number}")
    with pytest.raises(ResidueSpent, match="the other places are reserved"):
        create("rc-test-faulty-9", "case 9")
    create("rc-test-submission", "another case", "createWorkflowRecord")
    for number in range(2):
        create(f"rc-test-planned-{number}", "test_a_contact_is_created")
    with pytest.raises(ResidueSpent, match="12 permanent records that it may create"):
        create("rc-test-planned-2", "test_a_contact_is_created")
