"""Forms made from the OpenAPI description: what an operation takes, in the words of the description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import Description, Operation
from contracts.interface.operations import follow, parameters_of
from contracts.session.actor import JSON, WITHOUT_CONTENT_TYPE
from contracts.workbench.bench import ROLES
from contracts.workbench.fault_choice import known_faults

_KEYWORDS: Final = (
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("enum", "one of {}"),
)
#: What stands in the header where the role's own token goes; the token itself never comes here.
OWN_TOKEN: Final = "Bearer {token}"  # noqa: S105 - a placeholder


def operation_form(description: Description, operation: Operation) -> dict[str, Any]:
    """What the page needs to know of an operation to draw its form."""
    item = description.bundle["paths"][operation.path]
    node = item[operation.method.lower()]
    listed = parameters_of(description.bundle, item, node)
    return {
        "id": operation.id,
        "method": operation.method,
        "path": operation.path,
        "group": next(iter(node.get("tags", ())), ""),
        "summary": operation.summary,
        "description": str(node.get("description", "")),
        "realms": list(operation.realms),
        "protected": operation.protected,
        "safe": operation.safe,
        "clauses": len(load_catalogue().by_operation(operation.id)),
        "parameters": [_field(description, each) for each in listed if each["in"] in ("path", "query")],
        "headers": list(_headers(operation)),
        "body": _body(description, node),
    }


def role_list(missing: Mapping[str, str | None]) -> list[dict[str, Any]]:
    """The roles a request can be sent as.

    Args:
        missing: Role → why the target has no account for it, or None.
    """
    return [{"id": role, "missing": missing.get(role)} for role in ROLES]


def fault_list(operation: str, realm: str) -> list[dict[str, Any]]:
    """The single faults that can be put into a request, each with the clause that speaks about it."""
    catalogue, found = load_catalogue(), []
    for fault in known_faults(operation, realm, catalogue):
        clause = catalogue.for_fault(operation, fault.key)
        found.append(
            {
                "key": fault.key,
                "clause": clause.id if clause else None,
                "level": str(clause.level) if clause else None,
                "wording": clause.wording if clause else "No clause speaks about it.",
            }
        )
    return found


def _headers(operation: Operation) -> Iterator[dict[str, Any]]:
    yield {"name": "Accept", "default": JSON, "about": ""}
    if operation.id not in WITHOUT_CONTENT_TYPE:
        yield {"name": "Content-Type", "default": JSON, "about": ""}
    if operation.takes_realm:
        yield {"name": "Realm", "default": "{realm}", "about": "The application; as picked above."}
    if operation.id != "createToken":
        yield {"name": "Authorization", "default": OWN_TOKEN, "about": "The token of the role picked above."}


def _field(description: Description, parameter: Mapping[str, Any]) -> dict[str, Any]:
    schema = follow(description.bundle, parameter.get("schema") or {})
    return {
        "name": parameter["name"],
        "place": parameter["in"],
        "required": bool(parameter.get("required")),
        **_about(schema, str(parameter.get("description", ""))),
    }


def _body(description: Description, node: Mapping[str, Any]) -> dict[str, Any]:
    content = follow(description.bundle, node.get("requestBody") or {}).get("content", {})
    if not content:
        return {"kind": "none", "members": []}
    if JSON not in content:
        return {"kind": "file", "members": []}
    schema = follow(description.bundle, content[JSON]["schema"])
    required = schema.get("required", ())
    members = [
        {"name": name, "required": name in required, **_member(description, each)}
        for name, each in schema.get("properties", {}).items()
    ]
    return {"kind": "json", "members": members, "further": schema.get("additionalProperties") is not False}


def _member(description: Description, schema: Mapping[str, Any]) -> dict[str, Any]:
    followed = follow(description.bundle, schema)
    words = str(schema.get("description") or followed.get("description", ""))
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    return _about(followed, words) | ({"type": name} if name else {})


def _about(schema: Mapping[str, Any], words: str) -> dict[str, Any]:
    kind = str(schema.get("type", "value"))
    if kind == "array":
        kind = "list"
    rules = [
        text.format(_shown(schema[name])) for name, text in _KEYWORDS if schema.get(name) not in (None, 1)
    ]
    return {
        "kind": kind,
        "type": kind,
        "about": words or str(schema.get("description", "")),
        "rules": "; ".join(rules),
        "choices": [str(each) for each in schema.get("enum", ())],
    }


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
