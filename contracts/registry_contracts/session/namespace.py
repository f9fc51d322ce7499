"""The identifiers that a run may write to: they start with its prefix."""

from __future__ import annotations

import hashlib
import random
import re
import secrets
import string
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote

#: Starts every identifier of every run; `sweep` and people recognise the suite by it.
SUITE_PREFIX = "rc-"
#: Starts the identifiers of the few permanent records that all runs share.
KEPT_PREFIX = f"{SUITE_PREFIX}keep-"
TOKEN_LENGTH = 4
_ALPHABET = string.ascii_lowercase + string.digits
_CHECK_LENGTH = 3
#: How many characters the check characters depend on.
_CHECKED = 9
#: Identifiers of this length or more end with check characters.
_SIGNED_FROM = 20
_OF_A_RUN = re.compile(rf"{SUITE_PREFIX}[{_ALPHABET}]{{{TOKEN_LENGTH}}}", re.ASCII)
#: Alphabets of identifiers without the prefix; hyphens and underscores may surround them.
ALPHABETS: Final = (string.digits, string.ascii_lowercase, string.ascii_letters)
#: Number of characters at their end that mark them as this run's; one in 10^16 has these by chance.
_MARK_LENGTH = 16
_AROUND = "-_"
_DECODINGS = 3
#: A dotted path segment (`..`), which leads to another path.
_STEP_UP = re.compile(r"(^|[/\\])\.\.?([/\\]|$)")


def new_run_token() -> str:
    """Four random characters that mark this run's identifiers; never the mark of shared records."""
    while True:
        token = "".join(secrets.choice(_ALPHABET) for _ in range(TOKEN_LENGTH))
        if not KEPT_PREFIX.startswith(f"{SUITE_PREFIX}{token}"):
            return token


def starts_like_ours(identifier: str) -> bool:
    """Whether an identifier may come from a run of the suite; identifiers of other people may start the same way."""
    return _OF_A_RUN.match(identifier) is not None and not identifier.startswith(KEPT_PREFIX)


def is_signed(identifier: str) -> bool:
    """Whether the suite made an identifier, by the check characters at its end.

    One in 46,656 identifiers of the same form has them by chance.
    """
    if not starts_like_ours(identifier) or len(identifier) < _SIGNED_FROM:
        return False
    return identifier[-_CHECK_LENGTH:] == _check(identifier[:-_CHECK_LENGTH])


class Namespace:
    """The identifiers of one run, by its token of four characters: makes new ones and recognises its own.

    The settings name identifiers outside the prefix: the suite may write to the `granted` ones, and never to the
    `foreign` ones, even if the service assigns one to its record. A seed makes identifiers repeatable.
    """

    def __init__(
        self, run: str, granted: Iterable[str] = (), seed: str | None = None, foreign: Iterable[str] = ()
    ) -> None:
        self.prefix = f"{SUITE_PREFIX}{run}"
        self._draw = random.Random(seed)  # noqa: S311 - nothing secret: the run's token keeps runs apart
        self._granted = set(granted)
        self._foreign = set(foreign) - self._granted
        self._adopted: set[str] = set()
        self._claimed: set[str] = set()
        self._minted: set[str] = set()

    def uid(self, length: int = 24) -> str:
        """A new identifier of `length` characters (8 or more; below 11 it breaks the uid rule on purpose)."""
        drawn = "".join(self._draw.choice(_ALPHABET) for _ in range(length - len(self.prefix)))
        if length < _SIGNED_FROM:
            return self.prefix + drawn
        drawn = drawn[:-_CHECK_LENGTH]
        return self.prefix + drawn + _check(drawn)

    def without_prefix(self, alphabet: str, length: int = 32) -> str:
        """A new identifier from one of the `ALPHABETS`; `length` characters, 24 or more.

        The run recognises it by its end. `sweep` finds it by the ledger only, not in the lists of drafts.
        """
        # A leading zero would get lost if a service took the digits for a number.
        first = alphabet[:1] if alphabet == string.digits else self._draw.choice(alphabet)
        drawn = first + "".join(self._draw.choice(alphabet) for _ in range(length - _MARK_LENGTH - 1))
        return drawn + _mark(self.prefix, drawn, alphabet)

    def claim(self, identifier: str) -> None:
        """Allow an identifier that the run writes to on purpose, unless it is foreign."""
        if identifier not in self._foreign:
            self._claimed.add(identifier)

    def claim_minted(self, identifier: str) -> None:
        """Allow an identifier that the service assigned to a record of the run."""
        self.claim(identifier)
        self._minted.add(identifier)

    def adopt(self, run: str) -> None:
        """Allow the identifiers of a dead run, to remove its drafts."""
        self._adopted.add(f"{SUITE_PREFIX}{run}")

    def names_existing(self, identifier: str) -> bool:
        """Whether this identifier belongs to an existing record: the settings name it, or the service assigned it."""
        return identifier in self._granted or identifier in self._minted

    def owns(self, identifier: str) -> bool:
        """Whether the run may write to this identifier."""
        if identifier in self._granted or identifier in self._claimed:
            return True
        prefixes = (self.prefix, *self._adopted)
        ours = identifier.startswith((*prefixes, KEPT_PREFIX)) and not _leads_away(identifier)
        return ours or any(_is_marked(identifier, prefix) for prefix in prefixes)


def _leads_away(identifier: str) -> bool:
    """Whether a service that resolves dotted segments would reach another identifier."""
    for _ in range(_DECODINGS):
        if _STEP_UP.search(identifier):
            return True
        identifier = unquote(identifier)
    return False


def _is_marked(identifier: str, prefix: str) -> bool:
    """Whether an identifier without the prefix was made by the run with this prefix."""
    made = identifier.strip(_AROUND)
    drawn, mark = made[:-_MARK_LENGTH], made[-_MARK_LENGTH:]
    return bool(drawn) and any(mark == _mark(prefix, drawn, alphabet) for alphabet in ALPHABETS)


def _mark(prefix: str, drawn: str, alphabet: str, length: int = _MARK_LENGTH) -> str:
    """Characters that belong to a prefix and the drawn part of an identifier."""
    digest = hashlib.shake_256(f"{prefix} {drawn}".encode("utf-8", "replace")).digest(length * 4)
    numbers = (int.from_bytes(digest[at : at + 4]) for at in range(0, len(digest), 4))
    return "".join(alphabet[number % len(alphabet)] for number in numbers)


def _check(before: str) -> str:
    """The check characters of a text, computed from its last nine characters.

    The run's token is not among these, so two runs with one seed send the same characters. Cases that put a sign into
    the middle of an identifier leave them unchanged.
    """
    return _mark(SUITE_PREFIX, before[-_CHECKED:], _ALPHABET, _CHECK_LENGTH)
