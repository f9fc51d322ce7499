"""Shared parts of reports that are made from templates: escaping, size limits, and the page's style and script.

An HTML page is one file of limited size, and sends no network requests.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any, Final
from urllib.parse import urlsplit

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from registry_contracts.safe_text import cut, fenced, inline, many, printable

#: Largest size of a page, in bytes.
_LARGEST: Final = 3_000_000
#: Texts are never cut to fewer characters.
_SHORTEST: Final = 24
#: Most places in one text that are highlighted.
_MARKED_AT_MOST: Final = 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a page.

    Attributes:
        lines: rows of one table.
        cards: findings.
        budget: characters of all exchanges together; escaping can make up to five bytes of one.
        line: characters of a line to copy.
        share: factor for the lengths at which other texts are cut, 0 to 1.
    """

    lines: int
    cards: int
    budget: int
    line: int
    share: float

    def cut(self, text: str, length: int) -> str:
        """Return a text, cut at `share` times `length` characters."""
        return cut(text, max(_SHORTEST, round(length * self.share)))


#: Limits that are tried one after the other; the last fits any number of findings.
TRIES: Final = (
    Limits(lines=400, cards=200, budget=350_000, line=6_000, share=1.0),
    Limits(lines=120, cards=60, budget=80_000, line=1_500, share=0.4),
    Limits(lines=30, cards=20, budget=20_000, line=300, share=0.1),
)


def within_limits(render: Callable[[Limits], str]) -> str:
    """Return the page with the first limits that make it small enough."""
    page = ""
    for limits in TRIES:
        page = render(limits)
        if len(page.encode()) < _LARGEST:
            break
    return page


@cache
def html_template(name: str, limits: Limits) -> Template:
    """Return an HTML template, which escapes texts and makes them printable."""
    environment = _environment(autoescape=True, finalize=_finalize)
    environment.filters["cut"] = limits.cut
    environment.filters["clock"] = lambda moment: moment.replace("T", " ").partition(".")[0].partition("+")[0]
    environment.filters["marking"] = _marking
    environment.tests["web"] = is_web
    return environment.get_template(name)


@cache
def markdown_template(name: str) -> Template:
    """Return a Markdown template, which escapes texts and puts each on one line, unless it is marked as safe."""
    environment = _environment(
        # Texts are escaped for Markdown instead of HTML.
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
    """Return the style and script of a page, with hashes for a policy that allows no others.

    Args:
        style: Additional style, put before the common one.

    Returns:
        `style`, `script`, `style_hash` and `script_hash`.
    """
    texts = {"style": style + template_text("report.css"), "script": template_text("report.js")}
    hashes = {f"{name}_hash": _hash(text) for name, text in texts.items()}
    return {name: Markup(text) for name, text in texts.items()} | hashes  # noqa: S704 - the page's own


def _marking(text: str, marks: Sequence[str]) -> Markup:
    """Return an escaped text with the texts `marks` highlighted."""
    text, wanted = printable(text), [printable(mark) for mark in marks if mark.strip()]
    if not wanted:
        return escape(text)
    pattern = re.compile("|".join(map(re.escape, sorted(wanted, key=len, reverse=True))))
    pieces, end = Markup(), 0
    for match in islice(pattern.finditer(text), _MARKED_AT_MOST):
        pieces += escape(text[end : match.start()]) + Markup("<mark>{}</mark>").format(match[0])
        end = match.end()
    return pieces + escape(text[end:])


def is_web(address: str) -> bool:
    """Tell whether an address may become a link: http or https, and printable."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc) and printable(address) == address


def _finalize(value: Any) -> Any:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
