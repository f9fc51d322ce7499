"""Conditions: when a fault acts. Any of them goes with any fault in which a run can meet it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

from contracts.errors import UsageError
from contracts.interface.operations import WORKFLOW_REALMS
from contracts.sandbox.faults.messages import DRAFTS, SUBMISSIONS, Request


@dataclass
class Met:
    """How often a fault's place was met: in all, for each identifier, and by how many requests at this moment.

    Attributes:
        altered: How often the fault made a difference, to the answer or to what the service was asked.
    """

    total: int = 0
    by_uid: Counter[str] = field(default_factory=Counter)
    overlapped: bool = False
    altered: int = 0


Test = Callable[[Request, Met, int], bool]
#: Ways to draw a condition: by single requests, by requests that come again, and by what a document holds.
SINGLE, REPEATED, CONTENT, FILES = "single", "repeated", "content", "files"
#: What a run does once, hardly ever, often, with documents, with files.
ONCE: Final = frozenset({SINGLE})
NO_CONDITION: Final = frozenset[str]()
OFTEN: Final = ONCE | {REPEATED}
OF_DOCUMENTS, OF_FILES = OFTEN | {CONTENT}, OFTEN | {FILES}


@dataclass(frozen=True)
class Condition:
    """A row of the table.

    Attributes:
        name: As it stands behind the `@` of a fault's name; N stands for a number.
        acts: Whether the fault acts on a request; the last argument is the number.
        says: In words; {} stands for the number.
        drawn: With which faults it is drawn; empty for none.
        numbers: The least and the most that is drawn for N.
    """

    name: str
    acts: Test
    says: str
    drawn: str = ""
    numbers: tuple[int, int] = (0, 0)


def _texts(request: Request) -> str:
    return json.dumps(request.json, ensure_ascii=False)


def _holds(test: Callable[[str], bool]) -> Test:
    return lambda request, *_: any(map(test, _texts(request)))


def _in(realm: str) -> Test:
    return lambda request, *_: request.realm in ("", realm)


def _of(role: str) -> Test:
    return lambda request, *_: request.role == role


def _named(ending: str) -> Test:
    return lambda request, *_: request.params.get("filename", "").lower().endswith(ending)


ALWAYS: Final = "always"
OVERLAPPING: Final = "overlapping"
_ROLES: Final = ("author", "other", "restricted", "nau")
#: Endings of file names that conditions know.
_ENDINGS: Final = ("txt", "json", "xml", "csv", "html", "pdf", "png", "bin")
# fmt: off
_ROWS: Final = (
    Condition(ALWAYS, lambda *_: True, ""),
    *(Condition(f"in-{realm}", _in(realm), f"in {realm}", SINGLE) for realm in WORKFLOW_REALMS),
    *(Condition(f"of-{role}", _of(role), f"to the account {role}") for role in _ROLES),
    Condition("every-N", lambda _, met, n: met.total % n == 0, "once in {} times", REPEATED, (2, 12)),
    Condition("after-N", lambda _, met, n: met.total > n, "after {} requests", REPEATED, (2, 40)),
    Condition("from-N", lambda request, met, n: met.by_uid[request.uid] >= n,
        "from request {} for an identifier on", REPEATED, (2, 3)),
    Condition("above-N", lambda request, _, n: len(request.body) > n, "above {} bytes", CONTENT, (1_000, 65_536)),
    Condition("beyond-ascii", _holds(lambda c: c > "\x7f"), "to text beyond ASCII", CONTENT),
    Condition("with-astral", _holds(lambda c: c > "\uffff"), "to characters beyond the basic plane", CONTENT),
    Condition("with-marks", _holds(lambda c: unicodedata.combining(c) > 0), "to combining marks", CONTENT),
    Condition("right-to-left", _holds(lambda c: unicodedata.bidirectional(c) in ("R", "AL")),
        "to scripts that run from the right", CONTENT),
    *(Condition(f"files-{ending}", _named(f".{ending}"), f"to files named .{ending}", FILES) for ending in _ENDINGS),
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
    if row is None or (row.numbers[1] > 0 and match is None) or (match and int(match[2]) == 0):
        raise UsageError(f"unknown condition '{name}' of a fault; there are {', '.join(CONDITIONS)}")
    return row, int(match[2]) if match and row.numbers[1] else 0


def conditions_for(at: tuple[str, ...], realms: tuple[str, ...], ways: frozenset[str]) -> Iterator[Condition]:
    """The conditions that can be drawn for a fault at some operations, which shows in some realms.

    Args:
        ways: The ways to draw conditions that go with the fault.
    """
    seldom, drafts = not _SELDOM.isdisjoint(at), set(at) <= set(DRAFTS)
    for row in CONDITIONS.values():
        if row.drawn in ways and (row.drawn != REPEATED or not seldom):
            if row.drawn != SINGLE or row.name.removeprefix("in-") in realms:
                yield row
        elif drafts and REPEATED in ways and row.name in ("of-other", OVERLAPPING):
            yield row


def drawn_name(condition: Condition, chance: Random) -> str:
    """The name of a condition with a number drawn for N: small ones as often as large ones."""
    least, most = condition.numbers
    if not most:
        return condition.name
    return condition.name.replace("N", str(drawn_number(chance, least, most)))


def drawn_number(chance: Random, least: int, most: int) -> int:
    """A number between two bounds, each order of magnitude as likely as the next."""
    return int(least * (most / least) ** chance.random())
