"""The look at a target before the first case: at most twelve requests, and one cause where no case could be judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from contracts.cases.comparison import refused_as
from contracts.cases.requests import UNKNOWN_REALM
from contracts.cases.rights import first_writes
from contracts.cases.sample_records import DRAFTS_OF_WORKFLOW, Samples
from contracts.cases.submissions import UNKNOWN_SCHEMA
from contracts.checks.outcomes import Attempt, confirm, contradicted, taken
from contracts.checks.workflow import Row, carries_message
from contracts.errors import EnvironmentFault
from contracts.evidence.record import Verdict
from contracts.exchanges.exchange import Exchange, Response
from contracts.exchanges.readers import Ambiguous, page_words, records
from contracts.plugin.attempts import Ending
from contracts.plugin.case_records import write_case, write_findings
from contracts.plugin.worker import Worker
from contracts.session.actor import NO_TOKEN, Actor
from contracts.session.session import Session, wait_for_start
from contracts.session.tokens import CLOCKS_AGREE_SECONDS, Token
from contracts.settings.target import (
    AUTHOR,
    BEARER,
    DOCUMENT_REALMS,
    REALM_HEADER,
    SCHEME_ADVICE,
    WireNames,
    sent_as_line,
)

#: How long the look at the target may take, in seconds.
LONGEST_LOOK_SECONDS: Final = 8.0
#: The clause that says which realms there are, and the operation that shows it by reading alone.
_REALMS_CLAUSE: Final = "realm-document-realms"
_READING: Final = "listDrafts"
#: The clause that says how a token is sent.
_TOKEN_CLAUSE: Final = "token-opens-protected"  # noqa: S105 - no token
_UNAUTHENTICATED: Final = 401
#: Many servers take no longer header.
_LONG_TOKEN: Final = 8000
#: What an account is told that may not do something.
_FORBIDDEN: Final = 403
_SAVING: Final = "saveDraft"
_CREATING: Final = "createContact"
_SUBMITTING: Final = "createWorkflowRecord"
#: The documented collections, and the clauses that say they are known.
_COLLECTIONS: Final = {"my": "list-my-answers", "mydrafts": "list-mydrafts-has-mine"}


def preflight(worker: Worker, wait_seconds: float = 0.0) -> str | None:
    """Sign in, so that the workers share the tokens, and return what makes judging impossible.

    The author comes first, and lists drafts in each realm: when nothing can be judged, no other account is tried. A
    finding that says so by itself is written down.

    Args:
        wait_seconds: How long to wait for a target whose gateway answers in its place.

    Returns:
        One sentence when the environment is down, the author's credentials are refused, or no realm is known; None
        otherwise. An answer that breaks the contract of signing in is no obstacle: its own cases find it.
    """
    author = _sign_in(worker)
    if author.gateway and not worker.target.is_sandbox and wait_for_start(worker.target, wait_seconds):
        author = _sign_in(worker)
    # An embedded sandbox that answers may be one with a fault, which its cases are there to find.
    if author.environment and (author.status is None or not worker.target.is_sandbox):
        return f"{worker.target.base_url} cannot be judged: {author.refusal}; is the service up and the base URL right?"
    obstacle = (
        None
        if worker.target.is_sandbox
        else _refused_credentials(author, worker) or _obstacle(author, worker)
    )
    if obstacle is None:
        for role in worker.target.accounts:
            worker.tokens.token(role)
    return obstacle


def clock_in_words(worker: Worker) -> str | None:
    """Say by how much the clocks differ, as the author's sign-in showed; None when they agree."""
    ahead = worker.tokens.token(AUTHOR, as_it_is=True).ahead
    if abs(ahead) <= CLOCKS_AGREE_SECONDS:
        return None
    direction = "ahead of" if ahead > 0 else "behind"
    return f"the target's clock is {abs(ahead):,.0f} s {direction} ours, which is taken into account"


def _sign_in(session: Session) -> Token:
    with session.time_limit(LONGEST_LOOK_SECONDS):
        return session.tokens.token(AUTHOR)


def _refused_credentials(author: Token, worker: Worker) -> str | None:
    if author.status is not None and 400 <= author.status < 500:
        return (
            f"{worker.target.base_url} refuses the author's e-mail and password (status {author.status}): "
            "check the variables that hold them"
        )
    return None


