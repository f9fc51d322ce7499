"""Shows that a fault can be observed at the interface: the same tour of plain requests, with the fault and without.

The tour is no case and judges nothing: it is built from the description's operations, fields and limits, and a fault
that changes none of its answers is not counted among those that a gate has to find.
"""

from __future__ import annotations

import asyncio
import json
import re
import tomllib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from starlette.types import ASGIApp

from contracts.interface.description import load_description
from contracts.sandbox.faults.fault import Answer, Fault, ask
from contracts.sandbox.faults.samples import CONTACT_FIELDS_SAMPLES
from contracts.sandbox.faults.uid import INVALID_CLASSES, VALID_CLASSES
from contracts.sandbox.habits import Settings
from contracts.sandbox.service import create_app

_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?")
_MINTED: Final = re.compile(r"\b[0-9a-f]{24}\b|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b")
_V2013: Final = "/api/v2013"
_V2023: Final = "/api/v2023/documents/schemas"
_UNKNOWN_TOKEN: Final = "Bearer " + "0" * 40
_SMALL_LIMIT: Final = 65_536 * 2

#: A document whose values are what services tend to spoil.
RICH: Final[dict[str, Any]] = {
    "zero": 0,
    "fraction": 37.25,
    "negative": -4,
    "large": 2**53 + 1,
    "false": False,
    "true": True,
    "null": None,
    "empty": "",
    "none": [],
    "blank": {},
    "digits": "0042",
    "spaces": "  two  spaces ",
    "markup": "<b>bold</b> & 'quoted' \"twice\" &amp; back\\slash",
    "lines": "one\r\ntwo\nthree\ttab",
    "scripts": "Éé e\u0301 日本 \U0001f33f Ω",
    "mixed": "first Capital",
    "array": [3, 1, 1, 2],
    "single": ["one"],
    "many": [str(number) for number in range(30)],
    "with.dot": 1,
    "$with": 2,
    "with space": 3,
    "_with": 4,
    "Capital": 5,
    "deep": {"a": {"b": {"c": {"d": [1]}}}},
    "t60": "x" * 60,
    "t300": "x" * 300,
    "t5000": "x" * 5000,
    "t135000": "x" * 135_000,
}
FILES: Final[Mapping[str, bytes]] = {
    f"note.{suffix}": b"\xef\xbb\xbfone\r\ntwo\nthree\0\xe9 end \n" + bytes(range(256)) * 300
    for suffix in ("txt", "json", "xml", "csv", "html", "pdf", "bin")
}


@dataclass
class Tour:
    """One tour of requests through an application.

    Attributes:
        answers: What came of each request, in order, without what differs from run to run.
    """

    app: ASGIApp
    realm: str
    answers: list[tuple[str, int, str]] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict)

    async def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        role: str | None = "author",
        realm: str | None = "",
        content_type: bool = True,
    ) -> Answer:
        """Send one request and note its answer; a role may be an account's, or a whole Authorization header."""
        raw, _, query = path.partition("?")
        headers = [(b"accept", b"application/json")]
        headers += [(b"content-type", b"application/json")] * content_type
        if role is not None:
            value = role if " " in role else f"Bearer {self.tokens[role]}"
            headers.append((b"authorization", value.encode()))
        if realm is not None:
            headers.append((b"realm", (realm or self.realm).encode()))
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": raw,
            "raw_path": raw.encode(),
            "query_string": query.encode(),
            "headers": [*headers, (b"content-length", str(len(body or b"")).encode())],
            "server": ("witness", 80),
            "client": ("witness", 1),
            "root_path": "",
        }
        answer = await ask(self.app, scope, body or b"")
        # A server sends no content behind the answer to HEAD.
        shown = "" if method == "HEAD" else self._plain(answer)
        self.answers.append((f"{method} {raw}", answer.status, shown))
        return answer

    async def send_json(self, method: str, path: str, value: Any, **how: Any) -> Answer:
        """Send one request with a JSON body."""
        return await self.send(method, path, json.dumps(value).encode(), **how)

    def _plain(self, answer: Answer) -> str:
        text = answer.body.decode("latin-1")
        for token in self.tokens.values():
            text = text.replace(token, "TOKEN")
        return _MINTED.sub("ID", _MOMENT.sub("MOMENT", re.sub(r'Token":"[^"]*"', 'Token":"…"', text)))

    async def sign_in(self) -> None:
        """Get a token for each account, and none for wrong credentials."""
        path = f"{_V2013}/authentication/token"
        for role in ("author", "other", "restricted", "nau"):
            answer = await self.send_json(
                "POST", path, {"email": f"{role}@sandbox.test", "password": f"sandbox-{role}"}, role=None
            )
            body = answer.json if isinstance(answer.json, dict) else {}
            self.tokens[role] = str(body.get("authenticationToken") or "none")
        good = {"email": "author@sandbox.test", "password": "sandbox-author"}
        for wrong in (
            {"password": "wrong-password"},
            {"email": "nobody@sandbox.test"},
            {"password": ""},
            {"password": 7},
            {"email": ""},
            {"email": 7},
        ):
            await self.send_json("POST", path, {**good, **wrong}, role=None)
        for missing in good:
            await self.send_json("POST", path, {k: v for k, v in good.items() if k != missing}, role=None)

    async def submit(
        self,
        method: str,
        identifier: str,
        *,
        document: Any = None,
        how: Mapping[str, Any] | None = None,
        **sent: Any,
    ) -> None:
        """Submit a document of the realm's own schema."""
        schema, valid = _documents()[self.realm]
        header = {**valid["header"], **({"identifier": identifier} if identifier else {})}
        body = {"document": {**valid, "header": header} if document is None else document, **(how or {})}
        path = f"{_V2023}/{schema}" + (f"/{identifier}" if identifier else "")
        await self.send_json(method, path, body, **sent)


