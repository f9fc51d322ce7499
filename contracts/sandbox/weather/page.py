"""The table of weathers in `docs/weather.md`, written from what the units declare.

`python -m contracts.sandbox.weather.page docs/weather.md` refreshes it; a test tells when that is due.
"""

import sys
from pathlib import Path

from contracts.sandbox.weather.book import table

START, END = "<!-- weathers: start -->", "<!-- weathers: end -->"


def with_current_table(page: str) -> str:
    """Return a page with everything between its two markers replaced by the current table.

    Raises:
        ValueError: the page lacks a marker.

    """
    before, after = page.index(START) + len(START), page.index(END)
    return f"{page[:before]}\n\n{table()}\n{page[after:]}"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(with_current_table(path.read_text(encoding="utf-8")), encoding="utf-8")
