"""The hooks of a whole run: start, look at the target, plan for workers, end (`contracts.plugin.session_finish`).

The look at a target before the first case takes at most twelve requests, and gives one cause where no case could be
judged.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.cases.comparison import refused_as
from contracts.cases.requests import UNKNOWN_REALM
from contracts.cases.sample_records import Samples
from contracts.cases.submissions import UNKNOWN_SCHEMA
from contracts.checks.outcomes import Attempt, confirm, contradicted
from contracts.checks.workflow import Row, carries_message
from contracts.errors import EnvironmentFault, SuiteError, UsageError
from contracts.evidence.record import ExitCode, Verdict
from contracts.evidence.run_folder import point_latest
from contracts.exchanges.exchange import Exchange, Response
from contracts.exchanges.readers import Ambiguous, page_words, records
from contracts.interface.location import cases_directory, keep_hypothesis_out
from contracts.plugin.collection import forecast, forecasts, marks
from contracts.plugin.interruption import (
    SecretContainment,
    Stopping,
    WorkerCrashes,
    leave_to_controller,
    signals_held,
)
from contracts.plugin.plan import SELECTION, TARGET, Plan, Sandbox, make_plan
from contracts.plugin.protocol import Ending, write_case, write_findings
from contracts.plugin.session_finish import (
    EMBEDDED_SANDBOX,
    NAMES,
    OBSTACLE,
    PLAN,
    STOPPED_BY_HAND,
    STOPPING,
    finish,
    forecast_line,
    note_planned,
    note_trouble,
    release,
    write_facts,
    write_unreached,
)
from contracts.plugin.worker import MAIN, WORKER, Worker
from contracts.reports.writers import unwritten
from contracts.safe_text import complaint
from contracts.session.actor import NO_TOKEN
from contracts.session.draft_cleanup import Sweeper
from contracts.session.session import Session, wait_for_start
from contracts.session.shared_state import remove_abandoned_private_folders
from contracts.session.tokens import CLOCKS_AGREE_SECONDS, Token
from contracts.settings.embedded_sandbox import EmbeddedSandbox
from contracts.settings.target import AUTHOR, BEARER, DOCUMENT_REALMS, WireNames, sent_as_line

#: How long the look at the target may take, in seconds.
LONGEST_LOOK_SECONDS: Final = 8.0
#: The clause that says which realms there are, and the operation that shows it by reading alone.
_REALMS_CLAUSE: Final = "realm-document-realms"
_READING: Final = "listDrafts"
#: The clause that says how a token is sent.
_TOKEN_CLAUSE: Final = "token-opens-protected"  # noqa: S105 - no token
_UNAUTHENTICATED: Final = 401
#: What an account is told that may not do something.
_FORBIDDEN: Final = 403
_SAVING: Final = "saveDraft"
_CREATING: Final = "createContact"
_SUBMITTING: Final = "createWorkflowRecord"
_SUBMITTING_NAMED: Final = "createWorkflowRecordWithIdentifier"
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
    # An embedded sandbox that answers may be one with a defect, which its cases are there to find.
    if author.environment and (author.status is None or not worker.target.is_sandbox):
        return f"{worker.target.base_url} cannot be judged: {author.refusal}; is the service up and the base URL right?"
    obstacle = None if worker.target.is_sandbox else _refused(author, worker) or _wall(author, worker)
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


def _refused(author: Token, worker: Worker) -> str | None:
    if author.status is not None and 400 <= author.status < 500:
        return (
            f"{worker.target.base_url} refuses the author's e-mail and password (status {author.status}): "
            "check the variables that hold them"
        )
    return None


def _wall(author: Token, worker: Worker) -> str | None:
    """Why no case can get anywhere, by what the author meets in every realm that can be read."""
    realms = [name for name in worker.selection.realms or worker.target.realms if name in DOCUMENT_REALMS]
    if not author.value or not realms:
        return None
    try:
        with worker.time_limit(LONGEST_LOOK_SECONDS):
            return (
                _RealmLook(worker, realms).obstacle()
                or _without_rights(worker, realms)
                or _unknown_schema(worker)
                or _unknown_contact_schema(worker, realms)
            )
    except EnvironmentFault:
        return None  # a fault that passes; the run has its own ways with it


def _without_rights(worker: Worker, realms: Iterable[str]) -> str | None:
    """Why no case can get anywhere, where the author may save no draft in any realm and may submit none either.

    A refusal to save alone may be a fault of the service; the workflow has a message of its own for missing rights.
    """
    if worker.selection.terms.consumer is not None:
        return None  # which may use neither
    seen = ""
    for realm in realms:
        samples = Samples(worker.target.realm_settings(realm), realm)
        if samples.lacking:
            return None  # what is refused may be the stand-in
        actor = worker.actor(AUTHOR, realm, f"[preflight in {realm}: rights]", Attempt(1))
        uid = worker.namespace.uid()
        query = {"schema": samples.draft_schema}
        saved = actor.send("saveDraft", path={"uid": uid}, query=query, json=samples.draft(uid))
        if saved.fault or saved.status != _FORBIDDEN:
            return None
        seen = saved.answer.quote()
    if not _may_not_submit(worker, realms):
        return None
    return (
        f"{worker.target.base_url} lets the author save no draft in any realm: {seen}; "
        "the account of the author must be one that may create and update"
    )


def _may_not_submit(worker: Worker, realms: Iterable[str]) -> bool:
    """Whether a faulty submission of the author's, of which nothing comes, is refused for want of rights."""
    for realm in realms:
        samples = Samples(worker.target.realm_settings(realm), realm)
        if samples.tells_workflow:
            actor = worker.actor(AUTHOR, realm, f"[preflight in {realm}: rights]", Attempt(1))
            uid = worker.namespace.uid()
            path = {"schema": samples.workflow_schema, "identifier": uid}
            sent = actor.send(_SUBMITTING_NAMED, path=path, json=samples.faulty_submission(uid))
            return not sent.fault and carries_message(sent.answer, Row.MAY_NOT_CREATE, realm)
    return False


