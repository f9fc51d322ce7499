"""Sends a recorded sequence again, every request in order on fresh data, and says whether the finding comes back.

What a new sequence needs otherwise than the old one is replaced: identifiers, values of responses, settings. A finding
that names a check of the table is judged by it again. For all others the two responses are compared, ignoring
identifiers, timestamps and other volatile values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from contracts.checks.table import TABLE, Judge, Judgement
from contracts.errors import EnvironmentFault, UsageError
from contracts.exchanges import readers
from contracts.exchanges.exchange import UNKNOWN_BODY, Exchange, Response
from contracts.exchanges.redaction import REDACTED, SWAPPED, TOKEN, UNKNOWN
from contracts.exchanges.request_facts import EVERYTHING, subject_of
from contracts.exchanges.transcript import body_size
from contracts.file_formats import json_value
from contracts.interface.description import Description, operations_with
from contracts.interface.operations import ANY_REALM, UID_LONGEST, UID_SHORTEST, is_valid_uid
from contracts.manual.manual_session import ROLES, ManualSession
from contracts.manual.recorded_sequence import RecordedSequence, ReplayedFinding, content_of, path_of, text_of
from contracts.safe_text import cut, json_text
from contracts.session.ledger import REMOVABLE, named, stored_by
from contracts.session.namespace import KEPT_PREFIX, SUITE_PREFIX, Namespace, new_run_token
from contracts.settings.embedded_sandbox import DEFAULT_SIZE_LIMIT, sandbox_target
from contracts.settings.target import ANONYMOUS, AUTHOR, SANDBOX, RealmSettings, Target

_LONGEST_NUMBER: Final = 18


class AnswerValues:
    """Old values of answers with the new ones that stand at the same places."""

    def __init__(self) -> None:
        self._pairs: dict[str, str] = {}

    def learn(self, old: Any, new: Any) -> None:
        """Take in an old answer and the new one to the same request, both as JSON.

        Where the new answer has another shape, whole numbers are matched in the order they come.
        """
        before, after = dict(_made_up(old)), dict(_made_up(new))
        for place, value in before.items():
            if place in after and after[place] != value:
                self._pairs.setdefault(value, after[place])
        numbers = [value for value in before.values() if value.isdigit()]
        others = [value for value in after.values() if value.isdigit()]
        if len(numbers) == len(others):
            for value, other in zip(numbers, others, strict=True):
                self._pairs.setdefault(value, other)

    def segment(self, text: str) -> str:
        """A path segment, a query value or the like, replaced when it is one of the old values as a whole."""
        return self._pairs.get(text, text)

    @property
    def pairs(self) -> Mapping[str, str]:
        """Old values with the new ones."""
        return self._pairs


def _made_up(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Places and values of what may be an identifier: whole numbers, and texts that keep the identifier rule."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _made_up(member, (*place, name))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _made_up(item, (*place, number))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield place, str(value)
    elif isinstance(value, str) and _may_name(value):
        yield place, value


def _may_name(text: str) -> bool:
    return 0 < len(text) <= _LONGEST_NUMBER if text.isdigit() else is_valid_uid(text)


_OF_A_RUN: Final = re.compile(rf"{SUITE_PREFIX}[a-z0-9]{{4}}")
_NAMES: Final = ("uid", "identifier")
_HEADER: Final = re.compile(r'"header"\s*:\s*\{[^{}]*?"identifier"\s*:\s*"([^"\\]+)"')


class IdentifierMap:
    """Which names of an old sequence become which new ones, for one round.

    Args:
        steps: The sequence.
        given: Names that stand for records of the settings, or are reused by every run: they are not renamed here.
        namespace: Takes in the round's new names.
    """

    def __init__(
        self,
        steps: Iterable[Exchange],
        given: Iterable[str],
        namespace: Namespace,
        description: Description,
    ) -> None:
        steps, given = list(steps), set(given)
        self._prefixes: dict[str, str] = {}
        self._whole: dict[str, str] = {}
        for step in steps:
            for found in _OF_A_RUN.findall(f"{unquote(step.url)} {text_of(step.request_body) or ''}"):
                if not KEPT_PREFIX.startswith(found):
                    self._prefixes.setdefault(found, "")
        for old in self._prefixes:
            token = new_run_token()
            namespace.adopt(token)
            self._prefixes[old] = f"{SUITE_PREFIX}{token}"
        for name in _written(steps, description):
            ours = name.startswith((*self._prefixes, KEPT_PREFIX))
            if name not in given and not ours and not namespace.names_existing(name):
                self._whole[name] = _like(name, namespace)
        self._pattern = _pattern(self._whole, self._prefixes)

    def __call__(self, text: str) -> str:
        """The text with every old name replaced."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda match: self._new(match[0]), text)

    @property
    def pairs(self) -> Mapping[str, str]:
        """Old names and beginnings of names, with the new ones."""
        return self._prefixes | self._whole

    def _new(self, old: str) -> str:
        return self._whole.get(old) or self._prefixes.get(old) or old


