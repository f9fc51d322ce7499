"""Whether a sandbox keeps the clauses on the list of drafts and on the list of attachments."""

from collections.abc import Callable
from typing import Any

from tests.meta.defects.observing import shows
from tests.meta.defects.samples import attachments_path, draft_path
from tests.meta.defects.wire import Answer
from tests.meta.defects.witness import Witness

DRAFTS = "listDrafts"
Ask = Callable[..., Answer]


def uids(items: list[Any]) -> list[str]:
    return [item["identifier"] for item in items]


def ids(items: list[Any]) -> list[Any]:
    return [item.get("id", item["identifier"]) for item in items]


def _lists(witness: Witness) -> Ask:
    """Return the way to ask for the list that is looked at, filled with a few items."""
    if DRAFTS in witness.operations:
        for _ in range(4):
            witness.saved()

        def ask_drafts(**query: str) -> Answer:
            plain = {(name if name == "collection" else f"${name}"): value for name, value in query.items()}
            return witness.send("GET", "/api/v2013/document-drafts", query=plain)

        return ask_drafts
    uid = witness.saved()
    for number in range(7):
        witness.attached(uid, f"{number * 3 % 7}.txt", b"x" * number)
    return lambda **query: witness.send("GET", attachments_path(uid), query=query, realm=None)


def items(answer: Answer) -> list[Any]:
    assert answer.ok, answer.text
    assert isinstance(answer.json, list), answer.text
    found: list[Any] = answer.json
    return found


@shows("list-answers")
def a_list_answers(witness: Witness) -> None:
    for realm in ("abs-dev", "bch-dev", "chm-dev"):
        items(witness.drafts(realm))


@shows("list-my-answers")
def the_collection_my_answers(witness: Witness) -> None:
    items(witness.drafts(collection="my"))


@shows("list-mydrafts-has-mine")
def mydrafts_holds_what_was_saved(witness: Witness) -> None:
    for realm in witness.realms:
        for _ in range(25):
            uid = witness.saved(realm=realm)
            assert uid in uids(witness.listed(realm, collection="mydrafts"))


@shows("list-my-has-mine")
def my_holds_what_was_saved(witness: Witness) -> None:
    assert witness.saved() in uids(witness.listed(collection="my"))


@shows("list-plain-has-mine")
def a_plain_list_holds_what_was_saved(witness: Witness) -> None:
    assert witness.saved() in uids(witness.listed())


def _without_others(witness: Witness, collection: str) -> None:
    for realm in witness.realms:
        uid = witness.saved(realm=realm, role="other")
        assert uid not in uids(witness.listed(realm, collection=collection))


@shows("list-my-without-others")
def my_does_not_hold_what_others_saved(witness: Witness) -> None:
    _without_others(witness, "my")


@shows("list-mydrafts-without-others")
def mydrafts_does_not_hold_what_others_saved(witness: Witness) -> None:
    _without_others(witness, "mydrafts")


@shows("list-deleted-gone")
def a_deleted_draft_is_not_listed(witness: Witness) -> None:
    uid = witness.saved()
    witness.arranged(witness.send("DELETE", draft_path(uid)))
    for query in ({}, {"collection": "my"}, {"collection": "mydrafts"}):
        assert uid not in uids(witness.listed(**query)), query


@shows("list-saved-twice")
def a_draft_is_listed_once(witness: Witness) -> None:
    uid = witness.saved()
    for number in range(5):
        witness.arranged(witness.save(uid, {"a": number}))
    assert uids(witness.listed()).count(uid) == 1


@shows("list-collection-unknown")
def an_unknown_collection_is_refused(witness: Witness) -> None:
    assert witness.drafts(collection="everything").refused


@shows("list-top", "attachment-list-top")
def top_bounds_the_page(witness: Witness) -> None:
    ask = _lists(witness)
    for top in (1, 2, 3):
        assert len(items(ask(top=str(top)))) <= top


@shows("list-skip", "attachment-list-skip")
def skip_leaves_items_out(witness: Witness) -> None:
    ask = _lists(witness)
    everything = ids(items(ask()))
    for skip in (1, 2, 3):
        assert ids(items(ask(skip=str(skip)))) == everything[skip:]


@shows("list-skip-beyond", "attachment-list-skip-beyond")
def nothing_is_beyond_the_end(witness: Witness) -> None:
    ask = _lists(witness)
    assert items(ask(skip="100000")) == []


@shows("list-top-and-skip")
def skip_and_top_give_a_window(witness: Witness) -> None:
    ask = _lists(witness)
    everything = ids(items(ask()))
    for skip, top in ((1, 2), (2, 2), (3, 1)):
        assert ids(items(ask(skip=str(skip), top=str(top)))) == everything[skip : skip + top]


