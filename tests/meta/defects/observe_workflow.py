"""Whether a sandbox keeps the clauses on submissions."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tests.meta.defects.observing import shows
from tests.meta.defects.samples import WORKFLOW_SCHEMA, record
from tests.meta.defects.wire import Answer
from tests.meta.defects.witness import Witness

CREATE = "createWorkflowRecord"
CREATE_WITH = "createWorkflowRecordWithIdentifier"
UPDATE = "updateWorkflowRecord"
MISSING_REALM = "realm param is missing, please provide valid realm in querystring or httpHeaders"
UNKNOWN_REALM = "Realm is not configured, please provide valid realm."
UNKNOWN_SCHEMA = "Schema not configured for the given realm {realm}."
TAKEN = "A document with the identifier exists, please use a different 'identifier'."
ABSENT = "A document with the identifier does not exist, please provide correct 'identifier' to update."
LOCKED = "The record is locked for workflow, cannot proceed."
MAY_NOT_UPDATE = "Insufficient rights to update the draft record."
MAY_NOT_CREATE = "Insufficient rights to create a draft record."
ANONYMOUS = "Authorization required, user is anonymous."
Send = Callable[..., Answer]


def row(answer: Answer, status: int, message: str) -> None:
    assert answer.status == status, (answer.status, answer.text)
    assert message in answer.text, answer.text


def senders(witness: Witness) -> Iterator[tuple[str, str, Send]]:
    """Yield operation, realm and the way to submit a body on fresh data, for what is looked at."""
    for realm in witness.realms:
        for _ in witness.at(CREATE):
            yield CREATE, realm, _sender(witness, CREATE, realm)
        for _ in witness.at(CREATE_WITH):
            yield CREATE_WITH, realm, _sender(witness, CREATE_WITH, realm)
        for _ in witness.at(UPDATE):
            yield UPDATE, realm, _sender(witness, UPDATE, realm)


def _sender(witness: Witness, operation: str, realm: str) -> Send:
    def send(body: Any = None, **options: Any) -> Answer:
        if operation == CREATE:
            return witness.submit(realm, None, body, **options)
        if operation == CREATE_WITH:
            return witness.submit(realm, witness.uid(), body, **options)
        return witness.resubmit(witness.updatable(realm), realm, body, **options)

    return send


@shows("workflow-realm-missing")
def a_submission_needs_a_realm(witness: Witness) -> None:
    for operation in witness.operations:
        row(witness.send_as(witness.valid(operation), Realm=None), 400, MISSING_REALM)


@shows("workflow-realm-unknown")
def a_realm_has_to_be_configured(witness: Witness) -> None:
    for operation in witness.operations:
        row(witness.send_as(witness.valid(operation), Realm="no-such-realm"), 400, UNKNOWN_REALM)


@shows("workflow-schema-unknown")
def a_schema_has_to_be_configured(witness: Witness) -> None:
    for operation in witness.operations:
        for realm in witness.realms:
            request = witness.valid(operation, realm)
            path = request.path.replace(WORKFLOW_SCHEMA[realm], "noSuchSchema")
            row(witness.wire.send(replace(request, path=path)), 400, UNKNOWN_SCHEMA.format(realm=realm))


@shows("workflow-schema-of-another-realm")
def a_schema_belongs_to_its_realm(witness: Witness) -> None:
    for operation in witness.operations:
        request = witness.valid(operation, "abs-dev")
        path = request.path.replace("absPermit", "chmProfile")
        answer = witness.wire.send(replace(request, path=path))
        row(answer, 400, UNKNOWN_SCHEMA.format(realm="abs-dev"))


@shows("workflow-identifier-taken")
def an_identifier_in_use_cannot_be_created(witness: Witness) -> None:
    for realm in witness.realms:
        row(witness.submit(realm, f"sandbox-existing-{realm}"), 400, TAKEN)


@shows("workflow-identifier-unknown")
def an_identifier_that_does_not_exist_cannot_be_updated(witness: Witness) -> None:
    for realm in witness.realms:
        row(witness.resubmit(witness.uid(), realm), 400, ABSENT)


@shows("workflow-locked-record")
def a_locked_record_cannot_be_updated(witness: Witness) -> None:
    for realm in witness.realms:
        row(witness.resubmit(f"sandbox-locked-{realm}", realm), 400, LOCKED)


@shows("workflow-update-rights", "workflow-create-rights")
def an_account_without_rights_is_refused(witness: Witness) -> None:
    for operation, _, send in senders(witness):
        row(send(role="restricted"), 403, MAY_NOT_UPDATE if operation == UPDATE else MAY_NOT_CREATE)


@shows("workflow-anonymous")
def an_anonymous_submission_is_refused(witness: Witness) -> None:
    for operation in witness.operations:
        row(witness.send_as(witness.valid(operation), Authorization=None), 403, ANONYMOUS)


@shows(
    "workflow-create-accepted",
    "workflow-create-with-identifier-accepted",
    "workflow-update-accepted",
)
def a_valid_submission_is_accepted(witness: Witness) -> None:
    for _, _, send in senders(witness):
        answer = send()
        assert answer.ok, answer.text


@shows("workflow-identifier-returned", "workflow-identifier-kept")
def the_answer_carries_the_identifier(witness: Witness) -> None:
    for realm in witness.realms:
        for _ in witness.at(CREATE):
            told = witness.arranged(witness.submit(realm)).json.get("identifier")
            assert isinstance(told, str)
            assert told
        for _ in witness.at(CREATE_WITH):
            uid = witness.uid()
            assert f'"{uid}"' in witness.arranged(witness.submit(realm, uid)).text
        for _ in witness.at(UPDATE):
            uid = witness.updatable(realm)
            assert f'"{uid}"' in witness.arranged(witness.resubmit(uid, realm)).text


@shows("workflow-created-exists")
def a_submitted_record_cannot_be_created_again(witness: Witness) -> None:
    uid = witness.uid()
    witness.arranged(witness.submit(identifier=uid))
    assert witness.submit(identifier=uid).refused


@shows("workflow-created-known")
def a_submitted_record_is_known_to_an_update(witness: Witness) -> None:
    uid = witness.uid()
    witness.arranged(witness.submit(identifier=uid))
    assert "does not exist" not in witness.resubmit(uid).text


@shows("workflow-distinct-identifiers")
def two_records_have_two_identifiers(witness: Witness) -> None:
    told = [witness.arranged(witness.submit()).json["identifier"] for _ in range(2)]
    assert told[0] != told[1]


def _all_refused(*bodies: Any) -> Callable[[Witness], None]:
    def a_faulty_body_is_refused(witness: Witness) -> None:
        for _, _, send in senders(witness):
            for body in bodies:
                assert send(body).refused, body

    return a_faulty_body_is_refused


shows("workflow-document-missing")(_all_refused({}, {"batchId": "b"}))
shows("workflow-document-kind")(_all_refused({"document": []}, {"document": "text"}, {"document": 5}))


@shows("workflow-document-validated")
def a_document_has_to_be_valid(witness: Witness) -> None:
    for _, _, send in senders(witness):
        answer = send({"document": {}})
        assert answer.refused
        assert answer.json.get("errors")


@shows("workflow-body-kind")
def a_submission_is_an_object(witness: Witness) -> None:
    for operation, _, send in senders(witness):
        for body in ([record()], "text", b"null"):
            assert send(body).refused, body
        assert witness.wire.send(replace(witness.valid(operation), body=b"")).refused


@shows("workflow-batch-longest")
def a_batch_id_may_have_100_characters(witness: Witness) -> None:
    for _, realm, send in senders(witness):
        answer = send({"document": record(realm), "batchId": "b" * 100})
        assert answer.ok, answer.text


def _too_long(witness: Witness, member: str, limit: int) -> None:
    for _, realm, send in senders(witness):
        for length in (limit + 1, limit + 2, limit * 10):
            assert send({"document": record(realm), member: "x" * length}).refused, length
    for _ in witness.at(CREATE_WITH):
        uid = witness.uid()
        assert witness.submit(identifier=uid, body={"document": record(), member: "x" * (limit + 1)}).refused
        assert witness.submit(identifier=uid).ok


@shows("workflow-batch-too-long")
def a_batch_id_of_101_characters_is_refused(witness: Witness) -> None:
    _too_long(witness, "batchId", 100)


@shows("workflow-info-too-long")
def an_additional_info_of_1001_characters_is_refused(witness: Witness) -> None:
    _too_long(witness, "additionalInfo", 1000)


@shows("workflow-batch-shared")
def a_batch_holds_several_records(witness: Witness) -> None:
    batch = witness.uid()
    for _ in range(2):
        for _, realm, send in senders(witness):
            answer = send({"document": record(realm), "batchId": batch})
            assert answer.ok, answer.text


@shows("workflow-batch-kind", "workflow-info-kind")
def batch_and_info_are_strings(witness: Witness) -> None:
    for _, realm, send in senders(witness):
        for member in ("batchId", "additionalInfo"):
            for wrong in (5, ["a"], {"a": 1}):
                assert send({"document": record(realm), member: wrong}).refused, (member, wrong)


@shows("workflow-batch-characters")
def a_batch_id_is_measured_in_characters(witness: Witness) -> None:
    for _, realm, send in senders(witness):
        assert send({"document": record(realm), "batchId": "é" * 100}).ok


@shows("workflow-info-longest")
def a_nau_may_say_1000_characters(witness: Witness) -> None:
    for _, realm, send in senders(witness):
        for letter in ("x", "é"):
            assert send({"document": record(realm), "additionalInfo": letter * 1000}, role="nau").ok


@shows("workflow-draft-saved")
def an_accepted_submission_leaves_its_draft(witness: Witness) -> None:
    for _ in range(6):
        uid = witness.uid()
        witness.arranged(witness.submit(identifier=uid))
        assert witness.get(uid).json == record()
