"""Claims as lines of Python: what one exchange was judged by, worded as a case words it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from contracts.checking.fault_checks import all_faults, clauses_of
from contracts.checking.request_faults import RequestFault
from contracts.checking.single import ACCEPTED, Judgement
from contracts.interface.catalogue import Catalogue, Clause, Level
from contracts.judging.content import MANDATORY
from contracts.judging.universal import UNIVERSAL

_CONTENT: Final = "from contracts.judging import content"
_READERS: Final = "from contracts.judging import readers"
_ROBUST: Final = "from contracts.judging import robust"
_IMAGES: Final = "from contracts.judging import images"
_TIMESTAMPS: Final = "from contracts.judging import timestamps"
_ERROR: Final = "content.elements(sent.answer)"
#: Clause → condition on `sent`, what is expected, and what the condition needs.
_CONDITIONS: Final[Mapping[str, tuple[str, str, str]]] = {
    "token-issued": ('bool(sent.answer.json["authenticationToken"])', "a token", ""),
    "token-expiration-format": (
        'timestamps.is_utc_with_fraction(sent.answer.json["expiration"])',
        "an ISO 8601 timestamp in UTC with fractional seconds",
        _TIMESTAMPS,
    ),
    "errors-element-shape": (
        "all(map(content.well_formed, readers.errors(sent.answer) or []))",
        "objects with a string code and a string property",
        f"{_CONTENT}, readers",
    ),
    "errors-code-known": (
        f"{{code for code, _ in {_ERROR}}} <= content.CODES",
        "one of the seven documented codes",
        _CONTENT,
    ),
    "list-answers": ("readers.records(sent.answer) is not None", "a list", _READERS),
    "draft-info-present": ("bool(sent.answer.json)", "metadata of the draft", ""),
    "attachment-thumbnail-image": ("images.is_image(sent.answer)", "an image", _IMAGES),
    "workflow-identifier-returned": (
        'any(map(is_valid_uid, readers.values(sent.answer.json))) or "location" in sent.answer.headers',
        "the record's identifier",
        f"{_READERS}\nfrom contracts.session.namespace import is_valid_uid",
    ),
}
_PAGES: Final = {
    "list-top": "$top",
    "list-top-zero": "$top",
    "attachment-list-top": "top",
    "attachment-list-top-zero": "top",
}
#: Held whenever nothing was refused: a claim on them could not fail.
_EMPTY: Final = frozenset({"errors-absent-on-success"})


class ClaimLines:
    """Claims about one exchange, `sent`.

    Attributes:
        claimed: Ids of the clauses that lines were made for, universal ones included.
        further: Ids that no claim about a single exchange can show.
        imports: What the lines need.
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
        self.imports: set[str] = set()
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
        response = self._judged.exchange.response
        refused = response is not None and not response.success
        if clause.id == ACCEPTED[self._operation][0] and (refused or clause.id not in _CONDITIONS):
            return f"{claim}.accepted(sent)"
        return self._of_answer(clause.id, claim)

    def _refusal(self, clause: Clause, fault: RequestFault) -> str:
        if len(all_faults(self._facts)) > 1:
            return "turned_down(sent)"
        if clause.message is not None and clause.status is not None:
            self.fixtures |= {"realm"} if "${realm}" in clause.message else set()
            return "says(sent, realm)" if "${realm}" in clause.message else "says(sent)"
        if clause.id.startswith("token-") and self._operation == "createToken":
            return _holds("not sent.answer.success", "no token")
        if clause.id.startswith("contact-mandatory-"):
            return f'reports(sent, "{MANDATORY}", "{fault.field}")'
        return "turned_down(sent)"

    def _of_answer(self, name: str, claim: str) -> str | None:
        if name == "errors-array":
            return f"{claim}.content_refused(sent)"
        if name == "workflow-identifier-kept":
            return f'{claim}.carries(sent, request.path["identifier"])'
        if name in ("head-without-body", "json-bodies"):
            self.imports.add(_ROBUST)
            check = "no_content" if name == "head-without-body" else "empty_or_json"
            return f"robust.{check}({claim}, sent)"
        if name in _PAGES:
            self.imports.add(_READERS)
            most = dict(self._facts.query).get(_PAGES[name], "0")
            condition = f"len(readers.records(sent.answer) or []) <= {int(most)}"
            return f"{claim}.{_holds(condition, f'at most {most} items')}"
        if name in _CONDITIONS:
            condition, expected, needs = _CONDITIONS[name]
            self.imports |= set(needs.splitlines())
            return f"{claim}.{_holds(condition, expected)}"
        return None


def _holds(condition: str, expected: str) -> str:
    inside = f'    {condition},\n    sent,\n    expected="{expected}",\n    seen=sent.answer.quote(),\n'
    return f"holds(\n{inside})"
