"""The OpenAPI file as each tool can read it: narrowed to one realm, and as a copy with exact statuses."""

import copy
from collections.abc import Iterator
from typing import Any

from contracts.interface.description import load_description
from contracts.interface.operations import ANY_REALM, METHODS

Json = dict[str, Any]

#: What the faithful sandbox answers. The document shows none of these, so a variant may answer otherwise.
SUCCESS = {
    "createToken": 200,
    "createContact": 201,
    "updateContact": 200,
    "saveDraft": 201,
    "getDraft": 200,
    "getDraftInfo": 200,
    "draftExists": 200,
    "deleteDraft": 204,
    "listDrafts": 200,
    "createAttachment": 201,
    "persistTemporaryFile": 201,
    "listAttachments": 200,
    "attachmentExists": 200,
    "getAttachment": 200,
    "getAttachmentThumbnail": 200,
    "createWorkflowRecord": 201,
    "createWorkflowRecordWithIdentifier": 201,
    "updateWorkflowRecord": 200,
}
MEDIA = {"getAttachment": "image/x-portable-pixmap", "getAttachmentThumbnail": "image/png"}
_REFUSALS = ("400", "401", "403", "404", "405", "409", "410", "413", "415", "422")
_ANYTHING: Json = {"application/json": {"schema": {"type": "object", "additionalProperties": True}}}
_OPEN = ("ValidationErrors", "WorkflowAnswer", "Token")

ANONYMOUS = "without-identifier"
"""Name of the example that is added."""

NARROWED = (
    "the description as it is, narrowed to the realm, with one more example: a new contact without an identifier of "
    "its own, for otherwise a tool that makes faulty contacts from the one example sees each refused as there already"
)
"""What `of_realm` changes, in words for the report."""

EXACT = (
    "a copy of the narrowed description with exact statuses: 2XX is the one status the faithful sandbox answers, "
    f"4XX is each of {', '.join(_REFUSALS)}, 3XX and links are left out; bodies "
    "that are not shown are objects of any shape, downloads have the media type of the example; the Realm header "
    "is required and the query parameter of that name left out, for these tools send optional parameters never or "
    "in every combination; shared parameters stand in each operation"
)
"""What the copy changes, in words for the report."""


def of_realm(realm: str) -> Json:
    """Return the description narrowed to one realm, with the operation that knows no realm.

    Args:
        realm: a development realm.

    Returns:
        An OpenAPI document of its own; examples are those of the realm, and one more (see `NARROWED`).

    """
    description = load_description()
    narrowed, token = description.for_realm(realm), description.for_realm(ANY_REALM)
    narrowed["paths"] = {**token["paths"], **narrowed["paths"]}
    for _, _, operation in operations(narrowed):
        if operation["operationId"] == "createContact":
            _add_anonymous_contact(narrowed, operation["requestBody"]["content"]["application/json"])
    return narrowed


def _add_anonymous_contact(document: Json, content: Json) -> None:
    first = copy.deepcopy(resolved(document, next(iter(content["examples"].values()))))
    del first["value"]["header"]["identifier"]
    content["examples"][ANONYMOUS] = {"summary": "A contact whose identifier is left to the service", **first}


def operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    """Yield path, method and operation, in the order of the document."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def exact(document: Json) -> Json:
    """Return the copy that `EXACT` describes.

    Args:
        document: as `of_realm` gives it; it stays as it is.

    """
    copied = copy.deepcopy(document)
    for _, method, operation in operations(copied):
        operation["parameters"] = list(_parameters(copied, operation))
        operation["responses"] = _responses(copied, method, operation)
    for name in _OPEN:
        copied["components"]["schemas"].get(name, {})["additionalProperties"] = True
    return copied


def _parameters(document: Json, operation: Json) -> Iterator[Json]:
    for listed in operation.get("parameters", ()):
        parameter = copy.deepcopy(resolved(document, listed))
        if (parameter["in"], parameter["name"]) == ("query", "Realm"):
            continue
        yield {**parameter, "required": parameter.get("required", False) or parameter["name"] == "Realm"}


def _responses(document: Json, method: str, operation: Json) -> Json:
    answered: Json = {}
    refused: Json = {}
    for status, listed in operation["responses"].items():
        response = copy.deepcopy(resolved(document, listed))
        response.pop("links", None)
        if method == "head":
            response.pop("content", None)
        if status == "2XX":
            answered[str(SUCCESS[operation["operationId"]])] = _answer(response, method, operation)
        elif status != "3XX":
            if method != "head":
                response.setdefault("content", _ANYTHING)
            for code in _REFUSALS if status == "4XX" else (status,):
                refused.setdefault(code, response)
    return {**answered, **refused}


def _answer(response: Json, method: str, operation: Json) -> Json:
    name = operation["operationId"]
    if name in MEDIA:
        return {**response, "content": {MEDIA[name]: {"schema": {}}}}
    if method != "head" and SUCCESS[name] != 204 and "content" not in response:
        return {**response, "content": {"application/json": {"schema": {}}}}
    return response


def resolved(document: Json, node: Json) -> Json:
    """Follow a reference inside the document, and references it leads to; members beside it stay."""
    while "$ref" in node:
        found: Any = document
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part.replace("~1", "/").replace("~0", "~")]
        node = {**found, **{key: value for key, value in node.items() if key != "$ref"}}
    return node
