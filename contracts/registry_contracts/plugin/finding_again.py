"""`--finding`: runs the case of an earlier finding again, with the realm, profile and seed of its run.

The run may come from another machine. Its files may only choose among the cases that are here: they can neither run
other code nor have a password sent to another address.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from registry_contracts.errors import UsageError
from registry_contracts.evidence.findings import Finding
from registry_contracts.file_formats import is_file, own_folder, read_file, read_text
from registry_contracts.interface.location import cases_directory
from registry_contracts.interface.operations import ANY_REALM
from registry_contracts.reports.cards import FOLDER_NAME
from registry_contracts.reports.scripts import where_of
from registry_contracts.reports.verdict_json import FILE_NAME, VerdictFile
from registry_contracts.safe_text import many, plain_line
from registry_contracts.settings.settings_reader import BASE_URL, load_target
from registry_contracts.settings.target import EMBEDDED_IN_WORDS, SANDBOX, target_in_words

_NAMED_AT_MOST: Final = 20
#: Options of the sandbox that say how it answers; the others name files and ports of its machine.
_HOW_IT_ANSWERS: Final = frozenset(("--fault", "--variant", "--weather", "--weather-seed", "--size-limit"))
_TAKEN_OVER = pytest.StashKey[list[str]]()


def choose_finding(config: pytest.Config, paths: list[str]) -> list[str]:
    """Set the options that `--finding` implies; a given target, profile or seed stays.

    Args:
        paths: Paths of the command line to collect from.

    Returns:
        Paths to collect from: the cases of the finding, or else those of the command line.

    Raises:
        UsageError: no run in the reports has the finding, it belongs to another realm than the given one, its case is
            not here, or nothing but the finding's run names a target.
    """
    given, options = config.getoption("--finding"), config.option
    if given is None:
        return paths
    path, verdict, finding = _seen_before(Path(config.getoption("--reports")), given)
    if options.realm and options.realm != [finding.realm]:
        raise UsageError(f"finding {finding.id} is of {finding.realm}; leave --realm out")
    given_files = {(config.invocation_params.dir / each.partition("::")[0]).resolve() for each in paths}
    cases = list(_known(path, finding, given_files))
    if finding.realm != ANY_REALM:
        options.realm = [finding.realm]
    if options.target is None:
        _aim(config, verdict, finding)
    options.profile = options.profile or verdict.profile
    options.seed = verdict.seed if options.seed is None else options.seed
    if not cases:  # the preflight check of every run finds it
        options.clause = [finding.clause]
    return cases or paths


def _known(path: Path, finding: Finding, given: set[Path]) -> Iterator[str]:
    """The cases of a finding as arguments for pytest: the suite's own, or those of a file on the command line."""
    directory = cases_directory()
    # The id of a case outside the suite has its file's name alone.
    files = {each.name: each for each in given if is_file(each)}
    files |= {each.relative_to(directory).as_posix(): each for each in directory.rglob("test_*.py")}
    for case in finding.cases:
        name, _, test = case.partition("::")
        definition = f"def {test.partition('[')[0]}("
        is_test = case.isprintable() and re.fullmatch(r"test_\w+(\[.*\])?", test)
        if is_test and name in files and definition in read_text(files[name], name):
            yield f"{files[name]}::{test}"
        elif not case.startswith("["):
            raise UsageError(
                f"{path} names the case '{plain_line(case)}', which is not here; a kept run may only choose cases of "
                "the suite, or of a file that the command names"
            )


def _aim(config: pytest.Config, verdict: VerdictFile, finding: Finding) -> None:
    """Use the embedded sandbox of the finding's run as target; an address in a kept file never gets a password."""
    options, words, seen_at = config.option, where_of(verdict.command), verdict.target.base_url
    if (where := target_in_words(verdict.target.name, seen_at)) == EMBEDDED_IN_WORDS:
        own = words.get("--sandbox-arguments", "")
        options.target, options.sandbox_arguments = SANDBOX, options.sandbox_arguments or _harmless(own)
        taken = (("--target", options.target), ("--sandbox-arguments", options.sandbox_arguments))
        config.stash[_TAKEN_OVER] = [f"{option}={value}" for option, value in taken if value]
        return
    target = load_target(None, os.environ, Path.cwd())
    if target is None or target.base_url != seen_at:
        now = f"{BASE_URL} names {target.base_url}" if target else "nothing names an address now"
        raise UsageError(
            f"finding {finding.id} was seen on {where}, and {now}; name the target with --target"
        )


def _harmless(arguments: str) -> str:
    """The sandbox options of a finding's run, if they only say how it answers.

    Raises:
        UsageError: another option is among them.
    """
    with suppress(ValueError):
        names = [word.partition("=")[0] for word in shlex.split(arguments) if word.startswith("-")]
        if _HOW_IT_ANSWERS.issuperset(names):
            return arguments
    raise UsageError(
        f"the finding's run used the sandbox options '{plain_line(arguments)}', and a kept run may only set "
        f"{', '.join(sorted(_HOW_IT_ANSWERS))}; give --sandbox-arguments yourself"
    )


def command_of(config: pytest.Config) -> str:
    """The command of a run; with `--finding` it also names the finding's target."""
    words = map(str, config.invocation_params.args)
    return shlex.join(["pytest", *words, *config.stash.get(_TAKEN_OVER, [])])


def _seen_before(reports: Path, given: str) -> tuple[Path, VerdictFile, Finding]:
    """The path of the verdict file, its content and the finding whose id begins so, from the latest run that has it."""
    # The names of runs begin with their moment: the newest run that has a finding comes last.
    folders = {path.stem: path.parents[1] for path in sorted(reports.glob(f"[0-9]*/{FOLDER_NAME}/*.json"))}
    matching = [name for name in folders if name.startswith(given)]
    if len(matching) != 1 or not given:
        there = ", ".join(list(matching or folders)[-_NAMED_AT_MOST:])
        what = f"'{given}' begins {many(len(matching), 'finding')}" if matching else f"no finding '{given}'"
        raise UsageError(f"{what}: the runs in '{reports}' have {there or 'none'}")
    path = own_folder(folders[matching[0]]) / FILE_NAME
    verdict = read_file(path, VerdictFile)
    for finding in verdict.findings:
        if finding.id == matching[0]:
            return path, verdict, finding
    raise UsageError(f"{path} does not name the finding {matching[0]}")
