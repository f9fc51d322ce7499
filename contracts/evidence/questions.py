"""`questions.md`: the questions to the owner of the service, to be sent as they are."""

from collections.abc import Iterator
from pathlib import Path

from contracts.evidence import observations
from contracts.evidence.asking import EvidenceLine, Question, Questions, ask
from contracts.evidence.plain import inline, many
from contracts.evidence.record import RunRecord
from contracts.evidence.verdicts import RunVerdict

FILE_NAME = "questions.md"
_LONG = 2_000


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `questions.md` and return its path; it is there even when there is nothing to ask."""
    path = folder / FILE_NAME
    asked = ask(record, verdict, observations.build(record))
    path.write_text("\n".join(markdown(record, verdict, asked)) + "\n", "utf-8")
    return path


def markdown(record: RunRecord, verdict: RunVerdict, asked: Questions) -> Iterator[str]:
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
    if not asked.count:
        yield "\nThe run saw nothing to ask about."
    number = 0
    for kind, questions in asked.by_kind.items():
        yield f"\n## {kind}\n"
        for question in questions:
            number += 1
            yield from _question(number, question)
        if kind in asked.left_out:
            yield f"{many(asked.left_out[kind], 'question')} more of this kind.\n"


def _question(number: int, question: Question) -> Iterator[str]:
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
