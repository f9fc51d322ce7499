"""Every single fault that the OpenAPI description allows to be made, judged by the clause that speaks about it."""

import pytest

from contracts.cases import Probe, contract, smoke
from contracts.interface.description import load_description


@smoke("createContact", every_realm=True, requests=1)
@smoke("createToken", requests=7)
@contract(requests=2, dealt=9, nightly=45, faults=True, operations=load_description().operations)
def test_single_faults_are_turned_down(probe: Probe, subtests: pytest.Subtests) -> None:
    """A request with one fault in it is refused wherever the document rules the fault out."""
    for fault in probe.faults:
        with subtests.test(fault.key):
            probe.judge(fault)
