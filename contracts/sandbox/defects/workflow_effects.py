"""Defects of what a submission brings about: refused without reason, or accepted without effect."""

from collections.abc import Callable
from typing import Any

from contracts.sandbox.defects.altering import Every, When, alter, always, edit, in_realm
from contracts.sandbox.defects.groups import CREATE, CREATE_WITH, UPDATE
from contracts.sandbox.defects.registry import Change, defect
from contracts.sandbox.defects.workflow_steps import (
    Run,
    carry_out,
    faulty,
    identifier_of,
    operation_of,
    run_instead,
)
from contracts.sandbox.records import Records
from contracts.sandbox.refusals import Fault, Reason, Refusal
from contracts.sandbox.service import Service
from contracts.sandbox.submissions import Submission
from contracts.sandbox.validation import MANDATORY
from contracts.sandbox.workflow import Row

Test = Callable[[Submission], bool]


def _invalid(*fields: str) -> Refusal:
    faults = [Fault(MANDATORY, (field,)) for field in fields]
    return Refusal(Reason.INVALID_CONTENT, "The submission is not valid.", faults=faults)


def _refusing(operation: str, test: Test, field: str) -> Change:
    """Return the change that refuses good submissions of an operation for a field they do not need."""

    def change(service: Service) -> None:
        def run(faithful: Run, submission: Submission, records: Records) -> str:
            identifier = faithful(submission, records)
            if operation_of(submission) == operation and test(submission):
                raise _invalid(field)
            return identifier

        run_instead(service, run)

    return change


def _lacks(member: str) -> Test:
    return lambda submission: member not in submission.body


def _in(realm: str) -> Test:
    return lambda submission: submission.realm.name == realm


for _name, _clause, _operation, _test, _field, _realms, _sentence in (
    (
        "workflow-create-needs-batch",
        "workflow-create-accepted",
        CREATE,
        _lacks("batchId"),
        "batchId",
        (),
        "A submission without an identifier in the path is refused without batchId.",
    ),
    (
        "workflow-create-with-identifier-needs-batch",
        "workflow-create-with-identifier-accepted",
        CREATE_WITH,
        _lacks("batchId"),
        "batchId",
        (),
        "A submission with an identifier in the path is refused without batchId.",
    ),
    (
        "workflow-update-needs-batch",
        "workflow-update-accepted",
        UPDATE,
        _lacks("batchId"),
        "batchId",
        (),
        "An update is refused without batchId.",
    ),
    (
        "workflow-create-refused-in-ort",
        "workflow-create-accepted",
        CREATE,
        _in("ort-dev"),
        "title",
        ("ort-dev",),
        "In ort-dev every submission without an identifier in the path is refused for its title.",
    ),
    (
        "workflow-create-with-identifier-refused-in-bch",
        "workflow-create-with-identifier-accepted",
        CREATE_WITH,
        _in("bch-dev"),
        "title",
        ("bch-dev",),
        "In bch-dev every submission with an identifier in the path is refused for its title.",
    ),
):
    defect(_name, clause=_clause, operations=[_operation], realms=_realms, sentence=_sentence)(
        _refusing(_operation, _test, _field)
    )


def _answer(operation: str, change: Callable[[dict[str, Any]], Any], when: When = always) -> Change:
    return lambda service: edit(service, [operation], change, when)


def _without(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != "identifier"}


_OTHER = "0123456789abcdef01234567"
for _name, _clause, _operation, _edit, _when, _realms, _sentence in (
    (
        "workflow-identifier-missing",
        "workflow-identifier-returned",
        CREATE,
        _without,
        always,
        (),
        "The answer to a submission without an identifier in the path carries none.",
    ),
    (
        "workflow-identifier-empty",
        "workflow-identifier-returned",
        CREATE,
        lambda body: {**body, "identifier": ""},
        always,
        (),
        "The answer to a submission without an identifier in the path carries an empty one.",
    ),
    (
        "workflow-identifier-changed-on-create",
        "workflow-identifier-kept",
        CREATE_WITH,
        lambda body: {**body, "identifier": _OTHER},
        always,
        (),
        "The answer to a submission with an identifier in the path carries another one.",
    ),
    (
        "workflow-identifier-missing-on-update",
        "workflow-identifier-kept",
        UPDATE,
        _without,
        always,
        (),
        "The answer to an update does not carry the identifier.",
    ),
    (
        "workflow-identifier-in-lower-case",
        "workflow-identifier-kept",
        CREATE_WITH,
        lambda body: {**body, "identifier": body["identifier"].swapcase()},
        always,
        (),
        "The answer to a submission carries its identifier in the other letter case.",
    ),
    (
        "workflow-identifier-missing-in-chm",
        "workflow-identifier-kept",
        CREATE_WITH,
        _without,
        in_realm("chm-dev"),
        ("chm-dev",),
        "In chm-dev the answer to a submission does not carry its identifier.",
    ),
):
    defect(_name, clause=_clause, operations=[_operation], realms=_realms, sentence=_sentence)(
        _answer(_operation, _edit, _when)
    )


