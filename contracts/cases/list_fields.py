"""Fields that the items of a list carry: which of them filters and orders take, and whether they heed any.

Which fields those are is not shown, so the first one that holds a known value and that the service takes is used;
when it takes none, nothing can be claimed by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from contracts.cases.arrangement import Arrangement, require
from contracts.cases.list_pages import (
    Lister,
    Names,
    Page,
    Record,
    attachments_of,
    drafts_of,
    equals,
    paths_to,
    quoted,
)
from contracts.cases.lists import kept_drafts
from contracts.cases.shared_documents import shared_document
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Blocked, Untested, usable
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange
from contracts.session.actor import Actor
from contracts.session.namespace import SUITE_PREFIX

#: What such fields are commonly called.
_UIDS = ("identifier", "uid", "id")
_FILES = ("filename", "fileName", "name")
#: Fields of a kind that are tried before a list counts as one that heeds none, and items that show it.
_MOST_FIELDS = 6
_FEW = 2
_NO_VALUE = f"{SUITE_PREFIX}no-item-has-this"


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
    by_filter, picks_one = _filtered_by(lister, names, own[0])
    by_order = next((name for name in names if lister.page(orderby=name).size >= 0), None)
    exact = picks_one and _exact(lister.page(filter=equals(str(by_filter), *own)), own)
    return Field(lister.operation, by_filter, by_order, tuple(own), exact)


def _filtered_by(lister: Lister, names: Sequence[str], value: str) -> tuple[str | None, bool]:
    """The name by which a filter picks the record with a value, or else one that is taken; and whether it picks.

    A name that is no field may be passed over, so that a filter which is taken shows every record.
    """
    taken = []
    for name in names:
        page = lister.page(filter=equals(name, value))
        if _exact(page, [value]):
            return name, True
        taken += [name] if _taken(page) else []
    return (taken[0] if taken else None), False


def _taken(page: Page) -> bool:
    """Whether a filter that matches something was read; one by an unknown field may be answered "not found"."""
    return page.size >= 0 and not page.not_found


def _exact(page: Page, own: Sequence[str]) -> bool:
    return page.size == len(own) and all(page.names(value) for value in own)


def heeds_filters(claim: Claim, lister: Lister, usual: Sequence[str]) -> None:
    """Claim that not every filter is passed over: by some field, one for a value that nothing has gives no item.

    Nor may the opposite filter by each such field give no item either, since there are items of other values. A
    field that filters do not take may be passed over, or make the service refuse.

    Args:
        usual: Names tried besides those of the fields that the items carry.

    Raises:
        Untested: the service takes a filter by none of them, or passes over some and finds nothing by others.
    """
    fields = _text_fields(lister.needed(_FEW), usual)
    passed: list[Page] = []
    emptied: list[Page] = []
    for field in fields:
        filtered = lister.page(filter=equals(field, _NO_VALUE))
        if filtered.size > 0:
            passed.append(filtered)
        elif filtered.size == 0:
            others = lister.page(filter=f"{field} ne {quoted(_NO_VALUE)}")
            if others.size != 0 or others.not_found:
                claim.holds(True, filtered.exchange, expected="no item", seen=filtered.seen)
                return
            emptied.append(others)
    if bool(passed) == bool(emptied):
        raise Untested("which fields filters take is not shown, and none of those known is plainly taken")
    first, *more = passed or emptied
    due = "no item for a value that none has" if passed else "items for any value but one that none has"
    claim.holds(
        False,
        first.exchange,
        *(page.exchange for page in more),
        expected=f"{due}, by one of {', '.join(fields)}",
        seen=f"{'items' if passed else 'none'} for each: {first.exchange.answer.quote()}",
    )


def heeds_orders(claim: Claim, lister: Lister, usual: Sequence[str]) -> None:
    """Claim that not every order is passed over: by some field, the falling one differs from the rising one.

    Nor may every order empty the list, since an order leaves out nothing.

    Args:
        usual: Names tried besides those of the fields that the items carry.

    Raises:
        Untested: by no field that differs between the items does the service take both.
    """
    records = lister.needed(_FEW)
    passed: list[Exchange] = []
    fields = [name for name in _text_fields(records, usual) if name in usual or _differs(records, name)]
    for field in fields:
        both = [lister.page(orderby=f"{field}{word}") for word in ("", " desc")]
        named = Names(*(page.records or () for page in both))
        names = [named.of(page.records) for page in both]
        common = set(names[0]) & set(names[1])
        shared = [[name for name in part if name in common] for part in names]
        # Pages that have hardly an item in common are the two ends of an ordered list.
        same = len(common) >= _FEW and shared[0] == shared[1]
        if min(page.size for page in both) < 0:
            continue
        if not same and all(names):
            claim.holds(True, both[-1].exchange, expected="an order", seen=both[-1].seen)
            return
        passed += [page.exchange for page in both]
    if not passed:
        raise Untested(
            "which fields orders take is not shown, and none was seen that differs between the items"
        )
    claim.holds(
        False,
        passed[0],
        *passed[1:],
        expected=f"a falling order unlike the rising one, by one of {', '.join(fields)}",
        seen=f"the same order for each, or no item: {passed[0].answer.quote()}",
    )


def _text_fields(records: Sequence[Record], usual: Sequence[str]) -> list[str]:
    """Paths of fields that hold texts: those that tell the items apart, the usual ones, then others; not many."""
    first = records[0]
    texts = [
        path for value in readers.values(first) if isinstance(value, str) for path in paths_to(first, value)
    ]
    shown = sorted(dict.fromkeys(texts), key=lambda path: (not _differs(records, path), path not in usual))
    telling = [path for path in shown if _differs(records, path)]
    return list(dict.fromkeys([*telling[:_MOST_FIELDS], *usual, *shown[:_MOST_FIELDS]]))


def _differs(records: Sequence[Record], path: str) -> bool:
    """Whether each of these records has a value of its own in a field."""
    return len({str(_at(record, path.split("/"))) for record in records}) == len(records)


def _at(value: object, names: Sequence[str]) -> object:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def relies_on_order(arrange: Arrangement, lister: Lister, field: Field) -> None:
    """See once that a list comes in rising order when asked, for claims about what else orders do.

    Raises:
        Blocked: it does not, which is a finding of its own.
    """
    rising, _ = _orders(arrange, lister, field)
    require(rising == sorted(rising), lister.operation, f"{lister.sign}orderby alone does not order the list")


def orders(arrange: Arrangement, lister: Lister, field: Field) -> bool:
    """Whether a list comes in rising and in falling order when asked: its order is then known to be by this field."""
    if field.by_order is None:
        return False
    rising, falling = _orders(arrange, lister, field)
    return rising == sorted(rising) and len(falling) > 1 and falling == sorted(falling, reverse=True)


def _claim_not_inverted(claim: Claim, arrange: Arrangement, lister: Lister, field: Field) -> None:
    """Claim that a list does not come in falling order where the rising one was asked for, and the other way round.

    Raises:
        Untested: the suite has too few items of its own to tell one order from the other.
    """
    if field.by_order is None:
        return
    if len(field.own) < _FEW:
        raise Untested("with fewer than two items of the suite's own no order can be told from its reverse")
    rising, falling = _orders(arrange, lister, field)
    if set(rising) == set(falling) == set(field.own) and rising[::-1] == falling == sorted(falling):
        again = lister.page(orderby=field.order_path)
        claim.holds(
            again.order_of(field.own) != rising,
            again.exchange,
            expected=f"in the order {', '.join(falling)}",
            seen=f"in falling order: {', '.join(rising)}",
        )


def _orders(arrange: Arrangement, lister: Lister, field: Field) -> tuple[list[str], list[str]]:
    """The suite's own items as a list holds them in rising and in falling order, looked up once."""

    def look() -> tuple[list[str], list[str]]:
        rising, falling = (
            lister.page(orderby=f"{field.order_path}{word}").order_of(field.own) for word in ("", " desc")
        )
        return rising, falling

    return arrange.once(f"orders of {lister.label}", look)


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


