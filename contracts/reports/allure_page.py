"""Allure's report of a run as one file that sends nothing: `python -m contracts.reports.allure_page RUN_FOLDER`.

Allure's pages load an analytics script; it is taken out, and a policy keeps the page from loading anything.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Final

import click

from contracts.errors import SuiteError, UsageError
from contracts.evidence.outcomes import ExitCode
from contracts.reports.allure import FOLDER_NAME

FILE_NAME: Final = "allure.html"
#: Runs that Allure keeps in its own history.
_LIMIT: Final = 20
_SECONDS: Final = 600
_ANALYTICS: Final = re.compile(
    r'<script\b[^>]*\bsrc="https://www\.googletagmanager\.com/[^"]*"[^>]*>\s*</script>\s*'
    r"<script>(?:(?!</script>).)*?\bgtag\((?:(?!</script>).)*?</script>\s*",
    re.DOTALL,
)
_TRACES: Final = ("googletagmanager", "google-analytics", "gtag(")
_FETCHED: Final = re.compile(
    r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>", re.I
)
_POLICY: Final = (
    '<meta http-equiv="Content-Security-Policy" content="default-src data: blob: \'unsafe-inline\' '
    "'unsafe-eval'; form-action 'none'\">"
)


def make(run_folder: Path, program: str, history: Path | None = None) -> Path:
    """Make Allure's report of a run.

    Args:
        run_folder: holds `allure/` with the results.
        program: Allure 3, by name or path.
        history: Allure's own history file; the run is added to it once.

    Returns:
        Path of `allure.html` in the run folder.

    Raises:
        UsageError: no results there, or Allure is not installed.
        SuiteError: Allure failed, or its page would still fetch something.
    """
    results = run_folder / FOLDER_NAME
    realms = realms_in(results)
    executable = shutil.which(program)
    if executable is None:
        raise UsageError(f"no program {program}: install Allure 3 (npm install allure), or run tox -e allure")
    with tempfile.TemporaryDirectory() as scratch:
        folder, name = Path(scratch), run_folder.resolve().name
        lines = folder / "history.jsonl"
        lines.write_text(_without(history, name), "utf-8")
        config = _configure(folder, name, realms, lines)
        page = _generate(executable, config, results.resolve(), folder / "report")
        target = run_folder / FILE_NAME
        target.write_text(quiet(page.read_text("utf-8")), "utf-8")
        if history is not None:
            history.write_text(lines.read_text("utf-8"), "utf-8")
    return target


def realms_in(results: Path) -> list[str]:
    """Return the realms that the results name, sorted.

    Raises:
        UsageError: there are no results.
    """
    realms = set()
    for path in results.glob("*-result.json"):
        labels = json.loads(path.read_text("utf-8"))["labels"]
        realms |= {label["value"] for label in labels if label["name"] == "realm"}
    if not realms:
        raise UsageError(f"{results} holds no results of a run: render them with python -m contracts.reports")
    return sorted(realms)


def quiet(page: str) -> str:
    """Return a page of Allure without its analytics, under a policy that lets it load nothing.

    Raises:
        SuiteError: something that fetches is still there, so that Allure has changed.
    """
    stripped = _ANALYTICS.sub("", page)
    left = [trace for trace in _TRACES if trace in stripped]
    left += [match[0][:120] for match in _FETCHED.finditer(stripped)]
    if left:
        raise SuiteError(f"Allure's page would still fetch something ({left[0]}): this version is not known")
    if "<head>" not in stripped:
        raise SuiteError("Allure's page has no head: this version is not known")
    return stripped.replace("<head>", f"<head>\n    {_POLICY}", 1)


def _configure(folder: Path, name: str, realms: list[str], history: Path) -> Path:
    settings = {
        "name": name,
        "output": str(folder / "report"),
        "history": str(history),
        "limit": _LIMIT,
        "realms": realms,
    }
    template = files("contracts.reports").joinpath("templates/allurerc.mjs").read_text("utf-8")
    path = folder / "allurerc.mjs"
    path.write_text(template.replace("__SETTINGS__", json.dumps(settings, indent=2)), "utf-8")
    return path


def _without(history: Path | None, name: str) -> str:
    """Return a history without a run, which would count twice when it is rendered again."""
    if history is None or not history.is_file():
        return ""
    lines = history.read_text("utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if line.strip() and json.loads(line).get("name") != name)


def _generate(program: str, config: Path, results: Path, output: Path) -> Path:
    command = [program, "generate", "--config", str(config), str(results)]
    try:
        ended = subprocess.run(  # noqa: S603 - the program that the caller named
            command,
            cwd=config.parent,
            env={**os.environ, "ALLURE_NO_ANALYTICS": "1"},
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SuiteError(f"Allure did not run to its end: {error}") from error
    page = output / "index.html"
    if ended.returncode or not page.is_file():
        output_lines = (ended.stderr or ended.stdout).strip().splitlines() or ["it said nothing"]
        raise SuiteError(f"Allure made no report (exit code {ended.returncode}): {output_lines[-1]}")
    return page


@click.command()
@click.argument("run_folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--allure", "program", default="allure", show_default=True, help="The program, Allure 3.")
@click.option("--history", type=click.Path(path_type=Path, dir_okay=False), help="Allure's history file.")
@click.pass_context
def main(context: click.Context, run_folder: Path, program: str, history: Path | None) -> None:
    """Make `allure.html` in RUN_FOLDER from its results: one file that asks nothing of the network."""
    try:
        page = make(run_folder, program, history)
    except UsageError as error:
        click.echo(f"error: {error}", err=True)
        context.exit(ExitCode.USAGE)
    except SuiteError as error:
        click.echo(f"error: {error}", err=True)
        context.exit(ExitCode.ERROR)
    click.echo(f"{page} ({page.stat().st_size / 1_000_000:.1f} MB)")


if __name__ == "__main__":
    main(prog_name="python -m contracts.reports.allure_page")
