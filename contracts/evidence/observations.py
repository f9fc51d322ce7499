"""`observations.json`: what was seen where the document is silent, in an order that two runs share.

Besides what cases noted, it holds statuses and shapes of responses, read from the exchanges of cases that went well. A
shape is inferred by GenSON from a body without what the run sent and without records of others, as JSON Schema with the
format of a text where every sample has it.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

import jsonschema_rs
from genson import SchemaBuilder  # type: ignore[import-untyped]
from genson.schema.strategies import String  # type: ignore[import-untyped]
from msgspec import UNSET, Meta, UnsetType

from contracts.errors import UsageError
from contracts.evidence.record import Observation, RunRecord, Verdict
from contracts.evidence.verdicts import RunVerdict
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.transcript import json_of
from contracts.file_formats import (
    Format,
    Moment,
    Name,
    Names,
    convert,
    one_of,
    parse,
    plain,
    read_bytes,
    write_file,
)
from contracts.history.drift import RealmDifference, between_realms
from contracts.history.observed_facts import read_facts, refusal_clause, success_clause
from contracts.interface.description import load_description, operations_with
from contracts.interface.operations import segments


def infer(samples: Iterable[Any]) -> dict[str, Any]:
    """Infer a JSON Schema (draft 2020-12 and earlier read it alike) that every sample fits.

    Args:
        samples: JSON values; at least one. Values leave no trace but their kind and, for texts, their form.

    Returns:
        The schema, members in alphabetical order, the same for any order of the samples.
    """
    builder = _Builder(schema_uri=None)
    for sample in samples:
        builder.add_object(sample)
    schema: dict[str, Any] = _ordered(builder.to_schema())
    return schema


@lru_cache(maxsize=4096)
def form_of(text: str) -> str | None:
    """Return the form of a text: `date-time`, `date`, `uuid`, `email`, `uri`, or None for any other."""
    return next((name for name, has in _forms() if has(text)), None)


class _Formed(String):  # type: ignore[misc]
    """Texts of one form; texts of several forms, or of none, stand beside each other as alternatives."""

    KEYWORDS = ("type", "format")
    FORM: str

    @classmethod
    def match_schema(cls, schema: dict[str, Any]) -> bool:
        return schema.get("type") == "string" and schema.get("format") == cls.FORM

    @classmethod
    def match_object(cls, obj: Any) -> bool:
        return isinstance(obj, str) and form_of(obj) == cls.FORM

    def to_schema(self) -> dict[str, Any]:
        return {"type": "string", "format": self.FORM}


class _Plain(String):  # type: ignore[misc]
    """Texts of no form that is told apart."""

    @classmethod
    def match_object(cls, obj: Any) -> bool:
        return isinstance(obj, str) and form_of(obj) is None


_FORMS = ("date-time", "date", "uuid", "email", "uri")


class _Builder(SchemaBuilder):  # type: ignore[misc]
    EXTRA_STRATEGIES = (
        *(type(f"_{name}", (_Formed,), {"FORM": name}) for name in _FORMS),
        _Plain,
    )


@cache
def _forms() -> tuple[tuple[str, Callable[[str], bool]], ...]:
    return tuple((name, _checker(name)) for name in _FORMS)


def _checker(name: str) -> Callable[[str], bool]:
    has = jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True).is_valid
    if name == "uri":
        # Any word before a colon is a scheme; only addresses are meant.
        return lambda text: text.startswith(("http://", "https://")) and has(text)
    return has


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        # Alternatives and required members are sets; their order says nothing.
        return sorted((_ordered(item) for item in value), key=json.dumps)
    return value


#: Keys that are values, such as identifiers and numbers, become this one.
ANY_KEY: Final = "*"
_VALUE_KEY: Final = re.compile(r"\d+|[0-9a-fA-F-]{12,}|rc-.*")
_DEEPEST: Final = 24
#: Where a request names the record it is about.
_NAMES: Final = ("uid", "identifier")


@dataclass(frozen=True)
class Sent:
    """What the run sent.

    Attributes:
        members: Names of members of its documents.
        identifiers: Identifiers that it wrote to.
        documents: Of these, the ones under which it wrote documents with a header and nothing else.
    """

    members: frozenset[str]
    identifiers: frozenset[str]
    documents: frozenset[str]


def what_was_sent(exchanges: Iterable[tuple[Exchange, Mapping[str, str]]]) -> Sent:
    """Gather what the run sent.

    Args:
        exchanges: each with the values of its path parameters.
    """
    members: set[str] = set()
    identifiers: set[str] = set()
    others: set[str] = set()
    files = {
        name for name, operation in load_description().operations.items() if operation.family == "attachment"
    }
    for exchange, path in exchanges:
        if exchange.method not in ("POST", "PUT") or exchange.operation == "createToken":
            continue
        body = json_of(exchange.request_body)
        document = body.get("document", body) if isinstance(body, dict) else None
        if isinstance(body, dict):
            members |= body.keys() | (document.keys() if isinstance(document, dict) else set())
        if _status(exchange) < 400:
            named = {path[name] for name in _NAMES if path.get(name)}
            identifiers |= named
            if exchange.operation not in files and not (
                isinstance(document, dict) and _is_document(document)
            ):
                others |= named
    return Sent(frozenset(members), frozenset(identifiers), frozenset(identifiers - others))


def telling(exchange: Exchange, path: Mapping[str, str], sent: Sent) -> bool:
    """Tell whether an answer says something of the service, and not of what happens to be stored there.

    An accepted request about a record that the run did not write shows another client's record; a file is its
    owner's; and a body that was cut has an unknown rest.
    """
    whole = exchange.response is None or exchange.response.body.whole
    if _status(exchange) >= 400:
        return whole
    named = [path[name] for name in _NAMES if path.get(name)]
    foreign = any(name not in sent.identifiers for name in named)
    # Bodies and types of files are not the service's.
    return exchange.operation not in operations_with(answers="file") and not foreign and whole


def normal(operation: str, value: Any, sent: Sent) -> Any:
    """Return the body of an accepted answer without what the run sent; None when nothing of it is left to tell.

    A document that comes back loses the members that were sent; what the service added stays. A list of drafts
    keeps the run's own documents: drafts of others may be of any age, and which of the run's odd ones it shows hangs
    on when it is asked.
    """
    if operation == "getDraft" and not any(map(_is_document, _objects(value))):
        return None
    kept = _own_items(value, sent.documents) if operation == "listDrafts" else value
    return _without_sent(kept, sent, 0)


def refused(value: Any, sent: Sent) -> Any:
    """Return the body of a refusal with keys that are values put together."""
    return _without_sent(value, sent, 0)


def signature(value: Any) -> str:
    """Return a text that is equal for values of the same shape, so that each shape is looked at once."""
    return json.dumps(_outline(value), sort_keys=True)


def _outline(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _outline(member) for name, member in value.items()}
    if isinstance(value, list):
        outlines = {json.dumps(_outline(item), sort_keys=True) for item in value}
        return sorted(outlines)
    return f"{type(value).__name__} {form_of(value)}" if isinstance(value, str) else type(value).__name__


def _status(exchange: Exchange) -> int:
    return exchange.response.status if exchange.response else 599


def _is_document(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("header"), dict)


def _objects(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        yield value
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for member in members:
        yield from _objects(member, depth + 1)


def _without_sent(value: Any, sent: Sent, depth: int) -> Any:
    if depth > _DEEPEST:
        return None
    if isinstance(value, dict):
        dropped: Collection[str] = sent.members if _is_document(value) else ()
        return {
            _key(name, sent): _without_sent(member, sent, depth + 1)
            for name, member in value.items()
            if name not in dropped
        }
    if isinstance(value, list):
        return [_without_sent(item, sent, depth + 1) for item in value]
    return value


def _key(name: str, sent: Sent) -> str:
    return ANY_KEY if name in sent.identifiers or _VALUE_KEY.fullmatch(name) else name


def _own_items(value: Any, own: Collection[str], depth: int = 0) -> Any:
    """Return a list's answer with the items left out that name none of the run's own identifiers."""
    if isinstance(value, dict) and depth < _DEEPEST:
        return {name: _own_items(member, own, depth + 1) for name, member in value.items()}
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return [item for item in value if not isinstance(item, dict) or _names_one_of(item, own)]
    return value


def _names_one_of(item: Mapping[str, Any], own: Collection[str]) -> bool:
    texts = (text for part in _objects(item) for text in part.values() if isinstance(text, str))
    return any(text in own for text in texts)


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
    responses: dict[tuple[str, str, str], dict[str, _Answers]] = defaultdict(lambda: defaultdict(_Answers))
    for exchange, path in taken:
        clause = _clause(exchange, path)
        if clause in selected:
            place = clause, str(exchange.operation), exchange.realm
            _note(responses[place][str(_status(exchange))], exchange, path, sent)
    return [
        {
            "clause": clause,
            "realm": realm,
            "operation": operation,
            "answers": {status: answers[status].as_data() for status in sorted(answers)},
        }
        for (clause, operation, realm), answers in sorted(responses.items())
    ]


def _taken(record: RunRecord) -> Iterator[tuple[Exchange, Mapping[str, str]]]:
    """Yield the exchanges that are read, each with the values of its path parameters."""
    operations = load_description().operations
    well = {case.id for case in record.cases if case.outcome in _WENT_WELL and case.id.startswith(_STEADY)}
    base = urlsplit(record.run.base_url).path.rstrip("/")
    for exchange in record.exchanges.values():
        operation = operations.get(exchange.operation or "")
        if exchange.case not in well or exchange.fault or not exchange.response or operation is None:
            continue
        path = urlsplit(exchange.url).path.removeprefix(base)
        # A case may ask for another address in an operation's name; its answer says nothing of the operation.
        values = operation.match(segments(path))
        expected = exchange.realm in operation.realms
        if values is not None and expected and exchange.response.status < 500:
            yield exchange, values


def _clause(exchange: Exchange, path: Mapping[str, str]) -> str:
    operation = str(exchange.operation)
    if _status(exchange) < 400:
        return success_clause(operation)
    tokenless = "Authorization" not in exchange.request_headers or _status(exchange) == 401
    uid = path.get("uid")
    valid = uid is None or _VALID_UID.fullmatch(uid) is not None
    return refusal_clause(operation, tokenless=tokenless, uid_valid=valid)


def _note(answers: _Answers, exchange: Exchange, path: Mapping[str, str], sent: Sent) -> None:
    response = exchange.response
    if response is None or not telling(exchange, path, sent):
        return
    body, value = response.body, json_of(response.body)
    if value is not None:
        accepted = response.status < 400
        shape = normal(str(exchange.operation), value, sent) if accepted else refused(value, sent)
        if shape is None:
            return
        answers.samples.setdefault(signature(shape), shape)
    else:
        answers.bodies.add(_EMPTY if not body.size else _BYTES if body.decoded is None else _TEXT)
    if response.media_type:
        answers.types.add(response.media_type)


FILE_NAME = "observations.json"
FORMAT: Final = 2


class ObservedPoint(Format, frozen=True):
    """What cases noted, equal notes put together; `seen` is any JSON value, null in it could not be told."""

    clause: Name
    realm: Name
    operation: str | None
    seen: Any
    cases: Names


class ResponseShape(Format, frozen=True, rename={"json_schema": "schema"}):
    """Responses with one status: media types, kinds of bodies that were no JSON, a schema that every JSON body fits."""

    types: Annotated[tuple[str, ...], Meta(extra_json_schema={"uniqueItems": True})]
    bodies: Annotated[
        tuple[Annotated[str, one_of("bytes", "empty", "text")], ...],
        Meta(extra_json_schema={"uniqueItems": True}),
    ]
    json_schema: dict[str, Any] | UnsetType = UNSET


class OperationResponses(Format, frozen=True):
    """The responses of an operation in a realm, by status."""

    clause: Name
    realm: Name
    operation: Name
    answers: Annotated[
        dict[Annotated[str, Meta(pattern="^[1-4][0-9]{2}$")], ResponseShape], Meta(min_length=1)
    ]

    def __post_init__(self) -> None:
        """Refuse an operation that the interface does not have."""
        if self.operation not in load_description().operations:
            raise ValueError(f"there is no operation '{self.operation}'")


class ObservationsFile(Format, frozen=True, kw_only=True):
    """What a run saw where the interface document is silent; `complete` is false where evidence is missing."""

    format: Literal[2]
    target: str
    profile: str
    started: Moment
    observations: tuple[ObservedPoint, ...]
    answers: tuple[OperationResponses, ...]
    realm_differences: tuple[RealmDifference, ...]
    complete: bool


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `observations.json` and return its path."""
    content = build(record) | {"complete": not verdict.problems}
    return write_file(folder / FILE_NAME, content, ObservationsFile)


