"""What something on the way answered in place of the service: one judgement for runs, `check` and `proxy` (design 4.7).

Some answers come from no service of this interface, whatever was asked. Others are told by what an operation owes, and
by how it has answered so far. Of these the service is the author where they come again and again, while other requests
are answered.
"""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from registry_contracts.exchanges.exchange import Exchange, Response
from registry_contracts.exchanges.intermediaries import challenge, marks, store
from registry_contracts.interface.description import load_description, operations_with
from registry_contracts.safe_text import cut, plain_line

#: Each of them invites to ask again, and says nothing of what was asked (RFC 6585, 8470, 9110).
GATEWAY_STATUSES: Final = frozenset({408, 425, 429, 502, 503, 504})
#: Of forward proxies, portals, load balancers and content networks; no origin of this interface has a use for them.
_FOREIGN_STATUSES: Final = frozenset(
    {407, 444, 460, 463, 511, 561, 598, 599, *range(495, 500), *range(520, 531)}
)
#: An odd answer that comes as often as this in a row is the service's own, where others are answered.
OFTEN: Final = 3
#: What cannot be asked again without harm comes seldom enough for this to do.
OFTEN_WRITTEN: Final = 2
#: So many successes of one operation make a habit.
_HABIT: Final = 2
#: Reads of so many operations make a habit of the whole site.
_HABIT_OF_ALL: Final = 3
#: So many writes with a date to one without, and it is the rule.
_DATED_FOR_ONE: Final = 4
_SIGN_IN: Final = "createToken"
_NO_CONTENT: Final = 204
_FAILED: Final = 500
_TITLE: Final = re.compile(r"<title[^>]*>([^<]+)", re.IGNORECASE)
_LONGEST_TITLE: Final = 60


def environment_fault(answer: Response, operation: str | None) -> str | None:
    """What the environment did in place of the service, in a few words; None when the service may have answered.

    A page with status 500 is the service's own (design 4.7: a lone 500). A page with a 4xx status may come from
    either; it is a refusal where one is due. Otherwise the claim ends inconclusive
    (`registry_contracts.checks.claims`).
    """
    told = marks(answer.headers)
    if challenge(answer.headers):
        return f"a filter's challenge with status {answer.status}{told}"
    if answer.status in GATEWAY_STATUSES:
        return f"status {answer.status}{told}"
    if (
        answer.page
        and operation not in operations_with(answers="file")
        and (answer.success or answer.status > 500)
    ):
        return page_words(answer)
    if operation == _SIGN_IN and answer.redirect:
        return f"a redirect to {_where_to(answer)} in place of a token: name the service's own address as the base URL"
    if _broken_off(answer):
        return "the answer broke off in the middle of its JSON"
    return None


def _broken_off(answer: Response) -> bool:
    """Whether JSON ends in its middle although the head gave no length, as a lost connection leaves it."""
    sized = "content-length" in answer.headers or "chunked" in answer.headers.get("transfer-encoding", "")
    if sized or not answer.body.whole or "json" not in answer.media_type or answer.json is not None:
        return False
    text = answer.text.strip()
    return text[:1] in ("{", "[") and text[-1:] not in ("}", "]")


def _where_to(answer: Response) -> str:
    try:
        address = urlsplit(answer.headers.get("location", ""))
        host = f"{address.scheme}://{address.hostname}" if address.hostname else ""
    except ValueError:
        host = ""
    return plain_line(host) or "another path"


def page_words(answer: Response) -> str:
    """Words for an HTML page in place of an answer."""
    title = _TITLE.search(answer.text)
    called = f" '{cut(plain_line(title[1]), _LONGEST_TITLE)}'" if title else ""
    return f"an HTML page{called} with status {answer.status} where JSON is due{marks(answer.headers)}"


def blocked_words(fault: str) -> str:
    """Words for what gets no answer again and again, where others are answered."""
    return f"requests like this are blocked on the way ({fault})"


def perhaps_of_the_way(exchange: Exchange) -> str:
    """What of an exchange something on the way may have answered, in a few words; empty for nothing."""
    answer = exchange.response
    if answer is None or exchange.own:
        return ""
    if answer.hollow_page and answer.status != _FAILED:
        return page_words(answer)
    if exchange.undated:
        return f"status {answer.status} without date, as other answers have it{marks(answer.headers)}"
    return f"an answer out of a cache{marks(answer.headers)}" if exchange.cached else ""


