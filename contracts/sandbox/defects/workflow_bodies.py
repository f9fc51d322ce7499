"""Defects of the body of a submission, of schemas and identifiers in its path, of batchId and additionalInfo."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.database import VERSIONS, Records
from contracts.sandbox.defects.alteration import Handler, alter, around
from contracts.sandbox.defects.registry import CREATE, CREATE_WITH, UPDATE, WORKFLOW, Change, defect, replaces
from contracts.sandbox.defects.workflow_rows import Run, carry_out, operation_of, run_instead
from contracts.sandbox.identifiers import decoded_segment
from contracts.sandbox.record_types import Realm, RecordType
from contracts.sandbox.refusals import Fault, Refusal, bad_request
from contracts.sandbox.service import Service
from contracts.sandbox.validation import INVALID_TYPE, INVALID_VALUE
from contracts.sandbox.workflow import Row, Submission

Test = Callable[[Submission], bool]


_CREATING = (CREATE, CREATE_WITH)


def _let_through(test: Callable[[Any], bool], meant: Test) -> Change:
    """Return the change that carries out submissions whose member document passes ``test``."""

    def change(service: Service) -> None:
        def run(faithful: Run, submission: Submission, records: Records) -> str:
            if not meant(submission) or not test(submission.body.get("document", ...)):
                return faithful(submission, records)
            identifier = service.workflow.check_identifier(submission, records)
            service.workflow.create_securities(submission, identifier, records)
            return carry_out(service, submission, identifier, records)

        run_instead(service, run)

    return change


def _accepted(
    name: str,
    clause: str,
    what: str,
    test: Callable[[Any], bool],
    operations: tuple[str, ...] = WORKFLOW,
    realm: str | None = None,
) -> None:
    """Declare the defect that accepts documents that pass a test; an absent document is the ellipsis."""

    def meant(submission: Submission) -> bool:
        return operation_of(submission) in operations and realm in {None, submission.realm.name}

    defect(
        f"workflow-{name}",
        clause=f"workflow-{clause}",
        operations=operations,
        realms=() if realm is None else (realm,),
        sentence=f"A document {what} is accepted.",
    )(_let_through(test, meant))


def _absent(document: Any) -> bool:
    return document is ...


def _object(document: Any) -> bool:
    return isinstance(document, dict)


_accepted("document-not-needed", "document-missing", "that is absent", _absent)
_accepted(
    "document-not-needed-on-update", "document-missing", "that is absent, on update,", _absent, (UPDATE,)
)
_accepted("document-array", "document-kind", "that is an array", lambda document: isinstance(document, list))
_accepted(
    "document-string",
    "document-kind",
    "that is a string, on create,",
    lambda document: isinstance(document, str),
    _CREATING,
)
_accepted("document-empty", "document-validated", "without any field", lambda document: document == {})
_accepted(
    "document-not-validated-on-update",
    "document-validated",
    "of any content, on update,",
    _object,
    (UPDATE,),
)
_accepted(
    "document-not-validated-in-ort",
    "document-validated",
    "of any content, in ort-dev,",
    _object,
    realm="ort-dev",
)


def _taken(operation: str, first: bytes) -> Change:
    """Return the change that answers success to a body by its first byte; nothing: an absent body."""

    def change(service: Service) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            raw = (await request.body()).strip()
            try:
                return await faithful(request)
            except Refusal as refusal:
                stated = refusal.message in {row.value[1] for row in Row} or refusal.status is not None
                if raw[:1] != first or stated:
                    raise
                identifier = request.path_params.get("identifier", service.identifiers.mint())
                return JSONResponse({"identifier": identifier}, 201)

        around(service, [operation], answer)

    return change


for _name, _operation, _first, _what in (
    ("workflow-body-array", CREATE, b"[", "an array"),
    ("workflow-body-null", UPDATE, b"n", "null"),
    ("workflow-body-absent", CREATE_WITH, b"", "no body"),
):
    defect(
        _name,
        clause="workflow-body-kind",
        operations=[_operation],
        sentence=f"{_operation} answers success when {_what} is sent.",
    )(_taken(_operation, _first))


_SHAPE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_BOTH = (CREATE_WITH, UPDATE)


@replaces(
    "workflow.require_schema",
    "workflow-schema-of-another-realm",
    clause="workflow-schema-of-another-realm",
    operations=WORKFLOW,
)
def _(service: Service, faithful: Callable[..., RecordType], request: Request, realm: Realm) -> RecordType:
    """The schemas of all realms are configured in every realm."""
    name = request.path_params["schema"]
    for other in service.realms.realms.values():
        if name in other.types:
            return other.types[name]
    return faithful(request, realm)


@replaces(
    "workflow.require_schema",
    "workflow-schema-message-of-its-realm",
    clause="workflow-schema-of-another-realm",
    operations=WORKFLOW,
)
def _(service: Service, faithful: Callable[..., RecordType], request: Request, realm: Realm) -> RecordType:
    """The refusal of another realm's schema names the realm the schema belongs to."""
    name = request.path_params["schema"]
    for other in service.realms.realms.values():
        if name in other.types and name not in realm.types:
            raise Row.SCHEMA_UNKNOWN.refusal(other.name)
    return faithful(request, realm)


