"""What a run saw where the interface document is silent, as flat facts, and `observations.json`, which holds them.

Besides what cases noted, these are statuses and shapes of responses, from the exchanges of cases that went well. The
shape of a response is one fact a line, `200 body.identifier: string`, from a body without what the run sent and without
records of others; a text has its form where every sample has it, a member that was not always there is `optional`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import jsonschema_rs

from contracts.errors import UsageError
from contracts.evidence.record import Observation, RunRecord, Verdict
from contracts.evidence.verdicts import RunVerdict
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.transcript import json_of
from contracts.file_formats import Format, Moment, Name, convert, parse, read_bytes, write_file
from contracts.history.drift import RealmDifference, between_realms
from contracts.history.observed_facts import FAULT, OPTIONAL, OR, SEEN, Facts, Place, Value
from contracts.interface.description import load_description, operations_with
from contracts.interface.operations import segments

#: Keys that are values, such as identifiers and numbers, become this one.
ANY_KEY: Final = "*"
_VALUE_KEY: Final = re.compile(r"\d+|[0-9a-fA-F-]{12,}|rc-.*")
_DEEPEST: Final = 24
#: Where a request names the record it is about.
_NAMES: Final = ("uid", "identifier")
#: Cases that send the same in every run; generated and played ones depend on the seed.
_STEADY: Final = "scenario/"
_WENT_WELL: Final = frozenset({Verdict.PASS, Verdict.OBSERVED})
_VALID_UID: Final = re.compile(r"[A-Za-z0-9_-]{11,128}", re.ASCII)
_FORMS: Final = ("date-time", "date", "uuid", "email", "uri")
#: The members of an answer that a case put into words, and how the words for its body begin.
_SHAPE: Final = frozenset({"status", "type", "body"})
_WORDS: Final = ("object of ", "array of ")

_Taken = tuple[Exchange, Mapping[str, str]]


@lru_cache(maxsize=4096)
def form_of(text: str) -> str | None:
    """Return the form of a text: `date-time`, `date`, `uuid`, `email`, `uri`, or None for any other."""
    return next((name for name in _FORMS if _has_form(name)(text)), None)


@cache
def _has_form(name: str) -> Callable[[str], bool]:
    has = jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True).is_valid
    # Any word before a colon is a scheme; only addresses are meant.
    return lambda text: has(text) and (name != "uri" or text.startswith(("http://", "https://")))


@dataclass
class _Answers:
    """The answers of one operation with one status: kinds by path, and how often each path was there."""

    kinds: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    times: Counter[str] = field(default_factory=Counter)
    objects: Counter[str] = field(default_factory=Counter)

    def add(self, value: Any, path: str = "body") -> None:
        """Take in a JSON value."""
        self.times[path] += 1
        self.kinds[path].add(_kind(value))
        if isinstance(value, dict):
            self.objects[path] += 1
            for name, member in value.items():
                self.add(member, f"{path}.{_named(name)}")
        for item in value if isinstance(value, list) else ():
            self.add(item, f"{path}[]")

    def facts(self, status: str) -> Iterator[tuple[str, str]]:
        """Yield the facts, by names that begin with the status."""
        for path, kinds in sorted(self.kinds.items()):
            words = OR.join(sorted(kinds - ({"integer"} if "number" in kinds else set())))
            parent = path.rpartition(".")[0]
            optional = not path.endswith("[]") and self.times[path] < self.objects[parent]
            yield f"{status} {path}", f"{words}, {OPTIONAL}" if optional else words


def _kind(value: Any) -> str:
    if isinstance(value, str):
        form = form_of(value)
        return f"string {form}" if form else "string"
    names = {bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}
    return names.get(type(value), "null")


def _named(name: str) -> str:
    """Return a member's name as a path can hold it: dots and brackets in it stay readable, but cut nothing."""
    return name.translate({ord("."): "·", ord("["): "(", ord("]"): ")", ord("|"): "/"})


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


def what_was_sent(exchanges: Iterable[_Taken]) -> Sent:
    """Gather what the run sent, from exchanges with the values of their path parameters."""
    members, identifiers, others = set[str](), set[str](), set[str]()
    files = operations_with(family="attachment")
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
            if exchange.operation not in files and not _is_document(document):
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
    foreign = any(path.get(name) and path[name] not in sent.identifiers for name in _NAMES)
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
    return _without_sent(kept, sent)


def _status(exchange: Exchange) -> int:
    return exchange.response.status if exchange.response else 599


def _is_document(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("header"), dict)


