"""Whether a sandbox keeps the order of the steps of a submission."""

from dataclasses import replace

from tests.meta.defects.observe_workflow import (
    ABSENT,
    LOCKED,
    TAKEN,
    UNKNOWN_REALM,
    UNKNOWN_SCHEMA,
    row,
    senders,
)
from tests.meta.defects.observing import shows
from tests.meta.defects.samples import record, submission_path
from tests.meta.defects.witness import Witness

FAULTY = {"document": {"title": 5}}


@shows("workflow-order-taken-before-validation")
def the_identifier_comes_before_the_content_on_create(witness: Witness) -> None:
    row(witness.submit(identifier="sandbox-existing-abs-dev", body=FAULTY), 400, TAKEN)


@shows("workflow-order-unknown-before-validation")
def the_identifier_comes_before_the_content_on_update(witness: Witness) -> None:
    row(witness.resubmit(witness.uid(), body=FAULTY), 400, ABSENT)


@shows("workflow-order-locked-before-validation")
def the_lock_comes_before_the_content(witness: Witness) -> None:
    row(witness.resubmit("sandbox-locked-abs-dev", body=FAULTY), 400, LOCKED)


@shows("workflow-order-unknown-before-rights")
def the_identifier_comes_before_the_rights_on_update(witness: Witness) -> None:
    row(witness.resubmit(witness.uid(), role="restricted"), 400, ABSENT)


@shows("workflow-order-taken-before-rights")
def the_identifier_comes_before_the_rights_on_create(witness: Witness) -> None:
    row(witness.submit(identifier="sandbox-existing-abs-dev", role="restricted"), 400, TAKEN)


@shows("workflow-order-locked-before-rights")
def the_lock_comes_before_the_rights(witness: Witness) -> None:
    row(witness.resubmit("sandbox-locked-abs-dev", role="restricted"), 400, LOCKED)


@shows("workflow-order-rights-before-validation")
def the_rights_come_before_the_content(witness: Witness) -> None:
    for _, _, send in senders(witness):
        assert send(FAULTY, role="restricted").status == 403


@shows("workflow-order-realm-before-schema")
def the_realm_comes_before_the_schema(witness: Witness) -> None:
    for operation in witness.operations:
        request = witness.valid(operation)
        unknown = replace(request, path=request.path.replace("absPermit", "noSuchSchema"))
        row(witness.send_as(unknown, Realm="no-such-realm"), 400, UNKNOWN_REALM)


@shows("workflow-order-schema-before-document")
def the_schema_comes_before_the_document(witness: Witness) -> None:
    answer = witness.send("POST", submission_path("abs-dev", schema="noSuchSchema"), {"document": {}})
    row(answer, 400, UNKNOWN_SCHEMA.format(realm="abs-dev"))


@shows("workflow-order-validation-before-save")
def a_refused_submission_leaves_no_draft(witness: Witness) -> None:
    uid = witness.uid()
    assert witness.submit(identifier=uid, body=FAULTY).refused
    assert not witness.exists(uid)


@shows("workflow-refused-update-keeps-draft")
def a_refused_update_keeps_the_draft(witness: Witness) -> None:
    uid = witness.saved(record())
    assert witness.resubmit(uid, body=FAULTY).refused
    assert witness.get(uid).json == record()


@shows("workflow-refused-frees-identifier")
def a_refused_submission_frees_its_identifier(witness: Witness) -> None:
    uid = witness.uid()
    assert witness.submit(identifier=uid, body=FAULTY).refused
    answer = witness.submit(identifier=uid)
    assert answer.ok, answer.text


@shows("workflow-rights-refusal-stores-nothing")
def a_submission_without_rights_stores_nothing(witness: Witness) -> None:
    uid = witness.uid()
    assert witness.submit(identifier=uid, role="restricted").refused
    answer = witness.submit(identifier=uid)
    assert answer.ok, answer.text
