"""Twenty drafts of one account: some under identifiers of every kind, some whose texts come in pairs.

A list that long has further pages behind ten and more items, filters of texts with quotes, and orders of two keys.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from contracts.cases import lists
from contracts.cases.drafts import claim_as_ordinary
from contracts.cases.known_lists import SCRAMBLED, KnownList
from contracts.cases.list_pages import Page, equals, leaves, quoted
from contracts.cases.sample_records import is_worded
from contracts.cases.world import World
from contracts.checks.claims import Claim, Expect
from contracts.checks.outcomes import taken, usable
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange

ANY, DIGITS, HYPHEN, UNDERSCORE = "uid-any-kind", "uid-digits-only", "uid-hyphen", "uid-underscore"
#: Items of a page; three make up the whole list.
_PAGE: Final = 9
#: Pages that are read of a service that gives fewer items than it is asked for.
_MOST_PAGES: Final = 12
#: A list that is shorter says nothing about long ones.
_LONG: Final = 16
#: The texts of documents of the workflow's schema, two of each; one needs a doubled quote in a filter.
_TEXTS: Final = ("O'Neill's", "O'Neill's", "Maathai", "Maathai")
#: What tells the drafts of every kind from each other.
_MARKS: Final = ("Ada", "Bella", "Clara", "Dora", "Edith", "Flora", "Greta", "Hanna")
#: Those of the two contacts beside them.
_NAME: Final = "Maathai"


def kinds(world: World) -> list[tuple[str, str]]:
    """Valid uids of every kind and of lengths between the ends of the range, each with the clause that promises it."""
    small, both = string.ascii_lowercase, string.ascii_letters
    return [
        (DIGITS, world.fresh.without_prefix(string.digits, 25)),
        (ANY, world.fresh.without_prefix(both, 36)),
        (ANY, world.fresh.without_prefix(small, 32)),
        (HYPHEN, "-" + world.fresh.without_prefix(small, 47)),
        (UNDERSCORE, "_" + world.fresh.without_prefix(small, 62) + "_"),
        (ANY, world.fresh.uid(65)),
        (ANY, world.fresh.uid(100)),
        (ANY, world.fresh.uid(17)),
    ]


def saved_under_every_kind(world: World) -> list[tuple[str, str, Exchange]]:
    """The saves of drafts under `kinds`, each with its clause and uid; the drafts stay until the end of the run."""

    def make() -> list[tuple[str, str, Exchange]]:
        made = []
        for (clause, uid), mark in zip(kinds(world), _MARKS, strict=True):
            world.keep(uid)
            draft = world.samples.short_draft(uid, middleName=mark)
            made.append((clause, uid, world.save(uid, draft)))
        return made

    return world.shared("drafts of every kind", make)


def claim_every_kind(world: World, expect: Expect) -> None:
    """Claim that a draft is saved, found and read under uids of every kind."""
    for (clause, uid, saved), mark in zip(saved_under_every_kind(world), _MARKS, strict=True):
        claim_as_ordinary(expect, world, clause, saved)
        told, read = world.samples.members_of_draft(middleName=mark), world.author.get_draft(uid)
        claim_as_ordinary(expect, world, clause, read)
        expect(clause, "getDraft").shows(read, told)
        claim_as_ordinary(expect, world, clause, world.author.draft_exists(uid))


def paired(world: World) -> tuple[str, ...]:
    """Uids of six drafts that stay; by their texts, and by their schema, they are equal in pairs."""

    def make() -> tuple[str, ...]:
        uids = tuple(world.kept_uid(f"pair{letter}") for letter in SCRAMBLED)
        for uid, text in itertools.zip_longest(uids, _TEXTS):
            if text is None or not _saved_by_workflow_schema(world, uid, text):
                world.draft(uid, world.samples.draft(uid, lastName=text or _NAME))
        return uids

    return world.once("paired drafts", make)


def _saved_by_workflow_schema(world: World, uid: str, text: str) -> bool:
    """Save a document of the workflow's schema with this text in the place of its own; whether it was taken."""
    if not world.samples.tells_workflow:
        return False
    document = world.samples.document(uid)
    worded = {name: dict.fromkeys(value, text) for name, value in document.items() if is_worded(value)}
    return taken(world.save(uid, document | worded, schema=world.samples.workflow_schema))


