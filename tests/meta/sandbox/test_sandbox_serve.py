"""Starting and ending the sandbox: the ready line, usage errors, restarts, and its own pages."""

import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from contracts.interface.description import load_description
from contracts.sandbox.habits import Settings
from contracts.sandbox.serve import altered, main, make_server
from tests.meta.program import PATIENCE
from tests.meta.samples import record


@pytest.mark.parametrize(
    "options",
    [
        "--port 0 --data {folder}/file",
        "--port 0 --data {folder}/file/below",
        "--port 0 --data /proc/nowhere",
        "--port 0 --data {folder}",
        "--port 65536",
        "--port -1",
        "--port many",
        "--port 0 --host no.such.host.invalid",
        "--port 0 --size-limit -1",
        "--port 0 --size-limit 1GB",
        "--port 0 --token-lifetime 0",
        "--port 0 --token-lifetime nan",
        "--port 0 --token-lifetime 1e300",
        "--unheard",
        "something",
    ],
)
def test_usage_errors_are_one_line_and_exit_code_4(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "registry.sqlite").write_text("this is no database, and long enough to be read as one " * 50)
    assert main(options.format(folder=tmp_path).split()) == 4
    printed = capsys.readouterr()
    assert printed.out == ""
    assert re.fullmatch(r"sandbox: .+\n", printed.err)


def test_a_port_in_use_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["--port", str(taken.getsockname()[1])]) == 4
    assert "choose another --port" in capsys.readouterr().err


def test_two_sandboxes_do_not_share_a_folder(
    start_sandbox: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start_sandbox("--data", str(tmp_path))
    assert main(["--port", "0", "--data", str(tmp_path)]) == 4
    assert "another sandbox" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_at_once_and_cleanly(number: signal.Signals) -> None:
    command = [sys.executable, "-m", "contracts.sandbox", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        match = re.fullmatch(r"sandbox ready at http://127\.0\.0\.1:(\d+)\n", line)
        assert match
        # An idle connection must not hold it back; it is kept for 75 seconds.
        with socket.create_connection(("127.0.0.1", int(match[1])), timeout=PATIENCE) as connection:
            connection.sendall(b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 404")
            started = time.monotonic()
            process.send_signal(number)
            rest, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, rest, errors) == (0, "", "")
    assert time.monotonic() - started < 60


def test_nothing_is_left_of_a_sandbox_without_a_folder(
    start_sandbox: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    sandbox = start_sandbox()
    assert len(list(tmp_path.iterdir())) == 1
    assert sandbox.stop() == 0
    assert list(tmp_path.iterdir()) == []


def test_a_folder_keeps_everything_over_a_restart(
    start_sandbox: Callable[..., Any], caller: Any, tmp_path: Path
) -> None:
    data = tmp_path / "new" / "folder"
    first = start_sandbox("--data", str(data))
    author = caller(url=first.url)
    draft = "/api/v2013/documents/kept-over-restart/versions/draft"
    attachments = "/api/v2013/documents/kept-over-restart/attachments"
    workflow = "/api/v2023/documents/schemas/absPermit/submitted-record"
    temporary = "/persist-temporary/sandbox-temporary-abs-dev-01"
    assert author.put(
        draft + "?schema=contact", data=b'{"a": 1.0}', headers={"Content-Type": "application/json"}
    ).ok
    number = author.post(attachments + "/a.txt", data=b"kept").json()["id"]
    assert author.post(attachments + temporary).status_code == 201
    assert author.post(workflow, json={"document": record()}).status_code == 201
    assert author.delete("/api/v2013/documents/sandbox-published-abs-dev/versions/draft").status_code == 204
    assert first.stop() == 0

    author = caller(url=start_sandbox("--data", str(data)).url)
    assert author.get(draft).text == '{"a": 1.0}'
    assert author.get(f"{attachments}/{number}/a.txt").content == b"kept"
    assert author.post(attachments + temporary).status_code == 404
    assert "locked" in author.put(workflow, json={"document": record()}).json()["message"]
    assert author.get("/api/v2013/documents/sandbox-published-abs-dev/versions/draft").status_code == 404


def test_a_killed_upload_does_not_come_back(start_sandbox: Callable[..., Any], tmp_path: Path) -> None:
    arriving = tmp_path / "files" / "arriving"
    arriving.mkdir(parents=True)
    (arriving / "half").write_bytes(b"half of a file")
    start_sandbox("--data", str(tmp_path))
    assert list(arriving.iterdir()) == []


def test_the_description_is_served_in_both_forms(caller: Any) -> None:
    client = caller(None, None)
    description = client.get("/openapi.json").json()
    assert description["servers"][0]["url"] == client.base
    assert yaml.safe_load(client.get("/openapi.yaml").text) == description
    assert description["openapi"] == load_description().published["openapi"] == "3.1.0"
    sign_in = description["paths"]["/api/v2013/authentication/token"]["post"]["requestBody"]
    for example in sign_in["content"]["application/json"]["examples"].values():
        assert client.post("/api/v2013/authentication/token", json=example["value"]).status_code == 200


def test_answers_are_sent_at_once_whoever_made_the_socket() -> None:
    """A body that waits for its head to be acknowledged costs forty milliseconds an answer."""
    ready = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = make_server(altered(Settings()), ready.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        assert ready.wait(PATIENCE)
        at_once = listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        server.should_exit = True
        thread.join()
    assert at_once
