"""Odd, deep and long input is answered in time, and never by a server error.

Every exchange of every case is checked for server errors and echoed secrets.
"""

from collections.abc import Callable
from functools import partial

import pytest

from registry_contracts.cases import (
    Expect,
    Observer,
    OrdinaryRequests,
    World,
    claim_answered_in_time,
    contract,
    hostile_input,
    requests,
    smoke,
)

BODIES = ("createToken", *requests.family("contact"), "saveDraft", *requests.family("workflow"))
#: Operations that get odd identifiers; writes are left out.
ADDRESSED = tuple({*requests.family("draft"), *requests.family("attachment")} - {"saveDraft", "deleteDraft"})
LISTS = ("listDrafts", "listAttachments")
UNIVERSAL = ("answers-in-time", "no-server-error", "no-secret-echoed")


@smoke("saveDraft-some")
@pytest.mark.parametrize(
    "turn_of",
    [
        pytest.param(hostile_input.turn_of, id="some", marks=contract(turns=True, requests=2.2)),
        pytest.param(lambda *_: None, id="all", marks=contract(profile="nightly", requests=22)),
    ],
)
@contract(*UNIVERSAL, operations=(*BODIES, *sorted(ADDRESSED)))
def test_odd_input_is_answered(
    world: World,
    ordinary: OrdinaryRequests,
    realm: str,
    expect: Expect,
    operation: str,
    turn_of: Callable[[str, str], int | None],
) -> None:
    """Edge cases of JSON, odd and long texts, some or all, break no operation, in drafts, reads and faulty records."""
    request = ordinary.faulty(operation)
    odd = hostile_input.odd_requests(request, turn_of(operation, realm))
    asked = (each.send(world.author) for each in odd)
    claim_answered_in_time(expect("answers-in-time", operation), asked, partial(request.send, world.author))


@contract("content-type-missing", operations=BODIES, requests=1)
def test_a_body_without_a_content_type_is_observed(
    world: World, ordinary: OrdinaryRequests, observe: Observer, operation: str
) -> None:
    """The document does not say how a JSON body without a Content-Type is answered."""
    sent = requests.send(ordinary.faulty(operation), world.author, {"Content-Type": None})
    observe("content-type-missing", operation, sent.answer.status)


@contract("accept-missing", "accept-other", "version-other", operations=LISTS, requests=3)
def test_odd_requests_for_a_list_are_observed(
    world: World, ordinary: OrdinaryRequests, observe: Observer, operation: str
) -> None:
    """The document does not say what a missing or another Accept, or the other version's prefix, does."""
    request = ordinary.request(operation)
    for clause, accept in (("accept-missing", None), ("accept-other", "image/png")):
        sent = requests.send(request, world.author, {"Accept": accept})
        observe(clause, operation, sent.answer.status)
    other = request.send(world.author, address=lambda address: address.replace("/v2013/", "/v2023/"))
    observe("version-other", operation, other.answer.status)
