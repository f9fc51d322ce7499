"""A folder for each that begins, however many begin in one second."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from contracts.errors import UsageError
from contracts.evidence.run_folder import new_folder

MOMENT = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_those_that_begin_in_one_second_have_a_folder_each(tmp_path: Path) -> None:
    reports = tmp_path / "deep" / "reports"
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: new_folder(reports, "traffic", at=MOMENT), range(20)))
    assert len(set(made)) == 20
    names = {path.name for path in made}
    assert names == {"20300102-030405-traffic", *(f"20300102-030405-traffic-{n}" for n in range(2, 21))}


def test_too_many_at_once_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contracts.evidence.run_folder._MOST", 2)
    for _ in range(2):
        new_folder(tmp_path, "traffic", at=MOMENT)
    with pytest.raises(UsageError, match="too many were begun in this second"):
        new_folder(tmp_path, "traffic", at=MOMENT)


@pytest.mark.parametrize("below", ["", "deeper"])
def test_reports_that_are_a_file_are_told_with_what_could_not_be_done(tmp_path: Path, below: str) -> None:
    reports = tmp_path / "file"
    reports.write_text("", encoding="utf-8")
    with pytest.raises(
        UsageError, match=r"^cannot keep a ledger in '.*': .*; choose another with --reports$"
    ):
        new_folder(reports / below, "dev", "keep a ledger in", at=MOMENT)


def test_a_link_that_leads_nowhere_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "reports").symlink_to(tmp_path / "gone")
    with pytest.raises(UsageError, match="choose another with --reports"):
        new_folder(tmp_path / "reports", "dev", at=MOMENT)
