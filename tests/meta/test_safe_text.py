"""A text that is too long ends in a mark, and is never longer than said."""

import math

import pytest

from contracts.safe_text import cut, json_text


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [("", 3, ""), ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("abcd", 4, "abcd"), ("abcd", 1, "…")],
)
def test_a_text_is_cut_to_its_length(text: str, most: int, shown: str) -> None:
    assert cut(text, most) == shown


def test_what_json_has_no_word_for_is_written_as_a_text() -> None:
    assert json_text({"a": [math.inf, -math.inf, 1.5]}) == '{"a": ["inf", "-inf", 1.5]}'
