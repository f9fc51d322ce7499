"""The preflight check of `run` and `doctor`: whether the target can be judged with these settings.

It checks the address, the author's account, whether a page answers instead of the service, the token, the realms, the
rights to write, the schemas, the other accounts, and documented names that the settings replace. It sends at most
twelve requests, and three more for each of these names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from registry_contracts.cases.comparison import refused_as
from registry_contracts.cases.requests import UNKNOWN_REALM
from registry_contracts.cases.rights import Rights, first_writes
from registry_contracts.cases.sample_records import DRAFTS_OF_WORKFLOW
from registry_contracts.cases.submissions import UNKNOWN_SCHEMA
from registry_contracts.checks.outcomes import Attempt, contradicted
from registry_contracts.checks.workflow import Row, carries_message
from registry_contracts.errors import EnvironmentFault
from registry_contracts.evidence.record import Verdict
from registry_contracts.evidence.terms import Consumer
from registry_contracts.exchanges.exchange import Exchange, Response, read_timestamp
from registry_contracts.exchanges.foreign_answers import page_words
from registry_contracts.exchanges.readers import Ambiguous, records
from registry_contracts.interface.description import load_description
from registry_contracts.interface.operations import SIGN_IN
from registry_contracts.plugin.case import Case, Ending
from registry_contracts.plugin.worker import Worker
from registry_contracts.session.actor import Actor
from registry_contracts.session.authentication import NO_TOKEN, UNAUTHENTICATED, Token
from registry_contracts.session.session import Session, wait_for_start
from registry_contracts.settings.target import (
    ACCOUNT_ROLES,
    AUTHOR,
    BEARER,
    DOCUMENT_REALMS,
    REALM_HEADER,
    SCHEME_ADVICE,
    Target,
    WireNames,
    sent_as_line,
)

_MOST_REQUESTS: Final = 12
#: How many seconds signing in may take, and then all other checks of a run.
LONGEST_SECONDS: Final = 8.0
_FORBIDDEN: Final = 403
#: Statuses of an address that is not the service's.
_NOT_THERE: Final = (404, 405, 410)
_SHORT_LIFE_SECONDS: Final = 120.0
#: Most requests of one step: a token that is refused twice, the first write of an account.
_TOKEN_COSTS, _WRITE_COSTS = 4, 4
#: How often a contradiction must be seen before it counts.
_TIMES: Final = 2
#: Most requests for a name: one with the settings' name, two with the documented one.
_NAME_COSTS: Final = 3
_CLOCK: Final = "clock"
_NAMES: Final = "names"
#: The clause on which realms exist, and the operation that shows it without writing.
_REALMS_CLAUSE: Final = "realm-document-realms"
_READING: Final = "listDrafts"
#: The clause on how a token is sent.
_TOKEN_CLAUSE: Final = "token-opens-protected"  # noqa: S105 - no token
_SUBMITTING: Final = "createWorkflowRecord"
#: Parts of the request for the list of drafts in each realm.
_FIRST_ITEM: Final = {"query": {"$top": "1"}}


class State(StrEnum):
    """The result of one check."""

    OK = "ok"
    #: Worth reading; the run continues.
    NOTE = "note"
    #: Not checked, or without a result.
    UNKNOWN = "unknown"
    #: The settings do not fit the target.
    SETTINGS = "settings"
    #: The service breaks the interface where every other check depends on it; a run reports it as a finding.
    SERVICE = "service"
    #: The target cannot be judged as it is.
    ENVIRONMENT = "environment"


@dataclass(frozen=True)
class Diagnosis:
    """What one check showed.

    Attributes:
        subject: `address`, an account, a realm, or an operation in a realm.
        text: What was seen, and what to do about it.
        stops: No case could be judged.
    """

    subject: str
    state: State
    text: str
    stops: bool = False


#: A documented name, the clause that requires it, the operation and parts of the request that tries it, and how many
#: records a service that knows it lists at most.
_Tried = tuple[str, str, str, dict[str, Any], int | None]


def _tried_names(target: Target, realm: str) -> Iterator[_Tried]:
    """The documented names that can be tried in a realm; nothing is stored, since submissions use an unknown schema."""
    submission = {"path": {"schema": UNKNOWN_SCHEMA}, "json": {}, "query": {}}
    by_query = submission | {"headers": {"Realm": None}, "query": {"Realm": realm}}
    yield "Realm", "realm-query", _SUBMITTING, by_query, None
    if realm not in DOCUMENT_REALMS:
        yield realm, "realm-workflow-realms", _SUBMITTING, submission, None
        return
    of_lists: tuple[tuple[str, str, dict[str, str], int | None], ...] = (
        (realm, _REALMS_CLAUSE, {}, None),
        (REALM_HEADER, _REALMS_CLAUSE, {}, None),
        (BEARER, _TOKEN_CLAUSE, {}, None),
        ("my", "list-my-answers", {"collection": "my"}, None),
        ("collection", "list-my-answers", {"collection": "my"}, None),
        ("mydrafts", "list-mydrafts-has-mine", {"collection": "mydrafts"}, None),
        ("$top", "list-top", {}, 1),
        ("$skip", "list-skip-beyond", {"$skip": "1000000"}, 0),
    )
    for name, clause, query, most in of_lists:
        yield name, clause, _READING, {"query": {"$top": "1"} | query}, most
    for uid in target.realm_settings(realm).existing_identifier[:1]:
        one, none = ({"path": {"uid": uid}, "query": query} for query in ({"top": "1"}, {"skip": "1000000"}))
        yield "top", "attachment-list-top", "listAttachments", one, 1
        yield "skip", "attachment-list-skip-beyond", "listAttachments", none, 0


def _is_unknown(operation: str, documented: Response, own: Response, most: int | None) -> bool | None:
    """Whether the service does not know a documented name; None if the answers are unclear.

    Args:
        documented: The answer to the documented name.
        own: The answer to the name of the settings.
        most: How many records are listed at most if the name is known.
    """
    if operation == _SUBMITTING:
        return _finds_no_realm(documented) and not _finds_no_realm(own)
    if not own.success or documented.refusal:
        return True if own.success else None
    return False if most is None else (_listed(documented) > most >= _listed(own) or None)


def _finds_no_realm(answer: Response) -> bool:
    return any(carries_message(answer, row) for row in (Row.REALM_MISSING, Row.REALM_UNKNOWN))


def _listed(answer: Response) -> int:
    """How many records a list holds; 0 if unknown."""
    try:
        return len(records(answer) or ()) if answer.success else 0
    except Ambiguous:
        return 0


#: What was seen, and the ids of the exchanges that show it (a finding shows the last).
_Seen = tuple[str, tuple[str, ...]]


def _case(realm: str, attempt: Attempt) -> Case:
    """The checks in a realm, as a case."""
    clauses, operations = (tuple(sorted(set(names))) for names in zip(*attempt.keys, strict=True))
    title = "names are known as the interface document writes them"
    return Case(f"[preflight in {realm}]", realm, clauses=clauses, operations=operations, title=title)


@dataclass
class Preflight:
    """One preflight check of a target.

    Attributes:
        writes: Whether it may save drafts and send faulty submissions.
        judges: Whether it also tries the documented names that the settings replace, with three more requests for each.
        seconds: How long it may take once the author has signed in.
        limit: Requests that it may send; a step that may need more is skipped.
        attempts: By realm, the exchanges and the contradictions that were seen twice.
    """

    session: Session
    realms: tuple[str, ...]
    writes: bool = False
    consumer: Consumer = field(default_factory=Consumer)
    judges: bool = False
    seconds: float = LONGEST_SECONDS
    limit: int = field(default=_MOST_REQUESTS, init=False)
    attempts: dict[str, Attempt] = field(default_factory=lambda: defaultdict(lambda: Attempt(1)), init=False)

    def __post_init__(self) -> None:
        """Note the realms with drafts."""
        self._rights, self._target = Rights(self.session), self.session.target
        self._reading = [realm for realm in self.realms if realm in DOCUMENT_REALMS]

    def diagnoses(self, wait_seconds: float = 0.0) -> Iterator[Diagnosis]:
        """Results in the order of the checks; the first that stops everything is the last.

        Args:
            wait_seconds: How long to wait for a target that is starting, while its gateway answers for it.
        """
        try:
            for diagnosis in self._steps(wait_seconds):
                yield diagnosis
                if diagnosis.stops:
                    return
        except EnvironmentFault as fault:  # it may pass: a run retries by itself
            yield Diagnosis("address", State.ENVIRONMENT, str(fault))

    def _steps(self, wait_seconds: float) -> Iterator[Diagnosis]:
        yield from self._author(wait_seconds)
        with self.session.time_limit(self.seconds):
            yield from self._lists()
            yield from self._first_writes()
            yield from self._workflow_schemas()
            yield from self._accounts()
            yield from self._names()

    def _affords(self, requests: int) -> bool:
        return self.session.counts["requests"] + requests <= self.limit

    def _send(self, realm: str, operation: str = _READING, **parts: Any) -> Exchange:
        """Send an operation as the author; by default the list of drafts, limited to one.

        Raises:
            EnvironmentFault: no answer came.
        """
        exchanges = self.attempts[realm].exchanges
        actor = Actor(self.session, AUTHOR, realm, f"[preflight in {realm}]", exchanges=exchanges)
        exchange = actor.send(operation, **(_FIRST_ITEM | parts))
        if exchange.fault:
            raise EnvironmentFault(exchange.fault)
        return exchange

    def _note(self, realm: str, about: tuple[str, str], expected: str, seen: Sequence[_Seen]) -> None:
        """Note that a clause was contradicted at an operation each time that it was tried."""
        for words, shown in seen:
            self.attempts[realm].note(contradicted(*about, expected, words, shown, AUTHOR))
        self.attempts[realm].confirmed[about] = len(seen), len(seen)

    def _author(self, wait_seconds: float) -> Iterator[Diagnosis]:
        author, began, url = self._sign_in(AUTHOR), datetime.now(UTC), self._target.base_url
        if author.gateway and not self._target.is_sandbox and wait_for_start(self._target, wait_seconds):
            waited = (datetime.now(UTC) - began).total_seconds()
            yield Diagnosis("start", State.NOTE, f"was waited for, {waited:.0f} s")
            author = self._sign_in(AUTHOR)
        if author.environment:
            hint = _hint(url, author.refusal) or "; is the service up and the base URL right?"
            why = f"{url} cannot be judged: {author.refusal}{hint}"
            yield Diagnosis("address", State.ENVIRONMENT, why, stops=True)
        yield Diagnosis("address", *_address(url))
        yield _signed_in(AUTHOR, author, url)
        yield _clock(author.ahead)

    def _sign_in(self, role: str) -> Token:
        with self.session.time_limit(LONGEST_SECONDS):
            return self.session.tokens.token(role)

    # Checks that only read.

    def _lists(self) -> Iterator[Diagnosis]:
        """The list of drafts in each realm."""
        seen, url = {realm: self._send(realm) for realm in self._reading}, self._target.base_url
        if seen and all(exchange.answer.hollow_page for exchange in seen.values()):
            where = f"every list of drafts is {page_words(next(iter(seen.values())).answer)}"
            why = f"{url} cannot be judged: {where}; is a proxy or a login page in between?"
            yield Diagnosis("realms", State.ENVIRONMENT, why, stops=True)
        refused = {realm: exchange for realm, exchange in seen.items() if exchange.answer.refusal}
        for realm in self.realms:
            if realm not in seen:
                yield Diagnosis(realm, State.UNKNOWN, "has the workflow endpoint only, which cannot be read")
            elif realm not in refused:
                yield Diagnosis(realm, State.OK, "answers to listDrafts")
        if refused:
            yield from self._refused_realms(refused, everywhere=len(refused) == len(seen))

    def _refused_realms(self, refused: Mapping[str, Exchange], *, everywhere: bool) -> Iterator[Diagnosis]:
        first, url = next(iter(refused)), self._target.base_url
        if everywhere and self._affords(_TOKEN_COSTS) and (why := self._token_refused(first)):
            yield Diagnosis("realms", State.ENVIRONMENT, f"{url} {why}", stops=True)
        taken = self._send(first, headers={"Realm": first.upper()}).answer.success
        advice = (
            f"; it accepts '{first.upper()}': {sent_as_line(first)} lets the rest be judged" if taken else ""
        )
        for realm, refusal in refused.items():
            yield Diagnosis(realm, State.NOTE, f"listDrafts: {refusal.answer.quote()}{advice}")
        if not everywhere or not (taken or self._all_unknown(first, refused)):
            return  # cases judge it
        if all(self._refused_again(realm, before, taken) for realm, before in refused.items()):
            why = f"refuses every realm of the interface document: {refused[first].answer.quote()}{advice}"
            state = State.SETTINGS if taken else State.ENVIRONMENT
            yield Diagnosis("realms", state, f"{url} {why}", stops=True)

    def _all_unknown(self, realm: str, refused: Mapping[str, Exchange]) -> bool:
        """Whether all realms are refused like one that does not exist, with a message about the realm."""
        unknown = self._send(realm, headers={"Realm": UNKNOWN_REALM}).answer
        answers = [exchange.answer for exchange in refused.values()]
        return all(refused_as(answer, unknown) and "realm" in answer.text.lower() for answer in answers)

    def _refused_again(self, realm: str, before: Exchange, capitals: bool) -> bool:
        """Whether a realm is refused once more; then note both refusals."""
        if not self._affords(1):
            return False
        again, seen = self._send(realm), list[_Seen]()
        for exchange in (before, again):
            words = exchange.answer.quote()
            if capitals:
                words = f"'{realm.upper()}' is accepted instead of '{realm}', which was answered {words}"
            seen.append((words, (exchange.id,)))
        if again.answer.refusal:
            self._note(realm, (_REALMS_CLAUSE, _READING), "the realm is accepted", seen)
        return again.answer.refusal

    def _token_refused(self, realm: str) -> str:
        """How the service refuses a new token twice like a made-up one, as text; empty if it does not."""
        refused, seen = "", list[_Seen]()
        for _ in range(_TIMES):
            issued, made_up = self._send(realm), self._send(realm, token=NO_TOKEN)
            if not (_about_the_token(issued.answer) and refused_as(issued.answer, made_up.answer)):
                return ""
            refused = f"{issued.answer.quote()}; {SCHEME_ADVICE}"
            words = f"a token just issued is refused like a made-up one: {refused}"
            seen.append((words, (made_up.id, issued.id)))
        self._note(realm, (_TOKEN_CLAUSE, _READING), "the token is known", seen)
        return f"knows none of its own tokens: {refused}"

    # Checks that write.

    def _first_writes(self) -> Iterator[Diagnosis]:
        """Check whether the author may write and the contact schema is known.

        The first realm that accepts a write is enough. If none does, nothing can be judged.
        """
        if not self.writes or not any(map(self.consumer.uses, first_writes())):
            return
        lacking: dict[str, str] = {}
        for realm in self._reading:
            if not self._affords(_WRITE_COSTS):
                return
            first = self._rights.first_write(AUTHOR, realm)
            if first.unknown_schema and not self.consumer:
                others = (other for other in self._reading if other != realm and self._affords(1))
                everywhere = not any(map(self._rights.knows_schema, others))
                yield _schema_unknown(realm, "contact_schema", first.unknown_schema, stops=everywhere)
                return
            if first.lacks_rights:
                lacking[realm] = first.lacks_rights
                continue
            if first.refused and self._rights.takes_workflow_draft(realm):
                self.session.shared.offer(DRAFTS_OF_WORKFLOW, value=True)
            break
        if lacking:
            where, how = ", ".join(lacking), next(iter(lacking.values()))
            why = f"the author's account may not write in {where}: {how}"
            yield Diagnosis(AUTHOR, State.SETTINGS, why, stops=len(lacking) == len(self._reading))

    def _workflow_schemas(self) -> Iterator[Diagnosis]:
        """Check whether a realm knows the workflow schema of its settings; the first that does is enough."""
        named = [realm for realm in self.realms if self._target.realm_settings(realm).workflow_schema]
        refusals: dict[str, str] = {}
        if not self.writes or self.consumer or not self._affords(len(named)):
            return
        for realm in named:
            refusals[realm] = self._rights.unknown_workflow_schema(realm)
            if not refusals[realm]:
                break
        for realm, refusal in refusals.items():
            if refusal:
                yield _schema_unknown(realm, "workflow_schema", refusal, stops=all(refusals.values()))

    def _accounts(self) -> Iterator[Diagnosis]:
        """Check whether the other accounts sign in."""
        for role in ACCOUNT_ROLES[1:]:
            if missing := self._target.missing(f"account.{role}"):
                yield Diagnosis(role, State.UNKNOWN, missing)
            elif self._affords(1):
                yield _signed_in(role, self._sign_in(role), self._target.base_url)

    # Names that the settings replace.

    def _names(self) -> Iterator[Diagnosis]:
        """Try the documented names that the settings replace, each in the first realm with clear answers."""
        names, tested = WireNames.of(self._target), set[str]()
        if not names:
            return
        text = f"{self._target.base_url} is sent names of its own: {names.in_words()}"
        yield Diagnosis(_NAMES, State.NOTE, text)
        if not self.judges:
            return
        self.limit += _NAME_COSTS * len(names)
        for realm in self.realms:
            for tried in _tried_names(self._target, realm):
                name = tried[0]
                due = name in names and name not in tested
                if due and self._affords(_NAME_COSTS) and self._test_name(realm, *tried):
                    tested.add(name)

    def _test_name(
        self, realm: str, name: str, clause: str, operation: str, parts: dict[str, Any], most: int | None
    ) -> bool:
        """Send a documented name twice, and note it if it is unknown; return whether the answers were clear."""
        own, seen = self._send(realm, operation, **parts), list[_Seen]()
        for _ in range(_TIMES):
            documented = self._send(realm, operation, **parts, documented=name)
            unknown = _is_unknown(operation, documented.answer, own.answer, most)
            if not unknown:
                return unknown is not None
            quoted = documented.answer.quote()
            words = f"the name of the settings is known, and the documented one was answered {quoted}"
            seen.append((words, (documented.id, own.id)))
        self._note(realm, (clause, operation), f"{name} is known", seen)
        return True


def preflight(worker: Worker, wait_seconds: float) -> tuple[str | None, list[str]]:
    """Check the target of a run and write findings to the journal; the workers then share the tokens.

    Returns:
        Why nothing can be judged, in one sentence, or None; and notes worth reading. A service that breaks the
        contract of signing in is no reason: the cases on signing in find that.
    """
    if worker.target.is_sandbox:
        # An embedded sandbox may have a fault, which the cases are to find.
        author = worker.tokens.token(AUTHOR)
        down = author.environment and author.status is None
        return (f"{worker.target.base_url} cannot be judged: {author.refusal}" if down else None), []
    consumer = worker.selection.terms.consumer
    check = Preflight(worker, worker.selection.realms, writes=True, consumer=consumer, judges=True)
    started, diagnoses = datetime.now(UTC), list(check.diagnoses(wait_seconds))
    for realm, attempt in check.attempts.items():
        if attempt.evidence:
            found = ", ".join(sorted({clause for clause, _ in attempt.keys}))
            ending = Ending(Verdict.FAIL, f"contradicted as seen before the first case: {found}")
            case = _case(realm, attempt)
            worker.write_case(case, attempt, ending, started, findings=worker.findings(case, [attempt]))
    stopping = (each.text for each in diagnoses if each.stops and each.state is not State.SERVICE)
    notes = [each for each in diagnoses if each.subject in {_CLOCK, _NAMES} and each.state is State.NOTE]
    return next(stopping, None), [each.text for each in notes]


def _clock(ahead: float) -> Diagnosis:
    """How far the target's clock is ahead of ours, in seconds, by the answer to signing in."""
    if not ahead:
        return Diagnosis(_CLOCK, State.OK, "agrees with ours")
    differs = f"{abs(ahead):,.0f} s {'ahead of' if ahead > 0 else 'behind'} ours, which is taken into account"
    return Diagnosis(_CLOCK, State.NOTE, f"the target's clock is {differs}")