def drafts_heed_filters(claim: Claim, arrange: Arrangement, actor: Actor) -> None:
    """Claim that filters of the list of drafts are not passed over, each and every one."""
    kept_drafts(arrange, actor)
    _claim_filters(claim, drafts_of(actor, "mydrafts"), lambda: draft_field(arrange, actor), _UIDS)


def drafts_heed_orders(claim: Claim, arrange: Arrangement, actor: Actor) -> None:
    """Claim that orders of the list of drafts are not passed over, each and every one, and none the other way round."""
    kept_drafts(arrange, actor)
    drafts = drafts_of(actor, "mydrafts")
    _claim_orders(claim, arrange, drafts, lambda: draft_field(arrange, actor), _UIDS)


def files_heed_filters(claim: Claim, arrange: Arrangement, actor: Actor) -> None:
    """Claim that filters of the list of attachments are not passed over, each and every one."""
    files = attachments_of(actor, shared_document(arrange, actor).uid)
    _claim_filters(claim, files, lambda: file_field(arrange, actor), _FILES)


def files_heed_orders(claim: Claim, arrange: Arrangement, actor: Actor) -> None:
    """Claim that orders of the list of attachments are not passed over, nor the other way round."""
    files = attachments_of(actor, shared_document(arrange, actor).uid)
    _claim_orders(claim, arrange, files, lambda: file_field(arrange, actor), _FILES)


