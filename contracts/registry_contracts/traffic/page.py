"""The proxy's page: Swagger UI, whose requests go through the proxy as a chosen role, beside the live verdicts."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
import secrets
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from aiohttp.typedefs import Handler
from multidict import CIMultiDict

from registry_contracts.errors import EnvironmentFault, RegistryContractsError, UsageError
from registry_contracts.evidence.findings import Finding
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.cross_origin import HEADERS
from registry_contracts.interface.description import load_description
from registry_contracts.session.authentication import Token, token_of
from registry_contracts.session.session import secrets_of
from registry_contracts.settings.guard import GuardViolation
from registry_contracts.settings.target import ACCOUNT_ROLES, ANONYMOUS, ANY_REALM, Account, Target, WireNames
from registry_contracts.traffic.handler import OWN, ProxyHandler, names_this_machine, raw_target
from registry_contracts.traffic.redaction import TrafficRedactor
from registry_contracts.traffic.report import BY_HAND, Judged, level_of, side_of

_LARGEST_REQUEST: Final = 16 * 1024**2
_STATIC: Final = Path(__file__).parent / "static"
#: The folder of Swagger UI's files in its distribution.
_SWAGGER: Final = "flask_swagger_ui/dist"
#: Carries the key. Browsers let a page of another origin send it only if this server allows that; it never does.
_KEY_HEADER: Final = "X-Page-Key"
_KEY: Final = "{{key}}"
_SIGN_IN: Final = "createToken"
#: Placeholders for secrets, which the page never gets; the server fills them in before it sends a request.
_TOKEN: Final = re.compile(r"Bearer \$([A-Z]+)_TOKEN")
_PASSWORD: Final = re.compile(r"\$([A-Z]+)_PASSWORD")
#: Headers of the connection to the target, and headers on which a browser would act.
_NOT_SHOWN: Final = frozenset(
    {"content-encoding", "content-length", "location", "refresh", "set-cookie", "www-authenticate"}
)
#: How the identifiers of new records begin in the description's examples.
_EXAMPLE: Final = re.compile(r"\bexample-(?=(draft|contact|record)-)")
_JSON: Final = "application/json"
#: The Accept header that Swagger UI sends by itself.
_ANYTHING: Final = "*/*"
_ABOUT: Final = (
    "Requests go through the proxy to the target, in the role and realm chosen above, and are judged like all others. "
    "`$AUTHOR_TOKEN` and the like are filled in on the way. Created records stay."
)
#: Everything comes from this server; Swagger UI needs inline styles and pictures in data addresses.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
#: The only header added to an answer of the target: browsers must not cache it. No page is made of it, so it needs no
#: policy.
_FRESH: Final = {"Cache-Control": "no-store"}
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    **_FRESH,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
#: Statuses of the page's own answers; 500 for any other error.
_STATUSES: Final = {UsageError: 422, GuardViolation: 403, EnvironmentFault: 502}


def page_application(
    proxy: ProxyHandler, client_url: str, target: Target, since: Callable[[int], list[Judged]]
) -> web.Application:
    """Make the page; serve it on loopback only.

    Args:
        proxy: Sends the page's requests.
        client_url: The proxy's address for other clients.
        since: Returns the exchanges after a number.
    """
    page = _Page(proxy, client_url, target, since)

    @web.middleware
    async def checked(request: web.Request, handler: Handler) -> web.StreamResponse:
        refusal = page.refusal(request)
        response = _own_answer(refusal, 403) if refusal else await _answered(request, handler)
        of_target = request.path.startswith("/api/") and OWN not in response.headers
        response.headers.update(_FRESH if of_target else _HEADERS)
        return response

    application = web.Application(client_max_size=_LARGEST_REQUEST, middlewares=[checked])
    application.add_routes(
        [
            web.get("/", page.index),
            web.static("/static/swagger", str(distribution("flask-swagger-ui").locate_file(_SWAGGER))),
            web.static("/static", _STATIC),
            web.get("/page/start", page.start),
            web.post("/page/sign-in/{role}", page.sign_in),
            web.get("/page/exchanges/{after:[0-9]{1,9}}", page.exchanges),
            web.route("*", "/api/{path:.*}", page.try_out),
        ]
    )
    return application


async def _answered(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except RegistryContractsError as error:
        statuses = (status for kind, status in _STATUSES.items() if isinstance(error, kind))
        return _own_answer(str(error), next(statuses, 500))
    except web.HTTPRequestEntityTooLarge:
        return _own_answer("the request is larger than the page takes; send it with `call`", 413)
    except web.HTTPException as error:
        return _own_answer(f"{error.reason}: {request.path}", error.status)


def _own_answer(line: str, status: int) -> web.Response:
    """Return an answer with one line, marked as the proxy's own."""
    error = {"error": " ".join(line.split())}
    return web.json_response(error, status=status, headers={OWN: "registry-contracts-proxy"})