def _obstacle(author: Token, worker: Worker) -> str | None:
    """Why no case can get anywhere, by what the author meets in every realm that can be read."""
    realms = [name for name in worker.selection.realms or worker.target.realms if name in DOCUMENT_REALMS]
    if not author.value or not realms:
        return None
    try:
        with worker.time_limit(LONGEST_LOOK_SECONDS):
            obstacle = _RealmLook(worker, realms).obstacle()
            if obstacle:
                return obstacle
            consumer = worker.selection.terms.consumer
            if consumer is not None and not any(map(consumer.uses, first_writes())):
                return None  # it uses neither drafts nor submissions
            unknown = _unknown_schema(worker, realms) if consumer is None else None
            return unknown or _without_rights(worker, realms)
    except EnvironmentFault:
        return None  # a fault that passes; the run has its own ways with it


def _refused_everywhere(
    realms: Iterable[str], refused: Callable[[str], Response | None]
) -> tuple[str, Response] | None:
    """The first realm with its refusal, where every realm refuses.

    A refusal in one realm alone may be a fault of the service, which its cases show.
    """
    first = None
    for realm in realms:
        refusal = refused(realm)
        if refusal is None:
            return None
        first = first or (realm, refusal)
    return first


def _author(worker: Worker, realm: str, what: str) -> Actor:
    """The author, whose rights are looked at by themselves."""
    return Actor(worker, AUTHOR, realm, f"[preflight in {realm}: {what}]")


def _samples(worker: Worker, realm: str) -> Samples:
    return Samples(worker.target.realm_settings(realm), realm)


def _without_rights(worker: Worker, realms: Iterable[str]) -> str | None:
    """Why no case can get anywhere, where the author's account lacks the rights of its role in every realm."""
    refused = {}
    for realm in realms:
        first = worker.rights.first_write(AUTHOR, realm)
        if not first.lacks_rights:
            if first.refused:
                _try_workflow_draft(worker, realm)
            return None
        refused[realm] = first.lacks_rights
    return f"the author's account may not write in {', '.join(refused)}: {next(iter(refused.values()))}"


def _try_workflow_draft(worker: Worker, realm: str) -> None:
    """See whether a document of the workflow is taken as a draft where a contact is not; drafts are that, then."""
    samples = _samples(worker, realm)
    if samples.tells_workflow and not samples.tells("draft_document"):
        uid = worker.namespace.uid()
        query, document = {"schema": samples.workflow_schema}, samples.document(uid)
        saved = _author(worker, realm, "rights").send(_SAVING, path={"uid": uid}, query=query, json=document)
        if not saved.fault and taken(saved):
            worker.shared.mark(DRAFTS_OF_WORKFLOW)


def _unknown_schema(worker: Worker, realms: Iterable[str]) -> str | None:
    """Why nothing of one schema can get anywhere, where no realm knows the one that the settings name for it.

    Of the schema of the workflow that is no submission, of that of contacts neither a contact nor a draft.
    """
    submitting = [
        realm
        for realm in worker.selection.realms or worker.target.realms
        if worker.target.realm_settings(realm).workflow_schema is not None
    ]
    unknown = _refused_everywhere(submitting, partial(_refused_submission, worker))
    if unknown:
        return _names_no_schema("workflow_schema", *unknown)
    first, *others = [realm for realm in realms if not _samples(worker, realm).lacking] or [""]
    refused = _refused_document(worker, first) if first else None
    if refused is None or not all(_refuses_its_schema(worker, realm, refused) for realm in others):
        return None
    return _names_no_schema("contact_schema", first, refused)


def _refuses_its_schema(worker: Worker, realm: str, alike: Response) -> bool:
    """Whether a draft of the schema of the settings is refused in a realm as it was in another."""
    samples, uid = _samples(worker, realm), worker.namespace.uid()
    query, draft = {"schema": samples.contact_schema}, samples.draft(uid)
    sent = _author(worker, realm, "contact schema").send(_SAVING, path={"uid": uid}, query=query, json=draft)
    return not sent.fault and sent.status == alike.status and "schema" in sent.answer.text.lower()


def _names_no_schema(setting: str, realm: str, refusal: Response) -> str:
    return f"setting realm.{realm}.{setting} names a schema that is not known: {refusal.quote()}"


