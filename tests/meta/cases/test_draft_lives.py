"""Lives of drafts: a sequence that contradicts is shortened, and a draft of two accounts is nobody's own."""

from types import SimpleNamespace
from typing import Any

from registry_contracts.cases.draft_lives import TOUR, DraftModel, calls_of, shortened
from tests.meta import messages


def test_what_cannot_be_seen_again_is_not_shortened() -> None:
    assert shortened(TOUR, lambda _: False) == TOUR
    calls = calls_of("save A, read A, save B, delete A, read B, save A, read A")
    assert shortened(calls, lambda some: ("delete", "A") in some) == calls_of("delete A, read A")


def test_a_draft_that_two_accounts_saved_is_in_nobodys_collection_for_sure() -> None:
    model, url = DraftModel(), "http://127.0.0.1/api/v2013/documents/rc-test-0123456789/versions/draft"
    accounts: list[Any] = [SimpleNamespace(role=role) for role in ("author", "other")]
    own = []
    for account in accounts:
        parts: dict[str, Any] = {"operation": "saveDraft", "method": "PUT", "url": f"{url}?schema=contact"}
        model.take(messages.exchange(messages.response(200), role=account.role, **parts))
        own.append([len(model.of(each)) for each in accounts])
    assert own == [[1, 0], [0, 0]]
