"""The options of one request by hand: values for parts, a body, parts to leave out, and one fault."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.cases.generated_faults import Fault, faults
from contracts.errors import UsageError
from contracts.interface.catalogue import Catalogue, load_catalogue
from contracts.settings.toml_file import is_file, suggestion

PLACES: Final = ("path", "query", "header", "body")
#: Headers that a request can be without, and that are named without their place.
HEADERS: Final = ("Realm", "Authorization", "Accept", "Content-Type")
_EXAMPLE: Final = (
    "header.Realm=bch-dev, path.uid={uid}, query.$top=5, body.firstName=Ada or body.phones:='[\"+1\"]'"
)


@dataclass(frozen=True)
class RequestPart:
    """One part of a request: its place, and the steps that lead to it, `("firstName",)` or `("emails", "0")`."""

    place: str
    steps: tuple[str, ...]

    @property
    def name(self) -> str:
        """The part as a person writes it, without its place."""
        return ".".join(self.steps)


@dataclass(frozen=True)
class Setting:
    """A value for one part; a JSON value in the body, text anywhere else."""

    part: RequestPart
    value: Any


@dataclass(frozen=True)
class RequestOptions:
    """What the options say of a request; everything else is generated.

    Attributes:
        body: In place of the generated one, as bytes; None for the generated one.
        body_name: Name of the file that the body came from.
        without: Parts to leave out, as written.
        invalid: The fault, as written.
    """

    settings: tuple[Setting, ...] = ()
    body: bytes | None = None
    body_name: str | None = None
    without: tuple[str, ...] = ()
    invalid: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the request is changed."""
        return not (self.settings or self.without or self.invalid or self.body is not None)

    def values(self, place: str) -> dict[str, Any]:
        """Values for the parts of a place that is not the body."""
        return {setting.part.name: setting.value for setting in self.settings if setting.part.place == place}


def read_setting(text: str) -> Setting:
    """Read one `--set`: `PLACE.NAME=TEXT`, or `body.NAME:=JSON`.

    Raises:
        UsageError: it cannot be read; one line with an example.
    """
    left, equals, right = text.partition("=")
    as_json = left.endswith(":")
    part = _part(left.removesuffix(":"))
    if not equals or part is None:
        raise UsageError(
            f"--set '{text}' cannot be read; write PLACE.NAME=VALUE with a place of "
            f"{', '.join(PLACES)}, as in {_EXAMPLE}"
        )
    if not as_json:
        return Setting(part, right)
    if part.place != "body":
        raise UsageError(
            f"--set '{text}': only in the body is a value JSON; write {left.removesuffix(':')}=…"
        )
    return Setting(part, read_json(right, f"--set {left}"))


def _part(text: str) -> RequestPart | None:
    place, _, name = text.strip().partition(".")
    if place not in PLACES or not name:
        return None
    steps = name.split(".") if place == "body" else [name]
    return RequestPart(place, tuple(steps)) if all(steps) else None


def read_body(text: str, *, as_json: bool) -> tuple[bytes, str | None]:
    """Read a `--body`: `@FILE`, or the body itself.

    Args:
        as_json: It has to be JSON.

    Returns:
        Its bytes, and the file's name where it came from a file.

    Raises:
        UsageError: the file cannot be read, or it is no JSON; one line.
    """
    if not text.startswith("@"):
        if as_json:
            read_json(text, "--body")
        return text.encode("utf-8", "surrogatepass"), None
    path = Path(text[1:])
    if not is_file(path):
        raise UsageError(f"--body {text}: there is no file '{path}'")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"--body {text}: cannot be read: {error.strerror}") from None
    if as_json:
        try:
            decoded = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise UsageError(f"--body {text}: is not UTF-8 text, so no JSON") from None
        read_json(decoded, f"--body {text}")
        content = decoded.encode("utf-8")
    return content, path.name


