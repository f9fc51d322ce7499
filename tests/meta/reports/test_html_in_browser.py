"""The page in a real browser: quiet, readable on a phone, usable by keyboard alone."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.meta import browser as chromium

Open = Callable[..., chromium.Tab]

# What sticks out of the window, but for what scrolls within a box of its own or is hidden on purpose.
STICKING_OUT = """
[...document.querySelectorAll("body *")]
  .filter((e) => e.checkVisibility() && !e.closest(".hidden-text, .skip, svg, thead, pre, nav"))
  .filter((e) => e.getBoundingClientRect().right > WIDTH + 1 || e.getBoundingClientRect().left < -1)
  .map((e) => e.tagName + "." + e.className)
"""


@pytest.fixture
def opened(running_browser: chromium.Browser, rendered: Path) -> Iterator[Open]:
    tabs = []

    def open_page(page: Path | None = None, *, width: int = 1280) -> chromium.Tab:
        tabs.append(running_browser.open(page or rendered / "index.html", width, 900))
        return tabs[-1]

    yield open_page
    for tab in tabs:
        tab.close()


def shown(tab: chromium.Tab) -> int:
    return int(tab.run("document.querySelectorAll('.row:not([hidden])').length"))


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_asks_for_nothing_breaks_nothing_and_fits_its_window(opened: Open, width: int) -> None:
    tab = opened(width=width)
    assert (tab.requested(), tab.complaints()) == ([], [])
    tab.run("for (const each of document.querySelectorAll('details')) each.open = true")
    assert tab.run("document.documentElement.scrollWidth") == width
    assert tab.run(STICKING_OUT.replace("WIDTH", str(width))) == []


def test_the_filters_of_the_grid_work_by_keyboard_alone(opened: Open) -> None:
    tab = opened()
    every = shown(tab)
    tab.press("/")
    assert tab.run("document.activeElement.id") == "words"
    for letter in "locked":
        tab.press(letter)
    assert (shown(tab), tab.run("document.getElementById('shown').textContent")) == (
        1,
        f"1 of {every} clauses",
    )
    tab.press("Tab")
    tab.press("Enter")
    assert shown(tab) == every
    tab.run("document.querySelector('[data-verdict=inconclusive]').focus()")
    tab.press("Space")
    assert tab.run("document.activeElement.getAttribute('aria-pressed')") == "true"
    assert tab.run("document.querySelector('.row:not([hidden])').id") == "clause-draft-delete-removes"


@pytest.mark.parametrize("share", [0.97, 1.0])
def test_a_page_that_was_cut_off_says_so(opened: Open, rendered: Path, tmp_path: Path, share: float) -> None:
    page = (rendered / "index.html").read_bytes()
    part = tmp_path / "part.html"
    part.write_bytes(page[: int(len(page) * share)])
    visible: Any = opened(part).run("document.querySelector('.cut').checkVisibility()")
    assert visible is (share < 1)
