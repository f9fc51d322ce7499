"""A client of the service: sends an operation's request as an account role in a realm.

By default a request is what the interface document asks of a client. Every part can be replaced, so that a case can
make exactly one thing wrong.
"""

from __future__ import annotations

import json as jsonlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Final
from urllib.parse import quote, urlencode

from msgspec import UNSET, UnsetType

from registry_contracts.exchanges.exchange import NO_CONTENT, Exchange
from registry_contracts.interface.description import load_description
from registry_contracts.interface.operations import SIGN_IN, Operation
from registry_contracts.session.pipeline import Request, encoded, listed_headers
from registry_contracts.session.session import Session
from registry_contracts.session.shared_state import SharedState
from registry_contracts.settings.target import ANONYMOUS

#: Parameters that name a record.
_NAMES: Final = ("uid", "identifier")


#: An argument that was not given; None has another meaning.
DEFAULT: Final = UNSET
_Replaced = str | UnsetType | None


def _at(operation: str) -> Callable[..., Exchange]:
    """A method that sends an operation; its first argument is a document's uid, or all path parameters."""

    def send(actor: OperationCalls, path: str | Mapping[str, str] | None = None, **parts: Any) -> Exchange:
        return actor.send(operation, path={"uid": path} if isinstance(path, str) else path, **parts)

    return send


class OperationCalls:
    """The operations that cases use most; other parts of a request are passed on to `Actor.send`."""

    send: Callable[..., Exchange]
    get_draft, get_draft_info = _at("getDraft"), _at("getDraftInfo")
    draft_exists, delete_draft = _at("draftExists"), _at("deleteDraft")
    list_attachments, attachment_exists = _at("listAttachments"), _at("attachmentExists")
    get_attachment, get_attachment_thumbnail = _at("getAttachment"), _at("getAttachmentThumbnail")
    create_token, list_drafts = _at(SIGN_IN), _at("listDrafts")


