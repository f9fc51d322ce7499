"""Statuses and shapes of answers, read from the exchanges of the cases that went well: no request is made for them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from contracts.drift.points import SUCCESS_STATUS, refusal_clause, success_clause
from contracts.evidence.bodies import json_of
from contracts.evidence.observations_normal import (
    Sent,
    normal,
    refused,
    signature,
    telling,
    what_was_sent,
)
from contracts.evidence.observations_schema import infer
from contracts.evidence.outcomes import Verdict
from contracts.evidence.record import RecordedExchange, RunRecord
from contracts.evidence.transcript import header
from contracts.interface.description import load_description
from contracts.interface.operations import segments

#: Cases that send the same in every run; generated and played ones depend on the seed.
_STEADY: Final = "scenario/"
_WENT_WELL: Final = frozenset({Verdict.PASS, Verdict.OBSERVED})
_VALID_UID: Final = re.compile(r"[A-Za-z0-9_-]{11,128}", re.ASCII)
_EMPTY, _TEXT, _BYTES = "empty", "text", "bytes"


class _Answers:
    """The answers of one operation with one status in one realm."""

    def __init__(self) -> None:
        self.types: set[str] = set()
        self.bodies: set[str] = set()
        self.samples: dict[str, Any] = {}

    def as_data(self) -> dict[str, Any]:
        data: dict[str, Any] = {"types": sorted(self.types), "bodies": sorted(self.bodies)}
        if self.samples:
            data["schema"] = infer(self.samples[key] for key in sorted(self.samples))
        return data


def answers_of(record: RunRecord) -> list[dict[str, Any]]:
    """Tell how requests were answered.

    Args:
        record: the run; only scenario cases that passed or observed are read, and only for clauses it selected.

    Returns:
        Members clause (a silent one), realm, operation and answers: status → `types` (media types), `bodies`
        (`empty`, `text` or `bytes`, where it was no JSON) and `schema` (JSON Schema, where it was). Sorted.
    """
    taken = list(_taken(record))
    sent = what_was_sent(taken)
    selected = set(record.run.clauses)
    found: dict[tuple[str, str, str], dict[str, _Answers]] = defaultdict(lambda: defaultdict(_Answers))
    for exchange, path in taken:
        clause = _clause(exchange, path)
        if clause in selected:
            place = clause, str(exchange.operation), exchange.realm
            _note(found[place][str(_response(exchange)["status"])], exchange, path, sent)
    return [
        {
            "clause": clause,
            "realm": realm,
            "operation": operation,
            "answers": {status: answers[status].as_data() for status in sorted(answers)},
        }
        for (clause, operation, realm), answers in sorted(found.items())
    ]


def _taken(record: RunRecord) -> Iterator[tuple[RecordedExchange, Mapping[str, str]]]:
    """Yield the exchanges that are read, each with the values of its path parameters."""
    operations = load_description().operations
    well = {case.id for case in record.cases if case.outcome in _WENT_WELL and case.id.startswith(_STEADY)}
    base = urlsplit(record.run.base_url).path.rstrip("/")
    for exchange in record.exchanges.values():
        operation = operations.get(exchange.operation or "")
        if exchange.case not in well or exchange.fault or not exchange.response or operation is None:
            continue
        path = urlsplit(exchange.request["url"]).path.removeprefix(base)
        # A case may ask for another address in an operation's name; its answer says nothing of the operation.
        values = operation.match(segments(path))
        known = operation.id in SUCCESS_STATUS and exchange.realm in operation.realms
        if values is not None and known and exchange.response["status"] < 500:
            yield exchange, values


def _response(exchange: RecordedExchange) -> Mapping[str, Any]:
    return exchange.response or {}


def _clause(exchange: RecordedExchange, path: Mapping[str, str]) -> str:
    operation = str(exchange.operation)
    if _response(exchange)["status"] < 400:
        return success_clause(operation)
    sent_token = header(exchange.request["headers"], "authorization") is not None
    tokenless = not sent_token or _response(exchange)["status"] == 401
    uid = path.get("uid")
    valid = uid is None or _VALID_UID.fullmatch(uid) is not None
    return refusal_clause(operation, tokenless=tokenless, uid_valid=valid)


def _note(answers: _Answers, exchange: RecordedExchange, path: Mapping[str, str], sent: Sent) -> None:
    if not telling(exchange, path, sent):
        return
    response = _response(exchange)
    body = response["body"] or {}
    media_type = (header(response["headers"], "content-type") or "").partition(";")[0].strip().lower()
    value = json_of(body)
    if value is not None:
        status = response["status"]
        told = normal(str(exchange.operation), value, sent) if status < 400 else refused(value, sent)
        if told is None:
            return
        answers.samples.setdefault(signature(told), told)
    else:
        answers.bodies.add(_EMPTY if not body.get("size") else _TEXT if "text" in body else _BYTES)
    if media_type:
        answers.types.add(media_type)
