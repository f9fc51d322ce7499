"""Pages of another origin use the proxy where it allows them."""

import json
from pathlib import Path

import pytest
import requests

from registry_contracts.errors import UsageError
from registry_contracts.interface.cross_origin import AllowedOrigins
from tests.meta.program import PATIENCE, running_proxy
from tests.meta.sandbox_client import sandbox


@pytest.mark.parametrize(
    "value", ["http://localhost:5173", "http://[::1]:3000", "https://a.test:80", "null", "*"]
)
def test_an_origin_is_taken_as_browsers_send_it(value: str) -> None:
    assert AllowedOrigins.of([value]).names == {value}


@pytest.mark.parametrize(
    "value", ["app.test", "http://app.test/", "http://*.test\r\nX: y", "http://app.test:80"]
)
def test_what_is_no_origin_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match=r"is not an origin|never matches"):
        AllowedOrigins.of([value])


def test_a_page_of_another_origin_works_through_the_proxy(tmp_path: Path) -> None:
    """The target hears of no preflight and of no origin; neither is judged."""
    words = ("--cors=http://app.test", "--base-url")
    with sandbox() as url, running_proxy(tmp_path, *words, url) as through:
        address = f"{through.url}/api/v2013/document-drafts"
        for origin, statuses, told in (
            ("http://app.test", (204, 401), "http://app.test"),
            ("http://other.test", (403, 403), None),
        ):
            asked = {"Origin": origin, "Access-Control-Request-Method": "PUT"}
            preflight = requests.options(address, headers=asked, timeout=PATIENCE)
            refused = requests.get(
                address, headers={"Origin": origin, "Authorization": "x"}, timeout=PATIENCE
            )
            assert (preflight.status_code, refused.status_code) == statuses
            assert {each.headers.get("Access-Control-Allow-Origin") for each in (preflight, refused)} == {
                told
            }
    (archive,) = tmp_path.rglob("traffic.har")
    sent = [entry["request"] for entry in json.loads(archive.read_text("utf-8"))["log"]["entries"]]
    assert [request["method"] for request in sent] == ["GET"]
    named = {header["name"].lower() for request in sent for header in request["headers"]}
    assert "authorization" in named
    assert not any(name == "origin" or name.startswith("access-control") for name in named)
