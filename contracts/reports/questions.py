"""`questions.md`: questions to the owner of the service: what the document leaves open or the service contradicts."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from contracts.evidence import observations
from contracts.evidence.findings import Cell, Finding, Standing
from contracts.evidence.record import RunRecord, Verdict
from contracts.evidence.verdicts import RunVerdict
from contracts.interface.catalogue import Clause, Level
from contracts.reports.html_sections import (
    ObservedOperation,
    Point,
    Seen,
    clauses_of,
    differences,
    group_realms,
    observed_points,
    realms_of,
)
from contracts.safe_text import cut, inline, many


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """One passage to settle.

    Attributes:
        id: stable name, kebab-case.
        source: heading of the interface document under which it stands.
        text: what does not go together, and the question, in plain words.
        clauses: whose verdicts and observations show what the service does about it.
    """

    id: str
    source: str
    text: str
    clauses: tuple[str, ...]


AMBIGUITIES: Final = (
    Ambiguity(
        "uid-pattern",
        "Identifier rule (uid)",
        "The pattern of a uid is printed with two backslashes before the hyphen. Read literally it lets "
        "in a backslash, a closing bracket and a caret and shuts out the hyphen; the sentence beside it "
        "says letters, digits, hyphen and underscore. Is the sentence the rule, and will the pattern be "
        "corrected?",
        ("uid-hyphen", "uid-hyphens-only", "uid-misread-range"),
    ),
    Ambiguity(
        "uid-end",
        "Identifier rule (uid)",
        "The pattern of a uid ends in a dollar sign, which in many engines lets a line break through at "
        "the end, and classes of characters may or may not take in letters and digits beyond ASCII. Are "
        "both shut out?",
        ("uid-trailing-newline", "uid-non-ascii"),
    ),
    Ambiguity(
        "uid-on-create",
        "Contact records",
        "A uid parameter is listed for creating a contact, yet the path has no place for one. Is it left "
        "over, or can a client choose the uid of a new contact, and where does it say so?",
        ("uid-on-contact-create", "contact-identifier-origin"),
    ),
    Ambiguity(
        "uid-and-identifier",
        "Workflow submission",
        "Documents are named by a uid in one part of the interface and by an identifier in another, and "
        "only the uid has a rule. Does the same rule hold for the identifier of a submission?",
        (
            "workflow-identifier-edges",
            "workflow-identifier-too-short",
            "workflow-identifier-too-long",
            "workflow-identifier-characters",
            "workflow-identifier-case-sensitive",
        ),
    ),
    Ambiguity(
        "existence-step",
        "States and transitions",
        "The first step of a submission checks that the identifier exists, yet creating is refused when "
        "it does. Does the step mean: exists for an update, is free for a creation? And does a document "
        "that has only a draft exist?",
        ("workflow-identifier-taken", "workflow-identifier-unknown", "workflow-draft-only-record"),
    ),
    Ambiguity(
        "taken-and-locked",
        "Workflow endpoint status codes",
        "Creating under the identifier of a locked record fits two rows of the table, and so does a "
        "submission with neither realm nor token. Which row counts?",
        ("workflow-taken-against-locked", "workflow-identity-against-realm"),
    ),
    Ambiguity(
        "content-status",
        "Errors",
        "The answer to faulty content is told in two places and its status in neither: a submission "
        "carries an errors array “on content problems”, beside a table of refusals that has no row for "
        "them. Which status comes with it?",
        ("errors-status", "errors-array"),
    ),
    Ambiguity(
        "codes-without-fields",
        "Validation errors in the errors property",
        "Codes are listed for values the schema does not allow and for sets of fields of which one is "
        "needed, yet no such value and no such set is shown for any field. Where do they apply?",
        ("errors-code-invalid-value", "errors-code-mandatory-any-of"),
    ),
    Ambiguity(
        "workflow-error-body",
        "Workflow endpoint status codes",
        "The table gives messages, and the section on errors a list of codes, but not the body that "
        "carries a message. Is it a member of the body, or an element of the errors array?",
        ("workflow-message-place",),
    ),
    Ambiguity(
        "realm-on-attachments",
        "Common headers",
        "Attachments belong to documents and documents to a realm, yet the Realm header is listed for "
        "contact, draft and workflow operations only. How is the realm of an attachment known, and is a "
        "Realm header obeyed there?",
        ("realm-attachments-without", "realm-on-attachments"),
    ),
    Ambiguity(
        "realm-required",
        "Workflow submission",
        "Leaving out the realm is refused on the workflow operations. The header is listed for contact "
        "and draft operations too, without a word on its absence. Is it required there, and may it stand "
        "in the query?",
        ("realm-missing-contact", "realm-missing-draft", "realm-query-elsewhere"),
    ),
    Ambiguity(
        "realm-both",
        "Workflow submission",
        "The realm may stand in the header or in the query. Which one counts when both are there and differ?",
        ("realm-header-against-query",),
    ),
    Ambiguity(
        "read-without-token",
        "Authentication",
        "Listing attachments needs a token, while for checking, downloading and previewing one nothing is"
        " said. Is reading an attachment without a token intended?",
        ("attachment-exists-token", "attachment-get-token", "attachment-thumbnail-token"),
    ),
    Ambiguity(
        "content-type-without-body",
        "Common headers",
        "Content-Type: application/json is listed for operations that send no body, reading and deleting "
        "drafts among them, and not for creating attachments, which do send one. Is it required where it "
        "is listed?",
        (
            "content-type-without-body",
            "content-type-not-needed",
            "content-type-missing",
            "attachment-sent-type",
        ),
    ),
    Ambiguity(
        "dollar",
        "Attachments",
        "The options of the two lists mean the same, yet they are written with a dollar sign for drafts "
        "and without one for attachments. Is each spelling alone right, or are both taken?",
        ("list-options-without-dollar", "attachment-list-options-with-dollar"),
    ),
    Ambiguity(
        "collections",
        "Draft versions",
        "Two collections can be listed, my and mydrafts, in a list that holds drafts only. What does my "
        "hold that mydrafts does not, and what is listed without a collection?",
        ("list-my-has-mine", "list-my-without-others", "list-mydrafts-without-others", "list-plain-has-mine"),
    ),
    Ambiguity(
        "gigabyte",
        "Limits",
        "Files above 1 GB cause errors. Is that a thousand million bytes or 2 to the power of 30, and what "
        "is the error?",
        ("attachment-size-at-limit", "attachment-size-answer"),
    ),
    Ambiguity(
        "nau-only",
        "Workflow submission body",
        "additionalInfo is available only when a user with the NAU role sends a request to the PA. Is it "
        "refused, or passed over, when another account sends it?",
        ("workflow-info-from-others", "workflow-info-longest"),
    ),
    Ambiguity(
        "draft-body",
        "Draft versions",
        "A draft is saved under a schema, while the body of the request is not shown and nothing says "
        "whether it is validated. May an incomplete draft be saved, and what has to be in it?",
        (
            "draft-save-body",
            "draft-save-incomplete",
            "draft-save-schema-missing",
            "draft-save-schema-unknown",
        ),
    ),
    Ambiguity(
        "read-a-contact",
        "Contact records",
        "Contacts can be created and updated, but no operation reads one back. Do the draft operations show it?",
        ("contact-read-back",),
    ),
)
"""In the order in which the questions are put: what most clients meet first."""


#: At most so many questions of one kind; the rest is counted.
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


def questions_of(record: RunRecord, verdict: RunVerdict, seen: Seen) -> Questions:
    """Make the questions of a run.

    Args:
        seen: the content of `observations.json`.

    Returns:
        One question for each clause or passage; nothing is asked of which the run saw nothing.
    """
    clauses, realms = clauses_of(verdict), realms_of(record, verdict)
    places = observed_points(seen, clauses, realms)
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
                (finding.operation or "the service", finding.seen, finding.realm, finding.id)
                for finding in by_clause[name]
            )
            yield _question(kind, name, clause.source, ask_of(clause), (name,), _in_order(lines, realms))


def _is_it_the_document(clause: Clause) -> str:
    return f"The document states, in our words: “{clause.wording}” The service does otherwise. Which one is right?"


def _is_it_our_reading(clause: Clause) -> str:
    return f"We read the document like this: “{clause.wording}” The service does otherwise. Is another reading meant?"


def _ambiguous(
    cells: Iterable[Cell], places: Iterable[ObservedOperation], realms: Sequence[str]
) -> Iterator[Question]:
    """Yield a question for each passage to settle of which the run saw something."""
    by_clause: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        by_clause[cell.clause.id].append(cell)
    seen: dict[str, list[ObservedOperation]] = defaultdict(list)
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
    results = {cell.realm: "contradicted" if cell.contradicted else "held" for cell in cells if _speaks(cell)}
    if not results:
        return []
    wording = cells[0].clause.wording
    findings = {cell.realm: cell.findings[0] for cell in cells if cell.findings}
    return [
        EvidenceLine(wording, group.realms, group.value, findings.get(group.realms[0]))
        for group in group_realms(results, realms)
    ]


def _speaks(cell: Cell) -> bool:
    return cell.verdict in _JUDGED and bool(cell.assertions) and cell.clause.level is not Level.SILENT


def _differing(lines: Iterable[ObservedOperation]) -> Iterator[Question]:
    """Yield a question for each silent clause on which realms differ."""
    by_clause: dict[str, list[ObservedOperation]] = defaultdict(list)
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


def _sighted(sight: ObservedOperation) -> list[EvidenceLine]:
    return [
        EvidenceLine(
            f"{sight.operation or 'the service'}, {point.name}" if point.name else sight.operation,
            group.realms,
            group.value,
        )
        for point in sight.points
        for group in point.agreed
    ]


def _summed_up(sight: ObservedOperation) -> list[EvidenceLine]:
    """Return what all realms do alike in one line, and a line for each value on which they differ."""
    alike = [
        f"{point.name}: {_value(point)}" if point.name else _value(point)
        for point in sight.points
        if not point.differs
    ]
    apart = replace(sight, points=tuple(point for point in sight.points if point.differs))
    whole = [EvidenceLine(_about(sight), sight.realms, "; ".join(alike))] if alike else []
    return whole + _sighted(apart)


def _about(sight: ObservedOperation) -> str:
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


FILE_NAME = "questions.md"
_LONG = 2_000


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `questions.md` and return its path; it is there even when there is nothing to ask."""
    path = folder / FILE_NAME
    questions = questions_of(record, verdict, observations.build(record))
    path.write_text("\n".join(markdown(record, verdict, questions)) + "\n", "utf-8")
    return path


