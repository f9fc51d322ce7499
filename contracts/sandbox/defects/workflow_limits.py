"""Defects of batchId and additionalInfo: limits that are off, and kinds nobody looks at."""

from collections.abc import Callable

from contracts.sandbox.defects.altering import alter
from contracts.sandbox.defects.groups import CREATE, CREATE_WITH, UPDATE, WORKFLOW
from contracts.sandbox.defects.registry import Change, defect
from contracts.sandbox.defects.workflow_steps import Run, operation_of, run_instead
from contracts.sandbox.records import Records
from contracts.sandbox.refusals import Fault
from contracts.sandbox.service import Service
from contracts.sandbox.submissions import Submission
from contracts.sandbox.validation import INVALID_TYPE, INVALID_VALUE
from contracts.sandbox.workflow import Row

Test = Callable[[Submission], bool]


def _on(*operations: str) -> Test:
    return lambda submission: operation_of(submission) in operations


def _faults(service: Service, meant: Test, change: Callable[[list[Fault], Submission], list[Fault]]) -> None:
    def faults(faithful: Callable[..., list[Fault]], submission: Submission, records: Records) -> list[Fault]:
        found: list[Fault] = faithful(submission, records)
        return change(found, submission) if meant(submission) else found

    alter(service.submissions, "faults", faults)


def _limit(member: str, judge: Callable[[str], bool], meant: Test) -> Change:
    """Return the change that judges the length of a text in another way: ``judge`` tells what is refused."""

    def change(found: list[Fault], submission: Submission) -> list[Fault]:
        kept = [fault for fault in found if fault != Fault(INVALID_VALUE, (member,))]
        text = submission.body.get(member)
        return [*kept, Fault(INVALID_VALUE, (member,))] if isinstance(text, str) and judge(text) else kept

    return lambda service: _faults(service, meant, change)


_CREATING = (CREATE, CREATE_WITH)
_LIMITS: tuple[tuple[str, str, str, Callable[[str], bool], tuple[str, ...], str], ...] = (
    (
        "batch-99",
        "batch-longest",
        "batchId",
        lambda text: len(text) > 99,
        WORKFLOW,
        "of 100 characters is refused",
    ),
    (
        "batch-99-on-update",
        "batch-longest",
        "batchId",
        lambda text: len(text) > 99,
        (UPDATE,),
        "of 100 characters is refused on update",
    ),
    (
        "batch-101",
        "batch-too-long",
        "batchId",
        lambda text: len(text) > 101,
        WORKFLOW,
        "of 101 characters is accepted",
    ),
    (
        "batch-101-on-update",
        "batch-too-long",
        "batchId",
        lambda text: len(text) > 101,
        (UPDATE,),
        "of 101 characters is accepted on update",
    ),
    (
        "batch-not-limited-far-above",
        "batch-too-long",
        "batchId",
        lambda text: 100 < len(text) < 1000,
        WORKFLOW,
        "of 1000 or more characters is accepted, although one of 101 is refused",
    ),
    (
        "batch-bytes",
        "batch-characters",
        "batchId",
        lambda text: len(text.encode()) > 100,
        _CREATING,
        "is measured in bytes",
    ),
    (
        "info-1001",
        "info-too-long",
        "additionalInfo",
        lambda text: len(text) > 1001,
        WORKFLOW,
        "of 1001 characters is accepted",
    ),
    (
        "info-1001-on-create",
        "info-too-long",
        "additionalInfo",
        lambda text: len(text) > 1001,
        (CREATE,),
        "of 1001 characters is accepted without an identifier in the path",
    ),
    (
        "info-not-limited-far-above",
        "info-too-long",
        "additionalInfo",
        lambda text: 1000 < len(text) < 5000,
        WORKFLOW,
        "of 5000 or more characters is accepted, although one of 1001 is refused",
    ),
    (
        "info-999",
        "info-longest",
        "additionalInfo",
        lambda text: len(text) > 999,
        _CREATING,
        "of 1000 characters is refused",
    ),
    (
        "info-bytes",
        "info-longest",
        "additionalInfo",
        lambda text: len(text.encode()) > 1000,
        _CREATING,
        "is measured in bytes",
    ),
)
for _name, _clause, _member, _judge, _operations, _what in _LIMITS:
    defect(
        f"workflow-{_name}",
        clause=f"workflow-{_clause}",
        operations=_operations,
        sentence=f"A text in {_member} {_what}.",
    )(_limit(_member, _judge, _on(*_operations)))


def _any_kind(member: str) -> Change:
    def change(found: list[Fault], _: Submission) -> list[Fault]:
        return [fault for fault in found if fault != Fault(INVALID_TYPE, (member,))]

    return lambda service: _faults(service, _on(*WORKFLOW), change)


for _member, _word in (("batchId", "batch"), ("additionalInfo", "info")):
    defect(
        f"workflow-{_word}-of-any-kind",
        clause=f"workflow-{_word}-kind",
        operations=WORKFLOW,
        sentence=f"A {_member} of any kind is accepted.",
    )(_any_kind(_member))


@defect("workflow-batch-refused-yet-taken", clause="workflow-batch-too-long", operations=[CREATE_WITH])
def _(service: Service) -> None:
    """A batchId of more than 100 characters is refused, yet the identifier is in use from then on."""
    _refused_yet_taken(service, "batchId")


@defect("workflow-info-refused-yet-taken", clause="workflow-info-too-long", operations=[CREATE_WITH])
def _(service: Service) -> None:
    """An additionalInfo of more than 1000 characters is refused, yet the identifier is in use from then on."""
    _refused_yet_taken(service, "additionalInfo")


def _refused_yet_taken(service: Service, member: str) -> None:
    used: set[tuple[str, str | None]] = set()

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        place = (submission.realm.name, submission.path_identifier)
        if _on(CREATE_WITH)(submission):
            if place in used:
                raise Row.IN_USE.refusal()
            if service.submissions.faults(submission, records) == [Fault(INVALID_VALUE, (member,))]:
                used.add(place)
        return faithful(submission, records)

    run_instead(service, run)
