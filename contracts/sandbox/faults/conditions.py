"""Conditions: when a fault acts. Any of them goes with any fault in which a run can meet it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sized
from dataclasses import dataclass
from random import Random
from typing import Any, Final, NamedTuple

from contracts.errors import UsageError
from contracts.interface.operations import WORKFLOW_REALMS
from contracts.sandbox.faults.messages import Request, given


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
#: Ways to draw a condition: by single requests, by requests that come again, by what a document holds, by files, by
#: the pages of a list, and by submissions.
SINGLE, REPEATED, CONTENT = "single", "repeated", "content"
FILES, PAGES, SUBMITTED = "files", "pages", "submitted"
#: What a run does once, hardly ever, often, with documents, with files, with lists.
ONCE: Final = frozenset({SINGLE})
NO_CONDITION: Final = frozenset[str]()
OFTEN: Final = ONCE | {REPEATED}
OF_DOCUMENTS, OF_FILES, OF_LISTS = OFTEN | {CONTENT}, OFTEN | {FILES}, OFTEN | {PAGES}
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


def _any(kind: type | tuple[type, ...], test: Callable[[Any, int], Any]) -> Test:
    """Documents of which some value is of a kind and passes a test."""
    return lambda request, number: any(
        isinstance(value, kind) and test(value, number) for value in values(request.document)
    )


def _text(pattern: str) -> Test:
    """Documents of which some text has a pattern."""
    return _any(str, lambda text, _: re.search(pattern, text))


def _letter(test: Callable[[str], Any]) -> Test:
    return _any(str, lambda text, _: any(map(test, text)))


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


def _second_token(request: Request, _: int) -> bool:
    """Whether the token is not the first one of its account."""
    token = request.header("authorization").rpartition(" ")[2]
    return token in [text for text, role in request.memory.issued.items() if role == request.role][1:]


ALWAYS: Final = "always"
OVERLAPPING: Final = "overlapping"
ONE_ONLY: Final = "only-N"
# fmt: off
#: What some value in a document may be: the name, the test, and in words.
_CONTENTS: Final = (
    *(
        (name, _text(pattern), f"with {says}")
        for name, pattern, says in (
            ("with-joiners", "[\u200b-\u200d\u2060]", "characters that join others"),
            ("with-line-separators", "[\x0b\x0c\x85\u2028\u2029]", "line separators other than line feeds"),
            ("with-full-width", "[\uff01-\uff5e]", "full-width letters"),
            ("like-a-date", r"^\d{4}-\d\d-\d\d", "a text that looks like a date"),
            ("like-a-number", r"^[-+]?\d+([.]\d+)?(e\d+)?$", "a text that looks like a number"),
            ("like-a-boolean", "(?i)^(true|false)$", "a text that looks like a boolean"),
            ("like-null", "(?i)^null$", "a text that looks like null"),
            ("like-json", r"(?s)^[\[{].*[\]}]$", "a text that looks like JSON"),
            ("like-html", r"<\w+[^>]*>|&\w+;", "a text that looks like HTML"),
            ("like-base64", r"^[A-Za-z0-9+/]{8,}={1,2}$", "a text that looks like Base64"),
            ("like-an-address", r"^\w+://|^\S+@\S+$", "a text that looks like an address"),
        )
    ),
    ("empty-inside", _any(object, lambda v, _: v in ("", [], {})), "with something empty inside"),
    ("nested-arrays", _any(list, lambda v, _: any(isinstance(i, list) for i in v)), "with arrays in arrays"),
    ("repeated-items", _any(list, lambda v, _: any(v.count(i) > 1 for i in v)), "with an item that comes twice"),
    ("strange-keys", _any(dict, lambda v, _: not all(re.fullmatch(r"[\w-]+", k) for k in v)),
        "with a key that is no word"),
    ("extreme-numbers", _any((int, float), _extreme), "with a number at the limits of a double"),
)
_ROWS: Final = (
    Condition(ALWAYS, lambda *_: True, ""),
    *(Condition(f"in-{realm}", _in(realm), f"in {realm}", SINGLE) for realm in WORKFLOW_REALMS),
    *(Condition(f"of-{role}", _where(f"role~^{role}$"), f"to the account {role}", beside=role == "other")
        for role in ("author", "other", "restricted", "nau")),
    Condition("every-N", lambda r, n: r.memory.met % n == 0, "once in {} times", REPEATED, Range(2, 12, 60)),
    Condition("after-N", lambda r, n: r.memory.met > n, "after {} requests", REPEATED, Range(2, 40, 60)),
    Condition("from-N", lambda r, n: r.memory.met_by_uid[r.uid] >= n,
        "from request {} for an identifier on", REPEATED, Range(2, 3, 60)),
    Condition(ONE_ONLY, lambda r, n: r.memory.met_by_uid[r.uid] == n,
        "to request {} for an identifier alone", REPEATED, Range(1, 2, 60), wide=True),
    Condition("after-refusal", lambda r, _: r.memory.refused, "behind a refused request", REPEATED, wide=True),
    Condition("after-another", lambda r, _: r.role != r.memory.role_before, "behind a request of another account",
        REPEATED, wide=True, beside=True),
    Condition("second-token", _second_token, "to an account that signed in again", REPEATED, wide=True, beside=True),
    Condition("above-N", lambda r, n: len(r.body) > n, "above {} bytes", CONTENT, Range(1_000, 65_536, 2 * 1024**2)),
    *(
        Condition(name, _any(kind, test), says, CONTENT, numbers, wide=True)
        for name, kind, test, says, numbers in (
            ("texts-N", str, _of_length, "with a text of {} characters", Range(100, 10_000, 100_000)),
            ("items-N", list, _of_length, "with an array of {} items", Range(2, 20, 200)),
            ("members-N", dict, _of_length, "with an object of {} members", Range(2, 20, 60)),
            ("languages-N", dict, _languages, "with a text in {} languages", Range(2, 6, 60)),
        )
    ),
    *(
        Condition(name, _letter(test), f"to {says}", CONTENT)
        for name, test, says in (
            ("beyond-ascii", lambda c: c > "\x7f", "text beyond ASCII"),
            ("with-astral", lambda c: c > "\uffff", "characters beyond the basic plane"),
            ("with-marks", unicodedata.combining, "combining marks"),
            ("right-to-left", lambda c: unicodedata.bidirectional(c) in ("R", "AL"), "scripts that run from the right"),
        )
    ),
    *(Condition(name, test, says, CONTENT, wide=True) for name, test, says in _CONTENTS),
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
    return [_condition_of(part) for part in name.split("+")]


def _condition_of(name: str) -> tuple[Condition, int]:
    match = re.fullmatch(r"(.+)-([0-9]{1,9})", name)
    row = CONDITIONS.get(name) or (CONDITIONS.get(f"{match[1]}-N") if match else None)
    if row is None or (row.numbers.gate > 0 and match is None) or (match and int(match[2]) == 0):
        raise UsageError(f"unknown condition '{name}' of a fault; there are {', '.join(CONDITIONS)}")
    return row, int(match[2]) if match and row.numbers.gate else 0
