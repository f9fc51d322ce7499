"""Checks of sequences: what an exchange has to show because of an earlier one, in traffic or in a stateful case.

Trackers follow sign-ins, drafts, attachments and submissions, and say which check of the table is due. On a service
that others use too, another client may have written in between, so a contradiction carries the record it was seen on.
What is promised is all that a tracker knows: where the document is silent it forgets the record instead of guessing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeVar

from registry_contracts.checks import errors_array
from registry_contracts.checks.definition import Arguments, Check
from registry_contracts.checks.documents import CONTENT_GONE, DOCUMENT, GONE, LIST_WITHOUT, METADATA
from registry_contracts.checks.http import ACCEPTANCE
from registry_contracts.checks.outcomes import OBSTACLES, CheckOutcome, Result
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange, Response
from registry_contracts.exchanges.readers import Ambiguous
from registry_contracts.exchanges.request_facts import RequestFacts
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.operations import PERMANENT_KINDS
from registry_contracts.settings.target import Pace

_PORTS: Final = {"http": ":80", "https": ":443"}
#: How many records are followed at a time.
FOLLOWED: Final = 2000
#: How long a change may take to show in a list where no target says otherwise, in seconds.
SETTLE_SECONDS: Final = Pace().settle_seconds

State = TypeVar("State")


@dataclass(frozen=True)
class Step:
    """An exchange with everything a sequence needs of it.

    Attributes:
        answer: Of the service; None where the environment gave none.
        site: Scheme and host; what is said about one service says nothing about another.
        realm: As the request names it, empty for none.
        who: The account of the request, or its token; None where unknown.
        right: The request keeps the interface as far as it shows, and its answer is known as a whole.
    """

    exchange: Exchange
    facts: RequestFacts
    answer: Response | None
    site: str
    realm: str
    who: str | None
    right: bool

    @property
    def operation(self) -> str:
        """Its operationId."""
        return self.facts.operation.id

    @property
    def path(self) -> Mapping[str, str]:
        """Values of its placeholders."""
        return self.facts.path

    @property
    def judged(self) -> Response | None:
        """Its answer where the exchange can contradict an earlier one; None where it cannot."""
        return self.answer if self.right and not self.exchange.overlapped else None

    @property
    def sent(self) -> Any:
        """The request's body as JSON; None when it is not known, or none."""
        return self.exchange.request_body.json

    @property
    def taken(self) -> bool:
        """Whether the service took the request: 2xx, and no errors array."""
        answer = self.answer
        return answer is not None and 200 <= answer.status < 300 and not self._turned_down(answer)

    @property
    def refused(self) -> bool:
        """Whether the service refused it for what it is about, and not for who asks or how often."""
        answer = self.answer
        if answer is None or answer.page or answer.status in (401, 403, 407, 408, 429):
            return False
        return answer.refusal or self._turned_down(answer)

    @property
    def vague(self) -> bool:
        """Whether its effect is unknown."""
        answered = self.taken or (self.answer is not None and self.answer.refusal)
        return not answered or self.exchange.overlapped

    def _turned_down(self, answer: Response) -> bool:
        try:
            return errors_array.turned_down(answer)
        except Ambiguous:
            return True


class Told(NamedTuple):
    """What an exchange tells of a record because of an earlier one, whose number is `because_of`."""

    result: Result
    subject: str
    because_of: int

    @property
    def held(self) -> bool:
        """Whether it is as the earlier exchange makes it due."""
        return self.result.outcome is CheckOutcome.HELD


def told(
    step: Step, clause: str, check: Check, subject: str, because_of: int, expected: str = "", **arguments: Any
) -> Iterator[Told]:
    """Run a check of the table because of an earlier exchange; nothing where the answer cannot be judged."""
    try:
        found = load_catalogue().clause(clause)
        result = check.judge(found, step.operation, step.exchange, arguments, expected)
    except OBSTACLES:
        return
    yield Told(result, subject, because_of)


class RecentRecords(dict[tuple[str, ...], State]):
    """What is known about records; what was noted longest ago goes first."""

    def __setitem__(self, key: tuple[str, ...], state: State) -> None:
        """Remember something about a record."""
        self.pop(key, None)
        super().__setitem__(key, state)
        if len(self) > FOLLOWED:
            del self[next(iter(self))]


def site_of(url: str) -> str:
    """Scheme and host of an address, in small letters and without the port that goes without saying."""
    scheme, _, rest = url.lower().partition("://")
    return f"{scheme}://{rest.partition('/')[0].removesuffix(_PORTS.get(scheme, '/'))}"


CREATE: Final = "createWorkflowRecordWithIdentifier"
UPDATE: Final = "updateWorkflowRecord"


@dataclass(frozen=True)
class Draft:
    """What is known of a draft.

    Attributes:
        there: There since a save, or gone since a deletion, or never saved.
        entry, at: Number of the exchange of the latest of these, and when it ended.
        content: What was saved; for one that is gone, what was there. None when unknown.
        updated: The latest save was not the first.
        looked: Number of the exchange that last showed it as promised; of the latest write where none did since.
        refused: A faulty submission of it was refused since.
        contested: Other accounts have written it, too: whose it is, and who may read it, is not shown.
    """

    there: bool
    entry: int
    at: datetime | None
    who: str
    content: Any
    updated: bool = False
    looked: int = 0
    refused: bool = False
    contested: bool = False


