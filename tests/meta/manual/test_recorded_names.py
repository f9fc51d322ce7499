"""Names of a client's own: what they stand for shows in its requests, and a name that is not sure is only told."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from contracts.exchanges.har import read_entry
from contracts.manual.settings_writer import RecordedSettings, learn
from contracts.settings.settings_reader import read_target
from tests.meta.manual.sample_traffic import SITE, TOKEN, entry
from tests.meta.program import RunCommand

DRAFTS = f"{SITE}/api/v2013/document-drafts"
ATTACHMENTS = f"{SITE}/api/v2013/documents/a-record-of-mine/attachments"
PERMITS = f"{SITE}/api/v2023/documents/schemas/permit"
SIGNED = [{"name": "Authorization", "value": f"Bearer {TOKEN}"}]


def learned(*entries: dict[str, Any]) -> RecordedSettings:
    exchanges = [read_entry(number, each) for number, each in enumerate(entries, 1)]
    return learn(exchange for exchange in exchanges if exchange is not None)


def listing(query: str, items: int = 1, **more: Any) -> dict[str, Any]:
    return entry("GET", f"{DRAFTS}?{query}", answer=json.dumps([{"identifier": "a"}] * items), **more)


@pytest.mark.parametrize(
    ("sent", "query"),
    [
        (listing("limit=1&offset=1"), {"$top": "limit", "$skip": "offset"}),
        (listing("page_size=5&startIndex=0"), {"$top": "page_size", "$skip": "startIndex"}),
        (listing("top=5&orderBy=title%20desc"), {"$top": "top", "$orderby": "orderBy"}),
        (listing("where=title%20eq%20%27a%27"), {"$filter": "where"}),
        (listing("which=mydrafts"), {"collection": "which"}),
        (entry("GET", f"{ATTACHMENTS}?$top=2&$skip=1", answer="[]"), {"top": "$top", "skip": "$skip"}),
        (entry("POST", f"{SITE}/api/v2013/documents?type=contact", 201, sent="{}"), {"schema": "type"}),
        (
            entry("POST", f"{PERMITS}?tenant=abs-dev", 201, sent='{"document": {}}', headers=SIGNED),
            {"Realm": "tenant"},
        ),
    ],
    ids=lambda value: "" if isinstance(value, dict) and "request" in value else ",".join(value),
)
def test_a_parameter_of_another_name_is_learned(sent: dict[str, Any], query: dict[str, str]) -> None:
    assert learned(sent).names.query == query


@pytest.mark.parametrize(
    "sent",
    [
        [listing("limit=1", items=3)],
        [listing("limit=all")],
        [listing("sort=-created")],
        [listing("q=palm")],
        [listing("limit=1") | {"response": {"status": 400, "content": {}}}],
        [listing("limit=1"), listing("$top=1")],
        [listing("$top=1&limit=1")],
        [entry("POST", f"{PERMITS}?tenant=elsewhere", 201, sent="{}")],
    ],
    ids=[
        "more items than that",
        "no number",
        "no OData order",
        "no OData filter",
        "refused",
        "documented elsewhere",
        "beside the documented one",
        "no realm",
    ],
)
def test_a_name_that_is_not_sure_is_not_taken(sent: list[dict[str, Any]]) -> None:
    assert learned(*sent).names.query == {}


@pytest.mark.parametrize(
    ("sent", "collections"),
    [
        ("collection=mine", {"my": "mine"}),
        ("collection=my-drafts", {"mydrafts": "my-drafts"}),
        ("box=own", {"my": "own"}),
        ("collection=my", {}),
        ("collection=shared", {}),
    ],
)
def test_collections_of_other_names_are_learned(sent: str, collections: dict[str, str]) -> None:
    assert learned(listing(sent)).names.collections == collections


def test_settings_behind_names_of_its_own_are_learned_too(command: RunCommand, tmp_path: Path) -> None:
    update = f"{PERMITS}/a-record-of-mine?realm=ABS-DEV"
    contact = f"{SITE}/api/v2013/documents?type=contact"
    entries = [
        entry("PUT", update, 200, sent='{"document": {"title": {}}}', headers=SIGNED),
        entry("POST", contact, 201, sent='{"country": {"identifier": "ke"}}'),
        listing("collection=mine&limit=1"),
    ]
    archive = tmp_path / "traffic.har"
    archive.write_text(json.dumps({"log": {"entries": entries}}), "utf-8")
    ended = command("init", "dev", "--from-har", archive, "--no-look")
    assert ended.code == 0, ended
    assert '$top was sent as "limit"' in ended.out
    path = tmp_path / "targets" / "dev.toml"
    realm = tomllib.loads(path.read_text("utf-8"))["realm"]["abs-dev"]
    assert (realm["workflow_schema"], realm["contact_schema"]) == ("permit", "contact")
    assert realm["existing_identifier"] == "a-record-of-mine"
    names = read_target(path, {"REGISTRY_EMAIL": "a@b.test", "REGISTRY_PASSWORD": "p"}, "dev.toml").names
    assert names.query == {"Realm": "realm", "schema": "type", "$top": "limit"}
    assert names.collections == {"my": "mine"}


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