#: What a claim says of an option that is known to work by the field that was learnt: it is not asked for again.
_KNOWN: Final = MappingProxyType({"expected": "an effect", "seen": "the one that was asked for"})


def _learnt(look: Callable[[], Field]) -> Field | None:
    try:
        return look()
    except Blocked:
        return None


def _claim_filters(claim: Claim, lister: Lister, look: Callable[[], Field], usual: Sequence[str]) -> None:
    field = _learnt(look)
    if field is not None and field.filters:
        claim.holds(True, **_KNOWN)
    else:
        heeds_filters(claim, lister, usual)


def _claim_orders(
    claim: Claim, arrange: Arrangement, lister: Lister, look: Callable[[], Field], usual: Sequence[str]
) -> None:
    field = _learnt(look)
    if field is not None and orders(arrange, lister, field):
        claim.holds(True, **_KNOWN)
        return
    if field is not None:
        _claim_not_inverted(claim, arrange, lister, field)
    heeds_orders(claim, lister, usual)


def file_field(arrange: Arrangement, actor: Actor) -> Field:
    """The field that holds the file's name in the list of attachments of the shared document.

    Raises:
        Blocked: it cannot be learnt.
    """
    shared = shared_document(arrange, actor)
    names = [attachment.filename for attachment in shared.attachments]
    return arrange.once(
        "field of attachments", lambda: learn(attachments_of(actor, shared.uid), names, _FILES)
    )


def picks(claim: Claim, lister: Lister, expression: str, wanted: Sequence[str]) -> None:
    """Claim that a filter gives exactly the items that carry these values."""
    page = lister.page(filter=expression)
    missing = [value for value in wanted if not page.names(value)]
    strangers = page.size - len(page.order_of(wanted))
    claim.holds(
        page.size >= 0 and not missing and strangers == 0,
        page.exchange,
        expected=f"{' and '.join(wanted) or 'nothing'} for {expression}",
        seen=page.seen_beside(wanted),
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
        seen=page.seen_beside(wanted, others=True),
    )


def queries_for(arrange: Arrangement, actor: Actor, uid: str) -> list[dict[str, str]]:
    """Queries of the list that show a draft of the actor's own: of the collection, and by its uid.

    Raises:
        Untested: none does, which is a matter of the list's own clauses.
    """
    field, query = proven_field(arrange, actor), {"collection": "mydrafts"}
    queries = [query, *([query | {"$filter": equals(field, uid)}] if field else [])]

    def shown() -> list[dict[str, str]]:
        lists = {index: actor.send("listDrafts", query=options) for index, options in enumerate(queries)}
        return [
            queries[index] for index, sent in lists.items() if readers.carries_identifier(usable(sent), uid)
        ]

    if not arrange.eventually(lambda: bool(shown())):
        raise Untested("the list does not show a draft that was just saved")
    return shown()


def not_listed_without_a_draft(claim: Claim, arrange: Arrangement, actor: Actor, uid: str) -> None:
    """Claim that the collection mydrafts does not hold a published record that has no draft, or none any more.

    Raises:
        Untested: it keeps one, or there is no list to look at.
    """
    mydrafts, field = drafts_of(actor, "mydrafts"), proven_field(arrange, actor)
    exchanges: list[Exchange] = []
    if usable(actor.send("draftExists", path={"uid": uid})).success:
        actor.send("deleteDraft", path={"uid": uid})

    def absent() -> bool:
        pages = [mydrafts.page(), *([mydrafts.page(filter=equals(field, uid))] if field else [])]
        exchanges[:] = [actor.send("draftExists", path={"uid": uid}), *(page.exchange for page in pages)]
        if usable(exchanges[0]).success or pages[0].size < 0:
            raise Untested("the published record of the settings has a draft, or there is no list of drafts")
        return not any(page.names(uid) for page in pages)

    gone = absent() or arrange.eventually(absent)
    claim.holds(gone, *exchanges, expected=f"no item for {uid}, which has no draft", seen=f"{uid} is listed")
