"""Defects of what an accepted submission brings about."""

from collections.abc import Callable

from contracts.sandbox.defects.altering import Every, alter
from contracts.sandbox.defects.groups import CREATE, CREATE_WITH, UPDATE
from contracts.sandbox.defects.registry import defect
from contracts.sandbox.defects.workflow_steps import (
    Run,
    carry_out,
    faulty,
    identifier_of,
    operation_of,
    run_instead,
)
from contracts.sandbox.records import Records
from contracts.sandbox.refusals import Fault, Reason, Refusal
from contracts.sandbox.service import Service
from contracts.sandbox.submissions import Submission
from contracts.sandbox.validation import MANDATORY
from contracts.sandbox.workflow import Row


@defect("workflow-create-twice", clause="workflow-created-exists", operations=[CREATE_WITH])
def _(service: Service) -> None:
    """Creating under an identifier again is accepted when it was submitted before."""
    _remembering(service, creating=True)


@defect("workflow-created-unknown", clause="workflow-created-known", operations=[UPDATE])
def _(service: Service) -> None:
    """Updating a record that was submitted before is refused because it does not exist."""
    _remembering(service, creating=False)


def _remembering(service: Service, *, creating: bool) -> None:
    submitted: set[tuple[str, str | None]] = set()

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


def _invalid(*fields: str) -> Refusal:
    faults = [Fault(MANDATORY, (field,)) for field in fields]
    return Refusal(Reason.INVALID_CONTENT, "The submission is not valid.", faults=faults)


@defect("workflow-batch-used-once", clause="workflow-batch-shared", operations=[CREATE, CREATE_WITH])
def _(service: Service) -> None:
    """A batchId that an earlier submission carried is refused."""
    used: set[str] = set()

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        done = faithful(submission, records)
        batch = submission.body.get("batchId")
        if submission.creating and isinstance(batch, str):
            if batch in used:
                raise _invalid("batchId")
            used.add(batch)
        return done

    run_instead(service, run)


@defect("workflow-batch-of-two", clause="workflow-batch-shared", operations=[CREATE, CREATE_WITH])
def _(service: Service) -> None:
    """A batch takes two records; a third one is refused."""
    taken: dict[str, int] = {}

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        done = faithful(submission, records)
        batch = submission.body.get("batchId")
        if submission.creating and isinstance(batch, str):
            taken[batch] = taken.get(batch, 0) + 1
            if taken[batch] > 2:
                raise _invalid("batchId")
        return done

    run_instead(service, run)


def _draft(
    service: Service, instead: Callable[[Callable[..., None], Submission, str, Records], None]
) -> None:
    alter(service.workflow, "save_draft", instead)


@defect("workflow-draft-not-saved", clause="workflow-draft-saved", operations=[CREATE_WITH])
def _(service: Service) -> None:
    """An accepted submission leaves no draft; the record exists only by its lock."""
    _draft(service, lambda *_: None)


@defect("workflow-draft-not-saved-at-times", clause="workflow-draft-saved", operations=[CREATE_WITH])
def _(service: Service) -> None:
    """Every second accepted submission leaves no draft."""
    second = Every(2)

    def instead(
        faithful: Callable[..., None], submission: Submission, identifier: str, records: Records
    ) -> None:
        faithful(submission, identifier, records)
        if operation_of(submission) == CREATE_WITH and second():
            records.remove_draft(submission.realm.name, identifier)

    _draft(service, instead)


@defect("workflow-draft-without-country", clause="workflow-draft-saved", operations=[CREATE_WITH])
def _(service: Service) -> None:
    """The draft of an accepted submission lacks the country of the document."""

    def instead(
        faithful: Callable[..., None], submission: Submission, identifier: str, records: Records
    ) -> None:
        document = submission.body["document"]
        less = {name: value for name, value in document.items() if name != "country"}
        body = {**submission.body, "document": less}
        faithful(
            Submission(
                submission.caller,
                submission.realm,
                submission.kind,
                submission.path_identifier,
                body,
                submission.creating,
            ),
            identifier,
            records,
        )

    _draft(service, instead)
