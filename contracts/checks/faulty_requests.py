"""Checks of the answer to a request with faults: the one fault has to be turned down, as its clause says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from contracts.checks import errors_array
from contracts.checks.check import NONE, Arguments, Check, Subject
from contracts.checks.contacts import ERROR_NAMED, ERRORS_ARRAY
from contracts.checks.http import TURNED_DOWN
from contracts.checks.requests import RequestFacts, RequestFault, all_faults, clauses_of
from contracts.checks.results import Result, observed
from contracts.checks.sign_in import NO_TOKEN
from contracts.checks.workflow import MESSAGE
from contracts.interface.catalogue import Catalogue, Clause, Level
from contracts.settings.target import AUTHOR

_MANDATORY = "contact-mandatory-"


class Due(NamedTuple):
    """A check that the answer to a faulty request is held to."""

    check: Check
    clause: Clause
    arguments: Arguments
    expected: str = ""


def observations(subject: Subject, facts: RequestFacts, catalogue: Catalogue) -> Iterator[Result]:
    """What is seen of a single fault about which the document is silent."""
    if len(all_faults(facts)) == 1:
        for fault, clause in clauses_of(facts, catalogue):
            if clause.level is Level.SILENT:
                seen = {"fault": fault.key, "status": subject.response.status}
                yield observed(clause.id, facts.operation.id, seen)


def due(subject: Subject, facts: RequestFacts, catalogue: Catalogue) -> Iterator[Due]:
    """The checks that are due, one after another: a contradicted must ends them.

    With a single fault the refusal is about it, and is held to what its clause says. With several nobody knows which
    one was refused; if all were taken, the firmest clause is contradicted.
    """
    spoken = [
        (fault, clause)
        for fault, clause in clauses_of(facts, catalogue)
        if fault.firm and clause.level is not Level.SILENT
    ]
    if not spoken:
        return
    fault, clause = min(spoken, key=lambda pair: pair[1].level is not Level.MUST)
    if len(all_faults(facts)) == 1:
        yield from _of_one(subject, facts, fault, clause)
        if _tells_of_content(subject, facts, fault):
            yield Due(ERRORS_ARRAY, catalogue.clause("errors-array"), NONE)
    elif not subject.turned_down:
        yield Due(TURNED_DOWN, clause, NONE, f"{fault.key} refused")


def check_of(clause: Clause, facts: RequestFacts, fault: RequestFault) -> Due:
    """The check that decides whether the only fault of a request was refused as its clause says."""
    if clause.message is not None and clause.status is not None:
        return Due(MESSAGE, clause, {"clause": clause.id, "realm": facts.realm or ""})
    if clause.id.startswith("token-") and facts.operation.id == "createToken":
        return Due(NO_TOKEN, clause, NONE)
    return Due(TURNED_DOWN, clause, NONE, f"{fault.key} refused")


def naming(clause: Clause, fault: RequestFault) -> Due | None:
    """The check of the error that names a missing field, where the clause is about one."""
    if not clause.id.startswith(_MANDATORY):
        return None
    return Due(ERROR_NAMED, clause, {"code": errors_array.MANDATORY, "field": fault.field})


def _of_one(subject: Subject, facts: RequestFacts, fault: RequestFault, clause: Clause) -> Iterator[Due]:
    yield check_of(clause, facts, fault)
    named = naming(clause, fault)
    if named is not None and not _for_want_of_rights(subject):
        yield named


def _tells_of_content(subject: Subject, facts: RequestFacts, fault: RequestFault) -> bool:
    """Whether the errors array is due: for faulty content of a contact that was not accepted altogether.

    A fault of the request around the content need not be told there.
    """
    of_contact = fault.in_content and facts.operation.id.endswith("Contact")
    return of_contact and subject.turned_down and not _for_want_of_rights(subject)


def _for_want_of_rights(subject: Subject) -> bool:
    """Whether it may be the caller who was refused, before the service looked at the content."""
    return subject.exchange.role != AUTHOR and subject.response.status in (401, 403)
