"""Workflow submission: the nine rows of the status table, and the five steps in their order.

Order of the checks; the first refusal wins:

1. anonymous (row 9), before anything else is read;
2. realm, header before query (rows 1 and 2), then schema (row 3);
3. the body is one JSON object;
4. step 1: identifier in use, not existing, or locked (rows 4, 5, 6);
5. step 2: rights of the caller (rows 7 and 8), securities created;
6. step 3: content; every problem at once in ``errors``, and nothing is stored;
7. step 4: the draft is saved; step 5: the workflow begins, which locks the record.

The identifier is the one in the path, else ``document.header.identifier``, else a new one.

A locked record is one whose submission was accepted. Nothing unlocks it. From then on
- PUT on it is refused with row 6, for everybody, before rights and content are looked at; POST with row 4, as in use;
- it exists for every other purpose: references to it hold, and its owner stays the one who submitted it;
- its draft is read, listed, saved and deleted as any other (the lock stays), and it takes attachments.
"""

import asyncio
from dataclasses import dataclass
from enum import Enum
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from registry_contracts.sandbox.authentication import Account, may_update
from registry_contracts.sandbox.documents import Handlers
from registry_contracts.sandbox.http import (
    Problem,
    Reason,
    Refusal,
    bad_request,
    decoded_segment,
    identifier_in_path,
    is_identifier,
    new_identifier,
)
from registry_contracts.sandbox.responses import INVALID_VALUE, MANDATORY, is_shown, json_response, json_text
from registry_contracts.sandbox.storage import DRAFT, PUBLISHED, Records
from registry_contracts.sandbox.validation import (
    INVALID_PROPERTY,
    INVALID_TYPE,
    Expectation,
    Problems,
    Realm,
    RecordType,
    header_of,
)


@dataclass(frozen=True)
class Submission:
    """One request to the workflow endpoint; its body is not judged yet, and PUT unless ``creating``."""

    caller: Account
    realm: Realm
    kind: RecordType
    path_identifier: str | None
    body: dict[str, Any]
    creating: bool

    def given_identifier(self, *, header_names: bool = True) -> str | None:
        """Return the identifier of the path, else a well-formed one in the document's header, else ``None``."""
        if self.path_identifier is not None or not header_names:
            return self.path_identifier
        identifier = header_of(self.body.get("document")).get("identifier")
        return identifier if isinstance(identifier, str) and is_identifier(identifier) else None


#: The most characters of the texts beside the document.
_LIMITS = {"additionalInfo": 1000, "batchId": 100}


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
        return Refusal(Reason.BAD_REQUEST, message.replace("${realm}", realm), status=status)


