"""Defects of submissions: their bodies, schemas and identifiers, their answers, and what they store or leave."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.answers import json_text
from contracts.sandbox.database import VERSIONS, Records
from contracts.sandbox.defects.declaration import (
    CREATE,
    CREATE_WITH,
    UPDATE,
    WORKFLOW,
    Change,
    Every,
    Handler,
    When,
    alter,
    always,
    around,
    defect,
    edit,
    in_realm,
    replaces,
)
from contracts.sandbox.defects.workflow_table import (
    Run,
    allowed,
    carry_out,
    faulty,
    identifier_of,
    operation_of,
    run_instead,
)
from contracts.sandbox.http_requests import Fault, Reason, Refusal, bad_request, decoded_segment
from contracts.sandbox.record_types import INVALID_TYPE, INVALID_VALUE, MANDATORY, Realm, RecordType
from contracts.sandbox.service import Service
from contracts.sandbox.workflow import Row, Submission

Test = Callable[[Submission], bool]


_CREATING = (CREATE, CREATE_WITH)


def _let_through(test: Callable[[Any], bool], meant: Test) -> Change:
    """Return the change that carries out submissions whose member document passes ``test``."""

    def change(service: Service) -> None:
        def run(faithful: Run, submission: Submission, records: Records) -> str:
            if not meant(submission) or not test(submission.body.get("document", ...)):
                return faithful(submission, records)
            identifier = service.workflow.check_identifier(submission, records)
            service.workflow.create_securities(submission, identifier, records)
            return carry_out(service, submission, identifier, records)

        run_instead(service, run)

    return change


def _accepted(
    name: str,
    clause: str,
    what: str,
    test: Callable[[Any], bool],
    operations: tuple[str, ...] = WORKFLOW,
    realm: str | None = None,
) -> None:
    """Declare the defect that accepts documents that pass a test; an absent document is the ellipsis."""

    def meant(submission: Submission) -> bool:
        return operation_of(submission) in operations and realm in {None, submission.realm.name}

    defect(
        f"workflow-{name}",
        clause=f"workflow-{clause}",
        operations=operations,
        realms=() if realm is None else (realm,),
        sentence=f"A document {what} is accepted.",
    )(_let_through(test, meant))


def _absent(document: Any) -> bool:
    return document is ...


def _object(document: Any) -> bool:
    return isinstance(document, dict)


_accepted("document-not-needed", "document-missing", "that is absent", _absent)
_accepted(
    "document-not-needed-on-update", "document-missing", "that is absent, on update,", _absent, (UPDATE,)
)
_accepted("document-array", "document-kind", "that is an array", lambda document: isinstance(document, list))
_accepted(
    "document-string",
    "document-kind",
    "that is a string, on create,",
    lambda document: isinstance(document, str),
    _CREATING,
)
_accepted("document-empty", "document-validated", "without any field", lambda document: document == {})
_accepted(
    "document-not-validated-on-update",
    "document-validated",
    "of any content, on update,",
    _object,
    (UPDATE,),
)
_accepted(
    "document-not-validated-in-ort",
    "document-validated",
    "of any content, in ort-dev,",
    _object,
    realm="ort-dev",
)


def _taken(operation: str, first: bytes) -> Change:
    """Return the change that answers success to a body by its first byte; nothing: an absent body."""

    def change(service: Service) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            raw = (await request.body()).strip()
            try:
                return await faithful(request)
            except Refusal as refusal:
                stated = refusal.message in {row.value[1] for row in Row} or refusal.status is not None
                if raw[:1] != first or stated:
                    raise
                identifier = request.path_params.get("identifier", service.identifiers.mint())
                return JSONResponse({"identifier": identifier}, 201)

        around(service, [operation], answer)

    return change


for _name, _operation, _first, _what in (
    ("workflow-body-array", CREATE, b"[", "an array"),
    ("workflow-body-null", UPDATE, b"n", "null"),
    ("workflow-body-absent", CREATE_WITH, b"", "no body"),
):
    defect(
        _name,
        clause="workflow-body-kind",
        operations=[_operation],
        sentence=f"{_operation} answers success when {_what} is sent.",
    )(_taken(_operation, _first))


_SHAPE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_BOTH = (CREATE_WITH, UPDATE)


@replaces(
    "workflow.require_schema",
    "workflow-schema-of-another-realm",
    clause="workflow-schema-of-another-realm",
    operations=WORKFLOW,
)
def _(service: Service, faithful: Callable[..., RecordType], request: Request, realm: Realm) -> RecordType:
    """The schemas of all realms are configured in every realm."""
    name = request.path_params["schema"]
    for other in service.realms.realms.values():
        if name in other.types:
            return other.types[name]
    return faithful(request, realm)


@replaces(
    "workflow.require_schema",
    "workflow-schema-message-of-its-realm",
    clause="workflow-schema-of-another-realm",
    operations=WORKFLOW,
)
def _(service: Service, faithful: Callable[..., RecordType], request: Request, realm: Realm) -> RecordType:
    """The refusal of another realm's schema names the realm the schema belongs to."""
    name = request.path_params["schema"]
    for other in service.realms.realms.values():
        if name in other.types and name not in realm.types:
            raise Row.SCHEMA_UNKNOWN.refusal(other.name)
    return faithful(request, realm)


