"""The drafts in a list: the caller's own, no other account's in a personal collection, and no deleted ones."""

import pytest

from registry_contracts.cases import (
    Actor,
    Deal,
    Expect,
    Observer,
    World,
    contract,
    done,
    drafts_of,
    drafts_searched,
    known_drafts,
    known_lists,
    lists,
    shape,
    smoke,
)


def of_lists(what: str, **collections: str | None) -> pytest.MarkDecorator:
    """One case for each list, by name, with the clause `list-NAME-what`; a list without a collection is None."""
    rows = {name: (f"list-{name}-{what}", collection) for name, collection in collections.items()}
    params = [pytest.param(*row, id=name, marks=contract(row[0])) for name, row in rows.items()]
    return pytest.mark.parametrize(("clause", "collection"), params)


@contract("list-answers", "list-success-status", requests=1)
def test_drafts_are_listed(world: World, expect: Expect, observe: Observer) -> None:
    """Listing drafts without any option succeeds and returns a list."""
    page = lists.claim_answered(expect("list-answers"), world, drafts_of(world.author))
    observe("list-success-status", "listDrafts", page.exchange.answer.status)


@smoke()
@contract("list-my-answers", relies_on=["list-answers"], requests=1)
def test_the_collection_my_is_a_list(world: World, expect: Expect) -> None:
    """The collection my is an allowed value and returns a list."""
    lists.claim_answered(expect("list-my-answers"), world, drafts_of(world.author, "my"))


@of_lists("has-mine", my="my", plain=None)
@contract(operations=["listDrafts"], requests=5)
def test_other_lists_hold_a_draft_just_saved(
    clause: str, collection: str | None, world: World, expect: Expect
) -> None:
    """A draft that the caller has just saved is in the collection my, and in the list without a collection."""
    listed = drafts_searched(world, collection)
    draft = world.draft()  # a list is most likely to lack the newest draft
    lists.claim_listed(expect(clause), world, listed, draft.uid)


@of_lists("without-others", my="my", mydrafts="mydrafts")
@contract(operations=["listDrafts"], requests=2.5)
def test_a_personal_collection_does_not_hold_the_draft_of_another(
    clause: str, collection: str, world: World, other: Actor, expect: Expect
) -> None:
    """A personal collection does not hold a draft that another account saved."""
    theirs = world.shared_draft(by=other)
    lists.claim_not_listed(expect(clause), world, drafts_searched(world, collection), theirs.uid)


@smoke(requests=20)
@contract("list-collection-with-filter", requests=1)
def test_a_filter_adds_nothing_to_a_collection(
    world: World, other: Actor, deal: Deal, expect: Expect
) -> None:
    """A filter by the uid of another account's draft returns nothing that the collection lacks."""
    theirs = world.shared_draft(by=other)
    for collection in deal(lists.COLLECTIONS):
        drafts = drafts_searched(world, collection)
        lists.claim_filter_adds_nothing(expect("list-collection-with-filter"), drafts, theirs.uid)


@contract("list-deleted-gone", "list-mydrafts-has-mine", operations=["listDrafts", "deleteDraft"], requests=7)
@contract(relies_on=["list-answers", "draft-delete-removes"])
def test_a_deleted_draft_is_no_longer_listed(world: World, expect: Expect) -> None:
    """The collection mydrafts holds a draft just saved; once it is deleted, no list that held it does."""
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
    claim, drafts = expect("list-mydrafts-without-published"), known_drafts(world)
    lists.claim_not_listed_without_a_draft(claim, drafts, published)


@contract("list-saved-twice", "list-mydrafts-has-mine", relies_on=["list-answers"], requests=7)
def test_a_draft_saved_several_times_is_listed_once(world: World, expect: Expect) -> None:
    """Later saves update the draft in the list and add no second one."""
    known, draft = known_drafts(world), world.draft()
    for name in ("Louise", "Muta"):
        done(world.save(draft.uid, world.samples.draft(draft.uid, middleName=name)))
    lists.claim_listed(expect("list-mydrafts-has-mine"), world, known.lister, draft.uid)
    lists.claim_listed_once(expect("list-saved-twice", "listDrafts"), known, draft.uid)


@contract("list-collection-unknown", "list-failure-status", requests=1)
def test_an_unknown_collection_is_refused(world: World, expect: Expect, observe: Observer) -> None:
    """A collection other than my and mydrafts is refused."""
    page = drafts_of(world.author, f"no-such-{world.fresh.prefix}").page()
    expect("list-collection-unknown").refused(page.exchange)
    observe("list-failure-status", "listDrafts", shape(page.exchange))