def _pattern(whole: Mapping[str, str], prefixes: Mapping[str, str]) -> re.Pattern[str] | None:
    parts = [rf"(?<![\w-]){re.escape(name)}(?![\w-])" for name in sorted(whole, key=lambda name: -len(name))]
    parts += [re.escape(prefix) for prefix in prefixes]
    return re.compile("|".join(parts)) if parts else None


def _written(steps: Iterable[Exchange], description: Description) -> list[str]:
    """Identifiers that the sequence writes to, in the path or in the header of a record."""
    names: dict[str, None] = {}
    for step in steps:
        match = description.match(step.method, path_of(step.url))
        if match is None or match[0].safe or match[0].id == "createToken":
            continue
        names |= {match[1][name]: None for name in _NAMES if match[1].get(name)}
        names |= dict.fromkeys(_HEADER.findall(text_of(step.request_body) or ""))
    return list(names)


def _like(name: str, namespace: Namespace) -> str:
    """A fresh name of the same length, with the same fault where the old one has one."""
    if is_valid_uid(name):
        return namespace.like(name)
    moved = namespace.prefix + name
    of_right_length = UID_SHORTEST <= len(name) <= UID_LONGEST
    return moved if of_right_length else moved[: max(len(name), len(namespace.prefix) + 1)]


#: Values that name a record or a schema and stand for themselves wherever they appear.
_SETTING_NAMES: Final = (
    "contact_schema",
    "contact_organization",
    "workflow_schema",
    "draft_schema",
    "locked_identifier",
    "others_identifier",
)
_LISTS: Final = (
    "existing_identifier",
    "published_identifier",
    "attachment_identifiers",
    "temporary_files",
    "spare_identifiers",
)
#: Used up when they are used: each round takes another one.
_USED_UP: Final = ("existing_identifier", "temporary_files", "attachment_identifiers")
_NOWHERE: Final = "http://127.0.0.1:8080"


