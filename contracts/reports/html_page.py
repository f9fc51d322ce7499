"""What all HTML pages share: one file without network requests, with all text escaped, and limits on its size."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from contracts.safe_text import cut, many, printable


def template_environment(package: str) -> Environment:
    """Make an environment for the templates of a package; texts are escaped, and made printable.

    Args:
        package: Its folder `templates` holds them.
    """
    environment = Environment(
        autoescape=True,
        loader=FunctionLoader(lambda name: template_text(package, name)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters["many"] = many
    environment.filters["clock"] = lambda moment: moment.replace("T", " ").partition(".")[0].partition("+")[0]
    return environment


def template_text(package: str, name: str) -> str:
    """Read a file beside a package's templates."""
    return files(package).joinpath(f"templates/{name}").read_text("utf-8")


def inlined(style: str, script: str) -> dict[str, str]:
    """Return what a page needs to hold its own style and script, and to allow no others.

    Returns:
        `style` and `script` as they stand in the page, `style_hash` and `script_hash` for its policy.
    """
    return {
        "style": Markup(style),  # noqa: S704 - the page's own style
        "script": Markup(script),  # noqa: S704 - the page's own script
        "style_hash": _hash(style),
        "script_hash": _hash(script),
    }


def _finalize(value: Any) -> Any:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


#: Bytes that a page may have.
LARGEST: Final = 3_000_000
#: No text is cut below this, so that it can still be told from others.
_SHORTEST: Final = 24


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one try.

    Attributes:
        lines: rows of one table.
        points: facts of one row, and lines of evidence of one question.
        cards: findings.
        budget: characters of all exchanges together; escaping can make up to five bytes of one.
        curl: characters of the curl lines of one finding.
        share: of the length that a text is cut at elsewhere, 0 to 1.
    """

    lines: int
    points: int
    cards: int
    budget: int
    curl: int
    share: float

    def cut(self, text: str, length: int) -> str:
        """Return a text, cut at its share of `length` characters."""
        return cut(text, max(_SHORTEST, round(length * self.share)))


#: What is tried in turn; the last fits whatever was found.
TRIES: Final = (
    Limits(lines=400, points=12, cards=200, budget=350_000, curl=6_000, share=1.0),
    Limits(lines=120, points=4, cards=60, budget=80_000, curl=1_500, share=0.4),
    Limits(lines=30, points=2, cards=20, budget=20_000, curl=300, share=0.1),
)
