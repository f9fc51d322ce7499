"""Checks for the chapters on documents: errors arrays of refused ones, drafts, attachments."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Sequence
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any, Final
from xml.etree import ElementTree

from registry_contracts.checks import errors_array
from registry_contracts.checks.definition import (
    Arguments,
    Check,
    Subject,
    on_accepted,
    on_success,
    quoted_unless,
)
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import NO_CONTENT, Response


def _refusal_of_content(subject: Subject, _: str) -> Arguments | None:
    """Applies to a refusal with an errors array of a request with faults in its content only."""
    facts = subject.facts
    array = readers.errors(subject.response) if subject.turned_down else None
    if facts is None or not array:
        return None
    faulty = bool(facts.faults) and all(fault.in_content for fault in facts.faults)
    return {} if faulty or (facts.operation.family == "workflow" and tells_of_content(array)) else None


def _well_formed_refusal(subject: Subject, clause: str) -> Arguments | None:
    """Applies if each element is well-formed: the code of another one is not compared."""
    return None if _odd_element(subject.response) else _refusal_of_content(subject, clause)


def tells_of_content(array: list[Any]) -> bool:
    """Whether an element has one of the seven codes: the document does not show the schema of a submission."""
    codes = (element.get("code") for element in array if isinstance(element, dict))
    return any(isinstance(code, str) and code in errors_array.CODES for code in codes)


def _odd_element(response: Response) -> str | None:
    odd = [error for error in readers.errors(response) or () if not errors_array.well_formed(error)]
    return f"{odd[:1]}" if odd else None


def _strange_codes(response: Response) -> str | None:
    strange = sorted({code for code, _ in errors_array.elements(response)} - errors_array.CODES)
    return ", ".join(strange) if strange else None


def _not_named(response: Response, *, code: str, field: str) -> str | None:
    return None if errors_array.reports(response, field, code) else response.quote()


ERRORS_ARRAY: Final = Check(
    "errors-array",
    "an errors array with at least one element",
    quoted_unless(lambda response: bool(readers.errors(response))),
    clauses=("errors-array",),
)
ERROR_NAMED: Final = Check("error-named", "{code} for {field} among the errors", _not_named)
ELEMENT_SHAPE: Final = Check(
    "error-elements",
    "objects with a string code and a string property",
    _odd_element,
    clauses=("errors-element-shape",),
    applies=_refusal_of_content,
    of_form=True,
)
ELEMENT_CODES: Final = Check(
    "error-codes",
    "one of the seven documented codes",
    _strange_codes,
    clauses=("errors-code-known",),
    applies=_well_formed_refusal,
    of_form=True,
)
NO_ERRORS: Final = Check(
    "no-errors",
    "no errors array",
    quoted_unless(lambda response: not readers.errors(response)),
    clauses=("errors-absent-on-success",),
    applies=on_accepted,
)
VALIDATION_CHECKS: Final = (ERRORS_ARRAY, ERROR_NAMED, ELEMENT_SHAPE, ELEMENT_CODES, NO_ERRORS)


def _another_document(response: Response, *, document: dict[str, Any]) -> str | None:
    if not response.success:
        return response.quote()
    return None if readers.holds_document(response, document) else readers.difference(response, document)


def _the_same_document(response: Response, *, document: dict[str, Any]) -> str | None:
    there = response.success and readers.holds_document(response, document)
    return response.quote() if there else None


DOCUMENT: Final = Check("document", "the document as it was saved", _another_document)
GONE: Final = Check("gone", "nothing there any more", quoted_unless(lambda response: not response.success))
CONTENT_GONE: Final = Check("content-gone", "not the content that was deleted", _the_same_document)
METADATA: Final = Check(
    "metadata", "metadata of the draft", quoted_unless(lambda response: bool(response.json))
)


#: Clause → the option that says how many items a list may hold.
_OPTIONS: Final = {
    "list-top": "$top",
    "list-top-zero": "$top",
    "attachment-list-top": "top",
    "attachment-list-top-zero": "top",
}


def _most(subject: Subject, clause: str) -> Arguments | None:
    """The maximum number of items, by the request; zero has a clause of its own."""
    if not subject.success or subject.facts is None:
        return None
    text = dict(subject.facts.query).get(_OPTIONS[clause], "")
    if not text.isdigit() or (int(text) == 0) is not clause.endswith("-zero"):
        return None
    return None if readers.records(subject.response) is None else {"items": int(text)}


def _more(response: Response, *, items: int) -> str | None:
    records = readers.records(response) if response.success else None
    if records is None:
        return f"no list: {response.quote()}"
    return None if len(records) <= items else f"{len(records)} items: {response.quote()}"


def _names(response: Response, *, identifier: str) -> str | None:
    listed = readers.records(response) or ()
    return f"it names {identifier}" if any(readers.names(record, identifier) for record in listed) else None


LIST: Final = Check(
    "list",
    "a list",
    quoted_unless(lambda response: readers.records(response) is not None),
    clauses=("list-answers",),
    applies=on_success,
)
AT_MOST: Final = Check(
    "items-at-most", "at most {items} items", _more, clauses=tuple(_OPTIONS), applies=_most
)
LIST_WITHOUT: Final = Check("list-without", "a list without {identifier}", _names)
DRAFT_CHECKS: Final = (LIST, AT_MOST, LIST_WITHOUT, DOCUMENT, METADATA, GONE, CONTENT_GONE)


#: The root element of an SVG, perhaps with a namespace prefix.
_SVG = re.compile(rb"<(?:[\w.-]+:)?svg[\s/>]")
#: First bytes of known image formats: a body with these that cannot be opened is broken.
_FORMATS: Final = {
    name: re.compile(begins, re.DOTALL)
    for name, begins in {
        "PNG": rb"\x89PNG",
        "JPEG": rb"\xff\xd8\xff",
        "GIF": rb"GIF8",
        "WEBP": rb"RIFF....WEBP",
        "BMP": rb"BM",
        "AVIF": rb"....ftypavi[fs]",
    }.items()
}
#: Media types with which a client does not see an image, whatever the bytes are.
_DENYING = ("json", "html")
#: Control characters that occur in texts.
_IN_TEXTS = frozenset("\t\n\f\r")


def is_image(answer: Response) -> bool:
    """Whether a body is an image: complete and of a known format, not labelled otherwise; or labelled so, not text."""
    body, label = answer.content, answer.media_type
    kind = image_kind(body)
    if kind is not None:
        return kind != "" and not any(word in label for word in _DENYING)
    return label.startswith("image/") and bool(body) and not _is_text(body)


def _is_text(body: bytes) -> bool:
    """Whether a body reads as text; unknown image formats are binary."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not any(letter < " " and letter not in _IN_TEXTS for letter in text)


