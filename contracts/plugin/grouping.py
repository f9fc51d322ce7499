"""Which cases of a plan belong in one shard, and what each costs: what the dealer has to know of a case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import pytest

from contracts.evidence.shards import digest_of_cases
from contracts.interface.catalogue import Catalogue
from contracts.plugin.sharding import Part, Weighed, deal

#: Operations that leave what nobody can remove, use up what the settings name, or change a record that all runs keep.
_LASTING: Final = frozenset(
    {
        "createContact",
        "updateContact",
        "createWorkflowRecord",
        "createWorkflowRecordWithIdentifier",
        "updateWorkflowRecord",
        "persistTemporaryFile",
    }
)
#: Settings that name what there is once in a realm.
_NAMED_ONCE: Final = frozenset(
    f"realm.{name}"
    for name in (
        "existing_identifier",
        "locked_identifier",
        "published_identifier",
        "spare_identifiers",
        "temporary_files",
    )
)
#: Fixtures that arrange lasting records, whatever the case is about.
_ARRANGING: Final = frozenset({"contacts", "contact_door", "records", "table"})
#: Requests of a case that says nothing of its cost.
_USUAL: Final = 3


def weighed(
    item: pytest.Item,
    place: tuple[str, str],
    clauses: Iterable[str],
    operations: Iterable[str],
    requests: int,
    catalogue: Catalogue,
) -> Weighed:
    """Say of a case what it costs and whether it has to stay with others of its realm.

    Cases of one realm stay together when they work with records that last: these are few, made once in a run and
    shared, so that several machines would make them several times, or change them under one another's hands.

    Args:
        place: Its id and its realm.
        requests: What its marks say of its cost; 0 for nothing.
    """
    case, realm = place
    needs = {need for clause in clauses for need in catalogue.clause(clause).needs}
    lasting = (
        not _LASTING.isdisjoint(operations)
        or not _NAMED_ONCE.isdisjoint(needs)
        or not _ARRANGING.isdisjoint(getattr(item, "fixturenames", ()))
    )
    return Weighed(case, realm, requests or _USUAL, f"lasting records of {realm}" if lasting else "")


def keep_part(cases: Mapping[str, Weighed], part: Part) -> tuple[frozenset[str], str]:
    """Choose the cases of one shard.

    Args:
        cases: All of the plan.

    Returns:
        The ids of its cases, and what tells the plan's cases from those of another plan.
    """
    return deal(cases.values(), part.of)[part.number - 1], digest_of_cases(cases)
