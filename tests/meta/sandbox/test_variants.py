"""Variants: each changes what a tour of the service shows; they are chosen by name, and several go together.

That a variant obeys the document all the same is shown by the proof, which runs the gate over it.
"""

import asyncio
import re
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest

from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.sandbox.habits import Habits
from registry_contracts.sandbox.variants import ALL
from registry_contracts.sandbox.variants.wire import SLOW_SECONDS
from tests.meta.client_tour import exchanges, requested
from tests.meta.program import eventually
from tests.meta.samples import SCHEMAS, draft_path, record
from tests.meta.sandbox_client import new_uid

_LISTED = "/api/v2013/document-drafts"
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[0-9:.]+")
_MINTED = re.compile(r"\b[0-9a-f]{24}\b")


class Shown:
    """What is shown in answer to the requests of a tour, without what differs from run to run."""

    def __init__(self) -> None:
        self._tokens: set[str] = set()

    def __call__(self, exchange: Exchange) -> tuple[Any, ...]:
        """What is shown in answer to the next one."""
        answer = exchange.answer
        text = answer.content.decode("latin-1")
        if issued := re.search(r'authenticationToken":"(?P<token>[^"]+)","expiration":"(?P<at>[^"]+)', text):
            begun = exchange.started or datetime.now(UTC)
            seconds = int((datetime.fromisoformat(issued["at"]) - begun).total_seconds())
            text = f"a token {len(issued['token'])} {issued['token'] in self._tokens} {len(str(seconds))}"
            self._tokens.add(issued["token"])
        text = _MOMENT.sub(lambda moment: re.sub(r"\d", "0", moment[0]), text)
        names = sorted(answer.headers)
        return answer.status, names, answer.headers.first("Content-Type"), _MINTED.sub("ID", text)


@cache
def usual_tour() -> list[tuple[Any, ...]]:
    return [*map(Shown(), exchanges())]


def first_difference(*variants: str) -> str:
    """The first request of the tour that is answered otherwise than without these; empty when there is none."""
    usual, shown = iter(usual_tour()), Shown()

    async def compared() -> str:
        async for exchange in requested(variants):
            if shown(exchange) != next(usual):
                return f"{exchange.number} {exchange.method} {exchange.url}"
        return ""

    return asyncio.run(compared())


@pytest.mark.parametrize("name", [name for name in ALL if name not in ("slow", "locks-brief")])
def test_a_variant_changes_what_a_tour_of_the_service_shows(name: str) -> None:
    assert first_difference(name)


def test_each_habit_is_turned_by_a_variant() -> None:
    turned = {name for variant in ALL.values() for name in variant.habits}
    assert {field.name for field in fields(Habits)} == turned


def test_two_tours_of_the_faithful_service_show_the_same() -> None:
    assert first_difference() == ""


def test_a_slow_variant_answers_late(client_of: Callable[..., Any]) -> None:
    assert client_of("slow").get(_LISTED).elapsed.total_seconds() > SLOW_SECONDS


@pytest.mark.parametrize(
    ("name", "owner"),
    [("drafts-shared", "author"), ("drafts-passed-on", "other"), ("drafts-of-both", "author other")],
)
def test_who_owns_a_draft_that_two_saved(client_of: Callable[..., Any], name: str, owner: str) -> None:
    client, uid = client_of(name), new_uid()
    assert client.save(uid).ok
    client.sign_in("other")
    assert client.save(uid).ok
    assert client.get(draft_path(uid, "/info")).json()["owner"] == owner
    own = client.get(_LISTED, params={"collection": "my", "$filter": f"identifier eq '{uid}'"}).json()
    assert bool(own) is client.delete(draft_path(uid)).ok is ("other" in owner)


def test_a_brief_lock_ends(client_of: Callable[..., Any]) -> None:
    client, address = client_of("locks-brief"), f"{SCHEMAS}/absPermit/{new_uid()}"
    assert client.post(address, json={"document": record()}).ok
    assert "locked" in client.put(address, json={"document": record()}).text
    assert eventually(lambda: client.put(address, json={"document": record()}).ok)
