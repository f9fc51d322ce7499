"""Drafts of runs whose ledgers are lost, found by listing the accounts' own drafts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from contracts.errors import EnvironmentFault
from contracts.judging import readers
from contracts.session.namespace import SUITE_PREFIX, TOKEN_LENGTH, is_signed, starts_like_ours
from contracts.session.tokens import read_timestamp
from contracts.sweeping.drafts import Draft, MakeActor
from contracts.target.model import DOCUMENT_REALMS, Target

_PAGE: Final = 100
#: A service whose pages never end is not read to the end.
_MOST_PAGES: Final = 200
#: Shorter texts are numbers or years, not moments.
_SHORTEST_MOMENT: Final = len("2026-01-01T00:00")


@dataclass(frozen=True)
class Orphans:
    """What a listing of the accounts' drafts gave.

    Attributes:
        found: Drafts to be removed.
        spared: Drafts that look like the suite's and are left alone, each with the reason.
        troubles: Lists that could not be read, each with the reason.
    """

    found: list[Draft]
    spared: list[tuple[Draft, str]]
    troubles: list[str]


def find_orphans(
    actor: MakeActor, target: Target, *, at_work: set[str], older_than: timedelta, all_of_mine: bool
) -> Orphans:
    """Look through the drafts of every account of a target.

    A draft is taken for an orphan when its identifier is signed by the suite, its run is not one that is at work on
    this machine, and everything the list says about its age is older than asked for.

    Args:
        at_work: Tokens of runs that are going on.
        older_than: Younger ones are left alone: a run on another machine may be at work on them.
        all_of_mine: Take every draft that starts like the suite's, whatever its age and signature.
    """
    orphans = Orphans([], [], [])
    for role in target.accounts:
        for realm in (name for name in target.realms if name in DOCUMENT_REALMS):
            try:
                for draft, record in _listed(actor, role, realm):
                    why = _why_spared(draft, record, at_work, older_than, all_of_mine=all_of_mine)
                    if why is None:
                        orphans.found.append(draft)
                    else:
                        orphans.spared.append((draft, why))
            except (EnvironmentFault, readers.Ambiguous) as trouble:
                orphans.troubles.append(f"the drafts of the {role} in {realm}: {trouble}")
    return orphans


def _listed(actor: MakeActor, role: str, realm: str) -> Iterator[tuple[Draft, dict[str, Any]]]:
    """Drafts whose identifier starts like the suite's, page by page, until one is empty or comes again."""
    somebody, seen, before = actor(role, realm), set[str](), b""
    for page in range(_MOST_PAGES):
        query = {"collection": "my", "$top": str(_PAGE), "$skip": str(page * _PAGE)}
        answer = somebody.send("listDrafts", query=query).answer
        records = readers.records(answer) if answer.success else None
        if records is None:
            raise EnvironmentFault(f"listDrafts answered {answer.quote()}")
        if not records or answer.content == before:
            return
        before = answer.content
        for record in records:
            for identifier in sorted(_identifiers(record) - seen):
                yield Draft(realm, identifier, role), record
            seen |= _identifiers(record)


def _identifiers(record: dict[str, Any]) -> set[str]:
    texts = (value for value in readers.values(record) if isinstance(value, str))
    return {text for text in texts if starts_like_ours(text) and " " not in text}


def _why_spared(
    draft: Draft, record: dict[str, Any], at_work: set[str], older_than: timedelta, *, all_of_mine: bool
) -> str | None:
    if draft.identifier[len(SUITE_PREFIX) :][:TOKEN_LENGTH] in at_work:
        return "its run is going on"
    if all_of_mine:
        return None
    if not is_signed(draft.identifier):
        return "it may be somebody's own; --all-of-mine takes it"
    age = _age(record)
    if age is None:
        return "the list does not say how old it is; --all-of-mine takes it"
    return None if age >= older_than else f"it is younger than {older_than.total_seconds() / 3600:g} hours"


def _age(record: dict[str, Any]) -> timedelta | None:
    """How long ago anything happened to a draft, by the latest moment in its record."""
    texts = (value for value in readers.values(record) if isinstance(value, str))
    moments = [
        moment
        for text in texts
        if len(text) >= _SHORTEST_MOMENT and (moment := read_timestamp(text)) is not None
    ]
    return datetime.now(UTC) - max(moments) if moments else None
