"""Other people's records are never changed, alone and with two workers, on a faithful service and on a broken one."""

from pathlib import Path

import pytest

from contracts.proving.manners import LOOKALIKES, Change, canary, changes


@pytest.mark.usefixtures("forked_runs")
@pytest.mark.parametrize(
    ("words", "defect"),
    [
        (("--profile", "smoke"), None),
        (("-k", "uid_lengths", "-n", "2"), "uid-accepts-ten"),
    ],
    ids=["smoke", "broken"],
)
def test_a_run_changes_nobody_elses_records(
    tmp_path: Path, words: tuple[str, ...], defect: str | None
) -> None:
    sandbox = ("--defect", defect) if defect else ()
    seen = canary(tmp_path / "canary", (*words, "--realm=abs-dev"), sandbox)
    assert seen.changed == ()
    assert seen.planted == 9 * len(LOOKALIKES)
    assert seen.permanent <= 12
    assert seen.code == (1 if defect else 0)


def test_the_canary_would_notice() -> None:
    before: dict[tuple[str, ...], str] = {
        ("versions", "abs-dev", "theirs", "draft"): "1",
        ("versions", "abs-dev", "named", "draft"): "1",
    }
    assert changes(before, before, frozenset()) == []
    found = changes(before, {("versions", "abs-dev", "theirs", "draft"): "2"}, frozenset({"named"}))
    assert found == [Change(("versions", "abs-dev", "theirs", "draft"), "changed")]
    assert [change.how for change in changes(before, {}, frozenset({"named"}))] == ["gone"]
