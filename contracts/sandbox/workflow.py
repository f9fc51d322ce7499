"""Workflow submission: the faults of its body, the nine rows of the status table, and the five steps in their order.

Order of what is looked at, first fault wins:

1. anonymous (row 9), before anything else is read;
2. realm, header before query (rows 1 and 2), then schema (row 3);
3. the body is one JSON object;
4. step 1: identifier in use, not existing, or locked (rows 4, 5, 6);
5. step 2: rights of the caller (rows 7 and 8), securities created;
6. step 3: content; every fault at once in ``errors``, and nothing is stored;
7. step 4: the draft is saved; step 5: the workflow begins, which locks the record.

The identifier is the one in the path, else ``document.header.identifier``, else a new one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox import validation
from contracts.sandbox.authentication import Account
from contracts.sandbox.documents import Context, DraftOperations
from contracts.sandbox.habits import JsonAnswer, json_text
from contracts.sandbox.http import Fault, IdentifierRule, Reason, Refusal, decoded_segment
from contracts.sandbox.storage import Records
from contracts.sandbox.validation import Expectation, Realm, RecordType

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
        context: what the operations share; its validator judges the document.

    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.limits = {"additionalInfo": ADDITIONAL_INFO_LIMIT, "batchId": BATCH_ID_LIMIT}

    def faults(self, submission: Submission, records: Records) -> list[Fault]:
        """Return every fault of a submission.

        Args:
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
        return self.context.validator.faults(document, expectation)

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
        if self.context.habits.unknown_submission_members_refused:
            for name in body:
                if name not in {"document", *self.limits}:
                    yield Fault(validation.INVALID_PROPERTY, (name,))


class Row(Enum):
    """The rows of the table (Errors, "Workflow endpoint status codes"): status and message."""

    REALM_MISSING = (400, "realm param is missing, please provide valid realm in querystring or httpHeaders")
    REALM_UNKNOWN = (400, "Realm is not configured, please provide valid realm.")
    SCHEMA_UNKNOWN = (400, "Schema not configured for the given realm ${realm}.")
    IN_USE = (400, "A document with the identifier exists, please use a different 'identifier'.")
    NOT_EXISTING = (
        400,
        "A document with the identifier does not exist, please provide correct 'identifier' to update.",
    )
    LOCKED = (400, "The record is locked for workflow, cannot proceed.")
    MAY_NOT_UPDATE = (403, "Insufficient rights to update the draft record.")
    MAY_NOT_CREATE = (403, "Insufficient rights to create a draft record.")
    ANONYMOUS = (403, "Authorization required, user is anonymous.")

    def refusal(self, realm: str = "") -> Refusal:
        """Return the refusal of this row, with the realm's name filled in."""
        status, message = self.value
        return Refusal(Reason.STATED, message.replace("${realm}", realm), status=status)


@dataclass(frozen=True)
class Entry:
    """Who submits, where, and what kind of record."""

    caller: Account
    realm: Realm
    kind: RecordType


