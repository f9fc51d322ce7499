"""What a contract test uses, from one place: `from registry_contracts.cases import Expect, World, contract, drafts`.

`sample_records`, `contents`, `identifiers`, `generated_cases` and `hostile_input` hold values and send nothing.
`World`, `requests` and `WorkflowRecords` send requests. A function named `claim_…` asserts a clause: it raises
`Contradiction` if a MUST does not hold. A function named `need_…` checks a precondition that has a finding of its own:
it raises `Blocked` if that does not hold. Call it in the body or name it in `contract(relies_on=[…])`. Both kinds
raise `Blocked` for a server error and `EnvironmentFault` if no answer comes.

Names are imported on first use: the commands need a few light modules only, and the claims and generators take most
of a second to import.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from registry_contracts.cases.names import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """The value of an exported name; submodules are imported in the usual way."""
    if name.startswith("_") or find_spec(f"{__name__}.{name}") is not None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.names"), name)
