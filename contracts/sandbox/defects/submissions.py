"""Defects of submissions: their bodies, schemas and identifiers, their answers, and what they store or leave."""

import asyncio
import re
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.defects.declaration import (
    CREATE_WITH,
    OVERLAP_SECONDS,
    UPDATE,
    Change,
    Every,
    Handler,
    Operations,
    alter,
    alteration,
    alteration_at,
    answered,
    defects,
    edit,
    edit_refusal,
    every,
    in_realm,
    replaces,
)
from contracts.sandbox.defects.workflow_table import (
    Run,
    allowed,
    carry_out,
    faulty,
    identifier_of,
    operation_of,
    run_instead,
    with_document,
)
from contracts.sandbox.habits import json_text
from contracts.sandbox.http_requests import Fault, Reason, Refusal, bad_request, decoded_segment
from contracts.sandbox.record_types import INVALID_TYPE, INVALID_VALUE, MANDATORY, Realm, RecordType
from contracts.sandbox.service import Service
from contracts.sandbox.storage import DRAFT, VERSIONS, Records
from contracts.sandbox.workflow import Row, Submission

Test = Callable[[Submission], bool]
_SHAPE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


@alteration_at
def _taken_together(service: Service, operations: Operations) -> None:
    """Answer a creation that is refused while one under the same path is under way as that one is."""
    under_way: dict[str, list[Response | None]] = {}

    async def answer(_service: Service, faithful: Handler, request: Request) -> Response:
        answers = under_way.setdefault(request.url.path, [])
        answers.append(None)
        number = len(answers) - 1
        try:
            await asyncio.sleep(OVERLAP_SECONDS)
            answers[number] = await faithful(request)
            return answers[number] or Response()
        except Refusal:
            twin = next((answer for answer in answers if answer is not None), None)
            if twin is None:
                raise
            return Response(twin.body, status_code=twin.status_code, media_type="application/json")
        finally:
            await asyncio.sleep(0)
            if len(answers) == 1 or number:
                under_way.pop(request.url.path, None)

    answered(answer)(service, operations)


@alteration_at
def _running_at(
    service: Service, operations: Operations, instead: Callable[[Service, Run, Submission, Records], str]
) -> None:
    """Run the steps of the submissions of the defect's operations in another way."""

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        if operation_of(submission) not in operations:
            return faithful(submission, records)
        return instead(service, faithful, submission, records)

    run_instead(service, run)


def _accepted(test: Callable[[Any], bool], realm: str | None = None) -> Change:
    """Return the change that carries out submissions whose document passes a test; an absent one is the ellipsis."""

    def run(service: Service, faithful: Run, submission: Submission, records: Records) -> str:
        here = realm in {None, submission.realm.name}
        if not here or not test(submission.body.get("document", ...)):
            return faithful(submission, records)
        identifier = service.workflow.check_identifier(submission, records)
        service.workflow.create_securities(submission, identifier, records)
        return carry_out(service, submission, identifier, records)

    return _running_at(run)


def _absent(document: Any) -> bool:
    return document is ...


def _object(document: Any) -> bool:
    return isinstance(document, dict)


def _taken(first: bytes) -> Change:
    """Return the change that answers success to a body by its first byte; nothing: an absent body."""

    async def answer(service: Service, faithful: Handler, request: Request) -> Response:
        raw = (await request.body()).strip()
        try:
            return await faithful(request)
        except Refusal as refusal:
            stated = refusal.message in {row.value[1] for row in Row} or refusal.status is not None
            if raw[:1] != first or stated:
                raise
            identifier = request.path_params.get("identifier", service.identifiers.mint())
            return JSONResponse({"identifier": identifier}, 201)

    return answered(answer)


@replaces("workflow.require_schema", "workflow-schema-of-another-realm")
def _(service: Service, faithful: Callable[..., RecordType], request: Request, realm: Realm) -> RecordType:
    name = request.path_params["schema"]
    for other in service.realms.realms.values():
        if name in other.types:
            return other.types[name]
    return faithful(request, realm)


@replaces("workflow.require_schema", "workflow-schema-message-of-its-realm")
def _(service: Service, faithful: Callable[..., RecordType], request: Request, realm: Realm) -> RecordType:
    name = request.path_params["schema"]
    for other in service.realms.realms.values():
        if name in other.types and name not in realm.types:
            raise Row.SCHEMA_UNKNOWN.refusal(other.name)
    return faithful(request, realm)


