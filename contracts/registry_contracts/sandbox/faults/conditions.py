"""Conditions: when a fault acts. Any of them goes with any fault in which a run can meet it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sized
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, Final, NamedTuple

from registry_contracts.errors import UsageError
from registry_contracts.interface.operations import WORKFLOW_REALMS
from registry_contracts.sandbox.faults.messages import Request, given


class Range(NamedTuple):
    """Numbers that are drawn: up to `gate` a gate has to find the fault, beyond it a nightly run."""

    least: int = 0
    gate: int = 0
    nightly: int = 0

    def draw(self, chance: Random, *, wide: bool) -> int:
        """A number, each order of magnitude as likely as the next."""
        least, most = max(1, self.least), max(self.nightly, self.gate) if wide else self.gate
        return int(least * (most / least) ** chance.random())


NO_NUMBER: Final = Range()
Test = Callable[[Request, int], bool]
#: Ways to draw a condition: by single requests, by requests that come again, by one of those that come again, by what a
#: document holds, by files, by the pages of a list, and by submissions.
SINGLE, REPEATED, ONE, CONTENT = "single", "repeated", "one", "content"
FILES, PAGES, SUBMITTED = "files", "pages", "submitted"
#: What a run does once, hardly ever, often, with documents, with files, with lists.
ONCE: Final = frozenset({SINGLE})
NO_CONDITION: Final = frozenset[str]()
OFTEN: Final = ONCE | {REPEATED, ONE}
OF_DOCUMENTS, OF_FILES, OF_LISTS = OFTEN | {CONTENT}, OFTEN | {FILES}, OFTEN - {ONE} | {PAGES}
OF_SUBMISSIONS: Final = ONCE | {SUBMITTED}


@dataclass(frozen=True)
class Condition:
    """A row of the table.

    Attributes:
        name: As it stands behind the `@` of a fault's name; N stands for a number.
        acts: Whether the fault acts on a request; the last argument is the number.
        says: In words; {} stands for the number.
        drawn: With which faults it is drawn; empty for none.
        numbers: What is drawn for N.
        wide: It is drawn in wide draws alone.
        beside: In these it is also drawn beside another one: who asks, and whether in a batch.
    """

    name: str
    acts: Test
    says: str
    drawn: str = ""
    numbers: Range = NO_NUMBER
    wide: bool = False
    beside: bool = False

    def draw(self, chance: Random, *, wide: bool) -> str:
        """Its name, with a number drawn for N."""
        number = self.numbers.draw(chance, wide=wide) if self.numbers.gate else 0
        return self.name.replace("N", str(number)) if number else self.name


def _where(texts: str) -> Test:
    """Requests with some texts."""
    meant = given(texts)
    return lambda request, _: meant(request)


def _in(realm: str) -> Test:
    return lambda request, _: request.realm in ("", realm)


def values(value: Any) -> Iterator[Any]:
    """Every value in a JSON value, and itself."""
    yield value
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inside:
        yield from values(each)


def _holds(kind: type | tuple[type, ...], test: Callable[[Any, int], Any]) -> Test:
    """Documents of which some value is of a kind and passes a test."""
    return lambda request, number: any(
        isinstance(value, kind) and test(value, number) for value in values(request.document)
    )


def _text(pattern: str) -> Test:
    """Documents of which some text has a pattern."""
    return _holds(str, lambda text, _: re.search(pattern, text))


def _of_length(value: Sized, number: int) -> bool:
    return len(value) >= number


def _languages(value: dict[str, Any], number: int) -> bool:
    """Whether an object may be a text in so many languages."""
    texts = (isinstance(text, str) and re.fullmatch(r"[a-z]{2,3}(-\w+)?", key) for key, text in value.items())
    return len(value) >= number and all(texts)


def _extreme(number: float, _: int) -> bool:
    return type(number) is not bool and (abs(number) >= 2**53 or 0 < abs(number) < 1e-100)


def _page(request: Request, number: int) -> bool:
    top, skip = (request.options.get(name, "") for name in ("top", "skip"))
    return top.isdecimal() and skip.isdecimal() and int(skip) >= (number - 1) * max(1, int(top))


ALWAYS: Final = "always"
OVERLAPPING: Final = "overlapping"
_content = partial(Condition, drawn=CONTENT, wide=True)
# fmt: off
_ROWS: Final = (
    Condition(ALWAYS, lambda *_: True, ""),
    *(Condition(f"in-{realm}", _in(realm), f"in {realm}", SINGLE) for realm in WORKFLOW_REALMS),
    *(Condition(f"of-{role}", _where(f"role~^{role}$"), f"to the account {role}", beside=role == "other")
        for role in ("author", "other", "restricted", "nau")),
    Condition("every-N", lambda r, n: r.memory.met % n == 0, "once in {} times", REPEATED, Range(2, 12, 60)),
    Condition("after-N", lambda r, n: r.memory.met > n, "after {} requests", REPEATED, Range(2, 40, 60)),
    Condition("from-N", lambda r, n: r.memory.met_by_uid[r.uid] >= n,
        "from request {} for an identifier on", REPEATED, Range(2, 3, 60)),
    Condition("only-N", lambda r, n: r.memory.met_by_uid[r.uid] == n,
        "to request {} for an identifier alone", ONE, Range(1, 2, 60), wide=True),
    Condition("after-refusal", lambda r, _: r.memory.refused, "behind a refused request", REPEATED, wide=True),
    Condition("after-another", lambda r, _: r.role != r.memory.role_before, "behind a request of another account",
        REPEATED, wide=True, beside=True),
    Condition("second-token", lambda r, _: r.bearer in [t for t, role in r.memory.issued.items() if role == r.role][1:],
        "to an account that signed in again", REPEATED, wide=True, beside=True),
    Condition("above-N", lambda r, n: len(r.content) > n, "above {} bytes", CONTENT, Range(1_000, 65_536, 2 * 1024**2)),
    _content("texts-N", _holds(str, _of_length), "with a text of {} characters", numbers=Range(100, 10_000, 100_000)),
    _content("items-N", _holds(list, _of_length), "with an array of {} items", numbers=Range(2, 20, 200)),
    _content("members-N", _holds(dict, _of_length), "with an object of {} members", numbers=Range(2, 20, 60)),
    _content("languages-N", _holds(dict, _languages), "with a text in {} languages", numbers=Range(2, 6, 60)),
    Condition("beyond-ascii", _holds(str, lambda text, _: not text.isascii()), "to text beyond ASCII", CONTENT),
    Condition("with-astral", _holds(str, lambda text, _: max(text, default="") > "\uffff"),
        "to characters beyond the basic plane", CONTENT),
    Condition("with-marks", _holds(str, lambda text, _: any(map(unicodedata.combining, text))),
        "to combining marks", CONTENT),
    Condition("right-to-left", _holds(str, lambda text, _: {"R", "AL"} & {*map(unicodedata.bidirectional, text)}),
        "to scripts that run from the right", CONTENT),
    _content("with-joiners", _text("[\u200b-\u200d\u2060]"), "with characters that join others"),
    _content("with-line-separators", _text("[\x0b\x0c\x85\u2028\u2029]"), "with line separators other than line feeds"),
    _content("with-full-width", _text("[\uff01-\uff5e]"), "with full-width letters"),
    _content("like-a-date", _text(r"^\d{4}-\d\d-\d\d"), "with a text that looks like a date"),
    _content("like-a-number", _text(r"^[-+]?\d+([.]\d+)?(e\d+)?$"), "with a text that looks like a number"),
    _content("like-a-boolean", _text("(?i)^(true|false)$"), "with a text that looks like a boolean"),
    _content("like-null", _text("(?i)^null$"), "with a text that looks like null"),
    _content("like-json", _text(r"(?s)^[\[{].*[\]}]$"), "with a text that looks like JSON"),
    _content("like-html", _text(r"<\w+[^>]*>|&\w+;"), "with a text that looks like HTML"),
    _content("like-base64", _text(r"^[A-Za-z0-9+/]{8,}={1,2}$"), "with a text that looks like Base64"),
    _content("like-an-address", _text(r"^\w+://|^\S+@\S+$"), "with a text that looks like an address"),
    _content("empty-inside", _holds(object, lambda v, _: v in ("", [], {})), "with something empty inside"),
    _content("nested-arrays", _holds(list, lambda v, _: any(isinstance(i, list) for i in v)), "with arrays in arrays"),
    _content("repeated-items", _holds(list, lambda v, _: any(v.count(i) > 1 for i in v)),
        "with an item that comes twice"),
    _content("strange-keys", _holds(dict, lambda v, _: not all(re.fullmatch(r"[\w-]+", k) for k in v)),
        "with a key that is no word"),
    _content("extreme-numbers", _holds((int, float), _extreme), "with a number at the limits of a double"),
    *(Condition(f"files-{ending}", _where(rf"filename~(?i)[.]{ending}\Z"), f"to files named .{ending}", FILES)
        for ending in ("txt", "json", "xml", "csv", "html", "pdf", "png", "bin")),
    Condition("larger-N", lambda r, n: len((r.upload or r).body) > n, "to files of more than {} bytes", FILES,
        Range(1, 65_536, 5 * 1024**2), wide=True),
    Condition("page-N", _page, "from page {} on", PAGES, Range(2, 3, 60), wide=True),
    Condition("realm-in-query", _where("-realm~."), "where the query names the realm", SUBMITTED,
        wide=True, beside=True),
    Condition("in-batch", _where('body~"batchId"'), "to records of a batch", SUBMITTED, wide=True, beside=True),
    Condition(OVERLAPPING, lambda r, _: r.memory.overlapped, "when two requests overlap"),
)
# fmt: on
CONDITIONS: Final[Mapping[str, Condition]] = {row.name: row for row in _ROWS}


def conditions_of(name: str) -> list[tuple[Condition, int]]:
    """Read one condition, or several with `+` between, each with the number in it.

    Raises:
        UsageError: there is none of this name.
    """
    found = list[tuple[Condition, int]]()
    for part in name.split("+"):
        match = re.fullmatch(r"(.+)-([0-9]{1,9})", part)
        row, number = CONDITIONS.get(f"{match[1]}-N" if match else part), int(match[2]) if match else 0
        if row is None or bool(row.numbers.gate) is not bool(number):
            raise UsageError(f"unknown condition '{part}' of a fault; there are {', '.join(CONDITIONS)}")
        found.append((row, number))
    return found
