"""Writes a request of the page as a contract case: Python that runs as pasted, like those under `tests/contract`."""

from __future__ import annotations

import json
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from contracts.cases.generated_faults import ABSENT
from contracts.cases.requests import CONTENT
from contracts.checks.check import Check, Subject
from contracts.checks.http import ACCEPTANCE, ACCEPTED, TAKEN, TURNED_DOWN
from contracts.checks.table import UNIVERSAL, Judgement, check_of, lines_of, naming_check
from contracts.errors import UsageError
from contracts.exchanges.readers import Ambiguous
from contracts.exchanges.request_facts import RequestFault, all_faults, clauses_of
from contracts.interface.catalogue import Catalogue, Clause, Level, load_catalogue
from contracts.manual.manual_session import ManualSession
from contracts.manual.prepared_requests import PreparedRequest
from contracts.page.page_session import FormRequest, PageSession
from contracts.safe_text import json_text


def merged(lines: Iterable[str]) -> list[str]:
    """Merge import lines: one for each module, the standard library's first.

    Args:
        lines: `import x` and `from x import a, b`, in any order, some of them overlapping.
    """
    plain: set[str] = set()
    names: defaultdict[str, set[str]] = defaultdict(set)
    for line in lines:
        words = line.split(maxsplit=3)
        if words[0] == "import":
            plain.add(line)
        else:
            names[words[1]] |= {name.strip() for name in words[3].split(",")}
    ours = [module for module in names if module.startswith("contracts")]
    theirs = sorted({*plain, *_worded(names, (each for each in names if each not in ours))}, key=_by_module)
    return [*theirs, *([""] if theirs and ours else []), *_worded(names, sorted(ours))]


def _worded(names: dict[str, set[str]], modules: Iterable[str]) -> Iterator[str]:
    for module in modules:
        # Constants first, then classes, then functions, as the sorter of the checkout wants it.
        yield f"from {module} import {', '.join(sorted(names[module], key=_rank))}"


def _rank(name: str) -> tuple[int, str]:
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def _by_module(line: str) -> tuple[bool, str]:
    return line.startswith("from"), line


_WIDTH: Final = 88
_INDENT: Final = "    "
#: What an identifier of the namespace looks like where no fault changed it.
_OWN: Final = re.compile(r"[a-z0-9]+")
_USUAL_LENGTH: Final = 24


class Literals:
    """Writes values.

    Args:
        prefix: What identifiers of the session begin with.
        known: Identifiers of the valid request, each with the expression that stands for it.

    Attributes:
        preamble: Lines that have to come before whatever was written.
    """

    def __init__(self, prefix: str, known: Mapping[str, str]) -> None:
        self._prefix = prefix
        self._known = known
        self._names: dict[str, str] = {}
        self.preamble: list[str] = []

    @property
    def fresh(self) -> bool:
        """Whether something that was written needs the fixture `fresh`."""
        return bool(self._names) or self._prefixed

    _prefixed = False

    def value(self, value: Any, indent: str = "") -> str:
        """A JSON value."""
        if isinstance(value, str):
            return self.text(value)
        if not isinstance(value, dict | list):
            return repr(value)
        opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
        inner = indent + _INDENT
        if isinstance(value, dict):
            items = [f"{self.text(name)}: {self.value(each, inner)}" for name, each in value.items()]
        else:
            items = [self.value(each, inner) for each in value]
        short = f"{opening}{', '.join(items)}{closing}"
        if len(indent) + len(short) <= _WIDTH and "\n" not in short:
            return short
        lines = "".join(f"{inner}{item},\n" for item in items)
        return f"{opening}\n{lines}{indent}{closing}"

    def text(self, text: str) -> str:
        """A text; the identifiers in it are fresh in the test."""
        if text in self._known:
            return self._known[text]
        if self._prefix not in text:
            return self.quoted(text)
        if text.startswith(self._prefix) and _OWN.fullmatch(text[len(self._prefix) :]):
            return self._named(text)
        self._prefixed = True
        pieces = [self.quoted(piece) if piece else "" for piece in text.split(self._prefix)]
        joined = " + fresh.prefix + ".join(pieces)
        return joined.removeprefix(" + ").removesuffix(" + ")

    def quoted(self, text: str) -> str:
        """A text in double quotes, as the cases write them."""
        shown = repr(text)
        if shown[0] == "'" and '"' not in text:
            return f'"{shown[1:-1]}"'
        return shown if '"' in text and "'" not in text else json.dumps(text) if text.isprintable() else shown

    def _named(self, identifier: str) -> str:
        if identifier not in self._names:
            name = "uid" if not self._names else f"uid_{len(self._names) + 1}"
            length = len(identifier)
            asked = "" if length == _USUAL_LENGTH else str(length)
            self.preamble.append(f"{name} = fresh.uid({asked})")
            self._names[identifier] = name
        return self._names[identifier]


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

    def __init__(
        self, operation: str, base: PreparedRequest, sent: PreparedRequest, literals: Literals
    ) -> None:
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
            self.imports.add("from contracts.cases.requests import OrdinaryRequests, send")
            return f"send(request, {actor})"
        if content is None:
            return f"request.send({actor})"
        self.imports.add("from contracts.cases.requests import OrdinaryRequests, with_body")
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
            self.imports.add("from contracts.cases.generated_faults import ABSENT")
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


