"""Sessions of `call` and `doctor`: they open a target or the embedded sandbox, keep a ledger, and clean up."""

from __future__ import annotations

import json
import os
import platform
import shlex
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from registry_contracts.errors import EnvironmentFault, UsageError, suggestion
from registry_contracts.evidence.run_folder import new_folder, remove_folder
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.session.actor import Actor
from registry_contracts.session.draft_cleanup import DraftCleanup
from registry_contracts.session.ledger import RUN_FILE, Entry, read_entries, removable, residue
from registry_contracts.session.namespace import new_run_token
from registry_contracts.session.session import Session, namespace_of
from registry_contracts.session.shared_state import ProcessLock
from registry_contracts.settings.embedded_sandbox import DEFAULT_SIZE_LIMIT, sandbox_target, serve_sandbox
from registry_contracts.settings.settings_reader import load_target, refuse_sandbox_arguments
from registry_contracts.settings.target import ACCOUNT_ROLES, ANONYMOUS, AUTHOR, Target

ROLES: Final = (*ACCOUNT_ROLES, ANONYMOUS)
#: The case of manual requests.
_CASE: Final = "by hand"
_LONGEST_SIGN_IN_SECONDS: Final = 10.0


class ManualSession(Session):
    """A session for manual requests; `open_manual_session` makes it.

    Args:
        ledger_folder: Run folder for the ledger, so that a sweep can remove what a killed session left; None if the
            target ends with the session.

    Attributes:
        recorded: All exchanges in order, by id and without secrets, including sign-ins and those that created records.
    """

    def __init__(
        self,
        target: Target,
        token: str,
        *,
        ledger_folder: Path | None = None,
        dry_run: bool = False,
    ) -> None:
        self.recorded: dict[str, Exchange] = {}
        super().__init__(
            target,
            _NAME,
            namespace=namespace_of(target, token),
            ledger_folder=ledger_folder,
            request_budget=target.pace.request_budget,
            events=self._record,
            dry_run=dry_run,
        )

    def _record(self, kind: str, event: Any) -> None:
        """Keep a recorded exchange; a fault is also in its exchange."""
        if kind == "exchange":
            self.recorded[event.id] = event.exchange()

    def actor(self, role: str, realm: str) -> Actor:
        """Return an actor of a known role in a realm.

        Raises:
            UsageError: the target has no account for it.
        """
        self._insist_on(role)
        return Actor(self, role, realm, _CASE)

    def _insist_on(self, role: str) -> None:
        missing = self.target.missing(f"account.{role}")
        if missing:
            raise UsageError(f"{self.target.name} cannot be used as {role}: {missing}")

    def sign_in(self, role: str) -> None:
        """Sign in as a known role before anything else is sent.

        Raises:
            UsageError: the target has no account for it.
            EnvironmentFault: the target cannot be reached, or gives no token; one line.
        """
        self._insist_on(role)
        with self.time_limit(_LONGEST_SIGN_IN_SECONDS):
            token = self.tokens.token(AUTHOR if role == ANONYMOUS else role)
        if not token.value:
            check = next(
                (what for statuses, what in _TO_CHECK.items() if token.status in statuses),
                "is the service up?",
            )
            raise EnvironmentFault(
                f"{self.target.base_url} gives the {role} no token: {token.refusal}; {check}"
            )


def refuse_unknown_role(role: str) -> None:
    """Refuse a role that does not exist; suggests the nearest one.

    Raises:
        UsageError: the role is unknown.
    """
    if role not in ROLES:
        raise UsageError(f"unknown role '{role}'; {suggestion(role, ROLES)}")


_NAME: Final = "hand"
#: What to check, by the status of a failed sign-in.
_TO_CHECK: Final = {
    (404, 405, 410): "check the path of the base URL",
    (400, 401, 403, 422): "check the account's e-mail and password",
}
#: The process whose lock tells a sweep that a run is still active.
_CONTROLLER: Final = "main"
#: The sandbox's address in a dry run, which starts none.
_UNSTARTED: Final = "http://127.0.0.1:8080"


@dataclass(frozen=True)
class SessionOptions:
    """The target of a manual session, and how it is used.

    Attributes:
        target: As the option gives it; None for the variables or the sandbox.
        sandbox_arguments: Further options for the embedded sandbox, as one text.
        reports: Folder for the run folder with the ledger.
        keep: Whether created drafts are kept.
        dry_run: Whether requests are prepared, guarded and shown, but not sent.
    """

    target: str | None
    sandbox_arguments: str
    reports: Path
    keep: bool = False
    dry_run: bool = False


@dataclass
class Leftovers:
    """What is on the target after a manual session.

    Attributes:
        drafts: Drafts that were kept or could not be deleted.
        residue: Records that the interface cannot remove.
        kept: Whether drafts were kept on purpose.
    """

    drafts: list[Entry] = field(default_factory=list)
    residue: list[Entry] = field(default_factory=list)
    kept: bool = False


@contextmanager
def open_manual_session(options: SessionOptions, left: Leftovers) -> Iterator[ManualSession]:
    """Open a manual session for the `with` block.

    Args:
        left: Filled in at the end with what stays behind.

    Raises:
        UsageError: the target's settings cannot be used.
        SuiteError: the embedded sandbox does not start.
    """
    arguments, token = shlex.split(options.sandbox_arguments), new_run_token()
    settings = load_target(options.target, os.environ, Path.cwd())
    refuse_sandbox_arguments(settings, arguments)
    left.kept = options.keep
    with ExitStack() as stack:
        if settings is not None:
            target = settings
        elif options.dry_run:
            target = sandbox_target(_UNSTARTED, DEFAULT_SIZE_LIMIT)
        else:
            target = stack.enter_context(serve_sandbox(DEFAULT_SIZE_LIMIT, arguments))
        lasting = not (settings is None or options.dry_run)
        folder = stack.enter_context(_run_folder(options, target, token, left)) if lasting else None
        session = ManualSession(target, token, ledger_folder=folder, dry_run=options.dry_run)
        stack.enter_context(session)
        if lasting and not options.keep:
            stack.callback(DraftCleanup(session).at_the_end, last=True)
        yield session


@contextmanager
def _run_folder(options: SessionOptions, target: Target, token: str, left: Leftovers) -> Iterator[Path]:
    """Make a run folder for the ledger; remove it at the end unless something stays on the target."""
    folder = new_folder(options.reports, f"{target.name}-{token}-by-hand", "keep a ledger in")
    try:
        lock = ProcessLock(folder, _CONTROLLER)
    except UsageError:
        remove_folder(folder)
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
            remove_folder(folder)


def _write_facts(folder: Path, facts: Mapping[str, Any]) -> None:
    (folder / RUN_FILE).write_text(json.dumps(facts, indent=2), encoding="utf-8")
