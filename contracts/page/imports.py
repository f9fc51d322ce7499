"""Import lines put together and in order, as the cases write them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator


def merged(lines: Iterable[str]) -> list[str]:
    """Merge import lines: one for each module, the standard library's first.

    Args:
        lines: `import x` and `from x import a, b`, in any order, some of them overlapping.
    """
    plain: set[str] = set()
    names: defaultdict[str, set[str]] = defaultdict(set)
    for line in lines:
        words = line.split(maxsplit=3)
        if words[0] == "import":
            plain.add(line)
        else:
            names[words[1]] |= {name.strip() for name in words[3].split(",")}
    ours = [module for module in names if module.startswith("contracts")]
    theirs = sorted({*plain, *_worded(names, (each for each in names if each not in ours))}, key=_by_module)
    return [*theirs, *([""] if theirs and ours else []), *_worded(names, sorted(ours))]


def _worded(names: dict[str, set[str]], modules: Iterable[str]) -> Iterator[str]:
    for module in modules:
        # Constants first, then classes, then functions, as the sorter of the checkout wants it.
        yield f"from {module} import {', '.join(sorted(names[module], key=_rank))}"


def _rank(name: str) -> tuple[int, str]:
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def _by_module(line: str) -> tuple[bool, str]:
    return line.startswith("from"), line
