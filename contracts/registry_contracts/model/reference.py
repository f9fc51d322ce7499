"""The reference model: what the interface document promises of drafts, after what was sent before.

It is told of exchanges in their order, of a run or of recorded traffic. Where the document is silent it knows less,
never more: whose draft it is that two accounts have saved, what a submission leaves as a draft, whether a lock ends. It
forgets what an unclear answer may have changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from registry_contracts.checks.definition import Arguments, Check
from registry_contracts.checks.documents import CONTENT_GONE, DOCUMENT, GONE, LIST_WITHOUT, METADATA
from registry_contracts.checks.http import ACCEPTANCE
from registry_contracts.checks.sequences import (
    ACCOUNT,
    CREATE,
    SETTLE_SECONDS,
    UPDATE,
    RecentRecords,
    Step,
    Told,
    records_in,
    settled,
    told,
)
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.request_facts import read_request
from registry_contracts.interface.description import load_description
from registry_contracts.interface.operations import PERMANENT_KINDS
from registry_contracts.model.factors import ABSENT, DELETED, READS, covering

_PRESENT: Final = ("draft-exists-present", "draft-get-content", "draft-info-present")


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
    """What is known of a draft.

    Attributes:
        there: There since a save, or gone since a deletion, or never saved; None where that is unknown.
        entry, at: Number of the exchange of the latest of these, and when it ended; no number where none was saved.
        who: The account that wrote it last.
        content: What was saved; for one that is gone, what was there. None when unknown.
        updated: The latest save was not the first.
        looked: Number of the exchange that last showed it as promised; of the latest write where none did since.
        refused: A faulty submission of it was refused since.
        contested: Other accounts have written it, too: whose it is, and who may read it, is not shown.
        elsewhere: It is there in another realm alone.
    """

    there: bool | None
    entry: int = 0
    at: datetime | None = None
    who: str = ""
    content: Any = None
    updated: bool = False
    looked: int = 0
    refused: bool = False
    contested: bool = False
    elsewhere: bool = False


class Reference:
    """The promised state of drafts.

    Args:
        owns: Whether nobody but this run can have written under a uid: what was not saved there is absent.
        settle_seconds: How long a change may take to show in a list.
    """

    def __init__(
        self, owns: Callable[[str], bool] = lambda _: False, settle_seconds: float = SETTLE_SECONDS
    ) -> None:
        self._owns = owns
        self._settle = settle_seconds
        #: By service, realm and uid.
        self._drafts: RecentRecords[Draft] = RecentRecords()
        #: Operations that have shown a draft once that was there.
        self._shown_by: set[str] = set()

    def of(self, realm: str, who: str) -> list[str]:
        """Uids of the drafts of a run that are there and an account's own: no other has written them."""
        return [
            uid
            for (_, at, uid), each in self._drafts.items()
            if at == realm and each.there and each.who == ACCOUNT + who and not each.contested
        ]

    # -- what is promised of a request to come

    def promised(self, asked: Asked) -> Promise:
        """What the document promises of a request of a run."""
        draft = self._known(("", asked.realm, asked.uid))
        state = _refused_for_state(asked.operation, draft)
        reasons = [*asked.reasons, *([state] if state else [])]
        if reasons:
            content = draft.content if draft and asked.operation == "getDraft" else None
            exact = len(reasons) == 1 and not asked.may
            return Promise(Kind.REFUSED, reasons[0], exact=exact, content=content)
        if asked.may:
            return Promise(Kind.SILENT, because="of values of which it is not shown whether they are taken")
        if asked.operation not in READS:
            operation = load_description().operations[asked.operation]
            return Promise(Kind.ACCEPTED, operation.clauses.right_request)
        if draft is None or draft.there is None:
            return Promise(Kind.SILENT, because="what was sent before leaves it open what is there")
        if draft.contested or draft.who != ACCOUNT + asked.who:
            return Promise(Kind.SILENT, because="whose draft it is, and who may read it, is not shown")
        return Promise(Kind.ACCEPTED, covering(_PRESENT, asked.operation), content=draft.content)

    def _known(self, key: tuple[str, ...]) -> Draft | None:
        """What is known of a draft; None where it may be anybody's."""
        known, (*_, uid) = self._drafts.get(key), key
        if known is not None or not self._owns(uid):
            return known
        others = (each for (*_, other), each in self._drafts.items() if other == uid and each.there)
        elsewhere = next(others, None)
        return replace(elsewhere, there=False, elsewhere=True) if elsewhere else Draft(there=False)

    # -- what an exchange tells

    def learn(self, exchange: Exchange, number: int = 0) -> list[Told]:
        """What the next exchange of a run tells, as `take` does; nothing where it is outside the interface."""
        facts, answer = read_request(exchange), None if exchange.fault else exchange.response
        if facts is None:
            return []
        if answer is not None and answer.redirect and answer.success:
            answer = replace(answer, status=200)  # it leads to what was asked for
        who, numbered = ACCOUNT + exchange.role, replace(exchange, number=number)
        return self.take(Step(numbered, facts, answer, "", facts.realm or "", who, right=True))

    def take(self, step: Step) -> list[Told]:
        """What the next exchange tells because of earlier ones; the model knows it from then on."""
        operation = step.facts.operation
        name = operation.identifier_parameter
        if operation.stores == "contact" and name is None:
            self._created(step)
        elif name is not None and operation.stores in PERMANENT_KINDS:
            self._submitted(step, _key(step, step.path[name]))
        elif operation.family == "draft" and not operation.safe:
            self._written(step, _key(step, step.path["uid"]))
        elif step.judged is not None and step.who is not None:
            if operation.needs == "draft" and (step.taken or step.refused):
                return [*self._read(step, _key(step, step.path["uid"]))]
            if step.operation == "listDrafts" and step.taken and records_in(step.judged) is not None:
                return [*self._listed(step)]
        return []

    def _forget(self, key: tuple[str, ...], *, contested: bool = False) -> None:
        """Note that it is unknown what is there; who wrote it remains known."""
        before = self._drafts.get(key)
        if before is not None or self._owns(key[-1]):
            before = before or Draft(there=None)
            contested = contested or before.contested
            self._drafts[key] = replace(before, there=None, refused=False, contested=contested)

    def _created(self, step: Step) -> None:
        """A contact may be created under the identifier in its header."""
        for value in readers.values(step.sent):
            if isinstance(value, str):
                self._forget(_key(step, value))

    def _submitted(self, step: Step, key: tuple[str, ...]) -> None:
        """What a submission is refused for in an errors array ends it before the draft is saved."""
        answer, workflow = step.judged, step.facts.operation.family == "workflow"
        known = self._known(key)
        if not (workflow and answer is not None and step.refused and readers.errors(answer)):
            self._forget(key)
        elif known is not None and not known.elsewhere:
            self._drafts[key] = replace(known, refused=True)

    def _written(self, step: Step, key: tuple[str, ...]) -> None:
        before, saved = self._drafts.get(key), step.facts.operation.stores == "draft"
        another = before is not None and before.who not in ("", step.who)
        contested = another or (before is not None and before.contested)
        whose_left = not saved and contested and before is not None and before.there is not False
        if step.vague or (step.taken and (step.who is None or whose_left)):
            self._forget(key, contested=contested)
            return
        if not step.taken or step.who is None:
            return
        sent = _without_nulls(step.sent) if step.right else None
        content = sent if saved else before.content if before else None
        number, ended = step.exchange.number, step.exchange.ended
        again = saved and before is not None and bool(before.there)
        self._drafts[key] = Draft(
            saved, number, ended, step.who, content, again, number, contested=saved and contested
        )

    def _read(self, step: Step, key: tuple[str, ...]) -> Iterator[Told]:
        draft, uid = self._known(key), key[-1]
        if draft is None or draft.who not in ("", step.who):
            return
        if draft.contested and draft.there and not step.taken:
            return
        promised = _held_to(step, draft)
        if promised is None:
            return
        clause, check, expected, arguments = promised
        blame = self._blame(key, draft, step.operation)
        for each in told(step, clause, check, uid, draft.entry, expected, **arguments):
            if each.held:
                self._shown_by |= {step.operation} if draft.there else set()
                if key in self._drafts:
                    self._drafts[key] = replace(draft, looked=step.exchange.number, refused=False)
            if each.held or blame is None:
                yield each
            if blame is not None:  # what a contradiction would speak against holds with the read
                yield each._replace(result=replace(each.result, clause=blame[0], operation=blame[1]))

    def _blame(self, key: tuple[str, ...], draft: Draft, by: str) -> tuple[str, str] | None:
        """Clause and operation that a wrong draft speaks against: what happened since it was last seen as promised."""
        updated = ("draft-save-updates", "getDraft") if draft.updated and by == "getDraft" else None
        if draft.there and draft.looked == draft.entry:
            return updated
        if draft.refused:
            kept, order = "workflow-refused-update-keeps-draft", "workflow-order-validation-before-save"
            return (kept, UPDATE) if draft.there else (order, CREATE)
        if not draft.there or by not in self._shown_by:
            return updated  # what has shown no draft yet is wrong itself, whatever was done to others
        others = self._drafts.items()
        later = {one.there for at, one in others if one.entry > draft.looked and at[:-1] == key[:-1]}
        since = later - {None}
        if False in since:
            return "draft-delete-spares-others", "deleteDraft"
        return ("draft-save-spares-others", "saveDraft") if since else updated

    def _listed(self, step: Step) -> Iterator[Told]:
        personal = dict(step.facts.query).get("collection") == "my"
        for (site, realm, uid), draft in self._drafts.items():
            if (site, realm) != (step.site, step.realm) or not draft.entry:
                continue
            if draft.there is False and draft.who == step.who:
                expected = f"a list without {uid}, whose draft was deleted"
                for each in told(
                    step, "list-deleted-gone", LIST_WITHOUT, uid, draft.entry, expected, identifier=uid
                ):
                    if each.held or settled(step, draft.at, self._settle):
                        yield each
            elif (
                draft.there and personal and not draft.contested and _other_accounts(draft.who, str(step.who))
            ):
                expected = f"a personal list without {uid}, the draft of another account"
                yield from told(
                    step, "list-my-without-others", LIST_WITHOUT, uid, draft.entry, expected, identifier=uid
                )