class SettingMap:
    """What of the old target's settings becomes what, in one round.

    Args:
        round_number: From 0.

    Attributes:
        notes: What could not be translated, for the person to know.
    """

    def __init__(self, sequence: RecordedSequence, target: Target, realm: str, round_number: int) -> None:
        self._telling = sequence
        self._old = old_settings(sequence, target)
        self._new = target.realm_settings(realm)
        self._realm = realm
        self._target = target
        self._elsewhere = realm != sequence.realm or target.name != sequence.target
        self._values = dict(self._pairs(round_number))
        self.notes: list[str] = []

    @property
    def given(self) -> frozenset[str]:
        """Names of the old settings, which are no names of the old run."""
        listed = [self._old.get(name) or () for name in _LISTS]
        names = [self._old.get(name) for name in _SETTING_NAMES]
        return frozenset(
            [*(str(name) for name in names if name), *(value for many in listed for value in many)]
        )

    @property
    def values(self) -> Mapping[str, str]:
        """Old values with the new ones, as whole texts."""
        return self._values

    def body(self, text: str) -> str:
        """A JSON text with old values replaced, where they stand as whole texts."""
        text = self._document(text)
        for old, new in self._values.items():
            text = text.replace(json.dumps(old), json.dumps(new))
        terms = dict(zip(self._old.get("country_terms") or (), self._new.country_terms, strict=False))
        if self._elsewhere and terms:
            pattern_of_terms = "|".join(map(re.escape, terms))
            pattern = rf'("(?:country|government)"\s*:\s*\{{\s*"identifier"\s*:\s*")({pattern_of_terms})(")'
            text = re.sub(pattern, lambda match: match[1] + terms[match[2]] + match[3], text)
        return text

    def _document(self, text: str) -> str:
        """A workflow submission with the new realm's own document in place of the old one's."""
        before = self._old.get("workflow_document")
        if (
            not self._elsewhere
            or not before
            or self._new.workflow_document == before
            or '"document"' not in text
        ):
            return text
        try:
            content = json_value(text)
            document = content["document"]
        except (ValueError, TypeError, KeyError):
            return text
        if not isinstance(document, dict) or _bare(document) != _bare(before):
            self.notes.append(
                f"the document is one of {self._old.get('workflow_schema')} and is sent as it is: it is none of "
                f"{self._realm}"
            )
            return text
        identifier = (document.get("header") or {}).get("identifier")
        content["document"] = self._new.filled_document(identifier)
        return json_text(content)

    def _pairs(self, round_number: int) -> Iterator[tuple[str, str]]:
        used = _texts(self._telling.steps)
        for name in _SETTING_NAMES if self._elsewhere else ():
            old = self._old.get(name)
            if old and old in used:
                yield str(old), str(self._needed(name))
        for name in _LISTS:
            values = [str(value) for value in self._old.get(name) or () if str(value) in used]
            for place, old in enumerate(values):
                yield old, self._another(name, old, place, len(values), round_number)

    def _another(self, name: str, old: str, place: int, wanted: int, round_number: int) -> str:
        """The value that takes the place of one of a list; of those that are used up, one the old run hardly used."""
        there = [str(value) for value in self._needed(name)]
        if name not in _USED_UP:
            return old if old in there else there[place % len(there)]
        return there[-1 - (round_number * wanted + place) % len(there)]

    def _needed(self, name: str) -> Any:
        value = getattr(self._new, name)
        if not value:
            raise UsageError(
                f"the sequence needs setting realm.{self._realm}.{name}, which {self._target.name} lacks"
            )
        return value


def old_settings(sequence: RecordedSequence, target: Target) -> Mapping[str, Any]:
    """Settings of the realm that a sequence was recorded in, as far as they are known."""
    if sequence.settings:
        return sequence.settings
    own = target if sequence.target == target.name else None
    if sequence.target == SANDBOX:
        own = sandbox_target(_NOWHERE, DEFAULT_SIZE_LIMIT)
    return asdict(own.realm_settings(sequence.realm)) if own else asdict(RealmSettings())


def _texts(steps: tuple[Exchange, ...]) -> str:
    return "\n".join(f"{step.url} {text_of(step.request_body) or ''}" for step in steps)


def _bare(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "header"}


def holds(finding: ReplayedFinding, exchange: Exchange, translated: Callable[[str], str]) -> bool | None:
    """Run the check that saw a finding on a new exchange.

    Args:
        translated: Puts the names of the new run into a text of the old one.

    Returns:
        None where the finding names no check that can be run again, or the answer can be read in two ways.
    """
    check = TABLE.get(finding.check)
    arguments = json.loads(translated(json_text(dict(finding.arguments))))
    if check is None or not check.takes(arguments):
        return None
    try:
        return check.contradiction(exchange.answer, **arguments) is None
    except readers.Ambiguous:
        return None


