"""The transport: redirects without credentials, and no settings of the process."""

from pathlib import Path
from typing import Any
from unittest.mock import Mock, call

import pytest

from tests.meta.wire import JSON, OK, answer

SECRETS = {"Authorization": b"Bearer a-secret", "Realm": b"abs-dev", "Cookie": b"a=b"}


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("status", ["301 M", "302 F", "303 S", "307 T", "308 P"])
def test_another_host_gets_no_credentials(open_session: Any, serve: Any, method: str, status: str) -> None:
    elsewhere = serve(lambda *_: OK if method == "GET" else OK[:-2])
    signed = elsewhere.url.replace("http://", "http://user:password@")
    server = serve(lambda *_: answer(status, f"Location: {signed}/file?signed=1", body=b""))
    exchange = open_session().send(method, server.url, headers=SECRETS)
    assert (exchange.answer.status, exchange.answer.hops) == (200, 1)
    assert set(server.received[0].headers) >= {"authorization", "realm", "cookie"}
    assert not set(elsewhere.received[0].headers) & {"authorization", "realm", "cookie"}
    assert elsewhere.received[0].target == "/file?signed=1"
    assert elsewhere.received[0].headers["host"] in elsewhere.url


@pytest.mark.parametrize(
    ("method", "status"), [("POST", 301), ("POST", 307), ("PUT", 302), ("DELETE", 308), ("GET", 302)]
)
def test_a_write_is_never_redirected(open_session: Any, serve: Any, method: str, status: int) -> None:
    server = serve(lambda *_: answer(f"{status} Go", "Location: /x?realm=abs", body=b""))
    asked = Mock(return_value=False)
    assert open_session(may_follow=asked).send(method, server.url).answer.status == status
    assert asked.call_args_list == ([call("GET", f"{server.url}/x?realm=abs")] if method == "GET" else [])
    assert len(server.received) == 1


def test_cookies_are_not_kept_and_two_of_them_do_no_harm(open_session: Any, serve: Any) -> None:
    cookies = answer("200 OK", JSON, "Set-Cookie: a=b; Path=/", "Set-Cookie: c=d")
    server, made = serve(lambda *_: cookies), open_session()
    first = made.send("GET", server.url)
    made.send("GET", server.url)
    assert first.answer.headers["set-cookie"].count("=") >= 2
    assert "cookie" not in server.received[1].headers


def test_netrc_and_proxies_for_other_hosts_are_ignored(
    open_session: Any, serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    server = serve(lambda *_: OK)
    open_session().send("GET", server.url)
    assert "authorization" not in server.received[0].headers


@pytest.mark.parametrize("content", [b"", b'{"a": 12}'], ids=["headers alone", "content"])
def test_content_behind_the_headers_of_head_is_seen(open_session: Any, serve: Any, content: bytes) -> None:
    server, made = serve(lambda *_: answer("200 OK", JSON, body=content, length=9)), open_session()
    assert [made.send("HEAD", server.url).answer.content for _ in range(3)] == [content] * 3
    assert content or server.connections == 1
