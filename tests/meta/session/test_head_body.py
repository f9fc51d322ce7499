"""A service that sends content with the answer to HEAD is seen to do so."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import requests

from contracts.session.transport import Transport

HEADERS = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n"


@contextmanager
def answering(answer: bytes, times: int = 1) -> Iterator[str]:
    """Serve fixed bytes on 127.0.0.1, on one connection, `times` times."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                for _ in range(times):
                    connection.recv(65536)
                    connection.sendall(answer)
                connection.recv(65536)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join(5)


def ask(url: str, times: int = 1) -> list[bytes]:
    transport = Transport(url, timeout=5)
    prepared = requests.Request("HEAD", url + "/a").prepare()
    found = [transport.send(prepared).content for _ in range(times)]
    transport.http.close()
    return found


def test_content_behind_the_headers_is_seen() -> None:
    with answering(HEADERS + b'{"a": 12}') as url:
        assert ask(url) == [b'{"a": 12}']


@pytest.mark.parametrize("times", [1, 3])
def test_an_answer_of_headers_alone_has_no_content_and_keeps_its_connection(times: int) -> None:
    with answering(HEADERS, times) as url:
        assert ask(url, times) == [b""] * times
