"""Network faults as a plain client meets them."""

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import pytest

from tests.meta.samples import draft_path

REFUSAL = "401 json"
ClientIn = Callable[..., Any]


@pytest.mark.parametrize(
    ("weather", "requests", "seen"),
    [
        ("gateway-html:share=0.5", 20, {REFUSAL, "502 html", "504 html"}),
        ("resets:share=1:after=0", 5, {"reset"}),
        ("truncated:share=1", 2, {"broken off"}),
        ("sporadic-503:share=0.4", 40, {REFUSAL, "503 html", "503 json"}),
        ("outage-midway:from_request=3", 20, {REFUSAL, "reset", "refused"}),
        ("hanging-operation:operation=listDrafts", 1, {"silence"}),
        ("latency:seconds=0.01, lost-route:share=1", 5, {"404 html"}),
    ],
)
def test_a_client_sees_what_the_weather_makes_of_its_requests(
    client_in: ClientIn, weather: str, requests: int, seen: set[str]
) -> None:
    client = client_in(weather)
    assert set(client.seen(requests, timeout=0.3 if "silence" in seen else 30)) == seen
    if "hanging" in weather:
        assert client.get(draft_path("nobody-00001")).status_code == 401, "no other operation hangs"


@pytest.mark.parametrize(("after", "there"), [(0, 404), (1, 200)])
def test_a_write_that_was_reset_may_have_happened(client_in: ClientIn, after: int, there: int) -> None:
    client = client_in(f"resets:share=0.5:after={after}")
    while client.came_of(client.sign_in) == "reset":
        continue
    names = (f"test-resets-{number:04}" for number in count())
    lost = next(name for name in names if client.came_of(partial(client.save, name)) == "reset")
    while (read := client.came_of(partial(client.get, draft_path(lost)))) == "reset":
        continue
    assert read.partition(" ")[0] == str(there)


def test_the_same_seed_is_the_same_weather(client_in: ClientIn) -> None:
    def course(seed: int) -> list[int]:
        client = client_in("sporadic-503:share=0.5", seed=seed)
        return [client.list().status_code for _ in range(20)]

    assert course(1) == course(1)
    assert course(1) != course(2)