def _unknown_schema(worker: Worker) -> str | None:
    """Why no submission can get anywhere, where no realm knows the schema that the settings name for it.

    One realm alone that does not may be a fault of the service, which its cases show.
    """
    if worker.selection.terms.consumer is not None:
        return None
    why = None
    for realm in worker.selection.realms or worker.target.realms:
        schema = worker.target.realm_settings(realm).workflow_schema
        if schema is None:
            continue
        actor = worker.actor(AUTHOR, realm, f"[preflight in {realm}: schema]", Attempt(1))
        # What is no document is refused wherever the schema is known.
        sent = actor.send(_SUBMITTING, path={"schema": schema}, json={})
        if sent.fault or not carries_message(sent.answer, Row.SCHEMA_UNKNOWN, realm):
            return None
        why = why or (
            f"setting realm.{realm}.workflow_schema names a schema that is not configured: {sent.answer.quote()}"
        )
    return why


def _unknown_contact_schema(worker: Worker, realms: Iterable[str]) -> str | None:
    """Why neither a contact nor a draft can get anywhere, where no realm knows the schema that the settings name.

    The realms refuse both for the schema then, in the words that one meets which no service has.
    """
    if worker.selection.terms.consumer is not None:
        return None
    why = None
    for realm in realms:
        samples = Samples(worker.target.realm_settings(realm), realm)
        if samples.lacking:
            continue
        actor = worker.actor(AUTHOR, realm, f"[preflight in {realm}: contact schema]", Attempt(1))
        uid, schema = worker.namespace.uid(), samples.contact_schema
        document = samples.draft(uid)
        sent = []
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
            sent.append(named())
            if sent[-1].fault or not _about_the_schema(sent[-1].answer, schema, unknown):
                return None
        why = why or (
            f"setting realm.{realm}.contact_schema names a schema that is not known: {sent[0].answer.quote()}"
        )
    return why


def _about_the_schema(answer: Response, schema: str, unknown: Callable[[], Exchange]) -> bool:
    """Whether a refusal speaks of the schema, and is the one that a schema meets which no service has."""
    if not answer.refusal or "schema" not in answer.text.lower():
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
        actor = self._worker.actor(AUTHOR, self._case["realm"], self._case["case"], of)
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
        if len(refused) == len(seen) and (why := self._unknown_token(first)):
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

    def _unknown_token(self, realm: str) -> str | None:
        """Why no case can get anywhere, where a token just issued is refused as one that never was; a finding, too."""
        look = _Look(self._worker, realm, BEARER, _TOKEN_CLAUSE, _READING)
        for attempt in (1, 2):
            issued = look.send(attempt, query={"$top": "1"})
            made_up = look.send(attempt, query={"$top": "1"}, token=NO_TOKEN)
            if issued.status != _UNAUTHENTICATED or not refused_as(issued.answer, made_up.answer):
                return None
            seen = f"a token just issued is refused as one that never was: {issued.answer.quote()}"
            # The last one is what a finding shows.
            look.note(attempt, "the token is known", seen, made_up, issued)
        look.finish()
        advice = "where it wants another word than Bearer, scheme in [names] lets the rest be judged"
        return f"{self._url} knows none of its own tokens: {issued.answer.quote()}; {advice}"

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


