"""Recognises answers that an intermediary gave instead of the service, in runs, `check` and `proxy`.

Some answers cannot come from a service of this interface. Others are odd for their operation: the document requires
another answer, or all earlier ones were different. If odd answers are repeated while other requests are answered as
usual, they count as the service's own.
"""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from registry_contracts.exchanges.exchange import NO_CONTENT, Exchange, Response
from registry_contracts.exchanges.intermediaries import challenge, marks, store
from registry_contracts.interface.description import load_description, operations_with
from registry_contracts.interface.operations import SIGN_IN
from registry_contracts.safe_text import cut, plain_line

#: Statuses that ask the client to try again later, and say nothing about the request (RFC 6585, 8470, 9110).
GATEWAY_STATUSES: Final = frozenset({408, 425, 429, 502, 503, 504})
#: Registered statuses that an origin server sends. 407, 511 and unregistered ones (such as 520 to 530) come from
#: proxies, portals, load balancers and content networks.
_STATUSES_OF_ORIGINS: Final = frozenset(
    {*range(100, 104), *range(200, 209), 226, *range(300, 309), *range(400, 407), *range(408, 419)}
    | {*range(421, 427), 428, 429, 431, 451, *range(500, 509), 510}
)
#: So many odd answers in a row are the service's own, if other requests are answered.
_OFTEN: Final = 3
#: The same for writes, which are sent rarely.
_OFTEN_WRITTEN: Final = 2
#: So many successes of an operation show how it answers.
_KNOWN_AFTER: Final = 2
#: Reads of so many operations show how the site answers.
_SITE_KNOWN_AFTER: Final = 3
#: Writes usually have a date if at least so many have one for each that has none.
_DATED_FOR_ONE: Final = 4
_EXISTS: Final = "draftExists"
_NO_BODY: Final = "none"
_FAILED: Final = 500
_TITLE: Final = re.compile(r"<title[^>]*>([^<]+)", re.IGNORECASE)
_LONGEST_TITLE: Final = 60
_ANOTHER_PATH: Final = "another path"


def environment_fault(answer: Response, operation: str | None) -> str | None:
    """The fault if the environment answered instead of the service; None if the service may have answered.

    A page with status 500 is the service's own. A page with a 4xx status may come from
    either: it counts as a refusal if one is due, else the claim is inconclusive (`registry_contracts.checks.claims`).
    """
    signs = marks(answer.headers)
    if challenge(answer.headers):
        return f"a filter's challenge with status {answer.status}{signs}"
    if answer.status in GATEWAY_STATUSES:
        return f"status {answer.status}{signs}"
    if (
        answer.page
        and operation not in operations_with(answers="file")
        and (answer.success or answer.status > 500)
    ):
        return page_words(answer)
    return _redirected(answer, operation) or _broken_off(answer)


def _redirected(answer: Response, operation: str | None) -> str | None:
    """The fault if a sign-in is redirected, or a write to another host."""
    to = plain_line(_address_of(answer.headers.get("location", ""))) or _ANOTHER_PATH
    if operation == SIGN_IN and answer.redirect:
        return f"a redirect to {to} instead of a token: name the service's own address as the base URL"
    written = answer.redirect and not answer.success and operation in operations_with(safe=False)
    return f"a redirect to {to}" if written and to not in (_ANOTHER_PATH, _address_of(answer.url)) else None


def _broken_off(answer: Response) -> str | None:
    """The fault if JSON without a stated length ends in the middle, as after a lost connection."""
    sized = "content-length" in answer.headers or "chunked" in answer.headers.get("transfer-encoding", "")
    if sized or not answer.body.whole or "json" not in answer.media_type or answer.json is not None:
        return None
    text = answer.text.strip()
    broken = text[:1] in ("{", "[") and text[-1:] not in ("}", "]")
    return "the answer broke off in the middle of its JSON" if broken else None