@alteration_at
def _identifier(service: Service, operations: Operations, judge: Callable[[str, bool], bool]) -> None:
    """Judge the identifiers in the paths of submissions in another way.

    Args:
        judge: tells of a text, and of whether the rule holds for it, whether it is an identifier.

    """

    def from_path(faithful: Callable[..., str], request: Request, name: str = "uid") -> str:
        text = decoded_segment(request.path_params[name])
        if text is None or name != "identifier" or request.scope["operation_id"] not in operations:
            return faithful(request, name)
        if not judge(text, service.identifiers.holds(text)):
            raise bad_request("identifier is not well formed")
        return text

    alter(service.identifiers, "from_path", from_path)


def _refused_length(length: int) -> Change:
    return _identifier(lambda text, holds: holds and len(text) != length)


def _accepted_length(length: int) -> Change:
    return _identifier(lambda text, holds: holds or (len(text) == length and _shaped(text)))


def _shaped(text: str) -> bool:
    return _SHAPE.fullmatch(text) is not None


def _dotted(text: str) -> bool:
    return "." in text and 11 <= len(text) <= 128 and _shaped(text.replace(".", "x"))


@replaces("workflow.run", "workflow-identifier-letter-case-ignored")
def _(_service: Service, faithful: Run, submission: Submission, records: Records) -> str:
    identifier = submission.path_identifier
    if submission.creating and identifier is not None:
        query = VERSIONS.select().with_only_columns(VERSIONS.c.identifier)
        here = query.where(VERSIONS.c.realm == submission.realm.name)
        for other in records.connection.execute(here).scalars():
            if other != identifier and other.lower() == identifier.lower():
                raise Row.IN_USE.refusal()
    return faithful(submission, records)


@alteration_at
def _faults(
    service: Service, operations: Operations, change: Callable[[list[Fault], Submission], list[Fault]]
) -> None:
    """Change the faults that are found in the submissions of the defect's operations."""

    def faults(faithful: Callable[..., list[Fault]], submission: Submission, records: Records) -> list[Fault]:
        faults = faithful(submission, records)
        return change(faults, submission) if operation_of(submission) in operations else faults

    alter(service.submissions, "faults", faults)


def _overlong(member: str, judge: Callable[[str], bool]) -> Change:
    """Return the change that judges the length of a text in another way: ``judge`` tells what is refused."""

    def change(faults: list[Fault], submission: Submission) -> list[Fault]:
        kept = [fault for fault in faults if fault != Fault(INVALID_VALUE, (member,))]
        text = submission.body.get(member)
        return [*kept, Fault(INVALID_VALUE, (member,))] if isinstance(text, str) and judge(text) else kept

    return _faults(change)


def _limit(member: str, limit: int) -> Change:
    return _overlong(member, lambda text: len(text) > limit)


def _any_kind(member: str) -> Change:
    return _faults(lambda faults, _: [fault for fault in faults if fault != Fault(INVALID_TYPE, (member,))])


def _invalid(field: str) -> Refusal:
    faults = [Fault(MANDATORY, (field,))]
    return Refusal(Reason.INVALID_CONTENT, "The submission is not valid.", faults=faults)


def _refused_for(field: str, test: Test) -> Change:
    """Return the change that refuses good submissions that pass a test, for a field they do not need."""

    def run(_service: Service, faithful: Run, submission: Submission, records: Records) -> str:
        identifier = faithful(submission, records)
        if test(submission):
            raise _invalid(field)
        return identifier

    return _running_at(run)


def _needs_batch() -> Change:
    return _refused_for("batchId", lambda submission: "batchId" not in submission.body)


def _refused_in(realm: str) -> Change:
    return _refused_for("title", lambda submission: submission.realm.name == realm)


def _without_identifier(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != "identifier"}


def _answered_identifier(change: Callable[[str], str]) -> Change:
    return edit(lambda body: {**body, "identifier": change(body["identifier"])})


