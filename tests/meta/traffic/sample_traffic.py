"""Traffic made up for tests: exchanges of a plain client."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from registry_contracts.evidence.findings import Finding
from registry_contracts.exchanges.exchange import Body, Exchange, Headers, Response
from registry_contracts.traffic.judge import Judge
from registry_contracts.traffic.report import Judged
from tests.meta.samples import contact

SITE = "http://registry.test"
TOKEN = "a-token-of-forty-characters-0123456789ab"
CONTACT = contact()
_BEGAN = datetime(2026, 11, 21, 12, tzinfo=UTC)


@dataclass
class Client:
    """Sends made-up requests one after another, each ten seconds after the one before, and has them judged."""

    judge: Judge
    taken: list[Judged] = field(default_factory=list)

    def __call__(
        self,
        method: str,
        path: str,
        status: int,
        answer: Any = None,
        *,
        sent: Any = None,
        realm: str | None = "abs-dev",
        overlapped: bool = False,
        **headers: str | None,
    ) -> tuple[Finding, ...]:
        """Pass one exchange, and return what it shows; `sent` and `answer` are bytes, a Body, or data for JSON."""
        number = len(self.taken) + 1
        usual = {"Authorization": f"Bearer {TOKEN}", "Realm": realm, "Content-Type": "application/json"}
        given = usual | {name.replace("_", "-"): value for name, value in headers.items()}
        told = Headers({"Content-Type": "application/json"})
        response = answer if isinstance(answer, Response) else Response(status, "", told, _body(answer))
        exchange = Exchange(
            id=f"entry {number}",
            number=number,
            started=_BEGAN + timedelta(seconds=10 * number),
            seconds=0.01,
            method=method,
            url=SITE + path,
            request_headers=Headers((name, value) for name, value in given.items() if value is not None),
            request_body=_body(sent),
            response=response if status else None,
            fault=None if status else "the connection was reset",
            overlapped=overlapped,
        )
        self.taken.append(self.judge.take(exchange))
        return self.taken[-1].findings


def _body(content: Any) -> Body:
    if isinstance(content, Body):
        return content
    if content is None:
        return Body()
    return Body.of(content if isinstance(content, bytes) else json.dumps(content).encode())


def entry(
    method: str,
    url: str,
    status: int = 200,
    answer: str = "{}",
    *,
    at: float = 0,
    sent: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """One entry of a HAR, as a browser writes it; `more` goes into the request."""
    request: dict[str, Any] = {
        "method": method,
        "url": url,
        "httpVersion": "HTTP/1.1",
        "headers": [
            {"name": "realm", "value": "abs-dev"},
            {"name": "authorization", "value": f"Bearer {TOKEN}"},
        ],
        "queryString": [],
        "bodySize": len(sent or ""),
    }
    if sent is not None:
        request["postData"] = {"mimeType": "application/json", "text": sent}
    return {
        "startedDateTime": (_BEGAN + timedelta(seconds=at)).isoformat(timespec="milliseconds"),
        "time": 10,
        "request": request | more,
        "response": {
            "status": status,
            "statusText": "",
            "headers": [{"name": "content-type", "value": "application/json"}],
            "content": {"size": len(answer), "mimeType": "application/json", "text": answer},
            "bodySize": len(answer),
        },
    }
