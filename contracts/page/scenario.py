"""A request of the page as a case: Python that runs as pasted, in the way of the cases under `tests/contract`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any, Final

from contracts.checking.single import Judgement
from contracts.errors import UsageError
from contracts.interface.catalogue import Catalogue, load_catalogue
from contracts.judging.universal import UNIVERSAL
from contracts.page.claim_lines import ClaimLines
from contracts.page.desk import Desk
from contracts.page.differences import Differences
from contracts.page.imports import merged
from contracts.page.literals import Literals
from contracts.page.trials import Trial
from contracts.workbench.bench import Bench

FOLDER: Final = "tests/contract/scenario"
_TYPES: Final = {
    "author": ("Actor", "from contracts.session.actor import Actor"),
    "ordinary": ("Ordinary", "from contracts.generation.ordinary import Ordinary"),
    "arrange": ("Arrangement", "from contracts.generation.arrangement import Arrangement"),
    "samples": ("Samples", "from contracts.generation.samples import Samples"),
    "worker": ("Worker", "from contracts.plugin.worker import Worker"),
    "fresh": ("Namespace", "from contracts.session.namespace import Namespace"),
    "claim": ("Claims", "from contracts.judging.claims import Claims"),
    "observe": ("Observer", "from contracts.judging.claims import Observer"),
    "realm": ("str", ""),
}
#: Roles that are given records of their own to work on.
_OWNERS: Final = ("other", "nau")
_WIDTH: Final = 110
#: Clauses that many requests touch: the name of a test tells little by them, so they come last.
_GENERAL: Final = frozenset({"json-bodies", "head-without-body", "errors-element-shape", "errors-code-known"})


def scenario(desk: Desk, bench: Bench, wish: Mapping[str, Any]) -> dict[str, Any]:
    """Word what was sent as a case; nothing is sent.

    Args:
        wish: `trial`, the number of what was sent.

    Raises:
        UsageError: it is not known any more, or was not sent yet.
    """
    number = wish.get("trial")
    trial = desk.recall(number if isinstance(number, int) else 0)
    return scenario_text(bench, trial)


def scenario_text(bench: Bench, trial: Trial, further: Iterable[str] = ()) -> dict[str, Any]:
    """Word a trial as a case.

    Args:
        further: Ids of clauses that more than this exchange contradicts.

    Returns:
        `text`, `name` of the file, `folder` to put it in, `command` that runs it, `notes` for people.

    Raises:
        UsageError: it was not sent yet, or is no operation of the interface.
    """
    if trial.sent is None or trial.judged is None or trial.judged.facts is None:
        raise UsageError("a scenario test is made of what was sent; send the request first")
    catalogue = load_catalogue()
    words = _Words(bench, trial, trial.judged, catalogue)
    text = words.text([*_wanted(trial.judged, words.claims.ruled_out()), *further])
    name = f"test_by_hand_{_snake(words.claims.claimed[0])}.py"
    notes = list(_notes(words.claims, trial.judged, catalogue))
    path = f"{FOLDER}/{name}"
    text = bench.redactor.text(text)
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
    def __init__(self, bench: Bench, trial: Trial, judged: Judgement, catalogue: Catalogue) -> None:
        assert trial.sent is not None, "the caller looked"  # noqa: S101 - for the type checker
        self._trial = trial
        self._judged = judged
        self._catalogue = catalogue
        self.claims = ClaimLines(judged, catalogue)
        self._literals = Literals(bench.namespace.prefix, _known(trial))
        self._changes = Differences(trial.operation, trial.base, trial.sent, self._literals)
        self._fixtures: set[str] = set()
        self._imports = {"from contracts.plugin.marks import contract"}

    def text(self, clauses: list[str]) -> str:
        arranged, changes = self._arranged(), self._changes.lines()
        sending = f"sent = {self._changes.sending(self._trial.role)}"
        body = [*arranged, *self._literals.preamble, *changes, sending]
        body += self.claims.lines(clauses) or self.claims.lines(["no-server-error"])
        self._fixtures |= {self._trial.role, *self.claims.fixtures}
        self._fixtures |= {"fresh"} if self._literals.fresh else set()
        return "\n".join(
            [
                f'"""{self._title()}"""',
                "",
                *merged(self._imports | self._changes.imports | self.claims.imports | self._type_imports()),
                "",
                "",
                self._mark(),
                *self._signature(),
                *(textwrap.indent(_fitted(line), "    ") for line in [*self._docstring(), *body]),
                "",
            ]
        )

    def _arranged(self) -> list[str]:
        operation, role = self._trial.operation, self._trial.role
        if role not in _OWNERS:
            self._fixtures.add("ordinary")
            return [f'request = ordinary.request("{operation}")']
        self._fixtures |= {"arrange", "samples", "fresh", "worker"}
        self._imports |= {
            "from contracts.generation.grafting import Bases",
            "from contracts.generation.ordinary import Ordinary",
        }
        return [
            f'bases = Bases({role}, arrange, samples, fresh, worker.target.accounts["{role}"])',
            f'request = Ordinary(bases, arrange, samples, {role}).request("{operation}")',
        ]

    def _title(self) -> str:
        trial, response = self._trial, self._judged.exchange.response
        answered = f"answered {response.status}" if response else "without an answer"
        where = "" if trial.realm == "any" else f" in {trial.realm}"
        return f"Made on the workbench page: {trial.operation} as {trial.role}{where}, {answered}."

    def _mark(self) -> str:
        named = ", ".join(f'"{name}"' for name in self.claims.claimed)
        short = f'@contract({named}, operations=["{self._trial.operation}"])'
        if len(short) <= _WIDTH:
            return short
        names = "".join(f'    "{name}",\n' for name in self.claims.claimed)
        return f'@contract(\n{names}    operations=["{self._trial.operation}"],\n)'

    def _signature(self) -> list[str]:
        name = f"test_by_hand_{_snake(self.claims.claimed[0])}"
        order = [self._trial.role, *(each for each in _TYPES if each != self._trial.role)]
        wanted = [
            f"{each}: {_TYPES.get(each, _TYPES['author'])[0]}" for each in order if each in self._fixtures
        ]
        short = f"def {name}({', '.join(wanted)}) -> None:"
        if len(short) <= _WIDTH:
            return [short]
        middle = f"    {', '.join(wanted)}"
        inside = [middle] if len(middle) <= _WIDTH else [f"    {each}," for each in wanted]
        return [f"def {name}(", *inside, ") -> None:"]

    def _docstring(self) -> list[str]:
        clause = self._catalogue.clause(self.claims.claimed[0])
        wording = clause.wording.replace("\\", "").replace('"', "'")
        if len(wording) <= _WIDTH - 10:
            return [f'"""{wording}"""']
        return [f'"""One request shows {clause.id}.', "", *textwrap.wrap(wording, _WIDTH - 6), '"""']

    def _type_imports(self) -> set[str]:
        found = {_TYPES.get(each, _TYPES["author"])[1] for each in self._fixtures}
        return found - {""}


def _fitted(line: str) -> str:
    """A call too long for its line, with the arguments of the last one on a line of their own."""
    if len(line) <= _WIDTH - 4 or "\n" in line or not line.endswith(")") or "#" in line:
        return line
    head, _, arguments = line.rpartition("(")
    return f"{head}(\n    {arguments[:-1]}\n)"


def _known(trial: Trial) -> dict[str, str]:
    """Identifiers of the valid request, with the expressions that stand for them in the test."""
    request, known = trial.base.request, {}
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
