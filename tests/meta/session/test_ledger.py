"""The ledger: what a run may have left, in the words of one worker and of all, and how much of it may stay.

DraftCleanup deletes what is there or may be there; what may yet come into being is looked after twice.
"""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from registry_contracts.errors import EnvironmentFault
from registry_contracts.exchanges.exchange import Response
from registry_contracts.session import draft_cleanup
from registry_contracts.session.actor import OperationCalls
from registry_contracts.session.budgets import ResidueBudget, ResidueSpent
from registry_contracts.session.draft_cleanup import DraftCleanup, delete_or_explain
from registry_contracts.session.ledger import Entry, Ledger, named, outcome, read_entries, removable, residue
from registry_contracts.session.namespace import Namespace
from registry_contracts.session.shared_state import SharedState
from tests.meta import messages
from tests.meta.messages import answer, settled, write


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


def test_a_write_waits_for_a_parallel_one_that_may_create_nothing(ledger: Any) -> None:
    book = ledger("gw0", 1)
    first = book.intend(write("createContact", "rc-test00000001"))
    threading.Timer(0.1, book.settle, (first, "refused")).start()
    assert book.intend(write("createContact", "rc-test00000002")) is not None


PLANNED = "test_a_contact_is_created"


def creating(folder: Path, most: int) -> Callable[..., None]:
    """Creates records within a budget that has the plan: `create("rc-test-1", "a case")`."""
    budget = ResidueBudget(SharedState(folder), most, lambda _: False)
    budget.plan({PLANNED: ("abs-dev", 7), "[the kept contact of abs-dev]": ("abs-dev", 1)})

    def create(record: str, case: str = PLANNED, operation: str = "createContact") -> None:
        sent = messages.write(operation, record, case=case)
        budget.reserve(sent, record)
        budget.settle(sent, record, kept=True)

    return create


def test_unplanned_writes_leave_the_places_of_planned_records(tmp_path: Path) -> None:
    create = creating(tmp_path, 12)
    for number in range(6):
        create(f"rc-test-{number}", f"case {number}")
    with pytest.raises(ResidueSpent, match="the other places are reserved"):
        create("rc-test-faulty-6", "case 6")
    create("rc-test-submission", "another case", "createWorkflowRecord")
    for number in range(5):
        create(f"rc-test-planned-{number}")
    with pytest.raises(ResidueSpent, match="12 permanent records that it may create"):
        create("rc-test-planned-5")


def test_a_replay_takes_no_planned_place(tmp_path: Path) -> None:
    create = creating(tmp_path, 14)
    for number in range(7 + 6):
        create(f"rc-test-{number}")
    with pytest.raises(ResidueSpent, match="the other places are reserved"):
        create("rc-test-13")


class Service:
    """Deletes drafts that are there; what is not may yet come into being."""

    def __init__(self, *there: str) -> None:
        self.there = set(there)
        self.asked: list[str] = []

    def delete(self, _session: Any, draft: Entry, *, certain: bool, **_: Any) -> str | None:
        """Delete a draft, or say why it is still there."""
        self.asked.append(draft.identifier)
        if draft.identifier == "away":
            return "the service is away"
        if draft.identifier in self.there:
            self.there.discard(draft.identifier)
            return None
        return None if certain else "it may yet come"


@pytest.fixture
def book(ledger: Callable[..., Ledger]) -> Ledger:
    """The ledger of the only worker."""
    return ledger()


