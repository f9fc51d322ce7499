"""How far a run's traffic covers the description: test coverage levels (TCL) 0 to 7 for REST APIs.

Martin-Lopez, Segura and Ruiz-Cortés define the levels in "Test Coverage Criteria for RESTful Web APIs" (2019). A level
is reached if its criteria and those of all lower levels are complete. Where the description does not show a status or
a media type it has a range (`2XX`, `*/*`): no status code is counted for it, and any media type reaches it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final
from urllib.parse import parse_qsl, urlsplit

from msgspec import Meta

from registry_contracts.exchanges.exchange import Exchange, Response
from registry_contracts.exchanges.request_facts import below_root
from registry_contracts.file_formats import Count, Format, Name
from registry_contracts.interface.description import Description, load_description
from registry_contracts.interface.operations import WORKFLOW_REALMS, follow, parameters_of, segments

#: Criterion → the level that it belongs to.
CRITERIA: Final[Mapping[str, int]] = {
    "paths": 1,
    "operations": 2,
    "content types of requests": 3,
    "content types of answers": 3,
    "parameters": 4,
    "status classes": 4,
    "parameter values": 5,
    "status codes": 5,
    "members of successful answers": 6,
    "operation flows": 7,
}
PATHS, OPERATIONS, SENT, ANSWERED, PARAMETERS, CLASSES, VALUES, CODES, MEMBERS, FLOWS = CRITERIA
_ANY_TYPE: Final = "*/*"
#: What a body without Content-Type is (RFC 9110, 8.3).
_UNNAMED_TYPE: Final = "application/octet-stream"
#: A criterion, and the name of something that it counts.
_Element = tuple[str, str]


class Criterion(Format, frozen=True):
    """How many elements of the description the traffic has reached, by one criterion."""

    name: Name
    level: Annotated[int, Meta(ge=1, le=7)]
    reached: Count
    possible: Count
    missing: tuple[Name, ...]


class CoverageLevel(Format, frozen=True):
    """The test coverage level (TCL) that the traffic reaches."""

    level: Annotated[int, Meta(ge=0, le=7)]
    criteria: tuple[Criterion, ...]


def coverage_level(exchanges: Iterable[Exchange], description: Description | None = None) -> CoverageLevel:
    """Return the level that exchanges reach, read once in the order in which they were sent.

    Only exchanges that the service answered count. Names in the result are those of the description.
    """
    described = description or load_description()
    possible = dict.fromkeys(_elements(described.bundle))
    missing, links, made = dict(possible), list(_links(described.bundle)), defaultdict[str, set[Any]](set)
    for exchange in exchanges:
        operation = described.operations.get(exchange.operation or "")
        path = operation.match(segments(below_root(exchange.url) or "")) if operation else None
        if operation is None or path is None or not exchange.answered:
            continue
        query = dict(parse_qsl(urlsplit(exchange.url).query, keep_blank_values=True))
        places = {"path": path, "query": query, "header": exchange.request_headers}
        given = {
            f"{each.place}.{each.name}": places[each.place][each.name]
            for each in operation.parameters
            if each.name in places[each.place]
        }
        answer, key = exchange.answer, operation.id
        reached = [(PATHS, operation.path), *_reached(exchange, answer, key, given)]
        if answer.success:
            wanted = [name for kind, name in missing if kind == MEMBERS and name.startswith(f"{key} ")]
            reached += [(MEMBERS, name) for name in wanted if _has(answer.json, name.split(" ")[1])]
        for flow, source, target, values in links:
            if target == key and tuple(map(given.get, values)) in made[flow]:
                reached.append((FLOWS, flow))
            if source == key and answer.success:
                made[flow].add(tuple(_evaluated(each, given, answer) for each in values.values()))
        for element in reached:
            missing.pop(element, None)
    numbers = Counter(kind for kind, _ in possible)
    criteria = tuple(
        Criterion(name, level, numbers[name] - len(left), numbers[name], left)
        for name, level in CRITERIA.items()
        for left in [tuple(each for kind, each in missing if kind == name)]
    )
    return CoverageLevel(min((CRITERIA[kind] - 1 for kind, _ in missing), default=7), criteria)


def _reached(exchange: Exchange, answer: Response, key: str, given: Mapping[str, str]) -> Iterator[_Element]:
    """What a request and its answer reach by themselves, described or not."""
    yield OPERATIONS, key
    if exchange.request_body.size:
        kind = exchange.request_headers.get("content-type") or _UNNAMED_TYPE
        yield SENT, f"{key} {kind.partition(';')[0].strip().lower()}"
    if answer.media_type:
        yield from ((ANSWERED, f"{key} {kind}") for kind in (answer.media_type, _ANY_TYPE))
    for name, value in given.items():
        yield from ((PARAMETERS, f"{key} {name}"), (VALUES, f"{key} {name}={value}"))
    yield CODES, f"{key} {answer.status}"
    yield CLASSES, f"{key} {'2' if answer.success else answer.status // 100}XX"


def _nodes(bundle: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any], list[Any], dict[str, Any]]]:
    """The path, the node, the parameters and the responses of each operation."""
    for path, item in bundle["paths"].items():
        for node in (node for node in item.values() if "operationId" in node):
            responses = {status: follow(bundle, each) for status, each in node["responses"].items()}
            yield path, node, parameters_of(bundle, item, node), responses


def _elements(bundle: Mapping[str, Any]) -> Iterator[_Element]:
    """What the traffic can reach; of realms those of development, since no other may be sent."""
    for path, node, parameters, responses in _nodes(bundle):
        key = node["operationId"]
        yield from ((PATHS, path), (OPERATIONS, key))
        body = follow(bundle, node.get("requestBody", {}))
        yield from ((SENT, f"{key} {kind}") for kind in body.get("content", {}))
        kinds = [kind for each in responses.values() for kind in each.get("content", {})]
        yield from (
            (ANSWERED, f"{key} {kind}") for kind in kinds if kind == _ANY_TYPE or _ANY_TYPE not in kinds
        )
        for parameter in parameters:
            name, schema = f"{key} {parameter['in']}.{parameter['name']}", follow(bundle, parameter["schema"])
            values = schema.get("enum", ("true", "false") if schema.get("type") == "boolean" else ())
            allowed = WORKFLOW_REALMS if parameter["name"] == "Realm" else values
            yield PARAMETERS, name
            yield from ((VALUES, f"{name}={value}") for value in values if value in allowed)
        for status, response in responses.items():
            if status[0] in "24":
                yield CLASSES, f"{key} {status[0]}XX"
            if status.isdigit():
                yield CODES, f"{key} {status}"
            for content in response.get("content", {}).values() if status[0] == "2" else ():
                yield from ((MEMBERS, f"{key} {name}") for name in _members(bundle, content["schema"]))
    yield from ((FLOWS, flow) for flow, *_ in _links(bundle))


def _members(bundle: Mapping[str, Any], schema: Any, before: str = "") -> Iterator[str]:
    """The members of objects in a schema, as `errors.code`."""
    schema = follow(bundle, schema)
    if "items" in schema:
        yield from _members(bundle, schema["items"], before)
    for name, member in schema.get("properties", {}).items():
        yield from (before + name, *_members(bundle, member, f"{before}{name}."))


def _links(bundle: Mapping[str, Any]) -> Iterator[tuple[str, str, str, dict[str, str]]]:
    """The links: name, source, target, and for each parameter of the target where its value comes from."""
    for _, node, _, responses in _nodes(bundle):
        for link in (link for each in responses.values() for link in each.get("links", {}).values()):
            source, target = node["operationId"], link["operationId"]
            yield f"{source}, {target}", source, target, link["parameters"]


def _has(value: Any, place: str) -> bool:
    """Whether a JSON value, or an item of an array, has a member such as `errors.code`."""
    name, _, inner = place.partition(".")
    objects = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, dict)]
    return any(name in each and (not inner or _has(each[name], inner)) for each in objects)


def _evaluated(expression: str, given: Mapping[str, str], answer: Response) -> str:
    """The value of a link's expression, `$request.path.uid` or `$response.body#/id`; empty if there is none."""
    if expression.startswith("$request."):
        return given.get(expression.removeprefix("$request."), "")
    value = answer.json
    for name in expression.partition("#/")[2].split("/"):
        value = value.get(name, "") if isinstance(value, dict) else ""
    return str(value)