@shows("list-pages-cover", "attachment-list-pages-cover")
def pages_neither_repeat_nor_lose(witness: Witness) -> None:
    ask = _lists(witness)
    everything = ids(items(ask()))
    taken: list[Any] = []
    for skip in range(0, len(everything), 2):
        taken += ids(items(ask(skip=str(skip), top="2")))
    assert sorted(taken) == sorted(everything)


@shows("list-collection-with-top")
def top_bounds_a_collection(witness: Witness) -> None:
    ask = _lists(witness)
    assert len(items(ask(collection="mydrafts", top="2"))) <= 2


@shows("list-collection-with-skip")
def skip_works_in_a_collection(witness: Witness) -> None:
    ask = _lists(witness)
    everything = ids(items(ask(collection="mydrafts")))
    assert ids(items(ask(collection="mydrafts", skip="1"))) == everything[1:]


@shows("list-top-zero", "attachment-list-top-zero")
def a_top_of_zero_is_empty(witness: Witness) -> None:
    ask = _lists(witness)
    assert items(ask(top="0")) == []


@shows("list-top-ample")
def an_ample_top_loses_nothing(witness: Witness) -> None:
    ask = _lists(witness)
    for query in ({}, {"collection": "mydrafts"}):
        assert ids(items(ask(top="100000", **query))) == ids(items(ask(**query)))


@shows("list-skip-zero")
def a_skip_of_zero_leaves_nothing_out(witness: Witness) -> None:
    ask = _lists(witness)
    assert ids(items(ask(skip="0"))) == ids(items(ask()))


def _field(items_: list[Any]) -> str:
    return "filename" if "filename" in items_[0] else "identifier"


@shows("list-filter", "attachment-list-filter")
def a_filter_gives_the_matches(witness: Witness) -> None:
    ask = _lists(witness)
    everything = items(ask())
    field = _field(everything)
    wanted = everything[-2][field]
    for query in ({}, {"collection": "mydrafts"}) if DRAFTS in witness.operations else ({},):
        for other in ("nobody", "it''s nobody''s", "a&b", "никто"):
            found = ask(filter=f"{field} eq '{wanted}' or {field} eq '{other}'", **query)
            assert [each[field] for each in items(found)] == [wanted]
        assert [each[field] for each in items(ask(filter=f"{field} eq '{wanted}'", **query))] == [wanted]


@shows("list-orderby", "list-orderby-falling", "attachment-list-orderby")
def an_order_is_kept(witness: Witness) -> None:
    ask = _lists(witness)
    if DRAFTS in witness.operations:
        for name in ("zzz", "aaa", "mmm"):
            witness.saved(uid=f"{name}-{witness.uid()}")
    everything = items(ask())
    field = _field(everything)
    values = [each[field] for each in everything]
    assert values not in (sorted(values), sorted(values, reverse=True))
    assert [each[field] for each in items(ask(orderby=field))] == sorted(values)
    assert [each[field] for each in items(ask(orderby=f"{field} desc"))] == sorted(values, reverse=True)


@shows("list-filter-with-top")
def a_filter_comes_before_top(witness: Witness) -> None:
    ask = _lists(witness)
    wanted = ids(items(ask()))[-3:]
    condition = " or ".join(f"identifier eq '{each}'" for each in wanted)
    assert ids(items(ask(filter=condition, top="2"))) == wanted[:2]


@shows("list-orderby-with-page", "attachment-list-orderby-with-page")
def an_order_comes_before_the_page(witness: Witness) -> None:
    ask = _lists(witness)
    everything = items(ask())
    field = _field(everything)
    values = sorted(each[field] for each in everything)
    taken: list[str] = []
    for skip in range(0, len(values), 2):
        taken += [each[field] for each in items(ask(orderby=field, skip=str(skip), top="2"))]
    assert taken == values


def _malformed(*options: tuple[str, str]) -> Callable[[Witness], None]:
    def malformed_options_are_refused(witness: Witness) -> None:
        ask = _lists(witness)
        for name, value in options:
            assert ask(**{name: value}).refused, name

    return malformed_options_are_refused


_FILTER, _ORDER, _NUMBERS = ("filter", "eq eq ("), ("orderby", "((,"), (("top", "many"), ("skip", "few"))
shows("list-filter-malformed")(_malformed(_FILTER))
shows("list-orderby-malformed")(_malformed(_ORDER))
shows("list-number-malformed")(_malformed(*_NUMBERS))
shows("attachment-list-malformed")(_malformed(_FILTER, _ORDER, *_NUMBERS))
