"""Attempts that network faults spoilt are no findings, and a run finds drafts that no accepted save created.

The service may store a draft although it refused the save, or with a contact or a submission.
"""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from registry_contracts.checks.outcomes import Attempt, contradicted
from registry_contracts.evidence.record import Verdict
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.plugin.case import Ending
from registry_contracts.plugin.protocol import Try, is_spoilt, judged_by
from registry_contracts.session import draft_cleanup
from registry_contracts.session.actor import OperationCalls
from registry_contracts.session.ledger import Ledger, read_entries
from registry_contracts.session.namespace import Namespace
from tests.meta.messages import exchange, response, settled

EVIDENCE = contradicted("draft-get-content", "getDraft", "this", "that", ("main-1",))
LOST = exchange(fault="status 502")
BLOCKED = exchange(fault="requests like this are blocked", blocked=True)
RETRIED = exchange(retries=2)
PAGE = exchange(response(404, b"<html></html>", {"content-type": "text/html"}))
OWN = exchange(fault="no answer within the time limit", own=True)


def attempt(*exchanges: Exchange, contradicts: bool = False, confirmed: bool = False) -> Attempt:
    made = Attempt(1, exchanges=list(exchanges))
    if contradicts:
        made.note(EVIDENCE)
    if confirmed:
        made.confirmed[EVIDENCE.key] = (2, 2)
    return made


@pytest.mark.parametrize(
    ("made", "verdict", "disturbed", "spoilt"),
    [
        (attempt(RETRIED, contradicts=True), Verdict.FAIL, False, False),
        (attempt(LOST, contradicts=True), Verdict.FAIL, False, True),
        (attempt(OWN, contradicts=True), Verdict.FAIL, False, False),
        (attempt(LOST, contradicts=True, confirmed=True), Verdict.FAIL, False, False),
        (attempt(LOST), Verdict.PASS, False, False),
        (attempt(LOST), Verdict.INCONCLUSIVE, False, True),
        # It would be blocked again.
        (attempt(BLOCKED), Verdict.INCONCLUSIVE, True, False),
        (attempt(PAGE), Verdict.INCONCLUSIVE, False, True),
        (attempt(LOST), Verdict.UNTESTED, False, False),
        (attempt(LOST), Verdict.FAIL, False, True),
        # A sign-in was lost.
        (attempt(), Verdict.INCONCLUSIVE, True, True),
        (attempt(contradicts=True), Verdict.FAIL, True, False),
        # A token may have been forgotten while others met a fault.
        (attempt(exchange(response(401)), contradicts=True), Verdict.FAIL, True, True),
        (attempt(exchange(response(404)), contradicts=True), Verdict.FAIL, True, False),
        (attempt(exchange(response(401)), contradicts=True), Verdict.FAIL, False, False),
    ],
)
def test_when_network_faults_spoil_an_attempt(
    made: Attempt, verdict: Verdict, disturbed: bool, spoilt: bool
) -> None:
    assert is_spoilt(made, Ending(verdict), disturbed=disturbed) is spoilt


def test_a_contradiction_seen_only_during_faults_is_no_finding() -> None:
    seen = attempt(LOST, contradicts=True)
    made = Try(seen, [], Ending(Verdict.FAIL, "draft-get-content: that"), spoilt=True)
    (judged,) = judged_by([made])
    assert judged.ending.verdict is Verdict.INCONCLUSIVE
    assert "only while the environment failed" in (judged.ending.reason or "")
    assert (seen.keys, dict(seen.contradicted)) == (set(), {})


UID = "rc-test-0123456789"


def of_draft(operation: str, status: int, uid: str = UID, sender: str = "author") -> Exchange:
    url = f"http://127.0.0.1/api/v2013/documents/{uid}/versions/draft?schema=contact"
    headers = {"Authorization": f"Bearer token of {sender}", "Realm": "abs-dev"}
    parts: dict[str, Any] = {"operation": operation, "role": "author", "method": "PUT", "url": url}
    return exchange(response(status), request_headers=headers, **parts)


REFUSED, SAVED, DELETED = of_draft("saveDraft", 400), of_draft("saveDraft", 201), of_draft("deleteDraft", 204)
ABSENT, THERE = of_draft("draftExists", 404), of_draft("draftExists", 200)


@pytest.fixture
def looked_for(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The uids that are looked for; there is a draft for each that does not end in `-`."""
    uids: list[str] = []

    class Looking(OperationCalls):
        def __init__(self, *_: Any) -> None: ...

        def send(self, _operation: str, path: dict[str, str], **_: Any) -> Exchange:
            uids.append(path["uid"])
            return ABSENT if path["uid"].endswith("-") else THERE

    monkeypatch.setattr(draft_cleanup, "Actor", Looking)
    return uids


@pytest.mark.parametrize(
    ("exchanges", "kept", "asked", "left"),
    [
        ([REFUSED], False, True, True),
        ([REFUSED, ABSENT], False, False, False),
        ([REFUSED, SAVED], False, False, True),
        ([of_draft("saveDraft", 400, "rc-test-01")], False, False, False),  # too short
        ([of_draft("saveDraft", 400, "somebody-elses-record")], False, False, False),
        ([SAVED, DELETED, ABSENT], False, False, False),
        # A draft that cases share stays in the ledger.
        ([SAVED, DELETED, ABSENT], True, False, True),
        ([SAVED, DELETED], False, False, True),
        ([SAVED, DELETED, of_draft("getDraft", 401, sender="nobody")], False, False, True),
        ([SAVED, DELETED, ABSENT, THERE], False, False, True),
    ],
)
def test_what_is_left_of_the_drafts_of_a_case(
    tmp_path: Path, looked_for: list[str], exchanges: list[Exchange], kept: bool, asked: bool, left: bool
) -> None:
    ledger = Ledger(tmp_path / "ledger-main.jsonl")
    if SAVED in exchanges:
        settled(ledger, "saveDraft", UID)
    worker: Any = SimpleNamespace(
        breaker=SimpleNamespace(open=None),
        shared_drafts={UID} if kept else set(),
        namespace=Namespace("test"),
        ledger=ledger,
    )
    draft_cleanup.settle_drafts(worker, exchanges)
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
        settled(writes, operation, uid, state, realm=realm)
    writes.close()
    session: Any = SimpleNamespace(
        breaker=SimpleNamespace(open=None),
        namespace=Namespace("test", foreign=["the-organization"]),
        target=SimpleNamespace(accounts=["author"]),
    )
    draft_cleanup.delete_drafts_of_records(session, read_entries(tmp_path.glob("ledger*.jsonl")))
    assert looked_for == ["rc-test-a-contact", "rc-test-submitted", "given-by-the-service"]
