"""In what a request differs from a valid one of its kind, as lines of Python that make the one of the other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from contracts.evidence.plain import json_text
from contracts.generation.faults import ABSENT
from contracts.generation.ordinary import CONTENT
from contracts.page.literals import Literals
from contracts.workbench.preparing import Prepared

#: With more changes than this a body reads better in one piece.
_MOST_EDITS: Final = 8
#: A longer file is not written into a test.
_LONGEST_FILE: Final = 4000
_UPLOAD: Final = "createAttachment"
Steps = tuple[str | int, ...]


class Differences:
    """Lines that turn the valid request, `request`, into the one that was sent, and the expression that sends it.

    Args:
        literals: Writes values as Python.
    """

    def __init__(self, operation: str, base: Prepared, sent: Prepared, literals: Literals) -> None:
        self._operation = operation
        self._base = base
        self._sent = sent
        self._literals = literals
        self.imports: set[str] = set()

    def lines(self) -> list[str]:
        """The lines, without indentation; what `literals` asks for has to come before them."""
        before, after = self._base.request, self._sent.request
        return [
            *self._body(before.body, after.body),
            *self._texts("path", before.path, after.path),
            *self._texts("query", before.query, after.query),
            *self._texts("headers", before.headers, after.headers),
        ]

    def sending(self, actor: str) -> str:
        """The expression that sends `request` as an actor."""
        content = self._sent.content
        if self._operation == _UPLOAD and content == CONTENT:
            self.imports.add("from contracts.generation.ordinary import Ordinary, send")
            return f"send(request, {actor})"
        if content is None:
            return f"request.send({actor})"
        self.imports.add("from contracts.generation.ordinary import Ordinary, with_body")
        return f"with_body(request, {actor}, {self._content(content)})"

    def _content(self, content: bytes) -> str:
        base = self._base.request.body
        if base is not ABSENT and content == json_text(base).encode()[:-1] + b",":
            self.imports.add("import json")
            return 'json.dumps(request.body).encode()[:-1] + b","'
        if len(content) > _LONGEST_FILE:
            return f"bytes({len(content)})"
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            return repr(content)
        written = self._literals.text(text)
        return f"b{written}" if written[0] in "\"'" and text.isascii() else f"({written}).encode()"

    def _texts(self, part: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
        for name in before.keys() - after.keys():
            yield f"del request.{part}[{self._literals.quoted(name)}]"
        for name, value in after.items():
            if name not in before or before[name] != value:
                yield f"request.{part}[{self._literals.quoted(name)}] = {self._literals.value(value)}"

    def _body(self, before: Any, after: Any) -> Iterator[str]:
        if self._sent.content is not None or _same(before, after):
            return
        edits = list(_edits(before, after, ()))
        if after is ABSENT or any(not steps for steps, _ in edits) or len(edits) > _MOST_EDITS:
            yield from self._replaced(after)
            return
        for steps, value in edits:
            place = "request.body" + "".join(
                f"[{self._literals.quoted(each) if isinstance(each, str) else each}]" for each in steps
            )
            yield f"del {place}" if value is ABSENT else f"{place} = {self._literals.value(value)}"

    def _replaced(self, after: Any) -> Iterator[str]:
        self.imports.add("from dataclasses import replace")
        if after is ABSENT:
            self.imports.add("from contracts.generation.faults import ABSENT")
            yield "request = replace(request, body=ABSENT)"
        else:
            yield f"body = {self._literals.value(after)}"
            yield "request = replace(request, body=body)"


def _same(one: Any, other: Any) -> bool:
    if one is ABSENT or other is ABSENT:
        return one is other
    # True is no 1 in JSON, though it is in Python.
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _edits(before: Any, after: Any, steps: Steps) -> Iterator[tuple[Steps, Any]]:
    """The smallest changes: a place, and the value to stand there; `ABSENT` to take it out."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before:
            if name not in after:
                yield (*steps, name), ABSENT
        for name, value in after.items():
            if name not in before:
                yield (*steps, name), value
            elif not _same(before[name], value):
                yield from _edits(before[name], value, (*steps, name))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (old, new) in enumerate(zip(before, after, strict=True)):
            if not _same(old, new):
                yield from _edits(old, new, (*steps, place))
    else:
        yield steps, after
