"""Archives of whoever recorded them: what is read of them, and what is said of one that cannot be read."""

import base64
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import UsageError
from contracts.exchanges.har import read_har
from contracts.exchanges.overlap import overlapping
from contracts.manual.check import Asked, check_archive
from tests.meta.manual.sample_traffic import SITE, entry

Archive = Callable[[Iterable[dict[str, Any]]], Path]
DRAFT = f"{SITE}/api/v2013/documents/a-draft-of-mine/versions/draft"
LIST = f"{SITE}/api/v2013/document-drafts"


def test_a_header_in_small_letters_is_found(archive: Archive) -> None:
    """HTTP/2 writes every header so, and has some of its own that begin with a colon."""
    headers = [
        {"name": ":authority", "value": "registry.test"},
        {"name": "authorization", "value": "Bearer a-token-of-forty-characters-0123456789"},
        {"name": "realm", "value": "bch-dev"},
    ]
    tally, verdict, _ = check_archive(archive([entry("GET", LIST, 200, "[]", headers=headers)]), "x", Asked())
    assert verdict.word == "pass"
    assert tally.realms == {"bch-dev": 1}


def test_what_a_recorder_left_out_is_not_taken_for_empty(archive: Archive) -> None:
    put = entry("PUT", DRAFT, 200, bodySize=-1)
    got = entry("GET", LIST, 200)
    got["response"]["content"] = {"size": 512, "mimeType": "application/json"}
    read = read_har(archive([put, got]), "x")
    assert read.unreadable == 0
    assert not read.exchanges[0].request_body.whole
    assert not read.exchanges[1].answer.body.whole
    _, verdict, _ = check_archive(archive([put, got]), "x", Asked())
    assert verdict.word == "pass"


def test_a_body_in_base64_is_read(archive: Archive) -> None:
    got = entry("GET", f"{LIST}?$top=1", 200)
    text = base64.b64encode(json.dumps([{"a": 1}, {"a": 2}]).encode()).decode()
    got["response"]["content"] |= {"text": text, "encoding": "base64"}
    tally, verdict, _ = check_archive(archive([got]), "x", Asked())
    assert [group.first.clause for group in tally.groups] == ["list-top"]
    assert verdict.service == 1


def test_a_run_of_this_suite_says_where_it_cut_a_body(archive: Archive) -> None:
    put = entry("PUT", DRAFT, 201, sent='{"title": "x')
    put["request"]["postData"]["comment"] = ", cut; 20000 bytes in all"
    read = read_har(archive([put]), "x")
    assert not read.exchanges[0].request_body.whole


def test_only_what_went_to_the_address_is_judged(archive: Archive) -> None:
    other = entry("GET", "http://elsewhere.test/api/v2013/document-drafts", 500)
    tally, verdict, _ = check_archive(
        archive([entry("GET", LIST, 200, "[]"), other]),
        "x",
        Asked(base_url="HTTP://REGISTRY.test:80".lower()),
    )
    assert verdict.word == "pass"
    assert tally.hosts == {"elsewhere.test": 1}


def test_only_the_realm_that_was_asked_for_is_judged(archive: Archive) -> None:
    tally, verdict, _ = check_archive(archive([entry("GET", LIST, 500)]), "x", Asked(realms=("bch-dev",)))
    assert verdict.word == "nothing tested"
    assert tally.other_realms == {"abs-dev": 1}


def test_what_was_under_way_beside_a_write_overlaps_with_it(archive: Archive) -> None:
    """The read begins before the save ends, another one after it."""
    save, beside, after = (
        entry("PUT", DRAFT, 201, at=0),
        entry("HEAD", DRAFT, 404, at=0.005),
        entry("HEAD", DRAFT, 404, at=0.5),
    )
    elsewhere = entry("HEAD", DRAFT.replace("mine", "theirs"), 404, at=0.005)
    untimed = entry("HEAD", DRAFT.replace("mine", "others"), 404, at=1)
    del untimed["startedDateTime"]
    read = overlapping(read_har(archive([save, beside, after, elsewhere, untimed]), "x").exchanges)
    assert [each.overlapped for each in read] == [False, True, False, False, True]


def test_entries_that_are_no_request_are_counted(archive: Archive) -> None:
    odd: list[Any] = [{}, {"request": {"method": "GET", "url": "chrome-extension://x/y"}}, {"request": 7}]
    _, _, occasion = check_archive(archive([*odd, entry("GET", LIST, 200, "[]")]), "x", Asked())
    assert occasion.unreadable == 3


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"log": {"entries": [{"request": {"method": "GE', "was cut short"),
        ("", "is empty"),
        ("[]", "no HAR"),
        ('{"log": {"entries": []}}', "holds no request"),
        ('{"log": {"entries": [7]}}', "no entry of it is a web request"),
        ("GIF89a", "no HAR"),
    ],
)
def test_an_archive_that_cannot_be_read_is_one_clear_line(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "odd.har"
    path.write_text(content, "utf-8")
    with pytest.raises(UsageError, match=says) as told:
        check_archive(path, "odd.har", Asked())
    assert "\n" not in str(told.value)
