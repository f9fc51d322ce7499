"""A refused draft is looked for in the list, each uid by itself."""

from types import SimpleNamespace
from typing import Any

import pytest

from contracts.judging.claims import Claim
from contracts.judging.outcomes import Blocked, Contradiction
from contracts.judging.refusals import not_listed


@pytest.fixture
def actor(answer: Any, exchange: Any) -> Any:
    """Makes somebody whose list of drafts is this: `actor(body, status)`."""

    def make(body: Any, status: int = 200) -> Any:
        return SimpleNamespace(send=lambda *_, **__: exchange(answer(body, status), "listDrafts"))

    return make


def test_uids_that_are_not_in_the_list_hold(must: Claim, actor: Any) -> None:
    not_listed(must, actor([{"identifier": "rc-another"}]), ["rc-one-draft", "rc-two-drafts"])


@pytest.mark.parametrize("uid", ["rc-one-draft", "rc-two-drafts"])
def test_any_of_the_uids_in_the_list_is_a_contradiction(must: Claim, actor: Any, uid: str) -> None:
    with pytest.raises(Contradiction):
        not_listed(must, actor([{"identifier": uid}]), ["rc-one-draft", "rc-two-drafts"])


def test_a_list_that_cannot_be_had_says_nothing(must: Claim, actor: Any) -> None:
    with pytest.raises(Blocked):
        not_listed(must, actor({"message": "not now"}, 403), ["rc-one-draft"])
