"""Defects of reading drafts: content that changed on the way, and drafts that are missed or made up."""

import json
import unicodedata
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.defects.altering import (
    Every,
    Handler,
    When,
    always,
    around,
    edit,
    in_realm,
    refuse,
)
from contracts.sandbox.defects.registry import Change, defect
from contracts.sandbox.refusals import not_found
from contracts.sandbox.service import Service

_GET = ["getDraft"]
_INFO = ["getDraftInfo"]
_EXISTS = ["draftExists"]


def _every_value(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a JSON value with each value in it changed, innermost first."""
    if isinstance(value, dict):
        return change({name: _every_value(each, change) for name, each in value.items()})
    if isinstance(value, list):
        return change([_every_value(each, change) for each in value])
    return change(value)


def _shown(change: Callable[[Any], Any]) -> Change:
    return lambda service: edit(service, _GET, change)


def _texts(change: Callable[[str], str]) -> Change:
    def each(value: Any) -> Any:
        return change(value) if isinstance(value, str) else value

    return _shown(lambda body: _every_value(body, each))


def _members(kept: Callable[[Any], bool]) -> Change:
    def each(value: Any) -> Any:
        return (
            {name: item for name, item in value.items() if kept(item)} if isinstance(value, dict) else value
        )

    return _shown(lambda body: _every_value(body, each))


def _items(change: Callable[[list[Any]], list[Any]]) -> Change:
    return _shown(
        lambda body: _every_value(body, lambda each: change(each) if isinstance(each, list) else each)
    )


def _numbers(change: Callable[[int | float], Any]) -> Change:
    def each(value: Any) -> Any:
        return change(value) if isinstance(value, int | float) and not isinstance(value, bool) else value

    return _shown(lambda body: _every_value(body, each))


_CONTENT: dict[str, tuple[str, Change]] = {
    "draft-content-empty": ("Reading a draft gives an empty object.", _shown(lambda _: {})),
    "draft-content-without-nested-objects": (
        "Reading a draft gives its top-level members, with objects inside objects left empty.",
        _shown(lambda body: {name: _flat(value) for name, value in body.items()}),
    ),
    "draft-content-without-20th-member": (
        "Reading a draft with more than twenty members leaves out the twentieth.",
        _shown(lambda body: {name: body[name] for place, name in enumerate(body) if place != 19}),
    ),
    "draft-content-without-last-item": (
        "Arrays of more than one item lose the last one.",
        _items(lambda items: items[:-1] if len(items) > 1 else items),
    ),
    "draft-content-arrays-sorted": (
        "Arrays of texts come back sorted.",
        _items(lambda items: sorted(items) if all(isinstance(each, str) for each in items) else items),
    ),
    "draft-content-integers-as-text": ("Integers come back as texts.", _numbers(str)),
    "draft-content-fractions-cut": ("Numbers lose their fractions.", _numbers(int)),
    "draft-content-false-dropped": (
        "Members whose value is false are left out.",
        _members(lambda value: value is not False),
    ),
    "draft-content-zero-dropped": (
        "Members whose value is the number zero are left out.",
        _members(lambda value: isinstance(value, bool) or value != 0 or isinstance(value, str)),
    ),
    "draft-content-texts-cut": (
        "Texts of more than 255 characters are cut.",
        _texts(lambda text: text[:255]),
    ),
}
for _name, (_sentence, _change) in _CONTENT.items():
    defect(_name, clause="draft-get-content", operations=_GET, sentence=_sentence)(_change)


def _flat(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: {} if isinstance(inner, dict) else inner for name, inner in value.items()}


@defect("draft-content-lost-when-large", clause="draft-get-content", operations=_GET)
def _(service: Service) -> None:
    """Reading a draft above 64 KiB gives its first member alone."""

    def change(body: dict[str, Any]) -> dict[str, Any]:
        large = len(json.dumps(body, ensure_ascii=False)) > 64 * 1024
        return dict([*body.items()][:1]) if large else body

    edit(service, _GET, change)


def _mangled(text: str) -> str:
    return text.encode("utf-8").decode("latin-1")


_TEXTS: dict[str, tuple[str, str, Callable[[str], str]]] = {
    "draft-text-mangled": ("draft-text-kept", "is read as Latin-1 when it is UTF-8", _mangled),
    "draft-text-question-marks": (
        "draft-text-kept",
        "has a question mark for each character beyond ASCII",
        lambda text: text.encode("ascii", "replace").decode(),
    ),
    "draft-text-beyond-basic-plane-lost": (
        "draft-text-kept",
        "loses the characters beyond the basic plane",
        lambda text: "".join(letter for letter in text if ord(letter) < 0x10000),
    ),
    "draft-text-latin-only": (
        "draft-text-kept",
        "loses the characters that are not in Latin-1",
        lambda text: "".join(letter for letter in text if ord(letter) < 0x100),
    ),
    "draft-text-composed": (
        "draft-text-exact",
        "has accents in the composed form",
        lambda text: unicodedata.normalize("NFC", text),
    ),
    "draft-text-trimmed": ("draft-text-exact", "loses white space at its ends", str.strip),
    "draft-text-line-ends": (
        "draft-text-exact",
        "has a line feed for each carriage return and line feed",
        lambda text: text.replace("\r\n", "\n"),
    ),
    "draft-text-escaped": (
        "draft-text-exact",
        "has its angle brackets escaped as in HTML",
        lambda text: text.replace("<", "&lt;").replace(">", "&gt;"),
    ),
    "draft-text-without-control-characters": (
        "draft-text-exact",
        "loses control characters other than line breaks and tabs",
        lambda text: "".join(each for each in text if each >= " " or each in "\r\n\t"),
    ),
}
for _name, (_clause, _what, _change_text) in _TEXTS.items():
    defect(_name, clause=_clause, operations=_GET, sentence=f"Text in a draft that is read {_what}.")(
        _texts(_change_text)
    )


def _remembered(rare: Callable[[], bool]) -> Change:
    """Return the change that answers some reads of a draft as it was read before."""

    def change(service: Service) -> None:
        seen: dict[tuple[str, str], bytes] = {}

        async def answer(faithful: Handler, request: Request) -> Response:
            response = await faithful(request)
            place = (service.realms.of_documents(request).name, service.identifiers.from_path(request))
            before = seen.get(place, response.body)
            if before != response.body and rare():
                return Response(before, media_type="application/json")
            seen[place] = bytes(response.body)
            return response

        around(service, _GET, answer)

    return change


defect(
    "draft-read-from-cache",
    clause="draft-save-updates",
    operations=_GET,
    sentence="A draft that was read once is given as it was then, whatever is saved later.",
)(_remembered(lambda: True))


@defect("draft-read-stale-one-in-twenty", clause="draft-save-updates", operations=_GET)
def _(service: Service) -> None:
    """Every twentieth read of a draft gives the content it had when it was read for the first time."""
    first: dict[tuple[str, str], bytes] = {}
    rare = Every(20)

    async def answer(faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        place = (service.realms.of_documents(request).name, service.identifiers.from_path(request))
        before = first.setdefault(place, bytes(response.body))
        return Response(before, media_type="application/json") if rare() else response

    around(service, _GET, answer)


def _missed(operation: str, when: When = always) -> Change:
    return lambda service: refuse(service, [operation], not_found, when)


for _name, _clause, _operation, _when, _realms, _sentence in (
    (
        "draft-never-exists",
        "draft-exists-present",
        "draftExists",
        always,
        (),
        "The exists check finds no draft.",
    ),
    (
        "draft-never-exists-in-bch",
        "draft-exists-present",
        "draftExists",
        in_realm("bch-dev"),
        ("bch-dev",),
        "In bch-dev the exists check finds no draft.",
    ),
    ("draft-info-not-found", "draft-info-present", "getDraftInfo", always, (), "No draft has any info."),
    (
        "draft-info-not-found-in-chm",
        "draft-info-present",
        "getDraftInfo",
        in_realm("chm-dev"),
        ("chm-dev",),
        "In chm-dev no draft has any info.",
    ),
):
    defect(_name, clause=_clause, operations=[_operation], realms=_realms, sentence=_sentence)(
        _missed(_operation, _when)
    )

defect(
    "draft-exists-missed-one-in-twenty",
    clause="draft-exists-present",
    operations=_EXISTS,
    sentence="Every twentieth exists check finds no draft.",
)(lambda service: refuse(service, _EXISTS, not_found, Every(20)))


@defect("draft-always-exists", clause="draft-exists-absent", operations=_EXISTS)
def _(service: Service) -> None:
    """The exists check finds a draft under every uid nobody ever saved under."""
    _made_up(service, "draftExists", None)


@defect("draft-always-exists-in-bch", clause="draft-exists-absent", operations=_EXISTS, realms=["bch-dev"])
def _(service: Service) -> None:
    """In bch-dev the exists check finds a draft under every uid nobody ever saved under."""
    _made_up(service, "draftExists", None, in_realm("bch-dev"))


@defect("draft-get-absent-empty", clause="draft-get-absent", operations=_GET)
def _(service: Service) -> None:
    """Reading a draft that nobody ever saved gives an empty object."""
    _made_up(service, "getDraft", {})


@defect("draft-info-absent-empty", clause="draft-info-absent", operations=_INFO)
def _(service: Service) -> None:
    """Asking for the info of a draft that nobody ever saved gives an empty object."""
    _made_up(service, "getDraftInfo", {})


def _made_up(service: Service, operation: str, body: Any, when: When = always) -> None:
    """Answer with success for a uid that obeys the rule and of which no record ever was."""
    known: set[str] = set()

    def strange(request: Request) -> bool:
        uid = service.identifiers.from_path(request)
        realm = service.realms.of_documents(request).name
        with service.storage.transaction() as records:
            there = records.owner(realm, uid) is not None
        return not there and uid not in known and when(request)

    async def remember(faithful: Handler, request: Request) -> Response:
        known.add(service.identifiers.from_path(request))
        return await faithful(request)

    around(service, ["deleteDraft"], remember)

    async def answer(faithful: Handler, request: Request) -> Response:
        service.identity.require(request)
        if strange(request):
            return Response(media_type="application/json") if body is None else JSONResponse(body)
        return await faithful(request)

    around(service, [operation], answer)


for _name, _body, _sentence in (
    ("draft-info-empty", {}, "The info of a draft is an empty object."),
    ("draft-info-nothing", None, "The info of a draft comes as an answer without a body."),
):

    def _emptied(service: Service, body: Any = _body) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            await faithful(request)
            return Response(status_code=204) if body is None else JSONResponse(body)

        around(service, _INFO, answer)

    defect(_name, clause="draft-info-present", operations=_INFO, sentence=_sentence)(_emptied)


@defect("draft-info-without-uid", clause="draft-info-names-document", operations=_INFO)
def _(service: Service) -> None:
    """The info of a draft does not name the document."""
    edit(service, _INFO, lambda body: {name: value for name, value in body.items() if name != "identifier"})


@defect("draft-info-of-another", clause="draft-info-names-document", operations=_INFO)
def _(service: Service) -> None:
    """The info of a draft names a document of another uid."""
    edit(service, _INFO, lambda body: {**body, "identifier": f"{body['identifier'][:-1]}~"})