class DraftTracker:
    """Follows drafts: the one model of them, for traffic and for the stateful case.

    Args:
        settle_seconds: How long a change may take to show in a list.

    Attributes:
        drafts: What is known of each, by service, realm and uid.
    """

    def __init__(self, settle_seconds: float = SETTLE_SECONDS) -> None:
        self._settle = settle_seconds
        self.drafts: RecentRecords[Draft] = RecentRecords()
        #: Operations that have shown a draft once that was there.
        self._shown_by: set[str] = set()

    def take(self, step: Step) -> Iterator[Told]:
        """What the next step of the traffic tells."""
        operation = step.facts.operation
        name = operation.identifier_parameter
        if operation.stores == "contact" and name is None:
            self._created(step)
        elif name is not None and operation.stores in PERMANENT_KINDS:
            self._submitted(step, _draft_key(step, step.path[name]))
        elif operation.family == "draft" and not operation.safe:
            self._written(step, _draft_key(step, step.path["uid"]))
        elif step.judged is not None and step.who is not None:
            if operation.needs == "draft" and (step.taken or step.refused):
                yield from self._read(step, _draft_key(step, step.path["uid"]))
            elif step.operation == "listDrafts" and step.taken and records_in(step.judged) is not None:
                yield from self._listed(step)

    def _created(self, step: Step) -> None:
        """A contact may be created under the identifier in its header."""
        for value in readers.values(step.sent):
            if isinstance(value, str):
                self.drafts.pop(_draft_key(step, value), None)

    def _submitted(self, step: Step, key: tuple[str, ...]) -> None:
        """What a submission is refused for in an errors array ends it before the draft is saved."""
        draft, answer = self.drafts.get(key), step.judged
        workflow = step.facts.operation.family == "workflow"
        if draft is not None and workflow and answer is not None and step.refused and readers.errors(answer):
            self.drafts[key] = replace(draft, refused=True)
        else:
            self.drafts.pop(key, None)

    def _written(self, step: Step, key: tuple[str, ...]) -> None:
        if step.vague or (step.taken and step.who is None):
            self.drafts.pop(key, None)
            return
        if not step.taken:
            return
        before, saved = self.drafts.get(key), step.facts.operation.stores == "draft"
        sent = _without_nulls(step.sent) if step.right else None
        content = sent if saved else before.content if before else None
        number, ended = step.exchange.number, step.exchange.ended
        again = saved and before is not None and before.there
        contested = before is not None and (before.contested or before.who != step.who)
        who = str(step.who)
        self.drafts[key] = Draft(saved, number, ended, who, content, again, number, contested=contested)

    def _read(self, step: Step, key: tuple[str, ...]) -> Iterator[Told]:
        draft, uid = self.drafts.get(key), key[-1]
        if draft is None or draft.who != step.who or (draft.contested and draft.there and not step.taken):
            return
        promised = _promised(step, draft)
        if promised is None:
            return
        clause, check, expected, arguments = promised
        blame = self._blame(key, draft, step.operation)
        for each in told(step, clause, check, uid, draft.entry, expected, **arguments):
            if each.held:
                self._shown_by |= {step.operation} if draft.there else set()
                self.drafts[key] = replace(draft, looked=step.exchange.number, refused=False)
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
        others = self.drafts.items()
        since = {one.there for at, one in others if one.entry > draft.looked and at[:-1] == key[:-1]}
        if False in since:
            return "draft-delete-spares-others", "deleteDraft"
        return ("draft-save-spares-others", "saveDraft") if since else updated

    def _listed(self, step: Step) -> Iterator[Told]:
        personal = dict(step.facts.query).get("collection") == "my"
        for (site, realm, uid), draft in self.drafts.items():
            if (site, realm) != (step.site, step.realm) or not draft.entry:
                continue
            if not draft.there and draft.who == step.who:
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


def _promised(step: Step, draft: Draft) -> tuple[str, Check, str, Arguments] | None:
    """The clause, the check, what is expected and the arguments that a read of a draft is held to."""
    read = isinstance(draft.content, dict) and step.operation == "getDraft"
    document = {"document": draft.content}
    if draft.there:
        clause = step.facts.operation.clauses.right_request
        if read and step.taken:
            return clause, DOCUMENT, "the draft as it was saved", document
        if step.operation == "getDraftInfo" and step.taken:
            return clause, METADATA, "metadata of the draft that was saved before", {}
        return clause, ACCEPTANCE, "the draft that was saved before", {}
    if step.operation == "draftExists" and draft.entry:
        return "draft-delete-removes", GONE, "no draft, since it was deleted", {}
    if step.operation == "draftExists":
        return "draft-exists-absent", GONE, "no draft, since none was saved", {}
    expected = "not the content of the draft that was deleted"
    return ("draft-delete-content-gone", CONTENT_GONE, expected, document) if read else None


def _without_nulls(value: Any) -> Any:
    """The value without members that are null: whether these stand for absent ones is not shown."""
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def records_in(answer: Response) -> list[dict[str, Any]] | None:
    """The records of a list; None where the answer is none, or could be several."""
    try:
        return readers.records(answer)
    except Ambiguous:
        return None


def settled(step: Step, changed: datetime | None, seconds: float) -> bool:
    """Whether a change that ended then has had its time to show in the list of a step."""
    started = step.exchange.started
    return started is not None and changed is not None and (started - changed).total_seconds() >= seconds


def _other_accounts(one: str, other: str) -> bool:
    """Whether two are different accounts for sure; two tokens may be of the same one."""
    return one != other and one.startswith("account ") and other.startswith("account ")


def _draft_key(step: Step, uid: str) -> tuple[str, str, str]:
    return step.site, step.realm, uid