#: Functions that each send one part of a tour.
Parts = tuple[Callable[[Tour], Awaitable[None]], ...]


async def _drafts(tour: Tour) -> None:
    """Save, read, change, list and delete drafts under identifiers of every class."""
    uids = [*_valid_uids(), *(f"tour-draft-{number:04}" for number in range(36))]
    header = {"schema": "contact", "languages": ["en"]}
    for number, uid in enumerate(uids):
        path = f"{_V2013}/documents/{quote(uid, safe='')}/versions/draft"
        first = {
            "header": {**header, "identifier": uid},
            "number": number,
            "array": [1],
            **(RICH if number < 3 else {}),
        }
        await tour.send_json("PUT", f"{path}?schema=contact", first)
        await tour.send("HEAD", path)
        await tour.send("GET", path)
        if number % 3 == 0:
            second = {
                "header": first["header"],
                "number": -number,
                "array": [2],
                "scripts": RICH["scripts"],
            }
            await tour.send_json("PUT", f"{path}?schema=contact", second)
            await tour.send("GET", path)
            await tour.send("GET", f"{path}/info")
        if number:
            before = quote(uids[number - 1], safe="")
            await tour.send("GET", f"{_V2013}/documents/{before}/versions/draft")
    await _lists(tour, f"{_V2013}/document-drafts", "$")
    await tour.send("HEAD", f"{_V2013}/documents/never-saved-draft/versions/draft")
    for number, uid in enumerate(uids):
        path = f"{_V2013}/documents/{quote(uid, safe='')}/versions/draft"
        if number % 2 == 0:
            await tour.send("DELETE", path)
            await tour.send("HEAD", path)
            await tour.send("GET", path)
    await _lists(tour, f"{_V2013}/document-drafts", "$")


async def _members(tour: Tour) -> None:
    """Save and read the documented records as drafts, and ask for their info."""
    for number, document in enumerate(_examples()):
        path = f"{_V2013}/documents/tour-members-{number}/versions/draft"
        await tour.send_json("PUT", f"{path}?schema=contact", document)
        await tour.send("GET", path)
        await tour.send("GET", f"{path}/info")


