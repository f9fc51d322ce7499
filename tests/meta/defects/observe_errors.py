"""Whether a sandbox keeps the clauses on the errors array."""

from collections.abc import Iterator
from typing import Any

from tests.meta.defects.observe_contact import MANDATORY, errors, pairs, refused_with_errors, senders
from tests.meta.defects.observing import shows
from tests.meta.defects.samples import contact
from tests.meta.defects.wire import Answer
from tests.meta.defects.witness import Witness

CODES = {
    "Error.Mandatory",
    "Error.MandatoryAnyOf",
    "Error.InvalidValue",
    "Error.InvalidProperty",
    "Error.UnspecifiedLocale",
    "Error.UnexpectedTerm",
    "Error.InvalidType",
}


def faulty(witness: Witness) -> Iterator[Answer]:
    """Yield refusals of faulty content, by every operation and realm looked at."""
    for realm, send in senders(witness):
        for wrong in ({"firstName": ["a"]}, {"shoeSize": 1}, {"country": {"identifier": "nowhere"}}):
            yield send(contact(realm, **wrong))
    for realm in witness.realms:
        for _ in witness.at("createWorkflowRecord"):
            yield witness.submit(realm, body={"document": {"title": 5}})
        for _ in witness.at("createWorkflowRecordWithIdentifier"):
            yield witness.submit(realm, witness.uid(), body={"document": {"title": 5}})
        for _ in witness.at("updateWorkflowRecord"):
            yield witness.resubmit(witness.updatable(realm), realm, body={"document": {"title": 5}})


@shows("errors-array")
def faulty_content_has_an_errors_array(witness: Witness) -> None:
    for answer in faulty(witness):
        refused_with_errors(answer)


@shows("errors-element-shape")
def an_element_has_code_and_property(witness: Witness) -> None:
    for answer in faulty(witness):
        for each in errors(answer):
            assert isinstance(each, dict)
            assert isinstance(each.get("code"), str)
            assert isinstance(each.get("property"), str)


@shows("errors-code-known")
def codes_are_among_the_seven(witness: Witness) -> None:
    for answer in faulty(witness):
        assert {code for code, _ in pairs(answer)} <= CODES


def _coded(clause: str, code: str | None, name: str, value: Any) -> None:
    @shows(clause)
    def a_fault_has_its_code_and_property(witness: Witness) -> None:
        for realm, send in senders(witness):
            found = pairs(send(contact(realm, **{name: value})))
            assert any(code in {None, told} and str(field).startswith(name) for told, field in found), found


_coded("errors-code-invalid-type", "Error.InvalidType", "firstName", ["a"])
_coded("errors-code-invalid-property", "Error.InvalidProperty", "shoeSize", 1)
_coded("errors-code-unspecified-locale", "Error.UnspecifiedLocale", "organization", {"not a language": "x"})
_coded("errors-code-unexpected-term", "Error.UnexpectedTerm", "country", {"identifier": "nowhere"})
_coded("errors-property-names-field", None, "firstName", ["a"])


@shows("errors-code-mandatory")
def only_missing_fields_are_named_missing(witness: Witness) -> None:
    for realm, send in senders(witness):
        for name in MANDATORY:
            document = contact(realm)
            del document[name]
            named = {field for code, field in pairs(send(document)) if code == "Error.Mandatory"}
            assert not named & document.keys(), named


@shows("errors-several-faults")
def every_fault_is_named_at_once(witness: Witness) -> None:
    for realm, send in senders(witness):
        document = contact(realm, phones=5, gender="x")
        del document["lastName"]
        assert {"phones", "gender", "lastName"} <= {field for _, field in pairs(send(document))}


@shows("errors-absent-on-success")
def an_accepted_record_has_no_errors(witness: Witness) -> None:
    for operation in witness.operations:
        answer = witness.arranged(witness.wire.send(witness.valid(operation)))
        assert not (answer.json or {}).get("errors")