def harmless(exchange: Exchange) -> bool:
    """Whether a request leaves nothing behind, however often it is sent."""
    return exchange.method in ("GET", "HEAD") or exchange.operation == _SIGN_IN


#: Site and operation.
_Place = tuple[str, str]
#: Status, media type and kind of body.
_Form = tuple[int, str, str]


@dataclass
class ForeignAnswers:
    """Tells the answers of the way from the service's own, by all that were taken before.

    The document does not show the success of many operations: what such a one owes is what it has always given.
    """

    _in_a_row: Counter[_Place] = field(default_factory=Counter)
    _taken: int = 0
    _taken_before: dict[_Place, int] = field(default_factory=dict)
    _forms: dict[_Place, Counter[_Form]] = field(default_factory=lambda: defaultdict(Counter))
    #: What every success of an operation has borne, and every answer of a site to a read.
    _always: dict[_Place, set[str]] = field(default_factory=dict)
    _everywhere: dict[str, set[str]] = field(default_factory=dict)
    _read: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    #: Where an answer came that was out of no cache.
    _fresh: set[_Place] = field(default_factory=set)
    _refusing_in_json: set[_Place] = field(default_factory=set)
    #: Successes of writes by whether they bore a date.
    _dated: dict[str, Counter[bool]] = field(default_factory=lambda: defaultdict(Counter))
    _own: set[tuple[_Place, _Form]] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, exchange: Exchange, site: str = "") -> str | None:
        """Take the next answer: what the way gave in place of one, in a few words; None for the service's own."""
        with self._lock:
            return self._taken_in(exchange, site)

    def _taken_in(self, exchange: Exchange, site: str) -> str | None:
        answer, place = exchange.response, (site, exchange.operation or "")
        fault = exchange.fault if answer is None else environment_fault(answer, exchange.operation)
        if fault is not None or answer is None:
            self._end_row(place)
            return fault
        odd = None if self.accepted(exchange, site) else self._odd(exchange, answer, place)
        if odd is not None:
            self._taken_before.setdefault(place, self._taken)
            self._in_a_row[place] += 1
            if not self.comes_again(exchange, site) or self._taken == self._taken_before[place]:
                return odd
            self.accept(exchange, site)
        stored = bool(store(answer.headers))
        exchange.cached = stored and place in self._fresh and exchange.method in ("GET", "HEAD")
        self._fresh |= set() if stored else {place}
        # Servers date whatever they answer (RFC 9110, 6.6.1); other headers are of an application, and of some answers.
        undated = "date" in self._borne_by_reads(site) - _signature(answer)
        rule = self._writes_are_dated(exchange, answer, site)
        exchange.undated = undated and (answer.refusal or rule)
        self._note(exchange, answer, place)
        return None

    def comes_again(self, exchange: Exchange, site: str = "") -> bool:
        """Whether the last answers from its operation were odd, again and again."""
        often = OFTEN if harmless(exchange) else OFTEN_WRITTEN
        return self._in_a_row[site, exchange.operation or ""] >= often

    def accept(self, exchange: Exchange, site: str = "") -> None:
        """Take answers like this for the service's own from now on: others were answered between them."""
        answer = exchange.response
        if answer is not None:
            self._own.add(((site, exchange.operation or ""), _form(answer)))
            self._everywhere[site] = self._everywhere.get(site, set()) & _signature(answer)

    def accepted(self, exchange: Exchange, site: str = "") -> bool:
        """Whether answers like this are odd, and known to be the service's own."""
        answer, place = exchange.response, (site, exchange.operation or "")
        return answer is not None and (place, _form(answer)) in self._own

    def _end_row(self, place: _Place) -> None:
        self._in_a_row.pop(place, None)
        self._taken_before.pop(place, None)

    def _note(self, exchange: Exchange, answer: Response, place: _Place) -> None:
        self._taken += 1
        if harmless(exchange) and not answer.hops and not exchange.undated:
            (site, operation), borne = place, _signature(answer)
            self._everywhere[site] = self._everywhere.get(site, borne) & borne
            self._read[site].add(operation)
        if answer.success:  # a refusal says nothing of how successes are answered
            self._end_row(place)
        if answer.success and not answer.hops:
            borne = _signature(answer)
            self._always[place] = self._always.get(place, borne) & borne
        if answer.success:
            self._forms[place][_form(answer)] += 1
        elif answer.refusal and answer.json_labelled:
            self._refusing_in_json.add(place)

    def _odd(self, exchange: Exchange, answer: Response, place: _Place) -> str | None:
        """What is odd about an answer that may be the service's, in a few words."""
        if answer.status in _FOREIGN_STATUSES:
            return f"status {answer.status}{marks(answer.headers)}"
        if answer.success and exchange.operation == "draftExists" and answer.hollow_page:
            return page_words(answer)
        # Where a redirect leads, another server answers.
        told = answer.success and not answer.hops and harmless(exchange)
        if told and (missing := self._borne_by_all(place) - _signature(answer)):
            without = ", ".join(sorted(missing))
            return f"status {answer.status} without {without}, as all others have it{marks(answer.headers)}"
        if answer.success and answer.body.whole and self._lacks(exchange, answer, place):
            body = f"a body of type {answer.media_type or 'unknown'}" if answer.content else "an empty body"
            return f"{body} with status {answer.status} where more is due{marks(answer.headers)}"
        usual = place in self._refusing_in_json or exchange.operation == _SIGN_IN
        page = answer.refusal and answer.hollow_page and harmless(exchange)
        return page_words(answer) if page and usual else None

    def _borne_by_all(self, place: _Place) -> set[str]:
        """What answers like the next one have borne so far, without exception."""
        of_operation = self._always.get(place, set()) if self._forms[place].total() >= _HABIT else set()
        return of_operation | self._borne_by_reads(place[0])

    def _borne_by_reads(self, site: str) -> set[str]:
        return self._everywhere[site] if len(self._read[site]) >= _HABIT_OF_ALL else set()

    def _writes_are_dated(self, exchange: Exchange, answer: Response, site: str) -> bool:
        """Whether writes that were taken bear a date as a rule; some services date their reads alone."""
        if harmless(exchange) or not answer.success or answer.hops:
            return False
        dated = self._dated[site]
        rule = dated[True] > _DATED_FOR_ONE * dated[False]
        dated["date" in answer.headers] += 1
        return rule

    def _lacks(self, exchange: Exchange, answer: Response, place: _Place) -> bool:
        """Whether a success has another body than the operation owes."""
        if answer.redirect or answer.status == _NO_CONTENT or answer.text.strip() == "null":
            return False
        if exchange.operation is None:
            return False
        if exchange.operation in operations_with(answers="file"):
            return exchange.method != "HEAD" and not answer.content
        # A flaw in JSON is the service's own; a text that is none at all may be anybody's.
        if answer.json is not None or answer.flaw or answer.charset:
            return False
        if _owes_json(exchange.operation) and "location" not in answer.headers:
            return True
        # Another status is nothing odd: creating and updating may be answered apart.
        forms, kind = self._forms[place], _form(answer)[-1]
        return forms.total() >= _HABIT and all(kind != other for *_, other in forms)


def _signature(answer: Response) -> set[str]:
    """Headers that servers put on every answer, and the value of the one that names them."""
    server = answer.headers.get("server")
    own = {name for name in map(str.lower, answer.headers) if name == "date" or name.startswith("x-")}
    return own | ({f"server {server}"} if server else set())


def _form(answer: Response) -> _Form:
    # Behind HEAD the length alone tells of a body.
    some = answer.content or answer.headers.get("content-length", "0") != "0"
    kind = "json" if answer.json is not None else "other" if some else "none"
    return answer.status, answer.media_type, kind


def _owes_json(operation: str | None) -> bool:
    """Whether the document shows something of a success's body: a token, a draft, a list, an identifier."""
    known = load_description().operations.get(operation or "")
    if known is None:
        return False
    reads = known.method == "GET" and known.answers != "file"
    return reads or known.id == _SIGN_IN or known.stores == "submission"
