"""A client of the service: an account role in a realm, which sends the operations' requests.

Requests are made as the interface document says a client makes them; every part can be replaced, so that a case
can make exactly one thing wrong.

A library that brings its own HTTP client sends through an actor, too, as requests of a session like all others.
"""

from __future__ import annotations

import json as jsonlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import requests

from contracts.errors import EnvironmentFault, UsageError
from contracts.exchanges import readers
from contracts.exchanges.exchange import TOKEN_ENDED, Exchange, Headers, Response, read_timestamp
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import Operation, load_description
from contracts.session.session import HttpRequest, RequestContext, Session
from contracts.session.shared_state import SharedState
from contracts.session.tokens import Token
from contracts.settings.target import ANONYMOUS, DOCUMENT_REALMS

JSON: Final = "application/json"
#: Where a request names the record it is about.
_NAMES: Final = ("uid", "identifier")


class _Default:
    """Marks an argument that was not given, where None has a meaning of its own."""


DEFAULT: Final = _Default()
#: Credentials are lacking, or are none (RFC 9110, 15.5.2).
_UNAUTHENTICATED: Final = 401
#: Mark that a token was refused before its time.
_ENDED_EARLY: Final = "a token ended early"
#: Under which it is kept which token that was, and so many signs of a timestamp tell it to the second.
_WHICH: Final = "which token ended early"
_SECONDS: Final = len("2026-01-31T08:15:00")
#: Fresh tokens for one request where tokens are known to end early: others may have used one up meanwhile.
_RENEWALS: Final = 3


#: Statuses of a refusal that may be about who asks (RFC 9110, 15.5.2 and 15.5.4).
_ABOUT_WHO_ASKS: Final = (401, 403)
#: A token that no service has given out, and how a service is remembered to refuse it.
NO_TOKEN: Final = "rc-no-such-token"  # noqa: S105 - it opens nothing
_UNKNOWN_REFUSED: Final = "status for an unknown token"
#: The case on whose behalf it is seen whether a token is known.
_LOOKING: Final = "[looking at a token]"


class NoTokenError(EnvironmentFault):
    """The service gave this role no token, so nothing can be done as it."""


