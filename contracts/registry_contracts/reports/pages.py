"""What reports made from templates share: all text is escaped.

An HTML page is one file without network requests, of limited size.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final
from urllib.parse import urlsplit

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

from registry_contracts.safe_text import cut, fenced, inline, many, printable

#: Bytes that a page may have.
_LARGEST: Final = 3_000_000
#: No text is cut below this, so that it can still be told from others.
_SHORTEST: Final = 24


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one try.

    Attributes:
        lines: rows of one table.
        cards: findings.
        budget: characters of all exchanges together; escaping can make up to five bytes of one.
        line: characters of a line to copy.
        share: of the length that a text is cut at elsewhere, 0 to 1.
    """

    lines: int
    cards: int
    budget: int
    line: int
    share: float

    def cut(self, text: str, length: int) -> str:
        """Return a text, cut at its share of `length` characters."""
        return cut(text, max(_SHORTEST, round(length * self.share)))


#: What is tried in turn; the last fits any number of findings.
TRIES: Final = (
    Limits(lines=400, cards=200, budget=350_000, line=6_000, share=1.0),
    Limits(lines=120, cards=60, budget=80_000, line=1_500, share=0.4),
    Limits(lines=30, cards=20, budget=20_000, line=300, share=0.1),
)


def within_limits(render: Callable[[Limits], str]) -> str:
    """Return a page by the first limits that keep it small enough to be opened from a mail."""
    page = ""
    for limits in TRIES:
        page = render(limits)
        if len(page.encode()) < _LARGEST:
            break
    return page


def template_environment(limits: Limits) -> Environment:
    """Make an environment for the templates of this package; texts are escaped, and made printable."""
    environment = _environment(autoescape=True, finalize=_finalize)
    environment.filters["cut"] = limits.cut
    environment.filters["clock"] = lambda moment: moment.replace("T", " ").partition(".")[0].partition("+")[0]
    environment.tests["web"] = is_web
    return environment


@cache
def markdown_template(name: str) -> Template:
    """Return a template of Markdown, in which every text stands on one line, escaped, unless it is marked as safe."""
    environment = _environment(
        # What is made is no HTML; each text is escaped for Markdown.
        autoescape=False,
        keep_trailing_newline=True,
        finalize=lambda value: _in_line(value) if isinstance(value, str) else value,
    )
    environment.filters["inline"] = _in_line
    environment.filters["fenced"] = lambda text, language: Markup(fenced(text, language))  # noqa: S704 - not HTML
    return environment.get_template(name)


def _environment(**given: Any) -> Environment:
    environment = Environment(  # noqa: S701 - given by each
        loader=FunctionLoader(template_text),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **given,
    )
    environment.filters["many"] = many
    return environment


def _in_line(text: str, limit: int = 300) -> Markup:
    return text if isinstance(text, Markup) else Markup(inline(text, limit))  # noqa: S704 - not HTML


def template_text(name: str) -> str:
    """Read a file beside the templates of this package."""
    return files("registry_contracts.reports").joinpath(f"templates/{name}").read_text("utf-8")


def inlined(style: str = "") -> dict[str, str]:
    """Return what a page needs to hold the one style and script, and to allow no others.

    Args:
        style: What stands before the style that all pages have.

    Returns:
        `style` and `script` as they stand in the page, `style_hash` and `script_hash` for its policy.
    """
    texts = {"style": style + template_text("report.css"), "script": template_text("report.js")}
    hashes = {f"{name}_hash": _hash(text) for name, text in texts.items()}
    return {name: Markup(text) for name, text in texts.items()} | hashes  # noqa: S704 - the page's own


def is_web(address: str) -> bool:
    """Tell whether an address may be made a link: nothing that could run, or that is not shown as it is."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc) and printable(address) == address


def _finalize(value: Any) -> Any:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