def _objects(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for member in members if depth < _DEEPEST else ():
        yield from _objects(member, depth + 1)


def _without_sent(value: Any, sent: Sent, depth: int = 0) -> Any:
    """A body in which keys that are values are put together, and documents lack what the run sent."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, dict):
        dropped: Collection[str] = sent.members if _is_document(value) else ()
        return {
            ANY_KEY if name in sent.identifiers or _VALUE_KEY.fullmatch(name) else name: _without_sent(
                member, sent, depth + 1
            )
            for name, member in value.items()
            if name not in dropped
        }
    return [_without_sent(item, sent, depth + 1) for item in value] if isinstance(value, list) else value


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


def answers_of(record: RunRecord) -> Facts:
    """Tell how requests were answered: statuses of success, and types and shapes of responses.

    Args:
        record: the run; only scenario cases that passed or observed are read, and only for clauses it selected.
    """
    taken = list(_taken(record))
    sent, selected = what_was_sent(taken), set(record.run.clauses)
    types: dict[Place, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    bodies: dict[Place, dict[str, _Answers]] = defaultdict(lambda: defaultdict(_Answers))
    statuses: dict[Place, set[str]] = defaultdict(set)
    for exchange, path in taken:
        operation, clause, status = str(exchange.operation), _clause(exchange, path), str(_status(exchange))
        if clause not in selected:
            continue
        place = Place(clause, operation, exchange.realm)
        if status < "400":
            of_status = load_description().operations[operation].clauses.status
            statuses[Place(of_status, operation, exchange.realm)].add(status)
        if telling(exchange, path, sent):
            _note(types[place][status], bodies[place][status], exchange, sent)
    facts: Facts = {place: {"status": OR.join(sorted(seen))} for place, seen in statuses.items()}
    for place, answers in bodies.items():
        of_place = {name: text for status, each in answers.items() for name, text in each.facts(status)}
        of_place |= {f"{status} type": OR.join(sorted(of)) for status, of in types[place].items() if of}
        facts.setdefault(place, {}).update(of_place)
    return facts


def _note(types: set[str], answers: _Answers, exchange: Exchange, sent: Sent) -> None:
    response = exchange.response
    value = json_of(response.body) if response is not None else None
    if response is None:
        return
    if value is not None:
        accepted = response.status < 400
        shape = normal(str(exchange.operation), value, sent) if accepted else _without_sent(value, sent)
        if shape is None:
            return
        answers.add(shape)
    else:
        text = "bytes" if response.body.decoded is None else "text"
        answers.kinds["body"].add(text if response.body.size else "empty")
    types |= {response.media_type} if response.media_type else set()


def _taken(record: RunRecord) -> Iterator[_Taken]:
    """Yield the exchanges that are read, each with the values of its path parameters."""
    operations = load_description().operations
    well = {case.id for case in record.cases if case.outcome in _WENT_WELL and case.id.startswith(_STEADY)}
    base = urlsplit(record.run.base_url).path.rstrip("/")
    for exchange in record.exchanges.values():
        operation = operations.get(exchange.operation or "")
        if exchange.case not in well or exchange.fault or not exchange.response or operation is None:
            continue
        # A case may ask for another address in an operation's name; its answer says nothing of the operation.
        values = operation.match(segments(urlsplit(exchange.url).path.removeprefix(base)))
        if values is not None and exchange.realm in operation.realms and exchange.response.status < 500:
            yield exchange, values


def _clause(exchange: Exchange, path: Mapping[str, str]) -> str:
    """The silent clause about the body of an answer, or about a refusal."""
    described = load_description().operations[str(exchange.operation)]
    if _status(exchange) < 400:
        return described.clauses.answer
    if path.get("uid") is not None and not _VALID_UID.fullmatch(path["uid"]):
        return "uid-refusal-answer"
    tokenless = "Authorization" not in exchange.request_headers or _status(exchange) == 401
    # The table of the workflow endpoint gives the refusal for want of a token, so it is no silent point.
    if tokenless and described.protected and described.family != "workflow":
        return "token-missing-answer"
    return described.clauses.refusal


#: The record that was asked about last, and its facts: several reports ask for the same, and it takes its time.
_LATEST: list[tuple[RunRecord, Facts]] = []


def facts_of(record: RunRecord) -> Facts:
    """Return all that a run saw at silent points, sorted; it is not to be altered."""
    if not _LATEST or _LATEST[0][0] is not record:
        _LATEST[:] = [(record, put_together(record.observations, answers_of(record)))]
    return _LATEST[0][1]


def put_together(observations: Iterable[Observation], answers: Facts) -> Facts:
    """Return what cases noted and how requests were answered as facts; what could not be told (null) is none."""
    noted: dict[Place, dict[str, set[str] | tuple[str, ...]]] = defaultdict(dict)
    for observation in observations:
        place = Place(observation.clause, observation.operation or "", observation.realm)
        has_shape = any(name != "status" for name in answers.get(place, ()))
        for path, value in _flat(observation.seen, has_shape=has_shape):
            _add(noted[place], path, value)
    facts: dict[Place, dict[str, Value]] = {
        place: {
            path: value if isinstance(value, tuple) else OR.join(sorted(value))
            for path, value in seen.items()
        }
        for place, seen in noted.items()
    }
    for place, answered in answers.items():
        # What a case says of the status of a success stands before what its requests show of it.
        known = facts.get(place, {})
        facts[place] = known | {
            name: text for name, text in answered.items() if name != "status" or not known
        }
    return {place: dict(sorted(values.items())) for place, values in sorted(facts.items()) if values}


def text_of(value: object) -> str:
    """Return a scalar as the text that facts hold: `201`, `true`, `header`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    # No separator of alternatives may cut it in two.
    return " ".join(str(value).split()).replace(OR, " / ")


def _add(facts: dict[str, set[str] | tuple[str, ...]], path: str, value: str | tuple[str, ...]) -> None:
    before = facts.get(path)
    if isinstance(value, tuple) or isinstance(before, tuple):
        several = value if isinstance(value, tuple) else (value,)
        facts[path] = tuple(sorted({*several, *(before or ())}))
    else:
        facts[path] = {value, *(before or ())}


def _flat(seen: Any, *, has_shape: bool, path: str = "") -> Iterator[tuple[str, str | tuple[str, ...]]]:
    """Yield the facts of one observation; `has_shape`: the shape of its body is known from exchanges, too."""
    if isinstance(seen, dict) and set(seen) == {"fault", "status"}:
        yield f"{FAULT}{seen['fault']}", text_of(seen["status"])
    elif isinstance(seen, dict) and set(seen) == _SHAPE:
        if not (has_shape and int(seen["status"]) < 400):
            yield "status", text_of(seen["status"])
        if not has_shape:
            yield f"{seen['status']} type", text_of(seen["type"]) or "none"
            yield f"{seen['status']} body", text_of(seen["body"])
    elif isinstance(seen, dict):
        for name, value in seen.items():
            yield from _flat(value, has_shape=has_shape, path=f"{path}.{name}" if path else str(name))
    elif isinstance(seen, list | tuple):
        if path or not has_shape:
            yield path or SEEN, tuple(sorted({text_of(value) for value in seen if value is not None}))
    elif seen is not None and not (has_shape and isinstance(seen, str) and seen.startswith(_WORDS)):
        yield path or SEEN, text_of(seen)


FILE_NAME: Final = "observations.json"
FORMAT: Final = 3


class PlaceFacts(Format, frozen=True):
    """What was seen of a clause on an operation in a realm: name of a fact → its value, or a closed set of values."""

    clause: Name
    operation: str
    realm: Name
    facts: Mapping[str, Value]


class ObservationsFile(Format, frozen=True, kw_only=True):
    """What a run saw where the interface document is silent; `complete` is false where evidence is missing."""

    format: Literal[3] = FORMAT
    target: str
    profile: str
    started: Moment
    observed: tuple[PlaceFacts, ...]
    realm_differences: tuple[RealmDifference, ...]
    complete: bool

    @property
    def facts(self) -> Facts:
        """The facts by their place."""
        return {Place(each.clause, each.operation, each.realm): dict(each.facts) for each in self.observed}


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `observations.json`, in an order that two runs share, and return its path."""
    run, facts = record.run, facts_of(record)
    content = ObservationsFile(
        target=run.target,
        profile=run.profile,
        started=run.started,
        observed=tuple(PlaceFacts(*place, values) for place, values in facts.items()),
        realm_differences=between_realms(facts),
        complete=not verdict.problems,
    )
    return write_file(folder / FILE_NAME, content, ObservationsFile)


def read(folder: Path) -> ObservationsFile:
    """Read the `observations.json` of a run folder."""
    path = folder / FILE_NAME
    again = f"`python -m contracts.reports {folder}` makes it again"
    try:
        content = parse(read_bytes(path), str(path))
    except FileNotFoundError as error:
        raise UsageError(f"{path} is absent; {again}") from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise UsageError(f"{path} is of another version of the suite; {again}")
    file = convert(content, ObservationsFile, str(path))
    if not file.complete:
        raise UsageError(f"{folder.name} is not whole, so its observations cannot be relied on; run again")
    return file
