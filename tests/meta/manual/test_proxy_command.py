"""`registry-contracts proxy` as a person starts and ends it."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from contracts.cli import main
from tests.meta.manual.scripted_service import Wire, answering, serving

PROGRAM = [sys.executable, "-c", "from contracts.cli import main; main()"]
PATIENCE = 300
LIST = b"[]"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n" + LIST
ASKED = (
    b"GET /api/v2013/document-drafts HTTP/1.1\r\nHost: localhost\r\nRealm: abs-dev\r\n"
    b"Authorization: Bearer a-token-of-forty-characters-0123456789ab\r\n\r\n"
)


def without_settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("REGISTRY_")}


def ask(address: str, request: bytes) -> bytes:
    parts = urlsplit(address)
    wire = Wire(socket.create_connection((str(parts.hostname), parts.port or 0), PATIENCE))
    wire.send(request)
    answer = wire.message()
    wire.close()
    assert answer is not None
    return answer.body


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_with_a_verdict_when_it_is_told_to(tmp_path: Path, how: signal.Signals) -> None:
    script, _ = answering(OK)
    with serving(script) as url:
        words = [*PROGRAM, "proxy", "--base-url", url, "--port", "0", "--no-page", "--reports", str(tmp_path)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=without_settings()) as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("proxy ready at http://127.0.0.1:")
            assert ask(line.split()[3].rstrip(","), ASKED) == LIST
            process.send_signal(how)
            said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert said.splitlines()[-1].startswith("verdict: pass (0): 1 request of 1 operation")
    folder = next(tmp_path.iterdir())
    assert sorted(path.name for path in folder.iterdir()) == ["check.json", "index.html", "traffic.har"]
    assert json.loads((folder / "check.json").read_text("utf-8"))["operations"]["listDrafts"] == 1


def ended(monkeypatch: pytest.MonkeyPatch, folder: Path, *words: str) -> int:
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith("REGISTRY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(sys, "argv", ["registry-contracts", "proxy", *words])
    with pytest.raises(SystemExit) as code:
        main()
    return int(str(code.value.code))


def nobody() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_silence_ends_it_and_nothing_was_tested(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script, _ = answering(OK)
    with serving(script) as url:
        words = ("--base-url", url, "--port", "0", "--no-page", "--until-idle", "0.1")
        assert ended(monkeypatch, tmp_path, *words) == 5
    assert "verdict: nothing tested (5)" in capsys.readouterr().out


def test_a_target_that_is_down_is_one_clear_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(monkeypatch, tmp_path, "--base-url", nobody(), "--port", "0", "--no-page") == 6
    told = capsys.readouterr().err
    assert "cannot be reached: the connection was refused" in told
    assert told.count("\n") == 1
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"


def test_a_port_in_use_is_one_clear_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script, _ = answering(OK)
    with serving(script) as url, socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert ended(monkeypatch, tmp_path, "--base-url", url, "--port", port, "--no-page") == 4
    told = capsys.readouterr().err
    assert f"--port {port} cannot be used: address already in use" in told
    assert told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--target", "nowhere"), "no target 'nowhere'"),
        (("--base-url", "registry"), "--base-url is not an http or https address"),
        (("--base-url", "http://x.test", "--target", "y"), "give one of them"),
        (("--base-url", "http://x.test", "--sandbox-arguments=--defect x"), "are for the embedded sandbox"),
    ],
)
def test_a_wrong_word_is_one_clear_line(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    says: str,
) -> None:
    assert ended(monkeypatch, tmp_path, *words) == 4
    told = capsys.readouterr().err
    assert says in told
    assert told.count("\n") == 1