#: Held whenever nothing was refused: a claim on them could not fail.
_EMPTY: Final = frozenset({"errors-absent-on-success"})


class ClaimLines:
    """Claims about one exchange, `sent`.

    Attributes:
        claimed: Ids of the clauses that lines were made for, universal ones included.
        further: Ids that no claim about a single exchange can show.
    """

    def __init__(self, judged: Judgement, catalogue: Catalogue) -> None:
        assert judged.facts is not None, "an operation of the interface"  # noqa: S101 - the caller looked
        self._facts = judged.facts
        self._judged = judged
        self._catalogue = catalogue
        self._operation = judged.facts.operation.id
        self._about = {
            clause.id: fault for fault, clause in reversed(list(clauses_of(self._facts, catalogue)))
        }
        self.claimed: list[str] = []
        self.further: list[str] = []
        self.fixtures: set[str] = set()

    def ruled_out(self) -> list[str]:
        """The firmest clause by which the request has to be refused, where there is one."""
        levels = list(Level)
        spoken = [clause for fault, clause in clauses_of(self._facts, self._catalogue) if fault.firm]
        firm = [clause for clause in spoken if clause.level is not Level.SILENT]
        return [each.id for each in sorted(firm, key=lambda clause: levels.index(clause.level))[:1]]

    def lines(self, clauses: Iterable[str]) -> list[str]:
        """The lines, without indentation; each clause is claimed once."""
        found: list[str] = []
        for name in dict.fromkeys(clauses):
            clause = self._catalogue.clause(name)
            if self._operation not in clause.operations or name in _EMPTY:
                continue
            line = self._universal(name) if name in UNIVERSAL else self._line(clause)
            if line is None:
                self.further.append(name)
                continue
            self.claimed.append(name)
            found += [line] if line else []
        return found

    def _universal(self, name: str) -> str:
        return f"# {name}: every exchange of every case is checked for it"

    def _line(self, clause: Clause) -> str | None:
        if clause.level is Level.SILENT:
            self.fixtures.add("observe")
            return f'observe("{clause.id}", "{self._operation}", sent.answer.status)'
        made = self._method(clause)
        if made is not None:
            self.fixtures.add("claim")
        return made

    def _method(self, clause: Clause) -> str | None:
        claim = f'claim("{clause.id}", "{self._operation}")'
        fault = self._about.get(clause.id)
        if fault is not None:
            return f"{claim}.{self._refusal(clause, fault)}"
        line = self._of_answer(clause.id)
        response = self._judged.exchange.response
        refused = response is not None and not response.success
        if clause.id == ACCEPTED[self._operation][0] and (refused or line is None):
            line = ACCEPTANCE.claim_line({})
        return None if line is None else f"{claim}.{line}"

    def _refusal(self, clause: Clause, fault: RequestFault) -> str:
        if len(all_faults(self._facts)) > 1:
            return TURNED_DOWN.claim_line({})
        due = naming_check(clause, fault) or check_of(clause, self._facts, fault)
        line = due.check.claim_line(due.arguments)
        self.fixtures |= {"realm"} if line.endswith(", realm)") else set()
        return line

    def _of_answer(self, name: str) -> str | None:
        """The line of the check that the table holds for a clause; None where one exchange does not show it."""
        checks = [check for check, clause in lines_of(self._operation) if clause.id == name]
        for check in checks:
            if check is not TAKEN:
                arguments = self._arguments(check, name)
                return None if arguments is None and not check.plain else check.claim_line(arguments or {})
        return None

    def _arguments(self, check: Check, name: str) -> Mapping[str, Any] | None:
        exchange = self._judged.exchange
        if exchange.response is None:
            return None
        try:
            return check.applies(Subject(exchange, exchange.response, self._facts, lambda _: False), name)
        except Ambiguous:
            return None


