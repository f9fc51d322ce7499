"""Cases planted in a small checkout: each ends in one way a case can end. Chosen by name with `-k`."""

import os
from pathlib import Path

import pytest
import requests

from registry_contracts.cases.effects import until
from registry_contracts.cases.marks import contract, smoke
from registry_contracts.cases.world import World
from registry_contracts.checks.claims import Expect, Observer
from registry_contracts.checks.outcomes import Attempt
from registry_contracts.exchanges.readers import Ambiguous
from registry_contracts.plugin.worker import Worker
from registry_contracts.session.actor import Actor

#: Seconds that a case may be at work until a test stops its run, or puts the file `enough` into its folder.
LONG = 60.0


@smoke()
@contract("draft-get-content")
def test_content(world: World, expect: Expect) -> None:
    """Get returns the full draft content."""
    draft = world.draft()
    expect("draft-get-content").shows(world.author.get_draft(draft.uid), draft.document)


@smoke()
@contract("draft-save-creates", "draft-save-answer")
def test_save(world: World, expect: Expect, observe: Observer) -> None:
    """Save creates a draft."""
    uid = world.uid()
    query = {"schema": world.samples.draft_schema}
    saved = world.author.send("saveDraft", path={"uid": uid}, query=query, json=world.samples.draft(uid))
    expect("draft-save-creates").accepted(saved)
    observe("draft-save-answer", "saveDraft", saved.answer.json)


@smoke()
@contract("draft-get-absent")
def test_should(world: World, expect: Expect) -> None:
    """A draft that is not there is refused."""
    expect("draft-get-absent").refused(world.author.get_draft(world.uid()))


@contract("draft-get-absent")
def test_foreign_token(world: World, expect: Expect) -> None:
    """A token of the case's own making goes out too."""
    sent = world.author.get_draft(world.uid(), token=f"of-my-own-{world.uid()}")
    expect("draft-get-absent").refused(sent)


@contract("token-issued", "token-lifetime")
def test_signing_in(author_of_any: Actor, expect: Expect, observe: Observer) -> None:
    """The operation without a realm runs once."""
    body = {"email": "author@sandbox.test", "password": "sandbox-author"}
    answer = author_of_any.create_token(json=body)
    expect("token-issued").accepted(answer)
    observe("token-lifetime", "createToken", answer.answer.json)


@pytest.fixture
def author_of_any(worker: Worker, attempt: Attempt) -> Actor:
    """The author, where the operation knows no realm."""
    return worker.actor("author", "any", "test_planted.py::test_signing_in", attempt)


@contract("draft-save-creates")
def test_missing_account(nau: Actor, restricted: Actor, expect: Expect) -> None:
    """Accounts that the settings do not name leave a case untested."""
    expect("draft-save-creates").holds(nau.role != restricted.role, expected="two roles", seen="one")


@contract("draft-save-creates")
def test_undeclared(world: World, expect: Expect) -> None:
    """A claim on a clause that the case does not declare."""
    expect("draft-get-content").holds(world.author is not None, expected="", seen="")


@contract("draft-get-content")
def test_nothing(world: World) -> None:
    """A case that claims nothing and sends nothing."""
    assert world.author


@contract("draft-get-content", "draft-exists-absent")
def test_only_sends(world: World) -> None:
    """A case that only sends: the universal checks look at the answer, and nothing at what the case is about."""
    world.author.draft_exists(world.uid())


@contract("draft-get-content")
def test_ambiguous(world: World) -> None:
    """An answer that can be read in two ways."""
    raise Ambiguous(f"the {world.author.role} got two candidates")


@contract("draft-get-content")
def test_foreign(world: World, expect: Expect) -> None:
    """A write outside the namespace."""
    query = {"schema": world.samples.contact_schema}
    sent = world.author.send("saveDraft", path={"uid": "somebody-elses-0001"}, query=query, json={})
    expect("draft-get-content").holds(bool(sent), expected="", seen="")


@contract("draft-get-content")
def test_crash(world: World) -> None:
    """A mistake in a case, with a secret in the traceback and on stdout."""
    token = world.author.token()
    print(f"the token is {token}")  # noqa: T201
    raise RuntimeError(f"no idea what to do with {token}")


@contract("draft-get-content")
@pytest.mark.parametrize("turn", range(12))
def test_many(world: World, expect: Expect, turn: int) -> None:
    """Enough to be interrupted in."""
    draft = world.draft()
    expect("draft-get-content").shows(world.author.get_draft(draft.uid), draft.document)
    assert turn >= 0


@contract("draft-exists-present")
def test_waiting(world: World) -> None:
    """A case that is still at work when the run is stopped."""
    draft = world.draft()
    until(lambda: (Path(os.environ["TMPDIR"]) / "enough").exists() or draft.uid == "", bool, LONG)


@contract("draft-get-content")
def test_past_the_transport(world: World) -> None:
    """A connection that a case opens itself."""
    requests.get(world.author.session.target.base_url, timeout=5)
