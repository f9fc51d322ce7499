"""Pages of another origin use the sandbox and the proxy; the sandbox's own page shows the description, signed in."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.errors import UsageError
from contracts.interface.cross_origin import AllowedOrigins
from tests.meta import browser as chromium
from tests.meta.http_answers import HTML, answer
from tests.meta.program import Launcher, eventually, running_proxy
from tests.meta.sandbox_client import RunningSandbox, SandboxClient
from tests.meta.wire import Serve

#: Signs in, saves a draft, reads it back, and is refused; what a page sees of it.
APPLICATION = """(async () => {
  const base = "BASE", json = {"Accept": "application/json", "Content-Type": "application/json"};
  const signedIn = await fetch(base + "/api/v2013/authentication/token", {method: "POST", headers: json,
    body: JSON.stringify({email: "author@sandbox.test", password: "sandbox-author"})});
  const token = (await signedIn.json()).authenticationToken;
  const headers = {...json, "Authorization": "Bearer " + token, "Realm": "abs-dev"};
  const draft = base + "/api/v2013/documents/draft-of-another-origin/versions/draft";
  const document = {header: {identifier: "draft-of-another-origin", schema: "contact", languages: ["en"]}};
  const saved = await fetch(draft + "?schema=contact", {method: "PUT", headers, body: JSON.stringify(document)});
  const read = await (await fetch(draft, {headers})).json();
  const refused = await fetch(draft, {headers: {...headers, "Authorization": "Bearer none"}});
  return [saved.ok, read.header.identifier, refused.status, refused.headers.get("WWW-Authenticate")];
})()"""
EMPTY = b"<!DOCTYPE html><title>An application</title><link rel=icon href=data:,>"
SEEN = [True, "draft-of-another-origin", 401, "Bearer"]


@pytest.mark.parametrize(
    ("value", "origin"),
    [
        ("http://localhost:5173", "http://localhost:5173"),
        ("HTTPS://App.Test:443", "https://app.test"),
        ("http://[::1]:3000", "http://[::1]:3000"),
        ("null", "null"),
        ("app.test", None),
        ("http://app.test/", None),
        ("http://app.test:port", None),
        ("http://*.test\r\nX: y", None),
    ],
)
def test_an_origin_is_read_as_browsers_send_it_or_refused(value: str, origin: str | None) -> None:
    if origin is None:
        with pytest.raises(UsageError, match=r"^.* is no origin; write it as http://localhost:5173"):
            AllowedOrigins.of([value])
    else:
        assert AllowedOrigins.of([value]).names == {origin}


def test_a_sandbox_allows_the_named_origin_only(
    start_sandbox: Callable[..., RunningSandbox], caller: Callable[..., SandboxClient]
) -> None:
    client = caller(None, None, start_sandbox("--cors=http://app.test").url)
    for origin, told in (("http://app.test", "http://app.test"), ("http://other.test", None)):
        answer = client.options(
            "/api/v2013/document-drafts", headers={"Origin": origin, "Access-Control-Request-Method": "PUT"}
        )
        assert answer.headers.get("Access-Control-Allow-Origin") == told


@pytest.fixture(scope="module")
def opened(running_browser: chromium.Browser) -> Callable[[str], chromium.Tab]:
    return lambda address: running_browser.open(address, 1280, 900)


def test_an_application_of_another_origin_works_through_the_proxy(
    serve: Serve,
    opened: Callable[[str], chromium.Tab],
    sandbox_url: str,
    library_launcher: Launcher,
    tmp_path: Path,
) -> None:
    """The target hears of no preflight and of no origin; neither is judged."""
    page = serve(lambda *_: answer("200 OK", HTML, body=EMPTY)).url
    words = (f"--base-url={sandbox_url}", f"--cors={page}")
    with running_proxy(library_launcher, tmp_path, *words) as through:
        assert opened(page).run(APPLICATION.replace("BASE", through.url)) == SEEN
    (archive,) = tmp_path.rglob("traffic.har")
    requests = [entry["request"] for entry in json.loads(archive.read_text("utf-8"))["log"]["entries"]]
    assert [request["method"] for request in requests] == ["POST", "PUT", "GET", "GET"]
    named = {header["name"].lower() for request in requests for header in request["headers"]}
    assert not any(name == "origin" or name.startswith("access-control") for name in named)
    assert "authorization" in named


def test_the_page_of_the_sandbox_shows_each_operation_and_is_signed_in(
    opened: Callable[[str], chromium.Tab], sandbox_url: str
) -> None:
    tab = opened(f"{sandbox_url}/docs")
    signed_in = "document.querySelectorAll('.auth-wrapper .authorize.locked').length"
    assert eventually(lambda: tab.run(signed_in) == 1), tab.complaints()
    assert tab.run("document.querySelectorAll('.opblock').length") == 18
    assert tab.run("document.querySelector('.errors-wrapper') === null")
    assert all(address.startswith(sandbox_url) for address in tab.requested())
    assert tab.complaints() == []
