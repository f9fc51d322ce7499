"""Bodies that are no JSON really are none, and hold what a kind reader would find in them."""

import json

import pytest

from contracts.generation import hostile
from contracts.generation.ordinary import picture

VALUE = {"email": "somebody@example.test", "header": {"identifier": "rc-ab12"}}


def test_no_malformed_body_can_be_read() -> None:
    for body in hostile.malformed(VALUE).values():
        with pytest.raises(ValueError, match=r"."):
            json.loads(body)


def test_a_malformed_body_holds_all_of_the_value() -> None:
    assert all(b"somebody@example.test" in body for body in hostile.malformed(VALUE).values())


def test_bodies_at_the_edges_are_small_enough_to_be_sent_anywhere() -> None:
    assert max(len(body) for body in hostile.at_the_edges(VALUE).values()) < 512 * 1024


def test_a_picture_is_a_png() -> None:
    assert picture().startswith(b"\x89PNG\r\n\x1a\n")
