"""Drafts that no save tells of: stored although the write was refused, or part of a contact or a submission."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from registry_contracts.checks.outcomes import Attempt
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.plugin.drafts_of_cases import settle_drafts
from registry_contracts.session import draft_cleanup
from registry_contracts.session.ledger import Ledger, State
from registry_contracts.session.namespace import Namespace
from tests.meta import messages

UID = "rc-test-0123456789"


def exchange(operation: str, status: int, uid: str = UID, sender: str = "author") -> Exchange:
    url = f"http://127.0.0.1/api/v2013/documents/{uid}/versions/draft?schema=contact"
    headers = {"Authorization": f"Bearer token of {sender}", "Realm": "abs-dev"}
    parts: dict[str, Any] = {"operation": operation, "role": "author", "method": "PUT", "url": url}
    return messages.exchange(messages.response(status), request_headers=headers, **parts)


REFUSED, SAVED, DELETED = exchange("saveDraft", 400), exchange("saveDraft", 201), exchange("deleteDraft", 204)
ABSENT, THERE = exchange("draftExists", 404), exchange("draftExists", 200)


@pytest.fixture
def looked_for(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The uids that are looked for, of which a draft is there but for those that end in `-`."""
    uids: list[str] = []

    def send(_operation: str, path: dict[str, str], **_: Any) -> Exchange:
        uids.append(path["uid"])
        return ABSENT if path["uid"].endswith("-") else THERE

    monkeypatch.setattr(draft_cleanup, "Actor", lambda *_: SimpleNamespace(send=send))
    return uids


@pytest.mark.parametrize(
    ("exchanges", "kept", "asked", "left"),
    [
        ([REFUSED], False, True, True),
        ([REFUSED, ABSENT], False, False, False),
        ([REFUSED, SAVED], False, False, True),
        ([exchange("saveDraft", 400, "rc-test-01")], False, False, False),  # too short
        ([exchange("saveDraft", 400, "somebody-elses-record")], False, False, False),
        ([SAVED, DELETED, ABSENT], False, False, False),
        # What cases share stays in the ledger.
        ([SAVED, DELETED, ABSENT], True, False, True),
        ([SAVED, DELETED], False, False, True),
        ([SAVED, DELETED, exchange("getDraft", 401, sender="nobody")], False, False, True),
        ([SAVED, DELETED, ABSENT, THERE], False, False, True),
    ],
)
def test_what_is_left_of_the_drafts_of_a_case(
    tmp_path: Path, looked_for: list[str], exchanges: list[Exchange], kept: bool, asked: bool, left: bool
) -> None:
    ledger = Ledger(tmp_path / "ledger-main.jsonl")
    if SAVED in exchanges and (entry := ledger.intend(messages.write("saveDraft", UID))):
        ledger.settle(entry, "created")
    worker: Any = SimpleNamespace(
        breaker=SimpleNamespace(open=None),
        shared_drafts={UID} if kept else set(),
        namespace=Namespace("test"),
        ledger=ledger,
    )
    settle_drafts(worker, [Attempt(1, exchanges=exchanges)])
    ledger.close()
    assert looked_for == ([UID] if asked else [])
    assert [entry.identifier for entry in ledger.removable()] == ([UID] if left else [])


def test_drafts_of_contacts_and_submissions_are_deleted(tmp_path: Path, looked_for: list[str]) -> None:
    writes = Ledger(tmp_path / "ledger-main.jsonl")
    submit, update = "createWorkflowRecordWithIdentifier", "updateContact"
    for operation, uid, realm, state in (
        (update, "rc-test-a-contact", "abs-dev", "created"),
        (submit, "rc-test-submitted", "abs-dev", "created"),
        (submit, "rc-test-refused-0", "abs-dev", "refused"),
        (submit, "rc-test-no-drafts", "ort-dev", "created"),
        (update, "rc-keep-contact-0", "abs-dev", "created"),
        ("updateWorkflowRecord", "a-record-of-the-settings", "abs-dev", "created"),
        ("createWorkflowRecord", "given-by-the-service", "abs-dev", "created"),
        ("createContact", "the-organization", "abs-dev", "created"),
    ):
        entry = writes.intend(messages.write(operation, uid, realm=realm))
        assert entry is not None
        writes.settle(entry, cast(State, state))
    writes.close()
    session: Any = SimpleNamespace(
        breaker=SimpleNamespace(open=None),
        namespace=Namespace("test", foreign=["the-organization"]),
        target=SimpleNamespace(accounts=["author"]),
    )
    draft_cleanup.delete_drafts_of_records(session, tmp_path.glob("ledger*.jsonl"))
    assert looked_for == ["rc-test-a-contact", "rc-test-submitted", "given-by-the-service"]
