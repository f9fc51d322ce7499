"""DraftCleanup deletes what is there or may be there; what may yet come into being is looked after twice."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import SuiteError
from contracts.session.draft_cleanup import DraftCleanup
from contracts.session.ledger import Entry, Ledger


class Service:
    """Deletes drafts that are there; what is not may yet come into being."""

    def __init__(self, *there: str) -> None:
        self.there = set(there)
        self.asked: list[str] = []
        self.refuses = False

    def remove(self, draft: Entry, certain: bool) -> bool:
        """Delete a draft, and say whether it is gone."""
        self.asked.append(draft.identifier)
        if draft.identifier in self.there and not self.refuses:
            self.there.discard(draft.identifier)
            return True
        return certain and not self.refuses


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
    cleaning = DraftCleanup(ledger, service.remove, lambda: False, kept={"two"})
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
    cleaning = DraftCleanup(ledger, service.remove, lambda: False, kept=set())
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
    service.refuses = True
    cleaning = DraftCleanup(ledger, service.remove, lambda: False, kept=set())
    save("one")
    for _ in range(2):
        cleaning.after_case()
        assert service.asked == ["one"]
    cleaning.at_the_end(last=True)
    assert service.asked == ["one", "one"]
    assert [entry.identifier for entry in ledger.removable()] == ["one"]


def test_nothing_is_sent_once_the_breaker_is_open(ledger: Ledger, save: Any) -> None:
    service = Service("one")
    save("one")
    DraftCleanup(ledger, service.remove, lambda: True, kept=set()).at_the_end(last=True)
    assert service.asked == []


def test_beside_the_next_case_each_draft_is_deleted_once_and_what_breaks_is_raised(
    ledger: Ledger, save: Any
) -> None:
    service, may_go_on = Service("one", "two"), threading.Event()

    def remove(draft: Entry, certain: bool) -> bool:
        assert may_go_on.wait(10)
        if draft.identifier == "two":
            raise SuiteError("broken")
        return service.remove(draft, certain)

    cleaning = DraftCleanup(ledger, remove, lambda: False, kept=set(), beside=True)
    for name in ("one", "two"):
        save(name)
        cleaning.after_case()
    assert service.asked == []
    may_go_on.set()
    with pytest.raises(SuiteError, match="broken"):
        cleaning.at_the_end(last=False)
    assert (service.asked, service.there) == (["one"], {"two"})
