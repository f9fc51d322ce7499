"""What every page for people has in common: one file that asks nothing of the network and shows no text as markup."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from contracts.evidence.plain import many, printable


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