def _refused_submission(worker: Worker, realm: str) -> Response | None:
    """How the workflow refuses the schema of the settings; what is no document is refused where it is known."""
    schema = _samples(worker, realm).workflow_schema
    sent = _author(worker, realm, "schema").send(_SUBMITTING, path={"schema": schema}, json={})
    return sent.answer if not sent.fault and carries_message(sent.answer, Row.SCHEMA_UNKNOWN, realm) else None


def _refused_document(worker: Worker, realm: str) -> Response | None:
    """How a draft is refused for the schema of the settings, and a contact too.

    Both are refused in the words that a schema meets which no service has.
    """
    samples = _samples(worker, realm)
    actor = _author(worker, realm, "contact schema")
    uid, schema = worker.namespace.uid(), samples.contact_schema
    document = samples.draft(uid)
    refusals = []
    # What is no contact is refused wherever the schema is known.
    for operation, path in ((_SAVING, {"uid": uid}), (_CREATING, {})):
        named, unknown = (
            partial(
                actor.send,
                operation,
                path=path,
                query={"schema": name},
                json=document | {"header": samples.header(name, uid)} if path else {},
            )
            for name in (schema, UNKNOWN_SCHEMA)
        )
        sent = named()
        if sent.fault or not _about_the_schema(sent.answer, schema, unknown):
            return None
        refusals.append(sent.answer)
    return refusals[0]


def _about_the_schema(answer: Response, schema: str, unknown: Callable[[], Exchange]) -> bool:
    """Whether a refusal speaks of the schema, and is the one that a schema meets which no service has."""
    if not answer.refusal or answer.status == _FORBIDDEN or "schema" not in answer.text.lower():
        return False
    other = unknown()
    return (
        not other.fault
        and other.status == answer.status
        and other.answer.text.replace(UNKNOWN_SCHEMA, schema) == answer.text
    )


class _Look:
    """Looks of one kind in one realm, and the finding that they come to.

    Args:
        name: What is looked at, for the report.
    """

    def __init__(self, worker: Worker, realm: str, name: str, clause: str, operation: str) -> None:
        self._worker = worker
        self._clause, self._operation = clause, operation
        self._attempts = [Attempt(1), Attempt(2)]
        self._started = datetime.now(UTC)
        self._case: Mapping[str, Any] = {
            "case": f"[preflight in {realm}: {name}]",
            "name": f"{name} is known as the interface document writes it",
            "doc": "A name that the interface document shows is understood by the service.",
            "realm": realm,
            "clauses": [clause],
            "operations": [operation],
        }

    def send(self, attempt: int, **parts: Any) -> Exchange:
        """Send the operation as the author.

        Raises:
            EnvironmentFault: it was not answered.
        """
        of = self._attempts[attempt - 1]
        case, realm = self._case["case"], self._case["realm"]
        actor = Actor(self._worker, AUTHOR, realm, case, attempt=of.number, exchanges=of.exchanges)
        exchange = actor.send(self._operation, **parts)
        if exchange.fault:
            raise EnvironmentFault(exchange.fault)
        return exchange

    def note(self, attempt: int, expected: str, seen: str, *exchanges: Exchange) -> None:
        """Note what contradicts the clause."""
        shown = tuple(exchange.id for exchange in exchanges)
        result = contradicted(self._clause, self._operation, expected, seen, shown, AUTHOR)
        self._attempts[attempt - 1].note(result)

    def finish(self) -> bool:
        """Write down what both attempts amount to; whether it is a finding that was seen twice."""
        (finding,) = confirm(self._attempts)
        write_findings(self._case, self._worker, self._attempts, [finding])
        why = f"expected {finding.evidence.expected}; seen: {finding.evidence.seen}"
        ending = Ending(Verdict.FAIL if finding.confirmed else Verdict.INCONCLUSIVE, why)
        seconds = (datetime.now(UTC) - self._started).total_seconds()
        write_case(self._case, self._worker, self._attempts, ending, self._started, seconds)
        return finding.confirmed


