"""Protected operations accept valid tokens, and nothing else."""

from functools import partial

import pytest

from registry_contracts.cases import (
    Actor,
    Credentials,
    Expect,
    Observer,
    World,
    contract,
    done,
    drafts,
    requests,
    sign_in,
    smoke,
    status,
)


@smoke("other")
@pytest.mark.parametrize("role", ["author", pytest.param("other", marks=contract(turns=True))])
@contract("token-opens-protected", operations=("listDrafts",), requests=3)
def test_a_fresh_token_opens_protected_operations(
    request: pytest.FixtureRequest, world: World, credentials: Credentials, expect: Expect, role: str
) -> None:
    """A token just issued, sent after the word Bearer, lists drafts, or saves one where the list is refused."""
    actor: Actor = request.getfixturevalue(role)
    token, uid = sign_in.token_of(actor, credentials.of(role)), world.uid()
    save = partial(world.save, uid, world.samples.draft(uid), by=actor, token=token)
    sign_in.claim_opens(expect("token-opens-protected"), [partial(actor.list_drafts, token=token), save])


@contract("token-serves-every-realm", operations=("listDrafts",), requests=3)
def test_one_token_serves_every_realm(
    world: World, credentials: Credentials, realm: str, expect: Expect
) -> None:
    """A token that was first used in another realm works in this one too."""
    world.shared_draft()  # an empty list may be "not found"
    clause, elsewhere = expect("token-serves-every-realm"), requests.ELSEWHERE[realm]
    sign_in.claim_opens_here(clause, world.author.list_drafts, elsewhere)
    token = sign_in.token_of(world.author, credentials.of("author"))
    world.author.list_drafts(token=token, realm=elsewhere)
    clause.accepted(world.author.list_drafts(token=token))


@contract("token-invalid-refused", "token-other-scheme", "token-bearer-spelling")
@contract(operations=("listDrafts",), requests=9, turns=True)
def test_the_scheme_before_the_token_matters(world: World, expect: Expect, observe: Observer) -> None:
    """An altered token, and a valid one with the scheme Basic, are refused; other spellings of Bearer are observed."""
    done(world.author.list_drafts())
    token = world.author.token() or ""
    garbage = world.author.list_drafts(headers={"Authorization": "Basic eDp5"})
    altered = [world.author.list_drafts(token=other) for other in sign_in.altered_tokens(token)]
    drafts.claim_each_refused(expect("token-invalid-refused", "listDrafts"), [garbage, *altered])
    basic = world.author.list_drafts(headers={"Authorization": f"Basic {token}"})
    expect("token-other-scheme").refused(basic)
    spelt = {"small letters": f"bearer {token}", "no scheme": token, "another scheme": f"Token {token}"}
    seen = {
        name: status(world.author.list_drafts(headers={"Authorization": value}))
        for name, value in spelt.items()
    }
    observe("token-bearer-spelling", "listDrafts", seen)


@contract("token-lasts-until-expiration", operations=("listDrafts",), requests=3, last=True)
def test_tokens_in_use_last_until_they_expire(world: World, expect: Expect) -> None:
    """No token of this run was refused before its expiration while a fresh one was accepted for the same request.

    Each refused token is reported once, so a replay needs another one.
    """
    latest = [world.author.list_drafts() for _ in range(3)]
    ended = world.author.another_token_that_ended_early()
    expected = "tokens accepted until their expiration"
    expect("token-lasts-until-expiration").holds(not ended, *latest, expected=expected, seen=ended)
