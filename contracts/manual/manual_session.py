"""Somebody at the keyboard: who they are on a target, and what they sent.

A door that sends nothing: what would pass it is guarded as ever, recorded, and that is all.

Opens a bench on a target: guard, door, pace, ledger and redaction are those of a run, and so is the cleaning.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from contracts.cases.shared_state import Sharing
from contracts.errors import EnvironmentFault, UsageError
from contracts.evidence.record import RecordedExchange
from contracts.evidence.run_folder import RUN_FILE, new_folder
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.redaction import Redactor
from contracts.interface.description import Description, load_description
from contracts.session.actor import Actor
from contracts.session.draft_cleanup import CASE as CLEANING
from contracts.session.draft_cleanup import Cleaning
from contracts.session.ledger import Entry, Ledger
from contracts.session.limits import ResidueBudget
from contracts.session.namespace import Namespace, new_run_token
from contracts.session.private_folder import PRIVATE_PREFIX, Alive
from contracts.session.recording import JournalRecorder
from contracts.session.session import Call, Context, Door, namespace_of, open_door, pace_of, proxy_passwords
from contracts.session.tokens import Token, TokenStore, token_issuer
from contracts.settings.embedded_sandbox import DEFAULT_SIZE_LIMIT, EmbeddedSandbox, sandbox_target
from contracts.settings.lookup import load_target
from contracts.settings.target import ACCOUNT_ROLES, ANONYMOUS, AUTHOR, Target
from contracts.settings.toml_file import suggestion

ROLES: Final = (*ACCOUNT_ROLES, ANONYMOUS)
#: The case on whose behalf a person sends.
CASE: Final = "by hand"
_LONGEST_LOOK_SECONDS: Final = 10.0


class Notes:
    """What the door recorded, as plain data without secrets, by the id of the exchange."""

    def __init__(self, redactor: Redactor) -> None:
        self._recorder = JournalRecorder(self, redactor)
        self._known: dict[str, RecordedExchange] = {}

    def exchange(self, exchange: Exchange, context: Context) -> None:
        """Record an exchange."""
        self._recorder.exchange(exchange, context)

    def fault(self, fault: str, context: Context) -> None:
        """Pass over a fault: it stands in its exchange."""

    def write(self, kind: str, **fields: Any) -> None:
        """Take what the recorder made of an exchange."""
        if kind == "exchange":
            names = RecordedExchange.__dataclass_fields__
            known = RecordedExchange(**{name: fields[name] for name in names if name in fields})
            self._known[known.id] = known

    def of(self, exchange: Exchange) -> RecordedExchange:
        """An exchange as it was recorded."""
        return self._known[exchange.id]


class Bench:
    """What somebody needs to send requests to a target; `contracts.manual.manual_session` makes it.

    Attributes:
        exchanges: Everything that was sent, arrangements included, in order.
        shared: Arrangements of this bench.
        namespace: The identifiers that may be written to.
        passing: Whether the target is a sandbox that goes with the bench.
    """

    def __init__(
        self,
        target: Target,
        door: Door,
        namespace: Namespace,
        private: Path,
        notes: Notes,
        redactor: Redactor,
        *,
        passing: bool,
    ) -> None:
        self.target = target
        self.passing = passing
        self.namespace = namespace
        self.redactor = redactor
        self.notes = notes
        self.door = door
        self.description: Description = load_description()
        self.exchanges: list[Exchange] = []
        self.shared = Sharing(private)
        self.tokens = TokenStore(private, token_issuer(door, target, self.description), redactor.learn)

    @property
    def settle_seconds(self) -> float:
        """How long an effect may take to show on the target."""
        return self.target.pace.settle_seconds

    @property
    def unused(self) -> bool:
        """Whether the target began with this bench, so that nobody can have used anything up."""
        return self.passing

    def keep(self, identifier: str) -> None:
        """Keep a draft until the end; on a bench nothing goes before it."""

    def actor(self, role: str, realm: str, case: str = CASE) -> Actor:
        """Somebody of a role in a realm.

        Raises:
            UsageError: there is no such role, or the target has no account for it.
        """
        known_role(role)
        missing = self.target.missing(f"account.{role}")
        if missing:
            raise UsageError(f"{self.target.name} cannot be used as {role}: {missing}")
        return Actor(
            role=role,
            realm=realm,
            door=self.door,
            description=self.description,
            tokens=self.tokens,
            target=self.target,
            case=case,
            attempt=1,
            exchanges=self.exchanges,
        )

    def sign_in(self, role: str) -> None:
        """See that the target can be reached and gives a role its token, before anything else is sent.

        Raises:
            EnvironmentFault: it cannot, or does not; one line.
        """
        with self.door.hurried(_LONGEST_LOOK_SECONDS):
            token = self.tokens.token(AUTHOR if role == ANONYMOUS else role)
        if not token.value:
            raise EnvironmentFault(
                f"{self.target.base_url} gives the {role} no token: {token.refusal}; "
                "is the service up, and are base URL and account right?"
            )


def known_role(role: str) -> str:
    """Return a role that there is.

    Raises:
        UsageError: there is none of this name.
    """
    if role not in ROLES:
        raise UsageError(f"unknown role '{role}'; {suggestion(role, ROLES)}")
    return role


def as_door(stand_in: object) -> Door:
    """Take something that stands in for a door, as the rehearsal does."""
    return cast(Door, stand_in)


_STAND_IN: Final = "token-of-the-{role}-not-asked-for"


class _Rehearsal:
    """Stands in for a door, as far as an actor uses one."""

    def __init__(self, door: Door) -> None:
        self._door = door

    def send(self, call: Call, context: Context) -> Exchange:
        """Do all but send."""
        return self._door.rehearse(call, context)

    def disturbed_since(self, _moment: float) -> bool:
        """Nothing was sent, so nothing disturbed it."""
        return False


def rehearsing(door: Door) -> Door:
    """A door through which nothing leaves."""
    return as_door(_Rehearsal(door))


def rehearsed_tokens(folder: Path, learn: Callable[[str], None]) -> TokenStore:
    """Tokens that nobody issued, one for each role, so that a request can be shown; they are blanked out as real ones.

    Args:
        folder: Private folder.
        learn: Told of each.
    """
    return TokenStore(folder, lambda role: Token(value=_STAND_IN.format(role=role)), learn)


_NAME: Final = "hand"
#: Where a rehearsal's sandbox would answer; a real one takes a free port.
_UNSTARTED: Final = "http://127.0.0.1:8080"


@dataclass(frozen=True)
class Aim:
    """What a bench is opened on.

    Attributes:
        target: As the option gives it; None for the variables or the sandbox.
        sandbox_arguments: More options for the embedded sandbox.
        reports: Folder whose subfolder keeps the ledger, so that a sweep finds what a killed bench left.
        keep: Leave what was created.
        ready: A target that is settled already, in place of the one that `target` names.
        passing: Whether `ready` is a sandbox that ends soon, so that nothing need be removed from it.
    """

    target: str | None = None
    sandbox_arguments: tuple[str, ...] = ()
    seed: str | None = None
    reports: Path = Path("reports")
    keep: bool = False
    ready: Target | None = None
    passing: bool = False


@dataclass
class Left:
    """What is still there when a bench is closed: drafts that were kept or not removed, and what nobody can remove."""

    drafts: list[Entry] = field(default_factory=list)
    residue: list[Entry] = field(default_factory=list)
    kept: bool = False


@contextmanager
def open_bench(aim: Aim, left: Left) -> Iterator[Bench]:
    """Open a bench for as long as the `with` block lasts.

    Args:
        left: Told at the end what stays behind.

    Raises:
        UsageError: the target's settings cannot be used.
        SuiteError: the embedded sandbox does not start.
    """
    settings = aim.ready or _settings(aim)
    passing = settings is None or aim.passing
    with ExitStack() as stack:
        target = settings or _sandbox(stack, aim.sandbox_arguments)
        private = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=PRIVATE_PREFIX)))
        stack.callback(Alive(private, _NAME).end)
        token = new_run_token()
        books = _Books(private if passing else _kept(aim.reports, target, token), token, target)
        stack.callback(books.close)
        namespace = namespace_of(target, token, aim.seed)
        budget = ResidueBudget(private, target.pace.permanent_records, namespace.grants)
        ledger = Ledger(books.folder / f"ledger-{_NAME}.jsonl", None if passing else budget)
        stack.callback(ledger.close)
        passwords = (account.password.reveal() for account in target.accounts.values())
        redactor = Redactor([*passwords, *proxy_passwords()])
        notes = Notes(redactor)
        door = _door(target, private, ledger, namespace, notes, hurried=passing)
        bench = Bench(target, door, namespace, private, notes, redactor, passing=passing)
        try:
            yield bench
        finally:
            _clean(bench, ledger, left, keep=aim.keep)
            books.left = len(left.drafts) if not aim.keep else 0
            books.wanted = bool(left.drafts or left.residue)


@contextmanager
def rehearse(aim: Aim) -> Iterator[Bench]:
    """A bench through whose door nothing leaves: requests are prepared, guarded and shown."""
    settings = _settings(aim)
    target = settings or sandbox_target(_UNSTARTED, DEFAULT_SIZE_LIMIT)
    with ExitStack() as stack:
        private = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=PRIVATE_PREFIX)))
        namespace = namespace_of(target, new_run_token(), aim.seed)
        redactor = Redactor(account.password.reveal() for account in target.accounts.values())
        notes = Notes(redactor)
        ledger = Ledger(private / "ledger.jsonl")
        stack.callback(ledger.close)
        door = _door(target, private, ledger, namespace, notes, hurried=True)
        bench = Bench(target, rehearsing(door), namespace, private, notes, redactor, passing=settings is None)
        bench.tokens = rehearsed_tokens(private, redactor.learn)
        yield bench


def _door(
    target: Target, private: Path, ledger: Ledger, namespace: Namespace, notes: Notes, *, hurried: bool
) -> Door:
    return open_door(
        target,
        pace=pace_of(target, private, budget=target.pace.request_budget, unhurried=hurried),
        ledger=ledger,
        namespace=namespace,
        recorder=notes,
        name=_NAME,
        on_break=lambda _: None,
    )


def _settings(aim: Aim) -> Target | None:
    settings = load_target(aim.target, os.environ, Path.cwd())
    if settings is not None and aim.sandbox_arguments:
        raise UsageError(
            f"--sandbox-arguments are for the embedded sandbox, and the target is {settings.name}"
        )
    return settings


def _sandbox(stack: ExitStack, arguments: Sequence[str]) -> Target:
    served = stack.enter_context(EmbeddedSandbox(DEFAULT_SIZE_LIMIT, arguments))
    return sandbox_target(served.base_url, DEFAULT_SIZE_LIMIT)


def _kept(reports: Path, target: Target, token: str) -> Path:
    return new_folder(reports, f"{target.name}-{token}-by-hand", "keep a ledger in")


class _Books:
    """The folder of a bench's ledger; gone at the end, unless something is left behind."""

    def __init__(self, folder: Path, token: str, target: Target) -> None:
        self.folder = folder
        self.left = 0
        self.wanted = True
        self._alive = Alive(folder, "main")
        self._facts: dict[str, Any] = {
            "target": target.name,
            "base_url": target.base_url,
            "started": datetime.now(UTC).isoformat(),
            "finished": None,
            "token": token,
            "process": {"pid": os.getpid(), "host": platform.node()},
        }
        self._write()

    def close(self) -> None:
        """Say that the bench is closed, and take the folder away where nothing is left."""
        self._alive.end()
        self._facts |= {"finished": datetime.now(UTC).isoformat(), "left": self.left}
        if self.wanted:
            self._write()
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
            with suppress(OSError):  # others keep something in it
                self.folder.parent.rmdir()

    def _write(self) -> None:
        (self.folder / RUN_FILE).write_text(json.dumps(self._facts, indent=2), encoding="utf-8")


def _clean(bench: Bench, ledger: Ledger, left: Left, *, keep: bool) -> None:
    if not (keep or bench.passing):
        cleaning = Cleaning(
            ledger, lambda entry: _delete(bench, entry), lambda: bench.door.broken is not None
        )
        cleaning.at_the_end(last=True)
    if not bench.passing:
        left.drafts, left.residue = ledger.removable(), list(ledger.residue())
    left.kept = keep


def _delete(bench: Bench, entry: Entry) -> Exchange:
    role = AUTHOR if entry.role == ANONYMOUS else entry.role
    return bench.actor(role, entry.realm, CLEANING).send("deleteDraft", path={"uid": entry.identifier})
