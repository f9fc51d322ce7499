"""A page in Chromium: what it asked for, and what went wrong on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import Browser, Page, Request, ViewportSize

from tests.meta.program import PATIENCE


@dataclass
class WatchedPage:
    """A page that is open, the addresses that it asked for besides its own, and errors on it or in its policy."""

    page: Page
    requested: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def ask(self, request: Request) -> None:
        if not request.is_navigation_request() and not request.url.startswith("data:"):
            self.requested.append(request.url)


@contextmanager
def watched(browser: Browser, address: str, width: int = 1280) -> Iterator[WatchedPage]:
    """Open an address in a window so many CSS pixels wide, and close it."""
    size: ViewportSize = {"width": width, "height": 900}
    with browser.new_page(viewport=size, is_mobile=width < 500, reduced_motion="reduce") as page:
        page.set_default_timeout(PATIENCE * 1000)
        tab = WatchedPage(page)
        page.on("request", tab.ask)
        page.on("console", lambda said: tab.complaints.extend([said.text] * (said.type == "error")))
        page.on("pageerror", lambda error: tab.complaints.append(str(error)))
        page.goto(address)
        yield tab
