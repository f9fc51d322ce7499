"""The characters of a uid: anything but ASCII letters, digits, hyphen and underscore is refused, without effect."""

from functools import partial
from typing import Final

import pytest

from contracts.cases import (
    Actor,
    Arrangement,
    Claims,
    Deal,
    Namespace,
    Observer,
    Samples,
    contract,
    drafts,
    identifiers,
    requests,
    shape,
    share,
)

_CLAUSES: Final = {
    "forbidden": "uid-forbidden-characters",
    "misread": "uid-misread-range",
    "non-ascii": "uid-non-ascii",
    "line-break": "uid-trailing-newline",
}
SORTS = [pytest.param(sort, id=sort, marks=contract(clause)) for sort, clause in _CLAUSES.items()]


def _spoilt(sort: str, uid: str, realm: str, deal: Deal) -> list[str]:
    """The uid with each character of a sort in its middle, most of them in turn, or with a line break behind."""
    tables = {
        "forbidden": identifiers.spoilt(uid, _forbidden(deal)),
        "misread": identifiers.spoilt(uid, identifiers.MISREAD),
        "non-ascii": identifiers.spoilt(uid, {**_beyond_ascii(realm), **identifiers.NO_UTF_8}),
        "line-break": identifiers.ended(uid, identifiers.LINE_BREAKS),
    }
    return tables[sort]


def _forbidden(deal: Deal) -> dict[str, str]:
    table = {**identifiers.TWICE, **identifiers.FORBIDDEN}
    mine = deal(table) | identifiers.USUAL
    return {name: character for name, character in table.items() if name in mine}


def _beyond_ascii(realm: str) -> dict[str, str]:
    return identifiers.WIDE | share(identifiers.NON_ASCII, realm)


@pytest.mark.parametrize("sort", SORTS)
@contract("uid-refusal-answer", operations=("saveDraft", "draftExists"), requests=13, dealt=3.5)
def test_save_refuses_every_forbidden_character(
    author: Actor,
    arrange: Arrangement,
    samples: Samples,
    fresh: Namespace,
    realm: str,
    claim: Claims,
    observe: Observer,
    deal: Deal,
    sort: str,
) -> None:
    """A single character outside the rule is refused; no draft is stored, not under a tidied uid either."""
    uids = _spoilt(sort, identifiers.base(fresh), realm, deal)
    saved = requests.save_each(author, samples, arrange, fresh, uids)
    drafts.claim_each_refused(claim(_CLAUSES[sort], "saveDraft"), saved)
    drafts.nothing_saved(partial(claim, _CLAUSES[sort]), author, uids, identifiers.foldings(uids), *saved)
    observe("uid-refusal-answer", "saveDraft", shape(saved[0]))