class Workflow(Handlers):
    """Answers the three workflow operations."""

    async def submit(self, request: Request) -> Response:
        """Submit a new record (POST), or a new state of an existing one (PUT)."""
        context = self.context
        caller, realm, kind = self.enter(request)
        creating, addressed = request.method == "POST", "identifier" in request.path_params
        path_identifier = identifier_in_path(request, "identifier") if addressed else None
        body = (await context.body.read_object(request)).value
        submission = Submission(caller, realm, kind, path_identifier, body, creating)
        with context.storage.transaction() as records:
            identifier = self.run(submission, records)
        # The document states that this response carries the identifier, so it always has a body.
        answer: dict[str, Any] = {
            self.habits.identifier_member: identifier,
            "schema": kind.name,
            "realm": realm.name,
        }
        answer = {name: value for name, value in answer.items() if is_shown(self.habits, name)}
        if self.habits.submissions_furnished:
            workflow = {"_id": uuid4().hex[:24], "state": "running", "activities": [{"name": "review"}]}
            answer = {"workflow": workflow, "correlationId": str(uuid4()), "document": answer}
        created, updated = self.habits.workflow_created_status, self.habits.workflow_updated_status
        return json_response(answer, created if creating else updated)

    def enter(self, request: Request) -> tuple[Account, Realm, RecordType]:
        """Return who submits, in which realm and for which schema; refuse with rows 9, 1, 2 and 3, in this order."""
        if not self.habits.realm_before_identity:
            self.require_identity(request)
        realm = self.require_realm(request)
        kind = self.require_schema(request, realm)
        return self.require_identity(request), realm, kind

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
            capitals = self.habits.message_realm_capitals
            raise Row.SCHEMA_UNKNOWN.refusal(realm.name.upper() if capitals else realm.name)
        return kind

    def run(self, submission: Submission, records: Records) -> str:
        """Perform the five steps in order and return the record's identifier (States and transitions)."""
        moment = self.habits.rights_checked
        if moment == "first":
            self.create_securities(submission, submission.path_identifier or "", records)
        identifier = self.check_identifier(submission, records)
        if moment == "second":
            self.create_securities(submission, identifier, records)
        self.validate(submission, records)
        if moment == "last":
            self.create_securities(submission, identifier, records)
        self._store(submission, identifier, DRAFT, records)
        self.initiate(submission, identifier, records)
        return identifier

    def check_identifier(self, submission: Submission, records: Records) -> str:
        """Step 1: return the identifier; refuse with row 4 (POST), 5 or 6 (PUT)."""
        realm = submission.realm.name
        identifier = submission.given_identifier(header_names=not self.habits.records_minted)
        if identifier is None:
            return new_identifier(self.habits)
        exists = records.owner(realm, identifier) is not None
        if submission.creating:
            exists = self.context.taken(records, submission.realm, identifier)
        if self.habits.drafts_not_existing:
            exists = records.submitted(realm, identifier)
        locked = records.is_locked(realm, identifier)
        if submission.creating and exists:
            raise (Row.LOCKED if locked and self.habits.locked_before_taken else Row.IN_USE).refusal()
        if not submission.creating and not exists:
            raise Row.NOT_EXISTING.refusal()
        if not submission.creating and locked:
            raise Row.LOCKED.refusal()
        return identifier

    def create_securities(self, submission: Submission, identifier: str, records: Records) -> None:
        """Step 2: settle who may write the record; refuse with row 7 (PUT) or 8 (POST)."""
        caller = submission.caller
        if submission.creating:
            if not caller.may_write:
                raise Row.MAY_NOT_CREATE.refusal()
            return
        # Step 1 refuses a record that does not exist, for callers who may write.
        owner = records.owner(submission.realm.name, identifier) or caller.name
        if not may_update(caller, owner, shared=self.habits.authors_update_all):
            raise Row.MAY_NOT_UPDATE.refusal()

    def validate(self, submission: Submission, records: Records) -> None:
        """Step 3: refuse faulty content with every problem in ``errors``."""
        problems = self.problems(submission, records)
        if problems:
            # The response carries the record identifier and, on content problems, an errors array.
            identifier = submission.given_identifier()
            self.context.note_refused(submission.realm, submission.path_identifier)
            message = "The submission is not valid."
            raise Refusal(Reason.INVALID_CONTENT, message, problems=problems, identifier=identifier)

    def problems(self, submission: Submission, records: Records) -> list[Problem]:
        """Return every problem of a submission: of the document, then of the members of the body."""
        body, document = submission.body, submission.body.get("document")
        if document is None:
            found = [Problem(MANDATORY, ("document",))]
        elif not isinstance(document, dict):
            found = [Problem(INVALID_TYPE, ("document",))]
        else:
            knows = self.context.knows(records, submission.realm)
            expectation = Expectation(submission.kind, submission.path_identifier, knows)
            found = self.context.validator.problems(document, expectation)
        for member in _LIMITS:
            found += self.of_text(body, member)
        if self.habits.info_for_nau_only and "additionalInfo" in body and not submission.caller.holds_nau:
            found = [problem for problem in found if problem.path[0] != "additionalInfo"]
            found.append(Problem(INVALID_PROPERTY, ("additionalInfo",)))
        if not self.habits.submission_members_ignored:
            unknown = (name for name in body if name not in {"document", *_LIMITS})
            found += [Problem(INVALID_PROPERTY, (name,)) for name in unknown]
        return self.context.judged(body, found)

    def of_text(self, body: dict[str, Any], member: str) -> Problems:
        """Yield the problems of an optional text with a limit, in characters as the document says, not in bytes."""
        text = body.get(member)
        if member not in body or (text is None and self.habits.nulls_absent):
            return
        if self.habits.numbers_as_text and isinstance(text, int | float) and not isinstance(text, bool):
            text = json_text(text)
        if not isinstance(text, str):
            yield Problem(INVALID_TYPE, (member,))
            return
        units = len(text) + (sum(sign > "\uffff" for sign in text) if self.habits.lengths_utf16 else 0)
        if units > _LIMITS[member] and self.habits.limits_in_message:
            raise bad_request(f"{member} is longer than {_LIMITS[member]} characters")
        if units > _LIMITS[member] or (text == "" and self.habits.empty_texts_refused):
            yield Problem(INVALID_VALUE, (member,))

    def initiate(self, submission: Submission, identifier: str, records: Records) -> None:
        """Step 5: begin the workflow; from now on the record is locked."""
        if self.habits.drafts_published_soon:
            asyncio.get_running_loop().call_later(0.5, self._publish, submission.realm.name, identifier)
            return
        if self.habits.batches_wait and submission.body.get("batchId"):
            return
        if self.habits.submissions_publish:
            self._store(submission, identifier, PUBLISHED, records)
        else:
            delay, seconds = self.habits.lock_delay, self.habits.lock_seconds
            records.lock(submission.realm.name, identifier, submission.caller.name, delay, seconds)

    def _publish(self, realm: str, identifier: str) -> None:
        """Make the published version of a draft, which leaves."""
        with self.context.storage.transaction() as records:
            draft = records.version(realm, identifier, DRAFT)
            if draft is not None:
                what = {"schema": draft.schema, "owner": draft.owner, "content": draft.content}
                records.store(realm, identifier, PUBLISHED, **what)
                records.remove_draft(realm, identifier)

    def _store(self, submission: Submission, identifier: str, state: str, records: Records) -> None:
        what = {"schema": submission.kind.name, "owner": submission.caller.name}
        content = json_text(submission.body.get("document"))
        records.store(submission.realm.name, identifier, state, content=content, **what)
