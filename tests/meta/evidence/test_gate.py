"""A gate: what a consumer uses, waivers, kept runs, and one line for a file of terms that cannot be used."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.errors import ExitCode, UsageError
from registry_contracts.evidence.kept_gate import Question, answer
from registry_contracts.evidence.record import Narrowed, RunRecord
from registry_contracts.evidence.terms import Terms, read_consumer, read_deviations
from registry_contracts.evidence.verdicts import RunVerdict
from tests.meta.evidence.sample_records import CATALOGUE, TODAY, Story, consumer, deviation, waiver

METHODS = {"client.drafts.get": ("getDraft",), "client.drafts.open": ("getDraft", "draftExists")}
WAIVED = (waiver("draft-get-content"),)
LACKS = ("realm.abs-dev.locked_identifier",)
F, P, N, I = ExitCode.FAIL, ExitCode.PASS, ExitCode.NOTHING_TESTED, ExitCode.INCONCLUSIVE  # noqa: E741


def contradicted(story: Story) -> None:
    story.contradicts("draft-get-content", "bch-dev")


def stuck(story: Story) -> None:
    story.case("draft-get-content", "abs-dev", "inconclusive", held=0, reason="no answer in time")


def lacking(story: Story) -> None:
    story.case("workflow-locked-record", outcome="untested", held=0, reason="lacks it", settings=LACKS)


def shared(story: Story) -> None:
    """An operation stood in the way of a case that judges another one too."""
    story.case("uid-too-short", outcome="inconclusive", operation="saveDraft", blocked="getDraft")


@pytest.mark.parametrize(
    ("happens", "used", "code", "says"),
    [
        (contradicted, consumer("getDraft", methods=METHODS), F, "; affects client.drafts.get, client.drafts.open"),
        (contradicted, consumer("saveDraft"), P, "1 operation of sdk.toml; 1 finding outside sdk.toml not counted"),
        (contradicted, consumer("getDraft", realms=("abs-dev",)), P, "not counted"),
        (contradicted, consumer("getDraft", clauses=("uid-too-short",)), P, "not counted"),
        (contradicted, consumer("getDraft", realms=("bch-dev",), clauses=("draft-get-content",)), F, "(getDraft)"),
        (contradicted, consumer("getDraft", waivers=WAIVED), F, "(getDraft)"),
        (stuck, consumer("getDraft"), I, "draft-get-content in abs-dev: no answer in time"),
        (stuck, consumer("saveDraft"), P, "1 operation of sdk.toml"),
        (stuck, consumer("getDraft", waivers=WAIVED), P, "1 must clause waived"),
    ]
)  # fmt: skip
def test_what_the_consumer_uses_decides(whole: Story, happens: Any, used: Any, code: int, says: str) -> None:
    happens(whole)
    verdict = whole.verdict(Terms(used))
    assert (verdict.exit_code, says in verdict.reason) == (code, True), verdict.reason


@pytest.mark.parametrize(
    ("held", "happens", "used", "code"),
    [
        ("draft-save-creates", None, ("createWorkflowRecord",), N),
        ("draft-save-creates", lacking, ("saveDraft", "createWorkflowRecord"), I),
        ("draft-save-creates", lacking, ("saveDraft",), P),
        ("", shared, ("saveDraft",), P),
        ("", shared, ("getDraft", "saveDraft"), I),
        ("", shared, ("getDraft",), I),
    ],
)
def test_unreached_is_not_green(
    story: Story, held: str, happens: Any, used: tuple[str, ...], code: int
) -> None:
    story.holds(*filter(None, [held]))
    if happens is not None:
        happens(story)
    assert story.verdict(Terms(consumer(*used))).exit_code is code


@pytest.mark.parametrize(
    ("happens", "name", "operation", "says"),
    [
        (None, "draft-get-content", "getDraft", "is no longer needed: the clause was judged; remove the line"),
        (None, "draft-get-absent", "getDraft", "is not needed: a should never blocks a release"),
        (None, "draft-get-content", "saveDraft", "the consumer does not use what it concerns"),
        (contradicted, "draft-get-content", "getDraft", "does not help"),
        (stuck, "draft-get-content", "getDraft", "waives the verdict in abs-dev (the SDK never sends it): no"),
    ]
)  # fmt: skip
def test_an_unneeded_waiver_is_told(whole: Story, happens: Any, name: str, operation: str, says: str) -> None:
    if happens is not None:
        happens(whole)
    verdict = whole.verdict(Terms(consumer(operation, waivers=(waiver(name),))))
    assert verdict.waivers[0].sentence.startswith(f"sdk.toml:9: the waiver of {name} ")
    assert says in verdict.waivers[0].sentence
    assert verdict.notes == (() if verdict.waivers[0].needed else (verdict.waivers[0].sentence,))


READS = consumer("getDraft", realms=("abs-dev",))
BEGAN = datetime(2026, 5, 10, 8, tzinfo=UTC)
Asked = tuple[RunVerdict, list[str]]


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., Asked]:
    """Asks of a run whether what reads drafts may be released, an hour after the run began."""

    def asked(record: RunRecord, **question: Any) -> Asked:
        plain = Question(Terms(READS), "dev", None, timedelta(hours=36), BEGAN + timedelta(hours=1))
        return answer(tmp_path, record, replace(plain, **question), CATALOGUE)

    return asked


def test_deviations_are_those_of_the_day_of_the_question(whole: Story, ask: Callable[..., Asked]) -> None:
    whole.contradicts("draft-get-content")
    entry = deviation(realms=("abs-dev",), expires=TODAY)
    kept = whole.record(Terms(READS, (deviation(),), "deviations/dev.toml"))
    assert ask(kept)[0].exit_code is ExitCode.FAIL, "the deviation has been taken out since"
    terms = Terms(READS, (entry,), "deviations/dev.toml")
    assert ask(kept, terms=terms)[0].exit_code is ExitCode.PASS
    later = ask(kept, terms=terms, now=BEGAN + timedelta(days=1))[0]
    assert later.exit_code is ExitCode.FAIL
    assert "ran out on 2026-05-10" in later.deviations[0].says
    mended = Story()
    mended.holds("draft-get-content", "draft-save-creates", "uid-too-short", "workflow-locked-record")
    gone = ask(mended.record(), terms=terms)[0]
    assert (gone.exit_code, gone.deviations[0].says[:17]) == (ExitCode.FAIL, "no longer happens")


def changed(**facts: Any) -> Callable[[RunRecord], RunRecord]:
    """A kept run with other facts."""
    return lambda record: replace(record, run=replace(record.run, **facts))


LIMITED = Terms(consumer("saveDraft"))
LEFT_OUT = Narrowed("cases were left out by the selection", frozenset({("draft-get-content", "abs-dev")}))
WIDE = (*READS.realms, "chm-dev")


@pytest.mark.parametrize(
    ("kept", "question", "says"),
    [
        (changed(), {"base_url": "https://a.test"}, "it judged http://127.0.0.1, not https://a.test"),
        (changed(), {"max_age": timedelta(minutes=20)}, "it began 1.0 h ago, and 20 min are allowed"),
        (changed(started="2026-05-10T10:00:00+00:00"), {}, "it begins in the future (2026-05-10T10:00:00+00:00)"),
        (changed(interrupted=True), {}, "it was interrupted"),
        (changed(refused="--realm is unknown"), {}, "it judged nothing: --realm is unknown"),
        (lambda kept: replace(kept, problems=("the run has no closing record",)), {}, "the run has no closing record"),
        (changed(profile="smoke"), {}, "its profile is smoke, which does not take in every must clause"),
        (changed(), {"terms": Terms(replace(READS, realms=WIDE))}, "it did not judge the realm chm-dev"),
        (changed(settings={"abs-dev": {}, "ort-dev": {}}), {"terms": Terms()}, "it did not judge the realm ort-dev"),
        (changed(clauses=("uid-too-short",)), {}, "it did not judge draft-get-content in abs-dev"),
        (changed(terms=LIMITED), {}, "it was limited to sdk.toml, which does not take in all that is asked about"),
        (lambda kept: replace(kept, narrowed=(LEFT_OUT,)), {}, f"{LEFT_OUT.reason}: draft-get-content"),
    ]
)  # fmt: skip
def test_a_run_that_cannot_tell_leaves_the_answer_inconclusive(
    ask: Callable[..., Asked], kept: Callable[[RunRecord], RunRecord], question: dict[str, Any], says: str
) -> None:
    story = Story()
    story.holds("uid-too-short")
    if says.partition(" in ")[0] != "it did not judge draft-get-content":
        story.holds("draft-get-content", "draft-save-creates", "workflow-locked-record")
    verdict, gaps = ask(kept(story.record()), **question)
    assert verdict.exit_code is ExitCode.INCONCLUSIVE
    assert gaps[0].startswith(says), gaps
    assert gaps[0] in verdict.reason


def test_a_contradiction_counts_before_what_is_missing(whole: Story, ask: Callable[..., Asked]) -> None:
    whole.contradicts("draft-get-content")
    verdict, gaps = ask(changed(profile="smoke")(whole.record()))
    assert (verdict.exit_code, len(gaps)) == (ExitCode.FAIL, 1)
    old, _ = ask(whole.record(), max_age=timedelta(minutes=1))
    assert (old.exit_code, old.causes) == (ExitCode.INCONCLUSIVE, ()), "what is too old is empty at all"


ENTRY = """\
# what we know of
[[deviation]]
clause = "draft-get-content"
realms = ["abs-dev"]
reason = "Old records lose a member."
owner = "drafts team"
issue = "https://tracker.example.test/17"
expires = 2027-01-31
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "terms.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_entry_is_read_with_its_line(tmp_path: Path) -> None:
    second = ENTRY.replace("draft-get-content", "draft-text-kept").replace('realms = ["abs-dev"]\n', "")
    text = f"{ENTRY}\n{second}operation = 'getDraft'\nprofile = 'nightly'\n"
    found = read_deviations(written(tmp_path, text), "dev.toml")
    assert [(each.line, each.realms, each.operation) for each in found] == [
        (2, ("abs-dev",), None),
        (11, ("abs-dev", "bch-dev", "chm-dev"), "getDraft"),
    ]
    assert (found[0].expires, found[0].profile, found[1].profile) == (date(2027, 1, 31), "gate", "nightly")