FOLDER: Final = "tests/contract/scenario"
_TYPES: Final = {
    "author": ("Actor", "from contracts.session.actor import Actor"),
    "ordinary": ("OrdinaryRequests", "from contracts.cases.requests import OrdinaryRequests"),
    "arrange": ("Arrangement", "from contracts.cases.arrangement import Arrangement"),
    "samples": ("Samples", "from contracts.cases.sample_records import Samples"),
    "worker": ("Worker", "from contracts.plugin.worker import Worker"),
    "fresh": ("Namespace", "from contracts.session.namespace import Namespace"),
    "claim": ("Claims", "from contracts.checks.claims import Claims"),
    "observe": ("Observer", "from contracts.checks.claims import Observer"),
    "realm": ("str", ""),
}
#: Roles that are given records of their own to work on.
_OWNERS: Final = ("other", "nau")
_CODE_WIDTH: Final = 110
#: Clauses that many requests touch: the name of a test tells little by them, so they come last.
_GENERAL: Final = frozenset({"json-bodies", "head-without-body", "errors-element-shape", "errors-code-known"})


def scenario(page_session: PageSession, session: ManualSession, query: Mapping[str, Any]) -> dict[str, Any]:
    """Write what was sent as a case; nothing is sent.

    Args:
        query: `form_number` of what was sent.

    Raises:
        UsageError: it is not known any more, or was not sent yet.
    """
    number = query.get("form_number")
    return scenario_text(session, page_session.kept(number if isinstance(number, int) else 0))


def scenario_text(
    session: ManualSession, form_request: FormRequest, further: Iterable[str] = ()
) -> dict[str, Any]:
    """Write a request as a case.

    Args:
        further: Ids of clauses that more than this exchange contradicts.

    Returns:
        `text`, `name` of the file, `folder` to put it in, `command` that runs it, `notes` for people.

    Raises:
        UsageError: it was not sent yet, or is no operation of the interface.
    """
    if form_request.sent is None or form_request.judged is None or form_request.judged.facts is None:
        raise UsageError("a scenario test is made of what was sent; send the request first")
    catalogue = load_catalogue()
    words = _Words(session, form_request, form_request.judged, catalogue)
    text = words.text([*_wanted(form_request.judged, words.claims.ruled_out()), *further])
    name = f"test_by_hand_{_snake(words.claims.claimed[0])}.py"
    notes = list(_notes(words.claims, form_request.judged, catalogue))
    path = f"{FOLDER}/{name}"
    text = session.redactor.text(text)
    return {"text": text, "name": name, "folder": FOLDER, "command": f"pytest {path}", "notes": notes}


def _wanted(judged: Judgement, ruled_out: list[str]) -> list[str]:
    """What the case is to claim: what was contradicted, or else what held and why the request had to be refused."""
    found = [each.clause for each in judged.findings]
    if found:
        return found
    told = [*ruled_out, *judged.held, *(each.clause for each in judged.observations)]
    plain = sorted((name for name in told if name not in UNIVERSAL), key=_GENERAL.__contains__)
    return plain or [name for name in judged.held if name in UNIVERSAL] or ["no-server-error"]


def _notes(claims: ClaimLines, judged: Judgement, catalogue: Catalogue) -> Iterable[str]:
    for name in claims.further:
        yield f"{name} takes several requests to show; `registry-contracts explain {name}` names its cases"
    contradicted = {each.clause for each in judged.findings}
    if contradicted and all(str(catalogue.clause(name).level) != "must" for name in contradicted):
        yield "what is contradicted is a should: a run reports it, and passes all the same"