@dataclass(frozen=True)
class _Probe:
    """A request that shows whether a documented name is known.

    Attributes:
        name: The documented name.
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


#: Whether it was said what will be sent, or would be.
_PLANNED = pytest.StashKey[bool]()
_LEFT_OPEN = pytest.PytestUnraisableExceptionWarning
#: Options with which pytest shows something and runs nothing.
_LISTS = ("collectonly", "help", "version", "showfixtures", "show_fixtures_per_test", "markers", "cacheshow")


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is an xdist worker."""
    return hasattr(config, "workerinput")


def _is_contract_run(config: pytest.Config) -> bool:
    """Whether the paths of the command hold contract cases, which are to be run and not just listed."""
    if any(config.getoption(option, None) for option in (*_LISTS, "--plan")):
        return False
    paths = [Path(str(argument).partition("::")[0]).resolve() for argument in config.args]
    cases = cases_directory()
    return any(path.is_relative_to(cases) or cases.is_relative_to(path) for path in paths)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> Iterator[None]:
    """Prepare the run in the controller, which then starts the workers, and this process's share of it in these."""
    config = session.config
    if not is_worker(config):
        if _is_contract_run(config):
            _begin(config)
    elif "contract_plan" in _input(config):
        leave_to_controller()
        _begin_work(config, Plan(**_input(config)["contract_plan"]), _input(config)["workerid"])
    with signals_held() if STOPPING in config.stash else nullcontext():
        return (yield)


def _input(config: pytest.Config) -> dict[str, Any]:
    """The input of this xdist worker from the controller."""
    sent: dict[str, Any] = config.workerinput  # type: ignore[attr-defined]
    return sent


def _begin(config: pytest.Config) -> None:
    config.stash[STOPPING] = stopping = Stopping(config)
    stopping.listen()
    try:
        plan, sandbox = make_plan(config.stash[SELECTION], config.stash[TARGET], partial(_start, config))
    except UsageError as error:
        raise pytest.UsageError(complaint(error)) from None
    except SuiteError as error:
        # A signal for all processes may end the sandbox before it has a session of its own.
        code = ExitCode.INTERRUPTED if stopping.asked else ExitCode.ERROR
        pytest.exit(complaint(error), returncode=code)
    config.stash[PLAN] = stopping.plan = plan
    try:
        _open(config, plan, sandbox)
    except OSError as error:
        # A disk that is full, say; `latest` leads to this run nevertheless, and not to one that passed.
        with suppress(OSError):
            point_latest(Path(plan.folder))
        pytest.exit(unwritten("the run's folder", error), returncode=ExitCode.ERROR)


def _open(config: pytest.Config, plan: Plan, sandbox: Sandbox | None) -> None:
    """Begin the run's files and the controller's share of it."""
    config.stash[NAMES] = [MAIN]
    if sandbox is not None:
        config.stash[EMBEDDED_SANDBOX] = sandbox
    config.pluginmanager.register(_StopWatcher(config))
    config.pluginmanager.register(WorkerCrashes(config))
    _begin_work(config, plan, MAIN)
    write_facts(config, plan, finished=False)


def _start(config: pytest.Config, size_limit: int, arguments: tuple[str, ...]) -> Sandbox:
    embedded: Sandbox | None = config.hook.pytest_contract_sandbox(size_limit=size_limit, arguments=arguments)
    return embedded or EmbeddedSandbox(size_limit, arguments).__enter__()


def _begin_work(config: pytest.Config, plan: Plan, name: str) -> None:
    target = plan.target(config.stash[TARGET])
    target = config.hook.pytest_contract_target(target=target) or target
    config.stash[WORKER] = worker = Worker(name, plan, target, config.stash[SELECTION])
    keep_hypothesis_out()
    config.pluginmanager.register(SecretContainment(config, worker.redactor))


