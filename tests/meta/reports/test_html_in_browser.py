"""The page in a real browser: quiet, readable on a phone, usable by keyboard alone."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.meta.watched_page import watched

# What sticks out of the window, but for what scrolls within a box of its own or is hidden on purpose.
STICKING_OUT = """
[...document.querySelectorAll("body *")]
  .filter((e) => e.checkVisibility() && !e.closest(".hidden-text, .skip, svg, thead, pre, nav"))
  .filter((e) => e.getBoundingClientRect().right > WIDTH + 1 || e.getBoundingClientRect().left < -1)
  .map((e) => e.tagName + "." + e.className)
"""


def address_of(rendered: Path) -> str:
    return (rendered / "index.html").resolve().as_uri()


def shown(page: Page) -> int:
    return page.locator(".row:not([hidden])").count()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_asks_for_nothing_breaks_nothing_and_fits_its_window(
    browser: Browser, rendered: Path, width: int
) -> None:
    with watched(browser, address_of(rendered), width) as tab:
        assert (tab.requested, tab.complaints) == ([], [])
        tab.page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        assert tab.page.evaluate("document.documentElement.scrollWidth") == width
        assert tab.page.evaluate(STICKING_OUT.replace("WIDTH", str(width))) == []


def test_the_filters_of_the_grid_work_by_keyboard_alone(browser: Browser, rendered: Path) -> None:
    with watched(browser, address_of(rendered)) as tab:
        page = tab.page
        every = shown(page)
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "words"
        page.keyboard.type("locked")
        assert (shown(page), page.locator("#shown").inner_text()) == (1, f"1 of {every} clauses")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert shown(page) == every
        page.locator("button[data-verdict=inconclusive]").focus()
        page.keyboard.press("Space")
        assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
        assert page.locator(".row:not([hidden])").get_attribute("id") == "clause-draft-delete-removes"
