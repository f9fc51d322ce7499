"""Defects of the workflow's status table: what a row refuses is accepted."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request

from contracts.sandbox.defects.altering import alter
from contracts.sandbox.defects.groups import CREATE, CREATE_WITH, UPDATE, WORKFLOW
from contracts.sandbox.defects.registry import defect
from contracts.sandbox.defects.workflow_steps import (
    Run,
    carry_out,
    exists,
    faulty,
    identifier_of,
    locked,
    run_instead,
)
from contracts.sandbox.query import header_value, query_value
from contracts.sandbox.realms import Realm
from contracts.sandbox.record_types import RecordType
from contracts.sandbox.records import Records
from contracts.sandbox.service import Service
from contracts.sandbox.submissions import Submission


@defect("workflow-realm-not-needed", clause="workflow-realm-missing", operations=WORKFLOW)
def _(service: Service) -> None:
    """A submission without a realm goes to abs-dev."""
    _given(service, lambda request, found: found or (None if _named(request) else "abs-dev"))


@defect("workflow-realm-of-any-name", clause="workflow-realm-unknown", operations=WORKFLOW)
def _(service: Service) -> None:
    """A submission under an unknown realm in the header goes to abs-dev."""
    known = service.realms.realms
    _given(service, lambda request, found: found if found in known or not _headed(request) else "abs-dev")


def _headed(request: Request) -> bool:
    return bool(header_value(request, "realm"))


def _named(request: Request) -> bool:
    return header_value(request, "realm") is not None or query_value(request, "Realm") is not None


def _given(service: Service, change: Callable[[Request, str | None], str | None]) -> None:
    alter(service.realms, "given", lambda faithful, request: change(request, faithful(request)))


@defect("workflow-schema-of-any-name", clause="workflow-schema-unknown", operations=WORKFLOW)
def _(service: Service) -> None:
    """A schema that no realm knows is taken for the first one of the realm."""
    known = {name for realm in service.realms.realms.values() for name in realm.types}

    def require_schema(faithful: Callable[..., RecordType], request: Request, realm: Realm) -> RecordType:
        if request.path_params["schema"] not in known:
            return next(iter(realm.types.values()))
        return faithful(request, realm)

    alter(service.workflow, "require_schema", require_schema)


def _unless_refused_later(
    service: Service, faithful: Run, submission: Submission, identifier: str, records: Records
) -> str:
    """Carry a submission out, but leave those to the faithful steps that rights or content stop as well."""
    if not submission.caller.may_write or faulty(service, submission, records):
        return faithful(submission, records)
    return carry_out(service, submission, identifier, records)


@defect("workflow-taken-accepted", clause="workflow-identifier-taken", operations=[CREATE_WITH])
def _(service: Service) -> None:
    """Creating under an identifier that was in use before the service started is accepted."""

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        identifier = submission.path_identifier
        if submission.creating and identifier is not None and identifier.startswith("sandbox-"):
            return _unless_refused_later(service, faithful, submission, identifier, records)
        return faithful(submission, records)

    run_instead(service, run)


@defect("workflow-update-creates", clause="workflow-identifier-unknown", operations=[UPDATE])
def _(service: Service) -> None:
    """Updating under an identifier that does not exist creates the record."""

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        identifier = identifier_of(service, submission)
        if submission.creating or identifier is None or exists(submission, identifier, records):
            return faithful(submission, records)
        return _unless_refused_later(service, faithful, submission, identifier, records)

    run_instead(service, run)


@defect("workflow-locked-accepted", clause="workflow-locked-record", operations=[UPDATE])
def _(service: Service) -> None:
    """Updating a record that is locked for workflow is accepted."""

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        identifier = identifier_of(service, submission)
        if submission.creating or identifier is None or not locked(submission, identifier, records):
            return faithful(submission, records)
        return _unless_refused_later(service, faithful, submission, identifier, records)

    run_instead(service, run)


for _clause, _creating in (("workflow-update-rights", False), ("workflow-create-rights", True)):

    def _without_rights(service: Service, creating: bool = _creating) -> None:
        def create_securities(
            faithful: Any, submission: Submission, identifier: str, records: Records
        ) -> None:
            if submission.creating != creating or submission.caller.may_write:
                faithful(submission, identifier, records)

        alter(service.workflow, "create_securities", create_securities)

    defect(
        f"{_clause}-not-needed",
        clause=_clause,
        operations=(CREATE, CREATE_WITH) if _creating else (UPDATE,),
        sentence="An account without rights may do what it may not.",
    )(_without_rights)