class _StopWatcher:
    """Tells Ctrl-C from pytest's own reasons to stop, which it reports as interruptions too.

    An interruption comes between any two steps, so that a file just opened may be left to the garbage collection: a
    warning of that must not turn the exit code of the run into another.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note why the session ends."""
        self._config.stash[STOPPED_BY_HAND] = excinfo.type is KeyboardInterrupt
        self._config.addinivalue_line("filterwarnings", f"ignore::pytest.{_LEFT_OPEN.__name__}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_unconfigure(self) -> None:
        """Pass over what is collected last, too."""
        if self._config.stash.get(STOPPED_BY_HAND, False):
            warnings.filterwarnings("ignore", category=_LEFT_OPEN)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Send the plan to an xdist worker; called in the controller."""
    if PLAN not in node.config.stash:
        return
    node.workerinput["contract_plan"] = node.config.stash[PLAN].as_input()
    node.workerinput["contract_seed"] = node.config.stash[SELECTION].seed
    node.config.stash[NAMES].append(node.workerinput["workerid"])
    write_facts(node.config, node.config.stash[PLAN], finished=False)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Look at the target before anything else is sent; one clear line when it cannot be judged."""
    config = session.config
    if PLAN not in config.stash:
        return
    config.stash[STOPPING].begin()
    try:
        obstacle = preflight(config.stash[WORKER], float(config.getoption("--wait")))
        names = None if obstacle else look_at_names(config.stash[WORKER])
    except SuiteError as error:
        note_trouble(config.stash[WORKER], "looking at the target", str(error))
        pytest.exit("the suite broke", returncode=ExitCode.ERROR)
    if obstacle:
        config.stash[OBSTACLE] = obstacle
        pytest.exit("no case can be judged", returncode=ExitCode.INCONCLUSIVE)
    notes = filter(None, (clock_in_words(config.stash[WORKER]), names))
    _write_lines(config, [f"contract: {line}" for line in notes])
    _sweep(config)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Record for the controller what was collected; with `--plan`, say what would be sent, and end."""
    config = session.config
    if WORKER in config.stash:
        count = sum(any(marks(item)) for item in session.items)
        note_planned(config, config.stash[WORKER].plan, count, forecast(config, session.items).summary)
        if not is_worker(config):
            _tell_forecast(config)
    elif config.getoption("--plan") and not is_worker(config) and any(map(any, map(marks, session.items))):
        config.stash[_PLANNED] = True
        _write_lines(config, ["", *forecast(config, session.items).lines()])
        config.hook.pytest_contract_forecasts(forecasts=forecasts(config))
        session.items.clear()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any) -> None:
    """Say what will be sent, once the first worker has worked it out."""
    if PLAN in node.config.stash:
        _tell_forecast(node.config)


def _tell_forecast(config: pytest.Config) -> None:
    if not config.stash.get(_PLANNED, False):
        config.stash[_PLANNED] = True
        _write_lines(config, [f"contract: {forecast_line(config.stash[PLAN])}"])


def _write_lines(config: pytest.Config, lines: Iterable[str]) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        for line in lines:
            reporter.write_line(line)


def _sweep(config: pytest.Config) -> None:
    """Remove what killed runs left, before this run adds anything."""
    remove_abandoned_private_folders()
    worker = config.stash[WORKER]
    if worker.plan.sandbox_url is not None:
        return  # each run has a sandbox of its own
    for swept in Sweeper(worker).runs(Path(worker.plan.folder).parent):
        _write_lines(config, [f"swept {swept.sentence}"])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Iterator[None]:
    """Close the files of this process; the controller writes the reports and sets the exit code."""
    config = session.config
    if not is_worker(config):
        if PLAN in config.stash:
            finish(session, exitstatus)
        elif config.stash.get(_PLANNED, False):
            session.exitstatus = pytest.ExitCode.OK
    elif WORKER in config.stash:
        worker = config.stash[WORKER]
        try:
            write_unreached(config)
            worker.finish()
        except Exception as error:  # noqa: BLE001 - xdist would take it for a crash and show a traceback
            worker.give_up(error)
    return (yield)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave nothing behind, however the session ended."""
    if not is_worker(config):
        release(config)
