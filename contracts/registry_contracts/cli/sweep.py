"""`registry-contracts sweep`: removes what earlier runs left behind."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import click

from registry_contracts.cli.options import reports, target
from registry_contracts.errors import ExitCode
from registry_contracts.session.draft_cleanup import (
    Swept,
    find_orphans,
    sweep_drafts,
    sweep_runs,
    sweep_session,
    tokens_at_work,
)
from registry_contracts.session.shared_state import (
    abandoned_private_folders,
    remove_abandoned_private_folders,
)
from registry_contracts.settings.settings_reader import load_target
from registry_contracts.settings.target import Target


@click.command()
@target
@reports
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@click.option(
    "--older-than",
    metavar="HOURS",
    type=click.IntRange(0, 1_000_000),
    default=24,
    show_default=True,
    help="Lowest age of drafts without a ledger that are removed.",
)
@click.option(
    "--all-of-mine",
    is_flag=True,
    help="Also remove drafts of any age that start with rc-; only while no other run is under way.",
)
def command(*, target: str | None, reports: Path, dry_run: bool, older_than: int, all_of_mine: bool) -> int:
    """Remove drafts and private folders that killed runs left behind.

    It reads the ledgers in the reports folder, then lists the accounts' own drafts. Contacts, submissions and
    attachments cannot be removed through the interface; they are counted.

    Exit codes: 0 nothing is left, 4 usage, 6 something could not be removed or checked.

    \b
    Examples:
      registry-contracts sweep --target dev.local --dry-run
      registry-contracts sweep --target dev.local
      registry-contracts sweep --target dev.local --older-than 1
    """  # noqa: D301 - click's mark for lines to be left as they are
    settings = load_target(target, os.environ, Path.cwd())
    folders = len(list(abandoned_private_folders())) if dry_run else remove_abandoned_private_folders()
    if folders:
        click.echo(f"private folders of killed runs: {folders}{' to be' if dry_run else ''} removed")
    if settings is None:
        click.echo("the embedded sandbox ends with its run; name a --target to sweep a service")
        return ExitCode.PASS
    return _sweep(settings, reports, timedelta(hours=older_than), dry=dry_run, all_of_mine=all_of_mine)


def _sweep(target: Target, reports: Path, older_than: timedelta, *, dry: bool, all_of_mine: bool) -> int:
    with sweep_session(target) as session:

        def say(text: str) -> None:
            click.echo(session.redactor.text(text))

        def reported(swept: Swept) -> Swept:
            say(swept.sentence)
            for draft in swept.removed if dry else ():
                say(f"    {draft.identifier} in {draft.realm}, the {draft.role}'s")
            return swept

        if dry:
            say("dry run: nothing is removed")
        done = [reported(swept) for swept in sweep_runs(session, reports, dry_run=dry)]
        at_work = tokens_at_work(reports)
        orphans = find_orphans(session, at_work=at_work, older_than=older_than, all_of_mine=all_of_mine)
        # Drafts of a ledger are in the lists too: they are named once. Those that were not removed are tried again.
        named = {
            (draft.realm, draft.identifier)
            for swept in done
            for draft in (*swept.removed, *(draft for draft, _ in swept.left if dry))
        }
        lost = [draft for draft in orphans.found if (draft.realm, draft.identifier) not in named]
        for draft in lost:
            session.namespace.claim(draft.identifier)
        done.append(reported(sweep_drafts(session, "drafts without a ledger", lost, dry_run=dry)))
        for draft, why in orphans.spared:
            if (draft.realm, draft.identifier) not in named:
                say(f"left alone: {draft.identifier} in {draft.realm}: {why}")
        for trouble in orphans.troubles:
            say(f"could not be checked: {trouble}")
    left = sum(len(swept.left) for swept in done)
    return ExitCode.INCONCLUSIVE if left or orphans.troubles else ExitCode.PASS