def _refused_for_state(operation: str, draft: Draft | None) -> str:
    """The clause by which a draft that is not there has a request refused; empty for none."""
    if operation not in READS or draft is None or draft.there is not False:
        return ""
    if draft.elsewhere:
        return "realm-drafts-apart"
    return covering(DELETED if draft.entry else ABSENT, operation)


def _held_to(step: Step, draft: Draft) -> tuple[str, Check, str, Arguments] | None:
    """The clause, the check, what is expected and the arguments that a read of a draft is held to."""
    if draft.there is None or draft.elsewhere:
        return None
    read = isinstance(draft.content, dict) and step.operation == "getDraft"
    if not draft.there:
        return _held_to_absence(step, draft) if step.operation == "draftExists" or read else None
    clause = step.facts.operation.clauses.right_request
    if read and step.taken:
        return clause, DOCUMENT, "the draft as it was saved", {"document": draft.content}
    if step.operation == "getDraftInfo" and step.taken:
        return clause, METADATA, "metadata of the draft that was saved before", {}
    return clause, ACCEPTANCE, "the draft that was saved before", {}


def _held_to_absence(step: Step, draft: Draft) -> tuple[str, Check, str, Arguments]:
    """As `_held_to`, of a draft that is not there: its existence, or the content of one that was deleted."""
    if step.operation == "getDraft":
        expected = "not the content of the draft that was deleted"
        return "draft-delete-content-gone", CONTENT_GONE, expected, {"document": draft.content}
    if draft.entry:
        return "draft-delete-removes", GONE, "no draft, since it was deleted", {}
    return "draft-exists-absent", GONE, "no draft, since none was saved", {}


def _without_nulls(value: Any) -> Any:
    """The value without members that are null: whether these stand for absent ones is not shown."""
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _other_accounts(one: str, other: str) -> bool:
    """Whether two are different accounts for sure; two tokens may be of the same one."""
    return one != other and one.startswith(ACCOUNT) and other.startswith(ACCOUNT)


def _key(step: Step, uid: str) -> tuple[str, str, str]:
    return step.site, step.realm, uid