def read(folder: Path) -> dict[str, Any]:
    """Return the content of the `observations.json` of a run folder, as `build` does.

    Raises:
        UsageError: it is absent, of another version, cannot be used, or is of a run that is not whole.
    """
    return read_observations(folder / FILE_NAME)


def read_observations(path: Path) -> dict[str, Any]:
    """Return the content of an `observations.json`, as `build` does.

    Raises:
        UsageError: as `read` does.
    """
    again = f"`python -m contracts.reports {path.parent}` makes it again"
    try:
        content = parse(read_bytes(path), str(path))
    except FileNotFoundError as error:
        raise UsageError(f"{path} is absent; {again}") from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise UsageError(f"{path} is of another version of the suite; {again}")
    if not convert(content, ObservationsFile, str(path)).complete:
        raise UsageError(
            f"{path.parent.name} is not whole, so its observations cannot be relied on; run again"
        )
    return content


#: The record that was asked about last, and its content: several reports ask for the same, and it takes its time.
_LATEST: list[tuple[RunRecord, dict[str, Any]]] = []


def build(record: RunRecord) -> dict[str, Any]:
    """Return the content of `observations.json` as plain data, all but `complete`; it is not to be altered.

    Returns:
        Members format, target, profile, started, `observations` (what cases noted), `answers` (statuses and
        shapes, see `answers_of`) and `realm_differences` (points that realms do not agree on).
    """
    if not _LATEST or _LATEST[0][0] is not record:
        _LATEST[:] = [(record, _build(record))]
    return _LATEST[0][1]