#: What is another one each time: moments, and what a service mints or counts.
_MOMENT: Final = re.compile(r"\d{4}-?\d\d-?\d\dT\d\d:?\d\d.*|\w{3}, \d\d \w{3} \d{4} .*")
_MINTED: Final = re.compile(r"[0-9a-fA-F]{16,}|[0-9a-fA-F-]{32,40}|[A-Za-z0-9_-]{40,}\.?[A-Za-z0-9_.-]*")
_OWN_NUMBERS: Final = re.compile(
    r"_?id|.*(Id|ID|_id)|_?rev|.*[rR]evision|version|etag|total|count|size|created.*|updated.*"
)
_MOST: Final = 6
#: How it is told that there is nothing to delete.
_GONE: Final = (404, 410)
_SHOWN: Final = 80
_OF_SOME_RUN: Final = r"rc-[a-z0-9]{4}"


def differences(
    old: Exchange, new: Response, translated: Callable[[str], str], names: Iterable[str] = ()
) -> list[str]:
    """Say how an answer differs from the recorded one; empty when they are alike.

    Args:
        translated: Puts the new names into a text of the old answer.
        names: What the sequence speaks of; in a list of records others do not matter.
    """
    if old.response is None:
        return [f"had no answer, is {new.status}"]
    status, body = old.response.status, old.response.body
    if (status < 400) is not new.success:
        return [f"was {status}, is {new.quote()}"]
    differences = [] if status == new.status else [f"status was {status}, is {new.status}"]
    if body == UNKNOWN_BODY:
        return differences
    if not body.whole or body.decoded is None:
        return [*differences, *_by_size(body.size, new.body.size)]
    before, after = _read(translated(body.decoded)), new.json if new.json is not None else new.text
    ours = re.compile("|".join(map(re.escape, names)) or _OF_SOME_RUN)
    return [*differences, *_all_or_some(before, after, ours)]


def _all_or_some(before: Any, after: Any, ours: re.Pattern[str]) -> list[str]:
    differences = list(_between(before, after, "body", ours))
    more = len(differences) - _MOST
    return [*differences[:_MOST], *([f"and {more} more differences"] if more > 0 else [])]


def _by_size(before: int, after: int) -> list[str]:
    return [] if before == after else [f"body was {before} bytes, is {after}"]


def _read(text: str) -> Any:
    try:
        return json_value(text)
    except (ValueError, RecursionError):
        return text


def _between(before: Any, after: Any, place: str, names: re.Pattern[str]) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            at = f"{place}.{name}"
            if name not in after:
                yield f"{at} was there, is gone"
            elif name not in before:
                yield f"{at} was not there, is {_short(after[name])}"
            elif not (_OWN_NUMBERS.fullmatch(name) and _are_numbers(before[name], after[name])):
                yield from _between(before[name], after[name], at, names)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _of_lists(before, after, place, names)
    elif not _alike(before, after):
        yield f"{place} was {_short(before)}, is {_short(after)}"


def _of_lists(before: list[Any], after: list[Any], place: str, names: re.Pattern[str]) -> Iterator[str]:
    """Differences of arrays; in a list of records only those that name a record of the sequence are compared."""
    ours = [item for item in before if _is_ours(item, names)]
    if ours and all(isinstance(item, dict) for item in before):
        theirs = [item for item in after if _is_ours(item, names)]
        if len(ours) != len(theirs):
            yield f"{place} held {len(ours)} of our records, holds {len(theirs)}"
            return
        before, after = ours, theirs
    if len(before) != len(after):
        yield f"{place} had {len(before)} items, has {len(after)}"
        return
    for number, (one, other) in enumerate(zip(before, after, strict=True)):
        yield from _between(one, other, f"{place}[{number}]", names)


def _is_ours(item: Any, names: re.Pattern[str]) -> bool:
    return isinstance(item, dict) and names.search(json.dumps(item)) is not None


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


_DOCUMENTED: Final = ("Accept", "Content-Type", "Realm", "Authorization")
#: Those of them that are taken from a recording; a file from a stranger could put any other to use against a service.
_TAKEN: Final = {name.lower(): name for name in _DOCUMENTED if name != "Authorization"}


