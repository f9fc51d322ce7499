"""A text that is too long ends in a mark, and is never longer than said."""

import pytest

from contracts.safe_text import cut


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [("", 3, ""), ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("abcd", 4, "abcd"), ("abcd", 1, "…")],
)
def test_a_text_is_cut_to_its_length(text: str, most: int, shown: str) -> None:
    assert cut(text, most) == shown
