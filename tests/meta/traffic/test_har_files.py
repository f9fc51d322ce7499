"""HAR files of any recorder, and what is read from them."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.traffic.archive import read_har
from registry_contracts.traffic.check import check_archive
from registry_contracts.traffic.overlaps import Span, overlapping
from registry_contracts.traffic.report import TrafficReport, side_of
from tests.meta.traffic.sample_traffic import SITE, entry

Archive = Callable[[Iterable[dict[str, Any]]], Path]
DRAFT = f"{SITE}/api/v2013/documents/a-draft-of-mine/versions/draft"
LIST = f"{SITE}/api/v2013/document-drafts"


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
    read = read_har(archive([save, beside, after, elsewhere, untimed]), "x")
    assert overlapping([Span.of(each) for each in read]) == [False, True, False, False, True]


def anonymous(*parts: Any, **more: Any) -> dict[str, Any]:
    return entry(*parts, **more, headers=[{"name": "realm", "value": "abs-dev"}])


def test_an_archive_that_lost_its_credentials_says_nothing_about_tokens(archive: Archive) -> None:
    """A browser's sanitized export holds no Authorization, although everything succeeded."""
    lost = [anonymous("GET", LIST, 200, "[]"), anonymous("PUT", DRAFT, 201, sent="{}", at=1)]
    report = check_archive(archive(lost), "x", TrafficReport())
    assert (report.verdict[0].word, report.findings) == ("pass", [])
    assert "lost its credentials" in " ".join(report.notes)


#: Recorded on the sandbox by the tools themselves; host and token were replaced.
RECORDED = sorted((Path(__file__).parent / "archives").glob("*.har"))


@pytest.mark.parametrize("path", RECORDED, ids=[path.stem for path in RECORDED])
def test_what_a_tool_recorded_on_the_sandbox_shows_nothing_of_the_service(path: Path) -> None:
    report = check_archive(path, path.name, TrafficReport())
    assert [finding for finding in report.findings if side_of(finding) == "service"] == []
    assert (report.broken, report.counted["unreadable"], report.notes) == ([], 0, ())
    assert report.held.total() > 30
