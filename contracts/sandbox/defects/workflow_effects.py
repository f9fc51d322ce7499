"""Defects of accepted and refused submissions: their answers, what they store, and what they leave behind."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.answers import json_text
from contracts.sandbox.database import Records
from contracts.sandbox.defects.alteration import Every, Handler, When, alter, always, around, edit, in_realm
from contracts.sandbox.defects.registry import CREATE, CREATE_WITH, UPDATE, Change, defect, replaces
from contracts.sandbox.defects.workflow_rows import (
    Run,
    allowed,
    carry_out,
    faulty,
    identifier_of,
    operation_of,
    run_instead,
)
from contracts.sandbox.refusals import Fault, Reason, Refusal
from contracts.sandbox.service import Service
from contracts.sandbox.validation import MANDATORY
from contracts.sandbox.workflow import Row, Submission

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


def _refuses(operation: str, word: str, what: str) -> None:
    """Declare the defects of an operation that needs a batchId."""
    defect(
        f"workflow-{word}-needs-batch",
        clause=f"workflow-{word}-accepted",
        operations=[operation],
        sentence=f"{what} is refused without batchId.",
    )(_refusing(operation, _lacks("batchId"), "batchId"))


_refuses(CREATE, "create", "A submission without an identifier in the path")
_refuses(CREATE_WITH, "create-with-identifier", "A submission with an identifier in the path")
_refuses(UPDATE, "update", "An update")

for _operation, _word, _realm, _which in (
    (CREATE, "create", "ort-dev", "without"),
    (CREATE_WITH, "create-with-identifier", "bch-dev", "with"),
):
    defect(
        f"workflow-{_word}-refused-in-{_realm[:3]}",
        clause=f"workflow-{_word}-accepted",
        operations=[_operation],
        realms=[_realm],
        sentence=f"In {_realm} every submission {_which} an identifier in the path is refused for its title.",
    )(_refusing(_operation, _in(_realm), "title"))


def _answer(operation: str, change: Callable[[dict[str, Any]], Any], when: When = always) -> Change:
    return lambda service: edit(service, [operation], change, when)


def _without(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != "identifier"}


_OTHER = "0123456789abcdef01234567"
_WITHOUT_PATH = "The answer to a submission without an identifier in the path carries"
for _name, _clause, _operation, _edit, _sentence in (
    ("missing", "returned", CREATE, _without, f"{_WITHOUT_PATH} none."),
    ("empty", "returned", CREATE, lambda body: {**body, "identifier": ""}, f"{_WITHOUT_PATH} an empty one."),
    (
        "changed-on-create",
        "kept",
        CREATE_WITH,
        lambda body: {**body, "identifier": _OTHER},
        "The answer to a submission with an identifier in the path carries another one.",
    ),
    ("missing-on-update", "kept", UPDATE, _without, "The answer to an update does not carry the identifier."),
    (
        "in-lower-case",
        "kept",
        CREATE_WITH,
        lambda body: {**body, "identifier": body["identifier"].swapcase()},
        "The answer to a submission carries its identifier in the other letter case.",
    ),
):
    defect(
        f"workflow-identifier-{_name}",
        clause=f"workflow-identifier-{_clause}",
        operations=[_operation],
        sentence=_sentence,
    )(_answer(_operation, _edit))

defect(
    "workflow-identifier-missing-in-chm",
    clause="workflow-identifier-kept",
    operations=[CREATE_WITH],
    realms=["chm-dev"],
    sentence="In chm-dev the answer to a submission does not carry its identifier.",
)(_answer(CREATE_WITH, _without, in_realm("chm-dev")))


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


@defect("workflow-draft-not-saved-at-times", clause="workflow-draft-saved", operations=[CREATE_WITH])
def _(service: Service) -> None:
    """Every second accepted submission leaves no draft."""
    second = Every(2)

    def instead(
        faithful: Callable[..., None], submission: Submission, identifier: str, records: Records
    ) -> None:
        faithful(submission, identifier, records)
        if operation_of(submission) == CREATE_WITH and second():
            records.remove_draft(submission.realm.name, identifier)

    _draft(service, instead)


@replaces(
    "workflow.save_draft",
    "workflow-draft-without-country",
    clause="workflow-draft-saved",
    operations=[CREATE_WITH],
)
def _(
    _service: Service,
    faithful: Callable[..., None],
    submission: Submission,
    identifier: str,
    records: Records,
) -> None:
    """The draft of an accepted submission lacks the country of the document."""
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


def _after_refusal(
    service: Service, operation: str, then: Callable[[Submission, str, Records], None]
) -> None:
    """Do more when a submission of an operation was refused for its content alone."""
    refused: list[tuple[Submission, str]] = []

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        identifier = identifier_of(service, submission)
        may = submission.caller.may_write and allowed(service, submission, records)
        meant = (
            operation_of(submission) == operation
            and may
            and bool(service.submissions.document_faults(submission, records))
        )
        if meant and identifier is not None:
            refused.append((submission, identifier))
        return faithful(submission, records)

    async def answer(faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        finally:
            while refused:
                submission, identifier = refused.pop()
                with service.storage.transaction() as records:
                    then(submission, identifier, records)

    run_instead(service, run)
    around(service, [operation], answer)


def _saved(service: Service, submission: Submission, identifier: str, records: Records) -> None:
    service.drafts.keep(
        records,
        caller=submission.caller,
        realm=submission.realm,
        uid=identifier,
        schema=submission.kind.name,
        content=json_text(submission.body.get("document")),
    )


@defect(
    "workflow-save-before-validation",
    clause="workflow-order-validation-before-save",
    operations=[CREATE_WITH],
)
def _(service: Service) -> None:
    """The draft is saved before the document is validated, and stays when the document is refused."""
    left: set[tuple[str, str]] = set()

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        identifier = submission.path_identifier
        if submission.creating and identifier is not None and (submission.realm.name, identifier) in left:
            # Only the draft is left over; the identifier is as free as it should be.
            records.remove_draft(submission.realm.name, identifier)
        return faithful(submission, records)

    def save(submission: Submission, identifier: str, records: Records) -> None:
        left.add((submission.realm.name, identifier))
        _saved(service, submission, identifier, records)

    _after_refusal(service, CREATE_WITH, save)
    run_instead(service, run)


@defect(
    "workflow-save-before-validation-on-update",
    clause="workflow-refused-update-keeps-draft",
    operations=[UPDATE],
)
def _(service: Service) -> None:
    """An update that is refused for its content is written over the draft all the same."""
    _after_refusal(service, UPDATE, lambda *found: _saved(service, *found))


@defect(
    "workflow-refused-identifier-taken", clause="workflow-refused-frees-identifier", operations=[CREATE_WITH]
)
def _(service: Service) -> None:
    """An identifier stays in use when its submission was refused for its content."""
    used: set[tuple[str, str]] = set()
    _reserved(service, used)
    _after_refusal(
        service, CREATE_WITH, lambda found, identifier, _: used.add((found.realm.name, identifier))
    )


def _reserved(service: Service, used: set[tuple[str, str]]) -> None:
    """Take identifiers for used when a second submission names them."""

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        if submission.creating and (submission.realm.name, identifier_of(service, submission)) in used:
            raise Row.IN_USE.refusal()
        return faithful(submission, records)

    run_instead(service, run)


@defect(
    "workflow-locked-before-content", clause="workflow-refused-frees-identifier", operations=[CREATE_WITH]
)
def _(service: Service) -> None:
    """The workflow begins before the document is validated, so that a refused identifier is locked."""
    used: set[tuple[str, str]] = set()

    def locked_by_now(faithful: Run, submission: Submission, records: Records) -> str:
        if submission.creating and (submission.realm.name, identifier_of(service, submission)) in used:
            raise Row.LOCKED.refusal()
        return faithful(submission, records)

    run_instead(service, locked_by_now)
    _after_refusal(
        service, CREATE_WITH, lambda found, identifier, _: used.add((found.realm.name, identifier))
    )


@defect(
    "workflow-rights-after-save", clause="workflow-rights-refusal-stores-nothing", operations=[CREATE_WITH]
)
def _(service: Service) -> None:
    """An account that may not create is refused, yet the identifier it named is in use from then on."""
    used: set[tuple[str, str]] = set()

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        identifier = submission.path_identifier
        if submission.creating and identifier is not None:
            place = (submission.realm.name, identifier)
            if not submission.caller.may_write:
                used.add(place)
            elif place in used:
                raise Row.IN_USE.refusal()
        return faithful(submission, records)

    run_instead(service, run)
