"""The OpenAPI description as one document, and the questions the suite asks of it."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from contracts.errors import UsageError
from contracts.interface.bundling import bundle
from contracts.interface.location import ROOT_FILE, openapi_directory
from contracts.interface.operations import (
    ANY_REALM,
    METHODS,
    WORKFLOW_REALMS,
    Operation,
    read_operations,
    segments,
)

__all__ = ["Description", "Operation", "load_description"]


@dataclass(frozen=True)
class Description:
    """The whole interface.

    Args:
        bundle: one OpenAPI document whose references all begin with ``#/components/``. Shared by everyone who
            loads it: read it, and copy it before changing anything.
        operations: the operations by ``operationId``, in the order of the description.

    """

    bundle: dict[str, Any]
    operations: Mapping[str, Operation]
    _by_shape: Mapping[tuple[str, int], tuple[Operation, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Sort templates by method and length, literal ones first, so that a match looks at a few only."""
        shapes: dict[tuple[str, int], list[Operation]] = {}
        for operation in sorted(self.operations.values(), key=lambda each: each.rank):
            shapes.setdefault((operation.method, len(segments(operation.path))), []).append(operation)
        object.__setattr__(self, "_by_shape", {shape: tuple(found) for shape, found in shapes.items()})

    def match(self, method: str, raw_path: str) -> tuple[Operation, dict[str, str]] | None:
        """Find the operation a request belongs to. Never raises, whatever the path.

        Args:
            method: the method, in any case.
            raw_path: the percent-encoded path below the base URL, as it went over the wire, so that an
                encoded slash stays part of its segment. A query behind it is left out of account.

        Returns:
            The operation and the decoded value of each placeholder (bytes that are not UTF-8 become U+FFFD),
            or ``None`` when the interface has no such path. A literal segment wins over a placeholder.

        """
        parts = segments(raw_path)
        for operation in self._by_shape.get((method.upper(), len(parts)), ()):
            values = operation.match(parts)
            if values is not None:
                return operation, values
        return None

    def for_realm(self, realm: str) -> dict[str, Any]:
        """Make the description of one realm.

        Only operations of the realm remain, the Realm parameter allows nothing else, and where examples are
        named after realms only those of this one are kept.

        Args:
            realm: a development realm, or ``any`` for the operations that know no realm.

        Returns:
            A copy of the bundle that the caller may change.

        Raises:
            UsageError: no operation has the realm.

        """
        kept = {operation.id for operation in self.operations.values() if realm in operation.realms}
        if not kept:
            known = ", ".join((*WORKFLOW_REALMS, ANY_REALM))
            raise UsageError(f"realm {realm!r} is not described; use one of {known}")
        document = copy.deepcopy(self.bundle)
        for path, item in list(document["paths"].items()):
            for method in METHODS:
                if method in item and item[method]["operationId"] not in kept:
                    del item[method]
            if not any(method in item for method in METHODS):
                del document["paths"][path]
        for node in _mappings(document):
            _narrow(node, realm)
        return document


def _mappings(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from _mappings(value)
    elif isinstance(node, list):
        for value in node:
            yield from _mappings(value)


def _narrow(node: dict[str, Any], realm: str) -> None:
    if node.get("name") == "Realm" and "in" in node:
        node["schema"] = {"type": "string", "enum": [realm]}
    examples = node.get("examples")
    if isinstance(examples, dict) and not examples.keys().isdisjoint(WORKFLOW_REALMS):
        node["examples"] = {
            name: value for name, value in examples.items() if name not in WORKFLOW_REALMS or name == realm
        }


def load_description(root: Path | None = None) -> Description:
    """Load the description; the same directory is read once per process.

    Args:
        root: directory of ``registry.yaml``; by default the suite's own.

    Returns:
        The description.

    Raises:
        UsageError: a file is missing or broken; one line that names the file and the place in it.

    """
    return _load((root or openapi_directory()).resolve())


@lru_cache(maxsize=8)
def _load(directory: Path) -> Description:
    joined = bundle(directory, ROOT_FILE)
    operations = {operation.id: operation for operation in read_operations(joined.document, joined.origins)}
    if not operations:
        raise UsageError(f"{ROOT_FILE}: describes no operation; write them below 'paths'")
    return Description(joined.document, MappingProxyType(operations))
