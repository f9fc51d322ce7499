"""Conditions: when a fault acts. Any of them goes with any fault in which a run can meet it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, NamedTuple

from contracts.errors import UsageError
from contracts.interface.description import load_description
from contracts.interface.operations import WORKFLOW_REALMS
from contracts.sandbox.faults.messages import DRAFTS, SUBMISSIONS, Request


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


@dataclass
class Met:
    """How often a fault's place was met: in all, for each identifier, and by how many requests at this moment.

    Attributes:
        altered: How often the fault made a difference, to the answer or to what the service was asked.
        refused: Whether the service refused the request before, of whatever operation.
        role, role_before: Of the request at this place, and of the one before it.
    """

    total: int = 0
    by_uid: Counter[str] = field(default_factory=Counter)
    overlapped: bool = False
    altered: int = 0
    refused: bool = False
    role: str = ""
    role_before: str = ""


Test = Callable[[Request, Met, int], bool]
#: Ways to draw a condition: by single requests, by requests that come again, by what a document holds, by files, by
#: the pages of a list, and by submissions.
SINGLE, REPEATED, CONTENT, FILES, PAGES, SUBMITTED = (
    "single",
    "repeated",
    "content",
    "files",
    "pages",
    "submitted",
)
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
    """

    name: str
    acts: Test
    says: str
    drawn: str = ""
    numbers: Range = NO_NUMBER
    wide: bool = False

    def draw(self, chance: Random, *, wide: bool) -> str:
        """Its name, with a number drawn for N."""
        number = self.numbers.draw(chance, wide=wide) if self.numbers.gate else 0
        return self.name.replace("N", str(number)) if number else self.name


def _values(value: Any) -> Iterator[Any]:
    """Every value in a JSON value, and itself."""
    yield value
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inside:
        yield from _values(each)


def _any(test: Callable[[Any, int], bool]) -> Test:
    """Documents of which some value passes a test."""
    return lambda request, _, number: any(test(value, number) for value in _values(request.document))


def _text(pattern: str) -> Test:
    """Documents of which some text has a pattern."""
    return _any(lambda value, _: isinstance(value, str) and re.search(pattern, value) is not None)


def _letter(test: Callable[[str], bool]) -> Test:
    return _any(lambda value, _: isinstance(value, str) and any(map(test, value)))


def _sized(kind: type[str | list[Any] | dict[str, Any]], test: Callable[[Any], bool] = bool) -> Test:
    return _any(lambda value, n: isinstance(value, kind) and test(value) and len(value) >= n)


def _languages(value: dict[str, Any]) -> bool:
    """Whether an object may be a text in several languages."""
    return all(
        isinstance(text, str) and re.fullmatch(r"[a-z]{2,3}(-\w+)?", key) for key, text in value.items()
    )


def _extreme(value: Any, _: int) -> bool:
    number = abs(value) if type(value) in (int, float) else 1
    return number >= 2**53 or 0 < number < 1e-100


def _page(request: Request, _: Met, number: int) -> bool:
    top, skip = (request.options.get(name, "") for name in ("top", "skip"))
    return top.isdecimal() and skip.isdecimal() and int(skip) >= (number - 1) * max(1, int(top))


def _second_token(request: Request, _: Met, __: int) -> bool:
    """Whether the token is not the first one of its account."""
    token = request.header("authorization").rpartition(" ")[2]
    tokens = [text for text, role in request.memory.issued.items() if role == request.role]
    return token in tokens[1:]


def _file(request: Request) -> bytes:
    """The file that is sent, or that is asked for."""
    return (request.upload or request).body


def _in(realm: str) -> Test:
    return lambda request, *_: request.realm in ("", realm)


def _of(role: str) -> Test:
    return lambda request, *_: request.role == role


def _named(ending: str) -> Test:
    return lambda request, *_: request.params.get("filename", "").lower().endswith(ending)