def _identifier(judge: Callable[[str, bool], bool], operations: Iterable[str] = _BOTH) -> Change:
    """Return the change of the rule for identifiers of submissions.

    Args:
        judge: tells of a text, and of whether the rule holds for it, whether it is an identifier.
        operations: where.

    """
    meant = frozenset(operations)

    def change(service: Service) -> None:
        def from_path(faithful: Callable[..., str], request: Request, name: str = "uid") -> str:
            text = decoded_segment(request.path_params[name])
            if text is None or name != "identifier" or request.scope["operation_id"] not in meant:
                return faithful(request, name)
            if not judge(text, service.identifiers.holds(text)):
                raise bad_request("identifier is not well formed")
            return text

        alter(service.identifiers, "from_path", from_path)

    return change


def _shaped(text: str, *lengths: int) -> bool:
    return len(text) in lengths and _SHAPE.fullmatch(text) is not None


def _dotted(text: str) -> bool:
    return "." in text and _shaped(text.replace(".", "x"), *range(11, 129))


for _name, _clause, _judge, _sentence in (
    (
        "refuses-eleven",
        "edges",
        lambda text, holds: holds and len(text) != 11,
        "of 11 characters is refused.",
    ),
    ("refuses-128", "edges", lambda text, holds: holds and len(text) != 128, "of 128 characters is refused."),
    (
        "accepts-ten",
        "too-short",
        lambda text, holds: holds or _shaped(text, 10),
        "of 10 characters is accepted.",
    ),
    (
        "accepts-129",
        "too-long",
        lambda text, holds: holds or _shaped(text, 129),
        "of 129 characters is accepted.",
    ),
    ("accepts-dot", "characters", lambda text, holds: holds or _dotted(text), "may hold a dot."),
):
    defect(
        f"workflow-identifier-{_name}",
        clause=f"workflow-identifier-{_clause}",
        operations=[CREATE_WITH],
        sentence=f"An identifier {_sentence}",
    )(_identifier(_judge, [CREATE_WITH]))


@replaces(
    "workflow.run",
    "workflow-identifier-letter-case-ignored",
    clause="workflow-identifier-case-sensitive",
    operations=[CREATE_WITH],
)
def _(_service: Service, faithful: Run, submission: Submission, records: Records) -> str:
    """An identifier is in use when one is that differs only in letter case."""
    identifier = submission.path_identifier
    if submission.creating and identifier is not None:
        query = VERSIONS.select().with_only_columns(VERSIONS.c.identifier)
        here = query.where(VERSIONS.c.realm == submission.realm.name)
        for other in records.connection.execute(here).scalars():
            if other != identifier and other.lower() == identifier.lower():
                raise Row.IN_USE.refusal()
    return faithful(submission, records)


def _on(*operations: str) -> Test:
    return lambda submission: operation_of(submission) in operations


def _faults(service: Service, meant: Test, change: Callable[[list[Fault], Submission], list[Fault]]) -> None:
    def faults(faithful: Callable[..., list[Fault]], submission: Submission, records: Records) -> list[Fault]:
        found: list[Fault] = faithful(submission, records)
        return change(found, submission) if meant(submission) else found

    alter(service.submissions, "faults", faults)


