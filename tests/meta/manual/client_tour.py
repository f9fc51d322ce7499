"""A tour of an ordinary client through a sandbox in this process, watched as the proxy would watch it."""

import io
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import requests
from PIL import Image

from contracts.exchanges.exchange import Body, Exchange, Headers, Response
from contracts.exchanges.redaction import TrafficRedactor
from contracts.interface.description import load_description
from contracts.manual.traffic_watch import Watch
from contracts.sandbox.habits import Settings
from contracts.sandbox.serve import altered
from tests.meta.samples import DOCUMENTS, SCHEMAS, TOKEN, contact, draft_path, record
from tests.meta.sandbox_client import SandboxClient, new_uid, serving

SITE = "http://registry.test"
_LIMIT = 512 * 1024


class Watched(SandboxClient):
    """A client whose exchanges are watched."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.headers["Accept-Encoding"] = "identity"
        self.watch = Watch(TrafficRedactor(), alone=True)
        self.exchanges: list[Exchange] = []

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Send a request with the Content-Type that is listed for it, and have the exchange judged."""
        address = urlsplit(str(request.url))
        matched = load_description().match(str(request.method), address.path)
        if matched is not None and matched[0].lists_content_type and not request.body:
            request.headers.setdefault("Content-Type", "application/json")
        at, began = datetime.now(UTC), time.perf_counter()
        answer: requests.Response | None = None
        try:
            answer = super().send(request, **options)
        finally:
            number, body, response = len(self.exchanges) + 1, request.body or b"", None
            if answer is not None:
                known = Body.of(answer.content) if request.method != "HEAD" else Body()
                response = Response(answer.status_code, "", Headers(answer.headers), known)
            exchange = Exchange(
                id=f"entry {number}",
                number=number,
                started=at,
                seconds=time.perf_counter() - began,
                method=str(request.method),
                url=SITE + address.path + (f"?{address.query}" if address.query else ""),
                request_headers=Headers(request.headers),
                request_body=Body.of(body if isinstance(body, bytes) else body.encode()),
                response=response,
                fault=None if answer is not None else "no answer within the time limit",
            )
            self.exchanges.append(exchange)
            self.watch.take(exchange)
        return answer


def watched(*, variants: tuple[str, ...] = (), fault: str | None = None, short: bool = False) -> Watched:
    """Take the tour, or its first part, on a sandbox of its own, and return the client that took it."""
    app = altered(Settings(size_limit=_LIMIT, variants=variants, faults=(fault,) if fault else ()))
    with serving(app) as url, Watched(url) as client:
        parts = (_drafts, _files, _contacts, _lists, _submissions, _refusals, _habits)
        for part in parts[:3] if short else parts:
            # A broken or unusual sandbox may end a part early; what was seen until then counts.
            with suppress(requests.RequestException, AssertionError, ValueError, TypeError, LookupError):
                part(client)
    return client


def _drafts(client: SandboxClient) -> None:
    for number in range(3):
        uid = new_uid()
        client.save(uid, contact(middleName=f"middle {number}"))
        for method in ("HEAD", "GET"):
            client.request(method, draft_path(uid))
        client.get(draft_path(uid, "/info"))
        client.save(uid, contact(lastName=f"Byron {number}"))
        client.get(draft_path(uid))
        client.drafts(collection="mydrafts")
        client.delete(draft_path(uid))
        for method in ("HEAD", "GET"):
            client.request(method, draft_path(uid))
        client.drafts()
    client.save(new_uid(), {"title": {"en": "é 𝄞"}, "numbers": [1, 2.5, None, True]})


def _lists(client: SandboxClient) -> None:
    mine = [client.saved(contact()) for _ in range(3)]
    for query in ({}, {"top": "1"}, {"top": "0"}, {"skip": "1"}, {"top": "2", "skip": "1"}):
        client.drafts(**query)
    for role in ("author", "other"):
        for collection in ("my", "mydrafts"):
            client.drafts(role=role, collection=collection)
    client.drafts(realm="bch-dev")
    client.get(draft_path(mine[0]))


