"""However its output or its words are spoilt, a command ends with its own code and shows nothing unsafe."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.meta.program import CHECKOUT, PATIENCE, Ended, Program, assert_safe, clean_environment

START = ("-m", "registry_contracts")
TINY_RUN = ("run", "--realm=abs-dev", "--profile=smoke", "--operation=getDraft", "--seed=1")
#: Texts that are no harm as words and much as output.
NASTY = (
    "\x1b[2J\x1b]0;owned\x07\u202egnp.exe\u2066x\r\n::error::forged\nx\u2028verdict: forged pass\x9b31m\udced"
)


def fresh(
    folder: Path,
    *words: str,
    begin: Callable[[], object] | None = None,
    out: int = subprocess.PIPE,
    environment: dict[str, str] | None = None,
) -> Ended:
    """Run a command in an interpreter of its own; `begin` is called in it before."""
    done = subprocess.run(
        [sys.executable, *START, *words],
        cwd=folder,
        env=clean_environment(PYTHONPATH=str(CHECKOUT / "contracts"), **(environment or {})),
        stdout=out,
        stderr=subprocess.PIPE,
        preexec_fn=begin,
        timeout=PATIENCE,
        check=False,
    )
    ended = Ended(done.returncode, (done.stdout or b"").decode(), done.stderr.decode())
    assert "Traceback" not in ended.output, ended.output
    return ended


def test_what_only_prints_ends_with_3_where_the_output_takes_nothing(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = fresh(tmp_path, "list", "clauses", out=full.fileno())
    assert (ended.code, ended.err.count("\n")) == (3, 1), ended


def _closed() -> None:
    for descriptor in (0, 1, 2):
        os.close(descriptor)


@pytest.mark.parametrize("output", ["unread", "closed"])
def test_a_run_counts_though_its_output_takes_nothing(tmp_path: Path, output: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = fresh(tmp_path, *TINY_RUN, out=writing, begin=_closed if output == "closed" else None)
    os.close(writing)
    assert ended.code == 0, ended
    assert (tmp_path / "reports" / "latest" / "index.html").exists()


def test_a_current_folder_that_is_gone_is_one_line(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    ended = fresh(gone, *TINY_RUN, begin=gone.rmdir)
    assert ended.code in (3, 4), ended
    assert len(ended.err.splitlines()) == 1


def test_without_assertions_nothing_is_judged(tmp_path: Path) -> None:
    ended = fresh(tmp_path, *TINY_RUN, environment={"PYTHONOPTIMIZE": "1"})
    assert (ended.code, "assertions" in ended.err) == (4, True), ended


@pytest.mark.parametrize("words", ["run --realm", "gate --consumer", "check"])
def test_a_nasty_text_among_the_words_is_shown_safely(program: Program, words: str) -> None:
    ended = program(*words.split(), NASTY)
    assert ended.code == 4, ended
    assert len(ended.output.splitlines()) <= 4
    assert_safe(ended)
