"""The characters of a uid: anything but ASCII letters, digits, hyphen and underscore is refused, without effect."""

from functools import partial
from typing import Final

import pytest

from contracts.cases import (
    DOCUMENT_REALMS,
    Actor,
    Arrangement,
    Claims,
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

READS = ("getDraft", "getDraftInfo", "draftExists")
_CLAUSES: Final = {
    "forbidden": "uid-forbidden-characters",
    "misread": "uid-misread-range",
    "non-ascii": "uid-non-ascii",
    "line-break": "uid-trailing-newline",
}
SORTS = [pytest.param(sort, id=sort, marks=contract(clause)) for sort, clause in _CLAUSES.items()]


def _spoilt(sort: str, uid: str, realm: str) -> list[str]:
    """The uid with each character of a sort in its middle, rare ones in turn, or with a line break behind."""
    tables = {
        "forbidden": identifiers.spoilt(uid, _forbidden(realm)),
        "misread": identifiers.spoilt(uid, identifiers.MISREAD),
        "non-ascii": identifiers.spoilt(uid, {**_beyond_ascii(realm), **identifiers.NO_UTF_8}),
        "line-break": identifiers.ended(uid, identifiers.LINE_BREAKS),
    }
    return tables[sort]


def _forbidden(realm: str) -> dict[str, str]:
    others = identifiers.RARE.keys() - share(identifiers.RARE, realm)
    table = {**identifiers.TWICE, **identifiers.FORBIDDEN}
    return {name: character for name, character in table.items() if name not in others}


def _beyond_ascii(realm: str) -> dict[str, str]:
    return identifiers.WIDE | share(identifiers.NON_ASCII, realm)


def _two(uids: list[str], realm: str) -> list[str]:
    """The last of the uids, and another one in each document realm."""
    *others, last = uids
    return [others[DOCUMENT_REALMS.index(realm) % len(others)], last]


@pytest.mark.parametrize("sort", SORTS)
@contract("uid-refusal-answer", operations=("saveDraft", "draftExists"), requests=40)
def test_save_refuses_every_forbidden_character(
    author: Actor, samples: Samples, fresh: Namespace, realm: str, claim: Claims, observe: Observer, sort: str
) -> None:
    """A single character outside the rule is refused; no draft is stored, not under a tidied uid either."""
    uids = _spoilt(sort, identifiers.base(fresh), realm)
    saved = requests.save_each(author, samples, uids)
    drafts.each_refused(claim(_CLAUSES[sort], "saveDraft"), saved)
    drafts.nothing_saved(partial(claim, _CLAUSES[sort]), author, uids, identifiers.foldings(uids), *saved)
    observe("uid-refusal-answer", "saveDraft", shape(saved[0]))


@contract(*_CLAUSES.values(), operations=("getDraft", "draftExists"), requests=12)
def test_reading_does_not_tidy_a_uid(
    author: Actor, arrange: Arrangement, fresh: Namespace, realm: str, claim: Claims, operation: str
) -> None:
    """A uid with a bad character in it does not give the draft whose uid is left when it is taken out."""
    uid = arrange.shared_draft(author, "base", identifiers.base(fresh)).uid
    control = partial(author.send, operation, path={"uid": drafts.never_used()})
    for sort, clause in _CLAUSES.items():
        asked = requests.ask_each(author, operation, _two(_spoilt(sort, uid, realm), realm))
        drafts.each_refused(claim(clause, operation), asked, control)


@contract("uid-forbidden-characters", "uid-refusal-answer", operations=("getDraftInfo",))
def test_reading_does_not_drop_a_forbidden_character(
    author: Actor, arrange: Arrangement, claim: Claims, observe: Observer, operation: str
) -> None:
    """Neither a forbidden character in the middle nor a space behind leads to the draft without it."""
    uid = arrange.shared_draft(author).uid
    uids = [*identifiers.spoilt(uid, identifiers.FEW), *identifiers.ended(uid, {"space": " "})]
    asked = requests.ask_each(author, operation, uids)
    control = partial(author.send, operation, path={"uid": drafts.never_used()})
    drafts.each_refused(claim("uid-forbidden-characters", operation), asked, control)
    observe("uid-refusal-answer", operation, shape(asked[0]))


@contract("uid-forbidden-characters", operations=READS, profile="nightly", requests=200)
def test_every_forbidden_character_is_refused_in_reading(
    author: Actor, arrange: Arrangement, fresh: Namespace, claim: Claims, operation: str
) -> None:
    """Every character of ASCII that the rule leaves out is refused, whatever it stands for in addresses."""
    uid = identifiers.base(fresh)
    arrange.draft(author, uid)
    asked = requests.ask_each(author, operation, identifiers.spoilt(uid, identifiers.ALL_FORBIDDEN))
    control = partial(author.send, operation, path={"uid": drafts.never_used()})
    drafts.each_refused(claim("uid-forbidden-characters", operation), asked, control)
