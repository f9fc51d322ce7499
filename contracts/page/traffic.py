"""Traffic in the page: exchanges that pass through the proxy as they come, and those of a recording.

A recording is a case or a finding of a run, or a HAR. Each exchange is shown in full, or opened in the form.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict, defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from aiohttp import web

from contracts.cases.generated_faults import ABSENT
from contracts.cases.requests import Request
from contracts.checks.table import Judge
from contracts.errors import UsageError
from contracts.evidence.findings import Finding, Standing
from contracts.evidence.record import RunRecord
from contracts.evidence.run_folder import BEGUN, collect
from contracts.evidence.verdicts import RunVerdict, judge
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.har import read_har_text
from contracts.exchanges.redaction import REDACTED, TrafficRedactor
from contracts.exchanges.request_facts import match_request
from contracts.file_formats import json_value
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import Operation, where_in_words
from contracts.interface.operations import UID_LONGEST, UID_SHORTEST, is_valid_uid
from contracts.manual import traffic_findings
from contracts.manual.manual_session import ManualSession
from contracts.manual.prepared_requests import PreparedRequest, RequestOptions, RequestPreparer, realm_for
from contracts.manual.traffic_findings import Feed, Seen, Side, TrafficFinding
from contracts.manual.traffic_watch import Watch, habits_of
from contracts.page.forms import exchange_texts, form_of
from contracts.page.page_session import FormRequest, PageSession, policy_headers
from contracts.page.scenario import scenario_text
from contracts.session.actor import JSON
from contracts.session.ledger import RUN_FILE
from contracts.settings.target import ANONYMOUS, AUTHOR

#: Who sent what passed, in the words of a heading.
_CLIENT: Final = "a client"
#: How long to wait for the feed at a time; closing the page waits no longer than that.
_WAIT_SECONDS: Final = 0.5
#: After so long without news a comment is sent, which keeps the connection open.
_QUIET_SECONDS: Final = 15.0


class LiveStream:
    """Waits for the feed in one thread, and sends what is new to every page."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._last = 0
        self._ended = False
        self._news = asyncio.Condition()

    async def run(self, _: web.Application) -> AsyncIterator[None]:
        """Wait for the feed for as long as the application runs."""
        with ThreadPoolExecutor(1, thread_name_prefix="page-feed") as thread:
            task = asyncio.get_running_loop().create_task(self._watch_feed(thread))
            yield
            await self.end()
            await task

    async def end(self, _: web.Application | None = None) -> None:
        """End every stream, so that the server need not wait for pages that still listen."""
        self._ended = True
        await self._wake()

    async def _watch_feed(self, thread: ThreadPoolExecutor) -> None:
        loop = asyncio.get_running_loop()
        while not self._ended:
            news = await loop.run_in_executor(thread, self._feed.wait, self._last, _WAIT_SECONDS)
            if news:
                self._last = news[-1].number
                await self._wake()
            else:
                # A feed that is closed does not wait.
                await asyncio.sleep(0.05)

    async def _wake(self) -> None:
        async with self._news:
            self._news.notify_all()

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """Send a page the exchanges that there are, and then each new one."""
        after = request.headers.get("Last-Event-ID") or request.query.get("after", "0")
        last = int(after) if after.isascii() and after.isdigit() else 0
        response = web.StreamResponse(headers={**policy_headers(), "Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"retry: 1000\n\n")
        with suppress(ConnectionResetError):  # the page was closed
            while not self._ended:
                news = self._feed.since(last)
                for seen in news:
                    data = json.dumps(row_of(seen))
                    await response.write(f"id: {seen.number}\ndata: {data}\n\n".encode())
                    last = seen.number
                if not news:
                    await self._more(response, last)
        return response

    async def _more(self, response: web.StreamResponse, last: int) -> None:
        async with self._news:
            try:
                arrived = self._news.wait_for(lambda: self._ended or self._last > last)
                await asyncio.wait_for(arrived, _QUIET_SECONDS)
            except TimeoutError:
                await response.write(b": still here\n\n")


def row_of(seen: Seen) -> dict[str, Any]:
    """An exchange as a line of the list."""
    exchange = seen.exchange
    return {
        "number": seen.number,
        "by_hand": seen.by_hand,
        "role": exchange.role,
        "at": exchange.started.isoformat() if exchange.started else "",
        "method": exchange.method,
        "path": seen.path,
        "operation": exchange.operation,
        "realm": seen.realm,
        "status": exchange.status or 0,
        "milliseconds": round(seen.milliseconds, 1),
        "findings": [_finding(finding) for finding in seen.findings],
    }


def exchange_shown(feed: Feed, number: str) -> dict[str, Any]:
    """An exchange in full.

    Raises:
        UsageError: it is not kept any more.
    """
    seen = feed_entry(feed, number)
    return {**row_of(seen), **exchange_texts(replace(seen.exchange, role=seen.exchange.role or _CLIENT))}


def feed_entry(feed: Feed, number: object) -> Seen:
    """An exchange of the feed.

    Raises:
        UsageError: it is not kept any more, or never was.
    """
    text = str(number)
    wanted = int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0
    for seen in feed.since(wanted - 1):
        if seen.number == wanted:
            return seen
    raise UsageError(f"exchange {text} is not kept any more")


def _finding(finding: TrafficFinding) -> dict[str, Any]:
    catalogue = load_catalogue()
    in_catalogue = finding.clause in catalogue if finding.clause else False
    return {
        "side": str(finding.side),
        "standing": str(finding.standing),
        "name": finding.fault if finding.side is Side.REQUEST and finding.fault else finding.what,
        "clause": finding.clause,
        "level": finding.level,
        "wording": catalogue.clause(finding.clause).wording if in_catalogue and finding.clause else "",
        "expected": finding.expected,
        "seen": finding.seen,
        "because_of": finding.because_of,
    }


#: Parts of a path that name a record or a thing in it.
_NAMES: Final = ("uid", "identifier", "attachmentId", "tempFileId")


def open_in_form(
    feed: Feed, page_session: PageSession, session: ManualSession, query: Mapping[str, Any]
) -> dict[str, Any]:
    """Fill the form with an exchange that passed.

    Args:
        query: `number` of the exchange, and `live`: whether what it is about may be arranged first.

    Raises:
        UsageError: it is not kept, or is no operation of the interface.
        EnvironmentFault, Blocked: what it is about cannot be arranged.
    """
    exchange = feed_entry(feed, query.get("number")).exchange
    opened = _open(page_session, session, exchange, live=bool(query.get("live")))
    form = form_of(session, opened.filled.request, opened.filled.content)
    notes = ["values as they passed, identifiers fresh", *opened.filled.notes]
    return {
        "form_number": page_session.keep(opened),
        "operation": opened.operation,
        "role": opened.role,
        "realm": opened.realm,
        "form": form,
        "fault": None,
        "notes": notes,
    }


def scenario_of_exchange(
    feed: Feed, page_session: PageSession, session: ManualSession, query: Mapping[str, Any]
) -> dict[str, Any]:
    """Write an exchange that passed as a scenario test; nothing is sent.

    Args:
        query: `number` of the exchange.

    Raises:
        UsageError: it is not kept, or is no operation of the interface.
    """
    seen = feed_entry(feed, query.get("number"))
    opened = _open(page_session, session, seen.exchange, live=False)
    opened.sent, opened.judged = opened.filled, Judge().judge(replace(seen.exchange))
    further = [finding.clause for finding in seen.findings if finding.clause and finding.side == "answer"]
    return scenario_text(session, opened, further)


def _open(
    page_session: PageSession, session: ManualSession, exchange: Exchange, *, live: bool
) -> FormRequest:
    operation, path = _match(session, exchange)
    role = _role_of(exchange)
    named = exchange.request_headers.first("Realm") or dict(_query(exchange)).get("Realm")
    asked_realm = named if named in operation.realms and named in session.target.realms else None
    realm = realm_for(operation, asked_realm, session.target.realms)
    if live and operation.id != "createToken":
        page_session.sign_in(session, role)
    base = RequestPreparer(session, operation, role, realm, live=live).prepare(RequestOptions())
    request, content = _overlaid(session, operation, base, path, exchange)
    headers = _headers(operation, exchange, realm)
    filled = PreparedRequest(replace(request, headers=headers), content, False, base.notes)
    return FormRequest(operation.id, role, realm, base, filled)


def _role_of(exchange: Exchange) -> str:
    """The role that comes closest to the sender of a request; a token does not show the account."""
    token = exchange.request_headers.get("Authorization", "").strip()
    return AUTHOR if token or "/authentication/token" in exchange.url else ANONYMOUS


def _match(session: ManualSession, exchange: Exchange) -> tuple[Operation, dict[str, str]]:
    matched = match_request(exchange.method, exchange.url, session.description)
    if matched is None:
        raw = urlsplit(exchange.url).path
        raise UsageError(
            f"{exchange.method} {raw} is no operation of the interface, so there is no form for it"
        )
    return matched.operation, dict(matched.path)


def _query(exchange: Exchange) -> list[tuple[str, str]]:
    return parse_qsl(urlsplit(exchange.url).query, keep_blank_values=True)


def _overlaid(
    session: ManualSession,
    operation: Operation,
    base: PreparedRequest,
    path: dict[str, str],
    exchange: Exchange,
) -> tuple[Request, bytes | None]:
    """The values that passed, on the identifiers of a request that was made up."""
    if operation.safe:
        # What is only read may be read as it was.
        names = dict(path)
    else:
        names = {name: value for name, value in path.items() if name not in _NAMES}
        names |= {name: _fresh(session, base, name, path[name]) for name in path if name in _NAMES}
    request = replace(base.request, path=names, query=dict(_query(exchange)))
    if not exchange.request_body.content:
        return replace(request, body=ABSENT if exchange.request_body.whole else request.body), None
    if operation.id == "createAttachment":
        return request, exchange.request_body.content if exchange.request_body.whole else base.content
    try:
        body = json_value(exchange.request_body.content)
    except (ValueError, RecursionError):
        return replace(request, body=ABSENT), exchange.request_body.content
    return replace(request, body=_renamed(body, base.request.body)), None


def _fresh(session: ManualSession, base: PreparedRequest, name: str, value: str) -> str:
    """The identifier of the made-up request; one that breaks the rule where the one that passed does."""
    if name not in ("uid", "identifier") or is_valid_uid(value):
        return base.request.path.get(name, value)
    size, namespace = len(value), session.namespace
    if UID_SHORTEST <= size <= UID_LONGEST:
        return f"{namespace.prefix}{value}"[:UID_LONGEST]
    return namespace.uid(max(size, len(namespace.prefix) + 1))


def _renamed(body: Any, made_up: Any) -> Any:
    """A body whose record, and every record in it, is called as in the made-up request."""
    if not isinstance(body, dict) or not isinstance(made_up, dict):
        return body
    renamed = dict(body)
    header, other = body.get("header"), made_up.get("header")
    if isinstance(header, dict) and "identifier" in header and isinstance(other, dict):
        renamed["header"] = {**header, "identifier": other.get("identifier", header["identifier"])}
    if "document" in body:
        renamed["document"] = _renamed(body["document"], made_up.get("document"))
    if REDACTED in str(body.get("password")):
        renamed["password"] = made_up.get("password")
        renamed["email"] = made_up.get("email")
    return renamed


def _headers(operation: Operation, exchange: Exchange, realm: str) -> dict[str, str | None]:
    """Headers in which the request differs from a documented one."""
    changed: dict[str, str | None] = {}
    if operation.takes_realm and exchange.request_headers.first("Realm") != realm:
        changed["Realm"] = exchange.request_headers.first("Realm")
    credentials = exchange.request_headers.first("Authorization")
    if operation.id != "createToken" and credentials is None and _role_of(exchange) != ANONYMOUS:
        changed["Authorization"] = None
    media_type = exchange.request_headers.first("Content-Type")
    if (
        media_type is not None
        and media_type.partition(";")[0].strip().lower() != JSON
        and operation.takes_realm
    ):
        changed["Content-Type"] = media_type
    return changed


#: Runs that are offered, and recordings that are kept open; the oldest go first.
_RUNS: Final = 50
_OPEN: Final = 20
_STANDING: Final = {
    Standing.FAIL: traffic_findings.Standing.FAULT,
    Standing.DEVIATION: traffic_findings.Standing.FAULT,
    Standing.ADVISORY: traffic_findings.Standing.ADVICE,
}
Json = dict[str, Any]


class Recordings:
    """What was opened in the page of late; reads files only, and sends nothing.

    Args:
        reports: Folder of the runs.
    """

    def __init__(self, reports: Path) -> None:
        self._reports = reports
        self._open: OrderedDict[int, Feed] = OrderedDict()
        self._run: tuple[str, RunRecord, RunVerdict] | None = None

    def runs(self) -> Json:
        """The runs of the reports folder, the latest first."""
        return {"runs": self._names()[:_RUNS]}

    def _names(self) -> list[str]:
        folders = (path.parent for path in self._reports.glob(f"*/{RUN_FILE}"))
        return sorted(
            (folder.name for folder in folders if BEGUN.match(folder.name) and not folder.is_symlink()),
            reverse=True,
        )

    def run(self, query: Mapping[str, Any]) -> Json:
        """The findings and cases of a run.

        Args:
            query: `run`, its name.

        Raises:
            UsageError: there is none of this name, or it cannot be read.
        """
        name, record, verdict = self._read(query)
        sent: dict[str, int] = defaultdict(int)
        for exchange in record.exchanges.values():
            sent[exchange.case] += 1
        return {
            "run": name,
            "verdict": verdict.sentence,
            "findings": [
                {
                    "id": cause.id,
                    "says": cause.headline,
                    "place": cause.place,
                    "clause": cause.lead.clause,
                    "standing": str(cause.lead.standing),
                }
                for cause in verdict.causes
            ],
            "cases": [
                {
                    "id": case.id,
                    "name": case.name,
                    "realm": case.realm,
                    "outcome": str(case.outcome),
                    "clauses": list(case.clauses),
                    "operations": list(case.operations),
                    "exchanges": sent[case.id],
                }
                for case in record.cases
                if sent[case.id]
            ],
        }

    def exchanges(self, query: Mapping[str, Any]) -> Json:
        """Open the exchanges of a case or a finding of a run, in the order they were sent.

        Args:
            query: `run`, and the id of a `case` or of a `finding`.

        Raises:
            UsageError: there is none.
        """
        name, record, verdict = self._read(query)
        findings = [finding for cause in verdict.causes for finding in cause.all_findings]
        finding_id = str(query.get("finding") or "")
        chosen = next((finding for finding in findings if finding.id == finding_id), None)
        if chosen is not None:
            # What the case did before belongs to it: a finding that takes several requests starts there.
            shown = [record.exchanges[key] for key in chosen.exchanges if key in record.exchanges]
            where = where_in_words(chosen.operation, [chosen.realm])
            return self._opened(f"{chosen.clause} {where}, {name}", _seen(shown, findings))
        shown = list(record.exchanges_of(str(query.get("case") or "")))
        if not shown:
            raise UsageError(f"{name} holds no exchange of this case or finding; open the run again")
        return self._opened(f"{_short(shown[0].case)}, {name}", _seen(shown, findings))

    def har(self, query: Mapping[str, Any]) -> Json:
        """Open a HAR, and judge what it holds.

        Args:
            query: `name` and `text`.

        Raises:
            UsageError: it is none; one line.
        """
        name = str(query.get("name") or "the HAR")
        archive = read_har_text(str(query.get("text") or ""), name)
        watch = Watch(TrafficRedactor(), habits=habits_of(archive.exchanges))
        numbered = (replace(exchange, number=number) for number, exchange in enumerate(archive.exchanges, 1))
        return self._opened(name, [watch.take(exchange) for exchange in numbered])

    def feed(self, opened: object) -> Feed:
        """The exchanges of a recording.

        Raises:
            UsageError: it is not open any more.
        """
        feed = self._open.get(int(opened)) if str(opened).isdigit() else None  # type: ignore[call-overload]
        if feed is None:
            raise UsageError("this recording is not open any more; open it again")
        return feed

    def _read(self, query: Mapping[str, Any]) -> tuple[str, RunRecord, RunVerdict]:
        name = str(query.get("run") or "")
        if self._run is None or self._run[0] != name:
            if name not in self._names():
                raise UsageError(f"no run '{name}' in '{self._reports}'")
            record = collect(self._reports / name)
            self._run = name, record, judge(record, list(load_catalogue()))
        return self._run

    def _opened(self, title: str, seen: Sequence[Seen]) -> Json:
        number = next(reversed(self._open), 0) + 1
        feed = self._open[number] = Feed(len(seen))
        for exchange in seen:
            feed.publish(exchange)
        if len(self._open) > _OPEN:
            self._open.popitem(last=False)
        return {"opened": number, "title": title, "rows": [row_of(exchange) for exchange in seen]}


def _short(case: str) -> str:
    return case.rpartition("::")[2]


def _seen(exchanges: Iterable[Exchange], findings: Sequence[Finding]) -> list[Seen]:
    """Recorded exchanges as the list shows them, each with the findings that cite it."""
    return [
        Seen(
            replace(exchange, number=number),
            tuple(_found(finding, number) for finding in findings if exchange.id in finding.exchanges),
        )
        for number, exchange in enumerate(exchanges, 1)
    ]


def _found(finding: Finding, number: int) -> TrafficFinding:
    catalogue = load_catalogue()
    in_catalogue = finding.clause in catalogue
    return TrafficFinding(
        side=Side.ANSWER,
        standing=_STANDING.get(finding.standing, traffic_findings.Standing.REMARK),
        clause=finding.clause,
        level=str(catalogue.clause(finding.clause).level) if in_catalogue else None,
        fault=None,
        operation=finding.operation or "",
        realm=finding.realm,
        expected=finding.expected,
        seen=finding.seen,
        entry=number,
    )
