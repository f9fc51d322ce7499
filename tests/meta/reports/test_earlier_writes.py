"""The earlier writes that a finding relies on."""

from typing import Any

from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.redaction import TOKEN
from registry_contracts.reports.earlier_writes import earlier_writes
from tests.meta import messages
from tests.meta.evidence.sample_records import run_record

DOCUMENTS = "http://127.0.0.1:8080/api/v2013/documents"


def sent(number: int, method: str, path: str, operation: str, told: Any = None, **more: Any) -> Exchange:
    more = {"id": f"x-{number}", "case": "a", "authorization": f"Bearer {TOKEN}", **more}
    answer = messages.answer(told, more.pop("status", 200))
    return messages.exchange(answer, operation, {}, b"", method=method, url=f"{DOCUMENTS}/{path}", **more)


def draft(number: int, uid: str, **more: Any) -> Exchange:
    return sent(number, "PUT", f"{uid}/versions/draft", "saveDraft", **more)


def test_a_finding_takes_along_the_writes_it_relies_on() -> None:
    uid, other = "rc-abcd-the-draft", "rc-abcd-another"
    everything = [
        draft(1, other),
        draft(2, uid, case="another case"),
        draft(3, uid, status=400),
        draft(4, uid, authorization="Bearer garbage"),
        sent(5, "POST", f"{uid}/attachments/a.txt", "createAttachment", {"id": 6}),
        sent(6, "POST", f"{uid}/attachments/b.txt", "createAttachment", {"id": 7}),
        draft(7, uid, realm="bch-dev"),
        shown := sent(8, "GET", f"{uid}/attachments/7/b.txt", "getAttachment"),
        draft(9, uid),
    ]
    record = run_record(exchanges={each.id: each for each in everything})
    assert [each.id for each in earlier_writes(record, [shown])] == ["x-2", "x-6"]
    assert earlier_writes(record, []) == ()
