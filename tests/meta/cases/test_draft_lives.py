"""Lives of drafts: a sequence that contradicts is shortened."""

from contracts.cases.draft_lives import ALIKE, CLAUSES, CLAUSES_OF_ALIKE, TOUR, calls_of, shortened


def test_what_cannot_be_seen_again_is_not_shortened() -> None:
    assert shortened(TOUR, lambda _: False) == TOUR
    calls = calls_of("save A, read A, save B, delete A, read B, save A, read A")
    assert shortened(calls, lambda some: ("delete", "A") in some) == calls_of("delete A, read A")


def test_every_clause_of_a_drawn_identifier_is_declared() -> None:
    assert (
        {clause for kind in ALIKE.values() for _, clause in kind if clause}
        <= set(CLAUSES_OF_ALIKE)
        <= set(CLAUSES)
    )