class WorkflowOperations:
    """Answers the three workflow operations.

    Args:
        submissions: finds the faults of a submission.
        drafts: keeps the document of a submission as the record's draft.

    """

    def __init__(self, context: Context, submissions: SubmissionCheck, drafts: DraftOperations) -> None:
        self.context = context
        self.submissions = submissions
        self.drafts = drafts

    async def create(self, request: Request) -> Response:
        """Submit a new record, without an identifier in the path."""
        return await self._submit(request, creating=True, addressed=False)

    async def create_with_identifier(self, request: Request) -> Response:
        """Submit a new record under the identifier in the path."""
        return await self._submit(request, creating=True, addressed=True)

    async def update(self, request: Request) -> Response:
        """Submit a new state of the existing record in the path."""
        return await self._submit(request, creating=False, addressed=True)

    async def _submit(self, request: Request, *, creating: bool, addressed: bool) -> Response:
        context = self.context
        entry = self.enter(request)
        path_identifier = context.identifiers.from_path(request, "identifier") if addressed else None
        body = (await context.body.read_object(request)).value
        submission = Submission(entry.caller, entry.realm, entry.kind, path_identifier, body, creating)
        with context.storage.transaction() as records:
            identifier = self.run(submission, records)
        return self._answer(submission, identifier)

    def _answer(self, submission: Submission, identifier: str) -> Response:
        habits = self.context.habits
        status = habits.workflow_created_status if submission.creating else habits.workflow_updated_status
        record: dict[str, Any] = {
            habits.identifier_member: identifier,
            "schema": submission.kind.name,
            "realm": submission.realm.name,
        }
        # The document states that this response carries the identifier, so it always has a body.
        return JsonAnswer(record, status)

    def enter(self, request: Request) -> Entry:
        """Return who submits, in which realm and for which schema.

        Raises:
            Refusal: rows 9, 1, 2 and 3, in this order.

        """
        caller = self.require_identity(request)
        realm = self.require_realm(request)
        return Entry(caller, realm, self.require_schema(request, realm))

    def require_identity(self, request: Request) -> Account:
        """Return the caller; refuse an anonymous one with row 9 (Authentication 5)."""
        caller = self.context.identity.caller(request)
        if caller is None:
            raise Row.ANONYMOUS.refusal()
        return caller

    def require_realm(self, request: Request) -> Realm:
        """Return the realm of header or query; refuse with row 1 or 2."""
        name = self.context.realms.given(request)
        if name is None:
            raise Row.REALM_MISSING.refusal()
        realm = self.context.realms.named(name)
        if realm is None:
            raise Row.REALM_UNKNOWN.refusal()
        return realm

    def require_schema(self, request: Request, realm: Realm) -> RecordType:
        """Return the record type in the path; refuse with row 3."""
        kind = realm.types.get(decoded_segment(request.path_params["schema"]) or "")
        if kind is None:
            raise Row.SCHEMA_UNKNOWN.refusal(realm.name)
        return kind

    def run(self, submission: Submission, records: Records) -> str:
        """Perform the five steps in order and return the record's identifier (States and transitions)."""
        identifier = self.check_identifier(submission, records)
        self.create_securities(submission, identifier, records)
        self.validate(submission, records)
        self.save_draft(submission, identifier, records)
        self.initiate(submission, identifier, records)
        return identifier

    def check_identifier(self, submission: Submission, records: Records) -> str:
        """Step 1: return the identifier; refuse with row 4 (POST), 5 or 6 (PUT)."""
        identifier = submission.given_identifier(self.context.identifiers)
        if identifier is None:
            return self.context.identifiers.mint()
        exists = records.owner(submission.realm.name, identifier) is not None
        if submission.creating:
            if exists:
                raise Row.IN_USE.refusal()
            return identifier
        if not exists:
            raise Row.NOT_EXISTING.refusal()
        if records.is_locked(submission.realm.name, identifier):
            raise Row.LOCKED.refusal()
        return identifier

    def create_securities(self, submission: Submission, identifier: str, records: Records) -> None:
        """Step 2: settle who may write the record; refuse with row 7 (PUT) or 8 (POST)."""
        rights = self.context.rights
        if submission.creating:
            if not rights.may_create(submission.caller):
                raise Row.MAY_NOT_CREATE.refusal()
            return
        owner = records.owner(submission.realm.name, identifier)
        if owner is None or not rights.may_update(submission.caller, owner):
            raise Row.MAY_NOT_UPDATE.refusal()

    def validate(self, submission: Submission, records: Records) -> None:
        """Step 3: refuse faulty content with every fault in ``errors``."""
        faults = self.submissions.faults(submission, records)
        if faults:
            # The response carries the record identifier and, on content problems, an errors array.
            identifier = submission.given_identifier(self.context.identifiers)
            message = "The submission is not valid."
            raise Refusal(Reason.INVALID_CONTENT, message, faults=faults, identifier=identifier)

    def save_draft(self, submission: Submission, identifier: str, records: Records) -> None:
        """Step 4: save the document as the record's draft."""
        self.drafts.keep(
            records,
            caller=submission.caller,
            realm=submission.realm,
            uid=identifier,
            schema=submission.kind.name,
            content=json_text(submission.body["document"]),
        )

    def initiate(self, submission: Submission, identifier: str, records: Records) -> None:
        """Step 5: begin the workflow; from now on the record is locked."""
        moment = self.context.clock.now()
        records.lock(submission.realm.name, identifier, submission.caller.name, moment)
