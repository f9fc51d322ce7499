"""The dictionary: texts that services corrupt, one for each class of mistake, and the members that may hold them.

A class says what a service may mistake the text for. The texts are rotated over the members, so that each text is sent
in every member.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple


class Text(NamedTuple):
    """A fragile text, and the clause that promises that it comes back as sent."""

    clause: str
    text: str


_CONTENT, _SCRIPTS = "draft-get-content", "draft-text-kept"
#: Texts by what a service may mistake them for.
TEXTS: Final = {
    "a boolean": Text(_CONTENT, "true"),
    "nothing": Text(_CONTENT, "null"),
    "a number": Text(_CONTENT, "1e5"),
    "a number with zeros": Text(_CONTENT, "00505"),
    "a date": Text(_CONTENT, "2026-01-31"),
    "the end of a text": Text(_CONTENT, "O'Neill \\ McKenzie, 'Dr'"),
    "a query": Text(_CONTENT, "R and D, 100 % $filter eq 1"),
    "a name of the language": Text(_CONTENT, "constructor"),
    "too long": Text(_CONTENT, "".join(f"{number:03d} " for number in range(75)) + "end"),
    "letters of another script": Text(_SCRIPTS, "Съешь ещё этих 文件登记处 السجل"),
    "two characters": Text(_SCRIPTS, "Ñandú Łukasz Þór 𐍈 🌍"),
}
#: Letters that older encodings have too; next to other scripts they would not reveal a service with such an encoding.
ACCENTS: Final = "Ångström-Müller, née Crémieux"
#: File names: (words for a finding, a template for the unique part).
FILE_NAMES: Final = {
    "file_without_extension": ("the file name has no extension", "{}"),
    "file_of_dots": ("the file name has several dots", "{}.v1.2.tar.gz"),
    "file_in_capitals": ("the file name has an extension in capitals", "{}-Report.TXT"),
    "file_of_spaces": ("the file name has spaces", "{} a report (1).txt"),
    "file_of_signs": ("the file name has signs of addresses", "{}+a&b=100%25;c#d.txt"),
    "file_of_quotes": ("the file name has quotes", "{}-O'Neill's \"report\".txt"),
    "file_in_other_script": ("the file name is in another script", "файл-{}-文件.txt"),
}
#: Members of a contact record that hold any text, and those with a text for each language.
PLACES: Final = ("firstName", "middleName", "lastName")
PLACES_BY_LANGUAGE: Final = (
    *("prefix", "designation", "organization", "organizationAcronym", "department"),
    *("address", "city", "state", "postalCode", "relevantInformation"),
)
#: Members with several texts; the fragile text is second and last.
PLACES_OF_SEVERAL: Final = ("phones", "faxes")
_PLAIN: Final = "+254 20 387 3057"
#: Formatted values that should not be normalised; only in some rows, since a service may validate them strictly.
_FORMED: Final = {
    "emails": ["an.author@example.test", "Second.Author+Drafts@Example.TEST"],
    "websites": [
        {"url": "https://example.test/"},
        {"url": "https://Example.test:443/A/b?y=2&x=1&x=%7e#Part"},
    ],
}
_OF_A_FORM: Final = 3


def members(turn: int) -> Iterator[tuple[str, str, object]]:
    """Members of a record with a text of each class, shifted by `turn` members: (clause, name, value)."""
    texts = [*TEXTS.values()]
    shifted = iter(texts[(turn + at) % len(texts)] for at in range(len(texts) * 3))
    for name in PLACES:
        text = next(shifted)
        yield text.clause, name, text.text
    for name in PLACES_BY_LANGUAGE:
        text = next(shifted)
        yield text.clause, name, {"en": text.text}
    for name in PLACES_OF_SEVERAL:
        text = next(each for each in shifted if each.clause == _CONTENT)
        yield text.clause, name, [_PLAIN, text.text, _PLAIN, text.text]
    for name, value in _FORMED.items():
        if turn % _OF_A_FORM == 0:
            yield "draft-text-exact", name, value