def read_json(text: str, shown: str) -> Any:
    """Read JSON that a person wrote.

    Raises:
        UsageError: it is none; one line with the place of the mistake.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, column {error.colno}"
        hint = (
            "; to send broken JSON on purpose: --invalid body:malformed" if shown.startswith("--body") else ""
        )
        raise UsageError(f"{shown}: is not JSON at {at}: {error.msg}{hint}") from None
    except RecursionError:
        raise UsageError(f"{shown}: nests too deep") from None


def find_part(text: str, body: Any, query: Sequence[str]) -> RequestPart:
    """Find the part that a `--without` names: with its place, or by its bare name.

    Args:
        body: The body it may be a member of.
        query: Names of the query parameters.

    Raises:
        UsageError: there is no such part; names the nearest one.
    """
    part = RequestPart("body", ()) if text == "body" else _part(text)
    if part is None:
        part = _bare(tuple(text.split(".")), text, body, query)
    known = [*_members(body), *(f"query.{name}" for name in query), *(f"header.{name}" for name in HEADERS)]
    if part is None or not _is_there(part, body, query):
        raise UsageError(f"--without {text}: the request has no such part; {suggestion(text, known)}")
    return part


def _bare(steps: tuple[str, ...], text: str, body: Any, query: Sequence[str]) -> RequestPart | None:
    found = [
        RequestPart("body", steps),
        RequestPart("body", ("document", *steps)),
        RequestPart("query", (text,)),
    ]
    found += [RequestPart("header", (name,)) for name in HEADERS if name.lower() == text.lower()]
    return next((part for part in found if _is_there(part, body, query)), None)


def _is_there(part: RequestPart, body: Any, query: Sequence[str]) -> bool:
    if part.place == "query":
        return part.name in query
    if part.place != "body":
        return part.place == "header"
    try:
        walk(body, part.steps)
    except (KeyError, IndexError, TypeError, ValueError):
        return False
    return True


def _members(body: Any) -> list[str]:
    members = list(body) if isinstance(body, dict) else []
    document = body.get("document") if isinstance(body, dict) else None
    return [*members, *(document if isinstance(document, dict) else ())]


def walk(value: Any, steps: Sequence[str]) -> Any:
    """The value at the end of some steps; items by their number.

    Raises:
        KeyError, IndexError, TypeError, ValueError: there is none.
    """
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


#: Faults that no schema has a word for, with the value that is sent; `body:malformed` is made of the body itself.
_FURTHER: Final[tuple[tuple[str, str, str, Any], ...]] = (
    ("header", "Authorization", "unknown-value", "Bearer never-issued"),
    ("header", "Authorization", "malformed", "Bearer"),
    ("header", "Realm", "empty", ""),
    ("query", "$top", "malformed", "ten"),
    ("query", "$skip", "malformed", "ten"),
    ("query", "$filter", "malformed", "((("),
    ("query", "$orderby", "malformed", "((("),
    ("query", "top", "malformed", "ten"),
    ("query", "skip", "malformed", "ten"),
    ("query", "filter", "malformed", "((("),
    ("query", "orderby", "malformed", "((("),
    ("body", "", "malformed", None),
    ("body", "", "empty", {}),
)


def known_faults(operation: str, realm: str, catalogue: Catalogue) -> list[Fault]:
    """One fault for each key that can be made of an operation: the generated ones, and those a clause speaks about."""
    spoken = {fault for clause in catalogue.by_operation(operation) for fault in clause.faults}
    found: dict[str, Fault] = {}
    for fault in faults(operation, realm):
        known = found.setdefault(fault.key, fault)
        # Numbers, booleans and null are read kindly by many services: a plainer fault is the better example.
        if isinstance(known.value, int | float | None) and not isinstance(fault.value, int | float | None):
            found[fault.key] = fault
    for place, name, kind, value in _FURTHER:
        fault = Fault(place, name, kind, value)
        if fault.key in spoken:
            found.setdefault(fault.key, fault)
    return list(found.values())


def choose_fault(operation: str, realm: str, name: str, known: Iterable[Fault] | None = None) -> Fault:
    """The fault of a name: its whole key, its part (`body.firstName`), or its kind alone.

    Raises:
        UsageError: the operation has no such fault; names the nearest one.
    """
    possible = list(known if known is not None else known_faults(operation, realm, load_catalogue()))
    for matching in (
        [fault for fault in possible if fault.key == name],
        [fault for fault in possible if fault.key.partition(":")[0] == name],
        [fault for fault in possible if fault.kind == name],
        [fault for fault in possible if fault.key.partition(":")[0].endswith(f".{name}")],
    ):
        if matching:
            return matching[0]
    names = [*dict.fromkeys(fault.kind for fault in possible), *(fault.key for fault in possible)]
    advice = suggestion(name, names)
    if advice.startswith("known"):
        advice = f"kinds: {', '.join(dict.fromkeys(fault.kind for fault in possible))}"
    raise UsageError(
        f"--invalid {name}: {operation} has no such fault; {advice}; --invalid list shows them all"
    )