def _identifier(judge: Callable[[str, bool], bool], operations: Iterable[str] = _BOTH) -> Change:
    """Return the change of the rule for identifiers of submissions.

    Args:
        judge: tells of a text, and of whether the rule holds for it, whether it is an identifier.
        operations: where.

    """
    meant = frozenset(operations)

    def change(service: Service) -> None:
        def from_path(faithful: Callable[..., str], request: Request, name: str = "uid") -> str:
            text = decoded_segment(request.path_params[name])
            if text is None or name != "identifier" or request.scope["operation_id"] not in meant:
                return faithful(request, name)
            if not judge(text, service.identifiers.holds(text)):
                raise bad_request("identifier is not well formed")
            return text

        alter(service.identifiers, "from_path", from_path)

    return change


def _shaped(text: str, *lengths: int) -> bool:
    return len(text) in lengths and _SHAPE.fullmatch(text) is not None


def _dotted(text: str) -> bool:
    return "." in text and _shaped(text.replace(".", "x"), *range(11, 129))


for _name, _clause, _judge, _sentence in (
    (
        "refuses-eleven",
        "edges",
        lambda text, holds: holds and len(text) != 11,
        "of 11 characters is refused.",
    ),
    ("refuses-128", "edges", lambda text, holds: holds and len(text) != 128, "of 128 characters is refused."),
    (
        "accepts-ten",
        "too-short",
        lambda text, holds: holds or _shaped(text, 10),
        "of 10 characters is accepted.",
    ),
    (
        "accepts-129",
        "too-long",
        lambda text, holds: holds or _shaped(text, 129),
        "of 129 characters is accepted.",
    ),
    ("accepts-dot", "characters", lambda text, holds: holds or _dotted(text), "may hold a dot."),
):
    defect(
        f"workflow-identifier-{_name}",
        clause=f"workflow-identifier-{_clause}",
        operations=[CREATE_WITH],
        sentence=f"An identifier {_sentence}",
    )(_identifier(_judge, [CREATE_WITH]))


@replaces(
    "workflow.run",
    "workflow-identifier-letter-case-ignored",
    clause="workflow-identifier-case-sensitive",
    operations=[CREATE_WITH],
)
def _(_service: Service, faithful: Run, submission: Submission, records: Records) -> str:
    """An identifier is in use when one is that differs only in letter case."""
    identifier = submission.path_identifier
    if submission.creating and identifier is not None:
        query = VERSIONS.select().with_only_columns(VERSIONS.c.identifier)
        here = query.where(VERSIONS.c.realm == submission.realm.name)
        for other in records.connection.execute(here).scalars():
            if other != identifier and other.lower() == identifier.lower():
                raise Row.IN_USE.refusal()
    return faithful(submission, records)


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


for _name, _clause, _limit_judge, _operations, _what in (
    ("batch-99", "longest", lambda text: len(text) > 99, WORKFLOW, "of 100 characters is refused"),
    (
        "batch-99-on-update",
        "longest",
        lambda text: len(text) > 99,
        (UPDATE,),
        "of 100 characters is refused on update",
    ),
    ("batch-101", "too-long", lambda text: len(text) > 101, WORKFLOW, "of 101 characters is accepted"),
    (
        "batch-101-on-update",
        "too-long",
        lambda text: len(text) > 101,
        (UPDATE,),
        "of 101 characters is accepted on update",
    ),
    (
        "batch-not-limited-far-above",
        "too-long",
        lambda text: 100 < len(text) < 1000,
        WORKFLOW,
        "of 1000 or more characters is accepted, although one of 101 is refused",
    ),
    ("batch-bytes", "characters", lambda text: len(text.encode()) > 100, _CREATING, "is measured in bytes"),
    ("info-1001", "too-long", lambda text: len(text) > 1001, WORKFLOW, "of 1001 characters is accepted"),
    (
        "info-1001-on-create",
        "too-long",
        lambda text: len(text) > 1001,
        (CREATE,),
        "of 1001 characters is accepted without an identifier in the path",
    ),
    (
        "info-not-limited-far-above",
        "too-long",
        lambda text: 1000 < len(text) < 5000,
        WORKFLOW,
        "of 5000 or more characters is accepted, although one of 1001 is refused",
    ),
    ("info-999", "longest", lambda text: len(text) > 999, _CREATING, "of 1000 characters is refused"),
    ("info-bytes", "longest", lambda text: len(text.encode()) > 1000, _CREATING, "is measured in bytes"),
):
    _word = _name.partition("-")[0]
    _member = {"batch": "batchId", "info": "additionalInfo"}[_word]
    defect(
        f"workflow-{_name}",
        clause=f"workflow-{_word}-{_clause}",
        operations=_operations,
        sentence=f"A text in {_member} {_what}.",
    )(_limit(_member, _limit_judge, _on(*_operations)))


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
