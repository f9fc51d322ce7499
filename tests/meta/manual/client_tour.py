"""A tour of an ordinary client through a sandbox in this process, watched as the proxy would watch it."""

import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from contracts.exchanges.traffic_exchange import Body, Passed
from contracts.manual.traffic_redaction import Discretion
from contracts.manual.traffic_summary import Group, Tally
from contracts.manual.traffic_watch import Watch
from contracts.sandbox.app import create_app
from contracts.sandbox.habits import Settings
from tests.meta.defects.samples import DOCUMENTS, contact, record
from tests.meta.defects.wire import Answer, Request, Wire
from tests.meta.defects.witness import PNG, ArrangementFailed, Witness

SITE = "http://registry.test"
_LIMIT = 512 * 1024
_OWN = ("/api/v2013/", "/api/v2023/")


class Watched(Wire):
    """A wire whose exchanges are watched."""

    def __init__(self, settings: Settings, defect: Any, *, alone: bool) -> None:
        app = create_app(settings)
        if defect is not None:
            defect.apply(app.state.service)
        super().__init__(app)
        self.watch = Watch(Discretion(), alone=alone)
        self._number = 0

    def send(self, request: Request) -> Answer:
        """Send a request, and have the exchange judged."""
        self._number += 1
        at, began = datetime.now(UTC), time.perf_counter()
        answer: Answer | None = None
        try:
            answer = super().send(request)
        finally:
            self.watch.take(self._passed(request, answer, at, time.perf_counter() - began))
        return answer

    def _passed(self, request: Request, answer: Answer | None, at: datetime, seconds: float) -> Passed:
        return Passed(
            number=self._number,
            at=at,
            seconds=seconds,
            method=request.method,
            url=SITE + request.path + (f"?{request.query}" if request.query else ""),
            request_headers=tuple(request.headers.items()),
            request_body=Body.of(request.body),
            status=answer.status if answer else 0,
            answer_headers=tuple(answer.headers.items()) if answer else (),
            answer_body=Body.of(answer.body) if answer and request.method != "HEAD" else Body(),
            fault=None if answer else "no answer within the time limit",
        )


def tour(*, variant: str | None = None, defect: Any = None, alone: bool = True) -> Tally:
    """Take the tour on a sandbox of its own, and return what it showed."""
    settings = Settings(size_limit=_LIMIT, variants=(variant,) if variant else ())
    wire = Watched(settings, defect, alone=alone)
    try:
        for part in (_drafts, _lists, _files, _contacts, _submissions, _refusals):
            # A broken or unusual sandbox may end a part early; what was seen until then counts.
            with suppress(
                ArrangementFailed, TimeoutError, AssertionError, ValueError, TypeError, LookupError
            ):
                part(Witness(wire))
    finally:
        wire.close()
    return wire.watch.tally


def service_side(tally: Tally) -> list[Group]:
    """What the service is said to break, and what is remarked on it."""
    return [group for group in tally.groups if str(group.first.side) == "answer"]


def _drafts(ask: Witness) -> None:
    for number in range(3):
        uid = ask.uid()
        ask.save(uid, contact(middleName=f"middle {number}"))
        for method in ("HEAD", "GET"):
            ask.send(method, f"{DOCUMENTS}/{uid}/versions/draft")
        ask.send("GET", f"{DOCUMENTS}/{uid}/versions/draft/info")
        ask.save(uid, contact(lastName=f"Byron {number}"))
        ask.get(uid)
        ask.drafts(collection="mydrafts")
        ask.send("DELETE", f"{DOCUMENTS}/{uid}/versions/draft")
        for method in ("HEAD", "GET"):
            ask.send(method, f"{DOCUMENTS}/{uid}/versions/draft")
        ask.drafts()
    ask.save(ask.uid(), {"title": {"en": "é 𝄞"}, "numbers": [1, 2.5, None, True]})


