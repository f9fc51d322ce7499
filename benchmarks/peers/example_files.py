"""Specmatic's example files, made from the examples of the description, and the description without them."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.peers.descriptions import MEDIA, Json, operations, resolved

_NOTHING = object()


def without_examples(document: Json) -> Json:
    """Return a copy without examples: Specmatic multiplies those in the file with each other."""
    copied = copy.deepcopy(document)
    copied["components"].pop("examples", None)
    _strip(copied)
    return copied


def _strip(node: Any) -> None:
    if isinstance(node, dict):
        if "schema" in node:
            node.pop("example", None)
            node.pop("examples", None)
        for value in node.values():
            _strip(value)
    elif isinstance(node, list):
        for value in node:
            _strip(value)


def write_examples(document: Json, folder: Path) -> None:
    """Write an example file for each example of an operation: its request, and the status it deserves.

    Args:
        document: a copy with exact statuses.
        folder: is made, and holds nothing else afterwards.

    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.json"):
        old.unlink()
    for path, method, operation in operations(document):
        for mark, request in _requests(document, path, method, operation):
            pair = {"http-request": request, "http-response": _answer(operation)}
            file = folder / f"{operation['operationId']}{mark}.json"
            file.write_text(json.dumps(pair, indent=1), encoding="utf-8")


def _requests(document: Json, path: str, method: str, operation: Json) -> Iterator[tuple[str, Json]]:
    request = _request(document, path, method, operation)
    yield "", request
    for content in operation.get("requestBody", {}).get("content", {}).values():
        for name in list(content.get("examples", {}))[1:]:
            yield f"-{name}", {**request, "body": resolved(document, content["examples"][name])["value"]}


def _request(document: Json, path: str, method: str, operation: Json) -> Json:
    places: dict[str, Json] = {"path": {}, "query": {}, "header": {}}
    for parameter in operation["parameters"]:
        value = _example(document, parameter)
        if value is not _NOTHING:
            places[parameter["in"]][parameter["name"]] = value
    for name, value in places["path"].items():
        path = path.replace(f"{{{name}}}", str(value))
    request: Json = {"method": method.upper(), "path": path, "headers": places["header"]}
    if places["query"]:
        request["query"] = places["query"]
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        request["headers"]["Content-Type"] = media
        request["body"] = _example(document, content)
    return request


def _example(document: Json, node: Json) -> Any:
    if "example" in node:
        return node["example"]
    for named in node.get("examples", {}).values():
        return resolved(document, named)["value"]
    return _NOTHING


def _answer(operation: Json) -> Json:
    status, response = next(iter(operation["responses"].items()))
    answer: Json = {"status": int(status)}
    for media in response.get("content", {}):
        answer["headers"] = {"Content-Type": media}
        answer["body"] = _body(operation)
    return answer


def _body(operation: Json) -> Any:
    if operation["operationId"] in MEDIA:
        return "any bytes"
    if operation["operationId"] == "createToken":
        return {"authenticationToken": "a-token", "expiration": "2026-01-31T12:00:00.0000000Z"}
    return {"identifier": "an-identifier"}
