"""Starting and ending the sandbox, restarts, and network faults as a plain client meets them."""

import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests

from registry_contracts.sandbox.serve import main
from registry_contracts.settings.embedded_sandbox import EmbeddedSandbox
from tests.meta.program import PATIENCE
from tests.meta.samples import draft_path, record
from tests.meta.sandbox_client import SandboxClient, sandbox


@pytest.mark.parametrize(
    "options",
    [
        "--port 0 --data {folder}/file",
        "--port 0 --data {folder}",
        "--port 0 --size-limit -1",
        "--port 0 --variant gzpi",
        "--port 0 --weather resett",
        "--unheard",
    ],
)
def test_a_usage_error_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], options: str) -> None:
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


def test_a_signal_ends_it_at_once_and_cleanly() -> None:
    command = [sys.executable, "-m", "registry_contracts.sandbox", "--port", "0"]
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
            process.send_signal(signal.SIGTERM)
            rest, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, rest, errors) == (0, "", "")
    assert time.monotonic() - started < 60


def test_a_folder_keeps_everything_over_a_restart(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "new" / "folder"))
    document = "/api/v2013/documents/kept-over-restart"
    workflow = "/api/v2023/documents/schemas/absPermit/submitted-record"
    temporary = f"{document}/attachments/persist-temporary/sandbox-temporary-abs-dev-01"
    published = "/api/v2013/documents/sandbox-published-abs-dev/versions/draft"
    with EmbeddedSandbox(arguments=data) as sandbox, SandboxClient(sandbox.base_url) as author:
        assert author.put(f"{document}/versions/draft?schema=contact", json={"a": 1.0}).ok
        number = author.post(f"{document}/attachments/a.txt", data=b"kept").json()["id"]
        assert author.post(temporary).status_code == 201
        assert author.post(workflow, json={"document": record()}).status_code == 201
        assert author.delete(published).status_code == 204
    with EmbeddedSandbox(arguments=data) as sandbox, SandboxClient(sandbox.base_url) as author:
        assert author.get(f"{document}/versions/draft").text == '{"a": 1.0}'
        assert author.get(f"{document}/attachments/{number}/a.txt").content == b"kept"
        assert author.post(temporary).status_code == 404
        assert "locked" in author.put(workflow, json={"document": record()}).json()["message"]
        assert author.get(published).status_code == 404


REFUSAL = "401 json"


def came_of_a_list(client: SandboxClient, time_limit: float = 30) -> str:
    """Return what came of a request: its status and media type, or how it failed."""
    try:
        response = client.get("/api/v2013/document-drafts", timeout=time_limit)
    except requests.exceptions.Timeout:
        return "silence"
    except requests.exceptions.ChunkedEncodingError:
        return "broken off"
    except requests.exceptions.ConnectionError as error:
        return "refused" if "refused" in str(error) else "reset"
    kind = response.headers.get("content-type", "").partition(";")[0].rpartition("/")[2]
    return f"{response.status_code} {kind}".strip()


@pytest.mark.parametrize(
    ("weather", "times", "seen"),
    [
        ("gateway-html:share=0.5", 20, {REFUSAL, "502 html", "504 html"}),
        ("resets:share=1:after=0", 5, {"reset"}),
        ("truncated:share=1", 2, {"broken off"}),
        ("sporadic-503:share=0.4", 40, {REFUSAL, "503 html", "503 json"}),
        ("outage-midway:from_request=3", 20, {REFUSAL, "reset", "refused"}),
        ("hanging-operation:operation=listDrafts", 1, {"silence"}),
        ("latency:seconds=0.01, lost-route:share=1", 5, {"404 html"}),
    ],
)
def test_a_client_sees_what_weather_makes_of_its_requests(weather: str, times: int, seen: set[str]) -> None:
    with sandbox("--weather", weather) as url, SandboxClient(url, role=None) as client:
        time_limit = 0.3 if "silence" in seen else 30
        assert {came_of_a_list(client, time_limit) for _ in range(times)} == seen
        if "hanging" in weather:
            assert client.get(draft_path("nobody-00001")).status_code == 401, "no other operation hangs"


def test_the_same_seed_is_the_same_weather() -> None:
    def course(seed: int) -> list[str]:
        words = ("--weather", "sporadic-503:share=0.5", "--weather-seed", str(seed))
        with sandbox(*words) as url, SandboxClient(url, role=None) as client:
            return [came_of_a_list(client) for _ in range(20)]

    assert course(1) == course(1)
    assert course(1) != course(2)
