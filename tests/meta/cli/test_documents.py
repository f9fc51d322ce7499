"""The documents: commands exist and can be run, exit codes are right, links lead somewhere; lists and help as well.

The workflows that people copy pin their actions, and install one thing; `tox -e workflows` lints them.
"""

import json
import os
import re
import shlex
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

import click
import pytest
import yaml

from registry_contracts.cases.marks import Facts
from registry_contracts.cli.program import COMMANDS
from registry_contracts.cli.program import program as commands
from registry_contracts.proving.__main__ import command as proof
from registry_contracts.sandbox import serve
from tests.meta.program import CHECKOUT, Program, RunCommand, clean_environment, finished, in_this_process

DOCUMENTS = (
    *sorted(CHECKOUT.glob("*.md")),
    *sorted((CHECKOUT / "docs").rglob("*.md")),
    CHECKOUT / "reports" / "README.md",
)
#: Files that people copy, whose commands are held to the program too.
COPIED = (*sorted(CHECKOUT.glob(".github/workflows/*.yml")), CHECKOUT / "Containerfile")
#: Where texts name documents to their readers.
NAMING = ("contracts", "tools", "tests", "benchmarks", "targets", "reports", ".github")
#: What is cheap enough to be run: it looks something up, or sends a request or two to an embedded sandbox.
CHEAP = re.compile(r"(list|explain|openapi|call|doctor)( (?!.*--(target|base-url))|$)|run --plan$|run .* -k ")
#: Commands that end with a finding.
FINDING = re.compile(r"run .*--fault")


def written(beginning: str) -> list[str]:
    """What follows such a beginning in the documents, up to what a shell would do with it."""
    texts = (path.read_text("utf-8").replace("\\\n", " ") for path in (*DOCUMENTS, *COPIED))
    found = (
        re.findall(rf"(?:(?<![/\\w])|(?<=bin/)){beginning}((?: [^`\n]*)?)(?=[`\n])", text) for text in texts
    )
    lines = {re.split(r" (?:[#&|>;]|2>)|;|\)\"", each)[0].strip() for lines in found for each in lines}
    return sorted(lines - {""})


def is_cheap(line: str) -> bool:
    """Whether a written command can be run as it stands, and takes a moment."""
    return bool(CHEAP.match(line)) and not re.search(r"[A-Z]{3}|…|@\w", line)


OURS = written("registry-contracts(?= [a-z])")


@pytest.mark.parametrize("line", OURS)
def test_every_command_of_ours_in_the_documents_is_one(line: str) -> None:
    # A number may stand where a workflow has a variable.
    name, *words = (re.sub(r"^\$\w+$", "1", word) for word in shlex.split(line))
    # A command remembers its options for help, which the context of the program gives it.
    parent = click.Context(commands, **commands.context_settings)
    command = serve.command if name == "sandbox" else commands.get_command(parent, name)
    assert command is not None
    with suppress(click.exceptions.Exit, click.MissingParameter):
        context = command.make_context(name, words, parent=parent)
        assert not [word for word in context.params.get("pytest_arguments", ()) if word.startswith("--")]


@pytest.mark.parametrize("line", written("python -m registry_contracts.proving"))
def test_every_proof_in_the_documents_can_be_asked_for(line: str) -> None:
    assert proof.make_context("proof", shlex.split(line)).params


def test_every_option_of_pytest_in_the_documents_is_one() -> None:
    lines = [each for each in written("pytest") if "--" in each]
    helped = in_this_process(lambda: pytest.main(["--help"]), CHECKOUT, clean_environment())
    there = set(re.findall(r"--[a-z][a-z-]+", helped.out))
    assert len(lines) > 2, lines
    unknown = {each for line in lines for each in re.findall(r"(?<!\S)--[a-z][a-z-]+", line)} - there
    assert not unknown


def test_every_word_of_a_mark_in_the_documents_is_one() -> None:
    words = re.findall(r"`(\w+)=(?:True)?`", (CHECKOUT / "docs" / "cases.md").read_text("utf-8"))
    assert words
    assert {*words} <= {each.name for each in fields(Facts)}


def test_what_is_installed_and_made_by_tox_is_there() -> None:
    """Extras that `pip install` names, and environments of `tox -e`."""
    extras = {
        each for line in written("pip install") for each in re.findall(r"(?:\.|contracts)\[(\w+)\]", line)
    }
    environments = {each for line in written("tox -e") for each in line.split()[0].split(",")}
    assert extras
    assert environments
    declared = (CHECKOUT / "pyproject.toml").read_text("utf-8")
    assert not [each for each in extras if not re.search(rf"^{each} = \[", declared, re.MULTILINE)]
    tox = (CHECKOUT / "tox.ini").read_text("utf-8")
    assert not [each for each in environments if f"[testenv:{each}]" not in tox]


@pytest.mark.parametrize("line", [each for each in OURS if is_cheap(each)])
def test_what_is_cheap_in_the_documents_ends_as_it_should(tmp_path: Path, line: str) -> None:
    ended = Program(tmp_path)(*shlex.split(line))
    assert ended.code == (1 if FINDING.match(line) else 0), ended


