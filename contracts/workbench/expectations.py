"""Whether an exchange still contradicts what a finding expected, read from the finding's own words.

Most claims word their expectation in one of a few ways (`contracts.judging.claims`); those can be judged again on a
new answer. For all others the answers themselves are compared.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Final

from contracts.judging import content, readers
from contracts.session.exchange import Answer

_PLAIN: Final[dict[str, Callable[[Answer], bool]]] = {
    "accepted (2xx)": lambda answer: answer.success,
    "refused (4xx)": lambda answer: answer.refusal,
    "an answer below 500, whatever was sent": lambda answer: answer.status < 500,
    "a JSON body labelled as JSON": lambda answer: answer.json is None or "json" in answer.media_type,
    "an errors array with at least one element": lambda answer: bool(readers.errors(answer)),
    "refused, with at least one element in the errors array": lambda answer: bool(readers.errors(answer)),
    "no content": lambda answer: not answer.content,
    "an empty body or JSON": lambda answer: not answer.content.strip() or answer.json is not None,
    "no token": lambda answer: (
        not any(
            isinstance(value, dict) and value.get("authenticationToken")
            for value in readers.values(answer.json)
        )
    ),
}
_MESSAGE: Final = re.compile(r"(?P<status>[1-5]\d\d) (?P<message>['\"].*['\"])", re.DOTALL)
_NAMED: Final = re.compile(
    r"(?:errors with )?(?P<code>Error\.\w+) for (?P<field>[\w.]+)(?: among the errors)?"
)
_AT_MOST: Final = re.compile(r"(?:no more than|at most) (\d+) items")
_IDENTIFIER: Final = re.compile(r"the identifier ([\w-]{11,128}) in the answer")
_STATUS: Final = re.compile(r"[1-5]\d\d")


def meets(expected: str, answer: Answer) -> bool | None:
    """Tell whether an answer is what a finding expected.

    Args:
        expected: The finding's words, with the names of the new run in them.

    Returns:
        None where the words do not say how to tell, or the answer can be read in two ways.
    """
    try:
        return _meets(expected.strip(), answer)
    except (readers.Ambiguous, ValueError, SyntaxError):
        return None


def _meets(expected: str, answer: Answer) -> bool | None:
    if expected in _PLAIN:
        return _PLAIN[expected](answer)
    if found := _MESSAGE.fullmatch(expected):
        message = str(ast.literal_eval(found["message"]))
        return answer.status == int(found["status"]) and readers.says(answer, message)
    if found := _NAMED.fullmatch(expected):
        return content.reports(answer, found["field"], found["code"])
    return _meets_short(expected, answer)


def _meets_short(expected: str, answer: Answer) -> bool | None:
    if _STATUS.fullmatch(expected):
        return answer.status == int(expected)
    if found := _AT_MOST.fullmatch(expected):
        records = readers.records(answer)
        return records is not None and len(records) <= int(found[1])
    if expected == "refused" or expected.endswith(" refused") or expected.startswith("refused, since"):
        return content.turned_down(answer)
    if found := _IDENTIFIER.fullmatch(expected):
        return readers.carries_identifier(answer, found[1])
    return None
