"""The OpenAPI description as one document, as it is published and as the suite judges by it.

The split files are joined by own code: the maintained Python libraries inline every reference, rename components
after file paths, or stop at OpenAPI 3.0. A reference to ``components/<kind>/<file>.yaml#/<Name>`` becomes
``#/components/<kind>/<Name>``; a reference to any other file is replaced by what it points to.
"""

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

import yaml

from contracts.errors import UsageError
from contracts.interface.location import ROOT_FILE, openapi_directory
from contracts.interface.operations import (
    ANY_REALM,
    METHODS,
    WORKFLOW_REALMS,
    Operation,
    follow,
    in_realms,
    read_operations,
    segments,
)

_COMPONENT_DEPTH = 3  # components / kind / file
#: Beside it stands what a client may rely on; inside, what the suite judges by.
_JUDGED_AS = "x-judged-as"


#: The statuses that stand for a range where a tool reads none; `default` stands for the others.
_STATUSES = {
    "2XX": ("200", "201", "202", "204"),
    "3XX": ("301", "302", "303", "307", "308"),
    "4XX": ("400", "401", "403", "404", "405", "409", "410", "413", "415", "422"),
}
_WITHOUT_BODY = ("204",)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML without dates: a timestamp in an example stays the string that JSON would carry."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}


