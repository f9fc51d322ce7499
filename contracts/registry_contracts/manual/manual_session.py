"""Sessions by hand: requests that a person sends to a target, from the command line or the page."""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from registry_contracts.errors import EnvironmentFault, UsageError, suggestion
from registry_contracts.evidence.run_folder import new_folder
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.session.actor import Actor
from registry_contracts.session.draft_cleanup import draft_cleanup
from registry_contracts.session.ledger import RUN_FILE, Entry, read_entries, removable, residue
from registry_contracts.session.namespace import new_run_token
from registry_contracts.session.session import Session, namespace_of
from registry_contracts.session.shared_state import ProcessLock
from registry_contracts.settings.embedded_sandbox import DEFAULT_SIZE_LIMIT, EmbeddedSandbox, sandbox_target
from registry_contracts.settings.settings_reader import load_target
from registry_contracts.settings.target import ACCOUNT_ROLES, ANONYMOUS, AUTHOR, Target

ROLES: Final = (*ACCOUNT_ROLES, ANONYMOUS)
#: The case on whose behalf a person sends.
CASE: Final = "by hand"
_LONGEST_SIGN_IN_SECONDS: Final = 10.0


class Notes:
    """What a session recorded, without secrets, by the id of the exchange."""

    def __init__(self) -> None:
        self._recorded: dict[str, Exchange] = {}

    def write(self, kind: str, event: Any) -> None:
        """Take one event; a fault stands in its exchange too."""
        if kind == "exchange":
            self._recorded[event.id] = event.exchange()

    def of(self, exchange: Exchange) -> Exchange:
        """An exchange as it was recorded."""
        return self._recorded[exchange.id]

    def __iter__(self) -> Iterator[Exchange]:
        """Every exchange in order, signing in included."""
        return iter(self._recorded.values())

    def __len__(self) -> int:
        """How many exchanges were recorded."""
        return len(self._recorded)


class ManualSession(Session):
    """A session by hand; `open_manual_session` and `open_dry_run` make it.

    Args:
        seed: Makes the identifiers the same in every session with this seed, but for the part of the run's token.
        ledger_folder: A run folder that is kept, so that a sweep finds what a killed session left; None where the
            target goes with the session.

    Attributes:
        exchanges: Everything that was sent, arrangements included, in order.
        notes: The exchanges as they were recorded.
    """

    def __init__(
        self,
        target: Target,
        token: str,
        seed: str | None,
        *,
        disposable: bool,
        ledger_folder: Path | None = None,
        dry_run: bool = False,
    ) -> None:
        self.notes = Notes()
        super().__init__(
            target,
            _NAME,
            namespace=namespace_of(target, token, seed),
            ledger_folder=ledger_folder,
            request_budget=target.pace.request_budget,
            disposable=disposable,
            events=self.notes.write,
            dry_run=dry_run,
        )
        self.exchanges: list[Exchange] = []

    def actor(self, role: str, realm: str, case: str = CASE) -> Actor:
        """An actor of a role in a realm.

        Raises:
            UsageError: there is no such role, or the target has no account for it.
        """
        self._insist_on(role)
        return Actor(self, role, realm, case, exchanges=self.exchanges)

    def _insist_on(self, role: str) -> None:
        known_role(role)
        missing = self.target.missing(f"account.{role}")
        if missing:
            raise UsageError(f"{self.target.name} cannot be used as {role}: {missing}")

    def sign_in(self, role: str) -> None:
        """Sign in as a role before anything else is sent.

        Raises:
            UsageError: the target has no account for it.
            EnvironmentFault: the target cannot be reached, or gives no token; one line.
        """
        self._insist_on(role)
        with self.time_limit(_LONGEST_SIGN_IN_SECONDS):
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


_NAME: Final = "hand"
#: The process that a sweep asks whether a run is over.
_CONTROLLER: Final = "main"
#: Where the sandbox of a dry run would answer; a real one takes a free port.
_UNSTARTED: Final = "http://127.0.0.1:8080"


