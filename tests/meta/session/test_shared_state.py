"""What workers share is made once, by whoever comes first, and outlives none of its makers' mistakes."""

import threading
from pathlib import Path
from typing import Any, Literal

import pytest

from contracts.checks.outcomes import Blocked
from contracts.session.ledger import Ledger
from contracts.session.private_folder import SharedState


def test_what_one_worker_made_another_finds(tmp_path: Path) -> None:
    first, second = SharedState(tmp_path), SharedState(tmp_path)
    made = first.once("draft", lambda: {"uid": "rc-test-0123456789"})
    assert second.once("draft", lambda: pytest.fail("made twice")) == made
    assert first.once("draft", lambda: pytest.fail("made twice")) is made


def test_workers_that_ask_at_once_make_it_once(tmp_path: Path) -> None:
    made: list[int] = []
    barrier = threading.Barrier(4)

    def ask() -> None:
        sharing = SharedState(tmp_path)
        barrier.wait()
        sharing.once("draft", lambda: made.append(1))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]


def test_a_failure_is_not_shared(tmp_path: Path) -> None:
    def fail() -> str:
        raise Blocked("saveDraft", "answered 500")

    with pytest.raises(Blocked):
        SharedState(tmp_path).once("draft", fail)
    assert SharedState(tmp_path).once("draft", lambda: "made") == "made"


def test_an_obstacle_may_be_what_is_shared(tmp_path: Path) -> None:
    SharedState(tmp_path).once("picture", lambda: Blocked("createAttachment", "answered 413"))
    found: Any = SharedState(tmp_path).once("picture", lambda: pytest.fail("made twice"))
    assert (found.operation, found.cause) == ("createAttachment", "answered 413")


def test_one_thing_may_need_another(tmp_path: Path) -> None:
    sharing = SharedState(tmp_path)
    assert sharing.once("attachment", lambda: sharing.once("draft", lambda: "uid") + "/1") == "uid/1"


def test_counters_go_on_from_worker_to_worker(tmp_path: Path) -> None:
    first, second = SharedState(tmp_path), SharedState(tmp_path)
    assert [first.take("files"), second.take("files"), first.take("files")] == [0, 1, 2]
    assert second.take("records") == 0


def test_marks_and_offers_are_seen_by_all(tmp_path: Path) -> None:
    first, second = SharedState(tmp_path), SharedState(tmp_path)
    assert not second.marked("disturbed")
    assert second.offered("record") is None
    first.mark("disturbed")
    first.offer("record", "one")
    first.offer("record", "two")
    assert second.marked("disturbed")
    assert second.offered("record") == "one"


def test_nobody_else_can_look_at_what_is_shared(tmp_path: Path) -> None:
    SharedState(tmp_path)
    assert (tmp_path / "shared").stat().st_mode & 0o077 == 0


def test_drafts_that_workers_left_are_taken_over(tmp_path: Path) -> None:
    worker = Ledger(tmp_path / "ledger-gw0.jsonl")
    states: tuple[Literal["created", "refused", "unknown"] | None, ...] = (
        "created",
        "refused",
        "unknown",
        None,
    )
    for number, state in enumerate(states):
        entry = worker.intend("saveDraft", "abs-dev", "author", f"rc-test-000000000{number}")
        assert entry is not None
        if state is not None:
            worker.settle(entry, state)
    worker.intend("createContact", "abs-dev", "author", "rc-test-contact")
    worker.removed("abs-dev", "rc-test-0000000000")
    gone = worker.intend("saveDraft", "abs-dev", "author", "rc-test-0000000009")
    assert gone is not None
    worker.close()
    main = Ledger(tmp_path / "ledger-main.jsonl")
    main.take_over(tmp_path.glob("ledger-gw*.jsonl"))
    left = {entry.identifier: entry.state for entry in main.removable()}
    main.close()
    assert left == {
        "rc-test-0000000002": "unknown",
        "rc-test-0000000003": "intended",
        "rc-test-0000000009": "intended",
    }
