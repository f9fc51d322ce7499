"""Claims about filters and orders, by a field that is learnt from the records of the list itself.

Which fields can be filtered and ordered by is not shown, so of all fields that hold a known value the first one
that the service takes is used; when it takes none, nothing can be claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.generation.arrangement import Arrangement
from contracts.generation.folders import folder
from contracts.generation.kept import kept_drafts
from contracts.judging.claims import Claim
from contracts.judging.listing import Lister, Page, attachments_of, drafts_of, equals, paths_to
from contracts.judging.outcomes import Blocked
from contracts.session.actor import Actor

#: What such fields are commonly called.
_UIDS = ("identifier", "uid", "id")
_FILES = ("filename", "fileName", "name")


@dataclass(frozen=True)
class Field:
    """A field learnt from a list, and values of the suite's own items in it.

    Attributes:
        operation: The operation that lists it.
        by_filter, by_order: Its OData path, as filters and orders take it; None where they take none.
        own: The values that the suite's own kept items have, in the order of their making.
        filters: Whether a filter by it picks exactly the suite's own items.
    """

    operation: str
    by_filter: str | None
    by_order: str | None
    own: tuple[str, ...]
    filters: bool

    @property
    def filter_path(self) -> str:
        """The path by which the list is filtered.

        Raises:
            Blocked: filters take none of the fields that are known, and which they take is not shown.
        """
        return self._taken(self.by_filter, "filters")

    @property
    def order_path(self) -> str:
        """The path by which the list is ordered.

        Raises:
            Blocked: orders take none of the fields that are known, and which they take is not shown.
        """
        return self._taken(self.by_order, "orders")

    def _taken(self, path: str | None, what: str) -> str:
        if path is None:
            raise Blocked(self.operation, f"{what} take none of the fields that hold a value the suite knows")
        return path

    def narrowed(self, lister: Lister) -> Lister | None:
        """A list narrowed to the suite's own items; None where the service does not filter rightly."""
        return lister.with_fixed(filter=equals(self.filter_path, *self.own)) if self.filters else None

    @property
    def proven(self) -> str | None:
        """The path, where filtering by it was seen to work."""
        return self.by_filter if self.filters else None


def learn(lister: Lister, own: Sequence[str], usual: Sequence[str] = ()) -> Field:
    """Learn the field that holds these values, each of another record.

    Args:
        usual: Names tried besides, since a list may show a field under another name than filters take.

    Raises:
        Blocked: the records are not on the first page, or no field holds such a value.
    """
    records = [record for record in lister.needed() if paths_to(record, own[0])]
    paths = paths_to(records[0], own[0]) if records else []
    if not paths:
        raise Blocked(lister.operation, "no listed item has a field that holds a value the suite knows")
    names = list(dict.fromkeys([*paths, *usual]))
    by_filter = next((name for name in names if lister.page(filter=equals(name, own[0])).size >= 0), None)
    by_order = next((name for name in names if lister.page(orderby=name).size >= 0), None)
    exact = by_filter is not None and _exact(lister.page(filter=equals(by_filter, *own)), own)
    return Field(lister.operation, by_filter, by_order, tuple(own), exact)


def _exact(page: Page, own: Sequence[str]) -> bool:
    return page.size == len(own) and all(page.names(value) for value in own)


def picks(claim: Claim, lister: Lister, expression: str, wanted: Sequence[str]) -> None:
    """Claim that a filter gives exactly the items that carry these values."""
    page = lister.page(filter=expression)
    missing = [value for value in wanted if not page.names(value)]
    strangers = page.size - len(page.order_of(wanted))
    claim.holds(
        page.size >= 0 and not missing and strangers == 0,
        page.exchange,
        expected=f"exactly {len(wanted)} items for {expression}",
        seen=page.told,
    )


def ordered(claim: Claim, lister: Lister, field: Field, *, falling: bool = False) -> None:
    """Claim that the suite's own items come in the order asked for.

    Raises:
        Blocked: they are not all on the page, and the list cannot be narrowed to them.
    """
    order = f"{field.order_path} desc" if falling else field.order_path
    page = lister.page(orderby=order)
    narrowed = field.narrowed(lister)
    if page.size >= 0 and len(page.order_of(field.own)) < len(field.own):
        if narrowed is None:
            raise Blocked(lister.operation, "the suite's own items are not all on the first page")
        page = narrowed.page(orderby=order)
    wanted = sorted(field.own, reverse=falling)
    claim.holds(
        page.order_of(field.own) == wanted,
        page.exchange,
        expected=f"in the order {', '.join(wanted)}",
        seen=page.told if page.size < 0 else ", ".join(page.order_of(field.own)),
    )


def relies_on_order(lister: Lister, field: Field) -> None:
    """See that a list comes in rising order when asked, for claims about what else orders do.

    Raises:
        Blocked: it does not, which is a finding of its own.
    """
    found = lister.page(orderby=field.order_path).order_of(field.own)
    if found != sorted(found):
        raise Blocked(lister.operation, f"{lister.sign}orderby alone does not order the list")


def relies_on_filter(lister: Lister, field: Field) -> None:
    """See that a filter picks the suite's own items, for claims about what else filters do.

    Raises:
        Blocked: it does not, which is a finding of its own.
    """
    if not field.filters:
        raise Blocked(lister.operation, f"{lister.sign}filter alone does not pick the suite's own items")


def draft_field(arrange: Arrangement, actor: Actor) -> Field:
    """The field that holds the uid in the lists of drafts, learnt from the actor's own kept ones.

    Raises:
        Blocked: it cannot be learnt.
    """
    own = kept_drafts(arrange, actor)
    return arrange.once(
        f"field of drafts of {actor.role}", lambda: learn(drafts_of(actor, "mydrafts"), own, _UIDS)
    )


def narrowed_drafts(arrange: Arrangement, actor: Actor, collection: str | None = None) -> Lister | None:
    """A list of drafts narrowed to the actor's own kept ones; None where that cannot be done."""
    try:
        return draft_field(arrange, actor).narrowed(drafts_of(actor, collection))
    except Blocked:
        return None


def proven_field(arrange: Arrangement, actor: Actor) -> str | None:
    """The field that holds the uid, where filtering by it was seen to work."""
    try:
        return draft_field(arrange, actor).proven
    except Blocked:
        return None


def file_field(arrange: Arrangement, actor: Actor) -> Field:
    """The field that holds the file's name in the list of attachments of the shared document.

    Raises:
        Blocked: it cannot be learnt.
    """
    shared = folder(arrange, actor)
    names = [attachment.filename for attachment in shared.attachments]
    return arrange.once(
        "field of attachments", lambda: learn(attachments_of(actor, shared.uid), names, _FILES)
    )
