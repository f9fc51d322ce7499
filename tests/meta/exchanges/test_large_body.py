"""A large body reads as any other, takes up no memory while nobody asks for it, and survives a change of process."""

import json
import pickle
import tempfile
import tracemalloc
from pathlib import Path

import pytest

from contracts.exchanges.exchange import Body
from contracts.exchanges.large_body import LARGE, LargeBody, body_of

SAMPLES = {
    "JSON": json.dumps({"a": "ä" * LARGE}).encode(),
    "no JSON": b"{" * LARGE,
    "no text": b"\xff" * LARGE,
}


@pytest.mark.parametrize("content", SAMPLES.values(), ids=SAMPLES)
def test_a_large_body_reads_as_any_other(content: bytes) -> None:
    large, usual = body_of(content), Body.of(content)
    assert isinstance(large, LargeBody)
    for again in (large, pickle.loads(pickle.dumps(large))):  # noqa: S301 - our own
        for name in ("content", "size", "whole", "digest", "decoded", "text", "json", "flaw"):
            assert getattr(again, name) == getattr(usual, name), name


def test_many_large_bodies_take_up_the_room_of_a_few() -> None:
    tracemalloc.start()
    try:
        bodies = [body_of(bytes([number]) * LARGE) for number in range(40)]
        assert [body.content[:1] for body in bodies] == [bytes([number]) for number in range(40)]
        assert tracemalloc.get_traced_memory()[1] < 6 * LARGE
    finally:
        tracemalloc.stop()


def test_a_small_body_and_one_that_no_file_takes_stay_in_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert type(body_of(b"x" * (LARGE - 1))) is Body
    monkeypatch.setattr("contracts.exchanges.large_body._files", [])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    assert body_of(b"x" * LARGE) == Body.of(b"x" * LARGE)
