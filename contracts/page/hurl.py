"""A sequence of requests by hand, in which the answer of one gives what the next one needs, and its Hurl file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from contracts.errors import UsageError
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.redaction import REDACTED
from contracts.file_formats import json_value
from contracts.manual.manual_session import ManualSession
from contracts.page.forms import REFERENCE, value_at
from contracts.page.page_session import FormRequest, PageSession

FILE_NAME: Final = "sequence.hurl"
#: Headers that a client writes by itself.
_OWN: Final = frozenset({"host", "content-length", "user-agent", "accept-encoding", "connection"})
_MOST: Final = 50
_SHORTEST: Final = 3
_TOKEN: Final = "token"  # noqa: S105 - a variable's name


def hurl_of(page_session: PageSession, session: ManualSession, query: Mapping[str, Any]) -> dict[str, Any]:
    """Write requests that were sent by hand as a Hurl file; nothing is sent.

    Args:
        query: `steps`, the numbers of the requests in their order.

    Raises:
        UsageError: there are none, one was not sent, or one uses an answer that is no step before it.
    """
    kept = steps_of(page_session, query)
    writer = _Writer(session, kept)
    steps = [line for place, number in enumerate(kept, 1) for line in (*writer.step(place, number), "")]
    text = "\n".join([*writer.head(), "", *steps]).rstrip("\n") + "\n"
    return {"name": FILE_NAME, "text": str(session.redactor.text(text)), "command": writer.command}


def steps_of(page_session: PageSession, query: Mapping[str, Any]) -> dict[int, FormRequest]:
    """The requests of a sequence by their numbers, in their order.

    Args:
        query: `steps`, the numbers.

    Raises:
        UsageError: there are none, or too many, or one is not known any more.
    """
    numbers = query.get("steps")
    if not isinstance(numbers, list) or not numbers or not all(isinstance(number, int) for number in numbers):
        raise UsageError("choose the requests of the sequence first")
    if len(numbers) > _MOST:
        raise UsageError(f"a sequence has at most {_MOST} requests")
    return {number: page_session.kept(number) for number in numbers}


@dataclass(frozen=True)
class TakenValue:
    """What a step takes from the answer of an earlier one."""

    step: int
    path: tuple[str, ...]
    name: str
    value: str

    @property
    def reference(self) -> str:
        """How a form names it."""
        return f"{{{self.step}.{'.'.join(self.path)}}}"

    def used_by(self, request: FormRequest) -> bool:
        """Whether a form names it."""
        return any(match[0] == self.reference for match in REFERENCE.finditer(json.dumps(request.form)))


def taken_values(steps: Mapping[int, FormRequest]) -> Iterator[TakenValue]:
    """Every value that a step of a sequence takes from another, each once.

    Raises:
        UsageError: the other does not come before.
    """
    names: dict[tuple[int, tuple[str, ...]], str] = {}
    before: list[int] = []
    for number, request in steps.items():
        for match in REFERENCE.finditer(json.dumps(request.form)):
            step, path = int(match["step"]), tuple(match["path"].strip(".").split("."))
            if step not in before:
                raise UsageError(
                    f"{request.operation} uses the answer of a request that is no step before it"
                )
            if (step, path) not in names:
                names[step, path] = f"{re.sub(r'[^A-Za-z0-9_]', '_', path[-1])}_{len(names) + 1}"
                value = value_at(steps[step].recorded, path)
                yield TakenValue(step, path, names[step, path], str(value))
        before.append(number)


class _Writer:
    def __init__(self, session: ManualSession, kept: Mapping[int, FormRequest]) -> None:
        self._session = session
        self._kept = kept
        self._values = list(taken_values(kept))
        own = re.compile(rf"{re.escape(session.namespace.prefix)}[\w-]*")
        seen = dict.fromkeys(name for exchange in self._sent() for name in own.findall(_all_text(exchange)))
        self._identifiers = {name: f"uid_{number}" for number, name in enumerate(seen, 1)}
        self._signs_in = any(request.operation == "createToken" for request in kept.values())

    def _sent(self) -> Iterator[Exchange]:
        for request in self._kept.values():
            if request.recorded is None:
                raise UsageError("one of the requests was not sent yet")
            yield request.recorded

    @property
    def command(self) -> str:
        """How the file is run."""
        token = "" if self._signs_in else f' --variable {_TOKEN}="$TOKEN"'
        account = ' --variable email="$EMAIL" --variable password="$PASSWORD"' if self._signs_in else ""
        return f"hurl --test --variable base_url={self._session.target.base_url}{token}{account} {FILE_NAME}"

    def head(self) -> Iterator[str]:
        yield f"# Made by the workbench of registry-contracts on {self._session.target.name}. Run it with"
        yield f"#   {self.command}"
        if self._identifiers:
            yield "# Each uid_… below names a record that it writes: choose others to write others."

    def step(self, place: int, number: int) -> Iterator[str]:
        request = self._kept[number]
        exchange = request.recorded
        if exchange is None:
            raise UsageError("one of the requests was not sent yet")
        yield f"# {place}. {request.operation} as {request.role}, answered {exchange.status or 'not at all'}"
        address = exchange.url.replace(self._session.target.base_url, "{{base_url}}", 1)
        yield f"{exchange.method} {self._with_variables(address, request, quoted=True)}"
        for name, value in exchange.request_headers.pairs:
            if name.lower() == "authorization":
                yield f"{name}: Bearer {{{{{_TOKEN}}}}}"
            elif name.lower() not in _OWN:
                yield f"{name}: {self._with_variables(value, request)}"
        if place == 1 and self._identifiers:
            yield "[Options]"
            yield from (f"variable: {name}={value}" for value, name in self._identifiers.items())
        yield from self._body(exchange, request)
        yield from self._answer(number, request, exchange)

    def _body(self, exchange: Exchange, request: FormRequest) -> Iterator[str]:
        body = exchange.request_body
        if not body.content:
            return
        if body.decoded is None:
            yield "# bytes that are no text: put the file beside this one"
            yield "file,body.bin;"
            return
        text = self._with_variables(body.decoded, request)
        try:
            value = json_value(text)
            if request.operation == "createToken" and isinstance(value, dict):
                value |= {"email": "{{email}}", "password": "{{password}}"}
            text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
        except (ValueError, RecursionError):  # no JSON, or a number that is not read as it is
            text = f"```\n{text.removesuffix(chr(10))}\n```"
        yield text

    def _answer(self, number: int, request: FormRequest, exchange: Exchange) -> Iterator[str]:
        yield "HTTP *"
        captures = [
            f'{value.name}: jsonpath "{_jsonpath(value.path)}"'
            for value in self._values
            if value.step == number
        ]
        if request.operation == "createToken" and exchange.status == 200:
            captures.append(f'{_TOKEN}: jsonpath "$.authenticationToken"')
        if captures:
            yield "[Captures]"
            yield from captures
        status = exchange.status or 0
        if status:
            # The document shows no success statuses: what counts is taken or refused.
            low, high = (200, 400) if status < 400 else (400, 500)
            yield "[Asserts]"
            yield f"status >= {low}"
            yield f"status < {high if status < 500 else 600}"

    def _with_variables(self, text: str, request: FormRequest, *, quoted: bool = False) -> str:
        """A text with variables in the place of what the request takes from an answer, and of the records it names."""
        taken = [
            (taken_value.value, taken_value.name)
            for taken_value in self._values
            if taken_value.used_by(request)
        ]
        for value, name in [*taken, *self._identifiers.items()]:
            # A short number would be found in other places, too.
            if len(value) >= _SHORTEST or f"/{value}/" in text:
                wanted = quote(value, safe="") if quoted else value
                whole = re.compile(rf"(?<![\w-]){re.escape(wanted)}(?![\w-])")
                text = whole.sub(f"{{{{{name}}}}}", text)
        return text


def _jsonpath(path: Sequence[str]) -> str:
    parts = (f"[{part}]" if part.isdigit() else f"['{part}']" for part in path)
    return "$" + "".join(parts)


def _all_text(exchange: Exchange) -> str:
    return f"{exchange.url} {exchange.request_body.decoded or ''}".replace(REDACTED, "")


def sequence_of(page_session: PageSession) -> dict[str, Any]:
    """What was sent by hand and can be a step, in its order."""
    return {
        "steps": [
            {
                "form_number": number,
                "operation": request.operation,
                "role": request.role,
                "realm": request.realm,
                "status": request.recorded.status or 0,
            }
            for number, request in page_session.sent()
            if request.recorded is not None
        ]
    }
