"""The must clauses that no defect breaks, because nothing at the interface would show it."""

from collections.abc import Mapping
from types import MappingProxyType

UNBREAKABLE: Mapping[str, str] = MappingProxyType(
    {
        "attachment-persist-no-limit": "no operation makes a temporary file, so a large one cannot be had",
        "head-without-body": "HTTP itself keeps content away from HEAD: the server drops it, clients do not read it",
        "realm-production": "the sandbox is a development environment and has no production realm",
        "token-separate-environments": "it takes two environments, and the sandbox is one",
        "workflow-initiated": "no operation shows a workflow or its state",
        "workflow-order-save-before-initiate": "neither step can be made to fail, and no answer shows them apart",
    }
)
"""The reason for each, by the id of the clause."""
