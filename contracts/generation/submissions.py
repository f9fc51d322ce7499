"""Submissions to the workflow, in the three ways to send them, with at most the things wrong that a case wants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from contracts.generation.samples import Samples
from contracts.session.actor import DEFAULT, Actor
from contracts.session.exchange import Exchange

CREATE: Final = "createWorkflowRecord"
CREATE_NAMED: Final = "createWorkflowRecordWithIdentifier"
UPDATE: Final = "updateWorkflowRecord"

#: The longest texts that the interface document permits, in characters.
LONGEST_BATCH, LONGEST_INFO = 100, 1000
#: One character, two bytes in UTF-8, one unit in UTF-16: what tells counting characters from counting bytes.
BEYOND_ASCII: Final = "é"
UNKNOWN_REALM: Final = "rc-no-such-realm"
UNKNOWN_SCHEMA: Final = "contractTestUnknownSchema"

#: Values that are no JSON object, by name.
NO_OBJECTS: Final[dict[str, Any]] = {
    "string": "document",
    "number": 17,
    "array": [{"title": "document"}],
    "null": None,
}
#: Values that are plainly no string; a number may be read as one.
NO_STRINGS: Final[dict[str, Any]] = {"object": {"text": "a"}, "array": ["a"]}


def submit(
    operation: str,
    actor: Actor,
    samples: Samples,
    identifier: str,
    json: Any = DEFAULT,
    *,
    schema: str | None = None,
    body: bytes | None = None,
    **parts: Any,
) -> Exchange:
    """Send a submission.

    Args:
        operation: One of the three; create without an identifier in the path leaves it to the document's header.
        identifier: Of the record.
        json: In place of a valid submission under the identifier.
        schema: In place of the realm's own.
        body: Bytes in place of a submission.
        parts: Further parts of the request that differ: `token`, `realm`, `query`, `headers`.
    """
    path = {"schema": schema or samples.workflow_schema}
    if operation != CREATE:
        path["identifier"] = identifier
    if json is DEFAULT and body is None:
        json = samples.submission(identifier)
    return actor.send(operation, path=path, json=json, body=body, **parts)


def bodies_without_document(samples: Samples, identifier: str) -> dict[str, Any]:
    """Submissions that lack the member document, by name."""
    return {
        "batch-only": {"batchId": "batch"},
        "null": {"document": None},
        "bare": samples.document(identifier),
    }


def documents_of_other_kinds() -> list[dict[str, Any]]:
    """Submissions whose document is there and is no object."""
    return [{"document": value} for value in NO_OBJECTS.values() if value is not None]


def submit_faulty(
    operation: str, actor: Actor, samples: Samples, identifier: str, **members: Any
) -> Exchange:
    """Send a faulty submission with further members beside the document: whatever they lead to, nothing is stored."""
    return submit(operation, actor, samples, identifier, samples.faulty_submission(identifier) | members)


def submit_unnamed(actor: Actor, samples: Samples, identifier: str) -> Exchange:
    """Create under an identifier that the document's header does not repeat, so that only the path can be at fault."""
    submission = samples.submission(identifier)
    submission["document"].get("header", {}).pop("identifier", None)
    return submit(CREATE_NAMED, actor, samples, identifier, submission)


def too_long(most: int, operation: str) -> list[str]:
    """Texts above a limit in characters: one too many, and for one of the operations ten times as many."""
    return ["t" * (most + 1), *(["t" * (10 * most)] if operation == CREATE_NAMED else [])]


def by_query(realm: str) -> Mapping[str, Any]:
    """Parts of a request that gives the realm in the query alone."""
    return {"realm": None, "query": {"Realm": realm}}
