"""The page in a real browser: a request by hand from choosing to the scenario test, live traffic, the keyboard."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from contracts.exchanges.exchange import Exchange
from contracts.exchanges.redaction import TrafficRedactor
from contracts.manual.traffic_findings import Seen, Side, Standing, TrafficFinding
from contracts.manual.traffic_watch import Watch
from contracts.settings.embedded_sandbox import DEFAULT_SIZE_LIMIT, sandbox_target
from tests.meta import browser as chromium
from tests.meta.page.conftest import Listening, Page, page_of
from tests.meta.reports.sample_runs import build_run, first_worker, second_worker
from tests.meta.reports.test_html_in_browser import CONTRASTS, STICKING_OUT

Passes = Callable[..., Seen]
Open = Callable[..., "Shown"]
_CODES = {"Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "Enter": 13, "Tab": 9}


class Shown:
    """A page in a tab."""

    def __init__(self, tab: chromium.Tab) -> None:
        self.tab = tab
        self.until("document.body.dataset.ready === 'yes' && document.querySelector('#f-headers') !== null")

    def run(self, script: str) -> object:
        """Return what a script evaluates to."""
        return self.tab.run(script)

    def text(self, query: str) -> str:
        """The text of an element; empty where there is none."""
        return str(self.tab.run(f"document.querySelector({json.dumps(query)})?.innerText ?? ''"))

    def until(self, condition: str) -> None:
        """Look again until a condition holds."""
        limit = time.monotonic() + chromium.PATIENCE
        while not self.tab.run(f"Boolean({condition})"):
            assert time.monotonic() < limit, (condition, self.text("#message"), self.tab.complaints())
            self.tab.run("new Promise((done) => setTimeout(done, 30))")

    def calm(self) -> None:
        """Wait until nothing is under way."""
        self.until("!document.body.hasAttribute('aria-busy')")

    def press(self, *keys: str) -> None:
        """Press keys, one after another."""
        for key in keys:
            self.tab.press(key) if key not in ("Escape",) else self._special(key)

    def _special(self, key: str) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            self.tab.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=_CODES[key])

    def type(self, text: str) -> None:
        """Type a text into what has the focus."""
        self.tab.call("Input.insertText", text=text)

    def choose(self, key: str, words: str) -> None:
        """Choose an operation (`o`) or a fault (`f`) by typing."""
        self.pick(key, words)
        self.until("!document.getElementById('chooser').open")
        self.calm()

    def pick(self, key: str, words: str) -> None:
        """Choose by typing what opens the next choice; how long none is open is not to be seen."""
        self.press(key)
        self.until("document.getElementById('chooser').open")
        self.type(words)
        self.press("Enter")

    def fill(self, selector: str, value: str) -> None:
        """Put a value into a field, as typing does."""
        self.run(
            f"(() => {{ const field = document.querySelector({json.dumps(selector)}); field.focus();"
            f"field.value = {json.dumps(value)}; field.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
        )

    def send(self) -> None:
        """Send, and wait for the result."""
        self.run("document.getElementById('result').replaceChildren(); document.activeElement.blur()")
        self.press("s")
        self.until("document.getElementById('verdict') !== null")
        self.calm()

    def show_a_fault(self) -> None:
        """Save a draft under a uid that is too short, and unfold all there is to see of it."""
        self.choose("o", "saveDraft")
        self.choose("f", "path.uid:too-short")
        self.send()
        self.run("for (const each of document.querySelectorAll('details')) each.open = true")


@pytest.fixture
def opened(running_browser: chromium.Browser) -> Iterator[Open]:
    tabs = []

    def open_page(page: Page, *, width: int = 1280, dark: bool = False) -> Shown:
        tabs.append(running_browser.open(f"{page.url}/", width, 900, dark=dark))
        return Shown(tabs[-1])

    yield open_page
    for tab in tabs:
        tab.close()


def test_a_valid_request_is_taken_and_nothing_found(opened: Open, faithful_page: Page) -> None:
    shown = opened(faithful_page)
    shown.choose("o", "createContact")
    shown.press("v")
    shown.calm()
    shown.send()
    assert shown.text("#result-title").split() == ["201", "createContact"]
    assert shown.text("#verdict").startswith("No finding · ")
    assert "POST http://127.0.0.1" in shown.text("pre[aria-label=Request]")
    assert shown.run("document.activeElement.id") == "result-title"
    assert shown.tab.complaints() == []


def test_one_fault_is_put_in_and_refused(opened: Open, faithful_page: Page) -> None:
    shown = opened(faithful_page)
    shown.choose("o", "saveDraft")
    shown.choose("f", "path.uid:too-short")
    assert shown.text(".notes .fault") == "One fault: path.uid:too-short"
    assert len(str(shown.run("document.getElementById('f-path-uid').value"))) == 10
    shown.send()
    assert shown.text("#result-title").split() == ["400", "saveDraft"]
    assert "The request breaks the interface: uid is" in shown.text("#verdict")
    assert shown.text("#verdict").startswith("No finding")


def test_a_finding_is_seen_and_becomes_a_test(opened: Open, broken_page: Page) -> None:
    shown = opened(broken_page)
    shown.choose("o", "createContact")
    shown.press("v")
    shown.calm()
    shown.run("document.getElementById('f-body-firstName-out').click()")
    shown.send()
    assert shown.text("#verdict").startswith("1 finding")
    assert shown.run("document.querySelector('.finding').dataset.clause") == "contact-mandatory-first-name"
    assert "the service breaks the interface" in shown.text(".finding")
    shown.press("t")
    shown.until("document.getElementById('scenario').open")
    text = shown.text("#scenario-text")
    assert 'del request.body["firstName"]' in text
    compile(text, "pasted", "exec")
    assert shown.text("#scenario-path").endswith("test_by_hand_contact_mandatory_first_name.py")
    shown.press("Escape")
    shown.until("!document.getElementById('scenario').open")


def test_both_views_of_the_body_are_kept_in_step(opened: Open, faithful_page: Page) -> None:
    shown = opened(faithful_page)
    shown.choose("o", "saveDraft")
    shown.fill("#f-body-firstName", "Ada")
    shown.fill("#f-body-country-identifier", "ke")
    shown.run("document.getElementById('f-body-middleName-out').click()")
    shown.press("Escape", "j")
    body = json.loads(str(shown.run("document.getElementById('f-json').value")))
    assert (body["firstName"], body["country"], "middleName" in body) == ("Ada", {"identifier": "ke"}, False)
    shown.fill("#f-json", json.dumps({**body, "lastName": "Lovelace", "extra": [1]}))
    shown.run("document.activeElement.blur()")
    shown.press("j")
    assert shown.run("document.getElementById('f-body-lastName').value") == "Lovelace"
    assert shown.run("document.getElementById('f-body-extra-0').value") == "1"
    assert (
        shown.run("document.getElementById('f-body-middleName-out').getAttribute('aria-pressed')") == "true"
    )
    shown.run("document.getElementById('f-body-middleName-out').click()")
    assert shown.run("document.getElementById('f-body-middleName').value") == "Muta"


def test_bad_json_is_one_line_and_can_be_sent_on_purpose(opened: Open, faithful_page: Page) -> None:
    shown = opened(faithful_page)
    shown.choose("o", "saveDraft")
    shown.run("document.getElementById('f-body-emails-json').click()")
    shown.fill("#f-body-emails", "[1")
    shown.run("document.activeElement.blur()")
    shown.press("s")
    assert shown.text("#message").startswith("emails is not JSON")
    shown.press("j")
    assert shown.text("#message").endswith("mend it first")
    shown.fill("#f-body-emails", "[1]")
    shown.press("Escape", "j")
    assert shown.text("#message") == ""
    shown.fill("#f-json", '{"a": ')
    assert shown.run("document.getElementById('f-json').getAttribute('aria-invalid')") == "true"
    shown.run("document.activeElement.blur()")
    shown.press("s")
    assert shown.text("#message").startswith("the body is not JSON")
    shown.run("document.getElementById('f-raw').click()")
    shown.send()
    assert (shown.text("#message"), shown.text("#result-title").split()[0]) == ("", "400")
    assert "malformed-json-refused" in str(shown.run("document.querySelector('.clauses').textContent"))


def test_trouble_is_one_line_on_the_page(opened: Open, faithful_page: Page) -> None:
    shown = opened(faithful_page)
    shown.choose("o", "saveDraft")
    shown.fill("#f-path-uid", "somebodys-record")
    shown.run("document.activeElement.blur()")
    shown.press("s")
    shown.until("!document.getElementById('message').hidden")
    assert "which is none of the suite's" in shown.text("#message")
    assert "\n" not in shown.text("#message")


def test_what_passes_appears_and_is_opened(opened: Open, broken_page: Page, passes: Passes) -> None:
    finding = TrafficFinding(
        Side.REQUEST, Standing.FAULT, "uid-too-short", "must", "path.uid:too-short", "saveDraft", "bch-dev",
        "11 to 128 characters", "10", 1,
    )  # fmt: skip
    shown = opened(broken_page)
    path = "/api/v2013/documents/short-one1/versions/draft?schema=contact"
    seen = passes(broken_page, "PUT", path, "saveDraft", {"firstName": "Ada"}, 201, (finding,))
    row = f'#passed [data-number="{seen.number}"]'
    shown.until(f"document.querySelector('{row}') !== null")
    assert "1 client" in shown.text(row)
    shown.press("l")
    assert shown.run("document.activeElement.dataset.number") == str(seen.number)
    shown.press("Enter")
    shown.until("document.querySelector('#reopen') !== null")
    assert "the client breaks the interface" in shown.text(".finding")
    shown.press("e")
    shown.until("document.querySelector('.notes')?.textContent.includes('as they passed')")
    shown.calm()
    assert shown.run("document.getElementById('realm').value") == "bch-dev"
    shown.send()
    assert "uid-too-short" in shown.text(".finding")
    shown.run("document.getElementById('only').click()")
    shown.fill("#search", "no-such-thing")
    shown.until("document.querySelectorAll('#passed button').length === 0")


@pytest.fixture
def judging_page(sandbox_url: str, tmp_path: Path) -> Iterator[Page]:
    """A page as the proxy serves it: what is sent by hand is judged; beside a reports folder with one run."""
    build_run(tmp_path / "reports" / "20261122-101500-made", {"gw0": first_worker, "gw1": second_worker})
    watch, pages = Watch(TrafficRedactor()), list[Page]()

    def hand_over(exchange: Exchange) -> None:
        number = len(pages[0].feed.since(0)) + 1
        pages[0].feed.publish(watch.take(replace(exchange, number=number)))

    target = sandbox_target(sandbox_url, DEFAULT_SIZE_LIMIT)
    with page_of(target, disposable=True, reports=tmp_path / "reports", hand_over=hand_over) as page:
        pages.append(page)
        yield page


def test_requests_by_hand_are_listed_chained_by_clicking_and_saved(opened: Open, judging_page: Page) -> None:
    shown = opened(judging_page)
    by_hand = "[...document.querySelectorAll('#passed button')].filter((e) => e.innerText.includes('by hand')).length"
    shown.choose("o", "saveDraft")
    shown.press("v")
    shown.calm()
    shown.send()
    shown.until(f"{by_hand} === 1")
    shown.run("document.querySelector('[aria-label=\"Use identifier in the next request\"]').click()")
    shown.choose("o", "getDraft")
    shown.run("document.getElementById('f-path-uid').focus()")
    assert str(shown.run("document.getElementById('f-path-uid').value")).endswith(".identifier}")
    shown.send()
    assert shown.text("#result-title").split() == ["200", "getDraft"]
    # A page that is loaded anew still lists them.
    shown = opened(judging_page)
    shown.until(f"{by_hand} === 2")
    shown.calm()
    shown.press("q")
    shown.until("document.getElementById('sequence-dialog').open")
    assert shown.text("#sequence-list").count("answered 20") == 2
    shown.run("document.getElementById('sequence-save').click()")
    shown.until("document.getElementById('scenario').open")
    assert "[Captures]" in shown.text("#scenario-text")
    assert shown.text("#scenario-path") == "sequence.hurl"
    shown.press("Escape", "q")
    shown.until("document.getElementById('sequence-dialog').open")
    shown.run("document.getElementById('sequence-scenario').click()")
    shown.until("document.getElementById('scenario').open")
    assert 'request.path["uid"] = identifier_1' in shown.text("#scenario-text")
    assert shown.text("#scenario-path").startswith("tests/contract/scenario/test_by_hand_")


def test_a_case_of_a_run_is_opened_and_stepped_through(opened: Open, judging_page: Page) -> None:
    shown = opened(judging_page)
    shown.pick("r", "20261122")
    shown.until(
        "document.getElementById('chooser').open && document.querySelectorAll('[role=option]').length > 1"
    )
    shown.type("draft-get-content getDraft")
    shown.press("Enter")
    shown.until("document.querySelectorAll('#passed button').length === 3")
    shown.until("document.querySelector('#result .sub')?.innerText.startsWith('exchange 1 of the recording')")
    assert "service" in shown.text("#passed button .badges")
    shown.press("n")
    shown.until("document.querySelector('#result .sub').innerText.startsWith('exchange 2 of the recording')")
    shown.press("p")
    shown.until("document.querySelector('#result .sub').innerText.startsWith('exchange 1 of the recording')")
    shown.run("document.getElementById('live-again').click()")
    assert shown.text("#traffic-title") == "Passed and sent by hand"


def test_everything_is_done_by_keyboard_alone(opened: Open, faithful_page: Page) -> None:
    shown = opened(faithful_page)
    shown.press("?")
    shown.until("document.getElementById('help').open")
    assert {"o", "v", "f", "s", "t", "l", "/", "?"} <= set(shown.text("#help-list").split())
    shown.press("Escape")
    shown.until("!document.getElementById('help').open")
    reached = []
    for _ in range(60):
        shown.press("Tab")
        reached.append(shown.run("document.activeElement.id || document.activeElement.className"))
        visible = shown.run(
            "(() => { const e = document.activeElement; const r = e.getBoundingClientRect();"
            "return e === document.body || e.matches('.skip') ||"
            "(r.width > 0 && r.height > 0 && getComputedStyle(e).outlineStyle !== 'none'); })()"
        )
        assert visible, reached[-1]
    for name in ("keys", "search", "only", "operation", "role", "realm", "valid", "fault", "send"):
        assert name in reached
    assert "f-body-firstName" in reached
    assert "f-body-firstName-out" in reached


def test_nothing_is_asked_of_anybody_else_and_no_secret_kept(
    opened: Open, broken_page: Page, listening: Listening
) -> None:
    shown = opened(broken_page)
    for operation in ("createToken", "listDrafts"):
        shown.choose("o", operation)
        shown.press("v")
        shown.calm()
        shown.send()
        shown.press("t")
        shown.until("document.getElementById('scenario').open")
        shown.press("Escape")
        shown.until("!document.getElementById('scenario').open")
    asked = {urlsplit(address).netloc for address in shown.tab.requested()}
    assert asked == {urlsplit(broken_page.url).netloc}
    there = str(
        shown.run(
            "document.documentElement.outerHTML + [...document.querySelectorAll('input, textarea')].map((e) => e.value)"
            "+ JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie"
        )
    )
    assert listening.tokens
    assert [token for token in listening.tokens if token and token in there] == []
    assert "sandbox-author" not in there
    assert shown.run("localStorage.length + sessionStorage.length + document.cookie.length") == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_sticks_out_of_the_window(opened: Open, broken_page: Page, width: int) -> None:
    shown = opened(broken_page, width=width)
    shown.show_a_fault()
    assert shown.run("document.documentElement.scrollWidth") == width
    assert shown.run(STICKING_OUT.replace("WIDTH", str(width))) == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_stands_out_from_what_is_behind_it(opened: Open, broken_page: Page, dark: bool) -> None:
    shown = opened(broken_page, dark=dark)
    shown.show_a_fault()
    texts = "p, b, small, h2, h3, label, button, summary, .soft, .chip, .status, .said, pre, code"
    contrasts = shown.run(CONTRASTS.replace('"p, b, .chip', f'"{texts}, .chip'))
    assert isinstance(contrasts, list)
    assert len(contrasts) > 50
    assert [each for each in contrasts if each[0] < 4.5] == []


def test_every_control_has_a_name(opened: Open, faithful_page: Page) -> None:
    shown = opened(faithful_page)
    shown.choose("o", "listDrafts")
    nameless = shown.run(
        "[...document.querySelectorAll('input, select, textarea, button')].filter((e) => e.checkVisibility())"
        ".filter((e) => !(e.ariaLabel || e.labels?.length || e.textContent.trim())).map((e) => e.id || e.outerHTML)"
    )
    assert nameless == []


def test_pictures_can_be_taken(opened: Open, faithful_page: Page, tmp_path: Path) -> None:
    shown = opened(faithful_page, width=390)
    assert shown.tab.picture(tmp_path / "page.png").stat().st_size > 10_000
