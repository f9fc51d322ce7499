"""The reference model: what the interface document promises of a request, after what was sent before.

It is told of exchanges in their order. Where the document is silent it knows less, never more: whose draft it is that
two accounts have saved, what a submission leaves as a draft, whether a lock ends. It forgets what an unclear answer
may have changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.request_facts import read_request
from registry_contracts.interface.description import load_description
from registry_contracts.model.factors import ABSENT, DELETED, READS, covering

_PRESENT: Final = ("draft-exists-present", "draft-get-content", "draft-info-present")


class Outcome(StrEnum):
    """What became of a request."""

    TAKEN = "taken"
    REFUSED = "refused"
    #: A status of success with errors: refused, but for a draft, of which it is not shown.
    FAULTY = "told faulty"
    UNCLEAR = "unclear"


def outcome(exchange: Exchange) -> Outcome:
    """What became of a request, by its answer; unclear without one, and where it is a server error or a page."""
    answer = exchange.response
    if answer is None or exchange.fault or exchange.overlapped or answer.status >= 500 or answer.page:
        return Outcome.UNCLEAR
    try:
        if answer.success and load_description().operations[str(exchange.operation)].takes_record:
            return Outcome.FAULTY if readers.errors(answer) else Outcome.TAKEN
    except readers.Ambiguous:
        return Outcome.UNCLEAR
    return Outcome.TAKEN if answer.success else Outcome.REFUSED if answer.refusal else Outcome.UNCLEAR


class Kind(StrEnum):
    """What the document says of a request."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    SILENT = "silent"


@dataclass(frozen=True)
class Promise:
    """What is promised of a request.

    Attributes:
        clause: By which it is accepted or refused; empty where nothing is promised.
        because: Why nothing is.
        exact: Nothing else can have it refused, so that a message of the clause is due.
        content: Of a draft: what a read gives, or must not give.
    """

    kind: Kind
    clause: str = ""
    because: str = ""
    exact: bool = False
    content: Any = None


@dataclass(frozen=True)
class Asked:
    """A request to come, as far as a promise needs it.

    Attributes:
        realm, uid: Of the draft, or of the record; no uid where the operation knows none.
        who: The account role.
        reasons: Clauses by which its values have it refused, whatever is there.
        may: Something in it may have it refused, which is not shown.
    """

    operation: str
    realm: str
    uid: str = ""
    who: str = "author"
    reasons: tuple[str, ...] = ()
    may: bool = False


@dataclass(frozen=True)
class Draft:
    """What is known of a draft: there or gone (None: unknown), what was saved, and by which accounts."""

    there: bool | None
    content: Any = None
    writers: frozenset[str] = frozenset()
    elsewhere: bool = False


class Reference:
    """The promised state of the drafts of a service.

    Args:
        owns: Whether nobody but this run can have written under an identifier: what was not saved there is absent.
    """

    def __init__(self, owns: Callable[[str], bool]) -> None:
        self._owns = owns
        self._drafts: dict[tuple[str, str], Draft] = {}

    def apply(self, exchange: Exchange) -> None:
        """Take in an exchange."""
        facts = read_request(exchange)
        if facts is None or facts.operation.safe:
            return
        operation, became = facts.operation, outcome(exchange)
        uid = facts.path.get(operation.identifier_parameter or "", "")
        key = (facts.realm or "", uid)
        known = self._drafts.get(key, Draft(there=None))
        if not uid or became is Outcome.REFUSED:
            return
        if operation.stores == "submission":
            if became is not Outcome.FAULTY:
                self._drafts[key] = Draft(there=None)
        elif operation.family != "draft":
            return
        elif became is not Outcome.TAKEN:
            self._drafts[key] = Draft(there=None)
        elif operation.stores:
            writers = (known.writers if known.there else frozenset()) | {exchange.role}
            self._drafts[key] = Draft(there=True, content=exchange.request_body.json, writers=writers)
        else:
            whole = known.there is True and known.writers == {exchange.role}
            self._drafts[key] = replace(known, there=False if whole or not known.there else None)

    def promised(self, asked: Asked) -> Promise:
        """What the document promises of a request."""
        draft = self._draft(asked)
        state = self._refused_for_state(asked, draft)
        reasons = [*asked.reasons, *([state] if state else [])]
        if reasons:
            content = draft.content if draft and asked.operation == "getDraft" else None
            exact = len(reasons) == 1 and not asked.may
            return Promise(Kind.REFUSED, reasons[0], exact=exact, content=content)
        return self._taken(asked, draft)

    def _draft(self, asked: Asked) -> Draft | None:
        """What is known of the draft that is asked for; None where it may be anybody's."""
        own = self._drafts.get((asked.realm, asked.uid))
        if own is not None or not asked.uid or not self._owns(asked.uid):
            return own
        others = [each for (_, uid), each in self._drafts.items() if uid == asked.uid and each.there]
        return replace(others[0], there=False, elsewhere=True) if others else Draft(there=False)

    def _refused_for_state(self, asked: Asked, draft: Draft | None) -> str:
        """The clause by which the state of what is asked for has a request refused; empty for none."""
        if asked.operation not in READS or draft is None or draft.there is not False:
            return ""
        if draft.elsewhere:
            return "realm-drafts-apart"
        return covering(DELETED if draft.writers else ABSENT, asked.operation)

    def _taken(self, asked: Asked, draft: Draft | None) -> Promise:
        if asked.may:
            return Promise(Kind.SILENT, because="of values of which it is not shown whether they are taken")
        if asked.operation not in READS:
            operation = load_description().operations[asked.operation]
            return Promise(Kind.ACCEPTED, operation.clauses.right_request)
        if draft is None or draft.there is None:
            return Promise(Kind.SILENT, because="what was sent before leaves it open what is there")
        if draft.writers != {asked.who}:
            return Promise(Kind.SILENT, because="whose draft it is, and who may read it, is not shown")
        return Promise(Kind.ACCEPTED, covering(_PRESENT, asked.operation), content=draft.content)
