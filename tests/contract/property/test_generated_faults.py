"""Every single fault that Schemathesis derives from the OpenAPI description, judged by the clause that covers it."""

from registry_contracts.cases import (
    Case,
    Probe,
    contact_requests,
    contract,
    requests,
    smoke,
    with_generated_cases,
)
from registry_contracts.interface.description import load_description

CONTACTS = requests.family("contact")
OTHERS = tuple(name for name in load_description().operations if name not in CONTACTS)


@smoke("createToken", requests=9)
@contract(requests=3.1, dealt=7, nightly=26, faults=True, operations=OTHERS)
@with_generated_cases
def test_single_faults_are_turned_down(cases: tuple[Case, ...], probe: Probe) -> None:
    """A request with one fault is refused if the document rules the fault out."""
    probe.judge_all(cases)


@smoke("updateContact")
@contract(*contact_requests.TOLD_CLAUSES, "errors-several-faults")
@contract(requests=31, nightly=270, faults=True, needs=("contact_schema",), operations=CONTACTS)
@with_generated_cases
def test_faults_of_contacts_are_told_by_their_errors(cases: tuple[Case, ...], probe: Probe) -> None:
    """A contact with a fault is refused, and the errors array names each fault in the documented form."""
    probe.judge_all(cases)
