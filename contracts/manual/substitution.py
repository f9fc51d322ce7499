"""What a new sequence needs otherwise than an old one: identifiers, values of responses, settings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import unquote

from contracts.errors import UsageError
from contracts.exchanges.exchange import Exchange
from contracts.interface.description import Description
from contracts.interface.operations import UID_LONGEST, UID_SHORTEST, is_valid_uid
from contracts.manual.recorded_sequence import RecordedSequence, path_of, text_of
from contracts.safe_text import json_text
from contracts.session.namespace import KEPT_PREFIX, SUITE_PREFIX, Namespace, new_run_token
from contracts.settings.embedded_sandbox import DEFAULT_SIZE_LIMIT, sandbox_target
from contracts.settings.target import SANDBOX, RealmSettings, Target

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
            for found in _OF_A_RUN.findall(_everything(step)):
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
        return self._pattern.sub(lambda found: self._new(found[0]), text)

    @property
    def pairs(self) -> Mapping[str, str]:
        """Old names and beginnings of names, with the new ones."""
        return self._prefixes | self._whole

    def _new(self, old: str) -> str:
        return self._whole.get(old) or self._prefixes.get(old) or old


def _pattern(whole: Mapping[str, str], prefixes: Mapping[str, str]) -> re.Pattern[str] | None:
    parts = [rf"(?<![\w-]){re.escape(name)}(?![\w-])" for name in sorted(whole, key=lambda each: -len(each))]
    parts += [re.escape(prefix) for prefix in prefixes]
    return re.compile("|".join(parts)) if parts else None


def _everything(step: Exchange) -> str:
    return f"{unquote(step.url)} {text_of(step.request_body) or ''}"


def _written(steps: Iterable[Exchange], description: Description) -> list[str]:
    """Identifiers that the sequence writes to, in the path or in the header of a record."""
    found: dict[str, None] = {}
    for step in steps:
        match = description.match(step.method, path_of(step.url))
        if match is None or match[0].safe or match[0].id == "createToken":
            continue
        found |= {match[1][name]: None for name in _NAMES if match[1].get(name)}
        found |= dict.fromkeys(_HEADER.findall(text_of(step.request_body) or ""))
    return list(found)


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
    "locked_identifier",
    "others_identifier",
    "published_identifier",
)
_LISTS: Final = ("existing_identifier", "temporary_files", "spare_identifiers")
#: Used up when they are used: each round takes another one.
_USED_UP: Final = ("existing_identifier", "temporary_files")
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
            known = "|".join(map(re.escape, terms))
            pattern = rf'("(?:country|government)"\s*:\s*\{{\s*"identifier"\s*:\s*")({known})(")'
            text = re.sub(pattern, lambda found: found[1] + terms[found[2]] + found[3], text)
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
            content = json.loads(text)
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
    known = target if sequence.target == target.name else None
    if sequence.target == SANDBOX:
        known = sandbox_target(_NOWHERE, DEFAULT_SIZE_LIMIT)
    return asdict(known.realm_settings(sequence.realm)) if known else asdict(RealmSettings())


def _texts(steps: tuple[Exchange, ...]) -> str:
    return "\n".join(f"{step.url} {text_of(step.request_body) or ''}" for step in steps)


def _bare(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "header"}
