"""The OpenAPI description drives requests: inputs that it allows, and inputs that break it."""

from collections.abc import Callable

import pytest

from registry_contracts.cases import Case, Expect, Properties, World, contract, described_inputs
from registry_contracts.interface.description import load_description

#: Operations that leave nothing permanent behind.
OPERATIONS = ("saveDraft", "getDraft", "deleteDraft", "listDrafts", "listAttachments", "updateContact")
#: The others: they add files to documents, or their bodies break the description and are refused.
OTHERS = tuple(name for name in load_description().operations if name not in OPERATIONS)


Judge = Callable[[Case], None]


@pytest.fixture
def judge(world: World, expect: Expect, operation: str) -> Judge:
    """Send a generated case of the operation, and claim that the answer is as described."""
    return described_inputs.DescribedInputs(operation, world, expect).claim_as_described


@contract(*described_inputs.INPUT_CLAUSES)
@contract(operations=OPERATIONS, needs=(), requests=4.5, nightly=32, turns=True)
def test_drawn_inputs_are_answered_as_described(
    judge: Judge, properties: Properties, realm: str, operation: str
) -> None:
    """Allowed and forbidden inputs are answered as the description says, and saved drafts are kept."""
    properties.hold(described_inputs.inputs(operation, realm), judge, requests=4, each=1)


@contract(*described_inputs.ANSWER_CLAUSES, operations=OTHERS, profile="nightly", requests=27)
def test_drawn_inputs_of_the_other_operations_are_answered_as_described(
    judge: Judge, properties: Properties, realm: str, operation: str
) -> None:
    """Reads of files, and requests with lasting effects, are answered as the description says."""
    properties.hold(described_inputs.inputs(operation, realm), judge, requests=4, each=1)
