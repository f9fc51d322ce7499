"""Defects of the identifier rule that let in characters it shuts out."""

import re
import unicodedata
from collections.abc import Callable

from starlette.requests import Request

from contracts.sandbox.defects.altering import forgive
from contracts.sandbox.defects.groups import ATTACHING, READING_ATTACHMENTS, READING_DRAFTS, kebab
from contracts.sandbox.defects.registry import defect
from contracts.sandbox.defects.uid_admission import SHAPE, SHOWN, Read, admit, as_it_is
from contracts.sandbox.identifiers import decoded_segment
from contracts.sandbox.service import Service

_CHARACTERS = {
    "exclamation-mark": "!",
    "space": " ",
    "dot": ".",
    "tilde": "~",
    "plus": "+",
    "encoded-slash": "/",
    "percent-sign": "%",
    "at-sign": "@",
    "colon": ":",
    "dollar": "$",
    "apostrophe": "'",
    "null-character": "\0",
}
_MISREAD = {"backslash": "\\", "closing-bracket": "]", "caret": "^"}


def _with(character: str) -> Read:
    def test(text: str) -> bool:
        rest = text.replace(character, "")
        return character in text and 11 <= len(text) <= 128 and SHAPE.fullmatch(rest) is not None

    return as_it_is(test)


def _lets_in(character: str) -> Callable[[Service], None]:
    return lambda service: admit(service, _with(character))


for _name, _character in _CHARACTERS.items():
    defect(
        f"uid-accepts-{_name}",
        clause="uid-forbidden-characters",
        operations=SHOWN,
        sentence=f"A uid may hold the character U+{ord(_character):04X} ({_name.replace('-', ' ')}).",
    )(_lets_in(_character))

for _name, _character in _MISREAD.items():
    defect(
        f"uid-accepts-{_name}",
        clause="uid-misread-range",
        operations=SHOWN,
        sentence=f"A uid may hold a {_name.replace('-', ' ')}, as the pattern says when it is read literally.",
    )(_lets_in(_character))


@defect("uid-decoded-twice", clause="uid-forbidden-characters", operations=SHOWN)
def _(service: Service) -> None:
    """The path is decoded twice, so that %2541 names the letter A."""

    def twice(text: str) -> str | None:
        again = decoded_segment(text)
        return again if again not in {None, text} and service.identifiers.holds(again or "") else None

    admit(service, twice)


@defect("uid-forbidden-character-stripped", clause="uid-forbidden-characters", operations=["saveDraft"])
def _(service: Service) -> None:
    """An exclamation mark in the uid of a saved draft is dropped instead of refused."""

    def stripped(text: str) -> str | None:
        rest = text.replace("!", "")
        return rest if rest != text and service.identifiers.holds(rest) else None

    admit(service, stripped, ["saveDraft"])


def _with_sign(request: Request) -> bool:
    """Tell whether the uid would be one, were it not for ASCII signs that no other clause speaks of."""
    text = decoded_segment(request.path_params["uid"]) or ""
    rest = "".join(letter for letter in text if SHAPE.fullmatch(letter))
    signs = set(text) - set(rest)
    apart = signs.isdisjoint({*_MISREAD.values(), "\r", "\n"})
    return bool(signs) and apart and text.isascii() and 11 <= len(text) <= 128


def _answering(operation: str) -> Callable[[Service], None]:
    return lambda service: forgive(service, [operation], {"identifier": "unknown"}, when=_with_sign)


for _operation in (*READING_DRAFTS, "updateContact", *ATTACHING, *READING_ATTACHMENTS):
    defect(
        f"uid-sign-answered-on-{kebab(_operation)}",
        clause="uid-forbidden-characters",
        operations=[_operation],
        sentence=f"{_operation} answers success for a uid that holds a sign of ASCII it must not.",
    )(_answering(_operation))


@defect("uid-accepts-accented-letters", clause="uid-non-ascii", operations=SHOWN)
def _(service: Service) -> None:
    """Letters of every script are allowed in a uid."""
    admit(service, as_it_is(lambda text: _wide(text, str.isalpha)))


@defect("uid-accepts-digits-of-other-scripts", clause="uid-non-ascii", operations=SHOWN)
def _(service: Service) -> None:
    """Digits of every script are allowed in a uid, full-width ones included."""
    admit(service, as_it_is(lambda text: _wide(text, str.isdecimal)))


@defect("uid-folded-to-ascii", clause="uid-non-ascii", operations=["saveDraft"])
def _(service: Service) -> None:
    """A draft saved under full-width letters or digits is stored under the plain ones."""

    def folded(text: str) -> str | None:
        plain = unicodedata.normalize("NFKC", text)
        return plain if plain != text and service.identifiers.holds(plain) else None

    admit(service, folded, ["saveDraft"])


def _wide(text: str, allowed: Callable[[str], bool]) -> bool:
    other = [letter for letter in text if not letter.isascii()]
    rest = "".join(letter for letter in text if letter.isascii())
    fits = 11 <= len(text) <= 128 and SHAPE.fullmatch(rest) is not None
    return bool(other) and fits and all(map(allowed, other))


def _line_break(kept: bool, *breaks: str) -> Read:
    def read(text: str) -> str | None:
        for ending in breaks:
            body = text.removesuffix(ending)
            if text.endswith(ending) and 11 <= len(body) <= 128 and SHAPE.fullmatch(body):
                return text if kept else body
        return None

    return read


@defect("uid-trailing-newline", clause="uid-trailing-newline", operations=SHOWN)
def _(service: Service) -> None:
    """A line break after a uid passes the rule, as $ lets it in many engines, and belongs to the name."""
    admit(service, _line_break(True, "\n"))


@defect("uid-trailing-newline-stripped", clause="uid-trailing-newline", operations=SHOWN)
def _(service: Service) -> None:
    """A line break after a uid is stripped, so that it names the document before the break."""
    admit(service, _line_break(False, "\r\n", "\n"))


def _no_rule(request: Request) -> bool:
    text = decoded_segment(request.path_params["uid"])
    return text is None or re.fullmatch(r"[A-Za-z0-9_-]{11,128}", text, re.ASCII) is None


@defect("uid-rule-not-for-delete", clause="uid-rule-without-effect", operations=["deleteDraft"])
def _(service: Service) -> None:
    """Deleting under a text that is no uid succeeds, with nothing to delete."""
    forgive(service, ["deleteDraft"], None, 204, when=_no_rule)


@defect("uid-rule-not-for-attachment-list", clause="uid-rule-without-effect", operations=["listAttachments"])
def _(service: Service) -> None:
    """Listing the attachments under a text that is no uid gives an empty list."""
    forgive(service, ["listAttachments"], [], when=_no_rule)
