"""What runs used up at a target is not given out again."""

from pathlib import Path

from contracts.session.budgets import UsedUp


def test_what_was_used_up_is_known_to_later_runs_at_the_same_target_and_realm(tmp_path: Path) -> None:
    path = tmp_path / "used.jsonl"
    UsedUp(path, "http://one.test").note("abs-dev", "file-1")
    with path.open("a", encoding="utf-8") as file:
        file.write('\n["http://one.test", "abs-')  # as a full disk leaves it
    UsedUp(path, "http://one.test").note("abs-dev", "file-2")
    assert UsedUp(path, "http://one.test").of("abs-dev") == {"file-1", "file-2"}
    assert not UsedUp(path, "http://one.test").of("bch-dev")
    assert not UsedUp(path, "http://two.test").of("abs-dev")