@dataclass(frozen=True)
class SessionOptions:
    """The target of a session by hand, and how it is used.

    Attributes:
        target: As the option gives it; None for the variables or the sandbox.
        sandbox_arguments: More options for the embedded sandbox.
        reports: Folder for the run folder with the ledger, so that a sweep finds what a killed session left.
        keep: Leave what was created.
    """

    target: str | None = None
    sandbox_arguments: tuple[str, ...] = ()
    seed: str | None = None
    reports: Path = Path("reports")
    keep: bool = False


@dataclass
class Leftovers:
    """What is on the target after a session by hand.

    Attributes:
        drafts: Drafts that were kept or could not be deleted.
        residue: What the interface gives no means to remove.
        kept: Whether drafts were kept on purpose.
    """

    drafts: list[Entry] = field(default_factory=list)
    residue: list[Entry] = field(default_factory=list)
    kept: bool = False


@contextmanager
def open_manual_session(options: SessionOptions, left: Leftovers) -> Iterator[ManualSession]:
    """Open a session by hand for as long as the `with` block lasts.

    Args:
        left: Filled in at the end with what stays behind.

    Raises:
        UsageError: the target's settings cannot be used.
        SuiteError: the embedded sandbox does not start.
    """
    settings, token = _settings(options), new_run_token()
    disposable, left.kept = settings is None, options.keep
    with ExitStack() as stack:
        target = settings or _embedded(stack, options.sandbox_arguments)
        folder = None if disposable else stack.enter_context(_run_folder(options, target, token, left))
        session = ManualSession(target, token, options.seed, disposable=disposable, ledger_folder=folder)
        stack.enter_context(session)
        if not (disposable or options.keep):
            stack.callback(draft_cleanup(session).at_the_end, last=True)
        yield session


@contextmanager
def open_dry_run(options: SessionOptions) -> Iterator[ManualSession]:
    """Open a session that sends nothing: requests are prepared, guarded and shown."""
    settings = _settings(options)
    target = settings or sandbox_target(_UNSTARTED, DEFAULT_SIZE_LIMIT)
    with ManualSession(
        target, new_run_token(), options.seed, disposable=settings is None, dry_run=True
    ) as session:
        yield session


def _settings(options: SessionOptions) -> Target | None:
    settings = load_target(options.target, os.environ, Path.cwd())
    if settings is not None and options.sandbox_arguments:
        raise UsageError(
            f"--sandbox-arguments are for the embedded sandbox, and the target is {settings.name}"
        )
    return settings


def _embedded(stack: ExitStack, arguments: Sequence[str]) -> Target:
    served = stack.enter_context(EmbeddedSandbox(DEFAULT_SIZE_LIMIT, arguments))
    return sandbox_target(served.base_url, DEFAULT_SIZE_LIMIT)


@contextmanager
def _run_folder(options: SessionOptions, target: Target, token: str, left: Leftovers) -> Iterator[Path]:
    """A run folder for the ledger, so that a sweep finds what a killed session left.

    It is removed at the end, unless something stays behind on the target.
    """
    folder = new_folder(options.reports, f"{target.name}-{token}-by-hand", "keep a ledger in")
    try:
        lock = ProcessLock(folder, _CONTROLLER)
    except UsageError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    facts = {
        "target": target.name,
        "base_url": target.base_url,
        "started": datetime.now(UTC).isoformat(),
        "finished": None,
        "token": token,
        "process": {"pid": os.getpid(), "host": platform.node()},
    }
    _write_facts(folder, facts)
    try:
        yield folder
    finally:
        entries = read_entries(folder.glob("ledger-*.jsonl"))
        left.drafts, left.residue = removable(entries), list(residue(entries))
        lock.release()
        if left.drafts or left.residue:
            kept = {
                "finished": datetime.now(UTC).isoformat(),
                "left": 0 if options.keep else len(left.drafts),
            }
            _write_facts(folder, facts | kept)
        else:
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):  # others keep something in it
                folder.parent.rmdir()


def _write_facts(folder: Path, facts: Mapping[str, Any]) -> None:
    (folder / RUN_FILE).write_text(json.dumps(facts, indent=2), encoding="utf-8")
