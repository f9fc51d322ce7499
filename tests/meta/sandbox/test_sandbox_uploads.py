"""Uploads of the sandbox: limits, memory, what breaks off, what goes on beside; and files that somebody removed.

That it keeps the clauses is shown by a run of the contract tests over it, which `.ci/run` makes on every change.
"""

import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from contracts.sandbox.app import create_app
from contracts.sandbox.habits import Settings
from tests.meta.program import eventually
from tests.meta.samples import DOCUMENTS
from tests.meta.sandbox_client import TIME_LIMIT, SandboxClient


def path(uid: str, *parts: Any) -> str:
    return f"{DOCUMENTS}/{uid}/attachments" + "".join("/" + quote(str(part), safe="") for part in parts)


def upload(client: SandboxClient, uid: str, name: str, content: bytes = b"content") -> dict[str, Any]:
    answer = client.post(path(uid, name), data=content)
    assert answer.status_code == 201, answer.text
    record: dict[str, Any] = answer.json()
    return record


MEGABYTE = 1024**2
LIST = path("sandbox-existing-abs-dev")
PATH = path("sandbox-existing-abs-dev", "big.bin")


def pieces(size: int) -> Iterator[bytes]:
    piece = b"x" * 65536
    for _ in range(size // len(piece)):
        yield piece


def stored(data: Path) -> list[Path]:
    return sorted(path for path in (data / "files").rglob("*") if path.is_file())


def test_a_large_upload_and_download_leave_memory_flat(
    start_sandbox: Callable[..., Any], caller: Any
) -> None:
    sandbox = start_sandbox()
    author = caller(url=sandbox.url)
    small = author.post(PATH, data=pieces(MEGABYTE)).json()
    before = sandbox.kilobytes("VmHWM")
    large = author.post(PATH, data=pieces(200 * MEGABYTE)).json()
    assert large["size"] == 200 * MEGABYTE
    assert sandbox.kilobytes("VmHWM") - before < 16 * 1024
    received = 0
    with author.get(f"{LIST}/{large['id']}/big.bin", stream=True) as answer:
        for piece in answer.iter_content(MEGABYTE):
            received += len(piece)
    assert received == large["size"]
    assert sandbox.kilobytes("VmHWM") - before < 32 * 1024
    assert small["id"] != large["id"]


@pytest.mark.parametrize("announced", [True, False])
def test_what_is_over_the_limit_is_refused_and_not_kept(
    start_sandbox: Callable[..., Any], caller: Any, tmp_path: Path, announced: bool
) -> None:
    url = start_sandbox("--size-limit", str(MEGABYTE), "--data", str(tmp_path)).url
    author = caller(url=url)
    before = stored(tmp_path)
    body = b"x" * (MEGABYTE + 1) if announced else (piece for piece in [b"x" * MEGABYTE, b"x"])
    answer = author.post(PATH, data=body)
    assert (answer.status_code, answer.headers["Content-Type"]) == (413, "application/json")
    assert stored(tmp_path) == before
    assert author.get(LIST).json() == []
    assert author.post(PATH, data=b"x" * MEGABYTE).status_code == 201
    assert len(stored(tmp_path)) == len(before) + 1


def test_an_upload_that_breaks_off_leaves_nothing(
    start_sandbox: Callable[..., Any], caller: Any, tmp_path: Path
) -> None:
    sandbox = start_sandbox("--data", str(tmp_path))
    client = caller(url=sandbox.url)
    before = stored(tmp_path)
    address = urlsplit(client.base)
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {client.token}\r\nContent-Length: 999999\r\n\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=TIME_LIMIT) as connection:
        connection.sendall(head.encode() + b"x" * 100_000)
    # The server notices the end of the connection before it takes a later one's request to its end.
    assert eventually(lambda: client.get(LIST).json() == [] and stored(tmp_path) == before)


def test_other_requests_go_on_during_an_upload(caller: Any) -> None:
    halfway, go_on = threading.Event(), threading.Event()

    def slowly() -> Iterator[bytes]:
        yield b"first half"
        halfway.set()
        assert go_on.wait(TIME_LIMIT)
        yield b"second half"

    answers = []
    uploader = caller()
    thread = threading.Thread(target=lambda: answers.append(uploader.post(PATH, data=slowly())))
    thread.start()
    assert halfway.wait(TIME_LIMIT)
    try:
        assert caller().get("/api/v2013/document-drafts").status_code == 200
    finally:
        go_on.set()
        thread.join(TIME_LIMIT)
    assert answers[0].json()["size"] == len(b"first halfsecond half")


def test_files_that_somebody_removed_are_the_environment(
    serve_app: Callable[[Any], str], caller: Callable[..., SandboxClient], tmp_path: Path
) -> None:
    client = caller(url=serve_app(create_app(Settings(data=tmp_path / "data"))))
    uid = client.saved()
    record = upload(client, uid, "a.txt")
    shutil.rmtree(tmp_path / "data" / "files")
    for method, *parts in (
        ("POST", "b.txt"),
        ("GET", record["id"], "a.txt"),
        ("HEAD", record["id"], "a.txt"),
    ):
        assert client.request(method, path(uid, *parts), data=b"x").status_code == 503