def _address_of(url: str) -> str:
    """Scheme and host of a URL; empty without a host."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return ""
    return f"{parts.scheme}://{host}" if host else ""


def page_words(answer: Response) -> str:
    """Text on an HTML page instead of an answer."""
    title = _TITLE.search(answer.text)
    called = f" '{cut(plain_line(title[1]), _LONGEST_TITLE)}'" if title else ""
    return f"an HTML page{called} with status {answer.status} where JSON is due{marks(answer.headers)}"


def blocked_words(fault: str) -> str:
    """Text on a request that never gets an answer, although others do."""
    return f"requests like this are blocked on the way ({fault})"


def perhaps_foreign(exchange: Exchange) -> str:
    """Why the answer may come from an intermediary, as text; empty if nothing says so."""
    answer = exchange.response
    if answer is None or exchange.own:
        return ""
    if answer.hollow_page and answer.status != _FAILED:
        return page_words(answer)
    if exchange.undated:
        return f"status {answer.status} without date, as other answers have it{marks(answer.headers)}"
    return f"an answer out of a cache{marks(answer.headers)}" if exchange.cached else ""


def harmless(exchange: Exchange) -> bool:
    """Whether a request can be repeated without effect: a read or a sign-in."""
    return exchange.method in ("GET", "HEAD") or exchange.operation == SIGN_IN


#: Site and operation.
_Place = tuple[str, str]
#: Status, media type and kind of body.
_Form = tuple[int, str, str]


@dataclass
class ForeignAnswers:
    """Distinguishes foreign answers from the service's own, by comparison with earlier answers.

    For many operations the document does not show a success; an answer to these is odd if it differs from all before.

    Attributes:
        asks_again: Requests with odd answers are retried, so even the first read without a body may count as odd.
    """

    asks_again: bool = False
    _taken: int = 0
    #: Odd answers in a row: how many, and how many others had been taken before the first of them.
    _rows: dict[_Place, tuple[int, int]] = field(default_factory=dict)
    _forms: dict[_Place, Counter[_Form]] = field(default_factory=lambda: defaultdict(Counter))
    #: Headers of every success of an operation, and of every answer of a site to a read.
    _always: dict[_Place, set[str]] = field(default_factory=dict)
    _everywhere: dict[str, set[str]] = field(default_factory=dict)
    _read: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    #: Places with an answer that did not come from a cache.
    _fresh: set[_Place] = field(default_factory=set)
    _refusing_in_json: set[_Place] = field(default_factory=set)
    #: How many successful writes of a site had a date, and how many had none.
    _dated: dict[str, Counter[bool]] = field(default_factory=lambda: defaultdict(Counter))
    _own: set[tuple[_Place, _Form]] = field(default_factory=set)
    _interfered: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, exchange: Exchange, site: str = "") -> str | None:
        """Judge the next answer; return the fault if the service did not give it, or None."""
        with self._lock:
            return self._taken_in(exchange, site)

    def _taken_in(self, exchange: Exchange, site: str) -> str | None:
        answer, place = exchange.response, (site, exchange.operation or "")
        fault = exchange.fault if answer is None else environment_fault(answer, exchange.operation)
        if fault is not None or answer is None:
            self._rows.pop(place, None)
            if answer is not None and answer.success and (challenge(answer.headers) or answer.page):
                self._interfered.add(site)
            return fault
        odd = None if self.accepted(exchange, site) else self._odd(exchange, answer, place)
        if odd is not None:
            times, before = self._rows.get(place, (0, self._taken))
            self._rows[place] = times + 1, before
            if not self.comes_again(exchange, site) or self._taken == before:
                return odd
            self.accept(exchange, site)
        stored = bool(store(answer.headers))
        exchange.cached = stored and place in self._fresh and exchange.method in ("GET", "HEAD")
        self._fresh |= set() if stored else {place}
        # Only the date is due in every answer (RFC 9110, 6.6.1); other headers depend on the application.
        undated = "date" in self._borne_by_reads(site) - _signature(answer)
        rule = self._writes_are_dated(exchange, answer, site)
        exchange.undated = undated and (answer.refusal or rule)
        self._note(exchange, answer, place)
        return None

    def comes_again(self, exchange: Exchange, site: str = "") -> bool:
        """Whether its operation just gave several odd answers in a row."""
        often = _OFTEN if harmless(exchange) else _OFTEN_WRITTEN
        return self._rows.get((site, exchange.operation or ""), (0, 0))[0] >= often

    def accept(self, exchange: Exchange, site: str = "") -> None:
        """Treat answers like this as the service's own from now on."""
        answer = exchange.response
        if answer is not None:
            self._own.add(((site, exchange.operation or ""), _form(answer)))
            self._everywhere[site] = self._everywhere.get(site, set()) & _signature(answer)

    def accepted(self, exchange: Exchange, site: str = "") -> bool:
        """Whether answers like this are odd but known to be the service's own."""
        answer, place = exchange.response, (site, exchange.operation or "")
        return answer is not None and (place, _form(answer)) in self._own

    def interfered(self, site: str = "") -> bool:
        """Whether an intermediary answered a request to a site: with a challenge or a page, or oddly until a retry."""
        return site in self._interfered

    def _note(self, exchange: Exchange, answer: Response, place: _Place) -> None:
        self._taken += 1
        if exchange.retries and place in self._rows:  # the same request, answered as usual
            del self._rows[place]
            # A refused read shows no interference: what it asks for may be gone in the meantime.
            if answer.success or not harmless(exchange):
                self._interfered.add(place[0])
        # A success ends a row of odd answers; so does a refusal, if successes are known or the site has interference.
        if answer.success or (answer.refusal and (self._is_known(place) or place[0] in self._interfered)):
            self._rows.pop(place, None)
        # A filter may refuse a sign-in for its content, so only a successful one counts as the site's answer.
        shown = harmless(exchange) and (answer.success or exchange.operation != SIGN_IN)
        if shown and not answer.hops and not exchange.undated:
            (site, operation), borne = place, _signature(answer)
            self._everywhere[site] = self._everywhere.get(site, borne) & borne
            self._read[site].add(operation)
        if answer.success and not answer.hops:
            borne = _signature(answer)
            self._always[place] = self._always.get(place, borne) & borne
        if answer.success:
            self._forms[place][_form(answer)] += 1
        elif answer.refusal and answer.json_labelled:
            self._refusing_in_json.add(place)

    def _odd(self, exchange: Exchange, answer: Response, place: _Place) -> str | None:
        """What is odd about an answer, as text; None for nothing."""
        if answer.status not in _STATUSES_OF_ORIGINS:
            return f"status {answer.status}{marks(answer.headers)}"
        if answer.success and exchange.operation == _EXISTS and answer.hollow_page:
            return page_words(answer)
        # After a redirect another server answers.
        comparable = answer.success and not answer.hops and harmless(exchange)
        if comparable and (missing := self._borne_by_all(place) - _signature(answer)):
            without = ", ".join(sorted(missing))
            return f"status {answer.status} without {without}, as all others have it{marks(answer.headers)}"
        if answer.success and answer.body.whole and self._lacks(exchange, answer, place):
            kind = answer.media_type or "unknown"
            body = "an empty body" if answer.bodiless else f"a body of type {kind}"
            return f"{body} with status {answer.status} instead of content{marks(answer.headers)}"
        usual = place in self._refusing_in_json or exchange.operation == SIGN_IN
        page = answer.refusal and answer.hollow_page and harmless(exchange)
        return page_words(answer) if page and usual else None

    def _borne_by_all(self, place: _Place) -> set[str]:
        """Headers that all answers of an operation, or of its site, had so far."""
        of_operation = self._always.get(place, set()) if self._is_known(place) else set()
        return of_operation | self._borne_by_reads(place[0])

    def _borne_by_reads(self, site: str) -> set[str]:
        return self._everywhere[site] if len(self._read[site]) >= _SITE_KNOWN_AFTER else set()

    def _writes_are_dated(self, exchange: Exchange, answer: Response, site: str) -> bool:
        """Whether successful writes usually have a date; some services date only reads."""
        if harmless(exchange) or not answer.success or answer.hops:
            return False
        dated = self._dated[site]
        rule = dated[True] > _DATED_FOR_ONE * dated[False]
        dated["date" in answer.headers] += 1
        return rule

    def _lacks(self, exchange: Exchange, answer: Response, place: _Place) -> bool:
        """Whether a success lacks the body that the operation must return."""
        # A Location names the record as well as a body does, and no intermediary knows it.
        placed = "location" in answer.headers
        nothing_due = placed or answer.status == NO_CONTENT or answer.text.strip() == "null"
        if nothing_due or exchange.operation is None:
            return False
        if exchange.operation in operations_with(answers="file"):
            return exchange.method != "HEAD" and not answer.content
        # Flawed JSON is the service's own; other text may come from anywhere.
        if answer.json is not None or answer.flaw or answer.charset:
            return False
        if _owes_json(exchange.operation):
            return True
        return self._unlike(exchange, answer, place)

    def _unlike(self, exchange: Exchange, answer: Response, place: _Place) -> bool:
        """Whether a success is unlike all earlier ones of its operation or, without any, may be foreign."""
        # Statuses are not compared: create and update may have different ones. The media type matters after HEAD, and
        # without a body where an intermediary is known to answer.
        _, media_type, kind = _form(answer)
        exists, known_way = exchange.operation == _EXISTS, place[0] in self._interfered
        if self._is_known(place):
            same_kind = {known_type for _, known_type, known in self._forms[place] if known == kind}
            typed = exists or (known_way and kind == _NO_BODY)
            return not same_kind or (typed and media_type not in same_kind)
        if self.asks_again and harmless(exchange):
            return kind == _NO_BODY or (exists and media_type.startswith("text/"))
        return kind == _NO_BODY and known_way

    def _is_known(self, place: _Place) -> bool:
        """Whether an operation succeeded often enough to know its successes."""
        return self._forms[place].total() >= _KNOWN_AFTER


def _signature(answer: Response) -> set[str]:
    """Names of headers that servers add to every answer, and the server's name."""
    server = answer.headers.get("server")
    own = {name for name in map(str.lower, answer.headers) if name == "date" or name.startswith("x-")}
    return own | ({f"server {server}"} if server else set())


def _form(answer: Response) -> _Form:
    kind = "json" if answer.json is not None else _NO_BODY if answer.bodiless else "other"
    return answer.status, answer.media_type, kind


def _owes_json(operation: str | None) -> bool:
    """Whether the document shows the body of a success: a token, a draft, a list, an identifier."""
    known = load_description().operations.get(operation or "")
    if known is None:
        return False
    reads = known.method == "GET" and known.answers != "file"
    return reads or known.id == SIGN_IN or known.stores == "submission"