@defect("workflow-same-identifier-for-all", clause="workflow-distinct-identifiers", operations=[CREATE])
def _(service: Service) -> None:
    """All submissions without an identifier in the path get the same one in their answers."""
    first: list[str] = []

    def same(body: dict[str, Any]) -> dict[str, Any]:
        first.append(body["identifier"])
        return {**body, "identifier": first[0]}

    edit(service, [CREATE], same)


@defect("workflow-create-twice", clause="workflow-created-exists", operations=[CREATE_WITH])
def _(service: Service) -> None:
    """Creating under an identifier again is accepted when it was submitted before."""
    _remembering(service, creating=True)


@defect("workflow-created-unknown", clause="workflow-created-known", operations=[UPDATE])
def _(service: Service) -> None:
    """Updating a record that was submitted before is refused because it does not exist."""
    _remembering(service, creating=False)


def _remembering(service: Service, *, creating: bool) -> None:
    submitted: set[tuple[str, str | None]] = set()

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        identifier = identifier_of(service, submission)
        place = (submission.realm.name, identifier)
        if place in submitted and submission.creating == creating:
            if not creating:
                raise Row.NOT_EXISTING.refusal()
            may = submission.caller.may_write and not faulty(service, submission, records)
            if may and identifier is not None:
                return carry_out(service, submission, identifier, records)
        done = faithful(submission, records)
        if submission.creating:
            submitted.add(place)
        return done

    run_instead(service, run)


@defect("workflow-batch-used-once", clause="workflow-batch-shared", operations=[CREATE, CREATE_WITH])
def _(service: Service) -> None:
    """A batchId that an earlier submission carried is refused."""
    used: set[str] = set()

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        done = faithful(submission, records)
        batch = submission.body.get("batchId")
        if submission.creating and isinstance(batch, str):
            if batch in used:
                raise _invalid("batchId")
            used.add(batch)
        return done

    run_instead(service, run)


@defect("workflow-batch-of-two", clause="workflow-batch-shared", operations=[CREATE, CREATE_WITH])
def _(service: Service) -> None:
    """A batch takes two records; a third one is refused."""
    taken: dict[str, int] = {}

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        done = faithful(submission, records)
        batch = submission.body.get("batchId")
        if submission.creating and isinstance(batch, str):
            taken[batch] = taken.get(batch, 0) + 1
            if taken[batch] > 2:
                raise _invalid("batchId")
        return done

    run_instead(service, run)


def _draft(
    service: Service, instead: Callable[[Callable[..., None], Submission, str, Records], None]
) -> None:
    alter(service.workflow, "save_draft", instead)


@defect("workflow-draft-not-saved", clause="workflow-draft-saved", operations=[CREATE_WITH])
def _(service: Service) -> None:
    """An accepted submission leaves no draft; the record exists only by its lock."""
    _draft(service, lambda *_: None)


@defect("workflow-draft-not-saved-one-in-five", clause="workflow-draft-saved", operations=[CREATE_WITH])
def _(service: Service) -> None:
    """Every fifth accepted submission leaves no draft."""
    fifth = Every(5)

    def instead(
        faithful: Callable[..., None], submission: Submission, identifier: str, records: Records
    ) -> None:
        faithful(submission, identifier, records)
        if operation_of(submission) == CREATE_WITH and fifth():
            records.remove_draft(submission.realm.name, identifier)

    _draft(service, instead)


@defect("workflow-draft-without-country", clause="workflow-draft-saved", operations=[CREATE_WITH])
def _(service: Service) -> None:
    """The draft of an accepted submission lacks the country of the document."""

    def instead(
        faithful: Callable[..., None], submission: Submission, identifier: str, records: Records
    ) -> None:
        document = submission.body["document"]
        less = {name: value for name, value in document.items() if name != "country"}
        body = {**submission.body, "document": less}
        faithful(
            Submission(
                submission.caller,
                submission.realm,
                submission.kind,
                submission.path_identifier,
                body,
                submission.creating,
            ),
            identifier,
            records,
        )

    _draft(service, instead)