def test_help_has_the_exit_codes_of_the_document(run_command: RunCommand) -> None:
    text = (CHECKOUT / "docs" / "exit-codes.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[a-z`, ]+`) \| ([0-6 ]+) \|", text, re.MULTILINE)
    documented = {name: codes.split() for names, codes in rows for name in re.findall(r"\w+", names)}
    for name in commands.list_commands(click.Context(commands)):
        told = run_command(name, "--help").out.partition("Exit codes: ")[2].partition("\n\n")[0]
        assert re.findall(r"\b\d\b", told) == documented.get(name, []), name
    assert documented["run"] == re.findall(r"^\| (\d) \| [a-z ]+ \| .* \| .* \|$", text, re.MULTILINE)


def headings(path: Path) -> set[str]:
    """The anchors of a document, as GitHub makes them."""
    told = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in told}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(CHECKOUT)))
def test_links_lead_somewhere(path: Path) -> None:
    for address, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", path.read_text("utf-8")):
        found = path.parent / address if address else path
        assert found.exists(), address
        assert not anchor or anchor in headings(found), f"{address}#{anchor}"


def test_documents_that_are_named_elsewhere_are_there() -> None:
    paths = [path for folder in NAMING for path in (CHECKOUT / folder).rglob("*") if path.is_file()]
    texts = [path.read_text("utf-8") for path in paths if path.suffix in {".py", ".md", ".toml", ".yml"}]
    named = {
        each
        for text in (*texts, *(path.read_text("utf-8") for path in CHECKOUT.glob("*.toml")))
        for each in re.findall(r"\bdocs/[a-z/-]+\.md", text)
    }
    assert named
    assert not [each for each in sorted(named) if not (CHECKOUT / each).exists()]


def test_every_page_is_in_the_index() -> None:
    index = (CHECKOUT / "docs" / "README.md").read_text("utf-8")
    pages = [str(path.relative_to(CHECKOUT / "docs")) for path in (CHECKOUT / "docs").rglob("*.md")]
    assert not [each for each in pages if each != "README.md" and f"]({each})" not in index]


def test_the_story_shows_its_scenario_as_it_is() -> None:
    story = (CHECKOUT / "docs" / "story.md").read_text("utf-8")
    (shown,) = re.findall(r"```python\n(.*?)```", story, re.DOTALL)
    assert shown in (CHECKOUT / "tests/contract/scenario/test_draft_access.py").read_text("utf-8")
    modules = set(re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", story.replace(".py`", "`")))
    package = CHECKOUT / "contracts" / "registry_contracts"
    missing = [each for each in modules if not (package / f"{each.replace('.', '/')}.py").exists()]
    assert len(modules) > 15
    assert not missing


@pytest.mark.parametrize("what", ["operations", "clauses", "faults", "variants", "weathers"])
def test_everything_is_listed_for_people_and_for_programs(run_command: RunCommand, what: str) -> None:
    head, *lines = run_command("list", what).out.splitlines()
    assert head.startswith("id  ")
    assert len(lines) == len(json.loads(run_command("list", what, "--json").out)) > 1


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples_in_its_help(run_command: RunCommand, name: str) -> None:
    ended = run_command(name, "-h")
    assert ended.code == 0
    assert f"Examples:\n    registry-contracts {name}" in ended.out


def test_actions_are_pinned_by_hash_with_their_release_beside() -> None:
    pinned = re.compile(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    for path in (*COPIED[:-1], CHECKOUT / "docs" / "ci.md"):
        used = re.findall(r"^\s*-? *uses: (.*)$", path.read_text("utf-8"), re.MULTILINE)
        assert used, path
        assert all(pinned.fullmatch(each) for each in used), used


@pytest.mark.parametrize(
    ("package", "code"),
    [
        ("registry-contracts==0.1.0", 0),
        ("dist/registry_contracts-0.1.0-py3-none-any.whl", 0),
        (f"registry-contracts @ git+https://example.test/x@{'a' * 40}", 0),
        ("registry-contracts", 4),
        ("git+https://example.test/x@main", 4),
        ("", 4),
    ],
)
def test_a_job_with_secrets_installs_only_what_is_one_thing(tmp_path: Path, package: str, code: int) -> None:
    workflow = yaml.safe_load((CHECKOUT / ".github" / "workflows" / "gate.yml").read_text("utf-8"))
    given = workflow[True]["workflow_call"]["inputs"]["package"]
    assert (given.get("default"), given["required"]) == (None, True)
    script = next(
        each["run"] for each in workflow["jobs"]["gate"]["steps"] if "install" in each.get("run", "")
    )
    (tmp_path / "python").write_text("#!/bin/sh\n", "utf-8")
    (tmp_path / "python").chmod(0o755)
    environment = {"PACKAGE": package, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    assert finished(["bash", "-eo", "pipefail", "-c", script], tmp_path, environment).code == code
