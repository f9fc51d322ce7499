"""The characters of a uid: anything but ASCII letters, digits, hyphen and underscore is refused, without effect."""

from functools import partial
from typing import Final

import pytest

from contracts.cases import (
    Deal,
    Expect,
    Observer,
    World,
    contract,
    drafts,
    identifiers,
    requests,
    shape,
)

_CLAUSES: Final = {
    "forbidden": "uid-forbidden-characters",
    "misread": "uid-misread-range",
    "non-ascii": "uid-non-ascii",
    "line-break": "uid-trailing-newline",
}
SORTS = [pytest.param(sort, id=sort, marks=contract(clause)) for sort, clause in _CLAUSES.items()]


def _spoilt(sort: str, uid: str, deal: Deal) -> list[str]:
    """The uid with each character of a sort in its middle, or with a line break behind, as far as it is their turn."""
    tables = {
        "forbidden": {**identifiers.TWICE, **identifiers.FORBIDDEN},
        "misread": identifiers.MISREAD,
        "non-ascii": {**identifiers.NON_ASCII, **identifiers.NO_UTF_8},
    }
    if sort == "line-break":
        return identifiers.ended(uid, deal(identifiers.LINE_BREAKS))
    return identifiers.spoilt(uid, deal(tables[sort]))


@pytest.mark.parametrize("sort", SORTS)
@contract("uid-refusal-answer", operations=("saveDraft", "draftExists"), requests=6, dealt=11.5)
def test_save_refuses_every_forbidden_character(
    world: World,
    expect: Expect,
    observe: Observer,
    deal: Deal,
    sort: str,
) -> None:
    """A single character outside the rule is refused; no draft is stored, not under a tidied uid either."""
    uids = _spoilt(sort, identifiers.base(world.fresh), deal)
    saved = requests.save_each(world.author, world.samples, world, world.fresh, uids)
    drafts.claim_each_refused(expect(_CLAUSES[sort], "saveDraft"), saved)
    drafts.nothing_saved(
        partial(expect, _CLAUSES[sort]), world.author, uids, identifiers.foldings(uids), *saved
    )
    observe("uid-refusal-answer", "saveDraft", shape(saved[0]))
