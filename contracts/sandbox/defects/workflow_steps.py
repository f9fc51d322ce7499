"""How defects change the five steps of a submission."""

from collections.abc import Callable
from typing import Any

from contracts.sandbox.defects.altering import alter
from contracts.sandbox.defects.groups import CREATE, CREATE_WITH, UPDATE
from contracts.sandbox.records import Records
from contracts.sandbox.service import Service
from contracts.sandbox.submissions import Submission

Run = Callable[[Submission, Records], str]
Instead = Callable[[Run, Submission, Records], str]


def run_instead(service: Service, instead: Instead) -> None:
    """Run the steps of a submission in another way; ``instead`` is given the faithful one too."""
    alter(service.workflow, "run", instead)


def operation_of(submission: Submission) -> str:
    """Return the operation id by which a submission came."""
    if not submission.creating:
        return UPDATE
    return CREATE if submission.path_identifier is None else CREATE_WITH


def identifier_of(service: Service, submission: Submission) -> str | None:
    """Return the identifier that a submission names, or ``None``."""
    return submission.given_identifier(service.identifiers)


def exists(submission: Submission, identifier: str | None, records: Records) -> bool:
    """Tell whether a record of the identifier exists in the realm."""
    return identifier is not None and records.owner(submission.realm.name, identifier) is not None


def locked(submission: Submission, identifier: str | None, records: Records) -> bool:
    """Tell whether the record of the identifier is locked."""
    return identifier is not None and records.is_locked(submission.realm.name, identifier)


def faulty(service: Service, submission: Submission, records: Records) -> bool:
    """Tell whether the content of a submission is faulty."""
    return bool(service.submissions.faults(submission, records))


def carry_out(service: Service, submission: Submission, identifier: str, records: Records) -> str:
    """Save and initiate, without any check; a lock that is there stays."""
    document: Any = submission.body.get("document")
    whole = submission if "document" in submission.body else _with(submission, document)
    service.workflow.save_draft(whole, identifier, records)
    if not records.is_locked(submission.realm.name, identifier):
        service.workflow.initiate(submission, identifier, records)
    return identifier


def _with(submission: Submission, document: Any) -> Submission:
    body = {**submission.body, "document": document}
    return Submission(
        submission.caller,
        submission.realm,
        submission.kind,
        submission.path_identifier,
        body,
        submission.creating,
    )


def allowed(service: Service, submission: Submission, records: Records) -> bool:
    """Tell whether the first step lets a submission pass."""
    identifier = identifier_of(service, submission)
    if submission.creating:
        return not exists(submission, identifier, records)
    return exists(submission, identifier, records) and not locked(submission, identifier, records)