def _signed_in(role: str, token: Token, base_url: str) -> Diagnosis:
    """The result of signing a role in."""
    if token.value:
        end, issued = read_timestamp(token.expires), read_timestamp(token.issued)
        if end is None or issued is None:
            return Diagnosis(role, State.NOTE, "signs in; the token's expiration cannot be read")
        seconds = (end - issued).total_seconds() - token.ahead
        lifetime = f"{seconds / 60:.0f} minutes" if seconds >= _SHORT_LIFE_SECONDS else f"{seconds:.0f} s"
        return Diagnosis(role, State.OK, f"signs in; its token is good for {lifetime}")
    refused = token.status is not None and 400 <= token.status < 500
    state, text = State.SERVICE, f"gets no token, which contradicts token-issued: {token.refusal}"
    if token.environment:
        state, text = State.ENVIRONMENT, f"gets no token: {token.refusal}"
    elif token.status in _NOT_THERE and role == AUTHOR:
        where = load_description().operations[SIGN_IN].url(base_url)
        why = f"{where} is answered with status {token.status}: check the path of the address"
        state, text = State.SETTINGS, f"{why}, and then the author's e-mail"
    elif refused and "an HTML page" in token.refusal:
        who = "a firewall, a login wall, or the service itself"
        text = f"{base_url} answers signing in with {token.refusal}: open it in a browser to see who refuses, {who}"
        state = State.ENVIRONMENT
    elif refused:
        why = f"refuses the {role}'s e-mail and password (status {token.status})"
        state, text = State.SETTINGS, f"{base_url} {why}: check the variables that hold them"
    return Diagnosis(role, state, text, stops=role == AUTHOR)


