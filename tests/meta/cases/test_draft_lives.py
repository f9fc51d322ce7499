"""Lives of drafts: sequences are shortened, and remembered shortest first."""

import json
from pathlib import Path

import pytest

from contracts.cases.draft_lives import TOUR, KeptCalls, calls_of, shortened
from contracts.cases.properties import example_database


def test_what_cannot_be_seen_again_is_not_shortened() -> None:
    assert shortened(TOUR, lambda _: False) == TOUR
    calls = calls_of("save A, read A, save B, delete A, read B, save A, read A")
    assert shortened(calls, lambda some: ("delete", "A") in some) == calls_of("delete A, read A")


@pytest.mark.parametrize("entry", [b"", b"\xff", b"{}", b'[["fly", "A"]]', b'[["read", "Z"]]', b"[1]"])
def test_sequences_come_back_shortest_first_and_others_are_passed_over(tmp_path: Path, entry: bytes) -> None:
    database = example_database(tmp_path, "here", None)
    kept, long, short = KeptCalls(database), calls_of("save A, delete A, read A"), calls_of("save A, read A")
    kept.add(long)
    kept.add(short)
    database.save(b"lives of drafts", entry)
    assert kept.load() == [short, long]
    kept.remove(short)
    assert kept.load() == [long]
    assert json.loads(next(one for one in database.fetch(b"lives of drafts") if one.startswith(b"[[")))