def markdown(record: RunRecord, verdict: RunVerdict, open_questions: Questions) -> Iterator[str]:
    """Yield the lines of the page."""
    run = record.run
    yield "# Questions to the owner of the service"
    yield ""
    yield (
        f"Asked of {inline(run.target)} ({inline(run.base_url)}) after a run of the profile "
        f"{inline(run.profile)} in {inline(', '.join(run.realms))}, {inline(run.started)}."
    )
    if verdict.problems:
        yield "\n**The evidence of this run is not whole; what stands here may be wrong.**"
    if not open_questions.count:
        yield "\nThe run saw nothing to ask about."
    number = 0
    for kind, questions in open_questions.by_kind.items():
        yield f"\n## {kind}\n"
        for question in questions:
            number += 1
            yield from _question_lines(number, question)
        if kind in open_questions.left_out:
            yield f"{many(open_questions.left_out[kind], 'question')} more of this kind.\n"


def _question_lines(number: int, question: Question) -> Iterator[str]:
    yield f"### {number}. {inline(question.source or 'Silent point')}"
    yield ""
    yield inline(question.text, _LONG)
    yield ""
    yield from map(_line, question.evidence)
    if question.more:
        yield f"- {many(question.more, 'line')} more in the report"
    yield ""
    yield f"Clauses: {', '.join(f'`{clause}`' for clause in question.clauses)}"
    yield ""


def _line(line: EvidenceLine) -> str:
    finding = f" (finding `{line.finding}`)" if line.finding else ""
    realms = inline(", ".join(line.realms))
    return f"- {inline(line.what)} · {realms}: {inline(line.value, _LONG)}{finding}"
