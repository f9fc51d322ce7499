"""Settings of one target in a sequence, and what takes their place on another target or in another realm."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from contracts.errors import UsageError
from contracts.evidence.plain import json_text
from contracts.evidence.record import RecordedExchange
from contracts.target.embedded import DEFAULT_SIZE_LIMIT, sandbox_target
from contracts.target.model import SANDBOX, RealmSettings, Target
from contracts.workbench.recorded import text_of
from contracts.workbench.telling import Telling

#: Values that name a record or a schema and stand for themselves wherever they appear.
_NAMES: Final = (
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


class Settled:
    """What of the old target's settings becomes what, in one round.

    Args:
        round_number: From 0.

    Attributes:
        notes: What could not be translated, for the person to know.
    """

    def __init__(self, telling: Telling, target: Target, realm: str, round_number: int) -> None:
        self._telling = telling
        self._old = old_settings(telling, target)
        self._new = target.realm_settings(realm)
        self._realm = realm
        self._target = target
        self._elsewhere = realm != telling.realm or target.name != telling.target
        self._values = dict(self._pairs(round_number))
        self.notes: list[str] = []

    @property
    def given(self) -> frozenset[str]:
        """Names of the old settings, which are no names of the old run."""
        listed = [self._old.get(name) or () for name in _LISTS]
        names = [self._old.get(name) for name in _NAMES]
        return frozenset(
            [*(str(each) for each in names if each), *(each for many in listed for each in many)]
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
        for name in _NAMES if self._elsewhere else ():
            old = self._old.get(name)
            if old and old in used:
                yield str(old), str(self._needed(name))
        for name in _LISTS:
            values = [str(each) for each in self._old.get(name) or () if str(each) in used]
            for place, old in enumerate(values):
                yield old, self._another(name, old, place, len(values), round_number)

    def _another(self, name: str, old: str, place: int, wanted: int, round_number: int) -> str:
        """The value that takes the place of one of a list; of those that are used up, one the old run hardly used."""
        there = [str(each) for each in self._needed(name)]
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


def old_settings(telling: Telling, target: Target) -> Mapping[str, Any]:
    """Settings of the realm that a sequence was recorded in, as far as anybody knows them."""
    if telling.settings:
        return telling.settings
    known = target if telling.target == target.name else None
    if telling.target == SANDBOX:
        known = sandbox_target(_NOWHERE, DEFAULT_SIZE_LIMIT)
    return asdict(known.realm_settings(telling.realm)) if known else asdict(RealmSettings())


def _texts(steps: tuple[RecordedExchange, ...]) -> str:
    return "\n".join(f"{step.request['url']} {text_of(step.request.get('body')) or ''}" for step in steps)


def _bare(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "header"}
