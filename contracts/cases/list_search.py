"""Whether a list holds a draft, on a service that may list thousands of others a page at a time."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from contracts.cases.arrangement import Arrangement
from contracts.cases.list_pages import Lister, Page, drafts_of, equals
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Blocked, done
from contracts.exchanges.exchange import Exchange
from contracts.session.actor import Actor

#: Pages that are walked through before the list counts as too long to tell.
_MOST_PAGES = 20
#: The share of a page that the next one repeats, since items removed meanwhile shift all that follow.
_OVERLAP = 4


@dataclass(frozen=True)
class SearchResult:
    """Whether a list holds a draft, and the exchanges that show it."""

    found: bool
    exchanges: list[Exchange]

    @property
    def told(self) -> str:
        """What was seen, for the report."""
        last = self.exchanges[-1].answer.quote()
        return (
            f"the draft among the items of {len(self.exchanges)} pages: {last}"
            if self.found
            else f"not there: {last}"
        )


def look_for(lister: Lister, uid: str, field: str | None = None) -> SearchResult:
    """Look for a draft in a list: on its first page, by a filter, and then page by page.

    Args:
        field: A field that holds the uid and by which the service is known to filter rightly.

    Raises:
        Blocked: the list is refused, or too long to be read to its end.
    """
    first = _page(lister)
    if first.names(uid) or first.size == 0:
        return SearchResult(first.size > 0, [first.exchange])
    second = _page(lister, skip=first.size)
    if second.names(uid) or second.size == 0:
        return SearchResult(second.names(uid), [first.exchange, second.exchange])
    if field is not None:
        chosen = _page(lister, filter=equals(field, uid))
        return SearchResult(chosen.names(uid), [first.exchange, chosen.exchange])
    return _walk(lister, uid, [first, second])


def held(claim: Claim, arrange: Arrangement, lister: Lister, uid: str, field: str | None = None) -> None:
    """Claim that a list holds a draft, if need be a few seconds later; `field` as for `look_for`."""
    result = _look_until(True, arrange, lister, uid, field)
    claim.holds(result.found, *result.exchanges, expected=f"the draft {uid} in the list", seen=result.told)


def not_held(claim: Claim, arrange: Arrangement, lister: Lister, uid: str, field: str | None = None) -> None:
    """Claim that a list does not hold a draft, if need be a few seconds later; `field` as for `look_for`."""
    result = _look_until(False, arrange, lister, uid, field)
    claim.holds(not result.found, *result.exchanges, expected=f"no draft {uid}", seen=result.told)


def _look_until(
    wanted: bool, arrange: Arrangement, lister: Lister, uid: str, field: str | None
) -> SearchResult:
    latest = look_for(lister, uid, field)

    def look() -> bool:
        nonlocal latest
        latest = look_for(lister, uid, field)
        return latest.found is wanted

    if latest.found is not wanted:
        arrange.eventually(look)
    return latest


def _walk(lister: Lister, uid: str, pages: list[Page]) -> SearchResult:
    """Read on until the draft is found or the list ends."""
    at = pages[0].size
    while len(pages) < _MOST_PAGES:
        if pages[-1].records == pages[0].records:
            raise Blocked(
                lister.operation, "the list cannot be read to its end: skip gives the same page again"
            )
        at += max(1, pages[-1].size - pages[-1].size // _OVERLAP)
        pages.append(_page(lister, skip=at))
        if pages[-1].names(uid) or pages[-1].size == 0:
            return SearchResult(pages[-1].names(uid), [page.exchange for page in pages])
    raise Blocked(
        lister.operation, f"the list goes on after {_MOST_PAGES} pages, so that absence cannot be told"
    )


def _page(lister: Lister, **options: str | int) -> Page:
    page = lister.page(**options)
    done(page.exchange)
    if page.records is None:
        raise Blocked(lister.operation, f"the answer is no list: {page.exchange.answer.quote()}")
    return page


#: Neither rising nor falling, so that no order of making is an order of names.
SCRAMBLED = "dbface"


def kept_drafts(arrange: Arrangement, actor: Actor) -> tuple[str, ...]:
    """Uids of six drafts that stay until the end of the run, in the order in which they were saved.

    Their uids differ in one letter first, so that any way of comparing texts puts them in the same order.
    """
    return arrange.once(f"drafts to list of {actor.role}", lambda: _drafts(arrange, actor))


def _drafts(arrange: Arrangement, actor: Actor) -> tuple[str, ...]:
    uids = tuple(arrange.kept_draft(actor, f"list{letter}").uid for letter in SCRAMBLED)
    drafts = drafts_of(actor, "mydrafts")
    # A list may be a moment late. Whether it holds them at all is for the cases to say.
    with suppress(Blocked):
        arrange.eventually(lambda: look_for(drafts, uids[-1]).found)
    return uids