async def _frames(tour: Tour) -> None:
    """Send bodies that are no JSON, requests without a header that is not listed, and realms in the query."""
    schema, _ = _documents()[tour.realm]
    token = f"{_V2013}/authentication/token"
    draft = f"{_V2013}/documents/tour-frames-one/versions/draft?schema=contact"
    good = {"email": "author@sandbox.test", "password": "sandbox-author"}
    await tour.send_json("PUT", draft, {"header": {"schema": "contact"}})
    await _contacts_of(tour, 2)
    await tour.submit("POST", "tour-frames-two")
    await tour.submit("POST", "")
    await tour.submit("PUT", f"sandbox-existing-{tour.realm}-3")
    for method, path in (
        ("POST", token),
        ("PUT", draft),
        ("POST", f"{_V2013}/documents?schema=contact"),
        ("PUT", f"{_V2013}/documents/tour-contact-00000?schema=contact"),
        ("POST", f"{_V2023}/{schema}"),
        ("POST", f"{_V2023}/{schema}/tour-frames-three"),
        ("PUT", f"{_V2023}/{schema}/sandbox-existing-{tour.realm}-4"),
    ):
        await tour.send(method, path, b'{"document": ')
    await tour.send_json("POST", token, good, role=None, realm=None)
    for method, identifier in (("POST", ""), ("POST", "/tour-frames-four"), ("PUT", "/tour-frames-five")):
        for realm in (tour.realm, "no-such-realm"):
            path = f"{_V2023}/{schema}{identifier}?Realm={realm}"
            await tour.send_json(method, path, {"document": {}}, realm=None)
    base = f"{_V2013}/documents/tour-frames-one/attachments"
    for method, path in (
        ("POST", f"{base}/note.txt"),
        ("GET", base),
        ("POST", f"{base}/persist-temporary/sandbox-temporary-{tour.realm}-17"),
    ):
        await tour.send(method, path, b"", realm=None, content_type=False)


async def _contacts_of(tour: Tour, number: int) -> None:
    """Create a few good contacts, and update the first."""
    good = {name: _right(tour, name, sample) for name, sample in CONTACT_FIELDS_SAMPLES.items()}
    for place in range(number):
        header = {"identifier": f"tour-contact-{place:05}", "schema": "contact", "languages": ["en"]}
        await tour.send_json("POST", f"{_V2013}/documents?schema=contact", {**good, "header": header})
    first = {**good, "header": {"identifier": "tour-contact-00000", "schema": "contact"}}
    await tour.send_json("PUT", f"{_V2013}/documents/tour-contact-00000?schema=contact", first)


async def _lists(tour: Tour, path: str, dollar: str) -> None:
    """Ask for a list with each option, alone and in company."""
    options = [
        "",
        f"{dollar}top=2",
        f"{dollar}skip=1",
        f"{dollar}top=2&{dollar}skip=1",
        f"{dollar}top=0",
        f"{dollar}skip=900",
    ]
    field, value = ("identifier", "'tour-draft-0003'") if dollar else ("attachmentId", "3")
    expressions = [f"{dollar}orderby={field}", f"{dollar}orderby={quote(field + ' desc')}"]
    expressions += [
        f"{dollar}filter={quote(f'{field} {word} {value}')}" for word in ("eq", "ne", "gt", "lt", "ge", "le")
    ]
    expressions += [
        f"{dollar}filter={quote(joined)}"
        for joined in (
            f"{field} ge {value} and {field} le {value}",
            f"{field} eq {value} or {field} gt {value}",
            f"not ({field} eq {value})",
        )
    ]
    if dollar:
        expressions += [
            f"{dollar}filter={quote(f'{word}({field},{value})')}" for word in ("contains", "startswith")
        ]
    options += [
        *expressions,
        *(f"{first}&{other}" for first in expressions[:3] for other in options[1:4]),
    ]
    if dollar:
        collections = [f"collection={name}" for name in ("my", "mydrafts")]
        options += [
            *collections,
            *(f"{first}&{other}" for first in collections for other in options[1:12]),
        ]
    for option in options:
        for role in ("author", "other"):
            await tour.send("GET", f"{path}?{option}" if option else path, role=role)


async def _identifiers(tour: Tour) -> None:
    """Use identifiers outside the rule, in every operation that has one."""
    for uid in _invalid_uids():
        base = f"{_V2013}/documents/{quote(uid, safe='')}"
        for method, rest in (
            ("PUT", "/versions/draft?schema=contact"),
            ("GET", "/versions/draft"),
            ("HEAD", "/versions/draft"),
            ("GET", "/versions/draft/info"),
            ("DELETE", "/versions/draft"),
            ("GET", "/attachments"),
            ("POST", "/attachments/note.txt"),
            ("POST", f"/attachments/persist-temporary/sandbox-temporary-{tour.realm}-19"),
            ("PUT", "?schema=contact"),
            ("HEAD", "/attachments/1/note.txt"),
            ("GET", "/attachments/1/note.txt"),
            ("GET", "/attachments/1/note.txt/thumbnail"),
        ):
            await tour.send_json(method, base + rest, {"header": {"schema": "contact"}})


