"""A tour of an ordinary client through a sandbox in this process: what each request is, and what comes of it."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

from registry_contracts.exchanges.exchange import Body, Exchange, Headers, Response
from registry_contracts.sandbox.faults.fault import ask
from registry_contracts.sandbox.habits import Settings
from registry_contracts.sandbox.serve import altered
from tests.meta.samples import DOCUMENTS, SCHEMAS, TOKEN, contact, credentials, draft_path, record

#: One request of the tour: method, address, body, and what differs from the author's usual request.
Step = tuple[str, str, Any, dict[str, Any]]
_ROLES = ("author", "other", "restricted", "nau")
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


def persist(uid: str, number: int, **how: Any) -> Step:
    temporary = f"sandbox-temporary-abs-dev-{number:02}"
    return step("POST", f"{DOCUMENTS}/{uid}/attachments/persist-temporary/{temporary}", realm=None, **how)


def lists(*queries: str, **how: Any) -> list[Step]:
    return [step("GET", f"{_LISTED}?{query}", **how) for query in queries]


def files(*queries: str, **how: Any) -> list[Step]:
    return [step("GET", f"{_FILES}?{query}", **{"realm": None, **how}) for query in queries]


_DRAFTS = [
    *(save(f"tour-draft-{number:02}", contact(uid=f"tour-draft-{number:02}")) for number in range(12)),
    save("tour-draft-00", {**contact(), "middleName": None}),
    *(step("GET", draft_path("tour-draft-00", rest)) for rest in ("", "/info")),
    step("GET", draft_path("tour-draft-01")),
    *(step("HEAD", draft_path(uid)) for uid in ("tour-draft-00", "tour-absent")),
    step("GET", draft_path("tour-absent", "/info")),
    *(
        step("GET", draft_path(uid))
        for uid in ("tour-absent", "sandbox-foreign-abs-dev", "sandbox-locked-abs-dev")
    ),
    *(step(method, draft_path("tour-draft-11")) for method in ("DELETE", "DELETE", "HEAD", "GET")),
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
    save("tour-draft-09", {}, realm="bch-dev"),
    save("tour-draft-10", {}, role="other"),
    step("GET", draft_path("tour-draft-10", "/info")),
    step("DELETE", draft_path("tour-draft-10"), role="other"),
]
_LISTS = [
    *lists("", "$top=8", "$top=51", "$skip=900", "collection=my", "collection=mydrafts", "collection=yours"),
    *lists("$top=1", "$top=1", "$filter=colour%20eq%20'red'", "$orderby=colour", "$top=-1", "top=1"),
    *lists("", role="restricted"),
    *lists("", realm="unheard"),
    *lists("Realm=abs-dev", realm=None),
    *lists("", accept=None),
    *lists("", accept_encoding="gzip"),
    step("GET", _LISTED.replace("v2013", "v2023")),
    *(step(method, _LISTED) for method in ("PATCH", "HEAD", "OPTIONS")),
    step("GET", "/API/V2013/Document-Drafts"),
]
_ATTACHED = [
    *(attach(name) for name in ("note.txt", "note.txt", "a%20note.txt")),
    attach("note.txt", "tour-draft-01"),
    attach("empty.txt", content=b""),
    attach("tool.exe"),
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
    *(step(method, f"{_FILES}/3/a%20note.txt", realm=None) for method in ("HEAD", "GET")),
    *(
        step("GET", f"{DOCUMENTS}/tour-draft-02/attachments{file}", realm=None)
        for file in ("", "/3/a%20note.txt")
    ),
    step("GET", f"{DOCUMENTS}/tour-draft-01/attachments/4/note.txt", realm=None),
    *(persist("tour-draft-00", 1) for _ in range(2)),
    persist("sandbox-foreign-abs-dev", 2, role="other"),
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
    post(contact(organization="Office")),
    post(contact(country={})),
    post(contact(country=None)),
    post(contact(header={"languages": ["fr"]})),
    step("POST", DOCUMENTS, contact()),
    post(contact(country={"identifier": "xx"})),
    post({name: value for name, value in contact().items() if name != "firstName"}),
    post({}),
    post(contact(emails=7)),
]
_SUBMITTED = [
    submit("POST", how={"role": None}),
    submit("POST", how={"role": None, "realm": None}),
    submit("POST", "tour-record-1"),
    submit("POST", "tour-record-1"),
    submit("PUT", "tour-record-1"),
    submit("POST", "tour-record-2", batchId="one"),
    submit("PUT", "tour-record-2"),
    submit("POST", document={**record(), "header": {"identifier": "tour-record-3"}}),
    submit("POST", "tour-record-4", document={}),
    submit("POST", "tour-record-4"),
    submit("POST", "tour-record-5", note=1, additionalInfo=""),
    submit("POST", "tour-record-6", {"role": "nau"}, additionalInfo=7),
    submit("POST", "tour-record-7", {"realm": "ABS-Dev"}),
    *(submit("POST", "tour-record-8", batchId=text) for text in ("x" * 101, "\U0001f4dc" * 60)),
    submit("POST", "tour-record-1", {"role": "restricted"}),
    submit("POST", "tour-record-9", {"role": "restricted"}, document={}),
    step("POST", f"{_PERMITS}?Realm=abs-dev", {"document": record()}, realm="bch-dev"),
    step("POST", f"{_PERMITS}/", {"document": record()}),
    *(submit(method, "sandbox-locked-abs-dev") for method in ("POST", "PUT")),
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


async def requested(
    variants: tuple[str, ...] = (), *, faults: tuple[str, ...] = (), short: bool = False
) -> AsyncIterator[Exchange]:
    """Take the tour, or its first part, on a sandbox of its own, and yield each exchange."""
    app = altered(Settings(variants=variants, faults=faults))
    signing_in = [step("POST", TOKEN, credentials(role), role=None, realm=None) for role in _ROLES]
    parts = (*signing_in, *_DRAFTS, *_ATTACHED, *_CONTENTS)
    parts += () if short else (*_LISTS, *_SUBMITTED, *_SIGNED_IN)
    async with app.router.lifespan_context(app):
        tokens: dict[str, str] = {}
        for number, one in enumerate(parts, start=1):
            exchange = await _sent(app, tokens, one, number)
            if number <= len(_ROLES):
                tokens[_ROLES[number - 1]] = json.loads(exchange.answer.content)["authenticationToken"]
            yield exchange


def exchanges(*variants: str, **more: Any) -> list[Exchange]:
    """All exchanges of a tour."""

    async def all_of_it() -> list[Exchange]:
        return [exchange async for exchange in requested(variants, **more)]

    return asyncio.run(all_of_it())


async def _sent(app: Any, tokens: dict[str, str], one: Step, number: int) -> Exchange:
    method, address, body, how = one
    usual = {"accept": "application/json", "content_type": "application/json"}
    headers = {**usual, "realm": "abs-dev", "role": "author", "authorization": "Bearer", **how}
    role, scheme = headers.pop("role"), headers.pop("authorization")
    if role is not None:
        headers["authorization"] = f"{scheme} {tokens[role]}"
    content = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
    headers["content_length"] = str(len(content))
    given = [(name.replace("_", "-"), value) for name, value in headers.items() if value is not None]
    path, _, query = address.partition("?")
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given],
        "server": ("registry.test", 80),
        "client": ("tour", 1),
        "root_path": "",
    }
    began = datetime.now(UTC)
    answer = await ask(app, scope, content)
    told = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.headers]
    told.append(("Date", format_datetime(began, usegmt=True)))  # as a server adds it
    known = Body.of(answer.body) if method != "HEAD" else Body()
    return Exchange(
        id=f"entry {number}",
        number=number,
        started=began,
        seconds=(datetime.now(UTC) - began).total_seconds(),
        method=method,
        url=f"http://registry.test{address}",
        request_headers=Headers(given),
        request_body=Body.of(content),
        response=Response(answer.status, "", Headers(told), known),
    )
