"""Every single fault that Schemathesis makes of the OpenAPI description, judged by the clause that speaks about it."""

import pytest

from contracts.cases import Case, Probe, contract, for_each_case, smoke
from contracts.interface.description import load_description


@smoke("createToken", requests=14)
@contract(requests=5, dealt=29, nightly=53, faults=True, operations=load_description().operations)
@for_each_case
def test_single_faults_are_turned_down(case: Case, probe: Probe, subtests: pytest.Subtests) -> None:
    """A request with one fault in it is refused wherever the document rules the fault out."""
    for fault in probe.due(case):
        with subtests.test(fault.key):
            probe.judge(fault)