_BATCH, _INFO = "batchId", "additionalInfo"
defects(
    {
        "workflow-document-not-needed": _accepted(_absent),
        "workflow-document-not-needed-on-update": _accepted(_absent),
        "workflow-document-array": _accepted(lambda document: isinstance(document, list)),
        "workflow-document-string": _accepted(lambda document: isinstance(document, str)),
        "workflow-document-empty": _accepted(lambda document: document == {}),
        "workflow-document-not-validated-on-update": _accepted(_object),
        "workflow-document-not-validated-in-ort": _accepted(_object, "ort-dev"),
        "workflow-body-array": _taken(b"["),
        "workflow-body-null": _taken(b"n"),
        "workflow-body-absent": _taken(b""),
        "workflow-identifier-refuses-eleven": _refused_length(11),
        "workflow-identifier-refuses-128": _refused_length(128),
        "workflow-identifier-accepts-ten": _accepted_length(10),
        "workflow-identifier-accepts-129": _accepted_length(129),
        "workflow-identifier-accepts-dot": _identifier(lambda text, holds: holds or _dotted(text)),
        "workflow-batch-99": _limit(_BATCH, 99),
        "workflow-batch-99-on-update": _limit(_BATCH, 99),
        "workflow-batch-101": _limit(_BATCH, 101),
        "workflow-batch-101-on-update": _limit(_BATCH, 101),
        "workflow-batch-not-limited-far-above": _overlong(_BATCH, lambda text: 100 < len(text) < 1000),
        "workflow-created-twice-at-once": _taken_together(),
        "workflow-batch-bytes": _overlong(_BATCH, lambda text: len(text.encode()) > 100),
        "workflow-batch-of-any-kind": _any_kind(_BATCH),
        "workflow-info-999": _limit(_INFO, 999),
        "workflow-info-1001": _limit(_INFO, 1001),
        "workflow-info-1001-on-create": _limit(_INFO, 1001),
        "workflow-info-not-limited-far-above": _overlong(_INFO, lambda text: 1000 < len(text) < 5000),
        "workflow-info-bytes": _overlong(_INFO, lambda text: len(text.encode()) > 1000),
        "workflow-info-of-any-kind": _any_kind(_INFO),
        "workflow-info-refused": _overlong(_INFO, bool),
        "workflow-create-needs-batch": _needs_batch(),
        "workflow-create-with-identifier-needs-batch": _needs_batch(),
        "workflow-update-needs-batch": _needs_batch(),
        "workflow-create-refused-in-ort": _refused_in("ort-dev"),
        "workflow-create-with-identifier-refused-in-bch": _refused_in("bch-dev"),
        "workflow-identifier-missing": edit(_without_identifier),
        "workflow-identifier-missing-on-update": edit(_without_identifier),
        "workflow-identifier-missing-in-chm": edit(_without_identifier, in_realm("chm-dev")),
        "workflow-identifier-empty": _answered_identifier(lambda _: ""),
        "workflow-identifier-changed-on-create": _answered_identifier(lambda _: "0123456789abcdef01234567"),
        "workflow-identifier-in-lower-case": _answered_identifier(str.swapcase),
    }
)


Place = tuple[str, str | None]


def _place(submission: Submission) -> Place:
    return submission.realm.name, submission.path_identifier


@alteration
def _same_identifier(service: Service) -> None:
    """Answer the identifier of the first submission to all."""
    first: list[str] = []

    def same(identifier: str) -> str:
        first.append(identifier)
        return first[0]

    _answered_identifier(same)(service, ("createWorkflowRecord",))


@alteration
def _remembering(service: Service, *, creating: bool) -> None:
    """Forget on create, or on update, that a record was submitted before."""
    submitted: set[Place] = set()

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        identifier = identifier_of(service, submission)
        place = (submission.realm.name, identifier)
        if place in submitted and submission.creating == creating:
            if not creating:
                raise Row.NOT_EXISTING.refusal()
            may = submission.caller.may_write and not faulty(service, submission, records)
            if may and identifier is not None:
                return carry_out(service, submission, identifier, records)
        done = faithful(submission, records)
        if submission.creating:
            submitted.add(place)
        return done

    run_instead(service, run)


@alteration
def _batch_limited(service: Service, limit: int) -> None:
    """Refuse a record when its batch holds as many as the limit already."""
    taken: dict[str, int] = {}

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        done = faithful(submission, records)
        batch = submission.body.get("batchId")
        if submission.creating and isinstance(batch, str):
            taken[batch] = taken.get(batch, 0) + 1
            if taken[batch] > limit:
                raise _invalid("batchId")
        return done

    run_instead(service, run)


Save = Callable[[Submission, str, Records], None]


def _not_saved_at_times(second: Every) -> Change:
    def remove(faithful: Save, submission: Submission, identifier: str, records: Records) -> None:
        faithful(submission, identifier, records)
        if operation_of(submission) == CREATE_WITH and second():
            records.remove_draft(submission.realm.name, identifier)

    return _saving(remove)


@alteration
def _saving(service: Service, instead: Callable[[Save, Submission, str, Records], None]) -> None:
    """Save the draft of a submission in another way; ``instead`` is given the faithful one too."""
    alter(service.workflow, "save_draft", instead)


def _without_country(faithful: Save, submission: Submission, identifier: str, records: Records) -> None:
    document = submission.body["document"]
    less = {name: value for name, value in document.items() if name != "country"}
    faithful(with_document(submission, less), identifier, records)


def _unless_updated(faithful: Save, submission: Submission, identifier: str, records: Records) -> None:
    drafted = records.version(submission.realm.name, identifier, DRAFT) is not None
    if operation_of(submission) != UPDATE or not drafted:
        faithful(submission, identifier, records)


