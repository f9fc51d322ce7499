"""What is wrong with a request by itself: the client's side of an exchange."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from contracts.checking.request_facts import RequestFacts
from contracts.checking.request_faults import RequestFault
from contracts.interface.catalogue import Catalogue, Clause, Level
from contracts.interface.description import Operation
from contracts.target.model import PRODUCTION_REALMS
from contracts.traffic.findings import Side, Standing, TrafficFinding
from contracts.traffic.passed import Passed

#: What programs send in place of a token that they do not have.
_NO_TOKENS: Final = frozenset({"undefined", "null", "none", "nan", "[object object]", "<access_token>"})
_NO_TOKEN_FAULT: Final = "header.Authorization:unknown-value"  # noqa: S105 - a fault's name
_REALM_FAULT: Final = "header.Realm:unknown-value"
#: A mistake of these kinds in the request around its content is one whatever level the clause has that speaks of it.
_OUTRIGHT: Final = frozenset({"header.Realm:missing", "header.Authorization:missing"})
_LONGEST: Final = 400


@dataclass(frozen=True)
class Mistakes:
    """The faults of a request, and what can be said of it besides."""

    faults: tuple[RequestFault, ...]
    unread: bool

    @property
    def none(self) -> bool:
        """Whether it keeps the interface, as far as it is known."""
        return not self.faults


def mistakes_of(passed: Passed, facts: RequestFacts) -> Mistakes:
    """The faults of a request that the recording shows for sure.

    Returns:
        Without faults of a body that was not recorded, and without those of a production realm, which the document
        lists as well as the others.
    """
    found = [fault for fault in facts.faults if passed.request_body.known or not fault.key.startswith("body")]
    if facts.realm in PRODUCTION_REALMS:
        found = [fault for fault in found if fault.key != _REALM_FAULT]
    token = (passed.header("Authorization") or "").strip().partition(" ")[2].strip()
    if token.lower() in _NO_TOKENS:
        said = f"the token is the word {token!r}, which no service ever gave"
        found.append(RequestFault(_NO_TOKEN_FAULT, said))
    return Mistakes(tuple(found), unread=not passed.request_body.known and _takes_json(facts.operation))


def request_findings(
    passed: Passed, facts: RequestFacts, mistakes: Mistakes, catalogue: Catalogue, realm: str
) -> Iterator[TrafficFinding]:
    """A finding for each fault of a request."""
    for fault in mistakes.faults:
        clause = catalogue.for_fault(facts.operation.id, fault.key)
        yield TrafficFinding(
            side=Side.REQUEST,
            standing=_standing(fault, clause),
            clause=clause.id if clause else None,
            level=str(clause.level) if clause else None,
            fault=fault.key,
            operation=facts.operation.id,
            realm=realm,
            expected=_expected(fault, clause),
            seen=fault.says[:_LONGEST],
            entry=passed.number,
        )


def _standing(fault: RequestFault, clause: Clause | None) -> Standing:
    """How much a fault weighs: what the document rules out outright decides, what it leaves open is a remark."""
    if fault.key in _OUTRIGHT:
        return Standing.FAULT
    if clause is None or clause.level is Level.SILENT:
        return Standing.REMARK
    return Standing.FAULT if fault.firm and clause.level is Level.MUST else Standing.ADVICE


def _expected(fault: RequestFault, clause: Clause | None) -> str:
    place = fault.key.partition(":")[0]
    if clause is None or clause.level is Level.SILENT:
        return f"{place} as the interface document lists it"
    return f"{place} as {clause.source} of the interface document asks for"


def _takes_json(operation: Operation) -> bool:
    return operation.method in ("POST", "PUT") and not operation.id.endswith(("Attachment", "File"))
