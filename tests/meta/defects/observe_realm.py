"""Whether a sandbox keeps the clauses on realms."""

from dataclasses import replace

from tests.meta.defects.observing import shows
from tests.meta.defects.samples import WORKFLOW_SCHEMA
from tests.meta.defects.witness import Witness

UNKNOWN = "Realm is not configured, please provide valid realm."


@shows("realm-document-realms", "realm-workflow-realms")
def the_header_may_name_each_realm(witness: Witness) -> None:
    for operation in witness.operations:
        for realm in witness.realms:
            assert witness.wire.send(witness.valid(operation, realm)).ok, (operation, realm)


@shows("realm-query")
def the_query_may_name_the_realm(witness: Witness) -> None:
    for operation in witness.operations:
        for realm in WORKFLOW_SCHEMA:
            request = witness.valid(operation, realm)
            answer = witness.send_as(replace(request, query=f"Realm={realm}"), Realm=None)
            # A record of this realm can be updated but once.
            assert answer.ok or "locked" in answer.text, (operation, realm, answer.text)


@shows("realm-query-unknown")
def an_unknown_realm_in_the_query_is_refused(witness: Witness) -> None:
    for operation in witness.operations:
        request = replace(witness.valid(operation), query="Realm=no-such-realm")
        answer = witness.send_as(request, Realm=None)
        assert answer.status == 400
        assert UNKNOWN in answer.text


@shows("realm-attachments-without")
def attachments_need_no_realm(witness: Witness) -> None:
    for operation in witness.operations:
        assert witness.wire.send(witness.valid(operation)).ok, operation


@shows("realm-empty")
def an_empty_realm_is_refused(witness: Witness) -> None:
    for operation in witness.operations:
        assert witness.send_as(witness.valid(operation), Realm="").status == 400


@shows("realm-unknown-contact", "realm-unknown-draft-save")
def an_unknown_realm_is_refused(witness: Witness) -> None:
    for operation in witness.operations:
        assert witness.send_as(witness.valid(operation), Realm="no-such-realm").refused


@shows("realm-lists-apart")
def drafts_of_one_realm_are_not_listed_in_another(witness: Witness) -> None:
    uid = witness.saved(realm="bch-dev")
    assert uid in [item["identifier"] for item in witness.listed("bch-dev")]
    assert uid not in [item["identifier"] for item in witness.listed("abs-dev")]