def _build(record: RunRecord) -> dict[str, Any]:
    run = record.run
    seen = {"observations": merge_observations(record.observations), "answers": answers_of(record)}
    differences = between_realms(read_facts(seen))
    return {
        "format": FORMAT,
        "target": run.target,
        "profile": run.profile,
        "started": run.started,
        **seen,
        "realm_differences": plain(differences),
    }


def merge_observations(observations: tuple[Observation, ...]) -> list[dict[str, Any]]:
    """Put equal observations together.

    Returns:
        Members clause, realm, operation, seen and cases (node ids), sorted by all but the last, so that a
        comparison of two runs shows nothing but differences.
    """
    cases: dict[tuple[str, str, str, str], set[str]] = {}
    seen: dict[tuple[str, str, str, str], Observation] = {}
    for observation in observations:
        key = (
            observation.clause,
            observation.operation or "",
            observation.realm,
            json.dumps(observation.seen, sort_keys=True),
        )
        seen.setdefault(key, observation)
        cases.setdefault(key, set()).add(observation.case)
    return [
        {
            "clause": seen[key].clause,
            "realm": seen[key].realm,
            "operation": seen[key].operation,
            "seen": seen[key].seen,
            "cases": sorted(cases[key]),
        }
        for key in sorted(seen)
    ]
