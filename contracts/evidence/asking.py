"""Makes the questions to the owner of the service: what the document leaves open or contradicts, with what was seen."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from contracts.evidence.ambiguities import AMBIGUITIES, Ambiguity
from contracts.evidence.cells import Cell
from contracts.evidence.contradictions import Finding, Standing
from contracts.evidence.grid import clauses_of, realms_of
from contracts.evidence.outcomes import Verdict
from contracts.evidence.record import RunRecord
from contracts.evidence.silent_points import Point, Seen, Sight, agreed, differences, sights
from contracts.evidence.verdicts import RunVerdict
from contracts.interface.clauses import Clause, Level
from contracts.shortening import cut

#: More of one kind than anybody answers at once; the rest is counted.
AT_MOST = 40
_LINES_AT_MOST = 12
_CHARACTERS = 300
#: Verdicts that say that a statement was judged.
_JUDGED = frozenset({Verdict.PASS, Verdict.FAIL, Verdict.ADVISORY, Verdict.DEVIATION})


class Kind(StrEnum):
    """Why a question is asked, in the order in which they are put; the text is the heading."""

    STATEMENT = "Statements that the service contradicts"
    DOCUMENT = "Passages of the document to settle"
    READING = "Readings that the service contradicts"
    REALMS = "Silent points on which realms differ"


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """What was seen: `what` names operation or clause, `finding` is an id where there is one."""

    what: str
    realms: tuple[str, ...]
    value: str
    finding: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its evidence.

    `id` is the same in every run; `more` counts the lines of evidence that are left out.
    """

    id: str
    kind: Kind
    source: str
    text: str
    clauses: tuple[str, ...]
    evidence: tuple[EvidenceLine, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions by kind, and how many of each kind are left out."""

    by_kind: Mapping[Kind, tuple[Question, ...]]
    left_out: Mapping[Kind, int]

    @property
    def count(self) -> int:
        """Number of questions, those left out included."""
        return sum(map(len, self.by_kind.values())) + sum(self.left_out.values())


def ask(record: RunRecord, verdict: RunVerdict, seen: Seen) -> Questions:
    """Make the questions of a run.

    Args:
        record: the run.
        verdict: its verdict.
        seen: the content of `observations.json`.

    Returns:
        One question for each clause or passage; nothing is asked of which the run saw nothing.
    """
    clauses, realms = clauses_of(verdict), realms_of(record, verdict)
    places = sights(seen, clauses, realms)
    made = {
        Kind.STATEMENT: list(_contradicted(verdict.findings, clauses, realms, Level.MUST)),
        Kind.DOCUMENT: list(_ambiguous(verdict.cells, places, realms)),
        Kind.READING: list(_contradicted(verdict.findings, clauses, realms, Level.SHOULD)),
        Kind.REALMS: list(_differing(differences(seen, clauses, realms))),
    }
    return Questions(
        by_kind={kind: tuple(asked[:AT_MOST]) for kind, asked in made.items() if asked},
        left_out={kind: len(asked) - AT_MOST for kind, asked in made.items() if len(asked) > AT_MOST},
    )


def _contradicted(
    findings: Iterable[Finding], clauses: Mapping[str, Clause], realms: Sequence[str], level: Level
) -> Iterator[Question]:
    """Yield a question for each clause of a level that was contradicted and confirmed, accepted or not."""
    kind = Kind.STATEMENT if level is Level.MUST else Kind.READING
    ask_of = _is_it_the_document if level is Level.MUST else _is_it_our_reading
    by_clause: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.standing in {Standing.FAIL, Standing.ADVISORY, Standing.DEVIATION}:
            by_clause[finding.clause].append(finding)
    for name, clause in clauses.items():
        if name in by_clause and clause.level is level:
            lines = _grouped(
                (each.operation or "the service", each.seen, each.realm, each.id) for each in by_clause[name]
            )
            yield _question(kind, name, clause.source, ask_of(clause), (name,), _in_order(lines, realms))


def _is_it_the_document(clause: Clause) -> str:
    return f"The document states, in our words: “{clause.wording}” The service does otherwise. Which one is right?"


def _is_it_our_reading(clause: Clause) -> str:
    return f"We read the document like this: “{clause.wording}” The service does otherwise. Is another reading meant?"


def _ambiguous(cells: Iterable[Cell], places: Iterable[Sight], realms: Sequence[str]) -> Iterator[Question]:
    """Yield a question for each passage to settle of which the run saw something."""
    by_clause: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        by_clause[cell.clause.id].append(cell)
    seen: dict[str, list[Sight]] = defaultdict(list)
    for sight in places:
        seen[sight.id].append(sight)
    for passage in AMBIGUITIES:
        lines = [line for name in passage.clauses for line in _judged(by_clause[name], realms)]
        lines += [line for name in passage.clauses for sight in seen[name] for line in _summed_up(sight)]
        if lines:
            yield _passage(passage, lines)


def _passage(passage: Ambiguity, lines: Sequence[EvidenceLine]) -> Question:
    return _question(Kind.DOCUMENT, passage.id, passage.source, passage.text, passage.clauses, lines)


def _judged(cells: Sequence[Cell], realms: Sequence[str]) -> list[EvidenceLine]:
    """Return what the verdicts on one clause say, in the clause's words: `held` or `contradicted`."""
    told = {cell.realm: "contradicted" if cell.contradicted else "held" for cell in cells if _speaks(cell)}
    if not told:
        return []
    wording = cells[0].clause.wording
    findings = {cell.realm: cell.findings[0] for cell in cells if cell.findings}
    return [
        EvidenceLine(wording, group.realms, group.value, findings.get(group.realms[0]))
        for group in agreed(told, realms)
    ]


def _speaks(cell: Cell) -> bool:
    return cell.verdict in _JUDGED and bool(cell.assertions) and cell.clause.level is not Level.SILENT


def _differing(lines: Iterable[Sight]) -> Iterator[Question]:
    """Yield a question for each silent clause on which realms differ."""
    by_clause: dict[str, list[Sight]] = defaultdict(list)
    for sight in lines:
        by_clause[sight.id].append(sight)
    for name, mine in by_clause.items():
        clause = mine[0].clause
        open_point = clause.wording if clause else f"Nothing is shown on {name}."
        text = (
            f"{open_point} Realms do not agree on it. Which behaviour is meant, and may clients rely on it?"
        )
        evidence = [line for sight in mine for line in _sighted(sight)]
        yield _question(Kind.REALMS, name, clause.source if clause else "", text, (name,), evidence)


def _sighted(sight: Sight) -> list[EvidenceLine]:
    return [
        EvidenceLine(
            f"{sight.operation or 'the service'}, {point.name}" if point.name else sight.operation,
            group.realms,
            group.value,
        )
        for point in sight.points
        for group in point.agreed
    ]


def _summed_up(sight: Sight) -> list[EvidenceLine]:
    """Return what all realms do alike in one line, and a line for each value on which they differ."""
    alike = [
        f"{point.name}: {_value(point)}" if point.name else _value(point)
        for point in sight.points
        if not point.differs
    ]
    apart = replace(sight, points=tuple(point for point in sight.points if point.differs))
    whole = [EvidenceLine(_about(sight), sight.realms, "; ".join(alike))] if alike else []
    return whole + _sighted(apart)


def _about(sight: Sight) -> str:
    return f"{sight.operation or 'the service'} ({sight.id})"


def _value(point: Point) -> str:
    return point.agreed[0].value


def _grouped(seen: Iterable[tuple[str, str, str, str]]) -> list[EvidenceLine]:
    """Put equal sights together, given as operation, what was seen, realm and finding."""
    groups: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for operation, what, realm, finding in seen:
        groups[operation, what].append((realm, finding))
    return [
        EvidenceLine(operation, tuple(realm for realm, _ in group), what, group[0][1])
        for (operation, what), group in groups.items()
    ]


def _in_order(lines: Iterable[EvidenceLine], realms: Sequence[str]) -> list[EvidenceLine]:
    def place(realm: str) -> int:
        return realms.index(realm)

    sorted_within = (replace(line, realms=tuple(sorted(line.realms, key=place))) for line in lines)
    return sorted(sorted_within, key=lambda line: (line.what, place(line.realms[0])))


def _question(
    kind: Kind, name: str, source: str, text: str, clauses: tuple[str, ...], lines: Sequence[EvidenceLine]
) -> Question:
    shown = tuple(replace(line, value=cut(line.value, _CHARACTERS)) for line in lines[:_LINES_AT_MOST])
    key = f"question-{kind.name.lower()}-{name}"
    return Question(key, kind, source, text, clauses, shown, len(lines) - len(shown))