@pytest.fixture
def cleaning(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> Callable[..., DraftCleanup]:
    """Makes the clean-up of a service: `cleaning(service, "kept", stopped=True)`."""

    def make(service: Service, *kept: str, stopped: bool = False) -> DraftCleanup:
        monkeypatch.setattr(draft_cleanup, "delete_or_explain", service.delete)
        session: Any = SimpleNamespace(
            ledger=book, breaker=SimpleNamespace(open=stopped), shared_drafts=set(kept)
        )
        return DraftCleanup(session)

    return make


def left(book: Ledger) -> list[str]:
    return [entry.identifier for entry in book.removable()]


def test_drafts_go_newest_first_and_shared_ones_at_the_end(book: Ledger, cleaning: Any) -> None:
    service = Service("one", "two", "three")
    cleanup = cleaning(service, "two")
    for name in ("one", "two", "three"):
        settled(book, "saveDraft", name)
    cleanup.after_case()
    assert service.asked == ["three", "one"]
    cleanup.at_the_end(last=False)
    assert service.there == {"two"}
    cleanup.at_the_end(last=True)
    assert (service.there, left(book)) == (set(), [])


@pytest.mark.parametrize("state", ["intended", "unknown"])
def test_an_unanswered_save_is_looked_up(
    book: Ledger, cleaning: Any, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    service = Service()
    cleanup = cleaning(service)
    settled(book, "saveDraft", "late", state)
    cleanup.after_case()
    assert left(book) == ["late"]
    monkeypatch.setattr(
        "registry_contracts.session.draft_cleanup.time.sleep", lambda _: service.there.add("late")
    )
    cleanup.at_the_end(last=True)
    assert (service.there, left(book)) == (set(), [])


def test_a_deletion_that_fails_does_not_keep_the_others(book: Ledger, cleaning: Any) -> None:
    service = Service("one", "away")
    for name in ("one", "away"):
        settled(book, "saveDraft", name)
    cleaning(service).at_the_end(last=False)
    assert (service.there, left(book)) == ({"away"}, ["away"])


def test_nothing_is_sent_once_the_breaker_is_open(book: Ledger, cleaning: Any) -> None:
    service = Service("one")
    settled(book, "saveDraft", "one")
    cleaning(service, stopped=True).at_the_end(last=True)
    assert service.asked == []


@pytest.mark.parametrize(
    ("savers", "answers", "asked", "why"),
    [
        ("", {"other": [204]}, "other", None),
        ("", {"other": [404]}, "other", None),
        ("", {"other": [423]}, "other", "deleteDraft answered 423"),
        # One account is refused: another one deletes it, and the first no longer finds it.
        ("", {"other": [403, 404], "author": [204]}, "other author other", None),
        ("", {"other": [403, 200], "author": [204]}, "other author other", "deleteDraft answered 403"),
        # An account that does not find it does not show that it is gone.
        ("", {"other": [403], "author": [404], "nau": [403]}, "other author nau", "deleteDraft answered 403"),
        # It is deleted as each account that saved it, since each may have a draft of its own.
        ("other author", {"other": [404], "author": [204]}, "other author", None),
        ("other author", {"other": [403, 404], "author": [204]}, "other author other", None),
        ("other removed", {"other": [204]}, "other", None),
        # If the service does not answer, that is the reason; nothing is raised.
        ("", {"other": [0]}, "other", "away"),
    ],
)
def test_a_draft_is_deleted_as_any_account_that_may(
    book: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    savers: str,
    answers: dict[str, list[int]],
    asked: str,
    why: str | None,
) -> None:
    sent: list[str] = []
    waiting = {role: iter(statuses) for role, statuses in answers.items()}

    class Scripted(OperationCalls):
        def __init__(self, _session: Any, role: str, *_: str) -> None:
            self.role = role

        def send(self, _operation: str, **_: Any) -> Any:
            sent.append(self.role)
            status = next(waiting[self.role])
            if not status:
                raise EnvironmentFault("away")
            return messages.exchange(messages.response(status))

    monkeypatch.setattr(draft_cleanup, "Actor", Scripted)
    entry = book.intend(write("saveDraft", "rc-test00000001", role="other"))
    assert entry is not None
    accounts = dict.fromkeys(("author", "other", "nau"))
    session: Any = SimpleNamespace(target=SimpleNamespace(accounts=accounts), namespace=Namespace("test"))
    assert delete_or_explain(session, entry, savers=savers.split()) == why
    assert " ".join(sent) == asked


@pytest.mark.parametrize(
    ("role", "identifier", "why"),
    [
        ("nau", "rc-test00000001", "the settings have no account nau"),
        ("author", "someone-elses-1", "its identifier is not one of the suite's"),
    ],
)
def test_a_draft_that_may_not_be_deleted_is_left(book: Ledger, role: str, identifier: str, why: str) -> None:
    entry = book.intend(write("saveDraft", identifier, role=role))
    session: Any = SimpleNamespace(
        target=SimpleNamespace(accounts={"author": None}), namespace=Namespace("test")
    )
    assert entry is not None
    assert delete_or_explain(session, entry) == why
