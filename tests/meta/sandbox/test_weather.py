"""Network faults as a plain client meets them."""

from collections.abc import Callable
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


def test_the_same_seed_is_the_same_weather(client_in: ClientIn) -> None:
    def course(seed: int) -> list[int]:
        client = client_in("sporadic-503:share=0.5", seed=seed)
        return [client.list().status_code for _ in range(20)]

    assert course(1) == course(1)
    assert course(1) != course(2)
