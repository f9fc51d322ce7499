"""A response shape, inferred as JSON Schema, told as one fact a line: `200 body.identifier: string`.

What follows the name is a set of alternatives, `null | string date-time`; a member that was not always there is
marked `optional`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

BODY: Final = "body"
#: Between alternatives in the text of a value.
OR: Final = " | "
OPTIONAL: Final = "optional"
#: Keywords that hold alternatives or types in the schemas that are inferred.
_ANY_OF: Final = "anyOf"


def facts_of(answers: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Tell the answers of one operation, by status, as facts.

    Args:
        answers: status → `types` (media types), `bodies` (words for bodies that are no JSON) and `schema`.

    Returns:
        Path → alternatives; a path begins with the status.
    """
    facts: dict[str, str] = {}
    for status, answer in answers.items():
        if answer.get("types"):
            facts[f"{status} type"] = OR.join(sorted(answer["types"]))
        schema = answer.get("schema")
        kinds = {*answer.get("bodies", ()), *(_kinds(schema) if schema else ())}
        if kinds:
            facts[f"{status} {BODY}"] = OR.join(sorted(kinds))
        if schema:
            facts.update(_inside(schema, f"{status} {BODY}"))
    return facts


def alternatives(value: str) -> tuple[frozenset[str], bool]:
    """Cut the text of a value into its alternatives and whether the member may be missing."""
    text = value.removesuffix(f", {OPTIONAL}")
    return frozenset(text.split(OR)), text != value


def parent_of(path: str) -> str | None:
    """Return the path of the object or array that a member stands in, or None for what is no member."""
    if path.endswith("[]"):
        return path.removesuffix("[]")
    head, dot, _ = path.rpartition(".")
    return head if dot and f" {BODY}" in head else None


def status_of(path: str) -> str | None:
    """Return the status that a fact about an answer's shape begins with, or None for any other fact."""
    status, _, rest = path.partition(" ")
    is_shape = rest == "type" or rest.startswith(BODY)
    return status if is_shape and len(status) == 3 and status.isdigit() else None


def _inside(schema: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """Yield the facts below a schema: members of its objects, items of its arrays."""
    for variant in _variants(schema):
        required = set(variant.get("required", ()))
        for name, member in sorted(variant.get("properties", {}).items()):
            yield from _member(member, f"{path}.{_named(name)}", optional=name not in required)
        if variant.get("items"):
            yield from _member(variant["items"], f"{path}[]", optional=False)


def _member(schema: Mapping[str, Any], path: str, *, optional: bool) -> Iterator[tuple[str, str]]:
    kinds = OR.join(sorted(_kinds(schema)))
    yield path, f"{kinds}, {OPTIONAL}" if optional else kinds
    yield from _inside(schema, path)


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    kinds: set[str] = set()
    for variant in _variants(schema):
        types = variant.get("type", [])
        form = f" {variant['format']}" if "format" in variant else ""
        kinds |= {f"{kind}{form}" for kind in ([types] if isinstance(types, str) else types)}
    return kinds


def _variants(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(schema[_ANY_OF]) if _ANY_OF in schema else [schema]


def _named(name: str) -> str:
    """Return a member's name as a path can hold it: dots and brackets in it stay readable, but cut nothing."""
    return name.translate({ord("."): "·", ord("["): "(", ord("]"): ")", ord("|"): "/"})
