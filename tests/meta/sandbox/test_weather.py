"""Each weather as a plain client meets it; its names and figures on the command line."""

import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from contracts.errors import UsageError
from contracts.sandbox.app import create_app
from contracts.sandbox.habits import Settings
from contracts.sandbox.serve import main
from contracts.sandbox.weather import ALL, chosen_weather
from tests.meta.program import eventually
from tests.meta.samples import draft_path

DRAFTS = "/api/v2013/document-drafts"
REFUSAL = "401 json"


@pytest.mark.parametrize(
    ("weather", "seen"),
    [
        ("gateway-html:share=0.5", {REFUSAL, "502 html", "504 html"}),
        ("lost-route:share=1", {"404 html"}),
        ("resets:share=1:after=0", {"reset"}),
        ("resets:share=1:after=1", {"reset"}),
        ("outage-from-start:as=gateway", {"503 html"}),
        ("outage-from-start:as=silent", {"silence"}),
        ("outage-midway:from_request=3", {REFUSAL, "reset", "refused"}),
        ("latency:seconds=0.01, lost-route:share=1", {"404 html"}),
    ],
)
def test_a_client_sees_what_the_weather_makes_of_its_requests(
    client_in: Callable[..., Any], weather: str, seen: set[str]
) -> None:
    assert set(client_in(weather).seen(20, timeout=0.3 if "silent" in weather else 30)) == seen


@pytest.mark.parametrize("weather", ["latency:seconds=0.2", "jitter:seconds=0:share=1:longest=0.2"])
def test_answers_come_late(client_in: Callable[..., Any], weather: str) -> None:
    client, before = client_in(weather), time.monotonic()
    assert client.seen(2) == {REFUSAL: 2}
    assert time.monotonic() - before >= 0.4


def test_a_sporadic_503_says_when_to_come_again_and_nothing_was_done(client_in: Callable[..., Any]) -> None:
    client = client_in("sporadic-503:share=0.4:retry_after=7")
    seen = client.seen(40)
    assert set(seen) == {REFUSAL, "503 html", "503 json"}
    turned_away = next(answer for answer in iter(client.list, None) if answer.status_code == 503)
    assert turned_away.headers["retry-after"] == "7"


def test_the_rate_limit_lets_a_burst_through_and_then_tells_to_wait(client_in: Callable[..., Any]) -> None:
    client = client_in("rate-limit:per_second=0.001:burst=3")
    assert client.seen(5) == {REFUSAL: 3, "429 json": 2}
    assert client.list().headers["retry-after"] == "1"


def test_maintenance_is_a_page_with_200_for_a_while(client_in: Callable[..., Any]) -> None:
    client = client_in("maintenance:from_request=3:seconds=3")
    assert client.seen(4) == {REFUSAL: 2, "200 html": 2}
    assert eventually(lambda: client.list().status_code == 401)


@pytest.mark.parametrize(("after", "there"), [(0, 404), (1, 200)])
def test_a_write_whose_connection_was_reset_may_have_happened(
    client_in: Callable[..., Any], after: int, there: int
) -> None:
    # The third request is the first to be reset: by chance of this seed, as long as it is the same chance.
    client = client_in(f"resets:share=0.5:after={after}", seed=_seed_of("no", "yes", "no"))
    client.sign_in_again()
    assert client.came_of(lambda: client.save("test-resets-0001")) == "reset"
    assert client.get(draft_path("test-resets-0001")).status_code == there


def _seed_of(*wanted: str) -> int:
    """Return a seed of resets that strikes as wanted; a strike draws once more, for before or after."""

    def strikes(seed: int) -> list[str]:
        chance = random.Random(f"{seed} resets")  # noqa: S311
        course = []
        for _ in wanted:
            struck = chance.random() < 0.5
            course.append("yes" if struck else "no")
            if struck:
                chance.random()
        return course

    return next(seed for seed in range(1, 1000) if strikes(seed) == list(wanted))


def test_truncated_bodies_break_off(client_in: Callable[..., Any]) -> None:
    client = client_in("truncated:share=1")
    assert client.seen(2) == {"broken off": 2}
    assert client.came_of(lambda: client.request("HEAD", DRAFTS)) == REFUSAL


def test_an_outage_of_some_seconds_ends_on_the_same_port(client_in: Callable[..., Any]) -> None:
    client = client_in("outage-ten-seconds:from_request=2:seconds=3")
    assert client.seen(3) == {REFUSAL: 1, "reset": 1, "refused": 1}
    assert eventually(lambda: client.came_of(client.list) == REFUSAL)


def test_a_restart_forgets_tokens_and_keeps_data(client_in: Callable[..., Any]) -> None:
    client = client_in("restart:every=4:seconds=3")
    client.sign_in_again()
    assert client.save("test-restart-0001").ok
    assert client.list().status_code == 200
    assert client.seen(2) == {"reset": 1, "refused": 1}
    assert eventually(lambda: client.came_of(client.list) == REFUSAL)
    client.sign_in_again()
    assert client.get(draft_path("test-restart-0001")).ok


def test_short_tokens_die_as_they_say(client_in: Callable[..., Any]) -> None:
    client = client_in("short-tokens:seconds=2")
    client.sign_in_again()
    assert eventually(lambda: client.list().status_code == 401)


def test_one_operation_hangs_and_no_other(client_in: Callable[..., Any]) -> None:
    client = client_in("hanging-operation:operation=listDrafts")
    assert client.seen(1, timeout=0.3) == {"silence": 1}
    assert client.get(draft_path("nobody-00001")).status_code == 401
    assert client.get("/docs").ok


def test_weathers_come_together(client_in: Callable[..., Any]) -> None:
    client, before = client_in("latency:seconds=0.2, lost-route:share=1"), time.monotonic()
    assert client.seen(2) == {"404 html": 2}
    assert time.monotonic() - before >= 0.4


def test_the_same_seed_is_the_same_weather(client_in: Callable[..., Any]) -> None:
    def course(seed: int) -> list[int]:
        client = client_in("sporadic-503:share=0.5", seed=seed)
        return [client.list().status_code for _ in range(20)]

    assert course(1) == course(1)
    assert course(1) != course(2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("resett", "did you mean 'resets'"),
        ("fog", "known: latency, jitter"),
        ("resets:shares=1", "has no figure 'shares'; it has: share, after"),
        ("resets:share=much", "must be a number of 0 or more, not 'much'"),
        ("resets:share=-1", "must be a number of 0 or more"),
        ("outage-midway:as=loud", "an outage is known as refused, gateway, silent, not 'loud'"),
        ("resets:share", "must be a number of 0 or more, not ''"),
    ],
)
def test_what_cannot_be_used_is_a_usage_error(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        chosen_weather(["latency", text]).lay_over(create_app(Settings()), 1)


def test_the_list_shows_every_weather_and_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--weather", "list"]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name}\n" in shown for name in ALL)
    assert "share=0.02:after=0.5" in shown
