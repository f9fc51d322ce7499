"""Defects of the answer to a submission: refused without reason, or without the right identifier."""

from collections.abc import Callable
from typing import Any

from contracts.sandbox.defects.altering import When, always, edit, in_realm
from contracts.sandbox.defects.groups import CREATE, CREATE_WITH, UPDATE
from contracts.sandbox.defects.registry import Change, defect
from contracts.sandbox.defects.workflow_steps import (
    Run,
    operation_of,
    run_instead,
)
from contracts.sandbox.records import Records
from contracts.sandbox.refusals import Fault, Reason, Refusal
from contracts.sandbox.service import Service
from contracts.sandbox.submissions import Submission
from contracts.sandbox.validation import MANDATORY

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
