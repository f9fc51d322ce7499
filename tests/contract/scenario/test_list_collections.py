"""Whose drafts a list holds: the caller's own, no other account's in a personal collection, none that was deleted."""

import pytest

from contracts.cases import (
    Actor,
    Arrangement,
    Claims,
    Namespace,
    Observer,
    Samples,
    claim_each_refused,
    contract,
    done,
    drafts,
    drafts_of,
    known_drafts,
    known_lists,
    lists,
)


@contract("list-answers", "list-success-status", requests=1)
def test_drafts_are_listed(author: Actor, arrange: Arrangement, claim: Claims, observe: Observer) -> None:
    """Listing drafts without any option succeeds and gives a list."""
    page = lists.claim_answered(claim("list-answers"), arrange, drafts_of(author))
    observe("list-success-status", "listDrafts", page.exchange.answer.status)


@contract("list-mydrafts-has-mine", requests=6.5)
def test_mydrafts_holds_a_draft_just_saved(
    author: Actor, arrange: Arrangement, samples: Samples, claim: Claims
) -> None:
    """The collection mydrafts holds a draft that the caller has just saved, and still when it was saved again."""
    arrange.shared_draft(author)  # an older one, which shows how items name their drafts
    draft, mine = arrange.draft(author), drafts_of(author, "mydrafts")
    lists.claim_listed(claim("list-mydrafts-has-mine"), arrange, mine, draft.uid)
    for name in ("Louise", "Muta"):
        done(drafts.save(author, samples, draft.uid, samples.draft(draft.uid, middleName=name)))
    lists.claim_listed(claim("list-mydrafts-has-mine"), arrange, mine, draft.uid)


@contract("list-my-answers", requests=1)
def test_the_collection_my_is_a_list(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """The collection my is an allowed value and gives a list."""
    lists.claim_answered(claim("list-my-answers"), arrange, drafts_of(author, "my"))


@contract(operations=["listDrafts"], requests=7.5)
@pytest.mark.parametrize(
    ("clause", "collection"),
    [
        pytest.param("list-my-has-mine", "my", id="my", marks=contract("list-my-has-mine")),
        pytest.param("list-plain-has-mine", None, id="plain", marks=contract("list-plain-has-mine")),
    ],
)
def test_other_lists_hold_a_draft_just_saved(
    clause: str, collection: str | None, author: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """A draft that the caller has just saved is in the collection my, and in the list without a collection."""
    path = known_drafts(arrange, author).proven_path
    draft = arrange.draft(author)  # the newest, which is what a list is most likely to lack
    lists.need_listed(arrange, drafts_of(author, "mydrafts"), draft.uid)
    lists.claim_listed(claim(clause), arrange, drafts_of(author, collection), draft.uid, path)


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
    clause: str, collection: str, author: Actor, other: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """A personal collection does not hold a draft that another account saved."""
    theirs = arrange.shared_draft(other)
    path = known_drafts(arrange, author).proven_path
    lists.claim_not_listed(claim(clause), arrange, drafts_of(author, collection), theirs.uid, path)


@contract("list-collection-with-filter", requests=1)
@pytest.mark.parametrize("collection", ["my", "mydrafts"])
def test_a_filter_adds_nothing_to_a_collection(
    collection: str, author: Actor, other: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """A filter by the uid of another account's draft gives nothing that the collection lacks."""
    theirs, drafts = arrange.shared_draft(other), drafts_of(author, collection)
    path = known_drafts(arrange, author).proven_path
    lists.claim_adds_nothing(claim("list-collection-with-filter"), drafts, theirs.uid, path)


@contract("list-my-without-others", operations=["listDrafts"], requests=2)
def test_a_personal_collection_is_personal_to_everybody(
    author: Actor, other: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """The collection my of another account does not hold what the author saved: it is not the author's for all."""
    # By its own draft the other account's list shows how an item names one.
    mine, _ = arrange.shared_draft(author), arrange.shared_draft(other)
    path = known_drafts(arrange, author).proven_path
    lists.claim_not_listed(claim("list-my-without-others"), arrange, drafts_of(other, "my"), mine.uid, path)


@contract("list-deleted-gone", operations=["listDrafts", "deleteDraft"], requests=8)
def test_a_deleted_draft_is_no_longer_listed(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """A draft that was deleted is no longer in any list that held it."""
    draft, path = arrange.draft(author), known_drafts(arrange, author).proven_path
    lists.need_listed(arrange, drafts_of(author, "mydrafts"), draft.uid, path)
    drafts.deleted(author, draft.uid)
    for listed in (drafts_of(author, "mydrafts"), drafts_of(author)):
        gone = claim("list-deleted-gone", "listDrafts")
        lists.claim_not_listed(gone, arrange, listed, draft.uid, path)


@contract("list-drafts-only", requests=5.5)
def test_the_list_of_drafts_holds_drafts_only(
    author: Actor, arrange: Arrangement, fresh: Namespace, claim: Claims
) -> None:
    """The exists check finds a draft for each item of the personal collection."""
    known_lists.kept_drafts(arrange, author)
    lists.claim_drafts_only(claim("list-drafts-only"), drafts_of(author, "my"), fresh.prefix)


@contract("list-mydrafts-without-published", operations=["listDrafts"], requests=4, last=True)
def test_mydrafts_does_not_hold_a_published_record_without_a_draft(
    author: Actor, arrange: Arrangement, samples: Samples, claim: Claims
) -> None:
    """The collection mydrafts holds drafts, and no record that is published only."""
    published = str(samples.setting("published_identifier")[0])
    lists.claim_not_listed_without_a_draft(
        claim("list-mydrafts-without-published"), known_drafts(arrange, author), published
    )


@contract("list-saved-twice", requests=10)
def test_a_draft_saved_several_times_is_listed_once(
    author: Actor, arrange: Arrangement, samples: Samples, claim: Claims
) -> None:
    """Later saves update the draft in the list; they add none."""
    draft = arrange.draft(author)
    done(drafts.save(author, samples, draft.uid, samples.draft(draft.uid, firstName="Rachel")))
    done(drafts.save(author, samples, draft.uid, samples.draft(draft.uid, firstName="Rachel Louise")))
    known = known_drafts(arrange, author)
    for query in lists.queries_for(known, draft.uid):
        lists.claim_listed_once(claim("list-saved-twice", "listDrafts"), known, query, draft.uid)


@contract("list-needs-token", "list-failure-status", requests=3)
def test_listing_drafts_needs_a_token(anonymous: Actor, claim: Claims, observe: Observer) -> None:
    """Without a token no list is given, with or without a collection."""
    pages = [drafts_of(anonymous, collection).page() for collection in (None, "my", "mydrafts")]
    claim_each_refused(claim("list-needs-token"), [page.exchange for page in pages])
    observe("list-failure-status", "listDrafts", {"without a token": pages[0].exchange.answer.status})


@contract("list-collection-unknown", "list-failure-status", requests=1)
def test_an_unknown_collection_is_refused(
    author: Actor, fresh: Namespace, claim: Claims, observe: Observer
) -> None:
    """A collection other than my and mydrafts is refused."""
    page = drafts_of(author, f"no-such-{fresh.prefix}").page()
    claim("list-collection-unknown").refused(page.exchange)
    observe("list-failure-status", "listDrafts", {"unknown collection": page.exchange.answer.status})