def read_yaml(path: Path, shown: str) -> Any:
    """Read one YAML file.

    Args:
        shown: how an error message names it.

    Returns:
        What it holds, in JSON's kinds only (dates stay strings).

    Raises:
        UsageError: the file is missing or is not YAML; names the line and column where the reader stopped.

    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506 - a safe loader, see above
    except OSError as fault:
        raise UsageError(
            f"{shown}: cannot be read ({fault.strerror}); check that the file is there"
        ) from fault
    except UnicodeDecodeError as fault:
        raise UsageError(f"{shown}: is not UTF-8 text (byte {fault.start}); save it as UTF-8") from fault
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "unknown place"
        raise UsageError(
            f"{shown}: is not valid YAML at {place}: {fault.problem or fault.context}"
        ) from fault
    except yaml.YAMLError as fault:
        raise UsageError(f"{shown}: is not valid YAML: {' '.join(str(fault).split())}") from fault


@dataclass(frozen=True)
class Bundle:
    """One joined document.

    Args:
        document: the OpenAPI document; every ``$ref`` in it begins with ``#/components/``.
        origins: the file each path of the document was written in, by path.

    """

    document: dict[str, Any]
    origins: Mapping[str, str]


def bundle(directory: Path, root_file: str) -> Bundle:
    """Join the description below a directory.

    Args:
        directory: the directory of the root file; references must stay inside it.

    Raises:
        UsageError: a file is not YAML, a reference leads nowhere, or two files define one component's name.

    """
    return _Bundler(directory.resolve(), root_file).run()


@dataclass
class _Bundler:
    directory: Path
    root_file: str
    files: dict[str, Any] = field(default_factory=dict)
    components: dict[str, dict[str, Any]] = field(default_factory=dict)
    owners: dict[tuple[str, str], str] = field(default_factory=dict)
    inlining: list[tuple[str, str]] = field(default_factory=list)

    def run(self) -> Bundle:
        root = self._file(self.root_file)
        if not isinstance(root, dict) or not isinstance(root.get("paths"), dict):
            raise UsageError(f"{self.root_file}: holds no mapping 'paths'; it is not an OpenAPI description")
        origins = {path: self._origin(item) for path, item in root["paths"].items()}
        document = self._walk(root, self.root_file, "")
        for kind, named in (document.pop("components", None) or {}).items():
            for name, value in named.items():
                self._own(kind, name, self.root_file)
                self.components.setdefault(kind, {})[name] = value
        document["components"] = {
            kind: dict(sorted(named.items())) for kind, named in sorted(self.components.items())
        }
        return Bundle(document, origins)

    def _origin(self, item: object) -> str:
        reference = item.get("$ref") if isinstance(item, dict) else None
        return str(reference).partition("#")[0] if reference else self.root_file

    def _file(self, name: str) -> Any:
        if name not in self.files:
            self.files[name] = read_yaml(self.directory / name, name)
        return self.files[name]

    def _walk(self, node: Any, file: str, place: str) -> Any:
        if isinstance(node, dict):
            if isinstance(node.get("$ref"), str):
                return self._reference(node, file, place)
            return {key: self._walk(value, file, f"{place}/{_escape(key)}") for key, value in node.items()}
        if isinstance(node, list):
            return [self._walk(value, file, f"{place}/{index}") for index, value in enumerate(node)]
        return node

    def _reference(self, node: dict[str, Any], file: str, place: str) -> Any:
        named, _, pointer = cast("str", node["$ref"]).partition("#")
        target = self._relative(named, file, place) if named else file
        target_value = self._resolve(target, pointer, f"{file} at {place or '/'}: $ref {node['$ref']!r}")
        siblings = {key: value for key, value in node.items() if key != "$ref"}
        parts = Path(target).parts
        if parts[0] == "components" and len(parts) == _COMPONENT_DEPTH and pointer:
            return {"$ref": self._hoist(parts[1], target, pointer), **siblings}
        if target == self.root_file and pointer.startswith("/components/"):
            return {"$ref": f"#{pointer}", **siblings}
        return self._inline(target_value, target, pointer, siblings)

    def _inline(self, value: Any, target: str, pointer: str, siblings: dict[str, Any]) -> Any:
        if (target, pointer) in self.inlining:
            raise UsageError(f"{target}: #{pointer} contains itself; keep what repeats below components/")
        self.inlining.append((target, pointer))
        joined = self._walk(value, target, pointer)
        self.inlining.pop()
        return joined | siblings if isinstance(joined, dict) else joined

    def _hoist(self, kind: str, target: str, pointer: str) -> str:
        name, *rest = pointer.removeprefix("/").split("/")
        owner = self.owners.setdefault((kind, name), target)
        if owner != target:
            raise UsageError(
                f"{target}: defines {name}, which {owner} defines too; give one of them another name"
            )
        named = self.components.setdefault(kind, {})
        if name not in named:
            named[name] = {}  # holds the place, so that a schema may refer to itself
            named[name] = self._walk(self._file(target)[name], target, f"/{name}")
        return "/".join(["#/components", kind, name, *rest])

    def _own(self, kind: str, name: str, file: str) -> None:
        owner = self.owners.setdefault((kind, name), file)
        if owner != file:
            raise UsageError(
                f"{file}: defines {name}, which {owner} defines too; give one of them another name"
            )

    def _relative(self, named: str, file: str, place: str) -> str:
        path = (self.directory / file).parent / named
        try:
            return path.resolve().relative_to(self.directory).as_posix()
        except ValueError:
            raise UsageError(
                f"{file} at {place}: $ref {named!r} leaves the directory of the description; move it in"
            ) from None

    def _resolve(self, target: str, pointer: str, shown: str) -> Any:
        if not (self.directory / target).is_file():
            raise UsageError(f"{shown} leads nowhere: there is no file {target}")
        node = self._file(target)
        for part in _steps(pointer):
            if isinstance(node, dict) and part in node:
                node = node[part]
            elif isinstance(node, list) and part.isdigit() and int(part) < len(node):
                node = node[int(part)]
            else:
                raise UsageError(f"{shown} leads nowhere: {target} holds no {pointer}")
        return node


def _as_judged(node: Any) -> Any:
    """Return a copy in which the members of each `x-judged-as` take the place of those beside it."""
    if isinstance(node, dict):
        joined = {key: value for key, value in node.items() if key != _JUDGED_AS} | node.get(_JUDGED_AS, {})
        return {key: _as_judged(value) for key, value in joined.items()}
    return [_as_judged(value) for value in node] if isinstance(node, list) else node


def _steps(pointer: str) -> Iterator[str]:
    for part in pointer.split("/")[1:]:
        yield part.replace("~1", "/").replace("~0", "~")


def _escape(key: object) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")


__all__ = ["Description", "Operation", "load_description"]


@dataclass(frozen=True)
class Description:
    """The whole interface.

    Args:
        bundle: one OpenAPI document whose references all begin with ``#/components/``, as the suite judges by it.
            Shared by everyone who loads it: read it, and copy it before changing anything.
        published: the same document as other tools get it, no stricter than the interface document. Shared as well.
        operations: the operations by ``operationId``, in the order of the description.

    """

    bundle: dict[str, Any]
    published: dict[str, Any]
    operations: Mapping[str, Operation]
    _by_shape: Mapping[tuple[str, int], tuple[Operation, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Sort templates by method and length, literal ones first, so that a match looks at a few only."""
        shapes: dict[tuple[str, int], list[Operation]] = {}
        for operation in sorted(self.operations.values(), key=lambda operation: operation.rank):
            shapes.setdefault((operation.method, len(segments(operation.path))), []).append(operation)
        object.__setattr__(
            self, "_by_shape", {shape: tuple(operations) for shape, operations in shapes.items()}
        )

    def match(self, method: str, raw_path: str) -> tuple[Operation, dict[str, str]] | None:
        """Find the operation a request belongs to. Never raises, for no path.

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
            realms = ", ".join((*WORKFLOW_REALMS, ANY_REALM))
            raise UsageError(f"realm {realm!r} is not described; use one of {realms}")
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

    Raises:
        UsageError: a file is missing or broken; one line that names the file and the place in it.

    """
    return _load(_own_root() if root is None else root.resolve())


