"""Names of a client's own: what they stand for shows in its requests, and a name that is not sure is only told."""

import json
from typing import Any

import pytest

from contracts.exchanges.har import read_entry
from contracts.manual.settings_writer import RecordedSettings, learn
from tests.meta.manual.sample_traffic import SITE, TOKEN, entry

DRAFTS = f"{SITE}/api/v2013/document-drafts"
SIGNED = [{"name": "Authorization", "value": f"Bearer {TOKEN}"}]


def learned(*entries: dict[str, Any]) -> RecordedSettings:
    exchanges = [read_entry(number, each) for number, each in enumerate(entries, 1)]
    return learn(exchange for exchange in exchanges if exchange is not None)


def listing(query: str, items: int = 1, **more: Any) -> dict[str, Any]:
    return entry("GET", f"{DRAFTS}?{query}", answer=json.dumps([{"identifier": "a"}] * items), **more)


@pytest.mark.parametrize(
    "sent",
    [
        listing("$top=1", headers=[*SIGNED, {"name": "X-Tenant", "value": "ABS"}]),
        listing("$top=1&tenant=bch", headers=SIGNED),
    ],
    ids=["in a header", "in the query"],
)
def test_production_is_seen_wherever_its_realm_travels(sent: dict[str, Any]) -> None:
    elsewhere = entry("GET", "https://two.example/api/v2013/document-drafts")
    found = learned(sent, elsewhere)
    assert found.production
    assert SITE not in "".join(found.notes)


@pytest.mark.parametrize(
    ("value", "scheme", "told"),
    [
        (f"Ticket {TOKEN}", "Ticket", "scheme 'Ticket'"),
        (f"bearer {TOKEN}", None, ""),
        (TOKEN, None, "token alone, without a scheme"),
        ("[REDACTED]", None, ""),
        (None, None, "without an Authorization header"),
    ],
)
def test_how_a_token_is_sent_is_learned_and_the_token_never_told(
    value: str | None, scheme: str | None, told: str
) -> None:
    headers = [{"name": "Realm", "value": "abs-dev"}]
    headers += [{"name": "Authorization", "value": value}] if value else []
    found = learned(listing("$top=1", headers=headers))
    assert found.names.scheme == scheme
    notes = "; ".join(found.notes)
    assert told in notes
    assert "Authorization" not in notes or told
    assert TOKEN not in notes


@pytest.mark.parametrize(("name", "setting"), [("Realm", None), ("X-Tenant", "X-Tenant")])
def test_where_the_realm_travels_is_learned_and_what_a_name_stands_for_is_not_guessed(
    name: str, setting: str | None
) -> None:
    seen = learned(listing("limit=1", headers=[*SIGNED, {"name": name, "value": "abs-dev"}]))
    notes = "; ".join(seen.notes)
    assert f"the realm travels in the header {name} (1 request)" in notes
    assert "'limit' (request 1) is no name of the document" in notes
    assert (seen.names.query, seen.names.realm_header, [*seen.realms]) == ({}, setting, ["abs-dev"])
