"""One fault: what goes wrong, at which operations, under which condition, and the clauses that it breaks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from starlette.types import ASGIApp

from contracts.interface.catalogue import Level, load_catalogue
from contracts.interface.description import load_description
from contracts.interface.operations import DOCUMENT_REALMS
from contracts.sandbox.faults.injection import Condition, Inject, Injector, Met, Request

#: Every identifier is read and written through these.
DRAFTS: Final = ("saveDraft", "getDraft", "draftExists", "deleteDraft", "getDraftInfo")


SUBMISSIONS: Final = ("createWorkflowRecord", "createWorkflowRecordWithIdentifier", "updateWorkflowRecord")


NAMED_SUBMISSIONS: Final = SUBMISSIONS[1:]


CONTACTS: Final = ("createContact", "updateContact")


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        name: `family/operation/operator/condition`; `load` finds the fault by it.
        family: What kind of thing is wrong.
        operations: Where it acts.
        operator: What goes wrong there.
        condition: When.
        clauses: What it breaks; the first is the nearest.
        label: Stands for the operations in the name; by default the first of them.
        stated: Whether a sentence of the document says outright that it is wrong, or only a reading of one.
        of_successes: The condition counts requests that the service takes, and no others.
    """

    family: str
    operations: tuple[str, ...]
    operator: str
    condition: str
    clauses: tuple[str, ...]
    inject: Inject = field(repr=False, compare=False)
    label: str = ""
    stated: bool = True
    of_successes: bool = False

    @property
    def name(self) -> str:
        """The name that the command line takes."""
        return f"{self.family}/{self.label or self.operations[0]}/{self.operator}/{self.condition}"

    @property
    def level(self) -> Level:
        """Must, when it breaks a must clause; else should."""
        if not self.stated:
            return Level.SHOULD
        levels = {load_catalogue().clause(clause).level for clause in self.clauses}
        return Level.MUST if Level.MUST in levels else Level.SHOULD

    @property
    def realms(self) -> tuple[str, ...]:
        """The realms in which it shows; empty for all."""
        realm = self.condition.removeprefix("in-")
        return (realm,) if realm in DOCUMENT_REALMS else ()

    def over(self, app: ASGIApp) -> Injector:
        """Put the fault over a sandbox."""
        return Injector(
            app,
            operations=self.operations,
            inject=self.inject,
            condition=CONDITIONS[self.condition],
            waits=self.condition == "overlapping",
            of_successes=self.of_successes,
        )


def _in_realm(realm: str) -> Condition:
    return lambda request, _: request.realm in ("", realm)


def _always(_request: Request, _met: Met) -> bool:
    return True


#: When a fault acts.
CONDITIONS: Final[Mapping[str, Condition]] = MappingProxyType(
    {
        "always": _always,
        "second-time": lambda request, met: met.by_uid[request.uid] == 2,
        "from-second-time": lambda request, met: met.by_uid[request.uid] >= 2,
        "every-third": lambda _, met: met.total % 3 == 0,
        "every-fifth": lambda _, met: met.total % 5 == 0,
        "after-five": lambda _, met: met.total > 5,
        "after-thirty": lambda _, met: met.total > 30,
        "overlapping": lambda _, met: met.overlapped,
        **{f"in-{realm}": _in_realm(realm) for realm in DOCUMENT_REALMS},
    }
)


#: Conditions for what is judged by single requests; the others need a request to be made again.
SINGLE: Final = ("always", *(f"in-{realm}" for realm in DOCUMENT_REALMS))


REPEATED: Final = (
    "always",
    "second-time",
    "from-second-time",
    "every-third",
    "every-fifth",
    "after-five",
    "after-thirty",
)


STATE: Final = (*REPEATED, "overlapping", *(f"in-{realm}" for realm in DOCUMENT_REALMS))


#: Conditions that need an operation to be used more often than a live target lets a run use it: what cannot be removed
#: is kept to a few, temporary files are given by name, and one token does for a run.
_OFTEN: Final = ("every-fifth", "after-five", "after-thirty")


_RARE: Final = frozenset(
    {"createToken", "createContact", "updateContact", "persistTemporaryFile", *SUBMISSIONS}
)


#: Operations that succeed once under an identifier: a temporary file is spent, a record exists or is in a workflow.
_ONCE: Final = frozenset({"persistTemporaryFile", *NAMED_SUBMISSIONS})


def possible_conditions(
    operation: str, conditions: Sequence[str], *, successes: bool = False
) -> tuple[str, ...]:
    """Those of some conditions that an operation can meet in one run.

    Args:
        successes: Successes alone count.
    """
    never: tuple[str, ...] = _OFTEN if operation in _RARE else ()
    if load_description().operations[operation].identifier_parameter is None:
        never += ("second-time",)  # it would act once in a run, and what never comes again counts for nothing
    if successes and operation in _ONCE:
        never += ("second-time", "from-second-time", "every-third")
    return tuple(c for c in conditions if c not in never)


def under(conditions: Iterable[str], **parts: Any) -> Iterator[Fault]:
    """Make the same fault under each of some conditions.

    Args:
        parts: The other attributes of the fault.
    """
    for condition in conditions:
        yield Fault(condition=condition, **parts)


def kebab(name: str) -> str:
    """Write a name in camel case with hyphens, as names of faults and clauses have it."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


def claimable_clauses() -> tuple[str, ...]:
    """Ids of all clauses that can be contradicted."""
    return tuple(clause.id for clause in load_catalogue() if clause.level is not Level.SILENT)


#: The clauses that a refusal of a right request breaks, by operation; the nearest first.
ACCEPTANCE: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "createToken": ("token-issued",),
        "createContact": ("contact-create-accepted", "contact-create-full"),
        "updateContact": ("contact-update-accepted", "contact-update-full"),
        "saveDraft": ("draft-save-creates", "draft-save-updates"),
        "getDraft": ("draft-get-content",),
        "getDraftInfo": ("draft-info-present",),
        "draftExists": ("draft-exists-present", "draft-save-creates"),
        "deleteDraft": ("draft-delete-removes",),
        "listDrafts": ("list-answers",),
        "createAttachment": ("attachment-create-accepted",),
        "persistTemporaryFile": ("attachment-persist-listed", "attachment-persist-downloads"),
        "listAttachments": ("attachment-create-listed", "realm-attachments-without"),
        "attachmentExists": ("attachment-exists-present",),
        "getAttachment": ("attachment-download-same",),
        "getAttachmentThumbnail": ("attachment-thumbnail-image",),
        "createWorkflowRecord": ("workflow-create-accepted",),
        "createWorkflowRecordWithIdentifier": ("workflow-create-with-identifier-accepted",),
        "updateWorkflowRecord": ("workflow-update-accepted",),
    }
)
