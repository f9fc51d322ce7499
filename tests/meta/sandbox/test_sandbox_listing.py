"""Lists of the sandbox: collections, filters, orders and pages that neither repeat nor lose."""

from typing import Any

import pytest

DRAFTS = "/api/v2013/document-drafts"


@pytest.fixture
def family(caller: Any, uid: str) -> list[str]:
    """Save seven drafts of one prefix, the odd ones by the other author, and return their uids."""
    uids = [f"{uid}_{number}" for number in range(7)]
    for number, name in enumerate(uids):
        client = caller("other" if number % 2 else "author")
        schema = "absPermit" if number < 3 else "contact"
        answer = client.put(
            f"/api/v2013/documents/{name}/versions/draft?schema={schema}", json={"text": "x" * number}
        )
        assert answer.status_code == 201
    return uids


def listed(client: Any, **options: Any) -> list[str]:
    answer = client.get(DRAFTS, params={name.replace("_", "$", 1): value for name, value in options.items()})
    assert answer.status_code == 200, answer.text
    return [item["identifier"] for item in answer.json()]


def own(uid: str) -> str:
    return f"startswith(identifier,'{uid}')"


def test_a_list_holds_no_published_versions(caller: Any) -> None:
    names = listed(caller(), _filter="startswith(identifier,'sandbox-')")
    assert "sandbox-existing-abs-dev" not in names
    assert {"sandbox-published-abs-dev", "sandbox-foreign-abs-dev", "sandbox-locked-abs-dev"} <= set(names)


def test_pages_neither_repeat_nor_lose_even_when_the_order_leaves_items_equal(
    caller: Any, family: list[str], uid: str
) -> None:
    found = []
    for skip in (0, 2, 4, 6):
        found += listed(caller(), _filter=own(uid), _orderby="schema desc", _top=2, _skip=skip)
    assert found == family[3:] + family[:3]


@pytest.mark.parametrize(
    ("order", "wanted"),
    [
        ("identifier", [0, 1, 2, 3, 4, 5, 6]),
        ("identifier desc", [6, 5, 4, 3, 2, 1, 0]),
        ("owner asc, size desc", [6, 4, 2, 0, 5, 3, 1]),
        (" schema , createdOn desc", [2, 1, 0, 6, 5, 4, 3]),
    ],
)
def test_orderby_orders(caller: Any, family: list[str], uid: str, order: str, wanted: list[int]) -> None:
    assert listed(caller(), _filter=own(uid), _orderby=order) == [family[number] for number in wanted]


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("schema eq 'absPermit'", [0, 1, 2]),
        ("schema ne 'absPermit' and owner eq 'author'", [4, 6]),
        ("not (owner eq 'author') or size ge 15", [1, 3, 4, 5, 6]),
        ("size gt 12 and size lt 15", [1, 2]),
        ("schema in ('absPermit','absMeasure')", [0, 1, 2]),
        ("endswith(identifier,'_3')", [3]),
        ("contains(identifier,'_4') or contains(tolower(owner),'OTHER')", [4]),
        ("contains(toupper(owner),'OTHER')", [1, 3, 5]),
        ("createdOn gt 2020-01-01T00:00:00Z", [0, 1, 2, 3, 4, 5, 6]),
        ("createdOn lt 2020-01-01T00:00:00.5+02:00", []),
        ("owner eq null", []),
        ("concat(owner,'x') eq 'otherx'", [1, 3, 5]),
        ("indexof(owner,'thor') eq 2", [0, 2, 4, 6]),
        ("length(owner) eq 5", [1, 3, 5]),
        ("owner eq 'O''Neil'", []),
    ],
)
def test_filter_filters(caller: Any, family: list[str], uid: str, condition: str, wanted: list[int]) -> None:
    found = listed(caller(), _filter=f"{own(uid)} and ({condition})")
    assert sorted(found) == sorted(family[number] for number in wanted)


@pytest.mark.parametrize("quote", ["", "'"])
def test_a_moment_is_found_as_it_is_shown(caller: Any, uid: str, quote: str) -> None:
    path = f"/api/v2013/documents/{uid}/versions/draft?schema=contact"
    created = caller().put(path, json={}).json()["createdOn"]
    assert uid in listed(caller(), _filter=f"createdOn eq {quote}{created}{quote}")
    assert uid not in listed(caller(), _filter=f"createdOn lt {quote}{created}{quote}")


def test_an_underscore_in_a_filter_is_no_wildcard(caller: Any, uid: str) -> None:
    for name in (f"{uid}_a", f"{uid}Xa"):
        caller().put(f"/api/v2013/documents/{name}/versions/draft?schema=contact", json={})
    assert listed(caller(), _filter=f"contains(identifier,'{uid}_')") == [f"{uid}_a"]


@pytest.mark.parametrize(
    "query",
    [
        {"$filter": ""},
        {"$filter": "identifier"},
        {"$filter": "identifier eq"},
        {"$filter": "nothing eq 1"},
        {"$filter": "sequence eq 1"},
        {"$filter": "content eq 'x'"},
        {"$filter": "identifier eq 'open"},
        {"$filter": "not identifier"},
        {"$filter": "owner/name eq 'x'"},
        {"$filter": "any(x:x eq 1)"},
        {"$filter": "unheard(identifier)"},
        {"$filter": "contains(identifier)"},
        {"$filter": "size eq 99999999999999999999"},
        {"$filter": "matchespattern(identifier,'(a+)+$')"},
        {"$filter": "not " * 1500 + "true"},
        {"$filter": "size eq 1 and " * 500 + "size eq 1"},
        {"$filter": "(" * 4000},
        {"$filter": "x" * 9000},
        {"$filter": "createdOn eq 'yesterday'"},
        {"$filter": "💥"},
        {"$orderby": ""},
        {"$orderby": "identifier sideways"},
        {"$orderby": "nothing"},
        {"$orderby": "identifier,"},
        {"$orderby": "identifier; drop table versions"},
        {"$top": "-1"},
        {"$top": "1.5"},
        {"$top": "one"},
        {"$top": ""},
        {"$top": "٣"},
        {"$skip": "-1"},
        {"$skip": "9" * 21},
        {"$top": ["1", "2"]},
    ],
)
def test_faulty_list_parameters_are_refused(caller: Any, query: dict[str, Any]) -> None:
    answer = caller().get(DRAFTS, params=query)
    assert answer.status_code == 400
    assert answer.json()["message"]


def test_a_very_large_page_is_no_fault(caller: Any, family: list[str], uid: str) -> None:
    assert listed(caller(), _filter=own(uid), _top="9" * 20) == family
    assert listed(caller(), _filter=own(uid), _skip="9" * 20) == []


def test_names_without_dollar_do_nothing_for_drafts(caller: Any, family: list[str], uid: str) -> None:
    assert listed(caller(), _filter=own(uid), top="1", filter="faulty (") == family
