"""Lives of drafts: a sequence that contradicts is shortened."""

from contracts.cases.draft_lives import TOUR, calls_of, shortened


def test_what_cannot_be_seen_again_is_not_shortened() -> None:
    assert shortened(TOUR, lambda _: False) == TOUR
    calls = calls_of("save A, read A, save B, delete A, read B, save A, read A")
    assert shortened(calls, lambda some: ("delete", "A") in some) == calls_of("delete A, read A")
