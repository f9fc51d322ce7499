"""Tries each documented name that the settings of a target replace, as the interface document writes it.

Each that is not known is a finding; three requests show it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from contracts.cases.submissions import UNKNOWN_SCHEMA
from contracts.checks.workflow import Row, carries_message
from contracts.errors import EnvironmentFault
from contracts.exchanges.exchange import Response
from contracts.exchanges.readers import Ambiguous, records
from contracts.plugin.preflight import READING, REALMS_CLAUSE, TOKEN_CLAUSE, Probe
from contracts.plugin.worker import Worker
from contracts.settings.target import BEARER, DOCUMENT_REALMS, REALM_HEADER, WireNames

_SUBMITTING: Final = "createWorkflowRecord"
#: The documented collections, and the clauses that say they are known.
_COLLECTIONS: Final = {"my": "list-my-answers", "mydrafts": "list-mydrafts-has-mine"}


@dataclass(frozen=True)
class _Name:
    """How a documented name is tried.

    Attributes:
        parts: Of the request.
        unknown: Whether the answer to the documented name shows that it is not known, by that to the target's name.
    """

    name: str
    realm: str
    clause: str
    operation: str
    parts: Mapping[str, Any]
    unknown: Callable[[Response, Response], bool]


def look_at_names(worker: Worker) -> str | None:
    """Try each documented name that the target calls otherwise.

    Returns:
        What goes out in which place, and which of the documented names were not seen to be unknown; None where the
        target has no names of its own.
    """
    names = WireNames.of(worker.target)
    if not names:
        return None
    tried = [name for name in _tried_names(worker) if name.name in names]
    unknown: set[str] = set()
    with suppress(EnvironmentFault):  # a fault that passes; the run has its own ways with it
        unknown |= {name.name for name in tried if _unknown(worker, name)}
    sentence = f"{worker.target.base_url} is sent names of its own: {names.in_words()}"
    taken = [name for name in names if name not in unknown]
    return f"{sentence}; not seen to be unknown to it: {', '.join(taken)}" if taken else sentence


def _unknown(worker: Worker, tried: _Name) -> bool:
    """Whether a documented name is not known, seen twice; it is written down then."""
    probe = Probe(worker, tried.realm, tried.name, tried.clause, tried.operation)
    own = probe.send(1, **tried.parts)
    for attempt in (1, 2):
        documented = probe.send(attempt, **tried.parts, documented=tried.name)
        if not tried.unknown(documented.answer, own.answer):
            return False
        seen = f"the name of the settings is known, and the documented one was answered {documented.answer.quote()}"
        probe.note(attempt, f"{tried.name} is known", seen, documented, own)
    probe.write_down(worker)
    return probe.finding.confirmed


def _tried_names(worker: Worker) -> Iterator[_Name]:
    """Every name that reading allows to try; what submits names a schema that no service has."""
    realms = worker.selection.realms or worker.target.realms
    submission = {"path": {"schema": UNKNOWN_SCHEMA}, "json": {}}
    first_item, beyond = {"query": {"$top": "1"}}, {"query": {"$skip": "1000000"}}
    for realm in realms:
        if realm in DOCUMENT_REALMS:
            yield _Name(realm, realm, REALMS_CLAUSE, READING, first_item, _refused_alone)
        else:
            yield _Name(realm, realm, "realm-workflow-realms", _SUBMITTING, submission, _realm_not_found)
    by_query = submission | {"headers": {"Realm": None}, "query": {"Realm": realms[0]}}
    yield _Name("Realm", realms[0], "realm-query", _SUBMITTING, by_query, _realm_not_found)
    for realm in [realm for realm in realms if realm in DOCUMENT_REALMS][:1]:
        yield _Name(REALM_HEADER, realm, REALMS_CLAUSE, READING, first_item, _refused_alone)
        yield _Name(BEARER, realm, TOKEN_CLAUSE, READING, first_item, _refused_alone)
        for name, clause in _COLLECTIONS.items():
            query = {"query": {"collection": name, "$top": "1"}}
            yield _Name(name, realm, clause, READING, query, _refused_alone)
        collection = {"query": {"collection": "my", "$top": "1"}}
        yield _Name("collection", realm, "list-my-answers", READING, collection, _refused_alone)
        yield _Name("$top", realm, "list-top", READING, first_item, _more_than_one)
        yield _Name("$skip", realm, "list-skip-beyond", READING, beyond, _not_beyond)
        for uid in worker.target.realm_settings(realm).existing_identifier[:1]:
            listing, of = "listAttachments", {"path": {"uid": uid}}
            one, none = of | {"query": {"top": "1"}}, of | {"query": {"skip": "1000000"}}
            yield _Name("top", realm, "attachment-list-top", listing, one, _more_than_one)
            yield _Name("skip", realm, "attachment-list-skip-beyond", listing, none, _not_beyond)


def _refused_alone(documented: Response, own: Response) -> bool:
    return documented.refusal and own.success


def _realm_not_found(documented: Response, own: Response) -> bool:
    def told(answer: Response) -> bool:
        return any(carries_message(answer, row) for row in (Row.REALM_MISSING, Row.REALM_UNKNOWN))

    return told(documented) and not told(own)


def _more_than_one(documented: Response, own: Response) -> bool:
    return _refused_alone(documented, own) or (_listed(documented) > 1 >= _listed(own))


def _not_beyond(documented: Response, own: Response) -> bool:
    return _refused_alone(documented, own) or (_listed(documented) > 0 == _listed(own))


def _listed(answer: Response) -> int:
    """How many records a list holds; none where that cannot be told."""
    try:
        return len(records(answer) or ()) if answer.success else 0
    except Ambiguous:
        return 0
