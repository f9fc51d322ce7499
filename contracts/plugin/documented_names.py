"""Tries each documented name that the settings of a target replace, as the interface document writes it.

Each that is not known is a finding; three requests show it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

from contracts.cases.submissions import UNKNOWN_SCHEMA
from contracts.checks.workflow import Row, carries_message
from contracts.errors import EnvironmentFault
from contracts.exchanges.exchange import Response
from contracts.exchanges.readers import Ambiguous, records
from contracts.plugin.preflight import READING, REALMS_CLAUSE, TOKEN_CLAUSE, Contrast, Probe
from contracts.plugin.worker import Worker
from contracts.settings.target import BEARER, DOCUMENT_REALMS, REALM_HEADER, WireNames

#: Whether the answer to a documented name shows that it is not known, by that to the target's name.
_Unknown = Callable[[Response, Response], bool]
#: A name, the clause that says it is known, the operation and the parts of the request that try it.
_Tried = tuple[str, str, str, dict[str, Any], _Unknown]
_SUBMITTING: Final = "createWorkflowRecord"


def look_at_names(worker: Worker) -> str | None:
    """Try each documented name that the target calls otherwise.

    Returns:
        What goes out in which place, and which of the documented names were not seen to be unknown; None where the
        target has no names of its own.
    """
    names = WireNames.of(worker.target)
    if not names:
        return None
    unknown = set()
    with suppress(EnvironmentFault):  # a fault that passes; the run has its own ways with it
        for realm in worker.selection.realms or worker.target.realms:
            for name, clause, operation, parts, is_unknown in _tried_names(worker, realm):
                if name in names and name not in unknown:
                    probe = Probe(worker, realm, name, clause, operation)
                    unknown |= {name} if _unknown(worker, probe, name, parts, is_unknown) else set()
    sentence = f"{worker.target.base_url} is sent names of its own: {names.in_words()}"
    taken = [name for name in names if name not in unknown]
    return f"{sentence}; not seen to be unknown to it: {', '.join(taken)}" if taken else sentence


def _unknown(worker: Worker, probe: Probe, name: str, parts: dict[str, Any], is_unknown: _Unknown) -> bool:
    """Whether a documented name is not known, seen twice; it is written down then."""
    own = probe.send(1, **parts)

    def refused(attempt: int) -> Contrast | None:
        documented = probe.send(attempt, **parts, documented=name)
        quoted = documented.answer.quote()
        seen = f"the name of the settings is known, and the documented one was answered {quoted}"
        told = f"{name} is known", seen, documented, own
        return told if is_unknown(documented.answer, own.answer) else None

    seen_twice = probe.twice(refused)
    if seen_twice:
        probe.write_down(worker)
    return seen_twice


def _tried_names(worker: Worker, realm: str) -> Iterator[_Tried]:
    """Every name that reading in a realm allows to try; what submits names a schema that no service has."""
    submission = {"path": {"schema": UNKNOWN_SCHEMA}, "json": {}}
    by_query = submission | {"headers": {"Realm": None}, "query": {"Realm": realm}}
    yield "Realm", "realm-query", _SUBMITTING, by_query, _realm_not_found
    if realm not in DOCUMENT_REALMS:
        yield realm, "realm-workflow-realms", _SUBMITTING, submission, _realm_not_found
        return
    first_item, beyond = {"query": {"$top": "1"}}, {"query": {"$skip": "1000000"}}
    yield realm, REALMS_CLAUSE, READING, first_item, _refused_alone
    yield REALM_HEADER, REALMS_CLAUSE, READING, first_item, _refused_alone
    yield BEARER, TOKEN_CLAUSE, READING, first_item, _refused_alone
    of_mine = {"query": {"collection": "my", "$top": "1"}}
    of_drafts = {"query": {"collection": "mydrafts", "$top": "1"}}
    yield "my", "list-my-answers", READING, of_mine, _refused_alone
    yield "mydrafts", "list-mydrafts-has-mine", READING, of_drafts, _refused_alone
    yield "collection", "list-my-answers", READING, of_mine, _refused_alone
    yield "$top", "list-top", READING, first_item, _more_than_one
    yield "$skip", "list-skip-beyond", READING, beyond, _not_beyond
    for uid in worker.target.realm_settings(realm).existing_identifier[:1]:
        one = {"path": {"uid": uid}, "query": {"top": "1"}}
        none = {"path": {"uid": uid}, "query": {"skip": "1000000"}}
        yield "top", "attachment-list-top", "listAttachments", one, _more_than_one
        yield "skip", "attachment-list-skip-beyond", "listAttachments", none, _not_beyond


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