def image_kind(body: bytes) -> str | None:
    """The format of an image; empty if it is a broken one of a known format, None if the format is unknown."""
    if _svg_begins(body):
        return "svg" if _svg_whole(body) else ""
    from PIL import Image  # noqa: PLC0415 - loaded for the first preview

    known = any(begins.match(body) for begins in _FORMATS.values())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            Image.open(BytesIO(body), formats=[*_FORMATS]).verify()  # no part is missing
            image = Image.open(BytesIO(body), formats=[*_FORMATS])
            image.load()
            return str(image.format).lower()
    except (OSError, RuntimeError, SyntaxError, ValueError, Image.DecompressionBombError):
        return "" if known else None


def _svg_begins(body: bytes) -> bool:
    head = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith(b"<") and _SVG.search(head) is not None


def _svg_whole(body: bytes) -> bool:
    if b"<!ENTITY" in body:
        return False  # entities can expand to any size, and no picture needs them
    try:
        return ElementTree.fromstring(body).tag.rpartition("}")[2] == "svg"  # noqa: S314 - no entities, see above
    except ElementTree.ParseError:
        return False


_PICTURES: Final = frozenset({".png", ".jpg", ".jpeg", ".gif"})


def _of_a_picture(subject: Subject, _: str) -> Arguments | None:
    if not subject.success or subject.facts is None or subject.response.status == NO_CONTENT:
        return None
    ending = PurePosixPath(subject.facts.path.get("filename", "")).suffix.lower()
    return {} if ending in _PICTURES else None


def _no_image(response: Response) -> str | None:
    if is_image(response):
        return None
    return f"{response.media_type or 'no type'}, {len(response.content)} bytes"


def digest_of(content: bytes) -> str:
    """SHA-256 of the bytes in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def _other_bytes(response: Response, *, size: int, digest: str) -> str | None:  # noqa: ARG001 - part of its wording
    if digest_of(response.content) == digest:
        return None
    return f"{len(response.content)} bytes, different from those sent"


def _not_listed(response: Response, *, filename: str, numbers: Sequence[int]) -> str | None:
    listed = filename in response.text or not set(numbers).isdisjoint(readers.integers(response.json))
    return None if listed else f"{len(readers.records(response) or ())} attachments without it"


IMAGE: Final = Check(
    "image", "an image", _no_image, clauses=("attachment-thumbnail-image",), applies=_of_a_picture
)
SAME_BYTES: Final = Check("same-bytes", "the {size} bytes that were sent", _other_bytes)
LISTED: Final = Check("attachment-listed", "a list with {filename}", _not_listed)
ATTACHMENT_CHECKS: Final = (IMAGE, SAME_BYTES, LISTED)
