"""The tables of settings in `docs/live.md`, written from what the dataclasses declare.

`python -m contracts.settings.documentation docs/live.md` refreshes them; a test tells when that is due.
"""

import sys
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

from contracts.settings.settings_reader import AccountVariables
from contracts.settings.target import AttachmentSettings, Pace, RealmSettings, TlsSettings

START, END = "<!-- settings: start -->", "<!-- settings: end -->"

GROUPS: tuple[tuple[str, type], ...] = (
    ("[pace]", Pace),
    ("[accounts.ROLE]", AccountVariables),
    ("[realm.REALM]", RealmSettings),
    ("[attachments]", AttachmentSettings),
    ("[tls]", TlsSettings),
)


def settings_tables() -> str:
    """Return one Markdown table per group of settings: key, kind, default, meaning."""
    return "\n\n".join(_table(title, group) for title, group in GROUPS)


def with_current_tables(page: str) -> str:
    """Return a page with everything between its two markers replaced by the current tables.

    Raises:
        ValueError: the page lacks a marker.

    """
    before, after = page.index(START) + len(START), page.index(END)
    return f"{page[:before]}\n\n{settings_tables()}\n\n{page[after:]}"


def _table(title: str, group: type) -> str:
    rows = [_row(item) for item in fields(group)]
    return "\n".join([f"`{title}`", "", "| key | kind | default | meaning |", "|---|---|---|---|", *rows])


def _row(item: Field[Any]) -> str:
    kind, meaning = item.metadata["kind"].value, item.metadata["meaning"]
    return f"| `{item.name}` | {kind} | {_default(item)} | {meaning} |"


def _default(item: Field[Any]) -> str:
    empty = item.default in (None, (), MISSING)
    return "none" if empty else f"{item.default:g}"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(with_current_tables(path.read_text(encoding="utf-8")), encoding="utf-8")
