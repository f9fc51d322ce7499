"""Fresh names for an old sequence: of the same shape as the old run's, in the namespace of the new one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import unquote

from contracts.evidence.record import RecordedExchange
from contracts.interface.description import Description
from contracts.session.namespace import (
    KEPT_PREFIX,
    SUITE_PREFIX,
    UID_LONGEST,
    UID_SHORTEST,
    Namespace,
    is_valid_uid,
    new_run_token,
)
from contracts.workbench.recorded import path_of, text_of

_OF_A_RUN: Final = re.compile(rf"{SUITE_PREFIX}[a-z0-9]{{4}}")
_NAMES: Final = ("uid", "identifier")
_HEADER: Final = re.compile(r'"header"\s*:\s*\{[^{}]*?"identifier"\s*:\s*"([^"\\]+)"')


class Names:
    """Which names of an old sequence become which new ones, for one round.

    Args:
        steps: The sequence.
        given: Names that stand for records of the settings, or are reused by every run: they are not renamed here.
        namespace: Takes in the round's new names.
    """

    def __init__(
        self,
        steps: Iterable[RecordedExchange],
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
            if name not in given and not ours and not namespace.grants(name):
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


def _everything(step: RecordedExchange) -> str:
    return f"{unquote(step.request['url'])} {text_of(step.request.get('body')) or ''}"


def _written(steps: Iterable[RecordedExchange], description: Description) -> list[str]:
    """Identifiers that the sequence writes to, in the path or in the header of a record."""
    found: dict[str, None] = {}
    for step in steps:
        match = description.match(step.request["method"], path_of(step.request["url"]))
        if match is None or match[0].safe or match[0].id == "createToken":
            continue
        found |= {match[1][name]: None for name in _NAMES if match[1].get(name)}
        found |= dict.fromkeys(_HEADER.findall(text_of(step.request.get("body")) or ""))
    return list(found)


def _like(name: str, namespace: Namespace) -> str:
    """A fresh name of the same length, with the same fault where the old one has one."""
    if is_valid_uid(name):
        return namespace.uid(max(len(name), UID_SHORTEST))
    moved = namespace.prefix + name
    of_right_length = UID_SHORTEST <= len(name) <= UID_LONGEST
    return moved if of_right_length else moved[: max(len(name), len(namespace.prefix) + 1)]
