"""What cases note at silent points does not change with load, other people's data, or a second more or less."""

from types import SimpleNamespace
from typing import Any

import pytest

from contracts.cases import comparison
from contracts.exchanges.exchange import Exchange
from tests.meta import messages


def signed_in(token: str) -> Exchange:
    content = f'{{"authenticationToken": "{token}"}}'.encode()
    answer = messages.response(200, content, {"content-type": "application/json"})
    return messages.exchange(answer, operation="createToken", method="POST")


@pytest.mark.parametrize(
    ("seconds", "usual"), [(3600, 3600), (3597.4, 3600), (3611, 3600), (86399, 86400), (1795, 1800), (2, 60)]
)
def test_a_lifetime_is_the_nearest_usual_one(seconds: float, usual: int) -> None:
    assert comparison.lifetime(seconds, signed_in("a" * 20), signed_in("b" * 20)) == {"seconds": usual}


def test_a_token_that_is_given_again_may_be_of_any_age() -> None:
    assert comparison.lifetime(1234, signed_in("a" * 20), signed_in("a" * 20)) == {"seconds": None}


ORDERS = {"as saved": "dbface", "latest first": "ecafbd", "by uid": "abcdef"}


@pytest.mark.parametrize(
    ("seen", "name"),
    [
        ("dbface", "as saved"),
        ("dbfce", "as saved"),
        ("ecafbd", "latest first"),
        ("abc", "by uid"),
        ("fcd", "other"),
        ("db", None),
        ("ace", None),
        ("", None),
    ],
)
def test_an_order_shows_though_items_are_missing_but_not_by_too_few(seen: str, name: str | None) -> None:
    assert comparison.order_name(list(seen), ORDERS) == name


@pytest.mark.parametrize(("length", "name"), [("10", None), (None, None), ("6 or more", "as saved")])
def test_a_page_that_other_items_fill_shows_no_order(length: str | None, name: str | None) -> None:
    assert comparison.order_among_others(length, list("dbface"), ORDERS) == name


def listed(length: int, following: int) -> tuple[Any, Any]:
    """A page of so many items, and a lister that gives so many more behind it."""
    page = SimpleNamespace(size=length, records=[{"n": n} for n in range(length)])
    rest = SimpleNamespace(size=following, records=[{"n": -n} for n in range(1, following + 1)])
    return SimpleNamespace(page=lambda **_: rest), page


@pytest.mark.parametrize(
    ("length", "following", "message"),
    [
        (10, 3, "10"),
        (10, 0, "6 or more"),
        (250, 0, "6 or more"),
        (6, 0, "6 or more"),
        (4, 0, None),
        (-1, -1, None),
    ],
)
def test_a_page_is_told_by_its_limit_and_not_by_what_is_there(
    length: int, following: int, message: str | None
) -> None:
    lister, page = listed(length, following)
    assert comparison.page_length(lister, page, 6) == message


def test_a_list_that_gives_the_same_page_again_has_not_shown_its_limit() -> None:
    _, page = listed(10, 0)
    lister: Any = SimpleNamespace(page=lambda **_: page)
    assert comparison.page_length(lister, page, 6) == "6 or more"
