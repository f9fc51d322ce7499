"""The earlier writes that a finding relies on."""

import json
from typing import Any

from contracts.evidence.record import RunFacts, RunRecord
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.redaction import TOKEN
from contracts.reports.earlier_writes import earlier_writes
from tests.meta import messages
from tests.meta.messages import response

BASE = "http://127.0.0.1:8080"


def sent(
    number: int, method: str, path: str, operation: str, told: Any = None, status: int = 200, **more: Any
) -> Exchange:
    body = more.pop("json", None)
    more = {"id": f"x-{number}", "case": "a", "authorization": f"Bearer {TOKEN}", **more}
    return messages.exchange(
        response(status, json_bytes(told)),
        operation,
        {},
        json_bytes(body),
        method=method,
        url=BASE + path,
        **more,
    )


def json_bytes(value: Any) -> bytes:
    return b"" if value is None else json.dumps(value).encode()


def draft(number: int, uid: str, method: str = "PUT", **more: Any) -> Exchange:
    operation = {"PUT": "saveDraft", "GET": "getDraft"}[method]
    return sent(number, method, f"/api/v2013/documents/{uid}/versions/draft", operation, **more)


def record(*exchanges: Exchange) -> RunRecord:
    fields: dict[str, Any] = dict.fromkeys(RunFacts.__dataclass_fields__, ())
    return RunRecord(
        RunFacts(**fields), (), (), (), {each.id: each for each in exchanges}, (), (), (), (), ()
    )


def test_a_finding_takes_along_the_writes_it_relies_on() -> None:
    uid, other = "rc-abcd-the-draft", "rc-abcd-another"
    attaching = f"/api/v2013/documents/{uid}/attachments"
    everything = [
        draft(1, other),
        draft(2, uid, case="another case"),
        draft(3, uid, status=400),
        draft(4, uid, authorization="Bearer garbage"),
        sent(5, "POST", f"{attaching}/a.txt", "createAttachment", {"id": 6}),
        sent(6, "POST", f"{attaching}/b.txt", "createAttachment", {"id": 7}),
        draft(7, uid, realm="bch-dev"),
    ]
    shown = sent(8, "GET", f"{attaching}/7/b.txt", "getAttachment")
    later = draft(9, uid)
    found = earlier_writes(record(*everything, shown, later), [shown])
    assert [each.id for each in found] == ["x-2", "x-6"]
    assert earlier_writes(record(*everything), []) == ()
