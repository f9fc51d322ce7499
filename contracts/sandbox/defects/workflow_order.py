"""Defects of the order of a submission's steps: two steps change places."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.defects.altering import Handler, around, edit_refusal, json_of
from contracts.sandbox.defects.groups import CREATE, CREATE_WITH, UPDATE, WORKFLOW
from contracts.sandbox.defects.registry import Change, defect
from contracts.sandbox.defects.workflow_steps import (
    Run,
    exists,
    faulty,
    identifier_of,
    locked,
    operation_of,
    run_instead,
)
from contracts.sandbox.records import Records
from contracts.sandbox.refusals import Fault, Reason, Refusal
from contracts.sandbox.service import Service
from contracts.sandbox.submissions import Submission, json_text
from contracts.sandbox.workflow import Row

Meant = Callable[[Submission, str | None, Records], bool]


def _taken(submission: Submission, identifier: str | None, records: Records) -> bool:
    return operation_of(submission) == CREATE_WITH and exists(submission, identifier, records)


def _absent(submission: Submission, identifier: str | None, records: Records) -> bool:
    return operation_of(submission) == UPDATE and not exists(submission, identifier, records)


def _locked(submission: Submission, identifier: str | None, records: Records) -> bool:
    return operation_of(submission) == UPDATE and locked(submission, identifier, records)


def _validated_first(meant: Meant) -> Change:
    """Return the change that validates the document before anything else, where ``meant`` says so."""

    def change(service: Service) -> None:
        def run(faithful: Run, submission: Submission, records: Records) -> str:
            may = submission.caller.may_write
            if may and meant(submission, identifier_of(service, submission), records):
                service.workflow.validate(submission, records)
            return faithful(submission, records)

        run_instead(service, run)

    return change


def _rights_first(meant: Meant) -> Change:
    """Return the change that looks at the rights before the identifier, where ``meant`` says so."""

    def change(service: Service) -> None:
        def run(faithful: Run, submission: Submission, records: Records) -> str:
            may = submission.caller.may_write
            if not may and meant(submission, identifier_of(service, submission), records):
                raise (Row.MAY_NOT_CREATE if submission.creating else Row.MAY_NOT_UPDATE).refusal()
            return faithful(submission, records)

        run_instead(service, run)

    return change


_SWAPS: tuple[tuple[str, str, str, Change], ...] = (
    (
        "validation-before-taken",
        "workflow-order-taken-before-validation",
        CREATE_WITH,
        _validated_first(_taken),
    ),
    (
        "validation-before-unknown",
        "workflow-order-unknown-before-validation",
        UPDATE,
        _validated_first(_absent),
    ),
    (
        "validation-before-locked",
        "workflow-order-locked-before-validation",
        UPDATE,
        _validated_first(_locked),
    ),
    ("rights-before-taken", "workflow-order-taken-before-rights", CREATE_WITH, _rights_first(_taken)),
    ("rights-before-unknown", "workflow-order-unknown-before-rights", UPDATE, _rights_first(_absent)),
    ("rights-before-locked", "workflow-order-locked-before-rights", UPDATE, _rights_first(_locked)),
)
for _name, _clause, _operation, _change in _SWAPS:
    _first, _second = _name.split("-before-")
    _state = {"taken": "in use", "unknown": "that does not exist", "locked": "of a locked record"}[_second]
    defect(
        f"workflow-{_name}",
        clause=_clause,
        operations=[_operation],
        sentence=f"Under an identifier {_state} the step of {_first} comes before that of the identifier.",
    )(_change)


def _allowed(service: Service, submission: Submission, records: Records) -> bool:
    identifier = identifier_of(service, submission)
    if submission.creating:
        return not exists(submission, identifier, records)
    return exists(submission, identifier, records) and not locked(submission, identifier, records)


def _content_before_rights(*operations: str) -> Change:
    def change(service: Service) -> None:
        def run(faithful: Run, submission: Submission, records: Records) -> str:
            meant = operation_of(submission) in operations and not submission.caller.may_write
            if meant and _allowed(service, submission, records):
                service.workflow.validate(submission, records)
            return faithful(submission, records)

        run_instead(service, run)

    return change


for _word, _operations in (("create", (CREATE, CREATE_WITH)), ("update", (UPDATE,))):
    defect(
        f"workflow-validation-before-rights-on-{_word}",
        clause="workflow-order-rights-before-validation",
        operations=_operations,
        sentence=f"On {_word} the document is validated before the rights are looked at.",
    )(_content_before_rights(*_operations))


@defect("workflow-schema-before-realm", clause="workflow-order-realm-before-schema", operations=WORKFLOW)
def _(service: Service) -> None:
    """Where both realm and schema are unknown, the refusal is that of the schema."""
    known = {name for realm in service.realms.realms.values() for name in realm.types}

    def otherwise(refusal: Refusal) -> Refusal:
        unknown = refusal.message == Row.REALM_UNKNOWN.value[1]
        return Row.SCHEMA_UNKNOWN.refusal("unknown") if unknown else refusal

    edit_refusal(service, WORKFLOW, otherwise, lambda request: request.path_params["schema"] not in known)


@defect(
    "workflow-document-before-schema", clause="workflow-order-schema-before-document", operations=WORKFLOW
)
def _(service: Service) -> None:
    """Under an unknown schema, a document without a title is refused for its content."""

    async def answer(faithful: Handler, request: Request) -> Response:
        body = await json_of(request)
        try:
            return await faithful(request)
        except Refusal as refusal:
            unknown = refusal.message.startswith("Schema not configured")
            document = body.get("document") if isinstance(body, dict) else None
            if unknown and isinstance(document, dict) and "title" not in document:
                raise _invalid() from None
            raise

    around(service, WORKFLOW, answer)


def _invalid() -> Refusal:
    return Refusal(Reason.INVALID_CONTENT, "not valid", faults=[Fault("Error.Mandatory", ("title",))])


def _after_refusal(
    service: Service, operation: str, then: Callable[[Submission, str, Records], None]
) -> None:
    """Do more when a submission of an operation was refused for its content alone."""
    refused: list[tuple[Submission, str]] = []

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        identifier = identifier_of(service, submission)
        may = submission.caller.may_write and _allowed(service, submission, records)
        meant = operation_of(submission) == operation and may and faulty(service, submission, records)
        if meant and identifier is not None:
            refused.append((submission, identifier))
        return faithful(submission, records)

    async def answer(faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        finally:
            while refused:
                submission, identifier = refused.pop()
                with service.storage.transaction() as records:
                    then(submission, identifier, records)

    run_instead(service, run)
    around(service, [operation], answer)


def _saved(service: Service, submission: Submission, identifier: str, records: Records) -> None:
    service.drafts.keep(
        records,
        caller=submission.caller,
        realm=submission.realm,
        uid=identifier,
        schema=submission.kind.name,
        content=json_text(submission.body.get("document")),
    )


@defect(
    "workflow-save-before-validation",
    clause="workflow-order-validation-before-save",
    operations=[CREATE_WITH],
)
def _(service: Service) -> None:
    """The draft is saved before the document is validated, and stays when the document is refused."""
    _after_refusal(service, CREATE_WITH, lambda *found: _saved(service, *found))


@defect(
    "workflow-save-before-validation-on-update",
    clause="workflow-refused-update-keeps-draft",
    operations=[UPDATE],
)
def _(service: Service) -> None:
    """An update that is refused for its content is written over the draft all the same."""
    _after_refusal(service, UPDATE, lambda *found: _saved(service, *found))


@defect(
    "workflow-refused-identifier-taken", clause="workflow-refused-frees-identifier", operations=[CREATE_WITH]
)
def _(service: Service) -> None:
    """An identifier stays in use when its submission was refused for its content."""
    used: set[tuple[str, str]] = set()
    _reserved(service, used)
    _after_refusal(
        service, CREATE_WITH, lambda found, identifier, _: used.add((found.realm.name, identifier))
    )


def _reserved(service: Service, used: set[tuple[str, str]]) -> None:
    """Take identifiers for used when a second submission names them."""

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        if submission.creating and (submission.realm.name, identifier_of(service, submission)) in used:
            raise Row.IN_USE.refusal()
        return faithful(submission, records)

    run_instead(service, run)


@defect(
    "workflow-locked-before-content", clause="workflow-refused-frees-identifier", operations=[CREATE_WITH]
)
def _(service: Service) -> None:
    """The workflow begins before the document is validated, so that a refused identifier is locked."""
    used: set[tuple[str, str]] = set()

    def locked_by_now(faithful: Run, submission: Submission, records: Records) -> str:
        if submission.creating and (submission.realm.name, identifier_of(service, submission)) in used:
            raise Row.LOCKED.refusal()
        return faithful(submission, records)

    run_instead(service, locked_by_now)
    _after_refusal(
        service, CREATE_WITH, lambda found, identifier, _: used.add((found.realm.name, identifier))
    )


@defect(
    "workflow-rights-after-save", clause="workflow-rights-refusal-stores-nothing", operations=[CREATE_WITH]
)
def _(service: Service) -> None:
    """An account that may not create is refused, yet the identifier it named is in use from then on."""
    used: set[tuple[str, str]] = set()

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        place = (submission.realm.name, submission.path_identifier or "")
        if submission.creating and place in used and submission.caller.may_write:
            raise Row.IN_USE.refusal()
        if submission.creating and not submission.caller.may_write:
            used.add(place)
        return faithful(submission, records)

    run_instead(service, run)
