"""`--finding`: the case that saw a finding, chosen again with the target, realm, profile and seed of its run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

import pytest

from contracts.errors import UsageError
from contracts.evidence.findings import Finding
from contracts.interface.location import cases_directory
from contracts.interface.operations import ANY_REALM
from contracts.plugin.run_options import FINDING, REALM, REPORTS, SANDBOX_ARGUMENTS, TARGET
from contracts.reports.cards import FOLDER_NAME
from contracts.reports.shell_commands import where_of
from contracts.reports.verdict_json import FILE_NAME, VerdictFile, read
from contracts.safe_text import many
from contracts.settings.target import EMBEDDED_IN_WORDS, SANDBOX, target_in_words

_NAMED_AT_MOST: Final = 20
_TAKEN_OVER = pytest.StashKey[list[str]]()


def choose_finding(config: pytest.Config) -> None:
    """Turn `--finding` into what a run of its case needs; a target, profile or seed that was given stays as it is.

    Raises:
        UsageError: no run in the reports has it, or it is of another realm than the one given.
    """
    given, options = config.getoption(FINDING.flag), config.option
    if given is None:
        return
    verdict, finding = _seen_before(Path(config.getoption(REPORTS.flag)), given)
    if options.realm and options.realm != [finding.realm]:
        raise UsageError(f"finding {finding.id} is of {finding.realm}; take {REALM.flag} away")
    if finding.realm != ANY_REALM:
        options.realm = [finding.realm]
    if options.target is None:
        words = where_of(verdict.command)
        if target_in_words(verdict.target.name, verdict.target.base_url) == EMBEDDED_IN_WORDS:
            options.target = SANDBOX
            options.sandbox_arguments = options.sandbox_arguments or words.get(SANDBOX_ARGUMENTS.flag, "")
        else:
            # Of variables the address: where they name another service now, that one has nothing to do with it.
            options.target = words.get(TARGET.flag, verdict.target.base_url)
        taken = ((TARGET, options.target), (SANDBOX_ARGUMENTS, options.sandbox_arguments))
        config.stash[_TAKEN_OVER] = [f"{option.flag}={value}" for option, value in taken if value]
    options.profile = options.profile or verdict.profile
    options.seed = verdict.seed if options.seed is None else options.seed
    cases = [f"{cases_directory()}/{case}" for case in finding.cases if not case.startswith("[")]
    config.args = cases or config.args
    if not cases:  # the look before a run saw it, which every run takes
        options.clause = [finding.clause]


def command_of(config: pytest.Config) -> str:
    """The command of a run, with where it goes if a finding says that."""
    words = map(str, config.invocation_params.args)
    return shlex.join(["pytest", *words, *config.stash.get(_TAKEN_OVER, [])])


def _seen_before(reports: Path, given: str) -> tuple[VerdictFile, Finding]:
    """The finding of an id, or of the beginning of one, in the latest run that has it."""
    # The names of runs begin with their moment: the newest run that has a finding comes last.
    folders = {path.stem: path.parents[1] for path in sorted(reports.glob(f"[0-9]*/{FOLDER_NAME}/*.json"))}
    matching = [name for name in folders if name.startswith(given)]
    if len(matching) != 1 or not given:
        there = ", ".join(list(matching or folders)[-_NAMED_AT_MOST:])
        what = f"'{given}' begins {many(len(matching), 'finding')}" if matching else f"no finding '{given}'"
        raise UsageError(f"{what}: the runs in '{reports}' have {there or 'none'}")
    verdict = read(folders[matching[0]] / FILE_NAME)
    for finding in verdict.findings:
        if finding.id == matching[0]:
            return verdict, finding
    raise UsageError(f"{folders[matching[0]] / FILE_NAME} does not name the finding {matching[0]}")