class _Words:
    def __init__(
        self, session: ManualSession, form_request: FormRequest, judged: Judgement, catalogue: Catalogue
    ) -> None:
        assert form_request.sent is not None, "the caller looked"  # noqa: S101 - for the type checker
        self._form_request = form_request
        self._judged = judged
        self._catalogue = catalogue
        self.claims = ClaimLines(judged, catalogue)
        self._literals = Literals(session.namespace.prefix, _known(form_request))
        self._changes = Differences(
            form_request.operation, form_request.base, form_request.sent, self._literals
        )
        self._fixtures: set[str] = set()
        self._imports = {"from contracts.cases.marks import contract"}

    def text(self, clauses: list[str]) -> str:
        arranged, changes = self._arranged(), self._changes.lines()
        sending = f"sent = {self._changes.sending(self._form_request.role)}"
        body = [*arranged, *self._literals.preamble, *changes, sending]
        body += self.claims.lines(clauses) or self.claims.lines(["no-server-error"])
        self._fixtures |= {self._form_request.role, *self.claims.fixtures}
        self._fixtures |= {"fresh"} if self._literals.fresh else set()
        return "\n".join(
            [
                f'"""{self._title()}"""',
                "",
                *merged(self._imports | self._changes.imports | self._type_imports()),
                "",
                "",
                self._mark(),
                *self._signature(),
                *(textwrap.indent(_fitted(line), "    ") for line in [*self._docstring(), *body]),
                "",
            ]
        )

    def _arranged(self) -> list[str]:
        operation, role = self._form_request.operation, self._form_request.role
        if role not in _OWNERS:
            self._fixtures.add("ordinary")
            return [f'request = ordinary.request("{operation}")']
        self._fixtures |= {"arrange", "samples", "fresh", "worker"}
        self._imports |= {
            "from contracts.cases.requests import ValidRequests",
            "from contracts.cases.requests import OrdinaryRequests",
        }
        return [
            f'bases = ValidRequests({role}, arrange, samples, fresh, worker.target.accounts["{role}"])',
            f'request = OrdinaryRequests(bases, arrange, samples, {role}).request("{operation}")',
        ]

    def _title(self) -> str:
        form_request, response = self._form_request, self._judged.exchange.response
        answered = f"answered {response.status}" if response else "without an answer"
        where = "" if form_request.realm == "any" else f" in {form_request.realm}"
        return (
            f"Made on the workbench page: {form_request.operation} as {form_request.role}{where}, {answered}."
        )

    def _mark(self) -> str:
        named = ", ".join(f'"{name}"' for name in self.claims.claimed)
        short = f'@contract({named}, operations=["{self._form_request.operation}"])'
        if len(short) <= _CODE_WIDTH:
            return short
        names = "".join(f'    "{name}",\n' for name in self.claims.claimed)
        return f'@contract(\n{names}    operations=["{self._form_request.operation}"],\n)'

    def _signature(self) -> list[str]:
        name = f"test_by_hand_{_snake(self.claims.claimed[0])}"
        order = [self._form_request.role, *(each for each in _TYPES if each != self._form_request.role)]
        wanted = [
            f"{each}: {_TYPES.get(each, _TYPES['author'])[0]}" for each in order if each in self._fixtures
        ]
        short = f"def {name}({', '.join(wanted)}) -> None:"
        if len(short) <= _CODE_WIDTH:
            return [short]
        middle = f"    {', '.join(wanted)}"
        inside = [middle] if len(middle) <= _CODE_WIDTH else [f"    {each}," for each in wanted]
        return [f"def {name}(", *inside, ") -> None:"]

    def _docstring(self) -> list[str]:
        clause = self._catalogue.clause(self.claims.claimed[0])
        wording = clause.wording.replace("\\", "").replace('"', "'")
        if len(wording) <= _CODE_WIDTH - 10:
            return [f'"""{wording}"""']
        return [f'"""One request shows {clause.id}.', "", *textwrap.wrap(wording, _CODE_WIDTH - 6), '"""']

    def _type_imports(self) -> set[str]:
        found = {_TYPES.get(each, _TYPES["author"])[1] for each in self._fixtures}
        return found - {""}


def _fitted(line: str) -> str:
    """A call too long for its line, with the arguments of the last one on a line of their own."""
    if len(line) <= _CODE_WIDTH - 4 or "\n" in line or not line.endswith(")") or "#" in line:
        return line
    head, _, arguments = line.rpartition("(")
    return f"{head}(\n    {arguments[:-1]}\n)"


def _known(form_request: FormRequest) -> dict[str, str]:
    """Identifiers of the valid request, with the expressions that stand for them in the test."""
    request, known = form_request.base.request, {}
    body = request.body if isinstance(request.body, dict) else {}
    for way, record in (("", body), ('["document"]', body.get("document"))):
        header = record.get("header") if isinstance(record, dict) else None
        if isinstance(header, dict) and isinstance(header.get("identifier"), str):
            known[header["identifier"]] = f'request.body{way}["header"]["identifier"]'
    known |= {value: f'request.path["{name}"]' for name, value in request.path.items() if name in _NAMES}
    if isinstance(body.get("password"), str):
        known[body["password"]] = 'request.body["password"]'
    return known


_NAMES: Final = ("uid", "identifier", "tempFileId")


def _snake(clause: str) -> str:
    return clause.replace("-", "_")
