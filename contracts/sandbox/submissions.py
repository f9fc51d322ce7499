"""The workflow submission body and its faults (Workflow submission body; Limits)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contracts.sandbox import validation
from contracts.sandbox.identifiers import IdentifierRule
from contracts.sandbox.identity import Account
from contracts.sandbox.realms import Realm
from contracts.sandbox.record_types import RecordType
from contracts.sandbox.records import Records
from contracts.sandbox.refusals import Fault
from contracts.sandbox.validation import Expectation

if TYPE_CHECKING:
    from contracts.sandbox.service import Service

ADDITIONAL_INFO_LIMIT = 1000
BATCH_ID_LIMIT = 100


@dataclass(frozen=True)
class Submission:
    """One request to the workflow endpoint.

    Attributes:
        caller: who sent it.
        realm: where.
        kind: the record type the path names.
        path_identifier: the identifier in the path, or ``None``.
        body: the request's body, not judged yet.
        creating: POST; else PUT.

    """

    caller: Account
    realm: Realm
    kind: RecordType
    path_identifier: str | None
    body: dict[str, Any]
    creating: bool

    def given_identifier(self, rule: IdentifierRule) -> str | None:
        """Return the identifier of the path, else a well-formed one in the document, else ``None``."""
        if self.path_identifier is not None:
            return self.path_identifier
        document = self.body.get("document")
        header = document.get("header") if isinstance(document, dict) else None
        identifier = header.get("identifier") if isinstance(header, dict) else None
        return identifier if isinstance(identifier, str) and rule.holds(identifier) else None


class SubmissionCheck:
    """Finds the faults of a submission: of its own members, then of the document in it.

    Lengths are counted in characters, as the document says, not in bytes.

    Args:
        service: the parts of the sandbox; its validator judges the document.

    """

    def __init__(self, service: "Service") -> None:
        self.service = service
        self.limits = {"additionalInfo": ADDITIONAL_INFO_LIMIT, "batchId": BATCH_ID_LIMIT}

    def faults(self, submission: Submission, records: Records) -> list[Fault]:
        """Return every fault of a submission.

        Args:
            submission: what was sent.
            records: the records of the realm, for references.

        """
        return [
            *self.document_faults(submission, records),
            *self.text_faults(submission.body, "additionalInfo"),
            *self.text_faults(submission.body, "batchId"),
            *self.unknown_members(submission.body),
        ]

    def document_faults(self, submission: Submission, records: Records) -> list[Fault]:
        """Return the faults of the document: missing, no object, or not valid by its schema."""
        document = submission.body.get("document")
        if document is None:
            return [Fault(validation.MANDATORY, ("document",))]
        if not isinstance(document, dict):
            return [Fault(validation.INVALID_TYPE, ("document",))]

        def knows(identifier: str) -> bool:
            return records.owner(submission.realm.name, identifier) is not None

        expectation = Expectation(submission.kind, submission.path_identifier, knows)
        return self.service.validator.faults(document, expectation)

    def text_faults(self, body: dict[str, Any], member: str) -> Iterator[Fault]:
        """Yield the faults of an optional text with a limit."""
        if member not in body:
            return
        if not isinstance(body[member], str):
            yield Fault(validation.INVALID_TYPE, (member,))
        elif len(body[member]) > self.limits[member]:
            yield Fault(validation.INVALID_VALUE, (member,))

    def unknown_members(self, body: dict[str, Any]) -> Iterator[Fault]:
        """Yield a fault for each member the table of the body does not have."""
        if self.service.habits.unknown_submission_members_refused:
            for name in body:
                if name not in {"document", *self.limits}:
                    yield Fault(validation.INVALID_PROPERTY, (name,))