CONSUMER = """\
operations = ["createToken"]
realms = ["abs-dev"]
clauses = ["draft-get-content"]
[methods]
"client.drafts.get" = ["getDraft"]
client.drafts.save = ["saveDraft", "getDraft"]
[waivers]
draft-get-content = "  read by nobody yet "
"""


def test_a_consumer_file_joins_operations_and_methods(tmp_path: Path) -> None:
    found = read_consumer(written(tmp_path, CONSUMER), "sdk.toml")
    assert found.operations == ("createToken", "getDraft", "saveDraft")
    assert found.methods == {
        "client.drafts.get": ("getDraft",),
        "client.drafts.save": ("saveDraft", "getDraft"),
    }
    assert (found.realms, found.clauses) == (("abs-dev",), ("draft-get-content",))
    assert [(each.reason, each.line) for each in found.waivers] == [("read by nobody yet", 8)]


#: What replaces what in an entry, the line that is named, and what it says.
ODD_ENTRIES = [
    ("draft-get-content", "draft-get-contents", 3, "did you mean 'draft-get-content'?"),
    ("draft-get-content", "draft-success-status", 3, "is silent at"),
    ('"abs-dev"', '"abs"', 4, "production realm, which is refused; use abs-dev"),
    ('"abs-dev"', '"ort-dev"', 4, "is judged in abs-dev, bch-dev, chm-dev, not in ort-dev"),
    ("realms", "relms", 4, "unknown key 'relms' in [deviation]; did you mean 'realms'?"),
    ('reason = "Old records lose a member."\n', "", 2, "lacks reason; see docs/gate.md"),
    ("2027-01-31", '"soon"', 8, "expires must be a date such as"),
    ("2027-01-31\n", '2027-01-31\noperation = "saveDraft"\n', 9, "concerns getDraft, not saveDraft"),
    ("[[deviation]]", "[deviation]", 2, "begin each entry with [[deviation]]"),
    ("2027-01-31\n", f"2027-01-31\n{ENTRY}", 10, "stands already at line 2"),
]
#: A consumer file, and the same.
ODD_CONSUMERS = [
    ('operations = [\n  "saveDraft",\n  "nope",\n]', 3, "unknown operation 'nope'; known: createToken"),
    ('operations = ["GET /api/v2013/document-drafts"]', 1, "write 'listDrafts'"),
    ('[methods]\n"a.b" = "saveDraft"', 2, "a.b must be a list of at least one text"),
    ('operations = ["saveDraft"]\nrealms = ["ort-dev"]', 2, "saveDraft is offered in abs-dev"),
    ('operations = ["saveDraft"]\nclauses = ["draft-get-content"]', 2, "which the consumer does not use"),
    ('[waivers]\ndraft-get-content = ""', 2, "has no reason"),
    ("", 1, "is empty"),
    ("operations = [", 1, "is not TOML"),
]


@pytest.mark.parametrize(
    ("read", "text", "line", "says"),
    [
        *((read_deviations, ENTRY.replace(old, new), *rest) for old, new, *rest in ODD_ENTRIES),
        *((read_consumer, *row) for row in ODD_CONSUMERS),
    ],
)
def test_what_cannot_be_used_names_its_line(
    tmp_path: Path, read: Callable[[Path, str], object], text: str, line: int, says: str
) -> None:
    assert text != ENTRY
    with pytest.raises(UsageError) as caught:
        read(written(tmp_path, text), "terms.toml")
    assert str(caught.value).startswith(f"terms.toml:{line}: "), caught.value
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