@cache
def _own_root() -> Path:
    """Where the suite's own description is; looked for once, as it is asked for with every request."""
    return openapi_directory().resolve()


@lru_cache(maxsize=8)
def _load(directory: Path) -> Description:
    joined = bundle(directory, ROOT_FILE)
    operations = {operation.id: operation for operation in read_operations(joined.document, joined.origins)}
    if not operations:
        raise UsageError(f"{ROOT_FILE}: describes no operation; write them below 'paths'")
    return Description(_as_judged(joined.document), joined.document, MappingProxyType(operations))


def exact_statuses(document: Mapping[str, Any]) -> dict[str, Any]:
    """Copy a description for tools that read no ranges of statuses.

    Each range becomes its usual statuses, where the operation does not describe them already, and `default` stands
    for the others, so that the copy is no stricter. Links go with the first status of a range.

    Args:
        document: a joined OpenAPI document.

    Returns:
        A copy that the caller may change.

    """
    copied = copy.deepcopy(dict(document))
    for item in copied["paths"].values():
        for method in METHODS:
            if method in item:
                item[method]["responses"] = _exact_responses(copied, item[method]["responses"])
    return copied


def _exact_responses(document: Mapping[str, Any], responses: Mapping[str, Any]) -> dict[str, Any]:
    exact = {status: response for status, response in responses.items() if status not in _STATUSES}
    for span, statuses in _STATUSES.items():
        for status in statuses if span in responses else ():
            exact.setdefault(status, _of_status(document, status, responses[span]))
    return {**dict(sorted(exact.items())), "default": {"description": "Any other status; not shown."}}


def _of_status(document: Mapping[str, Any], status: str, response: Mapping[str, Any]) -> dict[str, Any]:
    whole = follow(document, response)
    left_out = {"content"} if status in _WITHOUT_BODY else set()
    left_out |= set() if any(status == statuses[0] for statuses in _STATUSES.values()) else {"links"}
    if left_out.isdisjoint(whole):
        return copy.deepcopy(dict(response))
    return copy.deepcopy({name: value for name, value in whole.items() if name not in left_out})


class _Dumper(yaml.SafeDumper):
    """YAML without aliases, which some readers take for empty, and with texts of several lines as they read."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the library's signature
        """Write everything where it stands."""
        return True


def _text_node(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text_node)


def as_yaml(document: Mapping[str, Any]) -> str:
    """Write a description as YAML, in its own order."""
    return yaml.dump(dict(document), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


#: Fields of a contact whose allowed values the document does not show.
CONTACT_VALUES_NOT_SHOWN: Final = ("gender", "organizationType", "addressType", "type", "government")


def where_in_words(operation: str | None, realms: Iterable[str | None]) -> str:
    """Say in which realms an operation was asked for: `in abs-dev`, `whatever the realm`, `without a known realm`.

    Args:
        realms: `any` or None for no realm, or none that is known.
    """
    named = [realm or ANY_REALM for realm in realms]
    described = load_description().operations.get(operation or "")
    unknown = described is not None and described.takes_realm and set(named) == {ANY_REALM}
    return "without a known realm" if unknown else in_realms(named)


@cache
def operations_with(**facts: object) -> tuple[str, ...]:
    """Return the ids of the operations with these facts, in the order of the description.

    Args:
        **facts: attributes of :class:`Operation` and their values, as in ``family="draft", safe=True``.

    """
    return tuple(
        operation.id
        for operation in load_description().operations.values()
        if all(getattr(operation, name) == value for name, value in facts.items())
    )
