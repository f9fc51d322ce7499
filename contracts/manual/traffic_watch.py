"""Watches traffic: takes one exchange after another, and says of each what it shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from contracts.checks.requests import ROOT, RequestFacts, read_request
from contracts.exchanges.exchange import Body, Exchange
from contracts.exchanges.redaction import redacted
from contracts.exchanges.traffic_redaction import TrafficRedactor
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
from contracts.manual.traffic_summary import Tally
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
        redactor: TrafficRedactor,
        *,
        alone: bool = False,
        realms: tuple[str, ...] = (),
        strict_client: bool = False,
    ) -> None:
        self._redactor = redactor
        self._realms = frozenset(realms)
        self._strict = strict_client
        self._catalogue = load_catalogue()
        self._description = load_description()
        self._sign_ins = SignIns()
        self._sequences = Sequences(self._catalogue, self._sign_ins, alone=alone)
        self._worked: Followed[bool] = Followed()
        self.tally = Tally(self._catalogue, self._description)

    def take(self, exchange: Exchange) -> Seen:
        """Take the next exchange.

        Returns:
            What it shows, without secrets.
        """
        self._redactor.learn_from(exchange)
        judged, facts = _readable(exchange), None
        findings: tuple[TrafficFinding, ...] = ()
        # Anybody's traffic meets every check there is here: what a check may stumble over cannot be listed.
        try:
            facts = read_request(judged, self._description, None)
            judged.operation = facts.operation.id if facts else None
            judged.realm = _shown_realm(facts)
            findings = tuple(map(self._without_secrets, self._found(judged, facts)))
        except Exception as error:  # noqa: BLE001 - told in the verdict; one exchange must not hide the others
            self.tally.broken(exchange.number, self._redactor.text(f"{type(error).__name__}: {error}"))
        seen = Seen(redacted(judged, self._redactor), findings)
        self.tally.add(findings, seen.exchange)
        return seen

    def _found(self, exchange: Exchange, facts: RequestFacts | None) -> Iterator[TrafficFinding]:
        if facts is None:
            yield from self._outside(exchange)
        elif self._realms and exchange.realm not in (*self._realms, ANY_REALM):
            self.tally.left_out(exchange.realm)
        else:
            yield from self._judged(exchange, facts)

    def _outside(self, exchange: Exchange) -> Iterator[TrafficFinding]:
        """What is no operation of the interface; below its paths that is a slip of the client, most likely."""
        path = urlsplit(exchange.url).path
        if exchange.method == _PREFLIGHT:
            self.tally.preflight()
        elif ROOT not in path:
            self.tally.elsewhere(urlsplit(exchange.url).hostname or "")
        else:
            below = self._redactor.text(path[path.find(ROOT) :])[:_LONGEST_PATH]
            self.tally.unknown(exchange.method, below)
            if exchange.fault is None and exchange.status in (404, 405, 501):
                yield TrafficFinding(
                    side=Side.REQUEST,
                    standing=Standing.ADVICE if self._strict else Standing.REMARK,
                    clause=None,
                    level=None,
                    fault="path:unknown",
                    operation="",
                    realm=ANY_REALM,
                    expected="an operation of the interface",
                    seen=f"{exchange.method} {below}",
                    entry=exchange.number,
                )

    def _judged(self, exchange: Exchange, facts: RequestFacts) -> Iterator[TrafficFinding]:
        realm = exchange.realm
        if exchange.operation == "createToken":
            self._sign_ins.learn(exchange)
        weather = environment_fault(exchange.response, exchange.operation) if exchange.response else None
        exchange.fault = exchange.fault or weather
        who = self._sign_ins.who(exchange)
        context = (
            site_of(exchange.url),
            who or "",
            facts.operation.id,
            realm,
            str(dict(facts.query).get("schema")),
        )
        readable = exchange.response is None or exchange.response.body.whole
        setting = Setting(
            realm,
            exchange.number,
            proven=who is not None and self._worked.get(context) is not None,
            knows=self._sign_ins.knows,
            readable=readable,
        )
        mistakes = mistakes_of(exchange, facts)
        shown = Shown(obstacles=[exchange.fault]) if exchange.fault else None
        shown = shown or judge_answer(exchange, facts, mistakes, setting)
        if readable and who is not None and worked(exchange):
            self._worked.put(context, state=True)
        usable = exchange.response if exchange.fault is None and _own(exchange) else None
        right = mistakes.none and not mistakes.unread and readable and usable is not None
        step = Step(
            exchange,
            facts,
            usable,
            site_of(exchange.url),
            _key_realm(facts),
            who,
            right and _final(exchange),
        )
        contradictions, held = self._sequences.take(step)
        self.tally.judged(facts.operation.id, realm, [*shown.held, *held], shown.obstacles, exchange.fault)
        yield from request_findings(exchange, facts, mistakes, self._catalogue, realm)
        yield from shown.findings
        yield from contradictions

    def _without_secrets(self, finding: TrafficFinding) -> TrafficFinding:
        firm = finding
        if self._strict and finding.side is Side.REQUEST and finding.standing is Standing.ADVICE:
            firm = replace(finding, standing=Standing.FAULT)
        return replace(firm, expected=self._redactor.text(firm.expected), seen=self._redactor.text(firm.seen))


def _own(exchange: Exchange) -> bool:
    """Whether the service itself gave an answer that says what became of the request."""
    return exchange.response is not None and exchange.response.status < 500


def _final(exchange: Exchange) -> bool:
    return exchange.response is not None and not 300 <= exchange.response.status < 400


def _readable(exchange: Exchange) -> Exchange:
    """The exchange as it is judged: its response unpacked where the recorder left it packed, nothing known in part."""
    response = exchange.response
    if response is not None:
        coding, body = response.headers.first("Content-Encoding"), response.body
        if coding and body.whole and body.content and _looks_packed(body.content):
            body = body.unpacked(coding)
        response = replace(response, body=_all_or_nothing(body))
    return replace(exchange, request_body=_all_or_nothing(exchange.request_body), response=response)


def _all_or_nothing(body: Body) -> Body:
    return body if body.whole else Body(size=body.size, whole=False)


def _looks_packed(content: bytes) -> bool:
    """Browsers write bodies unpacked into their archives and keep the header."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return not text.isprintable() and "\x00" in text


def _key_realm(facts: RequestFacts) -> str:
    return facts.realm or ""


def _shown_realm(facts: RequestFacts | None) -> str:
    named = facts.realm if facts else None
    return named if named in _REALMS else ANY_REALM
