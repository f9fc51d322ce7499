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
from contracts.checks.outcomes import Blocked, taken, usable
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


class LongList:
    """The list of the actor's drafts, narrowed to the twenty of this module and the kept ones.

    Where filters do not pick them, or show what is needed, nothing is claimed: other cases judge the same clauses.
    """

    def __init__(self, known: KnownList) -> None:
        self._known = known
        self._uids: list[str] = []
        try:
            known.need_filter()
            lists.need_parts(known, (1, 2))
        except Blocked:
            return
        self._pairs = paired(known.world)
        every = saved_under_every_kind(known.world)
        self._uids = [*known.own, *self._pairs, *(uid for _, uid, saved in every if taken(saved))]
        self._narrow = equals(known.filter_path, *self._pairs)
        self._paired = known.lister.with_fixed(filter=self._narrow)

    def claim_pages(self, claim: Claim) -> None:
        """Claim that pages taken one after another hold every draft once."""
        if len(self._uids) < _LONG:
            return  # nothing keeps them: shorter lists are judged
        due = set(self._uids)
        pages = self._known.world.until(
            self._pages, lambda pages: pages[0].size <= 0 or due <= set(self._listed(pages))
        )
        if pages[0].size >= 0:  # so long a filter may not be taken
            exchanges = [page.exchange for page in pages]
            lists.claim_each_once(claim, exchanges, self._uids, self._listed(pages))

    def _pages(self) -> list[Page]:
        every = self._known.lister.with_fixed(filter=equals(self._known.filter_path, *self._uids))
        pages = [every.page(top=_PAGE)]
        at = pages[0].size
        while pages[-1].size > 0 and at < len(self._uids) and len(pages) < _MOST_PAGES:
            pages.append(every.page(top=_PAGE, skip=at))
            at += pages[-1].size
        return pages

    def _listed(self, pages: Sequence[Page]) -> list[str]:
        return [uid for page in pages for uid in page.order_of(self._uids)]

    def _fields(self) -> Iterator[tuple[str, dict[str, str]]]:
        """The fields in which some of the paired drafts are equal and some differ, with the text that each has."""
        if not self._uids:
            return
        shown = {
            uid: {path: value for path, value in leaves(record) if isinstance(value, str)}
            for record in self._paired.page().records or ()
            for uid in self._pairs
            if readers.names(record, uid)
        }
        for path in dict.fromkeys(path for texts in shown.values() for path in texts):
            values = {uid: shown[uid][path] for uid in self._pairs if path in shown.get(uid, {})}
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
        if not self._uids or not self._known.is_ordered:
            return
        for path, values in self._fields():
            rising, falling = (self._paired.page(orderby=f"{path}{word}") for word in ("", " desc"))
            texts = _runs(rising, values)
            sorted_rightly = len(texts) == len(set(values.values())) and _runs(falling, values) == texts[::-1]
            if sorted_rightly and len(values) == len(self._pairs):
                self._claim_ordered(claim, path, texts, values)
                return

    def _claim_ordered(
        self, claim: Claim, path: str, texts: Sequence[str], values: Mapping[str, str]
    ) -> None:
        for word in ("", " desc"):
            order = f"{path},{self._known.order_path}{word}"
            page = self._paired.page(orderby=order)
            if usable(page.exchange).refusal:
                return
            by_uid = sorted(values, reverse=bool(word))
            wanted = sorted(by_uid, key=lambda uid: texts.index(values[uid]))
            expected, seen = (
                f"in the order {order}: {', '.join(wanted)}",
                page.seen_beside(wanted, others=True),
            )
            claim.holds(page.order_of(wanted) == wanted, page.exchange, expected=expected, seen=seen)


def _runs(page: Page, values: Mapping[str, str]) -> list[str]:
    """The texts of a page's drafts in their order, each once for those beside each other."""
    return [text for text, _ in itertools.groupby(values[uid] for uid in page.order_of(list(values)))]