@dataclass(frozen=True)
class Pair:
    """An exchange of the old sequence with the new one."""

    old: Exchange
    new: Exchange
    decisive: bool


class Round:
    """Sends a sequence once.

    Args:
        realm: In place of the one it was recorded in.
        number: From 0; each round is on data of its own.

    Raises:
        UsageError: the target lacks what the sequence needs; nothing was sent.
    """

    def __init__(self, session: ManualSession, sequence: RecordedSequence, realm: str, number: int) -> None:
        self._session = session
        self._telling = sequence
        self._realm = realm
        self.setting_map = SettingMap(sequence, session.target, realm, number)
        self.names = IdentifierMap(
            sequence.steps, self.setting_map.given, session.namespace, session.description
        )
        self.answer_values = AnswerValues()

    def send(self) -> Iterator[Pair]:
        """Send the requests one after another; what an answer makes up is carried into those that follow."""
        decisive = {exchange.id for exchange in self._telling.shown}
        for old in self._telling.steps:
            new = self._send(old)
            yield Pair(old, new, old.id in decisive)
            if new.response is not None and old.response is not None:
                self.answer_values.learn(old.response.json, new.response.json)
                if new.operation in operations_with(assigns_identifier=True) and (
                    identifier := named(new.response)
                ):
                    self._session.namespace.claim(identifier)

    def translated(self, text: str) -> str:
        """A text of an old answer as the new one would have it."""
        text = self._elsewhere(self.names(self.setting_map.body(text)))
        return text.replace(json.dumps(self._telling.realm), json.dumps(self._realm))

    def _send(self, old: Exchange) -> Exchange:
        match = self._session.description.match(old.method, path_of(old.url))
        if match is None:
            raise UsageError(f"{old.method} {path_of(old.url)[:80]} is no operation of the interface")
        operation = match[0]
        realm = self._place(old.realm)
        role = old.role if old.role in ROLES else AUTHOR
        url = self._url(old.url)
        matched = self._session.description.match(old.method, path_of(url))
        text, body = text_of(old.request_body), None
        if text is not None:
            body = content_of(old.request_body, self._body(operation.id, role, text))
        elif not old.request_body.whole:
            body = content_of(replace(old.request_body, size=body_size(old)), "")
        actor = self._session.actor(str(role), realm)
        headers = self._headers(old, str(role), realm)
        return actor.send(
            operation.id,
            path=matched[1] if matched else match[1],
            query=parse_qsl(urlsplit(url).query, keep_blank_values=True),
            body=body,
            headers=headers,
            address=lambda _: url,
        )

    def _place(self, realm: str) -> str:
        """The realm of an exchange: the one asked for, where it was in the one of the finding."""
        return self._realm if realm == self._telling.realm and realm != ANY_REALM else realm

    def _url(self, old: str) -> str:
        parts = urlsplit(old)
        path = "/".join(self._segment(part) for part in path_of(old).split("/"))
        query = "&".join(self._parameter(part) for part in parts.query.split("&")) if parts.query else ""
        return f"{self._session.target.base_url.rstrip('/')}{path}" + (f"?{query}" if query else "")

    def _segment(self, raw: str) -> str:
        text = unquote(raw)
        value = self.setting_map.values.get(text) or self.answer_values.segment(text)
        if value != text:
            return quote(value, safe="")
        # An identifier may be written as the codes of its characters.
        coded = raw != text and self.names(raw) == raw and self.names(text) != text
        if coded:
            return "".join(f"%{code:02X}" for code in self._elsewhere(self.names(text)).encode())
        return self._elsewhere(self.names(raw))

    def _parameter(self, raw: str) -> str:
        name, equals, value = raw.partition("=")
        text = unquote(value)
        if text == self._telling.realm:
            return f"{name}{equals}{quote(self._realm, safe='')}"
        value = self.setting_map.values.get(text) or self.answer_values.segment(text)
        return f"{name}{equals}{quote(value, safe='') if value != text else self.names(value)}"

    def _elsewhere(self, text: str) -> str:
        """A text in which records that all runs use again, whose names hold their realm, are those of the new one."""
        old, new = self._telling.realm, self._realm
        if old in (new, ANY_REALM):
            return text
        pattern = rf"({re.escape(KEPT_PREFIX)}[A-Za-z0-9_-]*-){re.escape(old)}(?![\w-])"
        return re.sub(pattern, lambda match: match[1] + new, text)

    def _body(self, operation: str, role: str | None, text: str) -> str:
        text = self._elsewhere(self.names(self.setting_map.body(text)))
        if operation == "createToken":
            return self._credentials(text, str(role))
        return text.replace(REDACTED, self._session.actor(str(role), ANY_REALM).token() or "")

    def _credentials(self, text: str, role: str) -> str:
        """A sign-in with the role's own password; with its e-mail too where the recording is another target's."""
        accounts = self._session.target.accounts
        account = accounts.get(role) or accounts[AUTHOR]
        anywhere = not self._telling.target
        if anywhere or (self._telling.target != self._session.target.name and REDACTED in text):
            try:
                content = json_value(text)
            except ValueError:
                return text
            if isinstance(content, dict) and isinstance(content.get("password"), str):
                password = REDACTED if anywhere else content["password"]
                content |= {"email": account.email, "password": password}
                text = json_text(content)
        return text.replace(REDACTED, account.password.reveal())

    def _headers(self, old: Exchange, role: str, realm: str) -> dict[str, str | None]:
        headers: dict[str, str | None] = dict.fromkeys(_DOCUMENTED)
        for name, value in old.request_headers.pairs:
            documented = _TAKEN.get(name.lower())
            if documented is not None:
                headers[documented] = (
                    realm if documented == "Realm" and value == self._telling.realm else value
                )
        template = old.authorization
        if template is None and "Authorization" in old.request_headers:
            template = f"Bearer {TOKEN}"
        if template == f"Bearer {TOKEN}" and role != ANONYMOUS:
            del headers["Authorization"]  # the actor's own, which is renewed when it ends
        elif template is not None:
            headers["Authorization"] = self._filled(template, role)
        return headers

    def _filled(self, template: str, role: str) -> str:
        if TOKEN not in template:
            return template
        token = self._session.actor(AUTHOR if role == ANONYMOUS else role, ANY_REALM).token() or ""
        if f"{TOKEN}{UNKNOWN}" in template:
            raise UsageError("a request held its token in a form that was not kept; run the case instead")
        if f"{TOKEN}{SWAPPED}" in template:
            return template.replace(f"{TOKEN}{SWAPPED}", token.swapcase())
        before, _, after = template.partition(f"{TOKEN}[:")
        if after:
            return before + token[: int(after.rstrip("]") or 0)]
        return template.replace(TOKEN, token)