class _Page:
    def __init__(
        self, proxy: ProxyHandler, client_url: str, target: Target, since: Callable[[int], list[Judged]]
    ) -> None:
        self._proxy = proxy
        self._client_url = client_url
        self._target = target
        self._since = since
        #: New at each start; only the page itself knows it.
        self._key = secrets.token_urlsafe(24)
        self._names = WireNames.of(target)
        self._redactor = TrafficRedactor(secrets_of(target))
        self._tokens: dict[str, Token] = {}
        self._signing_in = asyncio.Lock()

    def refusal(self, request: web.Request) -> str | None:
        """Return the reason to refuse a request: a foreign site or an outdated page; None if it is answered."""
        host, given = request.headers.get("Host", ""), request.headers.get(_KEY_HEADER, "")
        if not names_this_machine(host):
            return "this page answers on 127.0.0.1 and localhost only"
        if request.headers.get("Origin") not in (None, f"{request.scheme}://{host}"):
            return "requests of other sites are refused"
        if request.method == "GET" and (request.path == "/" or request.path.startswith("/static/")):
            return None
        if not hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self._key.encode()):
            return "the page is older than this start of the proxy; load it again"
        return None

    async def index(self, _: web.Request) -> web.Response:
        text = (_STATIC / "index.html").read_text("utf-8")
        return web.Response(text=text.replace(_KEY, self._key), content_type="text/html")

    async def start(self, _: web.Request) -> web.Response:
        """Return the data with which the page begins."""
        missing = {role: self._target.missing(f"account.{role}") for role in ACCOUNT_ROLES}
        return web.json_response(
            {
                "target": f"{self._target.name} ({self._target.base_url})",
                "proxy": self._client_url,
                "realms": self._target.realms,
                "roles": {**missing, ANONYMOUS: None},
                "description": self._description(),
            }
        )

    async def sign_in(self, request: web.Request) -> web.Response:
        """Sign in again as a role, in case its token has expired."""
        role = request.match_info["role"]
        self._tokens.pop(role, None)
        token = await self._token(role)
        return web.json_response({"until": token.expires})

    async def exchanges(self, request: web.Request) -> web.Response:
        """Return the exchanges after a number."""
        rows = [_row(judged) for judged in self._since(int(request.match_info["after"]))]
        return web.json_response(rows)

    async def try_out(self, request: web.Request) -> web.Response:
        """Send a request of Swagger UI through the proxy, and return its answer without secrets."""
        target, content = raw_target(request), await request.read()
        headers = {name: request.headers[name] for name in HEADERS if name in request.headers}
        if headers.get("Accept") == _ANYTHING:
            headers["Accept"] = _JSON
        matched = load_description().match(request.method, target)
        if matched is not None:
            if matched[0].lists_content_type:
                headers.setdefault("Content-Type", _JSON)
            if matched[0].id == _SIGN_IN:
                content = self._with_passwords(content)
            target = self._names.url(target, matched[0].id)
        role = ANONYMOUS if "Authorization" not in headers else ""
        if stand_in := _TOKEN.fullmatch(headers.get("Authorization", "")):
            role = stand_in[1].lower()
            headers["Authorization"] = f"Bearer {(await self._token(role)).value}"
        if content:
            headers["Content-Length"] = str(len(content))
        exchange = await self._proxy.send(
            request.method,
            target,
            [(name, str(value)) for name, value in self._names.headers(headers).items()],
            content,
            role,
        )
        return self._without_secrets(exchange)

    async def _token(self, role: str) -> Token:
        """Return the token of a role; sign in through the proxy if there is no valid one."""
        async with self._signing_in:
            token = self._tokens.get(role)
            if token is None or token.ending:
                token = self._tokens[role] = await self._issued(role)
        return token

    async def _issued(self, role: str) -> Token:
        body = {"email": self._account(role).email, "password": self._account(role).password.reveal()}
        content = json.dumps(body).encode()
        headers = [("Accept", _JSON), ("Content-Type", _JSON), ("Content-Length", str(len(content)))]
        path = load_description().operations[_SIGN_IN].path
        exchange = await self._proxy.send("POST", path, headers, content, role)
        token = token_of(exchange.answer)
        if not token.value:
            raise EnvironmentFault(f"the target gives the {role} no token: {token.refusal}")
        self._redactor.learn(token.value)
        return token

    def _account(self, role: str) -> Account:
        if role not in self._target.accounts:
            raise UsageError(
                f"{self._target.name} has no account of the role {role!r}; add it to the settings"
            )
        return self._target.accounts[role]

    def _with_passwords(self, content: bytes) -> bytes:
        """Fill the accounts' passwords into the body of a sign-in."""
        text = content.decode("utf-8", "surrogateescape")
        filled = _PASSWORD.sub(
            lambda found: json.dumps(self._account(found[1].lower()).password.reveal())[1:-1], text
        )
        return filled.encode("utf-8", "surrogateescape")

    def _without_secrets(self, exchange: Exchange) -> web.Response:
        self._redactor.learn_from(exchange)
        answer = self._redactor.withheld(exchange).answer
        body = answer.body.unpacked(answer.headers.get("Content-Encoding", ""))
        if not body.whole and body.size:
            return _own_answer(
                f"the answer ({answer.status}, {body.size} bytes) is too long for the page", 502
            )
        headers = [
            pair for pair in self._redactor.headers(answer.headers).pairs if pair[0].lower() not in _NOT_SHOWN
        ]
        return web.Response(
            status=answer.status,
            reason=self._redactor.text(answer.reason),
            headers=CIMultiDict(headers),
            body=self._redactor.content(body.content),
        )

    def _description(self) -> dict[str, Any]:
        """Return the description with the proxy as its server, the accounts to sign in, and no chosen realm.

        Its examples have new identifiers each time, so that two people do not write to the same records.
        """
        fresh = _EXAMPLE.sub(f"example-{secrets.token_hex(4)}-", json.dumps(load_description().published))
        description: dict[str, Any] = json.loads(fresh)
        for parameter in description["components"]["parameters"].values():
            if parameter["name"] == "Realm":
                parameter.pop("examples", None)
                parameter["required"] = False
        sign_in = load_description().operations[_SIGN_IN]
        body = description["paths"][sign_in.path]["post"]["requestBody"]["content"][_JSON]
        body["examples"] = {
            role: {"value": {"email": account.email, "password": f"${role.upper()}_PASSWORD"}}
            for role, account in self._target.accounts.items()
        }
        info = {**description["info"], "description": _ABOUT}
        return {
            **description,
            "info": info,
            "servers": [{"url": self._client_url, "description": "The proxy."}],
        }


def _row(judged: Judged) -> dict[str, Any]:
    exchange = judged.exchange
    sender = "own token" if exchange.case == BY_HAND else "client"
    return {
        "number": exchange.number,
        "request": f"{exchange.method} {exchange.url}",
        "operation": exchange.operation or "",
        "realm": "" if exchange.realm == ANY_REALM else exchange.realm,
        "role": exchange.role or (sender if "Authorization" in exchange.request_headers else ANONYMOUS),
        "status": exchange.status,
        "fault": exchange.fault,
        "verdict": judged.verdict,
        "findings": [_finding(finding) for finding in judged.findings],
        "held": judged.held,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    known = load_catalogue()
    return {
        "side": side_of(finding),
        "standing": finding.standing,
        "what": finding.clause,
        "level": level_of(finding),
        "wording": known.clause(finding.clause).wording if finding.clause in known else "",
        "expected": finding.expected,
        "seen": finding.seen,
    }