class _RealmLook:
    """The list of drafts in each realm, by reading.

    Args:
        realms: Those of the run that have documents.
    """

    def __init__(self, worker: Worker, realms: list[str]) -> None:
        self._worker = worker
        self._url = worker.target.base_url
        self._looks = {realm: _Look(worker, realm, realm, _REALMS_CLAUSE, _READING) for realm in realms}

    def obstacle(self) -> str | None:
        """Return why no case can get anywhere, and write down the findings that say so."""
        seen = {realm: self._list(realm) for realm in self._looks}
        if all(exchange.answer.hollow_page for exchange in seen.values()):
            where = f"every list of drafts is {page_words(next(iter(seen.values())).answer)}"
            return f"{self._url} cannot be judged: {where}; is a proxy or a login page in between?"
        refused = {realm: exchange for realm, exchange in seen.items() if exchange.answer.refusal}
        if not refused:
            return None
        first = next(iter(refused))
        if len(refused) == len(seen) and (why := self._unusable_token(first)):
            return why
        capitals = self._list(first, sent=first.upper()).answer.success
        if not capitals:
            unknown = self._list(first, sent=UNKNOWN_REALM).answer
            about = [_about_the_realm(exchange.answer, unknown) for exchange in refused.values()]
            if len(refused) < len(seen) or not all(about):
                return None
        confirmed = [self._confirmed(realm, exchange, capitals) for realm, exchange in refused.items()]
        shown = refused[first].answer.quote()
        if capitals:
            shown += f"; it takes '{first.upper()}': {sent_as_line(first)} lets the rest be judged"
        refuses = f"{self._url} refuses every realm of the interface document: {shown}"
        return refuses if len(refused) == len(seen) and all(confirmed) else None

    def _unusable_token(self, realm: str) -> str | None:
        """Why no case can get anywhere, where a token just issued is refused for itself; a finding, too.

        As one that never was, or for its length, where a short one that never was is refused in another way.
        """
        look = _Look(self._worker, realm, BEARER, _TOKEN_CLAUSE, _READING)
        length = len(self._worker.tokens.token(AUTHOR, as_it_is=True).value)
        for attempt in (1, 2):
            issued = look.send(attempt, query={"$top": "1"})
            made_up = look.send(attempt, query={"$top": "1"}, token=NO_TOKEN)
            unknown = _about_the_token(issued.answer) and refused_as(issued.answer, made_up.answer)
            too_long = length > _LONG_TOKEN and issued.answer.refusal and issued.status != made_up.status
            if not (unknown or too_long):
                return None
            how = "as one that never was" if unknown else f"for its {length:,} characters"
            seen = f"a token just issued is refused {how}: {issued.answer.quote()}"
            seen += f"; {SCHEME_ADVICE}" if unknown else ""
            # The last one is what a finding shows.
            look.note(
                attempt, "the token is known" if unknown else "the token is taken", seen, made_up, issued
            )
        look.finish()
        if too_long:
            return f"{self._url} refuses its own tokens, of {length:,} characters: {issued.answer.quote()}"
        return f"{self._url} knows none of its own tokens: {issued.answer.quote()}; {SCHEME_ADVICE}"

    def _confirmed(self, realm: str, exchange: Exchange, capitals: bool) -> bool:
        """Ask once more, and write down what both answers amount to."""
        for attempt, answered in ((1, exchange), (2, self._list(realm, attempt=2))):
            if answered.answer.refusal:
                quoted = answered.answer.quote()
                hint = f"'{realm.upper()}' is taken in the place of '{realm}', which was answered {quoted}"
                self._looks[realm].note(
                    attempt, "the realm is accepted", hint if capitals else quoted, answered
                )
        return self._looks[realm].finish()

    def _list(self, realm: str, *, attempt: int = 1, sent: str | None = None) -> Exchange:
        headers = {"Realm": sent} if sent else {}
        return self._looks[realm].send(attempt, query={"$top": "1"}, headers=headers)


def _about_the_realm(answer: Response, unknown: Response) -> bool:
    """Whether a refusal speaks of the realm, and is the one that a realm meets that does not exist."""
    return refused_as(answer, unknown) and "realm" in answer.text.lower()


def _about_the_token(answer: Response) -> bool:
    """Whether a refusal is for the token: 401, or in words, but for want of rights these may be the same."""
    spoken = any(word in answer.text.lower() for word in ("token", "bearer", "authorization"))
    return answer.status == _UNAUTHENTICATED or (answer.refusal and answer.status != _FORBIDDEN and spoken)