async def _protection(tour: Tour) -> None:
    """Use every operation without a token, and with tokens that were never issued."""
    base = f"{_V2013}/documents/tour-protected"
    document = {"header": {"identifier": "tour-protected", "schema": "contact"}}
    await tour.send_json("PUT", f"{base}/versions/draft?schema=contact", document)
    for role in (None, _UNKNOWN_TOKEN, "Bearer short"):
        for method, path in (
            ("GET", f"{base}/versions/draft"),
            ("HEAD", f"{base}/versions/draft"),
            ("GET", f"{base}/versions/draft/info"),
            ("GET", f"{_V2013}/document-drafts"),
            ("GET", f"{base}/attachments"),
            ("POST", f"{base}/attachments/note.txt"),
            ("POST", f"{base}/attachments/persist-temporary/sandbox-temporary-{tour.realm}-18"),
            ("PUT", f"{base}/versions/draft?schema=contact"),
            ("POST", f"{_V2013}/documents?schema=contact"),
            ("PUT", f"{base}?schema=contact"),
            ("DELETE", f"{base}/versions/draft"),
        ):
            await tour.send_json(method, path, {**document, "changed": True}, role=role)
        await tour.submit("POST", "", role=role)
        await tour.submit("POST", "tour-protected-record", role=role)
        await tour.submit("PUT", f"sandbox-existing-{tour.realm}-5", role=role)
        await tour.send("GET", f"{base}/versions/draft")
        await tour.send("GET", f"{base}/attachments")


async def _contacts(tour: Tour) -> None:
    """Send contacts with one thing wrong, on each field, in either operation."""
    good = {name: _right(tour, name, sample) for name, sample in CONTACT_FIELDS_SAMPLES.items()}
    records: list[Any] = [good, {}, [], None, "text"]
    for name, sample in good.items():
        records.append({k: v for k, v in good.items() if k != name})
        records += [
            {**good, name: wrong}
            for wrong in (
                7,
                True,
                "text",
                ["text"],
                {"en": 7},
                {"not a language": "text"},
                {"en": "text", "fr": "texte"},
                {"identifier": 7},
                [sample, 7],
                [sample, sample],
            )
        ]
        if isinstance(sample, list):
            records += [{**good, name: sample * 2}, {**good, name: [*sample, 7]}]
    for number, record in enumerate(records):
        uid = f"tour-contact-{number:05}"
        header = {"identifier": uid, "schema": "contact", "languages": ["en"]}
        full = (
            {**record, "header": header}
            if isinstance(record, dict) and record.get("header") == good["header"]
            else record
        )
        await tour.send_json("POST", f"{_V2013}/documents?schema=contact", full)
        await tour.send_json("PUT", f"{_V2013}/documents/tour-contact-00000?schema=contact", full)


def _right(tour: Tour, name: str, sample: Any) -> Any:
    return {"identifier": f"organization-{tour.realm}"} if name == "contactOrganization" else sample


async def _attachments(tour: Tour) -> None:
    """Attach files of many kinds to two documents, and download, list and check them."""
    for uid in ("tour-files-one", "tour-files-two", "tour-FILES-two", "tour_files_two"):
        base = f"{_V2013}/documents/{uid}"
        document = {"header": {"identifier": uid, "schema": "contact"}}
        await tour.send_json("PUT", f"{base}/versions/draft?schema=contact", document)
        for name, content in FILES.items():
            made = await tour.send("POST", f"{base}/attachments/{name}", content + uid.encode(), realm=None)
            match = re.search(rb'[Ii]d[a-z]*"?:\s*"?(\d+)', made.body)
            identifier = match[1].decode() if match else "0"
            for other in (uid, "tour-files-one"):
                path = f"{_V2013}/documents/{other}/attachments/{identifier}/{name}"
                for method, rest in (("HEAD", ""), ("GET", ""), ("GET", "/thumbnail")):
                    await tour.send(method, path + rest, realm=None)
        await tour.send("HEAD", f"{base}/attachments/999999/none.txt", realm=None)
        await _lists(tour, f"{base}/attachments", "")
        for number in range(1, 5):
            token = f"sandbox-temporary-{tour.realm}-{number:02}" if number < 4 else "never-uploaded"
            await tour.send("POST", f"{base}/attachments/persist-temporary/{token}", realm=None)
        await tour.send("GET", f"{base}/attachments", realm=None)