ALWAYS: Final = "always"
OVERLAPPING: Final = "overlapping"
ONE_ONLY: Final = "only-N"
_ROLES: Final = ("author", "other", "restricted", "nau")
#: Endings of file names that conditions know.
_ENDINGS: Final = ("txt", "json", "xml", "csv", "html", "pdf", "png", "bin")
# fmt: off
#: What a text of a document may hold or look like: the name, a pattern, and in words.
_TEXTS: Final = (
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
_ROWS: Final = (
    Condition(ALWAYS, lambda *_: True, ""),
    *(Condition(f"in-{realm}", _in(realm), f"in {realm}", SINGLE) for realm in WORKFLOW_REALMS),
    *(Condition(f"of-{role}", _of(role), f"to the account {role}") for role in _ROLES),
    Condition("every-N", lambda _, met, n: met.total % n == 0, "once in {} times", REPEATED, Range(2, 12, 60)),
    Condition("after-N", lambda _, met, n: met.total > n, "after {} requests", REPEATED, Range(2, 40, 60)),
    Condition("from-N", lambda request, met, n: met.by_uid[request.uid] >= n,
        "from request {} for an identifier on", REPEATED, Range(2, 3, 60)),
    Condition(ONE_ONLY, lambda request, met, n: met.by_uid[request.uid] == n,
        "to request {} for an identifier alone", REPEATED, Range(1, 2, 60), wide=True),
    Condition("after-refusal", lambda _, met, __: met.refused, "behind a refused request", REPEATED, wide=True),
    Condition("after-another", lambda _, met, __: met.role != met.role_before, "behind a request of another account",
        REPEATED, wide=True),
    Condition("second-token", _second_token, "to an account that signed in again", REPEATED, wide=True),
    Condition("above-N", lambda request, _, n: len(request.body) > n, "above {} bytes", CONTENT,
        Range(1_000, 65_536, 2 * 1024**2)),
    Condition("texts-N", _sized(str), "with a text of {} characters", CONTENT, Range(100, 10_000, 100_000), wide=True),
    Condition("items-N", _sized(list), "with an array of {} items", CONTENT, Range(2, 20, 200), wide=True),
    Condition("members-N", _sized(dict), "with an object of {} members", CONTENT, Range(2, 20, 60), wide=True),
    Condition("languages-N", _sized(dict, _languages), "with a text in {} languages", CONTENT, Range(2, 6, 60),
        wide=True),
    Condition("beyond-ascii", _letter(lambda c: c > "\x7f"), "to text beyond ASCII", CONTENT),
    Condition("with-astral", _letter(lambda c: c > "\uffff"), "to characters beyond the basic plane", CONTENT),
    Condition("with-marks", _letter(lambda c: unicodedata.combining(c) > 0), "to combining marks", CONTENT),
    Condition("right-to-left", _letter(lambda c: unicodedata.bidirectional(c) in ("R", "AL")),
        "to scripts that run from the right", CONTENT),
    *(Condition(name, _text(pattern), f"with {says}", CONTENT, wide=True) for name, pattern, says in _TEXTS),
    Condition("empty-inside", _any(lambda v, _: v in ("", [], {})), "with something empty inside", CONTENT, wide=True),
    Condition("nested-arrays", _any(lambda v, _: isinstance(v, list) and any(isinstance(i, list) for i in v)),
        "with arrays in arrays", CONTENT, wide=True),
    Condition("repeated-items", _any(lambda v, _: isinstance(v, list) and any(v.count(i) > 1 for i in v)),
        "with an item that comes twice", CONTENT, wide=True),
    Condition("strange-keys", _any(lambda v, _: isinstance(v, dict) and any(not re.fullmatch(r"[\w-]+", k) for k in v)),
        "with a key that is no word", CONTENT, wide=True),
    Condition("extreme-numbers", _any(_extreme), "with a number at the limits of a double", CONTENT, wide=True),
    *(Condition(f"files-{ending}", _named(f".{ending}"), f"to files named .{ending}", FILES) for ending in _ENDINGS),
    Condition("larger-N", lambda request, _, n: len(_file(request)) > n, "to files of more than {} bytes", FILES,
        Range(1, 65_536, 5 * 1024**2), wide=True),
    Condition("page-N", _page, "from page {} on", PAGES, Range(2, 3, 60), wide=True),
    Condition("realm-in-query", lambda request, *_: not request.header("realm"), "where the query names the realm",
        SUBMITTED, wide=True),
    Condition("in-batch", lambda request, *_: b'"batchId"' in request.body, "to records of a batch", SUBMITTED,
        wide=True),
    Condition(OVERLAPPING, lambda _, met, __: met.overlapped, "when two requests overlap"),
)
# fmt: on
CONDITIONS: Final[Mapping[str, Condition]] = {row.name: row for row in _ROWS}
#: Operations that a run uses too seldom to meet a condition of many requests: what they make cannot be removed, one
#: token does for a run, and temporary files are few.
_SELDOM: Final = frozenset(
    {"createToken", "createContact", "updateContact", "persistTemporaryFile", *SUBMISSIONS}
)


def condition_of(name: str) -> tuple[Condition, int]:
    """Read a condition, with the number in it.

    Raises:
        UsageError: there is none of this name.
    """
    match = re.fullmatch(r"(.+)-([0-9]{1,9})", name)
    row = CONDITIONS.get(name) or (CONDITIONS.get(f"{match[1]}-N") if match else None)
    if row is None or (row.numbers.gate > 0 and match is None) or (match and int(match[2]) == 0):
        raise UsageError(f"unknown condition '{name}' of a fault; there are {', '.join(CONDITIONS)}")
    return row, int(match[2]) if match and row.numbers.gate else 0


def conditions_for(
    at: tuple[str, ...], realms: tuple[str, ...], ways: frozenset[str], *, wide: bool
) -> Iterator[Condition]:
    """The conditions that can be drawn for a fault at some operations, which shows in some realms.

    Args:
        ways: The ways to draw conditions that go with the fault.
    """
    often, drafts = _SELDOM.isdisjoint(at), set(at) <= set(DRAFTS)
    named = all("uid" in load_description().operations[operation].path for operation in at)
    for row in CONDITIONS.values():
        if row.name == ONE_ONLY and not named:
            continue  # one request of all is no fault that comes back
        if row.drawn in ways and (row.drawn != REPEATED or often) and (wide or not row.wide):
            if row.drawn != SINGLE or row.name.removeprefix("in-") in realms:
                yield row
        elif drafts and REPEATED in ways and row.name in ("of-other", OVERLAPPING):
            yield row
