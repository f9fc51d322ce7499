"""The service's clock, as the Date of its answers tells it."""

from datetime import UTC, datetime

import pytest

from contracts.exchanges.exchange import Headers, Response
from contracts.session.tokens import seconds_ahead, token_of

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("date", "ahead"),
    [
        ("Sun, 22 Nov 2026 12:00:30 GMT", 30.0),
        ("Sun, 22 Nov 2026 11:59:00 GMT", -60.0),
        ("yesterday", None),
        ("Sat, 01 Jan 99999999999 00:00:00 GMT", None),
        ("Fri, 31 Dec 9999 23:59:59 -2359", None),
    ],
)
def test_the_clock_of_the_service_is_read_or_cannot_be_told(date: str, ahead: float | None) -> None:
    assert seconds_ahead(Response(200, headers=Headers({"Date": date})), NOW) == ahead


def test_an_answer_without_a_date_gives_a_token_all_the_same() -> None:
    assert seconds_ahead(Response(200), NOW) is None
    assert token_of(Response(200)).ahead == 0.0