def _lists(ask: Witness) -> None:
    mine = [ask.saved(contact()) for _ in range(3)]
    for query in ({}, {"_top": "1"}, {"_top": "0"}, {"_skip": "1"}, {"_top": "2", "_skip": "1"}):
        ask.drafts(**query)
    for role in ("author", "other"):
        for collection in ("my", "mydrafts"):
            ask.drafts(role=role, collection=collection)
    ask.drafts(realm="bch-dev")
    ask.get(mine[0])


def _files(ask: Witness) -> None:
    uid, other = ask.saved(contact()), ask.saved(contact())
    ask.attachments(other)
    for name, content in (("a.txt", b"content"), ("picture.png", PNG), ("b.bin", bytes(range(256)))):
        number = next(iter(_numbers(ask.attach(uid, name, content))), 1)
        for method in ("HEAD", "GET"):
            ask.attachment(uid, number, name, method)
            ask.attachment(other, number, name, method)
        ask.attachment(uid, number, name, more="/thumbnail")
        ask.send("GET", f"{DOCUMENTS}/{uid}/attachments", realm=None)
        ask.send("GET", f"{DOCUMENTS}/{uid}/attachments", realm=None, query={"top": "1"})
    ask.persist(uid, ask.temporary())
    ask.send("GET", f"{DOCUMENTS}/{uid}/attachments", realm=None)
    ask.attachment(uid, 987654, "a.txt", "HEAD")


def _numbers(answer: Answer) -> list[int]:
    members = answer.json.values() if isinstance(answer.json, dict) else []
    return [value for value in members if isinstance(value, int) and not isinstance(value, bool)]


def _contacts(ask: Witness) -> None:
    made = ask.create_contact(contact(prefix={"en": "Dr"}, phones=["1"]))
    ask.create_contact({name: value for name, value in contact().items() if name != "firstName"})
    ask.create_contact(contact(emails="one"))
    ask.create_contact(contact(country={"identifier": "nowhere"}))
    ask.create_contact(contact(), role="restricted")
    uid = str((made.json or {}).get("identifier", ask.uid()))
    ask.update_contact(uid, contact(lastName="Byron"))
    ask.update_contact(uid, {name: value for name, value in contact().items() if name != "type"})


def _submissions(ask: Witness) -> None:
    for number in range(3):
        uid = ask.uid()
        ask.submit(identifier=uid)
        ask.submit(identifier=uid)
        ask.resubmit(uid)
        ask.submit(identifier=f"{uid}-x", body={"document": {"title": number}})
        ask.submit(identifier=f"{uid}-x")
    ask.submit()
    ask.resubmit(ask.uid())
    ask.resubmit("sandbox-locked-abs-dev")
    ask.resubmit("sandbox-others-abs-dev", role="restricted")
    ask.submit(identifier=ask.uid(), role="restricted")


def _refusals(ask: Witness) -> None:
    body = {"document": record()}
    path = "/api/v2023/documents/schemas/absPermit"
    ask.send("POST", f"{path}/{ask.uid()}", body, realm=None)
    ask.send("POST", f"{path}/{ask.uid()}", body, realm="no-such-realm")
    ask.send("POST", f"/api/v2023/documents/schemas/nothing/{ask.uid()}", body)
    ask.send("POST", f"{path}/{ask.uid()}", body, role=None)
    ask.send("POST", f"{path}/{ask.uid()}", body, realm=None, query={"Realm": "abs-dev"})
    ask.send("POST", f"{path}/{ask.uid()}", {"document": record(), "batchId": "b" * 101})
    ask.send("GET", f"{DOCUMENTS}/{ask.uid(10)}/versions/draft")
    ask.send("PUT", f"{DOCUMENTS}/{ask.uid(129)}/versions/draft", contact(), query={"schema": "contact"})
    ask.send("GET", f"{DOCUMENTS}/{ask.uid()}/versions/draft", role=None)
    ask.send("GET", "/api/v2013/document-drafts", role=None)
    ask.sign_in({"email": "author@sandbox.test"})
    ask.sign_in({"email": "author@sandbox.test", "password": "a-wrong-password"})
