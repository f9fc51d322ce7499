"""Cases planted in a small checkout: each ends in one way a case can end. Chosen by name with `-k`."""

import os
from pathlib import Path
from typing import Any

import pytest
import requests

from contracts.cases.arrangement import Arrangement, eventually
from contracts.cases.marks import contract, smoke
from contracts.cases.sample_records import Samples
from contracts.checks.claims import Claims, Observer
from contracts.checks.outcomes import Attempt
from contracts.exchanges.readers import Ambiguous
from contracts.plugin.worker import Worker
from contracts.session.actor import Actor
from contracts.session.namespace import Namespace

#: Seconds that a case may be at work until a test stops its run, or puts the file `enough` into its folder.
LONG = 60.0


@smoke()
@contract("draft-get-content")
def test_content(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """Get returns the full draft content."""
    draft = arrange.draft(author)
    claim("draft-get-content").shows(author.send("getDraft", path={"uid": draft.uid}), draft.document)


@smoke()
@contract("draft-save-creates", "draft-save-answer")
def test_save(author: Actor, samples: Samples, fresh: Namespace, claim: Claims, observe: Observer) -> None:
    """Save creates a draft."""
    uid = fresh.uid()
    query = {"schema": samples.draft_schema}
    saved = author.send("saveDraft", path={"uid": uid}, query=query, json=samples.draft(uid))
    claim("draft-save-creates").accepted(saved)
    observe("draft-save-answer", "saveDraft", saved.answer.json)


@contract("realm-missing-draft", operations=["saveDraft"])
def test_elsewhere(author: Actor, samples: Samples, fresh: Namespace, observe: Observer) -> None:
    """Drafts are saved without a realm, with an empty one and with one that does not exist."""
    query = {"schema": samples.contact_schema}
    for realm in (None, "", "no-such-realm"):
        uid = fresh.uid()
        parts: Any = {"path": {"uid": uid}, "query": query, "json": samples.draft(uid)}
        saved = author.send("saveDraft", **parts, headers={"Realm": realm})
        observe("realm-missing-draft", "saveDraft", saved.answer.status)


@smoke()
@contract("draft-get-absent")
def test_should(author: Actor, fresh: Namespace, claim: Claims) -> None:
    """A draft that is not there is refused."""
    claim("draft-get-absent").refused(author.send("getDraft", path={"uid": fresh.uid()}))


@contract("draft-get-absent")
def test_foreign_token(author: Actor, fresh: Namespace, claim: Claims) -> None:
    """A token of the case's own making goes out too."""
    sent = author.send("getDraft", path={"uid": fresh.uid()}, token=f"of-my-own-{fresh.uid()}")
    claim("draft-get-absent").refused(sent)


@contract("token-issued", "token-lifetime")
def test_signing_in(author_of_any: Actor, claim: Claims, observe: Observer) -> None:
    """The operation without a realm runs once."""
    body = {"email": "author@sandbox.test", "password": "sandbox-author"}
    answer = author_of_any.send("createToken", json=body)
    claim("token-issued").accepted(answer)
    observe("token-lifetime", "createToken", answer.answer.json)


@pytest.fixture
def author_of_any(worker: Worker, attempt: Attempt) -> Actor:
    """The author, where the operation knows no realm."""
    return worker.actor("author", "any", "test_planted.py::test_signing_in", attempt)


@contract("draft-save-creates")
def test_missing_account(nau: Actor, restricted: Actor, claim: Claims) -> None:
    """Accounts that the settings do not name leave a case untested."""
    claim("draft-save-creates").holds(nau.role != restricted.role, expected="two roles", seen="one")


@contract("draft-save-creates")
def test_undeclared(author: Actor, claim: Claims) -> None:
    """A claim on a clause that the case does not declare."""
    claim("draft-get-content").holds(author is not None, expected="", seen="")


@contract("draft-save-answer")
def test_silent(author: Actor, claim: Claims) -> None:
    """A claim on a silent clause."""
    claim("draft-save-answer").holds(author is not None, expected="", seen="")


@contract("draft-get-content")
def test_nothing(author: Actor) -> None:
    """A case that claims nothing and sends nothing."""
    assert author


@contract("draft-get-content", "draft-exists-absent")
def test_only_sends(author: Actor, fresh: Namespace) -> None:
    """A case that only sends: the universal checks look at the answer, its clauses stay untested."""
    author.send("draftExists", path={"uid": fresh.uid()})


@contract("draft-get-content")
def test_ambiguous(author: Actor) -> None:
    """An answer that can be read in two ways."""
    raise Ambiguous(f"the {author.role} got two candidates")


@contract("draft-get-content")
def test_foreign(author: Actor, samples: Samples, claim: Claims) -> None:
    """A write outside the namespace."""
    query = {"schema": samples.contact_schema}
    sent = author.send("saveDraft", path={"uid": "somebody-elses-0001"}, query=query, json={})
    claim("draft-get-content").holds(bool(sent), expected="", seen="")


@contract("draft-get-content")
def test_crash(author: Actor) -> None:
    """A mistake in a case, with a secret in the traceback and on stdout."""
    token = author.token()
    print(f"the token is {token}")  # noqa: T201
    raise RuntimeError(f"no idea what to do with {token}")


@contract("draft-get-content")
@pytest.mark.parametrize("turn", range(12))
def test_many(author: Actor, arrange: Arrangement, claim: Claims, turn: int) -> None:
    """Enough to be interrupted in."""
    draft = arrange.draft(author)
    claim("draft-get-content").shows(author.send("getDraft", path={"uid": draft.uid}), draft.document)
    assert turn >= 0


@contract("draft-exists-present")
def test_waiting(author: Actor, arrange: Arrangement) -> None:
    """A case that is still at work when the run is stopped."""
    draft = arrange.draft(author)
    eventually(lambda: (Path(os.environ["TMPDIR"]) / "enough").exists() or draft.uid == "", LONG)


@contract("contact-create-accepted")
@pytest.mark.parametrize("turn", range(3))
def test_contacts(author: Actor, samples: Samples, fresh: Namespace, claim: Claims, turn: int) -> None:
    """Creates a record that no operation removes."""
    record = samples.contact(fresh.uid())
    sent = author.send("createContact", query={"schema": samples.contact_schema}, json=record)
    claim("contact-create-accepted").accepted(sent)
    assert turn >= 0


@contract("draft-get-content")
def test_past_the_transport(author: Actor) -> None:
    """A connection that a case opens itself."""
    requests.get(author._session.target.base_url, timeout=5)