@dataclass(eq=False, repr=False)
class Actor(OperationCalls):
    """A role in a realm (`any` for operations without realm), which sends the requests of a case.

    `exchanges` collects the exchanges. `judge` is called with each exchange that has the role's own token and realm,
    and may raise to end the case. The other members are those of `Request`.
    """

    session: Session
    role: str
    realm: str
    case: str
    _: KW_ONLY
    attempt: int = 1
    advisory: bool = False
    exchanges: list[Exchange] | None = None
    judge: Callable[[Exchange], None] | None = None

    @property
    def settle_seconds(self) -> float:
        """How long an effect may take to show on the target."""
        return self.session.settle_seconds

    @property
    def shared(self) -> SharedState:
        """State that all workers of the run share."""
        return self.session.shared

    def uploadable(self, size: int) -> int:
        """A file size in bytes that the settings' limit surely allows: `size`, or 2 % less than the limit."""
        limit = self.session.target.attachments.size_limit_bytes
        return size if limit is None else min(size, limit - limit // 50)

    def token(self) -> str | None:
        """This role's bearer token; None for the anonymous. Raises `NoTokenError` if the service gave none."""
        return None if self.role == ANONYMOUS else self.session.authentication.token(self.role)

    def another_token_that_ended_early(self) -> str:
        """A token that the service refused before its expiration, as text; empty if none is left to report."""
        return self.session.authentication.another_early_end()

    def send(  # noqa: PLR0913 - every part of a request can be replaced
        self,
        operation: str,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        json: Any = DEFAULT,
        body: bytes | Iterable[bytes] | None = None,
        headers: Mapping[str, str | None] | None = None,
        token: _Replaced = DEFAULT,
        realm: _Replaced = DEFAULT,
        address: Callable[[str], str] | None = None,
        summed: bool = False,
        documented: str = "",
    ) -> Exchange:
        """Send one request of an operation and return the exchange.

        Args:
            path: Path parameters, decoded; each is percent-encoded whole.
            json: Value sent as the JSON body, instead of `body`.
            headers: Added to the documented ones; None as a value removes one.
            token: Bearer token instead of the role's own; None sends no Authorization header.
            realm: Realm header instead of the actor's own; None sends none.
            address: Rewrites the finished address, which is then sent unchanged: for another spelling of it.
            summed: Keep only the beginning of the answer's body, and the digest of all of it.
            documented: A name to send as the interface document writes it, even if the settings replace it.
        """
        described = load_description().operations[operation]
        if json is not DEFAULT:
            body = jsonlib.dumps(json, ensure_ascii=False).encode("utf-8", "surrogatepass")
        pairs = list(query.items() if isinstance(query, Mapping) else query)
        url = described.url(self.session.target.base_url, **(path or {})) + _query(pairs)
        listed = listed_headers(described, self.realm if realm is UNSET else realm)
        if isinstance(token, str):
            listed["Authorization"] = f"Bearer {token}"
        own = token is UNSET and not any(name.lower() == "authorization" for name in headers or {})
        request = Request(
            operation=operation,
            method=described.method,
            url=address(url) if address else url,
            headers=_changed(listed, headers or {}),
            body=body,
            identifiers=_identifiers(operation, path or {}, pairs, body),
            writes=not described.safe and operation != SIGN_IN,
            verbatim=address is not None,
            summed=summed,
            altered=self._altered({*map(str.lower, headers or {})}, pairs, token, realm),
            documented=documented,
            # Every operation gets the token, protected or not: a signed-in client sends it.
            signed=own and operation != SIGN_IN and self.role != ANONYMOUS,
            case=self.case,
            attempt=self.attempt,
            realm=self.realm,
            role=self.role,
            advisory=self.advisory,
            gathered=self.exchanges,
        )
        exchange = self.session.send(request)
        if own and self._tells_absence(exchange, described, request, path or {}):
            exchange = replace(exchange, response=replace(exchange.answer, absent=True))
        if own and self.judge is not None and not request.altered:
            self.judge(exchange)
        return exchange

    def _tells_absence(
        self, exchange: Exchange, operation: Operation, request: Request, path: Mapping[str, str]
    ) -> bool:
        """Whether a read was answered 204 because nothing is there; the document leaves open how that is told.

        An exists check may also tell by 204 that something is there, and an empty file be given so. So a uid that was
        never used is asked about, once in a run.
        """
        answer, record = exchange.response, operation.needs in ("draft", "attachment")
        if answer is None or answer.status != NO_CONTENT or not (operation.safe and record):
            return False

        def look() -> bool:
            never = {**path, "uid": self.session.namespace.uid()}
            url = operation.url(self.session.target.base_url, **never)
            asked = replace(request, url=url, gathered=None)  # no evidence of the case
            return self.session.send(asked).answer.status == NO_CONTENT

        return self.shared.once(f"204 to {operation.id} of nothing", look)

    def _altered(
        self, changed: set[str], query: list[tuple[str, str]], token: _Replaced, realm: _Replaced
    ) -> str:
        """The part of a request, credentials or realm, that must lead to a refusal; empty if neither."""
        if token is None or self.role == ANONYMOUS:
            return "no credentials"
        if token is not UNSET or "authorization" in changed:
            return "other credentials"
        if self.role == "restricted":
            return "credentials without rights"
        if realm is not UNSET or "realm" in changed or any(name == "Realm" for name, _ in query):
            return "realm"
        return ""


def _changed(listed: Mapping[str, str | None], changes: Mapping[str, str | None]) -> dict[str, str | bytes]:
    """Headers with changes: replaced, added, or removed by None; names match in any letter case."""
    names = {name.lower(): name for name in listed}
    headers = {**listed, **{names.get(name.lower(), name): value for name, value in changes.items()}}
    return {name: encoded(value) for name, value in headers.items() if value is not None}


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
        with suppress(ValueError, RecursionError):  # only JSON holds records
            named += _inside(jsonlib.loads(body))
    return tuple(dict.fromkeys(named))


def _inside(value: Any) -> Iterator[str]:
    header = value.get("header") if isinstance(value, dict) else None
    identifier = header.get("identifier") if isinstance(header, dict) else None
    if isinstance(identifier, str) and identifier:
        yield identifier
    for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _inside(member)
