"""The drafts in a list: the caller's own, no other account's in a personal collection, and no deleted ones."""

import pytest

from registry_contracts.cases import (
    Actor,
    Expect,
    Observer,
    World,
    contract,
    done,
    drafts_of,
    drafts_searched,
    equals,
    known_drafts,
    known_lists,
    lists,
    smoke,
)
from registry_contracts.checks.outcomes import Untested


@contract("list-answers", "list-success-status", requests=1)
def test_drafts_are_listed(world: World, expect: Expect, observe: Observer) -> None:
    """Listing drafts without any option succeeds and returns a list."""
    page = lists.claim_answered(expect("list-answers"), world, drafts_of(world.author))
    observe("list-success-status", "listDrafts", page.exchange.answer.status)


@contract("list-mydrafts-has-mine", relies_on=["list-answers"], requests=6.5)
def test_mydrafts_holds_a_draft_just_saved(world: World, expect: Expect) -> None:
    """The collection mydrafts holds a draft that the caller has just saved, even after a second save."""
    world.shared_draft()  # an older one, which shows how items name their drafts
    draft, mine = world.draft(), drafts_of(world.author, "mydrafts")
    lists.claim_listed(expect("list-mydrafts-has-mine"), world, mine, draft.uid)
    for name in ("Louise", "Muta"):
        done(world.save(draft.uid, world.samples.draft(draft.uid, middleName=name)))
    lists.claim_listed(expect("list-mydrafts-has-mine"), world, mine, draft.uid)


@smoke()
@contract("list-my-answers", relies_on=["list-answers"], requests=1)
def test_the_collection_my_is_a_list(world: World, expect: Expect) -> None:
    """The collection my is an allowed value and returns a list."""
    lists.claim_answered(expect("list-my-answers"), world, drafts_of(world.author, "my"))


@contract(operations=["listDrafts"], requests=5)
@pytest.mark.parametrize(
    ("clause", "collection"),
    [
        pytest.param("list-my-has-mine", "my", id="my", marks=contract("list-my-has-mine")),
        pytest.param("list-plain-has-mine", None, id="plain", marks=contract("list-plain-has-mine")),
    ],
)
def test_other_lists_hold_a_draft_just_saved(
    clause: str, collection: str | None, world: World, expect: Expect
) -> None:
    """A draft that the caller has just saved is in the collection my, and in the list without a collection."""
    listed = drafts_searched(world, collection)
    draft = world.draft()  # a list is most likely to lack the newest draft
    lists.claim_listed(expect(clause), world, listed, draft.uid)


@contract(operations=["listDrafts"], requests=2.5)
@pytest.mark.parametrize(
    ("clause", "collection"),
    [
        pytest.param("list-my-without-others", "my", id="my", marks=contract("list-my-without-others")),
        pytest.param(
            "list-mydrafts-without-others",
            "mydrafts",
            id="mydrafts",
            marks=contract("list-mydrafts-without-others"),
        ),
    ],
)
def test_a_personal_collection_does_not_hold_the_draft_of_another(
    clause: str, collection: str, world: World, other: Actor, expect: Expect
) -> None:
    """A personal collection does not hold a draft that another account saved."""
    theirs = world.shared_draft(by=other)
    lists.claim_not_listed(expect(clause), world, drafts_searched(world, collection), theirs.uid)


@smoke("mydrafts", requests=20)
@contract("list-collection-with-filter", requests=1)
@pytest.mark.parametrize("collection", ["my", "mydrafts"])
def test_a_filter_adds_nothing_to_a_collection(
    collection: str, world: World, other: Actor, expect: Expect
) -> None:
    """A filter by the uid of another account's draft returns nothing that the collection lacks."""
    theirs, drafts = world.shared_draft(by=other), drafts_searched(world, collection)
    if drafts.field is None:
        raise Untested("the document names no fields for filters, and no known field selects equal values")
    chosen = drafts.read(filter=equals(drafts.field, theirs.uid))
    if not (chosen.names(theirs.uid) and drafts.search(theirs.uid).found):
        expect("list-collection-with-filter").holds(
            not chosen.names(theirs.uid), chosen.exchange, expected=f"no draft {theirs.uid}", seen=chosen.seen
        )


@contract("list-my-without-others", operations=["listDrafts"], requests=2)
def test_a_personal_collection_is_personal_to_everybody(world: World, other: Actor, expect: Expect) -> None:
    """The collection my of another account does not hold the author's drafts."""
    # The other account's own draft shows how an item of its list names a draft.
    mine, _ = world.shared_draft(), world.shared_draft(by=other)
    theirs = drafts_of(other, "my", known_drafts(world).field.proven)
    lists.claim_not_listed(expect("list-my-without-others"), world, theirs, mine.uid)


@contract("list-deleted-gone", "list-mydrafts-has-mine", operations=["listDrafts", "deleteDraft"], requests=7)
@contract(relies_on=["draft-delete-removes"])
def test_a_deleted_draft_is_no_longer_listed(world: World, expect: Expect) -> None:
    """A deleted draft is no longer in any list that held it."""
    draft, mine = world.draft(), drafts_searched(world, "mydrafts")
    lists.claim_listed(expect("list-mydrafts-has-mine"), world, mine, draft.uid)
    done(world.author.delete_draft(draft.uid))
    for listed in (mine, drafts_searched(world, None)):
        lists.claim_not_listed(expect("list-deleted-gone", "listDrafts"), world, listed, draft.uid)


@contract("list-drafts-only", requests=5.5)
def test_the_list_of_drafts_holds_drafts_only(world: World, expect: Expect) -> None:
    """The exists check finds a draft for two items of the personal collection, items of other runs first."""
    known_lists.kept_drafts(world)
    lists.claim_drafts_only(expect("list-drafts-only"), drafts_of(world.author, "my"), world.fresh.prefix)


@contract("list-mydrafts-without-published", operations=["listDrafts"], requests=4, last=True)
def test_mydrafts_does_not_hold_a_published_record_without_a_draft(world: World, expect: Expect) -> None:
    """The collection mydrafts does not hold a published record without a draft."""
    published = str(world.samples.setting("published_identifier")[0])
    lists.claim_not_listed_without_a_draft(
        expect("list-mydrafts-without-published"), known_drafts(world), published
    )


@contract("list-saved-twice", requests=10)
def test_a_draft_saved_several_times_is_listed_once(world: World, expect: Expect) -> None:
    """Later saves update the draft in the list and add no second one."""
    draft = world.draft()
    done(world.save(draft.uid, world.samples.draft(draft.uid, firstName="Rachel")))
    done(world.save(draft.uid, world.samples.draft(draft.uid, firstName="Rachel Louise")))
    for lister in lists.listers_of(known_drafts(world), draft.uid):
        # A repeated item may disappear after a moment.
        page = world.until(lister.page, lambda page: page.count(draft.uid) <= 1)
        done(page.exchange)
        count = page.count(draft.uid)
        expect("list-saved-twice", "listDrafts").holds(
            count <= 1, page.exchange, expected="the draft once", seen=f"{count} times"
        )


@contract("list-collection-unknown", "list-failure-status", requests=1)
def test_an_unknown_collection_is_refused(world: World, expect: Expect, observe: Observer) -> None:
    """A collection other than my and mydrafts is refused."""
    page = drafts_of(world.author, f"no-such-{world.fresh.prefix}").page()
    expect("list-collection-unknown").refused(page.exchange)
    observe("list-failure-status", "listDrafts", {"unknown collection": page.exchange.answer.status})
