"""Network faults as a plain client meets them."""

import pytest
import requests

from tests.meta.samples import draft_path
from tests.meta.sandbox_client import SandboxClient, sandbox

REFUSAL = "401 json"


def came_of_a_list(client: SandboxClient, time_limit: float = 30) -> str:
    """Return what came of a request: its status and media type, or how it failed."""
    try:
        response = client.get("/api/v2013/document-drafts", timeout=time_limit)
    except requests.exceptions.Timeout:
        return "silence"
    except requests.exceptions.ChunkedEncodingError:
        return "broken off"
    except requests.exceptions.ConnectionError as error:
        return "refused" if "refused" in str(error) else "reset"
    kind = response.headers.get("content-type", "").partition(";")[0].rpartition("/")[2]
    return f"{response.status_code} {kind}".strip()


@pytest.mark.parametrize(
    ("weather", "times", "seen"),
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
    weather: str, times: int, seen: set[str]
) -> None:
    with sandbox("--weather", weather) as url, SandboxClient(url, role=None) as client:
        time_limit = 0.3 if "silence" in seen else 30
        assert {came_of_a_list(client, time_limit) for _ in range(times)} == seen
        if "hanging" in weather:
            assert client.get(draft_path("nobody-00001")).status_code == 401, "no other operation hangs"


def test_the_same_seed_is_the_same_weather() -> None:
    def course(seed: int) -> list[str]:
        words = ("--weather", "sporadic-503:share=0.5", "--weather-seed", str(seed))
        with sandbox(*words) as url, SandboxClient(url, role=None) as client:
            return [came_of_a_list(client) for _ in range(20)]

    assert course(1) == course(1)
    assert course(1) != course(2)
