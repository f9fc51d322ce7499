"""Watches traffic: takes one exchange after another, and says of each what it shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

from contracts.checks.requests import ROOT, RequestFacts, read_request
from contracts.evidence.record import RecordedExchange
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.traffic_exchange import Body, Passed, first, unpacked
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import load_description
from contracts.interface.operations import ANY_REALM
from contracts.manual.sequences import Followed, Sequences, SignIns, Step, site_of
from contracts.manual.traffic_checks import (
    Setting,
    Shown,
    judge_answer,
    mistakes_of,
    request_findings,
    worked,
)
from contracts.manual.traffic_findings import Seen, Side, Standing, TrafficFinding
from contracts.manual.traffic_redaction import Discretion
from contracts.manual.traffic_summary import Tally
from contracts.reports.har import as_entry
from contracts.session.environment_faults import environment_fault
from contracts.settings.target import DEVELOPMENT_REALMS, PRODUCTION_REALMS

_REALMS: Final = frozenset((*DEVELOPMENT_REALMS, *PRODUCTION_REALMS))
#: A browser asks with it before it calls; the interface document does not list it.
_PREFLIGHT: Final = "OPTIONS"
_LONGEST_PATH: Final = 300


class Watch:
    """Judges the traffic of any client, live or from an archive; for one thread.

    Args:
        alone: Nobody else writes to the service meanwhile.
        realms: Judge the requests of these realms only, and those that name none; empty for all.
        strict_client: What the document only advises a client to do decides the verdict as well.

    Attributes:
        tally: Everything that was found so far.
    """

    def __init__(
        self,
        discretion: Discretion,
        *,
        alone: bool = False,
        realms: tuple[str, ...] = (),
        strict_client: bool = False,
    ) -> None:
        self._discretion = discretion
        self._realms = frozenset(realms)
        self._strict = strict_client
        self._catalogue = load_catalogue()
        self._description = load_description()
        self._sign_ins = SignIns()
        self._sequences = Sequences(self._catalogue, self._sign_ins, alone=alone)
        self._worked: Followed[bool] = Followed()
        self.tally = Tally(self._catalogue, self._description)

    def take(self, passed: Passed) -> tuple[Seen, RecordedExchange]:
        """Take the next exchange.

        Returns:
            What it shows, and the exchange as it may be kept; both without secrets.
        """
        self._discretion.learn(passed)
        readable = _readable(passed)
        exchange, facts = readable.exchange(), None
        findings: tuple[TrafficFinding, ...] = ()
        # Anybody's traffic meets every check there is here: what a check may stumble over cannot be listed.
        try:
            facts = read_request(exchange, self._description, None)
            findings = tuple(map(self._discreet, self._found(readable, exchange, facts)))
        except Exception as error:  # noqa: BLE001 - told in the verdict; one exchange must not hide the others
            self.tally.broken(passed.number, self._discretion.text(f"{type(error).__name__}: {error}"))
        realm = _shown_realm(facts)
        operation = facts.operation.id if facts else None
        recorded = self._discretion.keep(passed, exchange, operation, realm)
        self.tally.add(findings, recorded)
        return _seen(passed, recorded, operation, realm if facts else None, findings), recorded

    def _found(
        self, passed: Passed, exchange: Exchange, facts: RequestFacts | None
    ) -> Iterator[TrafficFinding]:
        realm = _shown_realm(facts)
        if facts is None:
            yield from self._outside(passed, exchange)
        elif self._realms and realm not in (*self._realms, ANY_REALM):
            self.tally.left_out(realm)
        else:
            yield from self._judged(passed, exchange, facts, realm)

    def _outside(self, passed: Passed, exchange: Exchange) -> Iterator[TrafficFinding]:
        """What is no operation of the interface; below its paths that is a slip of the client, most likely."""
        path = urlsplit(passed.url).path
        if passed.method == _PREFLIGHT:
            self.tally.preflight()
        elif ROOT not in path:
            self.tally.elsewhere(urlsplit(passed.url).hostname or "")
        else:
            below = self._discretion.text(path[path.find(ROOT) :])[:_LONGEST_PATH]
            self.tally.unknown(passed.method, below)
            answer = exchange.response
            if answer is not None and answer.status in (404, 405, 501):
                yield TrafficFinding(
                    side=Side.REQUEST,
                    standing=Standing.ADVICE if self._strict else Standing.REMARK,
                    clause=None,
                    level=None,
                    fault="path:unknown",
                    operation="",
                    realm=ANY_REALM,
                    expected="an operation of the interface",
                    seen=f"{passed.method} {below}",
                    entry=passed.number,
                )

    def _judged(
        self, passed: Passed, exchange: Exchange, facts: RequestFacts, realm: str
    ) -> Iterator[TrafficFinding]:
        exchange.operation = facts.operation.id
        sent, answered = _json(passed.request_body), _json(passed.answer_body)
        if exchange.operation == "createToken":
            self._sign_ins.learn(passed, sent, answered)
        weather = environment_fault(exchange.response, exchange.operation) if exchange.response else None
        exchange.fault = exchange.fault or weather
        who = self._sign_ins.who(passed)
        context = (
            site_of(passed.url),
            who or "",
            facts.operation.id,
            realm,
            str(dict(facts.query).get("schema")),
        )
        readable = passed.answer_body.known
        setting = Setting(
            realm,
            passed.number,
            proven=who is not None and self._worked.get(context) is not None,
            knows=self._sign_ins.knows,
            readable=readable,
        )
        mistakes = mistakes_of(passed, facts)
        shown = Shown(obstacles=[exchange.fault]) if exchange.fault else None
        shown = shown or judge_answer(exchange, facts, mistakes, setting, self._catalogue)
        if readable and who is not None and worked(exchange):
            self._worked.put(context, state=True)
        usable = exchange.response if exchange.fault is None and _own(exchange) else None
        right = mistakes.none and not mistakes.unread and readable and usable is not None
        step = Step(
            passed,
            facts,
            usable,
            site_of(passed.url),
            _key_realm(facts),
            who,
            sent,
            right and _final(exchange),
        )
        contradictions, held = self._sequences.take(step)
        self.tally.judged(facts.operation.id, realm, [*shown.held, *held], shown.obstacles, exchange.fault)
        yield from request_findings(passed, facts, mistakes, self._catalogue, realm)
        yield from shown.findings
        yield from contradictions

    def _discreet(self, finding: TrafficFinding) -> TrafficFinding:
        firm = finding
        if self._strict and finding.side is Side.REQUEST and finding.standing is Standing.ADVICE:
            firm = replace(finding, standing=Standing.FAULT)
        return replace(
            firm, expected=self._discretion.text(firm.expected), seen=self._discretion.text(firm.seen)
        )


def _own(exchange: Exchange) -> bool:
    """Whether the service itself gave an answer that says what became of the request."""
    return exchange.response is not None and exchange.response.status < 500


def _final(exchange: Exchange) -> bool:
    return exchange.response is not None and not 300 <= exchange.response.status < 400


def _readable(passed: Passed) -> Passed:
    """The exchange with the body of its answer unpacked, where the recorder left it packed."""
    coding = first(passed.answer_headers, "Content-Encoding")
    body = passed.answer_body
    if not coding or not body.known or not body.content or not _looks_packed(body.content):
        return passed
    content = unpacked(body.content, coding)
    plain = Body(known=False) if content is None else Body(content, body.size)
    return replace(passed, answer_body=plain)


def _looks_packed(content: bytes) -> bool:
    """Browsers write bodies unpacked into their archives and keep the header."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return not text.isprintable() and "\x00" in text


def _json(body: Body) -> Any:
    if not body.known or not body.content:
        return None
    try:
        return json.loads(body.content)
    except (ValueError, RecursionError):
        return None


def _key_realm(facts: RequestFacts) -> str:
    return facts.realm or ""


def _shown_realm(facts: RequestFacts | None) -> str:
    named = facts.realm if facts else None
    return named if named in _REALMS else ANY_REALM


def _seen(
    passed: Passed,
    recorded: RecordedExchange,
    operation: str | None,
    realm: str | None,
    findings: tuple[TrafficFinding, ...],
) -> Seen:
    parts = urlsplit(recorded.request["url"])
    return Seen(
        number=passed.number,
        at=recorded.started,
        method=passed.method,
        path=parts.path + (f"?{parts.query}" if parts.query else ""),
        operation=operation,
        realm=None if realm == ANY_REALM else realm,
        status=passed.status if passed.fault is None else 0,
        milliseconds=round((passed.seconds or 0.0) * 1000, 3),
        findings=findings,
        exchange=as_entry(recorded),
    )
