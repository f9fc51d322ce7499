"""Every single fault that the OpenAPI description allows to be made, judged by the clause that speaks about it."""

import pytest

from contracts.cases import Probe, contract
from contracts.interface.description import load_description


@contract(faults=True, operations=load_description().operations, requests=50)
def test_single_faults_are_turned_down(probe: Probe, subtests: pytest.Subtests) -> None:
    """A request with one fault in it is refused wherever the document rules the fault out."""
    for fault in probe.faults:
        with subtests.test(fault.key):
            probe.judge(fault)
