"""Variants of submissions: locks, what exists, additionalInfo, who may update."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select

from contracts.sandbox import record_types
from contracts.sandbox.answers import json_text
from contracts.sandbox.database import DRAFT, LOCKS, PUBLISHED, Records, new_version
from contracts.sandbox.http_requests import Fault
from contracts.sandbox.variants.model import Variants
from contracts.sandbox.workflow import Row, Submission, SubmissionCheck, WorkflowOperations

VARIANTS = Variants()

LOCK_SECONDS = 2.0


class _LateLock(WorkflowOperations):
    """The workflow takes a while to begin, and only then locks."""

    def initiate(self, submission: Submission, identifier: str, records: Records) -> None:
        if isinstance(records, _LockTimes) and records.lock_time(submission.realm.name, identifier) is None:
            moment = self.context.clock.now() + timedelta(seconds=LOCK_SECONDS)
            records.lock(submission.realm.name, identifier, submission.caller.name, moment)


class _LockTimes(Records):
    """A lock counts from its moment on."""

    def is_locked(self, realm: str, identifier: str) -> bool:
        moment = self.lock_time(realm, identifier)
        return moment is not None and moment <= datetime.now(UTC).replace(tzinfo=None)

    def lock_time(self, realm: str, identifier: str) -> datetime | None:
        """Return from when on a record is locked, or ``None``."""
        here = (LOCKS.c.realm == realm, LOCKS.c.identifier == identifier)
        return self.connection.execute(select(LOCKS.c.locked_on).where(*here)).scalar_one_or_none()


VARIANTS.add(
    "lock-late",
    "When a submission locks its record is not shown: two seconds later.",
    parts={"workflow": _LateLock, "records": _LockTimes},
)


@VARIANTS.layer("workflow", "submissions-publish")
class _AtOnce(WorkflowOperations):
    """Whether a submission locks its record is not shown: it is published at once, and free again."""

    def initiate(self, submission: Submission, identifier: str, records: Records) -> None:
        records.store(
            new_version(
                realm=submission.realm.name,
                identifier=identifier,
                state=PUBLISHED,
                schema=submission.kind.name,
                owner=submission.caller.name,
                content=json_text(submission.body["document"]),
                moment=self.context.clock.now(),
            )
        )


@VARIANTS.layer("workflow", "drafts-not-existing")
class _DraftsFree(WorkflowOperations):
    """Whether a document that has only a draft exists for the workflow is not shown: it does not."""

    def check_identifier(self, submission: Submission, records: Records) -> str:
        identifier = submission.given_identifier(self.context.identifiers)
        if identifier is None or not _only_draft(records, submission.realm.name, identifier):
            return super().check_identifier(submission, records)
        if not submission.creating:
            raise Row.NOT_EXISTING.refusal()
        return identifier


def _only_draft(records: Records, realm: str, identifier: str) -> bool:
    # A lock that is still to come counts too: the record was submitted.
    here = (LOCKS.c.realm == realm, LOCKS.c.identifier == identifier)
    submitted = records.connection.execute(select(LOCKS).where(*here)).first() is not None
    if submitted or records.version(realm, identifier, PUBLISHED) is not None:
        return False
    return records.version(realm, identifier, DRAFT) is not None


@VARIANTS.layer("workflow", "locked-before-taken")
class _LockedFirst(WorkflowOperations):
    """Which refusal creating under the identifier of a locked record meets is not shown: that of the lock."""

    def check_identifier(self, submission: Submission, records: Records) -> str:
        identifier = submission.given_identifier(self.context.identifiers)
        if identifier is not None and records.is_locked(submission.realm.name, identifier):
            raise Row.LOCKED.refusal()
        return super().check_identifier(submission, records)


@VARIANTS.layer("submissions", "info-for-nau-only")
class _InfoForNau(SubmissionCheck):
    """additionalInfo from an account without the NAU role is not shown: it is refused."""

    def faults(self, submission: Submission, records: Records) -> list[Fault]:
        found = super().faults(submission, records)
        told = {fault.path[0] for fault in found}
        unasked = "additionalInfo" in submission.body and not submission.caller.holds_nau
        if unasked and "additionalInfo" not in told:
            found.append(Fault(record_types.INVALID_PROPERTY, ("additionalInfo",)))
        return found


@VARIANTS.layer("submissions", "submission-nulls-absent")
class _NullsOptional(SubmissionCheck):
    """Null for additionalInfo or batchId is not shown: it counts as left out."""

    def text_faults(self, body: dict[str, Any], member: str) -> Iterator[Fault]:
        if body.get(member) is not None:
            yield from super().text_faults(body, member)


@VARIANTS.layer("workflow", "authors-update-all")
class _UpdatesAll(WorkflowOperations):
    """Whether one author may update the record of another is not shown: every author may."""

    def create_securities(self, submission: Submission, identifier: str, records: Records) -> None:
        if submission.creating or not self.context.rights.may_create(submission.caller):
            super().create_securities(submission, identifier, records)
