"""How a new answer differs from the old one to the same request, names and what changes by itself aside."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from contracts.evidence.plain import json_text
from contracts.evidence.record import RecordedExchange
from contracts.session.exchange import Answer
from contracts.session.redaction import REDACTED
from contracts.shortening import cut
from contracts.workbench.recorded import status_of, text_of

#: What is another one each time: moments, and what a service mints or counts.
_MOMENT: Final = re.compile(r"\d{4}-?\d\d-?\d\dT\d\d:?\d\d.*|\w{3}, \d\d \w{3} \d{4} .*")
_MINTED: Final = re.compile(r"[0-9a-fA-F]{16,}|[0-9a-fA-F-]{32,40}|[A-Za-z0-9_-]{40,}\.?[A-Za-z0-9_.-]*")
_OWN_NUMBERS: Final = re.compile(
    r"_?id|.*(Id|ID|_id)|_?rev|.*[rR]evision|version|etag|total|count|size|created.*|updated.*"
)
_MOST: Final = 6
_SHOWN: Final = 80
_OURS: Final = re.compile(r"rc-[a-z0-9]{4}")


def differences(old: RecordedExchange, new: Answer, translated: Callable[[str], str]) -> list[str]:
    """Say how an answer differs from the recorded one; empty when they are alike.

    Args:
        translated: Puts the new names into a text of the old answer.
    """
    status = status_of(old)
    if status is None:
        return [f"had no answer, is {new.status}"]
    if (status < 400) is not new.success:
        return [f"was {status}, is {new.quote()}"]
    found = [] if status == new.status else [f"status was {status}, is {new.status}"]
    body = (old.response or {}).get("body") or {}
    text = text_of(body)
    if body.get("truncated") or text is None or body.get("text") is None:
        return [*found, *_by_size(int(body.get("size") or 0), len(new.content))]
    before, after = _read(translated(text)), new.json if new.json is not None else new.text
    return [*found, *_all_or_some(before, after)]


def _all_or_some(before: Any, after: Any) -> list[str]:
    found = list(_between(before, after, "body"))
    more = len(found) - _MOST
    return [*found[:_MOST], *([f"and {more} more differences"] if more > 0 else [])]


def _by_size(before: int, after: int) -> list[str]:
    return [] if before == after else [f"body was {before} bytes, is {after}"]


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _between(before: Any, after: Any, place: str) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            at = f"{place}.{name}"
            if name not in after:
                yield f"{at} was there, is gone"
            elif name not in before:
                yield f"{at} was not there, is {_short(after[name])}"
            elif not (_OWN_NUMBERS.fullmatch(name) and _are_numbers(before[name], after[name])):
                yield from _between(before[name], after[name], at)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _of_lists(before, after, place)
    elif not _alike(before, after):
        yield f"{place} was {_short(before)}, is {_short(after)}"


def _of_lists(before: list[Any], after: list[Any], place: str) -> Iterator[str]:
    """Differences of arrays; in a list of records only those that name a record of the sequence are compared."""
    ours = [item for item in before if _is_ours(item)]
    if ours and all(isinstance(item, dict) for item in before):
        theirs = [item for item in after if _is_ours(item)]
        if len(ours) != len(theirs):
            yield f"{place} held {len(ours)} of our records, holds {len(theirs)}"
            return
        before, after = ours, theirs
    if len(before) != len(after):
        yield f"{place} had {len(before)} items, has {len(after)}"
        return
    for number, (one, other) in enumerate(zip(before, after, strict=True)):
        yield from _between(one, other, f"{place}[{number}]")


def _is_ours(item: Any) -> bool:
    return isinstance(item, dict) and _OURS.search(json.dumps(item)) is not None


def _are_numbers(before: Any, after: Any) -> bool:
    return all(isinstance(value, int | float) for value in (before, after))


def _alike(before: Any, after: Any) -> bool:
    if before == after and isinstance(before, bool) == isinstance(after, bool):
        return True
    if not (isinstance(before, str) and isinstance(after, str)):
        return False
    if REDACTED in before:
        return True
    return any(pattern.fullmatch(before) and pattern.fullmatch(after) for pattern in (_MOMENT, _MINTED))


def _short(value: Any) -> str:
    return cut(json_text(value), _SHOWN)