#: Default number of rounds where a round leaves nothing permanent.
ROUNDS: Final = 3


class Outcome(StrEnum):
    """What a replay, or one round of it, shows."""

    REPRODUCED = "reproduced"
    NOT = "not reproduced"
    INTERMITTENT = "intermittent"
    UNDECIDED = "undecided"


@dataclass
class Replayed:
    """One round.

    Attributes:
        why: How the outcome was told, or why it could not be.
        differences: How the decisive answers differ from the recorded ones, each with its exchange.
    """

    pairs: list[Pair]
    outcome: Outcome
    why: str
    differences: list[tuple[str, str]] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)


def rounds_for(sequence: RecordedSequence, chosen: int | None) -> int:
    """How often to send: as asked; by default once where a round leaves permanent records, and thrice elsewhere."""
    if chosen is not None:
        return chosen
    lasting = any(
        (stored_by(step.operation) or REMOVABLE) != REMOVABLE and (step.status or 500) < 400
        for step in sequence.steps
    )
    return 1 if lasting else ROUNDS


def make_ready(session: ManualSession, sequence: RecordedSequence) -> None:
    """Look at the target before a sequence is sent, unless signing in is what the sequence is about.

    Where a token is sent in part or in another form, it is used as it is once before, as in the run that recorded it:
    a service may know only tokens that were used.

    Raises:
        EnvironmentFault: the target cannot be reached, or gives no token; one line.
    """
    if all(step.operation == "createToken" for step in sequence.steps):
        return
    session.sign_in(AUTHOR)
    if any(step.authorization not in (None, f"Bearer {TOKEN}") for step in sequence.steps):
        session.actor(AUTHOR, session.target.realms[0]).send("listDrafts")


