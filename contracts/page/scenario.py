"""Writes a request of the page as a contract case: Python that runs as pasted, like those under `tests/contract`."""

from __future__ import annotations

import json
import re
import textwrap
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from contracts.cases.generated_faults import ABSENT
from contracts.cases.requests import CONTENT
from contracts.checks.definition import Check, Subject
from contracts.checks.http import ACCEPTANCE, TAKEN, TURNED_DOWN
from contracts.checks.table import UNIVERSAL, Judgement, check_of, lines_of, naming_check
from contracts.errors import UsageError
from contracts.exchanges.readers import Ambiguous
from contracts.exchanges.request_facts import RequestFault, all_faults, clauses_of
from contracts.interface.catalogue import Catalogue, Clause, Level, load_catalogue
from contracts.interface.description import where_in_words
from contracts.manual.manual_session import ManualSession
from contracts.manual.prepared_requests import PreparedRequest
from contracts.page.hurl import steps_of, taken_values
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
    theirs = sorted(
        {*plain, *_worded(names, (module for module in names if module not in ours))}, key=_by_module
    )
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
#: A shorter value stands by chance in a text.
_SHORTEST_INSIDE: Final = 4


class Literals:
    """Writes values.

    Args:
        prefix: What identifiers of the session begin with.
        known: Identifiers of the valid request, each with the expression that stands for it.

    Attributes:
        preamble: Lines that have to come before those that were written.
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

    def know(self, known: Mapping[str, str]) -> None:
        """Write these values with their expressions from now on, in place of those known before."""
        self._known = known

    def take_preamble(self) -> list[str]:
        """The lines that have to come before what was written since it was last asked."""
        lines, self.preamble = self.preamble, []
        return lines

    def value(self, value: Any, indent: str = "") -> str:
        """A JSON value."""
        if isinstance(value, str):
            return self.text(value)
        if not isinstance(value, dict | list):
            return repr(value)
        opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
        inner = indent + _INDENT
        if isinstance(value, dict):
            items = [f"{self.text(name)}: {self.value(member, inner)}" for name, member in value.items()]
        else:
            items = [self.value(item, inner) for item in value]
        short = f"{opening}{', '.join(items)}{closing}"
        if len(indent) + len(short) <= _WIDTH and "\n" not in short:
            return short
        lines = "".join(f"{inner}{item},\n" for item in items)
        return f"{opening}\n{lines}{indent}{closing}"

    def text(self, text: str) -> str:
        """A text; the identifiers in it are fresh in the test."""
        if text in self._known:
            return self._known[text]
        inside = max((identifier for identifier in self._known if identifier in text), key=len, default="")
        if len(inside) >= _SHORTEST_INSIDE:
            before, _, after = text.partition(inside)
            return " + ".join(self.text(piece) for piece in (before, inside, after) if piece)
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
            length_words = "" if length == _USUAL_LENGTH else str(length)
            self.preamble.append(f"{name} = fresh.uid({length_words})")
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
        taken: Values that come from earlier answers, which are written even where the valid request happens to hold
            the same.
    """

    def __init__(
        self,
        operation: str,
        base: PreparedRequest,
        sent: PreparedRequest,
        literals: Literals,
        taken: Collection[str] = (),
    ) -> None:
        self._taken = taken
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
        plain = written == self._literals.quoted(text) and text.isascii()
        return f"b{written}" if plain else f"({written}).encode()"

    def _texts(self, part: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
        for name in before.keys() - after.keys():
            yield f"del request.{part}[{self._literals.quoted(name)}]"
        for name, value in after.items():
            if name not in before or before[name] != value or value in self._taken:
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
                f"[{self._literals.quoted(part) if isinstance(part, str) else part}]" for part in steps
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
        return [clause.id for clause in sorted(firm, key=lambda clause: levels.index(clause.level))[:1]]

    def lines(self, clauses: Iterable[str]) -> list[str]:
        """The lines, without indentation; each clause is claimed once."""
        lines: list[str] = []
        for name in dict.fromkeys(clauses):
            clause = self._catalogue.clause(name)
            if self._operation not in clause.operations or name in _EMPTY:
                continue
            universal = f"# {name}: every exchange of every case is checked for it"
            line = universal if name in UNIVERSAL else self._line(clause)
            if line is None:
                self.further.append(name)
                continue
            self.claimed.append(name)
            lines += [line] if line else []
        return lines

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
        if clause.id == self._facts.operation.clauses.right_request and (refused or line is None):
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


_VALUE_OF: Final = "from contracts.cases.requests import value_of"
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
    step = _Step(form_request, Literals(session.namespace.prefix, _known(form_request)))
    step.write([*_wanted(form_request.judged, step.claims.ruled_out()), *further])
    return _file(session, [step], list(_notes(step.claims, form_request.judged)))


def scenario_of_sequence(
    page_session: PageSession, session: ManualSession, query: Mapping[str, Any]
) -> dict[str, Any]:
    """Write requests that were sent by hand as one case, in which answers give what later ones need; nothing is sent.

    Args:
        query: `steps`, the numbers of the requests in their order.

    Returns:
        See `scenario_text`. The last step claims all that its exchange shows, those before it that they were done, or
        what they contradicted.

    Raises:
        UsageError: there are none, one was not sent, or one uses an answer that is no step before it.
    """
    kept = steps_of(page_session, query)
    values = list(taken_values(kept))
    literals = Literals(session.namespace.prefix, {})
    steps, notes, named = list[_Step](), dict[str, None](), dict[str, str]()
    for place, (number, form_request) in enumerate(kept.items()):
        if form_request.judged is None or form_request.judged.facts is None:
            raise UsageError("a scenario test is made of what was sent; send the request first")
        taken = {value.value: value.name for value in values if value.used_by(form_request)}
        literals.know(named | _known(form_request) | taken)
        step = _Step(form_request, literals, taken)
        wanted = _wanted(form_request.judged, step.claims.ruled_out())
        last = place == len(kept) - 1
        step.write(wanted if last or form_request.judged.findings else wanted[:1])
        if last:
            notes |= dict.fromkeys(_notes(step.claims, form_request.judged))
        later = json.dumps([request.form for other, request in kept.items() if other > number])
        for value, expression in _known(form_request).items():
            if value in later and value not in named:
                named[value] = f"record_{len(named) + 1}"
                step.lines.append(f"{named[value]} = {expression}")
        step.lines += [
            f'{value.name} = value_of(sent, "{".".join(value.path)}")'
            for value in values
            if value.step == number
        ]
        step.imports |= {_VALUE_OF} if any(value.step == number for value in values) else set()
        steps.append(step)
    return _file(session, steps, list(notes))


def _wanted(judged: Judgement, ruled_out: list[str]) -> list[str]:
    """What the case is to claim: what was contradicted, or else what held and why the request had to be refused."""
    contradicted = [finding.clause for finding in judged.findings]
    if contradicted:
        return contradicted
    clause_ids = [*ruled_out, *judged.held, *(observation.clause for observation in judged.observations)]
    plain = sorted((name for name in clause_ids if name not in UNIVERSAL), key=_GENERAL.__contains__)
    return plain or [name for name in judged.held if name in UNIVERSAL] or ["no-server-error"]


def _notes(claims: ClaimLines, judged: Judgement) -> Iterable[str]:
    catalogue = load_catalogue()
    for name in claims.further:
        yield f"{name} takes several requests to show; `registry-contracts explain {name}` names its cases"
    contradicted = {finding.clause for finding in judged.findings}
    if contradicted and all(str(catalogue.clause(name).level) != "must" for name in contradicted):
        yield "what is contradicted is a should: a run reports it, and passes all the same"


class _Step:
    """One request of a case: its lines, and what they need.

    Args:
        form_request: What was sent, and judged.
        literals: Writes values; of a case of several steps, theirs.
        taken: Values that it takes from the answers of earlier steps.
    """

    def __init__(self, form_request: FormRequest, literals: Literals, taken: Collection[str] = ()) -> None:
        if form_request.sent is None or form_request.judged is None:
            raise UsageError("a scenario test is made of what was sent; send the request first")
        self.form_request = form_request
        self.judged = form_request.judged
        self.claims = ClaimLines(self.judged, load_catalogue())
        self.literals = literals
        self._changes = Differences(
            form_request.operation, form_request.base, form_request.sent, literals, taken
        )
        self.fixtures: set[str] = set()
        self.imports: set[str] = set()
        self.lines: list[str] = []

    def write(self, clauses: list[str]) -> None:
        """Write the lines, which claim these clauses."""
        arranged, changes = self._arranged(), self._changes.lines()
        sending = f"sent = {self._changes.sending(self.form_request.role)}"
        self.lines = [*arranged, *self.literals.take_preamble(), *changes, sending]
        self.lines += self.claims.lines(clauses) or self.claims.lines(["no-server-error"])
        self.fixtures |= {self.form_request.role, *self.claims.fixtures}
        self.fixtures |= {"fresh"} if self.literals.fresh else set()
        self.imports |= self._changes.imports

    def _arranged(self) -> list[str]:
        operation, role = self.form_request.operation, self.form_request.role
        if role not in _OWNERS:
            self.fixtures.add("ordinary")
            return [f'request = ordinary.request("{operation}")']
        self.fixtures |= {"arrange", "samples", "fresh", "worker"}
        self.imports |= {
            "from contracts.cases.requests import ValidRequests",
            "from contracts.cases.requests import OrdinaryRequests",
        }
        return [
            f'bases = ValidRequests({role}, arrange, samples, fresh, worker.target.accounts["{role}"])',
            f'request = OrdinaryRequests(bases, arrange, samples, {role}).request("{operation}")',
        ]

    @property
    def told(self) -> str:
        """What was sent as whom, and the answer."""
        response = self.judged.exchange.response
        answered = f"answered {response.status}" if response else "without an answer"
        asked = self.form_request
        return (
            f"{asked.operation} as {asked.role} {where_in_words(asked.operation, [asked.realm])}, {answered}"
        )


def _file(session: ManualSession, steps: Sequence[_Step], notes: list[str]) -> dict[str, Any]:
    """A case of steps as a file."""
    claimed = list(dict.fromkeys(name for step in [*steps[-1:], *steps] for name in step.claims.claimed))
    operations = list(dict.fromkeys(step.form_request.operation for step in steps))
    fixtures = set().union(*(step.fixtures for step in steps))
    imports = {"from contracts.cases.marks import contract"}.union(*(step.imports for step in steps))
    imports |= {_TYPES.get(fixture, _TYPES["author"])[1] for fixture in fixtures} - {""}
    lines = [line for step in steps for line in step.lines]
    text = "\n".join(
        [
            f'"""{_title(steps)}"""',
            "",
            *merged(imports),
            "",
            "",
            _mark(claimed, operations),
            *_signature(claimed[0], steps, fixtures),
            *(
                textwrap.indent(_fitted(line), "    ")
                for line in [*_docstring(claimed[0], len(steps)), *lines]
            ),
            "",
        ]
    )
    name = f"test_by_hand_{_snake(claimed[0])}.py"
    path = f"{FOLDER}/{name}"
    return {
        "text": session.redactor.text(text),
        "name": name,
        "folder": FOLDER,
        "command": f"pytest {path}",
        "notes": notes,
    }


def _title(steps: Sequence[_Step]) -> str:
    if len(steps) == 1:
        return f"Made on the workbench page: {steps[0].told}."
    words = "; ".join(step.told for step in steps)
    short = f"Made on the workbench page: {words}."
    if len(short) <= _CODE_WIDTH - 6:
        return short
    listed = "".join(f"{place}. {step.told}\n" for place, step in enumerate(steps, 1))
    return f"Made on the workbench page, in {len(steps)} steps.\n\n{listed}"


def _mark(claimed: Sequence[str], operations: Sequence[str]) -> str:
    named = ", ".join(f'"{name}"' for name in claimed)
    listed = ", ".join(f'"{name}"' for name in operations)
    short = f"@contract({named}, operations=[{listed}])"
    if len(short) <= _CODE_WIDTH:
        return short
    names = "".join(f'    "{name}",\n' for name in claimed)
    return f"@contract(\n{names}    operations=[{listed}],\n)"


def _signature(clause: str, steps: Sequence[_Step], fixtures: set[str]) -> list[str]:
    name = f"test_by_hand_{_snake(clause)}"
    roles = list(dict.fromkeys(step.form_request.role for step in steps))
    order = [*roles, *(fixture for fixture in _TYPES if fixture not in roles)]
    wanted = [
        f"{fixture}: {_TYPES.get(fixture, _TYPES['author'])[0]}" for fixture in order if fixture in fixtures
    ]
    short = f"def {name}({', '.join(wanted)}) -> None:"
    if len(short) <= _CODE_WIDTH:
        return [short]
    middle = f"    {', '.join(wanted)}"
    inside = [middle] if len(middle) <= _CODE_WIDTH else [f"    {argument}," for argument in wanted]
    return [f"def {name}(", *inside, ") -> None:"]


def _docstring(claimed: str, steps: int) -> list[str]:
    clause = load_catalogue().clause(claimed)
    wording = clause.wording.replace("\\", "").replace('"', "'")
    if len(wording) <= _CODE_WIDTH - 10:
        return [f'"""{wording}"""']
    shows = "One request shows" if steps == 1 else f"{steps} requests show"
    return [f'"""{shows} {clause.id}.', "", *textwrap.wrap(wording, _CODE_WIDTH - 6), '"""']


def _fitted(line: str) -> str:
    """A call too long for its line, with the arguments of the last one on a line of their own."""
    if len(line) <= _CODE_WIDTH - 4 or "\n" in line or not line.endswith(")") or "#" in line:
        return line
    head, _, arguments = line.rpartition("(")
    return f"{head}(\n    {arguments[:-1]}\n)"


def _known(form_request: FormRequest) -> dict[str, str]:
    """Identifiers of the valid request, with the expressions that stand for them in the test."""
    request, expressions = form_request.base.request, {}
    body = request.body if isinstance(request.body, dict) else {}
    for way, record in (("", body), ('["document"]', body.get("document"))):
        header = record.get("header") if isinstance(record, dict) else None
        if isinstance(header, dict) and isinstance(header.get("identifier"), str):
            expressions[header["identifier"]] = f'request.body{way}["header"]["identifier"]'
    expressions |= {
        value: f'request.path["{name}"]' for name, value in request.path.items() if name in _NAMES
    }
    if isinstance(body.get("password"), str):
        expressions[body["password"]] = 'request.body["password"]'
    return expressions


_NAMES: Final = ("uid", "identifier", "tempFileId")


def _snake(clause: str) -> str:
    return clause.replace("-", "_")
