"""Variants: each changes what a tour of the service shows; they are chosen by name, and several go together.

That a variant obeys the document all the same is shown by the proof, which runs the gate over it.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import fields
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest

from contracts.sandbox.faults.fault import ask
from contracts.sandbox.habits import Habits, Settings
from contracts.sandbox.serve import USAGE_ERROR, altered, main
from contracts.sandbox.variants import ALL, chosen, help_text
from contracts.sandbox.variants.wire import SLOW_SECONDS
from tests.meta.samples import (
    CONTACT_SCHEMA,
    DOCUMENTS,
    SCHEMAS,
    TOKEN,
    contact,
    credentials,
    draft_path,
    record,
)
from tests.meta.sandbox_client import SandboxClient, new_uid

#: One request of the tour: method, address, body, and what differs from the author's usual request.
Step = tuple[str, str, Any, dict[str, Any]]
_ROLES = ("author", "other", "restricted", "nau")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[0-9:.]+")
_MINTED = re.compile(r"\b[0-9a-f]{24}\b")
_LISTED = "/api/v2013/document-drafts"
_PERMITS = f"{SCHEMAS}/absPermit"
_CONTACTS = f"{DOCUMENTS}?schema=contact"
_FILES = f"{DOCUMENTS}/tour-draft-00/attachments"
_HALF = b'{"odd": "a\\ud800b"}'


def step(method: str, address: str, body: Any = None, **how: Any) -> Step:
    return method, address, body, how


def save(uid: str, body: Any, schema: str = "?schema=contact", **how: Any) -> Step:
    return step("PUT", draft_path(uid, schema), body, **how)


def post(body: Any, **how: Any) -> Step:
    return step("POST", _CONTACTS, body, **how)


def update(uid: str, body: Any, **how: Any) -> Step:
    return step("PUT", f"{DOCUMENTS}/{uid}?schema=contact", body, **how)


def submit(method: str, uid: str = "", how: dict[str, Any] | None = None, **members: Any) -> Step:
    address = f"{_PERMITS}/{uid}" if uid else _PERMITS
    return step(method, address, {"document": record(), **members}, **(how or {}))


def attach(name: str, uid: str = "tour-draft-00", content: bytes = b"a note", **how: Any) -> Step:
    return step("POST", f"{DOCUMENTS}/{uid}/attachments/{name}", content, realm=None, **how)


def lists(*queries: str, **how: Any) -> list[Step]:
    return [step("GET", f"{_LISTED}?{query}", **how) for query in queries]


def files(*queries: str, **how: Any) -> list[Step]:
    return [step("GET", f"{_FILES}?{query}", **{"realm": None, **how}) for query in queries]


_DRAFTS = [
    *(save(f"tour-draft-{number:02}", contact(uid=f"tour-draft-{number:02}")) for number in range(12)),
    save("tour-draft-00", {**contact(), "middleName": None}),
    *(step("GET", draft_path("tour-draft-00", rest)) for rest in ("", "/info")),
    *(step("HEAD", draft_path(uid)) for uid in ("tour-draft-00", "tour-absent")),
    *(
        step("GET", draft_path(uid))
        for uid in ("tour-absent", "sandbox-foreign-abs-dev", "sandbox-locked-abs-dev")
    ),
    *(step("DELETE", draft_path(uid)) for uid in ("tour-draft-11", "tour-draft-11")),
    *(
        save("tour-saved-01", body)
        for body in ({"colour": "red"}, b"[1]", _HALF, b'\xef\xbb\xbf{"a": 1, "a": 2}')
    ),
    save("tour-saved-02", {"header": {"schema": "absPermit"}}),
    save("tour-saved-02", {}, "?schema=unheard"),
    save("sandbox-published-abs-dev", {}),
    save("sandbox-locked-abs-dev", {}, "?schema=absPermit"),
    *(save("tour-in-realms", {}, realm=realm) for realm in (None, "unheard", "ort-dev")),
    *(save("tour-saved-03", b"{}", content_type=kind) for kind in (None, "text/plain")),
    save("tour-saved-04", {}, accept="text/plain"),
]
_LISTS = [
    *lists("", "$top=8", "$top=51", "$skip=900", "collection=my", "collection=mydrafts", "collection=yours"),
    *lists(
        "$top=1", "$top=1", "$filter=colour%20eq%20'red'", "$orderby=colour", "$top=-1", "top=1", "what=1"
    ),
    *lists("", role="restricted"),
    *lists("", realm="unheard"),
    *lists("Realm=abs-dev", realm=None),
    *lists("", accept=None),
    *lists("", accept_encoding="gzip"),
    step("GET", _LISTED.replace("v2013", "v2023")),
    step("PATCH", _LISTED),
]
_ATTACHED = [
    *(attach(name) for name in ("note.txt", "note.txt", "a%20note.txt")),
    attach("note.txt", "tour-draft-01"),
    attach("empty.txt", content=b""),
    attach("data.json", content_type="application/json"),
    *(attach("note.txt", uid) for uid in ("tour-absent", "sandbox-foreign-abs-dev")),
    *files("", "$top=1", "top=1"),
    *files("", realm="unheard"),
    step("GET", f"{DOCUMENTS}/sandbox-foreign-abs-dev/attachments", realm=None),
    *(
        step("GET", f"{_FILES}/1/{name}", realm=None)
        for name in ("note.txt", "other.txt", "note.txt/thumbnail")
    ),
    step("GET", f"{_FILES}/1/note.txt", realm=None, role=None),
    *(step("POST", f"{_FILES}/persist-temporary/sandbox-temporary-abs-dev-01", realm=None) for _ in range(2)),
]
_FIELDS: dict[str, Any] = {
    "contactOrganization": {"identifier": "nobody-knows-it"},
    "country": {"identifier": "ke", "name": "Kenya"},
    "organization": {"sw": "Ofisi"},
    "firstName": 7,
    "lastName": "",
    "middleName": None,
    "phones": {},
    "emails": ["nobody"],
    "header": {"schema": "contact"},
    "colour": "red",
}
_CONTENTS = [
    post(contact(uid="tour-contact-1")),
    post(contact(uid="tour-contact-1")),
    post(contact()),
    post(contact(), role="restricted"),
    step("POST", f"{_CONTACTS}&uid=tour-contact-2", contact()),
    post({**contact(uid="tour-contact-3"), "country": {"identifier": 1}}),
    post(contact(uid="tour-contact-3")),
    step("GET", draft_path("tour-contact-1")),
    update("tour-contact-1", contact(uid="tour-quite-another")),
    update("tour-contact-1", contact(), role="other"),
    update("tour-contact-4", contact()),
    *(post(contact(**{name: value})) for name, value in _FIELDS.items()),
    post(contact(organization={})),
    post(contact(country={"identifier": "xx"})),
    post({}),
    post(contact(emails=7)),
]
_MEMBERS: list[dict[str, Any]] = [
    {"note": 1},
    {"additionalInfo": "please"},
    {"additionalInfo": ""},
    {"batchId": None},
]
_SUBMITTED = [
    submit("POST", how={"role": None}),
    submit("POST", how={"role": None, "realm": None}),
    submit("POST", "tour-record-1"),
    submit("PUT", "tour-record-1"),
    submit("POST", "tour-record-2", batchId="one"),
    submit("PUT", "tour-record-2"),
    submit("POST", document={**record(), "header": {"identifier": "tour-record-3"}}),
    submit("POST", "tour-record-4", document={}),
    submit("POST", "tour-record-4"),
    *(submit("POST", f"tour-record-5{number}", **members) for number, members in enumerate(_MEMBERS)),
    submit("POST", "tour-record-6", {"role": "nau"}, additionalInfo=7),
    submit("POST", "tour-record-7", {"realm": "ABS-Dev"}),
    step("POST", f"{_PERMITS}?Realm=abs-dev", {"document": record()}, realm="bch-dev"),
    step("POST", f"{_PERMITS}/", {"document": record()}),
    step("POST", f"{SCHEMAS}/unheard", {"document": record()}),
    submit("POST", "sandbox-locked-abs-dev"),
    *(submit("PUT", uid) for uid in ("tour-draft-05", "sandbox-foreign-abs-dev")),
]
_SIGNED_IN = [
    *(
        step("POST", TOKEN, {**credentials("author"), **changes}, role=None, realm=None)
        for changes in (
            {},
            {"email": "Author@Sandbox.test"},
            {"email": "nobody"},
            {"password": "x"},
            {"more": 1},
        )
    ),
    *(step("GET", _LISTED, authorization=scheme) for scheme in ("Bearer", "bearer", "Token")),
    step("GET", _LISTED, content_type=None),
]


async def toured(*variants: str, **habits: Any) -> AsyncIterator[tuple[str, Any]]:
    """Yield each request of the tour with what is shown in answer, without what differs from run to run."""
    app = altered(Settings(variants=variants, habits=tuple(habits.items())))
    async with app.router.lifespan_context(app):
        tokens: dict[str, str] = {}
        for role in _ROLES:
            answer = await sent(app, tokens, step("POST", TOKEN, credentials(role), role=None, realm=None))
            tokens[role] = answer.json["authenticationToken"]
            expires = datetime.fromisoformat(answer.json["expiration"])
            yield f"sign in {role}", (len(tokens[role]), (expires - datetime.now(UTC)).total_seconds() > 60)
        for number, one in enumerate((*_DRAFTS, *_LISTS, *_ATTACHED, *_CONTENTS, *_SUBMITTED, *_SIGNED_IN)):
            answer = await sent(app, tokens, one)
            named = dict(answer.headers)
            text = _MOMENT.sub(lambda moment: re.sub(r"\d", "0", moment[0]), answer.body.decode("latin-1"))
            text = _MINTED.sub("ID", text)
            issued = re.search(r'authenticationToken":"([^"]+)', text)
            if issued:
                text = f"a token, the one in use: {issued[1] == tokens['author']}"
            yield (
                f"{number} {one[0]} {one[1]}",
                (answer.status, sorted(named), named.get(b"content-type"), text),
            )


async def sent(app: Any, tokens: dict[str, str], one: Step) -> Any:
    method, address, body, how = one
    usual = {"accept": "application/json", "content_type": "application/json"}
    headers = {**usual, "realm": "abs-dev", "role": "author", "authorization": "Bearer", **how}
    role, scheme = headers.pop("role"), headers.pop("authorization")
    if role is not None:
        headers["authorization"] = f"{scheme} {tokens[role]}"
    content = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
    headers["content_length"] = str(len(content))
    path, _, query = address.partition("?")
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [
            (name.replace("_", "-").encode(), value.encode())
            for name, value in headers.items()
            if value is not None
        ],
        "server": ("tour", 80),
        "client": ("tour", 1),
        "root_path": "",
    }
    return await ask(app, scope, content)


@cache
def usual_tour(*variants: str) -> list[tuple[str, Any]]:
    async def all_of_it() -> list[tuple[str, Any]]:
        return [noted async for noted in toured(*variants)]

    return asyncio.run(all_of_it())


def first_difference(*variants: str, beside: tuple[str, ...] = (), **habits: Any) -> str:
    """The first request of the tour that is answered otherwise than without these; empty when there is none."""

    async def compared(usual: Iterator[tuple[str, Any]]) -> str:
        async for request, shown in toured(*beside, *variants, **habits):
            if (request, shown) != next(usual):
                return request
        return ""

    return asyncio.run(compared(iter(usual_tour(*beside))))


@pytest.mark.parametrize("name", [name for name in ALL if name != "slow"])
def test_a_variant_changes_what_a_tour_of_the_service_shows(name: str) -> None:
    assert first_difference(name)


#: Habits that no variant turns: another value of each, and a variant without which it does not show.
_FURTHER: dict[str, tuple[Any, tuple[str, ...]]] = {
    "draft_member": ("content", ()),
    "error_member": ("error", ()),
    "status_member": (None, ()),
    "message_member": ("text", ()),
    "default_realm": ("bch-dev", ("realm-optional",)),
    "thumbnail_pixels": (20, ()),
    "list_default_top": (3, ()),
}


def test_each_habit_is_turned_by_a_variant_or_changes_what_the_tour_shows() -> None:
    turned = {name for variant in ALL.values() for name in variant.habits}
    assert {field.name for field in fields(Habits)} == turned | _FURTHER.keys()
    for name, (value, beside) in _FURTHER.items():
        assert first_difference(beside=beside, **{name: value}), name


def test_two_tours_of_the_faithful_service_show_the_same() -> None:
    assert first_difference() == ""


def test_a_slow_variant_answers_late(client_of: Callable[..., SandboxClient]) -> None:
    assert client_of("slow").get(_LISTED).elapsed.total_seconds() > SLOW_SECONDS


def test_half_of_a_surrogate_pair_comes_back_as_json_in_utf_8(client_of: Callable[..., Any]) -> None:
    client = client_of("half-pairs-kept", "draft-content-answered", "list-with-documents")
    uid = new_uid()
    headers = {"Content-Type": "application/json"}
    saved = client.put(draft_path(uid), params=CONTACT_SCHEMA, data=_HALF, headers=headers)
    for answer in (saved, client.get(draft_path(uid)), client.drafts(filter=f"identifier eq '{uid}'")):
        assert "\\ud800" in answer.content.decode("utf-8", "strict")
        assert answer.ok
    assert client.post(DOCUMENTS, params=CONTACT_SCHEMA, data=_HALF, headers=headers).status_code == 400


def test_each_sentence_is_one_sentence_of_its_own() -> None:
    sentences = [variant.sentence for variant in ALL.values()]
    assert len(set(sentences)) == len(sentences)
    assert all(sentence.endswith(".") for sentence in sentences)


def test_the_list_shows_every_variant(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--variant", "list"]) == 0
    shown = capsys.readouterr().out
    assert shown == help_text()
    assert all(f"  {name}\n" in shown for name in ALL)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("list-item", "did you mean 'list-items'?"), ("xyzzy", "--variant list shows them all")],
)
def test_an_unknown_name_is_one_line_with_a_suggestion(
    capsys: pytest.CaptureFixture[str], name: str, hint: str
) -> None:
    assert main(["--port", "0", "--variant", name]) == USAGE_ERROR
    assert capsys.readouterr().err == f"sandbox: unknown variant '{name}'; {hint}\n"


def test_the_later_variant_counts_where_two_change_one_habit() -> None:
    assert chosen(["errors-422", "errors-200"]).habits["validation_status"] == 200
    service = altered(Settings(variants=("errors-200",), habits=(("validation_status", 422),))).state.service
    service.close()
    assert service.habits == Habits(validation_status=422)