@alteration_at
def _after_refusal(
    service: Service, operations: Operations, then: Callable[[Service, Submission, str, Records], None]
) -> None:
    """Do more when a submission was refused for its content alone."""
    refused: list[tuple[Submission, str]] = []

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        identifier = identifier_of(service, submission)
        may = submission.caller.may_write and allowed(service, submission, records)
        meant = (
            operation_of(submission) in operations
            and may
            and bool(service.submissions.document_faults(submission, records))
        )
        if meant and identifier is not None:
            refused.append((submission, identifier))
        return faithful(submission, records)

    async def answer(service: Service, faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        finally:
            while refused:
                submission, identifier = refused.pop()
                with service.storage.transaction() as records:
                    then(service, submission, identifier, records)

    run_instead(service, run)
    answered(answer)(service, operations)


def _save(service: Service, submission: Submission, identifier: str, records: Records) -> None:
    service.drafts.keep(
        records,
        caller=submission.caller,
        realm=submission.realm,
        uid=identifier,
        schema=submission.kind.name,
        content=json_text(submission.body.get("document")),
    )


@alteration_at
def _saved_before_validation(service: Service, operations: Operations) -> None:
    """Save the draft of a refused submission, and take its identifier for free all the same."""
    left: set[Place] = set()

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        identifier = submission.path_identifier
        if submission.creating and identifier is not None and _place(submission) in left:
            # Only the draft is left over; the identifier is as free as it should be.
            records.remove_draft(submission.realm.name, identifier)
        return faithful(submission, records)

    def save(service: Service, submission: Submission, identifier: str, records: Records) -> None:
        left.add((submission.realm.name, identifier))
        _save(service, submission, identifier, records)

    _after_refusal(save)(service, operations)
    run_instead(service, run)


@alteration_at
def _taken_after_refusal(service: Service, operations: Operations, row: Row) -> None:
    """Refuse with a row of the table what names an identifier whose submission was refused for its content."""
    used: set[Place] = set()

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        if submission.creating and (submission.realm.name, identifier_of(service, submission)) in used:
            raise row.refusal()
        return faithful(submission, records)

    def take(_service: Service, submission: Submission, identifier: str, _records: Records) -> None:
        used.add((submission.realm.name, identifier))

    run_instead(service, run)
    _after_refusal(take)(service, operations)


@alteration
def _rights_after_save(service: Service) -> None:
    """Take an identifier for used when an account without rights named it first."""
    used: set[Place] = set()

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        if operation_of(submission) == CREATE_WITH:
            if not submission.caller.may_write:
                used.add(_place(submission))
            elif _place(submission) in used:
                raise Row.IN_USE.refusal()
        return faithful(submission, records)

    run_instead(service, run)


@alteration
def _refused_yet_taken(service: Service, member: str) -> None:
    """Refuse an identifier from the second submission on when the first one was refused for one member."""
    used: set[Place] = set()

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        if operation_of(submission) == CREATE_WITH:
            if _place(submission) in used:
                raise Row.IN_USE.refusal()
            if service.submissions.faults(submission, records) == [Fault(INVALID_VALUE, (member,))]:
                used.add(_place(submission))
        return faithful(submission, records)

    run_instead(service, run)


def _unnamed(refusal: Refusal) -> Refusal:
    """Take the identifier out of a refusal."""
    refusal.identifier = None
    return refusal


defects(
    {
        "workflow-errors-without-identifier": edit_refusal(_unnamed),
        "workflow-batch-refused-yet-taken": _refused_yet_taken(_BATCH),
        "workflow-info-refused-yet-taken": _refused_yet_taken(_INFO),
        "workflow-rights-after-save": _rights_after_save(),
        "workflow-same-identifier-for-all": _same_identifier(),
        "workflow-create-twice": _remembering(creating=True),
        "workflow-created-unknown": _remembering(creating=False),
        "workflow-batch-used-once": _batch_limited(1),
        "workflow-batch-of-two": _batch_limited(2),
        "workflow-draft-not-saved": _saving(lambda *_: None),
        "workflow-draft-not-saved-at-times": every(2, _not_saved_at_times),
        "workflow-update-keeps-draft": _saving(_unless_updated),
        "workflow-draft-without-country": _saving(_without_country),
        "workflow-save-before-validation": _saved_before_validation(),
        "workflow-save-before-validation-on-update": _after_refusal(_save),
        "workflow-refused-identifier-taken": _taken_after_refusal(Row.IN_USE),
        "workflow-locked-before-content": _taken_after_refusal(Row.LOCKED),
    }
)
