"""What a contract test uses, from one place: `from registry_contracts.cases import Expect, World, contract, drafts`.

Values send nothing (`sample_records`, `contents`, `identifiers`, `generated_cases`, `hostile_input`);
arrangements and requests send (`World`, `requests`, `WorkflowRecords`, …). What is called `claim_…` asserts, and raises
`Contradiction` where a must does not hold; what is called `need_…` raises `Blocked` where something does not hold that
has a finding of its own: the body asks for it, or `contract(relies_on=[…])` does. Either raises `Blocked` for a server
error, and `EnvironmentFault` without an answer.

A name is imported when it is first asked for: the commands use a few light modules of this package, and the claims
and generators behind the others take most of a second to import.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from registry_contracts.cases.names import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """The value of a name that this package hands on; its modules are imported as ever."""
    if name.startswith("_") or find_spec(f"{__name__}.{name}") is not None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.names"), name)
