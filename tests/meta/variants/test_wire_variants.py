"""Variants on the wire: each differs from the plain sandbox in what its sentence says."""

import http.client
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from contracts.sandbox.variants import http as bodies
from contracts.sandbox.variants import http as wire

Probe = Callable[[Any], Any]


def info(kit: Any) -> Any:
    return kit.ask("GET", kit.draft(kit.saved(), "/info"))


def spelling(kit: Any) -> bool:
    """Whether header names come in capitals; other clients fold them."""
    connection = http.client.HTTPConnection(urlsplit(kit.url).netloc)
    connection.request("GET", "/nothing")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return any(name.isupper() for name, _ in answer.getheaders())


def downloaded(kit: Any) -> tuple[int, bytes]:
    answer = kit.ask("GET", kit.attached(), realm=None)
    return len(answer.history), answer.content


def fetched_from(kit: Any) -> tuple[str | None, bytes]:
    """The host that a file comes from, and the file."""
    answer = kit.ask("GET", kit.attached(), realm=None)
    return urlsplit(answer.url).hostname, answer.content


def sent_on(kit: Any) -> tuple[list[int], int]:
    answer = info(kit)
    return [hop.status_code for hop in answer.history], answer.status_code


DIFFERENCES: dict[str, tuple[Probe, Any]] = {
    "charset": (lambda kit: info(kit).headers["Content-Type"], "Application/JSON; charset=UTF-8"),
    "header-capitals": (spelling, True),
    "headers-furnished": (lambda kit: "Set-Cookie" in info(kit).headers, True),
    "chunked": (lambda kit: info(kit).headers.get("Transfer-Encoding"), "chunked"),
    "gzip": (lambda kit: info(kit).headers.get("Content-Encoding"), "gzip"),
    "connections-closed": (lambda kit: info(kit).headers.get("Connection"), "close"),
    "validators": (lambda kit: info(kit).headers.get("ETag", "").startswith("W/"), True),
    "slow": (lambda kit: info(kit).elapsed.total_seconds() > wire.SLOW_SECONDS, True),
    "extra-members": (lambda kit: info(kit).json().get("apiVersion"), "2.14"),
    "head-204": (lambda kit: kit.ask("HEAD", kit.draft(kit.saved())).status_code, 204),
    "downloads-redirected": (downloaded, (1, b"a note")),
    "downloads-elsewhere": (fetched_from, ("localhost", b"a note")),
    "reads-sent-on": (sent_on, ([308], 200)),
    "deflate": (lambda kit: info(kit).headers.get("Content-Encoding"), "deflate"),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_variant_differs_as_it_says(kit_of: Callable[..., Any], plain: Any, name: str) -> None:
    probe, seen = DIFFERENCES[name]
    assert probe(kit_of(name)) == seen
    assert probe(plain) != seen


def test_a_file_is_not_furnished_with_members(kit_of: Callable[..., Any]) -> None:
    kit = kit_of("extra-members")
    uid = kit.saved()
    number = kit.attach(uid, "data.json", b'{"a":1}').json()["id"]
    path = f"/api/v2013/documents/{uid}/attachments/{number}/data.json"
    assert kit.ask("GET", path, realm=None).content == b'{"a":1}'


def test_wire_variants_stand_in_the_order_of_their_layers(kit_of: Callable[..., Any]) -> None:
    answer = info(kit_of("header-capitals", "chunked", "gzip", "extra-members", "charset"))
    assert answer.headers["Transfer-Encoding"] == "chunked"
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.json()["apiVersion"] == "2.14"


def test_every_variant_is_probed() -> None:
    assert list(DIFFERENCES) == [variant.name for module in (wire, bodies) for variant in module.VARIANTS]