def claim_pages(claim: Claim, known: KnownList) -> None:
    """Claim that pages of twenty drafts taken one after another hold every draft once.

    Where filters do not pick them, or fewer are kept, nothing is claimed: shorter lists are judged.
    """
    every, world = saved_under_every_kind(known.world), known.world
    uids = [*known.own, *paired(world), *(uid for _, uid, saved in every if taken(saved))]
    if not known.field.filters or len(uids) < _LONG:
        return
    lister = known.lister.with_fixed(filter=equals(known.filter_path, *uids))

    def read() -> list[Page]:
        pages = [lister.page(top=_PAGE)]
        at = pages[0].size
        while pages[-1].size > 0 and at < len(uids) and len(pages) < _MOST_PAGES:
            pages.append(lister.page(top=_PAGE, skip=at))
            at += pages[-1].size
        return pages

    def listed(pages: Sequence[Page]) -> list[str]:
        return [uid for page in pages for uid in page.order_of(uids)]

    pages = world.until(read, lambda pages: pages[0].size <= 0 or set(uids) <= set(listed(pages)))
    if pages[0].size >= 0:  # so long a filter may not be taken
        lists.claim_each_once(claim, [page.exchange for page in pages], uids, listed(pages))


class PairedDrafts:
    """The list of the paired drafts alone, for claims about fields in which some are equal and some differ."""

    def __init__(self, known: KnownList) -> None:
        self._known, self._uids = known, paired(known.world)
        self._narrow = equals(known.filter_path, *self._uids)
        self._lister = known.lister.with_fixed(filter=self._narrow)

    def _fields(self) -> Iterator[tuple[str, dict[str, str]]]:
        """The fields in which some of the drafts are equal and some differ, with the text that each has."""
        shown = {
            uid: {path: value for path, value in leaves(record) if isinstance(value, str)}
            for record in self._lister.page().records or ()
            for uid in self._uids
            if readers.names(record, uid)
        }
        for path in dict.fromkeys(path for texts in shown.values() for path in texts):
            values = {uid: texts[path] for uid, texts in shown.items() if path in texts}
            # What holds a digit may be a time, of which less may be shown than the service goes by.
            worded = not any(character.isdigit() for value in values.values() for character in value)
            if worded and 1 < len(set(values.values())) < len(values):
                yield path, values

    def claim_quotes(self, claim: Claim) -> None:
        """Claim that a quote is doubled in a literal, on a field by which `eq` picks what has none."""
        for path, values in self._fields():
            # Those without a quote come first.
            plain, *_, special = sorted(set(values.values()), key=lambda value: "'" in value)
            if "'" in plain or "'" not in special or not self._picked(path, plain, values)[1]:
                continue
            page, right = self._picked(path, special, values)
            expected, refused = f"the drafts whose {path} is {special}", bool(usable(page.exchange).refusal)
            claim.holds(right or refused, page.exchange, expected=expected, seen=page.seen)
            return

    def _picked(self, path: str, value: str, values: Mapping[str, str]) -> tuple[Page, bool]:
        """The answer to a filter by a text beside that by the uids, and whether it holds just what has this text."""
        page = self._known.lister.page(filter=f"({self._narrow}) and {path} eq {quoted(value)}")
        return page, page.holds_just([uid for uid, own_value in values.items() if own_value == value])

    def claim_two_keys(self, claim: Claim) -> None:
        """Claim that drafts which are equal by the first key come in the order of the second one."""
        for path, values in self._fields() if self._known.is_ordered else ():
            rising, falling = (self._lister.page(orderby=f"{path}{word}") for word in ("", " desc"))
            texts = _runs(rising, values)
            sorted_rightly = len(texts) == len(set(values.values())) and _runs(falling, values) == texts[::-1]
            if sorted_rightly and len(values) == len(self._uids):
                for word in ("", " desc"):
                    by_uid = sorted(values, reverse=bool(word))
                    wanted = sorted(by_uid, key=lambda uid: texts.index(values[uid]))
                    self._claim_ordered(claim, f"{path},{self._known.order_path}{word}", wanted)
                return

    def _claim_ordered(self, claim: Claim, order: str, wanted: Sequence[str]) -> None:
        page = self._lister.page(orderby=order)
        if not usable(page.exchange).refusal:
            expected = f"in the order {order}: {', '.join(wanted)}"
            seen = page.seen_beside(wanted, others=True)
            claim.holds(page.order_of(wanted) == wanted, page.exchange, expected=expected, seen=seen)


def _runs(page: Page, values: Mapping[str, str]) -> list[str]:
    """The texts of a page's drafts in their order, each once for those beside each other."""
    return [text for text, _ in itertools.groupby(values[uid] for uid in page.order_of(list(values)))]
