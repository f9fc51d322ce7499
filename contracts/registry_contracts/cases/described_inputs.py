"""Schemathesis's generators for the OpenAPI description, through its public API and our session.

It draws inputs that the description allows and inputs that break it. Checks of the table judge the answers: those of
every exchange, and the shape of errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import requests
import schemathesis
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from registry_contracts.cases.shared_documents import document_for_uploads
from registry_contracts.cases.world import World
from registry_contracts.checks.claims import Expect
from registry_contracts.checks.documents import tells_of_content
from registry_contracts.checks.outcomes import Blocked, taken, usable
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.request_facts import read_request
from registry_contracts.interface.description import load_description
from registry_contracts.interface.operations import PERMANENT_KINDS, UID_LONGEST, is_valid_uid, segments

#: A placeholder for Schemathesis; the actor decides where a request goes.
_ANYWHERE: Final = "http://127.0.0.1"
_SHAPE: Final = "errors-element-shape"
#: The lowest status of a server error.
_FAILED: Final = 500
#: Path parameters that name a record.
_UIDS: Final = ("uid", "identifier")
_FILLS_DOCUMENTS: Final = ("createAttachment", "persistTemporaryFile")
ANSWER_CLAUSES: Final = ("json-labelled-json", _SHAPE, "no-server-error")
INPUT_CLAUSES: Final = (*ANSWER_CLAUSES, "list-top", "draft-values-kept")


@lru_cache(maxsize=8)
def described(realm: str) -> Any:
    """The description of one realm, as Schemathesis reads it."""
    return _read_by_schemathesis(load_description().for_realm(realm))


@lru_cache(maxsize=32)
def described_operation(operation: str) -> Any:
    """The description of one operation alone, from which cases are made; the same for all its realms."""
    document = load_description().for_realm(load_description().operations[operation].realms[0])
    for item in document["paths"].values():
        for method, node in list(item.items()):
            if isinstance(node, dict) and node.get("operationId", operation) != operation:
                del item[method]
    return _read_by_schemathesis(document)


def _read_by_schemathesis(document: dict[str, Any]) -> Any:
    config = schemathesis.Config.from_dict(
        {
            "generation": {"allow-x00": False, "codec": "utf-8"},
            "checks": {"enabled": False},
            "phases": {
                "examples": {"enabled": False},
                "fuzzing": {"enabled": False},
                # Never try undeclared methods: on a shared environment they might work.
                "coverage": {"unexpected-methods": [], "generation": {"mode": "negative"}},
                "stateful": {"inference": {"algorithms": []}, "generation": {"mode": "positive"}},
            },
        }
    )
    return schemathesis.openapi.from_dict(document, config=config)


def inputs(operation: str, realm: str) -> SearchStrategy[Any]:
    """Cases of an operation: those that the description allows, and those that break it.

    If accepted records are permanent, only cases whose body breaks the description are drawn.
    """
    strategy = described(realm).find_operation_by_id(operation).as_strategy
    broken: SearchStrategy[Any] = strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)
    if load_description().operations[operation].stores in PERMANENT_KINDS:
        return broken.filter(_breaks_body)
    return st.one_of(strategy(generation_mode=schemathesis.GenerationMode.POSITIVE), broken)


def _breaks_body(case: Any) -> bool:
    parts = case.meta.components.items()
    return any(place.value == "body" and part.mode.is_negative for place, part in parts)


class DescribedInputs:
    """Sends drawn cases of one operation and judges the answers."""

    def __init__(self, operation: str, world: World, expect: Expect) -> None:
        self._operation = operation
        self._world = world
        self._claim = expect
        self._described = described(world.realm).find_operation_by_id(operation)
        self._lasting = load_description().operations[operation].stores in PERMANENT_KINDS
        self._failed = False

    def claim_as_described(self, drawn: Any) -> None:
        """Send a drawn case under identifiers of the run, and claim what the document says of its answer.

        Raises:
            Blocked: an earlier case got a server error, and may have made a permanent record. Nothing more is sent, so
                that a replay stays within the budget.
        """
        if self._failed:
            raise Blocked(self._operation, "failed at an input before")
        allowed = drawn.meta.generation.mode.is_positive
        path = self._own_path(dict(drawn.path_parameters or {}), allowed=allowed)
        # A drawn name may belong to an existing record, which the request would overwrite.
        drawn_query = dict(drawn.query or {}).items()
        query = {name: self._world.uid() if name in _UIDS else value for name, value in drawn_query}
        if allowed and "schema" in query:
            query["schema"] = self._world.samples.draft_schema
        case = self._described.Case(
            path_parameters=path,
            query=query,
            headers=dict(drawn.headers or {}),
            body=_named(drawn.body, _uid_of(path) or self._world.uid()),
            media_type=drawn.media_type,
        )
        exchange = self._send(case)
        self._failed = self._lasting and exchange.answer.status >= _FAILED
        facts, told = read_request(exchange), readers.errors(usable(exchange))
        # Another refusal, such as of an absent record, may carry its message in an array named errors.
        if told and tells_of_content(told) and facts and all(fault.in_content for fault in facts.faults):
            for claim in self._claim.on(_SHAPE, self._operation):
                claim.meets("error-elements", exchange)
        top = str(query.get("$top", ""))
        if exchange.answer.success and top.isascii() and top.isdigit():
            self._claim("list-top").meets("items-at-most", exchange, items=int(top))
        if self._operation == "saveDraft" and allowed and taken(exchange):
            read = self._world.author.send("getDraft", path=path)
            self._claim("draft-values-kept", "getDraft").shows(read, drawn.body)

    def _send(self, case: Any) -> Exchange:
        """Send a case as the author."""
        made = requests.Request(**case.as_transport_kwargs(base_url=_ANYWHERE)).prepare()
        operation, address = load_description().operations[self._operation], urlsplit(str(made.url))
        # What the case does not say, and the library's own Accept, is sent as the document lists it.
        said = ((name, made.headers.get(name)) for name in ("Accept", "Content-Type"))
        headers: dict[str, str | None] = {name: value for name, value in said if value not in (None, "*/*")}
        if operation.takes_realm:
            headers["Realm"] = made.headers.get("Realm")
        return self._world.author.send(
            operation.id,
            path=operation.match(segments(address.path)),
            query=parse_qsl(address.query, keep_blank_values=True),
            body=made.body.encode() if isinstance(made.body, str) else made.body,
            headers=headers,
        )

    def _own_path(self, path: dict[str, Any], *, allowed: bool) -> dict[str, Any]:
        """The drawn path, with the run's own identifiers wherever it would write or may find something."""
        if "schema" in path:
            path["schema"] = self._world.samples.workflow_schema
        uid = _uid_of(path)
        if uid is None:
            return path
        if allowed and load_description().operations[self._operation].safe:
            there = self._world.shared_attachment().path if "attachmentId" in path else None
            return there or {"uid": self._world.shared_draft().uid}
        if load_description().operations[self._operation].safe:
            return path
        own = (self._world.fresh.prefix + uid)[:UID_LONGEST] if is_valid_uid(uid) else self._world.uid()
        if allowed and self._operation == "updateContact":
            own = self._world.contact()
        elif allowed and self._operation in _FILLS_DOCUMENTS:
            own = document_for_uploads(self._world, "drawn files")
        return path | {name: own for name in _UIDS if name in path}


def _uid_of(path: Mapping[str, Any]) -> str | None:
    return next((str(path[name]) for name in _UIDS if name in path), None)


def _named(body: Any, uid: str) -> Any:
    """A drawn record, with `uid` in every header that has an identifier."""
    if isinstance(body, list):
        return [_named(item, uid) for item in body]
    if not isinstance(body, dict):
        return body
    named = {name: _named(value, uid) for name, value in body.items()}
    if isinstance(named.get("header"), dict) and "identifier" in named["header"]:
        named["header"]["identifier"] = uid
    return named
