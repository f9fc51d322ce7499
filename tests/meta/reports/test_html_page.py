"""The page for people: hostile content is inert, nothing is fetched, links lead somewhere; keyboard and phone do."""

from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from registry_contracts.evidence.terms import Terms
from registry_contracts.evidence.verdicts import judge
from registry_contracts.history.runs import Past
from registry_contracts.reports import html
from tests.meta.evidence import sample_records
from tests.meta.evidence.sample_records import Story, deviation
from tests.meta.watched_page import watched


class Page(HTMLParser):
    """Collects what a browser would run or fetch, and the text it would show."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.shown = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.shown += data


@pytest.fixture(scope="module")
def page(rendered: Path) -> Page:
    return Page((rendered / "index.html").read_text("utf-8"))


def test_a_hostile_body_is_shown_and_does_nothing(page: Page) -> None:
    assert "<script>alert(1)</script>" in page.shown
    assert "\\x1b[31m\\u202egnp.exe\\ud800" in page.shown
    assert page.tags.count("script") == 1
    assert "img" not in page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "style"]


def test_the_page_asks_nothing_of_the_network_and_every_link_within_leads_somewhere(page: Page) -> None:
    fetched = {value for name, value in page.attributes if name in {"src", "href", "action", "data"}}
    assert all(value.startswith(("#", "data:,")) for value in fetched)
    policy = next(value for _, value in page.attributes if value.startswith("default-src"))
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    style = (Path(html.__file__).parent / "templates" / "report.css").read_text()
    assert "url(" not in style
    assert "@import" not in style
    links = {value[1:] for name, value in page.attributes if name == "href" and value.startswith("#")}
    assert links <= {value for name, value in page.attributes if name == "id"}
    assert any(link.startswith("finding-") for link in links)


def test_an_issue_is_a_link_only_where_it_is_an_address_of_the_web(story: Story) -> None:
    story.contradicts("draft-get-content")
    terms = Terms(deviations=(deviation(issue="javascript:alert(3)"),))
    page = html.render(record := story.record(terms), judge(record, sample_records.CATALOGUE), Past())
    assert "<code>javascript:alert(3)</code>" in page
    assert 'href="javascript' not in page


# What sticks out of the window, but for what scrolls within a box of its own or is hidden on purpose.
STICKING_OUT = """
[...document.querySelectorAll("body *")]
  .filter((e) => e.checkVisibility() && !e.closest(".hidden-text, .skip, svg, thead, pre, nav"))
  .filter((e) => e.getBoundingClientRect().right > WIDTH + 1 || e.getBoundingClientRect().left < -1)
  .map((e) => e.tagName + "." + e.className)
"""


@pytest.fixture
def address(rendered: Path) -> str:
    return (rendered / "index.html").resolve().as_uri()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_quiet_and_fits_its_window(browser: Browser, address: str, width: int) -> None:
    with watched(browser, address, width) as tab:
        assert (tab.requested, tab.complaints) == ([], [])
        tab.page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        assert tab.page.evaluate("document.documentElement.scrollWidth") == width
        assert tab.page.evaluate(STICKING_OUT.replace("WIDTH", str(width))) == []


def test_the_filters_of_the_grid_work_by_keyboard_alone(browser: Browser, address: str) -> None:
    with watched(browser, address) as tab:
        page, rows = tab.page, tab.page.locator(".row:not([hidden])")
        every = rows.count()
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "words"
        page.keyboard.type("locked")
        assert (rows.count(), page.locator("#shown").inner_text()) == (1, f"1 of {every} clauses")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert rows.count() == every
        page.locator("button[data-verdict=inconclusive]").focus()
        page.keyboard.press("Space")
        assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
        assert rows.get_attribute("id") == "clause-draft-delete-removes"
