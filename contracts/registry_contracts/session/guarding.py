"""The guard: replaces documented names by the target's own, prepares a request, and refuses what must never be sent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from registry_contracts.errors import SuiteError
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.session.namespace import Namespace
from registry_contracts.session.pipeline import Request, Stage
from registry_contracts.session.transport import Transport
from registry_contracts.settings.guard import GuardViolation, refuse_request
from registry_contracts.settings.target import Target, WireNames


@dataclass(eq=False, repr=False)
class Guard:
    """Refuses production, addresses outside the target, and writes outside the namespace."""

    below: Stage
    target: Target
    names: WireNames
    namespace: Namespace
    transport: Transport

    def send(self, request: Request) -> Exchange:
        """Send a request in the target's names, if it is allowed."""
        names, written = self.names.without(request.documented), request
        if names:
            url, headers = names.url(request.url, request.operation), names.headers(request.headers)
            request = replace(request, url=url, headers=headers, written=(request.url, request.headers))
        prepared = self.transport.prepare(request)
        refuse_request(request.method, prepared.url or "", prepared.headers, self.target)
        foreign = [name for name in request.identifiers if not self.namespace.owns(name)]
        if request.writes and foreign:
            raise SuiteError(
                f"{request.operation} would write to {foreign[0]!r}, outside the run's namespace"
            )
        exchange = self.below.send(replace(request, prepared=prepared))
        if request is not written and exchange.response is not None:
            given = exchange.request_headers.first("Realm") or ""
            exchange.response = replace(exchange.response, realm_given=given)
        return exchange


def may_follow(target: Target, method: str, url: str) -> bool:
    """Whether a redirect may be followed: to any host (without credentials), but never to production."""
    parts = urlsplit(url)
    try:
        refuse_request(method, url, {}, replace(target, base_url=f"{parts.scheme}://{parts.netloc}"))
    except GuardViolation:
        return False
    return True
