"""Every check of the table holds on an answer that keeps it, and is contradicted by its twin that does not."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from contracts.checks.definition import Check
from contracts.checks.documents import digest_of
from contracts.checks.outcomes import CheckOutcome
from contracts.checks.table import TABLE
from contracts.exchanges.exchange import Response
from contracts.interface.catalogue import load_catalogue
from contracts.manual.recorded_sequence import ReplayedFinding
from contracts.manual.replay import holds
from tests.meta import messages

UID = "rc-test-0001"
PIXEL = bytes.fromhex(
    "47494638396101000100800000ffffff00000021f90401000000002c00000000010001000002024401003b"
)
UNKNOWN = "A document with the identifier does not exist, please provide correct 'identifier' to update."
LOCKED = "The record is locked for workflow, cannot proceed."
TAKEN = "A document with the identifier exists, please use a different 'identifier'."
ANONYMOUS = "Authorization required, user is anonymous."
NAMED = {"errors": [{"code": "Error.Mandatory", "property": "firstName"}]}


def answer(status: int = 200, body: Any = None, kind: str = "application/json") -> Response:
    content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    return messages.response(status, content, {"content-type": kind} if content else {})


class Twins(NamedTuple):
    """An answer that keeps a check and one that does not, with what the check compares with."""

    keeps: Response
    breaks: Response
    arguments: Mapping[str, Any] = MappingProxyType({})


#: Check → its twins.
TWINS = {
    "below-500": Twins(answer(404), answer(500, {})),
    "no-secret": Twins(answer(200, {}), answer(200, {"seen": "a-secret"}), {"secret": "a-secret"}),
    "json-labelled": Twins(answer(200, {}), answer(200, {}, "text/plain")),
    "empty-or-json": Twins(answer(404), answer(404, b"nothing", "text/plain")),
    "no-content": Twins(answer(), answer(200, {})),
    "errors-array": Twins(answer(400, NAMED), answer(400, {"errors": []})),
    "error-named": Twins(
        answer(400, NAMED),
        answer(400, {"errors": [{"code": "Error.InvalidType", "property": "firstName"}]}),
        {"code": "Error.Mandatory", "field": "firstName"},
    ),
    "error-elements": Twins(answer(400, NAMED), answer(400, {"errors": [{"code": "Error.Mandatory"}]})),
    "error-codes": Twins(answer(400, NAMED), answer(400, {"errors": [{"code": "Odd", "property": "a"}]})),
    "no-errors": Twins(answer(200, {"errors": []}), answer(200, NAMED)),
    "token-given": Twins(answer(200, {"authenticationToken": "x"}), answer(200, {"authenticationToken": ""})),
    "expiration-format": Twins(
        answer(200, {"expiration": "2030-01-01T00:00:00.0Z"}),
        answer(200, {"expiration": "2030-01-01T00:00Z"}),
    ),
    "no-token": Twins(answer(401, {}), answer(401, {"authenticationToken": "x"})),
    "token-taken": Twins(answer(404, {}), answer(403, {"message": ANONYMOUS}), {"realm": "abs-dev"}),
    "list": Twins(answer(200, []), answer(200, {"a": 1})),
    "items-at-most": Twins(answer(200, [{}]), answer(200, [{}, {}]), {"items": 1}),
    "list-without": Twins(
        answer(200, [{"a": f"{UID}x"}]), answer(200, [{"a": {"b": UID}}]), {"identifier": UID}
    ),
    "document": Twins(
        answer(200, {"a": {"title": "x", "more": 1}}),
        answer(200, {"title": "y"}),
        {"document": {"title": "x"}},
    ),
    "metadata": Twins(answer(200, {"size": 1}), answer(200, {})),
    "gone": Twins(answer(404), answer(204)),
    "content-gone": Twins(answer(200, {}), answer(200, {"title": "x"}), {"document": {"title": "x"}}),
    "image": Twins(answer(200, PIXEL, "image/gif"), answer(200, b"no picture", "text/plain")),
    "same-bytes": Twins(
        answer(200, b"bytes"), answer(200, b"byteS"), {"size": 5, "digest": digest_of(b"bytes")}
    ),
    "attachment-listed": Twins(
        answer(200, [{"id": 7}]), answer(200, [{"id": 8}]), {"filename": "map.png", "numbers": [7]}
    ),
    "message": Twins(
        answer(403, {"m": ANONYMOUS}),
        answer(401, {"m": ANONYMOUS}),
        {"clause": "workflow-anonymous", "realm": "abs-dev"},
    ),
    "identifier": Twins(answer(200, {"a": UID}), answer(200, {"a": f"{UID}-2"}), {"identifier": UID}),
    "any-identifier": Twins(answer(200, {"a": UID}), answer(200, {"a": "short"})),
    "record-found": Twins(answer(400, {"m": "locked"}), answer(400, {"m": UNKNOWN})),
    "identifier-in-use": Twins(answer(400, {"m": TAKEN}), answer(400, NAMED)),
    "identifier-free": Twins(answer(400, {"m": UNKNOWN}), answer(200, {})),
    "identifier-not-in-use": Twins(answer(201, {}), answer(400, {"m": TAKEN})),
    "identifier-not-locked": Twins(answer(400, {"m": TAKEN}), answer(400, {"m": LOCKED})),
    "taken": Twins(answer(201), answer(200, NAMED)),
    "accepted": Twins(answer(201), answer(400)),
    "refused": Twins(answer(404), answer(200)),
    "turned-down": Twins(answer(200, NAMED), answer(200, {})),
    "status": Twins(answer(403), answer(401), {"status": 403}),
}


def test_every_check_has_its_twins() -> None:
    assert TWINS.keys() == TABLE.keys()


@pytest.mark.parametrize("check", TABLE.values(), ids=list(TABLE))
def test_a_check_tells_its_twins_apart(check: Check) -> None:
    """A check that is never contradicted, or never holds, would claim nothing."""
    twins = TWINS[check.id]
    clause = load_catalogue().clause(check.clauses[0] if check.clauses else "workflow-anonymous")
    kept, broken = (
        check.judge(clause, clause.operations[0], messages.exchange(each, {}, None), twins.arguments)
        for each in (twins.keeps, twins.breaks)
    )
    assert (kept.outcome, broken.outcome) == (CheckOutcome.HELD, CheckOutcome.CONTRADICTED)
    assert (kept.check, broken.check) == (check.id, check.id)
    assert all((broken.expected, broken.seen)), "a reader understands both sides"
    assert check.takes(twins.arguments), "it can be run again from a finding"


@pytest.mark.parametrize("check", TABLE.values(), ids=list(TABLE))
def test_a_check_is_run_again_from_a_finding(check: Check) -> None:
    twins = TWINS[check.id]
    found = ReplayedFinding("f", "c", "o", "e", "s", (1, 1), check=check.id, arguments=twins.arguments)
    kept, broken = (messages.exchange(each, {}, None) for each in (twins.keeps, twins.breaks))
    assert (holds(found, kept, str), holds(found, broken, str)) == (True, False)


def test_a_finding_without_a_check_or_with_another_ones_arguments_is_not_run_again() -> None:
    exchange = messages.exchange(answer(200), {}, None)
    for check, arguments in (("", {}), ("no-such-check", {}), ("items-at-most", {"most": 1})):
        found = ReplayedFinding("f", "c", "o", "e", "s", (1, 1), check=check, arguments=arguments)
        assert holds(found, exchange, str) is None
