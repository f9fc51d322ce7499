"""JSON that any reader takes."""

import math

from registry_contracts.safe_text import json_text


def test_what_json_has_no_word_for_is_written_as_a_text() -> None:
    assert json_text({"a": [math.inf, -math.inf, 1.5]}) == '{"a": ["inf", "-inf", 1.5]}'