async def _workflow(tour: Tour) -> None:
    """Meet every row of the workflow table, and every limit, in the three ways to submit."""
    for number in range(7):
        await tour.submit("POST", "")
        await tour.submit("POST", f"tour-record-{number}")
        await tour.submit("POST", f"tour-record-{number}")
        await tour.submit("PUT", f"tour-record-{number}")
        await tour.send("GET", f"{_V2013}/documents/tour-record-{number}/versions/draft")
    for method, identifier in (
        ("POST", ""),
        ("POST", "tour-refused-{}"),
        ("PUT", f"sandbox-existing-{tour.realm}"),
    ):
        named = iter(identifier.format(number) for number in range(100))
        faulty: tuple[Any, ...] = ({"header": {}}, [], "text", {})
        for document in faulty:
            await tour.submit(method, next(named), document=document)
            await tour.send("GET", f"{_V2013}/documents/{next(named) or 'none-none-none'}/versions/draft")
        for member, limit in (("batchId", 100), ("additionalInfo", 1000)):
            for length in (limit - 20, limit - 1, limit, limit + 1, limit + 10, limit + 100, limit + 101):
                await tour.submit(method, next(named), how={member: "x" * length}, role="nau")
            await tour.submit(method, next(named), how={member: "é" * limit}, role="nau")
        await tour.submit(method, next(named), role="restricted")
        await tour.submit(method, next(named), realm=None)
        await tour.submit(method, next(named), realm="no-such-realm")
        schema, _ = _documents()[tour.realm]
        base = f"{_V2023}/{schema}" + (f"/{next(named)}" if identifier else "")
        await tour.send_json(method, base, {})
        await tour.send_json(method, base, [])
        await tour.send_json(method, base.replace(schema, "noSuchSchema"), {"document": {}})
    await tour.submit("POST", "tour-restricted-record", role="restricted")
    await tour.submit("POST", "tour-restricted-record")
    await tour.submit("POST", "tour-anonymous-record", role=None)
    await tour.submit("POST", "tour-anonymous-record")
    published = f"sandbox-published-{tour.realm}"
    await tour.send("DELETE", f"{_V2013}/documents/{published}/versions/draft")
    await tour.submit("POST", published)
    for method, identifier in (
        ("POST", "tour-record-0"),
        ("PUT", "tour-unknown-record"),
        ("PUT", f"sandbox-locked-{tour.realm}"),
    ):
        await tour.submit(method, identifier, document={"header": {}})
    await tour.submit("PUT", "tour-unknown-record")
    await tour.submit("PUT", f"sandbox-locked-{tour.realm}")
    await tour.submit("PUT", f"sandbox-existing-{tour.realm}-2", role="restricted")


async def _overlaps(tour: Tour) -> None:
    """Send two writes of each kind at the same time."""
    for number in range(3):
        base = f"{_V2013}/documents/tour-overlap-{number}"
        paths = [f"{base}{side}/versions/draft" for side in "ab"]
        document = json.dumps({"header": {"schema": "contact"}, "number": number}).encode()
        await asyncio.gather(*(tour.send("PUT", f"{path}?schema=contact", document) for path in paths))
        for method in ("GET", "HEAD"):
            await asyncio.gather(*(tour.send(method, path) for path in paths))
        await asyncio.gather(*(tour.send("PUT", f"{path}?schema=contact", document + b" ") for path in paths))
        await asyncio.gather(*(tour.send("GET", path) for path in paths))
        await asyncio.gather(*(tour.send("DELETE", path) for path in paths))
        for method in ("GET", "HEAD"):
            await asyncio.gather(*(tour.send(method, path) for path in paths))