@dataclass(frozen=True)
class _Probe:
    """A request that shows whether a documented name is known.

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
    """Try each documented name that the target calls otherwise, as the document writes it: that is one finding each.

    Returns:
        What goes out in which place, and which of the documented names were not seen to be unknown; None where the
        target has no names of its own.
    """
    names = WireNames.of(worker.target)
    if not names:
        return None
    probes = [probe for probe in _probes(worker) if probe.name in names]
    unknown: set[str] = set()
    with suppress(EnvironmentFault):  # a fault that passes; the run has its own ways with it
        unknown |= {probe.name for probe in probes if _tried(worker, probe)}
    sentence = f"{worker.target.base_url} is sent names of its own: {names.in_words()}"
    taken = [name for name in names if name not in unknown]
    return f"{sentence}; not seen to be unknown to it: {', '.join(taken)}" if taken else sentence


def _tried(worker: Worker, probe: _Probe) -> bool:
    """Whether a documented name is not known, seen twice; it is written down then."""
    look = _Look(worker, probe.realm, probe.name, probe.clause, probe.operation)
    own = look.send(1, **probe.parts)
    for attempt in (1, 2):
        documented = look.send(attempt, **probe.parts, documented=probe.name)
        if not probe.unknown(documented.answer, own.answer):
            return False
        seen = f"the name of the settings is known, and the documented one was answered {documented.answer.quote()}"
        look.note(attempt, f"{probe.name} is known", seen, documented, own)
    return look.finish()


def _probes(worker: Worker) -> Iterator[_Probe]:
    """Every probe that reading allows; what submits names a schema that no service has."""
    realms = worker.selection.realms or worker.target.realms
    reading = [name for name in realms if name in DOCUMENT_REALMS]
    submission = {"path": {"schema": UNKNOWN_SCHEMA}, "json": {}}
    for realm in realms:
        if realm in reading:
            yield _Probe(realm, realm, _REALMS_CLAUSE, _READING, _first_item("$top"), _refused_alone)
        else:
            yield _Probe(realm, realm, "realm-workflow-realms", _SUBMITTING, submission, _realm_not_found)
    by_query = submission | {"headers": {"Realm": None}, "query": {"Realm": realms[0]}}
    yield _Probe("Realm", realms[0], "realm-query", _SUBMITTING, by_query, _realm_not_found)
    for realm in reading[:1]:
        yield _Probe(REALM_HEADER, realm, _REALMS_CLAUSE, _READING, _first_item("$top"), _refused_alone)
        yield _Probe(BEARER, realm, _TOKEN_CLAUSE, _READING, _first_item("$top"), _refused_alone)
        for name, clause in _COLLECTIONS.items():
            query = {"query": {"collection": name, "$top": "1"}}
            yield _Probe(name, realm, clause, _READING, query, _refused_alone)
        collection = {"query": {"collection": "my", "$top": "1"}}
        yield _Probe("collection", realm, "list-my-answers", _READING, collection, _refused_alone)
        yield _Probe("$top", realm, "list-top", _READING, _first_item("$top"), _more_than_one)
        yield _Probe("$skip", realm, "list-skip-beyond", _READING, _beyond("$skip"), _not_beyond)
        for uid in worker.target.realm_settings(realm).existing_identifier[:1]:
            of, listing = {"path": {"uid": uid}}, "listAttachments"
            yield _Probe(
                "top", realm, "attachment-list-top", listing, of | _first_item("top"), _more_than_one
            )
            yield _Probe(
                "skip", realm, "attachment-list-skip-beyond", listing, of | _beyond("skip"), _not_beyond
            )


def _first_item(top: str) -> dict[str, Any]:
    return {"query": {top: "1"}}


def _beyond(skip: str) -> dict[str, Any]:
    return {"query": {skip: "1000000"}}


def _refused_alone(documented: Response, own: Response) -> bool:
    return documented.refusal and own.success


def _realm_not_found(documented: Response, own: Response) -> bool:
    rows = (Row.REALM_MISSING, Row.REALM_UNKNOWN)
    return any(carries_message(documented, row) for row in rows) and not any(
        carries_message(own, row) for row in rows
    )


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
