"""Defects of reading drafts: out of date, missed, made up, or without their info."""

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


@defect("draft-info-from-cache", clause="draft-info-current", operations=_INFO)
def _(service: Service) -> None:
    """The info of a draft that was asked for once is given as it was then."""
    seen: dict[tuple[str, str], bytes] = {}

    async def answer(faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        place = (service.realms.of_documents(request).name, service.identifiers.from_path(request))
        first = seen.setdefault(place, bytes(response.body))
        return Response(first, media_type="application/json")

    around(service, _INFO, answer)