class Actor:
    """A role in a realm.

    Args:
        session: What sends the requests.
        role: `author`, `other`, `restricted`, `nau` or `anonymous`.
        realm: Development realm; `any` for operations that carry none.
        case, attempt, advisory: On whose behalf requests are sent, as in `RequestContext`.
        exchanges: Where the case's exchanges are gathered.
        judge: Called with each exchange of the role's own token and realm; may raise what keeps a case from going on.
    """

    def __init__(
        self,
        session: Session,
        role: str,
        realm: str,
        case: str,
        *,
        attempt: int = 1,
        advisory: bool = False,
        exchanges: list[Exchange] | None = None,
        judge: Callable[[Exchange], None] | None = None,
    ) -> None:
        self._judge = judge
        self.role = role
        self.realm = realm
        self._context = RequestContext(case, attempt, realm, role, advisory)
        self._session = session
        self._exchanges = [] if exchanges is None else exchanges
        self._dropped: Token | None = None

    @property
    def settle_seconds(self) -> float:
        """How long an effect may take to show on the target."""
        return self._session.settle_seconds

    @property
    def shared(self) -> SharedState:
        """What all workers of the run share."""
        return self._session.shared

    def uploadable(self, size: int) -> int:
        """The size of a file, in bytes, or somewhat less than the limit of the settings where that may refuse it."""
        limit = self._session.target.attachments.size_limit_bytes
        return size if limit is None else min(size, limit - limit // 50)

    def token(self) -> str | None:
        """This role's bearer token; None for the anonymous.

        Raises:
            NoTokenError: the service gave none.
        """
        if self.role == "anonymous":
            return None
        token = self._session.tokens.token(self.role)
        if not token.value:
            raise NoTokenError(f"createToken gave the {self.role} no token: {token.refusal}")
        return token.value

    def send(  # noqa: PLR0913 - every part of a request can be replaced
        self,
        operation: str,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        json: Any = DEFAULT,
        body: bytes | Iterable[bytes] | None = None,
        headers: Mapping[str, str | None] | None = None,
        token: str | _Default | None = DEFAULT,
        realm: str | _Default | None = DEFAULT,
        address: Callable[[str], str] | None = None,
        summed: bool = False,
        documented: str = "",
    ) -> Exchange:
        """Send one request of an operation and return the exchange.

        Args:
            path: Path parameters, decoded; each is percent-encoded whole.
            query: Query parameters.
            json: Value sent as the JSON body. Mutually exclusive with `body`.
            body: Bytes sent as they are.
            headers: Added to the documented ones, or taken out where the value is None.
            token: Bearer token in place of the role's own; None sends no Authorization header.
            realm: Realm header in place of the actor's own; None sends none.
            address: Rewrites the finished address, which then goes out exactly so: for another spelling of it.
            summed: Keep only the beginning of the answer's body, and the digest of all of it.
            documented: A name that goes out as the interface document writes it, whatever the target calls it.
        """
        described = self._session.description.operations[operation]
        if json is not DEFAULT:
            body = jsonlib.dumps(json, ensure_ascii=False).encode("utf-8", "surrogatepass")
        pairs = list(query.items() if isinstance(query, Mapping) else query)
        url = described.url(self._session.target.base_url, **(path or {})) + _query(pairs)
        request = HttpRequest(
            operation=operation,
            method=described.method,
            url=address(url) if address else url,
            headers=self._headers(described, headers or {}, token, realm),
            body=body,
            identifiers=_identifiers(operation, path or {}, pairs, body),
            writes=not described.safe and operation != "createToken",
            verbatim=address is not None,
            summed=summed,
            altered=self._altered(headers or {}, pairs, token, realm),
            documented=documented,
        )
        exchange = self._sent(request)
        if operation == "createToken" and exchange.response is not None and exchange.response.success:
            self._session.tokens.note_sign_in()
        given = {name.lower() for name in headers or {}}
        if not isinstance(token, _Default) or "authorization" in given or isinstance(body, Iterator):
            return exchange
        left = _RENEWALS
        while left and (
            (outlived := self._outlived(request, exchange)) or self._ends_early(request, exchange)
        ):
            left = left - 1 if self.token_ended_early else 0
            request = replace(request, headers=self._headers(described, headers or {}, token, realm))
            exchange = self._sent(request)
            self._note_renewal(exchange, early=not outlived, last=not left)
            if self.token_ended_early and _refused_unknown(exchange):
                exchange.notes[TOKEN_ENDED] = True
        if self._judge is not None and not request.altered:
            self._judge(exchange)
        return exchange

    def _altered(
        self,
        headers: Mapping[str, str | None],
        query: list[tuple[str, str]],
        token: str | _Default | None,
        realm: str | _Default | None,
    ) -> str:
        """What of a request ought to have it refused, but for its content: credentials or realm."""
        changed = {name.lower() for name in headers}
        if token is None or self.role == ANONYMOUS:
            return "no credentials"
        if not isinstance(token, _Default) or "authorization" in changed:
            return "other credentials"
        if self.role == "restricted":
            return "credentials without rights"
        if not isinstance(realm, _Default) or "realm" in changed or any(name == "Realm" for name, _ in query):
            return "realm"
        return ""

    @property
    def token_ended_early(self) -> bool:
        """Whether some worker's token was refused before its expiration, where a fresh one was taken for the same."""
        return self._session.shared.marked(_ENDED_EARLY)

    @property
    def token_that_ended_early(self) -> str:
        """Which token that was, in words; empty where none did."""
        return str(self._session.shared.offered(_WHICH) or "")

    def _ends_early(self, request: HttpRequest, exchange: Exchange) -> bool:
        """Whether a refusal for credentials may be cured by a fresh token, though none has to be; it is dropped then.

        An answer about who asks is no answer about what was asked. Where a fresh token changes nothing, the operation
        refuses every token, and is not asked twice again.
        """
        answer = exchange.response
        if exchange.fault or answer is None or not _not_known(answer) or self.role == "anonymous":
            return False
        token = self._session.tokens.token(self.role, as_it_is=True)
        refuses_all = (self.role, request.operation) in self._session.tokens.beyond_cure
        sent = request.headers.get("Authorization")
        if sent is None or (refuses_all and not self.token_ended_early):
            return False
        if sent == _bearer(token.value):
            self._dropped = token
            self._session.tokens.forget(self.role, token.value)
        return True  # or a call beside this one has had it replaced meanwhile

    def _note_renewal(self, again: Exchange, *, early: bool, last: bool) -> None:
        """Note what a fresh token came to: nothing for this operation, or that the one before had ended early."""
        if _refused_unknown(again):
            if last:
                self._session.tokens.beyond_cure.add((self.role, again.operation))
        elif early and again.response is not None and not again.fault:
            self._session.shared.mark(_ENDED_EARLY)
            if self._dropped is not None:
                until = f" and valid until {self._dropped.expires}" if self._dropped.expires else ""
                which = f"a token of {self.role}'s, issued at {self._dropped.issued[:_SECONDS]}Z{until}"
                notice = f"{which}, was refused in {self.realm}, and a fresh one taken"
                self._session.shared.offer(_WHICH, notice)

    def _sent(self, request: HttpRequest) -> Exchange:
        exchange = self._session.send(request, self._context)
        self._exchanges.append(exchange)
        return exchange

    def _outlived(self, request: HttpRequest, exchange: Exchange) -> bool:
        """Whether a refusal may only mean that the role's own token has ended meanwhile; the token is dropped then.

        It may have expired, or been ended by a later sign-in, which is not shown. A token that is refused although
        it is fresh is a finding (design 4.7) and stays.
        """
        answer = exchange.response
        if exchange.fault or answer is None or not answer.refusal or self.role == "anonymous":
            return False
        token = self._session.tokens.token(self.role, as_it_is=True)
        if request.headers.get("Authorization") != _bearer(token.value):
            return False
        if not (
            token.over or self._session.tokens.displaced(self.role, token.value) or self._forgotten(token)
        ):
            return False
        if answer.status not in _ABOUT_WHO_ASKS and not self._shown_unknown(token, answer.status):
            return False
        self._session.tokens.forget(self.role, token.value)
        return True

    def _shown_unknown(self, token: Token, status: int) -> bool:
        """Whether the service refuses a token that it does not know with this status, and this token just so.

        The document shows no status for it outside the workflow, so it is tried, once in a run, by a list of drafts.
        """
        if self.realm not in DOCUMENT_REALMS or self._session.tokens.seen_known(token.value):
            return False
        usual = self._session.shared.once(_UNKNOWN_REFUSED, lambda: self._status_for(NO_TOKEN))
        if status != usual:
            return False
        if self._status_for(token.value) == usual:
            return True
        self._session.tokens.note_known(token.value)
        return False

    def _status_for(self, token: str) -> int:
        """How a list of drafts is answered to a token; 0 where it has no answer."""
        described = self._session.description.operations["listDrafts"]
        url = described.url(self._session.target.base_url)
        headers = self._headers(described, {}, token, DEFAULT)
        request = HttpRequest(described.id, described.method, url, headers, altered="other credentials")
        answer = self._session.send(request, replace(self._context, case=_LOOKING)).response
        return 0 if answer is None else answer.status

    def _forgotten(self, token: Token) -> bool:
        """Whether the service may have forgotten a token: something has disturbed it since the token was issued."""
        issued = read_timestamp(token.issued)
        return issued is not None and self._session.fault_since(issued.timestamp())

    def _headers(
        self,
        operation: Operation,
        changes: Mapping[str, str | None],
        token: str | _Default | None,
        realm: str | _Default | None,
    ) -> dict[str, str | bytes]:
        headers: dict[str, str | bytes | None] = {"Accept": JSON}
        if operation.lists_content_type:
            headers["Content-Type"] = JSON
        if operation.takes_realm:
            headers["Realm"] = self.realm if isinstance(realm, _Default) else realm
        value = self._own_token(operation) if isinstance(token, _Default) else token
        headers["Authorization"] = None if value is None else _bearer(value)
        documented = {name.lower(): name for name in headers}
        for name, changed in changes.items():
            headers[documented.get(name.lower(), name)] = changed
        return {name: _encoded(value) for name, value in headers.items() if value is not None}

    def _own_token(self, operation: Operation) -> str | None:
        """Protected operations get the token; where the document is silent a signed-in client sends it too."""
        return None if operation.id == "createToken" else self.token()


def _not_known(answer: Response) -> bool:
    """Whether an answer says that the token is unknown: 401, or the row of the workflow table on that."""
    anonymous = load_catalogue().clause("workflow-anonymous").message or ""
    return answer.status == _UNAUTHENTICATED or (
        answer.refusal and readers.contains_message(answer, anonymous)
    )


def _refused_unknown(exchange: Exchange) -> bool:
    return exchange.response is not None and _not_known(exchange.response)


def _bearer(token: str) -> bytes:
    return _encoded(f"Bearer {token}")


def _encoded(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")


def _query(pairs: list[tuple[str, str]]) -> str:
    return "?" + urlencode(pairs, quote_via=quote, safe="$", errors="surrogatepass") if pairs else ""


def _identifiers(
    operation: str,
    path: Mapping[str, str],
    query: list[tuple[str, str]],
    body: bytes | Iterable[bytes] | None,
) -> tuple[str, ...]:
    """Identifiers a request would write to: in the path or query, and in the headers of the records it carries."""
    named = [path[name] for name in _NAMES if path.get(name)]
    named += [value for name, value in query if name in _NAMES and value]
    if isinstance(body, bytes) and operation != "createAttachment":
        with suppress(ValueError, RecursionError):  # what is no JSON holds no record
            named += _inside(jsonlib.loads(body))
    return tuple(dict.fromkeys(named))


def _inside(value: Any) -> Iterator[str]:
    header = value.get("header") if isinstance(value, dict) else None
    identifier = header.get("identifier") if isinstance(header, dict) else None
    if isinstance(identifier, str) and identifier:
        yield identifier
    for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _inside(member)


#: Headers of a request that an actor would write by itself, and that the library may have changed or left out.
_DOCUMENTED = ("Accept", "Content-Type", "Realm")


class ActorClient(requests.Session):
    """A client of the library `requests` that opens no connection: an actor sends what it is asked to.

    The actor writes the address of its target and signs with its own token, whatever address the library knows. What
    it has sent is in `exchanges`, in order.
    """

    def __init__(self, actor: Actor) -> None:
        super().__init__()
        self._actor = actor
        self.exchanges: list[Exchange] = []

    def request(self, method: str | bytes, url: str | bytes, *_: Any, **parts: Any) -> requests.Response:
        """Send one request of the description.

        Args:
            parts: As `requests` takes them; those about the connection (timeout, TLS, redirects) are the actor's own.

        Raises:
            UsageError: the description knows no such request.
            EnvironmentFault: the environment gave no answer.
        """
        kept = {name: parts.get(name) for name in ("params", "data", "json", "headers", "files")}
        prepared = self.prepare_request(requests.Request(str(method), str(url), **kept))
        address = urlsplit(str(prepared.url))
        matched = load_description().match(str(prepared.method), address.path)
        if matched is None:
            raise UsageError(f"no operation of the description has the path {address.path}")
        operation, path = matched
        headers = {
            name: prepared.headers.get(name)
            for name in _DOCUMENTED
            if name != "Realm" or operation.takes_realm
        }
        headers["Accept"] = headers["Accept"] if headers["Accept"] != "*/*" else JSON
        # The library describes the body with it only; it is listed for requests without one, too.
        if headers["Content-Type"] is None:
            del headers["Content-Type"]
        body = prepared.body.encode() if isinstance(prepared.body, str) else prepared.body
        exchange = self._actor.send(
            operation.id,
            path=path,
            query=parse_qsl(address.query, keep_blank_values=True),
            body=body,
            headers=headers,
        )
        self.exchanges.append(exchange)
        return _answer(exchange, prepared)


class _HeaderLists(dict[str, list[str]]):
    """Headers as the library beneath `requests` holds them: repeated ones one by one."""

    def __init__(self, headers: Headers) -> None:
        super().__init__()
        for name, value in headers.pairs:
            self.setdefault(name.lower(), []).append(value)

    def getlist(self, name: str) -> list[str]:
        """The values of a header."""
        return self.get(name.lower(), [])


@dataclass(frozen=True)
class _Raw:
    """What stands beneath an answer of `requests`."""

    headers: _HeaderLists
    version: int = 11


def _answer(exchange: Exchange, prepared: requests.PreparedRequest) -> requests.Response:
    """The answer of an exchange as the library knows it."""
    answer, made = exchange.answer, requests.Response()
    made.status_code, made.reason, made.url = answer.status, answer.reason, str(prepared.url)
    made.headers.update(dict(answer.headers.items()))
    made.raw = _Raw(_HeaderLists(answer.headers))
    made.request = prepared
    made._content = answer.content
    return made
