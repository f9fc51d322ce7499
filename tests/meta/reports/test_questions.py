"""Questions to the owner: asked where there is evidence, bounded, in order, and safe to send."""

from dataclasses import replace
from pathlib import Path

from contracts.evidence import observations
from contracts.evidence.record import RunRecord
from contracts.evidence.run_folder import collect
from contracts.evidence.verdicts import RunVerdict, judge
from contracts.interface.catalogue import load_catalogue
from contracts.reports.questions import AMBIGUITIES, AT_MOST, Kind, Questions, markdown, questions_of
from tests.meta.reports.sample_runs import CATALOGUE


def asked(record: RunRecord, verdict: RunVerdict | None = None) -> Questions:
    return questions_of(record, verdict or judge(record, CATALOGUE), observations.build(record))


def test_each_kind_of_question_has_its_evidence(rich: Path) -> None:
    found = asked(collect(rich))
    assert list(found.by_kind) == [Kind.STATEMENT, Kind.READING, Kind.REALMS]
    assert found.count == 3
    (statement,), (reading,), (realms,) = found.by_kind.values()
    assert [line.realms for line in statement.evidence] == [("abs-dev",)]
    assert statement.evidence[0].finding
    assert reading.clauses == ("errors-code",)
    assert [line.realms for line in realms.evidence] == [("abs-dev",), ("bch-dev",)]
    assert realms.id == "question-realms-draft-info-shape"


def test_a_passage_is_asked_about_with_what_the_service_does() -> None:
    """Every passage names clauses of the catalogue, so that each can have evidence."""
    known = {clause.id for clause in load_catalogue()}
    assert {name for passage in AMBIGUITIES for name in passage.clauses} <= known
    assert len({passage.id for passage in AMBIGUITIES}) == len(AMBIGUITIES)
    assert all(passage.text.endswith("?") for passage in AMBIGUITIES)


def test_a_contradiction_within_the_document_is_asked_about_though_nothing_failed(folder: Path) -> None:
    record = collect(folder)
    rule = next(clause for clause in load_catalogue() if clause.id == "uid-hyphen")
    held = next(case for case in record.cases if case.realm == "bch-dev")
    count = replace(held.assertions[0], clause=rule.id)
    case = replace(held, clauses=(rule.id,), assertions=(count,))
    record = replace(record, cases=(case,), findings=(), observations=())
    found = asked(record, judge(record, [rule]))
    (question,) = found.by_kind[Kind.DOCUMENT]
    assert question.id == "question-document-uid-pattern"
    assert [(line.what, line.realms, line.value) for line in question.evidence] == [
        (rule.wording, ("bch-dev",), "held")
    ]


def test_nothing_is_asked_of_which_nothing_was_seen(folder: Path) -> None:
    record = replace(collect(folder), findings=(), observations=())
    assert asked(record).count == 0
    text = "\n".join(markdown(record, judge(record, CATALOGUE), asked(record)))
    assert "The run saw nothing to ask about." in text


def test_what_is_not_confirmed_is_not_asked(folder: Path) -> None:
    record = collect(folder)
    unsure = tuple(replace(each, confirmed=False) for each in record.findings)
    assert asked(replace(record, findings=unsure)).count == 0


def test_questions_are_bounded_however_much_was_found(folder: Path) -> None:
    record = collect(folder)
    finding = record.findings[0]
    template = next(clause for clause in CATALOGUE if clause.id == finding.clause)
    names = [f"draft-{number}" for number in range(AT_MOST + 7)]
    catalogue = [replace(template, id=name) for name in names]
    many = tuple(
        replace(finding, clause=name, operation=f"op{number}", seen="<" * 5_000)
        for name in names
        for number in range(20)
    )
    swollen = replace(record, cases=(), findings=many, observations=())
    verdict = judge(swollen, catalogue)
    found = asked(swollen, verdict)
    assert len(found.by_kind[Kind.STATEMENT]) == AT_MOST
    assert found.left_out == {Kind.STATEMENT: 7}
    assert {question.more for question in found.by_kind[Kind.STATEMENT]} == {8}
    text = "\n".join(markdown(swollen, verdict, found))
    assert "7 questions more of this kind." in text
    assert len(text) < 1_000_000


def test_the_file_cannot_be_broken_out_of(rendered: Path) -> None:
    text = (rendered / "questions.md").read_text("utf-8")
    assert "\\<script\\>" in text
    assert not [sign for sign in "\x00\x1b\u202e" if sign in text]
    lines = [line for line in text.splitlines() if "alert(1)" in line]
    assert lines
    assert not [line for line in lines if "<script>" in line.replace("\\<script\\>", "")]
