"""One round of a replay: every request of the sequence, in order, on fresh data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from contracts.errors import UsageError
from contracts.evidence.plain import json_text
from contracts.evidence.record import RecordedExchange
from contracts.interface.operations import ANY_REALM
from contracts.session.exchange import Exchange
from contracts.session.ledger import named
from contracts.session.namespace import KEPT_PREFIX
from contracts.session.recording import SWAPPED, TOKEN, UNKNOWN
from contracts.session.redaction import REDACTED
from contracts.target.model import ANONYMOUS, AUTHOR
from contracts.workbench.bench import ROLES, Bench
from contracts.workbench.carrying import Carried
from contracts.workbench.recorded import content_of, header_of, json_of, path_of, text_of
from contracts.workbench.renaming import Names
from contracts.workbench.resettling import Settled
from contracts.workbench.telling import Telling

_DOCUMENTED: Final = ("Accept", "Content-Type", "Realm", "Authorization")
_LEFT_OUT: Final = frozenset(
    {"host", "content-length", "connection", "accept-encoding", "user-agent", "cookie", "transfer-encoding"}
    | {"origin", "referer", "authorization", "proxy-authorization", "te", "priority"}
)
#: Operations after which the service may name the record itself.
_MINTING: Final = ("createContact", "createWorkflowRecord")


@dataclass(frozen=True)
class Pair:
    """An exchange of the old sequence with the new one."""

    old: RecordedExchange
    new: Exchange
    decisive: bool


class Round:
    """Sends a sequence once.

    Args:
        realm: In place of the one it was recorded in.
        number: From 0; each round is on data of its own.

    Raises:
        UsageError: the target lacks what the sequence needs; nothing was sent.
    """

    def __init__(self, bench: Bench, telling: Telling, realm: str, number: int) -> None:
        self._bench = bench
        self._telling = telling
        self._realm = realm
        self.settled = Settled(telling, bench.target, realm, number)
        self.names = Names(telling.steps, self.settled.given, bench.namespace, bench.description)
        self.carried = Carried()

    def send(self) -> Iterator[Pair]:
        """Send the requests one after another; what an answer makes up is carried into those that follow."""
        decisive = {exchange.id for exchange in self._telling.shown}
        for old in self._telling.steps:
            new = self._send(old)
            yield Pair(old, new, old.id in decisive)
            if new.response is not None and old.response is not None:
                self.carried.learn(json_of(old.response.get("body")), new.response.json)
                if new.operation in _MINTING and (identifier := named(new.response)):
                    self._bench.namespace.claim(identifier)

    def translated(self, text: str) -> str:
        """A text of an old answer as the new one would have it."""
        text = self._elsewhere(self.names(self.settled.body(text)))
        return text.replace(json.dumps(self._telling.realm), json.dumps(self._realm))

    def _send(self, old: RecordedExchange) -> Exchange:
        request = old.request
        match = self._bench.description.match(request["method"], path_of(request["url"]))
        if match is None:
            raise UsageError(
                f"{request['method']} {path_of(request['url'])[:80]} is no operation of the interface"
            )
        operation = match[0]
        realm = self._place(old.realm)
        role = old.role if old.role in ROLES else AUTHOR
        url = self._url(request["url"])
        known = self._bench.description.match(request["method"], path_of(url))
        text = text_of(request.get("body"))
        body = request.get("body")
        content = content_of(body, self._body(operation.id, role, text)) if text is not None else None
        actor = self._bench.actor(str(role), realm)
        headers = self._headers(old, str(role), realm)
        return actor.send(
            operation.id,
            path=known[1] if known else match[1],
            query=parse_qsl(urlsplit(url).query, keep_blank_values=True),
            body=content,
            headers=headers,
            address=lambda _: url,
        )

    def _place(self, realm: str) -> str:
        """The realm of an exchange: the one asked for, where it was in the one of the finding."""
        return self._realm if realm == self._telling.realm and realm != ANY_REALM else realm

    def _url(self, old: str) -> str:
        parts = urlsplit(old)
        path = "/".join(self._segment(part) for part in path_of(old).split("/"))
        query = "&".join(self._parameter(part) for part in parts.query.split("&")) if parts.query else ""
        return f"{self._bench.target.base_url.rstrip('/')}{path}" + (f"?{query}" if query else "")

    def _segment(self, raw: str) -> str:
        text = unquote(raw)
        settled = self.settled.values.get(text) or self.carried.segment(text)
        return quote(settled, safe="") if settled != text else self._elsewhere(self.names(raw))

    def _parameter(self, raw: str) -> str:
        name, equals, value = raw.partition("=")
        text = unquote(value)
        if text == self._telling.realm:
            return f"{name}{equals}{quote(self._realm, safe='')}"
        settled = self.settled.values.get(text) or self.carried.segment(text)
        return f"{name}{equals}{quote(settled, safe='') if settled != text else self.names(value)}"

    def _elsewhere(self, text: str) -> str:
        """A text in which records that all runs use again, whose names hold their realm, are those of the new one."""
        old, new = self._telling.realm, self._realm
        if old in (new, ANY_REALM):
            return text
        pattern = rf"({re.escape(KEPT_PREFIX)}[A-Za-z0-9_-]*-){re.escape(old)}(?![\w-])"
        return re.sub(pattern, lambda found: found[1] + new, text)

    def _body(self, operation: str, role: str | None, text: str) -> str:
        text = self._elsewhere(self.names(self.settled.body(text)))
        if operation == "createToken":
            return self._credentials(text, str(role))
        return text.replace(REDACTED, self._bench.actor(str(role), ANY_REALM).token() or "")

    def _credentials(self, text: str, role: str) -> str:
        """A sign-in with the role's own password; with its e-mail too where the recording is another target's."""
        accounts = self._bench.target.accounts
        account = accounts.get(role) or accounts[AUTHOR]
        anywhere = not self._telling.target
        if anywhere or (self._telling.target != self._bench.target.name and REDACTED in text):
            try:
                content = json.loads(text)
            except ValueError:
                return text
            if isinstance(content, dict) and isinstance(content.get("password"), str):
                password = REDACTED if anywhere else content["password"]
                content |= {"email": account.email, "password": password}
                text = json_text(content)
        return text.replace(REDACTED, account.password.reveal())

    def _headers(self, old: RecordedExchange, role: str, realm: str) -> dict[str, str | None]:
        headers: dict[str, str | None] = dict.fromkeys(_DOCUMENTED)
        for name, value in old.request["headers"]:
            lowered = name.lower()
            if lowered in _LEFT_OUT or lowered.startswith(("sec-", ":")):
                continue
            known = next((each for each in _DOCUMENTED if each.lower() == lowered), name)
            headers[known] = realm if known == "Realm" and value == self._telling.realm else value
        template = old.authorization
        if template is None and header_of(old, "Authorization") is not None:
            template = f"Bearer {TOKEN}"
        if template == f"Bearer {TOKEN}" and role != ANONYMOUS:
            del headers["Authorization"]  # the actor's own, which is renewed when it ends
        elif template is not None:
            headers["Authorization"] = self._filled(template, role)
        return headers

    def _filled(self, template: str, role: str) -> str:
        if TOKEN not in template:
            return template
        token = self._bench.actor(AUTHOR if role == ANONYMOUS else role, ANY_REALM).token() or ""
        if f"{TOKEN}{UNKNOWN}" in template:
            raise UsageError("a request held its token in a form that was not kept; run the case instead")
        if f"{TOKEN}{SWAPPED}" in template:
            return template.replace(f"{TOKEN}{SWAPPED}", token.swapcase())
        before, _, after = template.partition(f"{TOKEN}[:")
        if after:
            return before + token[: int(after.rstrip("]") or 0)]
        return template.replace(TOKEN, token)
