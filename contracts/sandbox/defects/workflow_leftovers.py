"""Defects of refused submissions: something of them stays."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.defects.altering import Handler, around
from contracts.sandbox.defects.groups import CREATE_WITH, UPDATE
from contracts.sandbox.defects.registry import defect
from contracts.sandbox.defects.workflow_steps import (
    Run,
    allowed,
    identifier_of,
    operation_of,
    run_instead,
)
from contracts.sandbox.json_answer import json_text
from contracts.sandbox.records import Records
from contracts.sandbox.service import Service
from contracts.sandbox.submissions import Submission
from contracts.sandbox.workflow import Row


def _after_refusal(
    service: Service, operation: str, then: Callable[[Submission, str, Records], None]
) -> None:
    """Do more when a submission of an operation was refused for its content alone."""
    refused: list[tuple[Submission, str]] = []

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        identifier = identifier_of(service, submission)
        may = submission.caller.may_write and allowed(service, submission, records)
        meant = (
            operation_of(submission) == operation
            and may
            and bool(service.submissions.document_faults(submission, records))
        )
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
    left: set[tuple[str, str]] = set()

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        identifier = submission.path_identifier
        if submission.creating and identifier is not None and (submission.realm.name, identifier) in left:
            # Only the draft is left over; the identifier is as free as it should be.
            records.remove_draft(submission.realm.name, identifier)
        return faithful(submission, records)

    def save(submission: Submission, identifier: str, records: Records) -> None:
        left.add((submission.realm.name, identifier))
        _saved(service, submission, identifier, records)

    _after_refusal(service, CREATE_WITH, save)
    run_instead(service, run)


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
        identifier = submission.path_identifier
        if submission.creating and identifier is not None:
            place = (submission.realm.name, identifier)
            if not submission.caller.may_write:
                used.add(place)
            elif place in used:
                raise Row.IN_USE.refusal()
        return faithful(submission, records)

    run_instead(service, run)
