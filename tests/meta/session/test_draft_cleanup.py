"""DraftCleanup deletes what is there or may be there; what may yet come into being is looked after twice."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from registry_contracts.errors import EnvironmentFault
from registry_contracts.session import draft_cleanup
from registry_contracts.session.draft_cleanup import CLEANING, DraftCleanup, why_there
from registry_contracts.session.ledger import Entry, Ledger
from tests.meta import messages
from tests.meta.messages import settled, write


class Service:
    """Deletes drafts that are there; what is not may yet come into being."""

    def __init__(self, *there: str) -> None:
        self.there = set(there)
        self.asked: list[str] = []

    def remove(self, draft: Entry, certain: bool) -> bool:
        """Delete a draft, and say whether it is gone."""
        self.asked.append(draft.identifier)
        if draft.identifier == "away":
            raise EnvironmentFault("away")
        if draft.identifier in self.there:
            self.there.discard(draft.identifier)
            return True
        return certain


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    made = Ledger(tmp_path / "ledger-main.jsonl")
    yield made
    made.close()


def cleaning(ledger: Ledger, service: Service, *kept: str, stopped: bool = False) -> DraftCleanup:
    return DraftCleanup(ledger, service.remove, lambda: stopped, set(kept))


def left(ledger: Ledger) -> list[str]:
    return [entry.identifier for entry in ledger.removable()]


def test_drafts_go_newest_first_and_shared_ones_at_the_end(ledger: Ledger) -> None:
    service = Service("one", "two", "three")
    cleanup = cleaning(ledger, service, "two")
    for name in ("one", "two", "three"):
        settled(ledger, "saveDraft", name)
    cleanup.after_case()
    assert service.asked == ["three", "one"]
    cleanup.at_the_end(last=False)
    assert service.there == {"two"}
    cleanup.at_the_end(last=True)
    assert (service.there, left(ledger)) == (set(), [])


@pytest.mark.parametrize("state", ["intended", "unknown"])
def test_an_unanswered_save_is_looked_up(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    service = Service()
    cleanup = cleaning(ledger, service)
    settled(ledger, "saveDraft", "late", state)
    cleanup.after_case()
    assert left(ledger) == ["late"]
    monkeypatch.setattr(
        "registry_contracts.session.draft_cleanup.time.sleep", lambda _: service.there.add("late")
    )
    cleanup.at_the_end(last=True)
    assert (service.there, left(ledger)) == (set(), [])


def test_a_deletion_that_fails_does_not_keep_the_others(ledger: Ledger) -> None:
    service = Service("one", "away")
    for name in ("one", "away"):
        settled(ledger, "saveDraft", name)
    cleaning(ledger, service).at_the_end(last=False)
    assert (service.there, left(ledger)) == ({"away"}, ["away"])


def test_nothing_is_sent_once_the_breaker_is_open(ledger: Ledger) -> None:
    service = Service("one")
    settled(ledger, "saveDraft", "one")
    cleaning(ledger, service, stopped=True).at_the_end(last=True)
    assert service.asked == []


@pytest.mark.parametrize(
    ("savers", "answers", "asked", "why"),
    [
        ("", {"other": [204]}, "other", None),
        ("", {"other": [404]}, "other", None),
        ("", {"other": [423]}, "other", "deleteDraft answered 423"),
        # Refused to one, it is deleted as any account that may, and is gone where the one no longer sees it.
        ("", {"other": [403, 404], "author": [204]}, "other author other", None),
        ("", {"other": [403, 200], "author": [204]}, "other author other", "deleteDraft answered 403"),
        # One that does not see it does not say that it is gone.
        ("", {"other": [403], "author": [404], "nau": [403]}, "other author nau", "deleteDraft answered 403"),
        # Deleted as each account that saved it: what one is told may be said of nothing, or of another's draft.
        ("other author", {"other": [404], "author": [204]}, "other author", None),
        ("other author", {"other": [403, 404], "author": [204]}, "other author other", None),
        ("other removed", {"other": [204]}, "other", None),
    ],
)
def test_a_draft_is_deleted_as_any_account_that_may(
    ledger: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    savers: str,
    answers: dict[str, list[int]],
    asked: str,
    why: str | None,
) -> None:
    sent = []
    waiting = {role: iter(statuses) for role, statuses in answers.items()}

    def actor(_session: Any, role: str, *_: str) -> Any:
        def send(_operation: str, **_: Any) -> Any:
            sent.append(role)
            return messages.exchange(messages.response(next(waiting[role])))

        return SimpleNamespace(send=send)

    monkeypatch.setattr(draft_cleanup, "Actor", actor)
    entry = ledger.intend(write("saveDraft", "one", role="other"))
    assert entry is not None
    session: Any = SimpleNamespace(target=SimpleNamespace(accounts=dict.fromkeys(("author", "other", "nau"))))
    assert (why_there(session, entry, CLEANING, savers=savers.split()), " ".join(sent)) == (why, asked)
