"""Defects of schemas and identifiers in the paths of submissions; all of clauses at should."""

import re
from collections.abc import Callable, Iterable

from starlette.requests import Request

from contracts.sandbox.defects.altering import alter
from contracts.sandbox.defects.groups import CREATE_WITH, UPDATE, WORKFLOW
from contracts.sandbox.defects.registry import Change, defect
from contracts.sandbox.defects.workflow_steps import Run, run_instead
from contracts.sandbox.identifiers import decoded_segment
from contracts.sandbox.realms import Realm
from contracts.sandbox.record_types import RecordType
from contracts.sandbox.records import Records
from contracts.sandbox.refusals import bad_request
from contracts.sandbox.service import Service
from contracts.sandbox.submissions import Submission
from contracts.sandbox.tables import VERSIONS
from contracts.sandbox.workflow import Row

_SHAPE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_BOTH = (CREATE_WITH, UPDATE)


@defect("workflow-schema-of-another-realm", clause="workflow-schema-of-another-realm", operations=WORKFLOW)
def _(service: Service) -> None:
    """The schemas of all realms are configured in every realm."""

    def require_schema(faithful: Callable[..., RecordType], request: Request, realm: Realm) -> RecordType:
        name = request.path_params["schema"]
        for other in service.realms.realms.values():
            if name in other.types:
                return other.types[name]
        return faithful(request, realm)

    alter(service.workflow, "require_schema", require_schema)


@defect(
    "workflow-schema-message-of-its-realm", clause="workflow-schema-of-another-realm", operations=WORKFLOW
)
def _(service: Service) -> None:
    """The refusal of another realm's schema names the realm the schema belongs to."""

    def require_schema(faithful: Callable[..., RecordType], request: Request, realm: Realm) -> RecordType:
        name = request.path_params["schema"]
        for other in service.realms.realms.values():
            if name in other.types and name not in realm.types:
                raise Row.SCHEMA_UNKNOWN.refusal(other.name)
        return faithful(request, realm)

    alter(service.workflow, "require_schema", require_schema)


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


for _name, _clause, _operations, _judge, _sentence in (
    (
        "workflow-identifier-refuses-eleven",
        "workflow-identifier-edges",
        (CREATE_WITH,),
        lambda text, holds: holds and len(text) != 11,
        "An identifier of 11 characters is refused.",
    ),
    (
        "workflow-identifier-refuses-128",
        "workflow-identifier-edges",
        (CREATE_WITH,),
        lambda text, holds: holds and len(text) != 128,
        "An identifier of 128 characters is refused.",
    ),
    (
        "workflow-identifier-accepts-ten",
        "workflow-identifier-too-short",
        (CREATE_WITH,),
        lambda text, holds: holds or _shaped(text, 10),
        "An identifier of 10 characters is accepted.",
    ),
    (
        "workflow-identifier-accepts-129",
        "workflow-identifier-too-long",
        (CREATE_WITH,),
        lambda text, holds: holds or _shaped(text, 129),
        "An identifier of 129 characters is accepted.",
    ),
    (
        "workflow-identifier-accepts-dot",
        "workflow-identifier-characters",
        (CREATE_WITH,),
        lambda text, holds: holds or ("." in text and _shaped(text.replace(".", "x"), *range(11, 129))),
        "An identifier may hold a dot.",
    ),
):
    defect(_name, clause=_clause, operations=_operations, sentence=_sentence)(
        _identifier(_judge, _operations)
    )


@defect(
    "workflow-identifier-letter-case-ignored",
    clause="workflow-identifier-case-sensitive",
    operations=[CREATE_WITH],
)
def _(service: Service) -> None:
    """An identifier is in use when one is that differs only in letter case."""

    def run(faithful: Run, submission: Submission, records: Records) -> str:
        identifier = submission.path_identifier
        if submission.creating and identifier is not None:
            query = VERSIONS.select().with_only_columns(VERSIONS.c.identifier)
            here = query.where(VERSIONS.c.realm == submission.realm.name)
            for other in records.connection.execute(here).scalars():
                if other != identifier and other.lower() == identifier.lower():
                    raise Row.IN_USE.refusal()
        return faithful(submission, records)

    run_instead(service, run)
