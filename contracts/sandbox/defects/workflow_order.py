"""Defects of the order of a submission's steps: two steps change places."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.defects.altering import Handler, around, edit_refusal, json_of
from contracts.sandbox.defects.groups import CREATE, CREATE_WITH, UPDATE, WORKFLOW
from contracts.sandbox.defects.registry import Change, defect
from contracts.sandbox.defects.workflow_steps import (
    Run,
    allowed,
    exists,
    identifier_of,
    locked,
    operation_of,
    run_instead,
)
from contracts.sandbox.records import Records
from contracts.sandbox.refusals import Fault, Reason, Refusal
from contracts.sandbox.service import Service
from contracts.sandbox.submissions import Submission
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


def _content_before_rights(*operations: str) -> Change:
    def change(service: Service) -> None:
        def run(faithful: Run, submission: Submission, records: Records) -> str:
            meant = operation_of(submission) in operations and not submission.caller.may_write
            if meant and allowed(service, submission, records):
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
    """Under an unknown schema, a document without a title, or with one of a wrong kind, is refused for it."""

    async def answer(faithful: Handler, request: Request) -> Response:
        body = await json_of(request)
        try:
            return await faithful(request)
        except Refusal as refusal:
            unknown = refusal.message.startswith("Schema not configured")
            document = body.get("document") if isinstance(body, dict) else None
            if unknown and isinstance(document, dict) and not isinstance(document.get("title"), dict | str):
                raise _invalid() from None
            raise

    around(service, WORKFLOW, answer)


def _invalid() -> Refusal:
    return Refusal(Reason.INVALID_CONTENT, "not valid", faults=[Fault("Error.Mandatory", ("title",))])