def _files(client: SandboxClient) -> None:
    uid, other = client.saved(contact()), client.saved(contact())
    client.realm = None
    client.attachments(other)
    for name, content in (("a.txt", b"content"), ("picture.png", _png()), ("b.bin", bytes(range(256)))):
        number = next(iter(_numbers(client.attach(uid, name, content))), 1)
        for method in ("HEAD", "GET"):
            client.request(method, f"{DOCUMENTS}/{uid}/attachments/{number}/{name}")
            client.request(method, f"{DOCUMENTS}/{other}/attachments/{number}/{name}")
        client.get(f"{DOCUMENTS}/{uid}/attachments/{number}/{name}/thumbnail")
        client.attachments(uid)
        client.attachments(uid, top="1")
    temporary = client.post("/sandbox/temporary-files/temporary-new.png", data=_png(), role=None)
    client.post(f"{DOCUMENTS}/{uid}/attachments/persist-temporary/{temporary.json()['tempFileId']}")
    client.attachments(uid)
    client.request("HEAD", f"{DOCUMENTS}/{uid}/attachments/987654/a.txt")
    client.realm = "abs-dev"


def _png() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (1, 1), "red").save(buffer, "PNG")
    return buffer.getvalue()


def _numbers(answer: requests.Response) -> list[int]:
    body = answer.json() if answer.content else None
    members = body.values() if isinstance(body, dict) else []
    return [value for value in members if isinstance(value, int) and not isinstance(value, bool)]


def _contacts(client: SandboxClient) -> None:
    made = client.post_contact(contact(prefix={"en": "Dr"}, phones=["1"]))
    client.post_contact({name: value for name, value in contact().items() if name != "firstName"})
    client.post_contact(contact(emails="one"))
    client.post_contact(contact(country={"identifier": "nowhere"}))
    client.post_contact(contact(), role="restricted")
    uid = str(made.json().get("identifier", new_uid()) if made.content else new_uid())
    client.put_contact(uid, contact(lastName="Byron"))
    client.put_contact(uid, {name: value for name, value in contact().items() if name != "type"})


def _submissions(client: SandboxClient) -> None:
    for number in range(3):
        uid = new_uid()
        client.submit("POST", uid)
        client.submit("POST", uid)
        client.submit("PUT", uid)
        client.submit("POST", f"{uid}-x", {"document": {"title": number}})
        client.submit("POST", f"{uid}-x")
    client.submit("POST")
    client.submit("PUT", new_uid())
    client.submit("PUT", "sandbox-locked-abs-dev")
    client.submit("PUT", "sandbox-others-abs-dev", role="restricted")
    client.submit("POST", new_uid(), role="restricted")


def _refusals(client: SandboxClient) -> None:
    body = {"document": record()}
    client.submit("POST", new_uid(), realm=None)
    client.submit("POST", new_uid(), realm="no-such-realm")
    client.post(f"{SCHEMAS}/nothing/{new_uid()}", json=body)
    client.submit("POST", new_uid(), role=None)
    client.submit("POST", new_uid(), realm=None, params={"Realm": "abs-dev"})
    client.submit("POST", new_uid(), {**body, "batchId": "b" * 101})
    client.get(draft_path("a" * 10))
    client.save("a" * 129, contact())
    client.get(draft_path(new_uid()), role=None)
    client.drafts(role=None)
    client.post(TOKEN, json={"email": "author@sandbox.test"}, role=None, realm=None)
    client.sign_in(password="a-wrong-password")  # noqa: S106 - no account has it


def _habits(client: SandboxClient) -> None:
    """What real clients write otherwise than the document, which says nothing about it."""
    body = {"document": record()}
    for realm in ("ABS-DEV", "ort-dev"):
        uid = new_uid()
        client.save(uid, contact(), realm=realm)
        client.get(draft_path(uid), realm=realm)
        client.drafts(realm=realm)
    client.submit("POST", new_uid(), realm="ABS-DEV")
    client.submit("POST", new_uid(), realm=None, params={"realm": "abs-dev"})
    client.post(f"{SCHEMAS}/absPermit/", json=body)
    for header in (f"Ticket {client.token}", f"Token {client.token}", client.token, "[Filtered]", "***"):
        client.get("/api/v2013/document-drafts", headers={"Authorization": header})
        client.submit("POST", new_uid(), headers={"Authorization": header})
    client.post_contact(contact(organization={"EN": "Engines"}))
    client.submit("POST", new_uid(), {"document": {"title": 7}})