def _valid_uids() -> list[str]:
    candidates = [
        "abcdefghijk",
        "abcdefghijkl",
        "v" * 127,
        "w" * 128,
        "long-" + "m" * 70,
        "long-" + "m" * 69 + "n",
        "tour-with-hyphen",
        "tour_with_hyphen",
        "tour-ending-here-",
        "tour-ending-here",
        "Tour-With-Capitals",
        "tour-with-capitals",
        "tour--two--hyphens",
        "tour-two-hyphens",
        "tour-trailing__",
        "tour-trailing",
        "01234567890",
        "-----------",
        "z" * 20 + "-first",
        "z" * 20 + "-second",
        "y" * 32 + "-first",
        "y" * 32 + "-second",
        "q" * 64 + "-first",
        "q" * 64 + "-second",
        "p" * 100 + "-first",
        "p" * 100 + "-second",
        "o" * 127 + "1",
        "o" * 127 + "2",
    ]
    assert all(any(map(holds, candidates)) for _, holds in VALID_CLASSES.values())  # noqa: S101 - two lists that must agree
    return candidates


def _invalid_uids() -> list[str]:
    near = "tour-near-miss"
    uids = [
        "a" * 10,
        "abc",
        "b" * 129,
        "c" * 140,
        *(f"{near}{sign}end" for sign in " .]^\\!~/"),
        f"{near}é",
        f"{near}٣",
        f"{near}\n",
    ]
    assert all(any(map(holds, uids)) for _, holds in INVALID_CLASSES.values())  # noqa: S101 - as above
    return uids


def _examples() -> list[Any]:
    """The records that the description gives as examples."""
    return [example["value"] for example in load_description().bundle["components"]["examples"].values()]


@cache
def _documents() -> Mapping[str, tuple[str, dict[str, Any]]]:
    """A valid document of each realm and its schema, from the sandbox's published settings."""
    folder = Path(__file__).parents[1] / "settings"
    realms = tomllib.loads((folder / "sandbox.toml").read_text("utf-8"))["realm"]
    return {
        realm: (
            facts["workflow_schema"],
            json.loads((folder / facts["workflow_document"]).read_text("utf-8")),
        )
        for realm, facts in realms.items()
    }


#: Parts of the tour that can show a fault of a family.
_PARTS: Final[Mapping[str, Parts]] = {
    "content-text": (_drafts,),
    "content-values": (_drafts,),
    "members": (_members,),
    # Identifiers that are minted come last: among those of a list they stand at another place each time.
    "protocol": (_drafts, _attachments, _members, _workflow, _frames),
    "bytes": (_attachments,),
    "lists": (_drafts, _attachments),
    "options": (_drafts, _attachments),
    "identity": (_drafts, _identifiers, _attachments, _workflow),
    "tokens": (_protection, _drafts, _workflow),
    "state": (_drafts, _overlaps, _attachments, _workflow, _protection),
    "validation": (_contacts,),
    "rows": (_workflow, _protection),
    "limits": (_workflow,),
    "errors": (_contacts, _workflow),
    "answers": (_drafts, _attachments, _contacts, _workflow),
}
_EVERYTHING: Final[Parts] = tuple(dict.fromkeys(part for parts in _PARTS.values() for part in parts))
#: Many times what a tour takes.
_LONGEST_SECONDS: Final = 60.0


def observable(fault: Fault, realm: str) -> bool:
    """Whether the tour sees the fault in a realm: an answer differs from what the faithful sandbox gives."""
    parts = _PARTS.get(fault.family, _EVERYTHING)
    try:
        seen = asyncio.run(asyncio.wait_for(_toured(fault.over, realm, parts), _LONGEST_SECONDS))
    except TimeoutError:
        return True  # nothing but the fault makes a request wait
    return seen != _faithful(realm, parts)


@cache
def _faithful(realm: str, parts: Parts) -> list[tuple[str, int, str]]:
    return asyncio.run(_toured(lambda app: app, realm, parts))


async def _toured(over: Callable[[ASGIApp], ASGIApp], realm: str, parts: Parts) -> list[tuple[str, int, str]]:
    app = create_app(Settings(size_limit=_SMALL_LIMIT))
    async with app.router.lifespan_context(app):
        tour = Tour(over(app), realm)
        await tour.sign_in()
        for part in parts:
            await part(tour)
    return tour.answers