def replay(session: ManualSession, sequence: RecordedSequence, realm: str, number: int) -> Replayed:
    """Send a sequence once.

    Raises:
        UsageError: the target lacks what the sequence needs.
    """
    again = Round(session, sequence, realm, number)
    pairs: list[Pair] = []
    try:
        for pair in again.send():
            pairs.append(pair)
            obstacle = _obstacle(pair)
            if obstacle:
                return Replayed(pairs, Outcome.UNDECIDED, obstacle)
    except EnvironmentFault as fault:
        return Replayed(pairs, Outcome.UNDECIDED, str(fault))
    judge = Judge(session.redactor.knows)
    shown = [pair for pair in pairs if pair.decisive]
    done = Replayed(pairs, Outcome.NOT, "", judgements=[judge.judge(pair.new) for pair in shown])
    for pair in shown:
        for difference in differences(pair.old, pair.new.answer, again.translated, _named_in(pairs)):
            done.differences.append((pair.new.label, difference))
    done.outcome, done.why = _decide(sequence.found, shown, done, again)
    return done


def _named_in(pairs: Iterable[Pair]) -> set[str]:
    """The documents that the requests of a round name in their addresses."""
    subjects = {subject_of(pair.new.url) for pair in pairs}
    return subjects - {EVERYTHING}


def together(rounds: list[Replayed]) -> tuple[Outcome, int, int]:
    """What some rounds show together: the outcome, how many reproduced it, and how many could tell."""
    decided = [round_ for round_ in rounds if round_.outcome is not Outcome.UNDECIDED]
    again = sum(round_.outcome is Outcome.REPRODUCED for round_ in decided)
    if not decided:
        return Outcome.UNDECIDED, 0, 0
    if again == len(decided):
        return Outcome.REPRODUCED, again, again
    return (Outcome.INTERMITTENT if again else Outcome.NOT), again, len(decided)


def _obstacle(pair: Pair) -> str | None:
    """What keeps a round from showing anything: a fault of the environment, or a preparation that went another way."""
    new = pair.new
    if new.fault is not None or new.response is None:
        return f"{new.label}: {new.fault or 'no answer'}"
    before = pair.old.status
    # What a round deleted another one finds gone, which is what was wanted.
    gone = new.method == "DELETE" and new.response.status in _GONE
    if not pair.decisive and before is not None and (before < 400) is not new.response.success and not gone:
        return f"{new.label}, which prepares it, was answered {new.response.quote()[:200]}, not {before} as before"
    return None


def _decide(
    reported: ReplayedFinding | None, shown: list[Pair], done: Replayed, again: Round
) -> tuple[Outcome, str]:
    last = shown[-1]
    if reported is not None:
        held = holds(reported, last.new, again.translated)
        if held is not None:
            verb = "is" if held else "is not"
            return (Outcome.NOT if held else Outcome.REPRODUCED), f"the answer {verb} what was expected"
        if any(
            finding.clause == reported.clause for judged in done.judgements for finding in judged.findings
        ):
            return Outcome.REPRODUCED, f"a check of {reported.clause} fails again"
    if done.differences:
        return Outcome.NOT, "the answers differ from the recorded ones"
    return Outcome.REPRODUCED, "the answers are the recorded ones again"
