"""The page of the proxy: whom it answers, what it sends as whom, what it never tells, and how it looks in a browser."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from playwright.sync_api import Browser

from registry_contracts.sandbox.app import create_app
from registry_contracts.sandbox.habits import Settings
from tests.meta.program import PATIENCE, RunningProxy, eventually, running_proxy
from tests.meta.samples import LIST, TOKEN
from tests.meta.sandbox_client import Faulty, serving, settings_of
from tests.meta.watched_page import watched

ROLES = ("author", "restricted", "nau", "other")


class Page:
    """The page of a running proxy, as its own script uses it; `heard` is all that it answered."""

    def __init__(self, proxy: RunningProxy, target: Faulty) -> None:
        self.proxy, self.url, self.target = proxy, proxy.page, target
        self.heard = requests.get(self.url, timeout=PATIENCE).text
        self.key = self.heard.partition('name="key" content="')[2].partition('"')[0]

    @property
    def tokens(self) -> set[str]:
        return {given.decode("latin-1").partition(" ")[2] for given in self.target.given} - {""}

    def ask(self, path: str, method: str = "GET", body: Any = None, **headers: str) -> requests.Response:
        """Ask for something; header names are written with `_`."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
        given = {"X-Page-Key": self.key, **given}
        answer = requests.request(method, self.url + path, headers=given, data=data, timeout=PATIENCE)
        self.heard += answer.text + str(answer.headers)
        return answer

    def tried(self, path: str, role: str = "author", **more: Any) -> requests.Response:
        """Try an operation out as Swagger UI does."""
        usual = {"Authorization": f"Bearer ${role.upper()}_TOKEN", "Realm": "bch-dev"}
        return self.ask(path, **usual | more)

    def listed(self, after: int, operation: str = "listDrafts") -> dict[str, Any]:
        """The first exchange of an operation after another exchange, once it is judged."""

        def found() -> dict[str, Any] | None:
            rows = self.ask(f"/page/exchanges/{after}").json()
            return next((row for row in rows if row["operation"] == operation), None)

        return eventually(found) or {}

    def last(self) -> int:
        return max((row["number"] for row in self.ask("/page/exchanges/0").json()), default=0)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder, target = tmp_path_factory.mktemp("page"), Faulty(create_app(Settings()))
    with serving(target) as url:
        settings = settings_of(url, folder)
        with running_proxy(folder, f"--target={settings}", "--alone") as proxy:
            yield Page(proxy, target)


def test_only_names_of_this_machine_are_answered(page: Page) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "", "[::1", "evil.example:80"):
        for path in ("/", "/page/start", "/static/page.js", LIST):
            assert page.ask(path, Host=host).status_code == 403, host
    for host in ("127.0.0.1:1", "localhost", "[::1]:80"):
        assert page.ask("/page/start", Host=host).status_code == 200


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("X_Page_Key", value) for value in ("", "guess", "\xe9")),
        *(("Origin", value) for value in ("http://evil.example", "null", "http://127.0.0.1:1")),
    ],
)
def test_nothing_is_sent_or_told_for_another_site(page: Page, name: str, value: str) -> None:
    """The page adds credentials, so that whoever could use it from elsewhere would act as the account."""
    before, headers = len(page.target.requests), {name: value}
    for path in (f"GET {LIST}", f"DELETE {LIST}", "POST /page/sign-in/author", "GET /page/start"):
        method, _, address = path.partition(" ")
        assert page.tried(address, method=method, **headers).status_code == 403
    preflight = page.ask(LIST, "OPTIONS", Access_Control_Request_Method="GET", **headers)
    assert preflight.status_code == 403
    assert not any(told.lower().startswith("access-control-") for told in preflight.headers)
    assert len(page.target.requests) == before


def test_every_answer_keeps_to_the_policy(page: Page) -> None:
    before = page.last()
    files = ("/", "/static/page.js", "/static/swagger/swagger-ui.css")
    for path in (*files, "/page/start", "/absent", f"{LIST}?Realm=abs"):
        answer = page.ask(path)
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';")
        assert "http" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
    assert page.listed(before), "judged before the next test looks at what passed"


@pytest.mark.parametrize(
    ("path", "more", "status", "line"),
    [
        (LIST, {"Realm": "abs"}, 403, "its Realm header selects a production realm"),
        (f"{LIST}?Realm=abs", {}, 403, "production realm"),
        (LIST, {"role": "nobody"}, 422, "has no account of the role 'nobody'"),
        ("/page/sign-in/nobody", {"method": "POST"}, 422, "has no account of the role 'nobody'"),
        (LIST, {"method": "PUT", "body": b" " * (16 * 1024**2 + 1)}, 413, "larger than the page takes"),
    ],
)
def test_what_is_not_sent_is_one_line(page: Page, path: str, more: Any, status: int, line: str) -> None:
    answer = page.tried(path, **more)
    assert answer.status_code == status
    assert answer.headers["Proxy-Status"] == "registry-contracts-proxy"
    ((name, said),) = answer.json().items()
    assert (name, "\n" in said) == ("error", False)
    assert line in said


def test_no_secret_comes_to_the_page(page: Page) -> None:
    for role in ROLES:
        body = {"email": f"{role}@sandbox.test", "password": f"${role.upper()}_PASSWORD"}
        answer = page.ask(TOKEN, "POST", body)
        assert (answer.status_code, answer.json()["authenticationToken"]) == (200, "[redacted]")
        assert page.ask(f"/page/sign-in/{role}", "POST").json()["until"]
        page.tried(LIST, role)
        page.ask(TOKEN, "POST", {**body, "email": 7})
    token = max(page.tokens)
    page.tried(f"{LIST}?$filter={token}")
    page.listed(0)
    page.ask("/page/start")
    assert len(page.tokens) >= len(ROLES)
    assert [each for each in page.tokens if each in page.heard] == []
    assert [role for role in ROLES if f"sandbox-{role}" in page.heard] == []


def test_it_is_tried_out_in_swagger_ui_as_the_chosen_role_and_realm(browser: Browser, page: Page) -> None:
    with watched(browser, f"{page.url}/") as opened:
        tab, operation = opened.page, opened.page.locator("#operations-Drafts-listDrafts")
        tab.locator("body[data-ready]").wait_for()
        realm, sends = operation.locator("[data-param-name=Realm] select"), operation.locator(".execute")
        tab.locator("#realm").select_option("chm-dev")
        tab.locator("#role").select_option("other")
        tab.locator("#message", has_text=re.compile("^signed in as other until")).wait_for()
        operation.locator(".opblock-summary-control").click()
        realm.wait_for()
        assert realm.input_value() == "chm-dev"
        before = page.last()
        sends.click()
        operation.locator(".live-responses-table").wait_for()
        row = page.listed(before)
        assert (row["role"], row["realm"], row["verdict"]) == ("other", "chm-dev", "pass")
        curl = operation.locator(".curl").inner_text()
        assert page.proxy.url in curl
        assert "Authorization: Bearer $OTHER_TOKEN" in curl
        there = tab.evaluate(
            "document.documentElement.outerHTML + JSON.stringify([localStorage, sessionStorage])"
        )
    # Nobody else was asked for anything, and no secret was kept.
    assert {urlsplit(address).netloc for address in opened.requested} == {urlsplit(page.url).netloc}
    assert [each for each in page.tokens if each in there] == []
    assert "sandbox-other" not in there
    assert [each for each in opened.complaints if "401" not in each] == []
