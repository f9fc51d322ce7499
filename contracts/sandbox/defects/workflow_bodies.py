"""Defects of the body of a submission and of the document in it: accepted without being looked at."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.defects.altering import Handler, around
from contracts.sandbox.defects.groups import CREATE, CREATE_WITH, UPDATE, WORKFLOW
from contracts.sandbox.defects.registry import Change, defect
from contracts.sandbox.defects.workflow_steps import Run, carry_out, operation_of, run_instead
from contracts.sandbox.records import Records
from contracts.sandbox.refusals import Refusal
from contracts.sandbox.service import Service
from contracts.sandbox.submissions import Submission
from contracts.sandbox.workflow import Row

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


def _in(realm: str) -> Test:
    return lambda submission: submission.realm.name == realm


_DOCUMENTS: tuple[
    tuple[str, str, Callable[[Any], bool], tuple[str, ...], Test | None, tuple[str, ...], str], ...
] = (
    (
        "document-not-needed",
        "document-missing",
        lambda document: document is ...,
        WORKFLOW,
        None,
        (),
        "that is absent",
    ),
    (
        "document-not-needed-on-update",
        "document-missing",
        lambda document: document is ...,
        (UPDATE,),
        None,
        (),
        "that is absent, on update,",
    ),
    (
        "document-array",
        "document-kind",
        lambda document: isinstance(document, list),
        WORKFLOW,
        None,
        (),
        "that is an array",
    ),
    (
        "document-string",
        "document-kind",
        lambda document: isinstance(document, str),
        _CREATING,
        None,
        (),
        "that is a string, on create,",
    ),
    (
        "document-empty",
        "document-validated",
        lambda document: document == {},
        WORKFLOW,
        None,
        (),
        "without any field",
    ),
    (
        "document-not-validated-on-update",
        "document-validated",
        lambda document: isinstance(document, dict),
        (UPDATE,),
        None,
        (),
        "of any content, on update,",
    ),
    (
        "document-not-validated-in-ort",
        "document-validated",
        lambda document: isinstance(document, dict),
        WORKFLOW,
        _in("ort-dev"),
        ("ort-dev",),
        "of any content, in ort-dev,",
    ),
)
for _name, _clause, _test, _operations, _where, _realms, _what in _DOCUMENTS:

    def _meant(submission: Submission, operations: Any = _operations, where: Any = _where) -> bool:
        return operation_of(submission) in operations and (where is None or where(submission))

    defect(
        f"workflow-{_name}",
        clause=f"workflow-{_clause}",
        operations=_operations,
        realms=_realms,
        sentence=f"A document {_what} is accepted.",
    )(_let_through(_test, _meant))


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
