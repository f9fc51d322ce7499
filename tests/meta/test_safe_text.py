"""JSON that any reader takes, and output that outlasts its reader."""

import math
import os

from registry_contracts.safe_text import SafeOutput, json_text


def test_what_json_has_no_word_for_is_written_as_a_text() -> None:
    assert json_text({"a": [math.inf, -math.inf, 1.5]}) == '{"a": ["inf", "-inf", 1.5]}'


def test_what_a_reader_who_has_seen_enough_does_not_take_goes_nowhere() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as stream:
        output = SafeOutput(stream)
        assert [output.write("one line\n"), output.write("another\n")] == [9, 8]
        output.detach()