def _schema_unknown(realm: str, setting: str, refusal: str, *, stops: bool) -> Diagnosis:
    text = f"setting realm.{realm}.{setting} names a schema that is not known: {refusal}"
    return Diagnosis(realm, State.SETTINGS, text, stops)


def _about_the_token(answer: Response) -> bool:
    """Whether a refusal concerns the token: by its status 401, or by its text unless 403 says that rights lack."""
    named = any(word in answer.text.lower() for word in ("token", "bearer", "authorization"))
    return answer.status == UNAUTHENTICATED or (answer.refusal and answer.status != _FORBIDDEN and named)


def _address(url: str) -> tuple[State, str]:
    safe = url.startswith("https:")
    local = url.startswith(("http://127.", "http://localhost", "http://[::1]"))
    secured = "certificate checked" if safe else "no TLS, so passwords and tokens travel in the clear"
    return (
        State.OK if safe or local else State.NOTE,
        f"{url} answers; {'on this machine' if local else secured}",
    )


def _hint(url: str, why: str) -> str:
    """What the settings may lack, by how the connection failed; empty if nothing says so."""
    lost = "reset" in why or "closed" in why
    if url.startswith("https:") and ("TLS" in why or lost):
        return "; does it want http, its authority as ca_bundle, or a client_certificate in [tls]?"
    return "; does it want https?" if url.startswith("http:") and lost else ""
