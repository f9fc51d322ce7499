"""Identifiers at the edges of the identifier rule and outside it, all within the run's namespace."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

from contracts.checks.outcomes import Untested
from contracts.interface.operations import UID_LONGEST, UID_SHORTEST, is_valid_uid
from contracts.session.namespace import Namespace
from contracts.settings.target import RealmSettings, Target

_HYPHENLESS: Final = (frozenset("0123456789"), frozenset("_"))
_ALLOWED: Final = re.compile(r"[A-Za-z0-9_-]", re.ASCII)
#: Long enough that both halves around a bad character are valid identifiers of their own, which finds patterns
#: that are searched for instead of matched as a whole.
_BASE_LENGTH: Final = 40

#: The neighbours of the allowed ranges in ASCII, and what people write into names; NUL last, as proxies refuse it.
FORBIDDEN: Final[Mapping[str, str]] = {
    "space": " ",
    "dot": ".",
    "comma": ",",
    "slash": "/",
    "plus": "+",
    "exclamation": "!",
    "colon": ":",
    "at": "@",
    "opening bracket": "[",
    "backtick": "`",
    "brace": "{",
    "percent": "%",
    "asterisk": "*",
    "tilde": "~",
    "dollar": "$",
    "apostrophe": "'",
    "nul": "\0",
}
#: What stands for a letter where an address is decoded twice.
TWICE: Final[Mapping[str, str]] = {"letter encoded twice": "%41"}
#: What the printed pattern lets in when its doubled backslash is read literally.
MISREAD: Final[Mapping[str, str]] = {"backslash": "\\", "closing bracket": "]", "caret": "^"}
#: Letters and digits that Unicode-aware patterns take for \w, \d or, caseless, for k and s; and wide look-alikes.
NON_ASCII: Final[Mapping[str, str]] = {
    "e acute": "é",
    "cyrillic a": "\u0430",
    "kelvin sign": "\u212a",
    "long s": "\u017f",
    "full-width A": "\uff21",
    "full-width one": "\uff11",
    "arabic-indic one": "\u0661",
    "full-width low line": "\uff3f",
    "unbroken hyphen": "\u2011",
    "emoji": "\U0001f333",
}
#: Line breaks, which `$` lets through at the end of a text in many engines.
LINE_BREAKS: Final[Mapping[str, str]] = {"return": "\r", "return and newline": "\r\n", "newline": "\n"}
#: Every character of ASCII that the rule leaves out.
ALL_FORBIDDEN: Final[Mapping[str, str]] = {
    f"ascii {code}": chr(code) for code in reversed(range(128)) if not _ALLOWED.fullmatch(chr(code))
}
#: Those that hardly anybody writes into a name.
RARE: Final = {
    name: FORBIDDEN[name] for name in ("comma", "opening bracket", "backtick", "brace", "asterisk")
}
#: One of each sort that services take for their own: a letter, a digit, a look-alike.
WIDE: Final = {name: NON_ASCII[name] for name in ("e acute", "arabic-indic one", "full-width A")}
#: Half a surrogate pair, which goes out as bytes that are no UTF-8.
NO_UTF_8: Final[Mapping[str, str]] = {"no utf-8": "\ud800"}


def base(fresh: Namespace) -> str:
    """A fresh valid uid that leaves room on both sides of its middle."""
    return fresh.uid(_BASE_LENGTH)


def spoilt(uid: str, characters: Mapping[str, str]) -> list[str]:
    """One uid for each character: the same valid uid with just this character in its middle."""
    half = len(uid) // 2
    return [uid[:half] + character + uid[half:] for character in characters.values()]


def within(fresh: Namespace, uid: str, characters: Mapping[str, str], ending: str = "") -> list[str]:
    """As `spoilt`, for the uid of a record of ours that the service may have named; the run may write to them.

    Args:
        ending: A bad character to put behind the uid as well.
    """
    found = [*spoilt(uid, characters), *([uid + ending] if ending else [])]
    for each in found:
        fresh.claim(each)
    return found


def ended(uid: str, endings: Mapping[str, str]) -> list[str]:
    """One uid for each ending: the same valid uid with just this behind it."""
    return [uid + ending for ending in endings.values()]


def too_short(fresh: Namespace) -> list[str]:
    """Uids of 10 characters and fewer."""
    return [fresh.uid(UID_SHORTEST - 1), fresh.uid(8)]


def too_long(fresh: Namespace) -> list[str]:
    """Uids of 129 characters and more."""
    return longer(longest(fresh))


def longer(uid: str) -> list[str]:
    """Uids that begin with a given one and are 1 and 128 characters longer."""
    return [uid + "x" * more for more in (1, UID_LONGEST)]


def longest(fresh: Namespace) -> str:
    """A fresh uid of 128 characters."""
    return fresh.uid(UID_LONGEST)


def foldings(uids: Iterable[str]) -> list[str]:
    """Valid uids that a careless service might take bad ones for.

    Args:
        uids: Uids outside the rule.

    Returns:
        Without the bad characters, with them replaced by hyphen or underscore, cut at the first of them or at 128
        characters, and folded to ASCII; each once. A letter encoded twice stands for itself and folds to nothing.
    """
    plain = [uid for uid in uids if not any(letter in uid for letter in TWICE.values())]
    found = [folded for uid in plain for folded in _foldings(uid) if is_valid_uid(folded)]
    return list(dict.fromkeys(found))


def _foldings(uid: str) -> list[str]:
    wide = unicodedata.normalize("NFKD", uid)
    return [
        uid[:UID_LONGEST],
        _without(uid, ""),
        _without(uid, "-"),
        _without(uid, "_"),
        _without(wide, ""),
        re.split(r"[^A-Za-z0-9_-]", uid)[0],
    ]


def _without(uid: str, substitute: str) -> str:
    return "".join(character if _ALLOWED.fullmatch(character) else substitute for character in uid)


def percent_encoded(text: str) -> str:
    """Every character of a text written as a percent-encoded byte, the allowed ones too."""
    return "".join(f"%{byte:02X}" for byte in text.encode("utf-8"))


def without_hyphen(settings: RealmSettings) -> list[str]:
    """A spare identifier without a hyphen in it, for a control; none when the settings have too few of them.

    The first of digits and of underscores are left to the cases that are about them: cases run side by side.
    """
    kinds = ([uid for uid in settings.spare_identifiers if set(uid) <= signs] for signs in _HYPHENLESS)
    return [uid for uids in kinds for uid in uids[1:2]][:1]


def spare(settings: RealmSettings, realm: str, pattern: str) -> str:
    """A spare identifier of the settings that matches a pattern as a whole.

    Raises:
        Untested: the settings name none of this kind.
    """
    for identifier in settings.spare_identifiers:
        if re.fullmatch(pattern, identifier):
            return identifier
    raise Untested(f"setting realm.{realm}.spare_identifiers is missing: none matches {pattern}")


#: What the identifier rule leaves out: near misses, both misreadings of its pattern, other scripts, white space.
_FORBIDDEN: Final = (".", " ", "]", "\\", "é", "\n")


def foreign_schema(target: Target, realm: str, turn: str) -> str:
    """A workflow schema of another realm that is not this one's; another one for each turn, as far as there are.

    Raises:
        Untested: the settings name none.
    """
    own = target.realm_settings(realm).workflow_schema
    named = (target.realm_settings(other).workflow_schema for other in target.realms if other != realm)
    found = [schema for schema in dict.fromkeys(named) if schema and schema != own]
    if not found:
        raise Untested("setting realm.<another realm>.workflow_schema is missing")
    return found[sum(map(ord, turn)) % len(found)]


def forbidden_identifiers(fresh: Namespace) -> dict[str, list[str]]:
    """Identifiers outside the rule, inside the run's prefix, by the clause that forbids them."""
    return {
        "workflow-identifier-too-short": [fresh.uid(UID_SHORTEST - 1), fresh.uid(len(fresh.prefix) + 1)],
        "workflow-identifier-too-long": [fresh.uid(UID_LONGEST + 1), fresh.uid(2 * UID_LONGEST)],
        "workflow-identifier-characters": [fresh.uid() + each for each in _FORBIDDEN],
    }


def other_case(fresh: Namespace, identifier: str) -> str:
    """An identifier that differs in letter case only, behind the run's prefix."""
    return fresh.prefix + identifier.removeprefix(fresh.prefix).swapcase()
