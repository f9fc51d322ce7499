"""The fault population: every place of the description, with every operator that fits it, under every condition.

It is made from the description and the clause catalogue alone, never from the cases. A fault names the clauses that
it breaks; a confirmed finding on any of them finds it.
"""

from __future__ import annotations

import difflib
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Final
from zlib import crc32

from contracts.errors import UsageError
from contracts.interface.catalogue import Level
from contracts.sandbox.faults import (
    attachments,
    contacts,
    contents,
    drafts,
    http,
    lists,
    protocol,
    storage,
    submissions,
    table,
    tokens,
    uid,
)
from contracts.sandbox.faults.fault import ALWAYS, Fault

#: What makes the faults of one kind, in the population's order: a draw depends on it.
_MAKERS: Final = (
    contents.document_faults,
    storage.file_faults,
    lists.list_faults,
    lists.option_faults,
    uid.identifier_faults,
    tokens.token_faults,
    storage.state_faults,
    drafts.draft_faults,
    contacts.field_faults,
    table.row_faults,
    submissions.limit_faults,
    http.answer_faults,
    tokens.issued_token_faults,
    http.errors_array_faults,
    contents.member_faults,
    http.frame_faults,
    http.body_form_faults,
    table.order_faults,
    submissions.effect_faults,
    contacts.language_faults,
    contacts.contact_rows,
    contents.content_rows,
    drafts.draft_rows,
    uid.uid_rows,
    table.table_rows,
    submissions.submission_rows,
    tokens.token_rows,
    protocol.protocol_rows,
    lists.list_rows,
    attachments.attachment_rows,
)


#: Why no fault breaks a clause, by the clause.
UNBREAKABLE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "head-without-body": "HTTP itself keeps content away from HEAD: the server drops it, clients do not read it",
        "header-letter-case": "the server hands header names on in small letters, so that none behind it sees the case",
        "realm-production": "the sandbox is a development environment and has no production realm",
        "token-separate-environments": "it takes two environments, and the sandbox is one",
        "workflow-initiated": "no operation shows a workflow or its state",
        "workflow-order-save-before-initiate": "neither step can be made to fail, and no answer shows them apart",
    }
)
_REALM_REFUSED: Final = (
    "who refuses a request for its realm refuses a right request, of which another clause speaks"
)
#: Why no fault breaks a must clause alone, by the clause.
NEVER_ALONE: Final[Mapping[str, str]] = MappingProxyType(
    dict.fromkeys(("realm-document-realms", "realm-workflow-realms"), _REALM_REFUSED)
)
#: Names of defects that a fault of another name has taken over.
_FORMER: Final[Mapping[str, str]] = MappingProxyType(
    {
        "attachment-bytes-of-overlapping-upload": "attachment-bytes-of-overlapping-upload-overlapping",
        "attachment-never-exists": "answers/attachmentExists/success-told-as-404/always",
        "attachment-size-half": "attachment-size-nine-tenths",
        "malformed-draft-ignored": "protocol/saveDraft/malformed-taken/always",
        "password-in-refusal": "protocol/createToken/password-echoed/always",
        "persisted-unknown-without-effect": "state/persistTemporaryFile/unknown-taken/always",
        "realm-query-ignored-on-update": "protocol/updateWorkflowRecord/realm-in-query-ignored/always",
        "thumbnail-not-found": "answers/getAttachmentThumbnail/success-told-as-404/always",
        "token-expiration-fraction-at-times": "answers/createToken/expiration-without-fraction/every-second",
        "token-in-info": "protocol/getDraftInfo/token-echoed/always",
        "token-needs-realm": "protocol/createToken/realm-needed/always",
        "workflow-without-token-done-and-refused": (
            "state/createWorkflowRecordWithIdentifier/refused-but-done/always"
        ),
        "contact-any-language-key-of-address": (
            "validation/createContact/address-language-keys-unchecked/always"
        ),
        "contact-one-language-of-relevant-information": (
            "validation/createContact/relevant-information-second-language-refused/always"
        ),
        "realm-query-ignored": "protocol/createWorkflowRecord/realm-in-query-ignored/always",
        "realm-query-unknown-taken-for-first": "protocol/createWorkflowRecord/realm-in-query-unchecked/always",
        "workflow-batch-99": "limits/createWorkflowRecord/batch-id-1-fewer-only/always",
        "workflow-batch-101": "limits/createWorkflowRecord/batch-id-1-more-taken/always",
        "workflow-batch-101-on-update": "limits/updateWorkflowRecord/batch-id-1-more-taken/always",
        "workflow-batch-99-on-update": "limits/updateWorkflowRecord/batch-id-1-fewer-only/always",
        "workflow-batch-bytes": "limits/createWorkflowRecord/batch-id-bytes-counted/always",
        "workflow-create-rights-not-needed": "tokens/createWorkflowRecord/rights-not-checked/always",
        "workflow-document-not-needed": "limits/createWorkflowRecord/document-not-needed/always",
        "workflow-document-not-needed-on-update": "limits/updateWorkflowRecord/document-not-needed/always",
        "workflow-draft-not-saved-at-times": "workflow-draft-not-saved-every-second",
        "workflow-identifier-changed-on-create": (
            "answers/createWorkflowRecordWithIdentifier/identifier-altered/always"
        ),
        "workflow-identifier-missing": "answers/createWorkflowRecord/identifier-missing/always",
        "workflow-identifier-missing-in-chm": (
            "answers/createWorkflowRecordWithIdentifier/identifier-missing/in-chm-dev"
        ),
        "workflow-identifier-missing-on-update": "answers/updateWorkflowRecord/identifier-missing/always",
        "workflow-info-999": "limits/createWorkflowRecord/additional-info-1-fewer-only/always",
        "workflow-info-bytes": "limits/createWorkflowRecord/additional-info-bytes-counted/always",
        "workflow-info-1001": "limits/updateWorkflowRecord/additional-info-1-more-taken/always",
        "workflow-info-1001-on-create": "limits/createWorkflowRecord/additional-info-1-more-taken/always",
        "workflow-update-rights-not-needed": "tokens/updateWorkflowRecord/rights-not-checked/always",
    }
)