def _limit(member: str, judge: Callable[[str], bool], meant: Test) -> Change:
    """Return the change that judges the length of a text in another way: ``judge`` tells what is refused."""

    def change(found: list[Fault], submission: Submission) -> list[Fault]:
        kept = [fault for fault in found if fault != Fault(INVALID_VALUE, (member,))]
        text = submission.body.get(member)
        return [*kept, Fault(INVALID_VALUE, (member,))] if isinstance(text, str) and judge(text) else kept

    return lambda service: _faults(service, meant, change)


for _name, _clause, _limit_judge, _operations, _what in (
    ("batch-99", "longest", lambda text: len(text) > 99, WORKFLOW, "of 100 characters is refused"),
    (
        "batch-99-on-update",
        "longest",
        lambda text: len(text) > 99,
        (UPDATE,),
        "of 100 characters is refused on update",
    ),
    ("batch-101", "too-long", lambda text: len(text) > 101, WORKFLOW, "of 101 characters is accepted"),
    (
        "batch-101-on-update",
        "too-long",
        lambda text: len(text) > 101,
        (UPDATE,),
        "of 101 characters is accepted on update",
    ),
    (
        "batch-not-limited-far-above",
        "too-long",
        lambda text: 100 < len(text) < 1000,
        WORKFLOW,
        "of 1000 or more characters is accepted, although one of 101 is refused",
    ),
    ("batch-bytes", "characters", lambda text: len(text.encode()) > 100, _CREATING, "is measured in bytes"),
    ("info-1001", "too-long", lambda text: len(text) > 1001, WORKFLOW, "of 1001 characters is accepted"),
    (
        "info-1001-on-create",
        "too-long",
        lambda text: len(text) > 1001,
        (CREATE,),
        "of 1001 characters is accepted without an identifier in the path",
    ),
    (
        "info-not-limited-far-above",
        "too-long",
        lambda text: 1000 < len(text) < 5000,
        WORKFLOW,
        "of 5000 or more characters is accepted, although one of 1001 is refused",
    ),
    ("info-999", "longest", lambda text: len(text) > 999, _CREATING, "of 1000 characters is refused"),
    ("info-bytes", "longest", lambda text: len(text.encode()) > 1000, _CREATING, "is measured in bytes"),
):
    _word = _name.partition("-")[0]
    _member = {"batch": "batchId", "info": "additionalInfo"}[_word]
    defect(
        f"workflow-{_name}",
        clause=f"workflow-{_word}-{_clause}",
        operations=_operations,
        sentence=f"A text in {_member} {_what}.",
    )(_limit(_member, _limit_judge, _on(*_operations)))


def _any_kind(member: str) -> Change:
    def change(found: list[Fault], _: Submission) -> list[Fault]:
        return [fault for fault in found if fault != Fault(INVALID_TYPE, (member,))]

    return lambda service: _faults(service, _on(*WORKFLOW), change)


for _member, _word in (("batchId", "batch"), ("additionalInfo", "info")):
    defect(
        f"workflow-{_word}-of-any-kind",
        clause=f"workflow-{_word}-kind",
        operations=WORKFLOW,
        sentence=f"A {_member} of any kind is accepted.",
    )(_any_kind(_member))


@defect("workflow-batch-refused-yet-taken", clause="workflow-batch-too-long", operations=[CREATE_WITH])
def _(service: Service) -> None:
    """A batchId of more than 100 characters is refused, yet the identifier is in use from then on."""
    _refused_yet_taken(service, "batchId")


@defect("workflow-info-refused-yet-taken", clause="workflow-info-too-long", operations=[CREATE_WITH])
def _(service: Service) -> None:
    """An additionalInfo of more than 1000 characters is refused, yet the identifier is in use from then on."""
    _refused_yet_taken(service, "additionalInfo")


def _refused_yet_taken(service: Service, member: str) -> None:
    used: set[tuple[str, str | None]] = set()

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        place = (submission.realm.name, submission.path_identifier)
        if _on(CREATE_WITH)(submission):
            if place in used:
                raise Row.IN_USE.refusal()
            if service.submissions.faults(submission, records) == [Fault(INVALID_VALUE, (member,))]:
                used.add(place)
        return faithful(submission, records)

    run_instead(service, run)
