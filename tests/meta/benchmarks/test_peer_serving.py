"""The counted sandbox and the way a tool is run."""

import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from benchmarks.peers.measuring import sign_in
from benchmarks.peers.peer import ToolBroke, run
from benchmarks.peers.serving import CountedSandbox


def test_requests_are_counted_and_a_token_is_had(tmp_path: Path) -> None:
    with CountedSandbox([], tmp_path / "count.txt") as sandbox:
        assert sign_in(sandbox.base_url) != "no-token"
        urlopen(f"{sandbox.base_url}/openapi.json", timeout=30).close()  # noqa: S310 - our own loopback server
    assert sandbox.requests == 2


def test_a_sandbox_that_issues_no_token_leaves_the_tool_with_a_word(tmp_path: Path) -> None:
    with CountedSandbox(["--defect", "token-empty"], tmp_path / "count.txt") as sandbox:
        assert sign_in(sandbox.base_url) == "no-token"


def test_a_tool_that_does_not_end_is_stopped(tmp_path: Path) -> None:
    with pytest.raises(ToolBroke, match=r"stopped after 0\.2 s"):
        run([sys.executable, "-c", "import signal; signal.pause()"], tmp_path, 0.2)


def test_a_tool_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ToolBroke, match="cannot be started"):
        run(["no-such-tool-anywhere"], tmp_path, 5.0)


def test_what_a_tool_says_is_kept(tmp_path: Path) -> None:
    run([sys.executable, "-c", "print('said'); raise SystemExit(1)"], tmp_path, 60.0)
    assert "said" in (tmp_path / "said.txt").read_text(encoding="utf-8")
