"""Opens a bench on a target: guard, door, pace, ledger and redaction are those of a run, and so is the cleaning."""

from __future__ import annotations

import json
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from contracts.errors import UsageError
from contracts.evidence.collecting import RUN_FILE
from contracts.evidence.folders import new_folder
from contracts.plugin.cleaning import CASE as CLEANING
from contracts.plugin.cleaning import Cleaning
from contracts.session.alive import Alive
from contracts.session.door import Door
from contracts.session.exchange import Exchange
from contracts.session.ledger import Entry, Ledger
from contracts.session.namespace import Namespace, new_run_token
from contracts.session.opening import namespace_of, open_door, pace_of, proxy_passwords
from contracts.session.redaction import Redactor
from contracts.session.residue import ResidueBudget
from contracts.sweeping.folders import PRIVATE_PREFIX
from contracts.target.embedded import DEFAULT_SIZE_LIMIT, EmbeddedSandbox, sandbox_target
from contracts.target.model import ANONYMOUS, AUTHOR, Target
from contracts.target.settings import load_target
from contracts.workbench.bench import Bench, Notes
from contracts.workbench.rehearsal import rehearsed_tokens, rehearsing

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
