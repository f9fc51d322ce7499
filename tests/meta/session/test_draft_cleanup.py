"""DraftCleanup deletes what is there or may be there; what may yet come into being is looked after twice."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import SuiteError
from contracts.exchanges.exchange import Exchange
from contracts.session.draft_cleanup import DraftCleanup
from contracts.session.ledger import Entry, Ledger, header_as_sent
from tests.meta import messages


class Service:
    """Deletes drafts that are there; a late save puts one in its place between two deletions."""

    def __init__(self, *there: str) -> None:
        self.there = set(there)
        self.asked: list[str] = []
        self.status = 204

    def delete(self, entry: Entry) -> Exchange:
        """Answer a deletion."""
        self.asked.append(entry.identifier)
        status = self.status if entry.identifier in self.there else 404
        if status < 400:
            self.there.discard(entry.identifier)
        return messages.exchange(messages.response(status), operation="deleteDraft", method="DELETE")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    made = Ledger(tmp_path / "ledger-main.jsonl")
    yield made
    made.close()


@pytest.fixture
def save(ledger: Ledger) -> Callable[..., None]:
    def write(identifier: str, state: Any = "created") -> None:
        entry = ledger.intend("saveDraft", "abs-dev", "author", identifier)
        assert entry is not None
        if state != "intended":
            ledger.settle(entry, state)

    return write


def test_drafts_go_newest_first_and_shared_ones_at_the_end(ledger: Ledger, save: Any) -> None:
    service = Service("one", "two", "three")
    cleaning = DraftCleanup(ledger, service.delete, lambda: False, kept={"two"})
    for name in ("one", "two", "three"):
        save(name)
    cleaning.after_case()
    assert service.asked == ["three", "one"]
    cleaning.at_the_end(last=False)
    assert service.there == {"two"}
    cleaning.at_the_end(last=True)
    assert (service.there, ledger.removable()) == (set(), [])


@pytest.mark.parametrize("state", ["intended", "unknown"])
def test_a_save_that_was_not_answered_is_looked_after_again_at_the_end(
    ledger: Ledger, save: Any, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    service = Service()
    cleaning = DraftCleanup(ledger, service.delete, lambda: False, kept=set())
    save("late", state)
    cleaning.after_case()
    assert [entry.identifier for entry in ledger.removable()] == ["late"]
    monkeypatch.setattr("contracts.session.draft_cleanup.time.sleep", lambda _: service.there.add("late"))
    cleaning.at_the_end(last=True)
    assert (service.there, ledger.removable()) == (set(), [])


def test_what_cannot_be_deleted_is_tried_again_only_at_the_end_and_stays_in_the_ledger(
    ledger: Ledger, save: Any
) -> None:
    service = Service("one")
    service.status = 403
    cleaning = DraftCleanup(ledger, service.delete, lambda: False, kept=set())
    save("one")
    cleaning.after_case()
    cleaning.after_case()
    assert service.asked == ["one"]
    cleaning.at_the_end(last=True)
    assert service.asked == ["one", "one"]
    assert [entry.identifier for entry in ledger.removable()] == ["one"]


def test_nothing_is_sent_once_the_breaker_is_open(ledger: Ledger, save: Any) -> None:
    service = Service("one")
    save("one")
    DraftCleanup(ledger, service.delete, lambda: True, kept=set()).at_the_end(last=True)
    assert service.asked == []


@pytest.mark.parametrize("realm_sent", ["(none)", "(empty)", "no-such-realm"])
def test_a_draft_of_another_context_is_removed_there_or_listed(
    ledger: Ledger, save: Any, realm_sent: str
) -> None:
    service, there = Service("one"), {"one"}

    def remove_elsewhere(entry: Entry) -> bool:
        assert header_as_sent(entry.realm_sent).keys() == {"Realm"}
        return entry.identifier not in there

    save("one")
    elsewhere = ledger.intend("saveDraft", "abs-dev", "author", "one", realm_sent=realm_sent)
    assert elsewhere is not None
    ledger.settle(elsewhere, "created")
    cleaning = DraftCleanup(ledger, service.delete, lambda: False, set(), remove_elsewhere)
    cleaning.after_case()
    assert [entry.realm_sent for entry in ledger.removable()] == [realm_sent]
    there.clear()
    cleaning.at_the_end(last=True)
    assert ledger.removable() == []


def test_beside_the_next_case_each_draft_is_deleted_once_and_all_before_the_end(
    ledger: Ledger, save: Any
) -> None:
    service, may_go_on = Service("one", "two"), threading.Event()

    def delete(entry: Entry) -> Exchange:
        assert may_go_on.wait(10)
        return service.delete(entry)

    cleaning = DraftCleanup(ledger, delete, lambda: False, kept=set(), beside=True)
    save("one")
    cleaning.after_case()
    save("two")
    cleaning.after_case()
    assert service.asked == []
    may_go_on.set()
    cleaning.at_the_end(last=False)
    assert (service.asked, service.there, ledger.removable()) == (["one", "two"], set(), [])


def test_what_breaks_a_deletion_beside_a_case_is_raised_at_the_end(ledger: Ledger, save: Any) -> None:
    def delete(_: Entry) -> Exchange:
        raise SuiteError("broken")

    cleaning = DraftCleanup(ledger, delete, lambda: False, kept=set(), beside=True)
    save("one")
    cleaning.after_case()
    with pytest.raises(SuiteError, match="broken"):
        cleaning.at_the_end(last=False)
