"""Every single fault that Schemathesis makes of the OpenAPI description, judged by the clause that covers it."""

from registry_contracts.cases import Case, Probe, contact_requests, contract, for_each_case, requests, smoke
from registry_contracts.interface.description import load_description

CONTACTS = requests.family("contact")
OTHERS = tuple(name for name in load_description().operations if name not in CONTACTS)


@smoke("createToken", requests=9)
@contract(requests=5, dealt=12, nightly=26, faults=True, operations=OTHERS)
@for_each_case
def test_single_faults_are_turned_down(case: Case, probe: Probe) -> None:
    """A request with one fault in it is refused wherever the document rules the fault out."""
    for fault in probe.due(case):
        probe.judge(fault)


@contract(
    *contact_requests.TOLD_CLAUSES,
    requests=50,
    dealt=150,
    nightly=270,
    faults=True,
    needs=("contact_schema",),
    operations=CONTACTS,
)
@for_each_case
def test_single_faults_of_contacts_are_told_by_their_errors(case: Case, probe: Probe) -> None:
    """A contact with one fault in it is refused, and its errors array names the fault in the documented form."""
    for fault in probe.due(case):
        probe.judge(fault)