@cache
def population() -> Mapping[str, Fault]:
    """Every fault by its name."""
    return MappingProxyType({fault.name: fault for make in _MAKERS for fault in make()})


@cache
def _by_other_name() -> Mapping[str, Fault]:
    others = {fault.also: fault for fault in population().values() if fault.also}
    return others | {old: population()[new] for old, new in _FORMER.items()}


def load(name: str) -> Fault:
    """Find a fault by its name, or by its other one.

    Raises:
        UsageError: there is none of this name.
    """
    fault = population().get(name) or _by_other_name().get(name)
    if fault is None:
        near = difflib.get_close_matches(name, [*population(), *_by_other_name()], n=1)
        hint = f"did you mean '{near[0]}'?" if near else "`registry-contracts list faults` shows them all"
        raise UsageError(f"unknown fault '{name}'; {hint}")
    return fault


def fixed_set() -> list[Fault]:
    """For every clause the faults that break it alone: those with a name of their own, where there are any.

    Of those that do the same at other operations or moments it is one.
    """
    by_clause: dict[str, list[Fault]] = {}
    for fault in population().values():
        if len(set(fault.clauses)) == 1:
            by_clause.setdefault(fault.clauses[0], []).append(fault)
    chosen: dict[tuple[str, str], list[Fault]] = {}
    for clause, faults in by_clause.items():
        for fault in [fault for fault in faults if fault.named or fault.also] or faults:
            chosen.setdefault((clause, fault.operator), []).append(fault)
    return [_one_of(faults) for faults in chosen.values()]


def _one_of(faults: list[Fault]) -> Fault:
    """One of faults that do the same at other operations or moments; not the same operation for each."""
    faults = [fault for fault in faults if fault.condition == ALWAYS] or faults
    return faults[crc32(faults[0].operator.encode()) % len(faults)]


def draw(
    number: int, seed: int, *, families: Sequence[str] = (), level: Level | None = Level.MUST
) -> list[Fault]:
    """Draw a sample: families by turns, within a family its operators by turns; the same for the same seed.

    Args:
        number: How many faults; fewer when there are not so many.
        families: Only these; empty for all.
        level: Only faults of this level; None for all.
    """
    chance = random.Random(f"faults {seed}")  # noqa: S311 - nothing secret hangs on it
    faults = list(population().values())
    chance.shuffle(faults)
    queues: dict[str, dict[str, list[Fault]]] = {}
    for fault in faults:
        if (not families or fault.family in families) and level in (None, fault.level):
            queues.setdefault(fault.family, {}).setdefault(fault.operator, []).append(fault)
    drawn: list[Fault] = []
    while queues and len(drawn) < number:
        for family in list(queues)[: number - len(drawn)]:
            operators = queues[family]
            operator, waiting = next(iter(operators.items()))
            drawn.append(waiting.pop())
            # What was drawn goes to the end of the queue.
            del operators[operator]
            if waiting:
                operators[operator] = waiting
            if not operators:
                del queues[family]
    return drawn


def chances() -> Mapping[Fault, float]:
    """Every must fault with its share of a long draw: families count the same, and in a family its operators."""
    musts = [fault for fault in population().values() if fault.level is Level.MUST]
    alike = Counter((fault.family, fault.operator) for fault in musts)
    operators = Counter(family for family, _ in alike)
    return {
        fault: 1 / (len(operators) * operators[fault.family] * alike[fault.family, fault.operator])
        for fault in musts
    }


def help_text() -> str:
    """Every fault with what it breaks and does, as `--fault list` prints them."""
    lines = [
        f"{fault.name}  {fault.sentence} ({', '.join(fault.clauses)})" for fault in population().values()
    ]
    return "\n".join(lines) + "\n"
