"""Loads the OpenAPI description: joins its files into one document, as published and as the suite judges by it.

The code is our own, since the maintained Python libraries inline every reference, rename components after file paths,
or stop at OpenAPI 3.0. Each path has a file; every other referenced part stands in
``components/<kind>/<file>.yaml#/<Name>`` and becomes ``#/components/<kind>/<Name>``.
"""

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import yaml

from registry_contracts.errors import UsageError
from registry_contracts.interface.location import ROOT_FILE, openapi_directory
from registry_contracts.interface.operations import (
    ANY_REALM,
    METHODS,
    WORKFLOW_REALMS,
    Operation,
    in_realms,
    read_operations,
    segments,
)

#: The suite judges by its members; clients rely on those beside it.
_JUDGED_AS = "x-judged-as"
#: The statuses with which the sandbox answers an operation.
_ANSWERS = "x-sandbox-answers"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML without dates: a timestamp in an example stays the string that JSON would carry."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}


def read_yaml(path: Path, shown: str) -> Any:
    """Read a YAML file, called `shown` in messages; dates stay strings, as in JSON.

    Raises:
        UsageError: the file is missing or is not YAML; names the line and column where the reader stopped.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506 - a safe loader, see above
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as fault:
        raise UsageError(f"{shown}: cannot be read as YAML: {' '.join(str(fault).split())}") from fault


def _join(directory: Path) -> dict[str, Any]:
    """Join the description below a directory to a document in which every ``$ref`` begins with ``#/components/``.

    Raises:
        UsageError: a file is not YAML, or two files define one component's name.
    """
    document: dict[str, Any] = read_yaml(directory / ROOT_FILE, ROOT_FILE)
    document["paths"] = {path: _rebased(directory, item["$ref"]) for path, item in document["paths"].items()}
    components: dict[str, dict[str, Any]] = document.setdefault("components", {})
    for path in sorted(directory.glob("components/*/*.yaml")):
        named = components.setdefault(path.parent.name, {})
        file = path.relative_to(directory).as_posix()
        for name, value in _rebased(directory, file).items():
            if name in named:
                raise UsageError(f"{file}: defines {name}, which another file defines too; rename one")
            named[name] = value
    document["components"] = {kind: dict(sorted(named.items())) for kind, named in sorted(components.items())}
    return document


def _rebased(directory: Path, file: str) -> Any:
    """Read a file of the description, and rewrite its references for the joined document."""
    content = read_yaml(directory / file, file)
    for node in _mappings(content):
        if isinstance(node.get("$ref"), str):
            named, _, pointer = node["$ref"].partition("#")
            target = (directory / file).parent / named if named else directory / file
            node["$ref"] = f"#/components/{target.parent.name}{pointer}"
    return content


def _as_judged(node: Any) -> Any:
    """Return a copy in which the members of each `x-judged-as` replace those beside it."""
    if isinstance(node, dict):
        joined = {key: value for key, value in node.items() if key != _JUDGED_AS} | node.get(_JUDGED_AS, {})
        return {key: _as_judged(value) for key, value in joined.items()}
    return [_as_judged(value) for value in node] if isinstance(node, list) else node


def _published(document: dict[str, Any]) -> dict[str, Any]:
    """Return a copy that also lists the sandbox's statuses, each with the response of its range.

    Swagger UI calls an unlisted status undocumented. The suite does not judge by these statuses.
    """
    copied = copy.deepcopy(document)
    for item in copied["paths"].values():
        for operation in (item[method] for method in METHODS if method in item):
            responses = operation["responses"]
            for status in operation.pop(_ANSWERS, ()):
                responses.setdefault(str(status), responses[f"{status // 100}XX"])
            operation["responses"] = dict(sorted(responses.items()))
    return copied


__all__ = ["Description", "Operation", "load_description"]


@dataclass(frozen=True)
class Description:
    """The whole interface: its `operations` by ``operationId``, and one OpenAPI document in two readings.

    The suite judges by `bundle`; other tools get `published`, which is no stricter than the interface document.
    All callers share both: copy one before changing it.
    """

    bundle: dict[str, Any]
    published: dict[str, Any]
    operations: Mapping[str, Operation]

    @cached_property
    def _literal_first(self) -> list[Operation]:
        return sorted(
            self.operations.values(), key=lambda operation: ["{" in part for part in segments(operation.path)]
        )

    def match(self, method: str, raw_path: str) -> tuple[Operation, dict[str, str]] | None:
        """Find a request's operation and the decoded values of its placeholders; None if no operation matches.

        A literal segment wins over a placeholder, and bytes that are not UTF-8 become U+FFFD.

        Args:
            raw_path: The percent-encoded path below the base URL, as sent, so that an encoded slash stays in its
                segment. A query is ignored.
        """
        method, parts = method.upper(), segments(raw_path)
        for operation in self._literal_first:
            values = operation.match(parts) if operation.method == method else None
            if values is not None:
                return operation, values
        return None

    def for_realm(self, realm: str) -> dict[str, Any]:
        """Copy the bundle for one realm, or for the operations without realms (`any`).

        The copy holds only the operations and examples of this realm, and its Realm parameter allows no other.
        """
        kept = {operation.id for operation in self.operations.values() if realm in operation.realms}
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


@cache
def load_description() -> Description:
    """Load the suite's description; it is read once per process.

    Raises:
        UsageError: a file is missing or broken; one line with the place.
    """
    try:
        document = _join(openapi_directory())
        operations = {operation.id: operation for operation in read_operations(document)}
    except (KeyError, TypeError) as error:
        raise UsageError(
            f"{ROOT_FILE}: a part or a reference of the description is missing: {error!r}"
        ) from None
    return Description(_as_judged(document), _published(document), MappingProxyType(operations))


class _Dumper(yaml.SafeDumper):
    """Writes YAML without aliases, which some readers drop, and texts of several lines as blocks."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the library's signature
        """Write repeated nodes in full."""
        return True


def _text_node(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text_node)


def as_yaml(document: Mapping[str, Any]) -> str:
    """Write a description as YAML, in its own order."""
    return yaml.dump(dict(document), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


#: Fields of a contact whose allowed values the interface document does not show.
CONTACT_VALUES_NOT_SHOWN: Final = ("gender", "organizationType", "addressType", "type", "government")


def where_in_words(operation: str | None, realms: Iterable[str | None]) -> str:
    """Word the realms of requests: `in abs-dev`, `whatever the realm`, `without a known realm`."""
    named = [realm or ANY_REALM for realm in realms]
    described = load_description().operations.get(operation or "")
    unknown = described is not None and described.takes_realm and set(named) == {ANY_REALM}
    return "without a known realm" if unknown else in_realms(named)


@cache
def operations_with(**facts: object) -> tuple[str, ...]:
    """Return the ids of the operations with these attributes, such as ``family="draft", safe=True``, in order."""
    return tuple(
        operation.id
        for operation in load_description().operations.values()
        if all(getattr(operation, name) == value for name, value in facts.items())
    )
