"""Drafts, submissions and lists over many calls, compared with a small model of what is promised."""

import pytest

from contracts.cases import (
    Attempt,
    Deal,
    Expect,
    Properties,
    World,
    attachments,
    contract,
    done,
    draft_lives,
    identifiers,
)
from contracts.plugin.worker import Worker

#: Operations of drafts alone: the case has no meaning in a realm without drafts.
OPERATIONS = ("saveDraft", "getDraft", "draftExists", "getDraftInfo", "deleteDraft", "listDrafts")


@pytest.fixture
def players(
    request: pytest.FixtureRequest, worker: Worker, world: World, expect: Expect, attempt: Attempt
) -> draft_lives.Players:
    """Who plays: the author, and the other account where the settings name one."""
    alone = worker.target.missing("account.other", world.realm)
    other = None if alone else request.getfixturevalue("other")
    return draft_lives.Players(world, other, expect, attempt)


@contract(*draft_lives.CLAUSES, operations=OPERATIONS, needs=(), requests=115, nightly=3050, turns=True)
def test_promises_hold_over_many_calls(players: draft_lives.Players, properties: Properties) -> None:
    """Whatever was called before, by this account or the other, what is saved stays and what is deleted is gone."""
    draft_lives.claim_promises_hold(players, properties)


@contract(*identifiers.ALIKE_CLAUSES, operations=OPERATIONS[:3] + OPERATIONS[4:5], requests=0, dealt=66)
def test_alike_identifiers_name_drafts_of_their_own(world: World, expect: Expect, deal: Deal) -> None:
    """Identifiers that differ in letter case, signs, their end or far behind each name a draft of their own."""
    for kind in deal(identifiers.ALIKE):
        identifiers.claim_told_apart(world, expect, kind)


@contract("draft-info-current", requests=5)
def test_info_follows_a_later_save(world: World, expect: Expect) -> None:
    """Info does not show as it was what the service itself has reported as changed."""
    draft_lives.claim_info_follows(expect("draft-info-current"), world)


@contract("attachment-outlives-save", requests=6)
def test_an_attachment_outlives_a_later_save(world: World, expect: Expect) -> None:
    """An attachment of a draft is there, and listed, after the draft was saved again."""
    attachment = attachments.draft_with_file(world)
    done(world.save(attachment.uid, world.samples.draft(attachment.uid, middleName="Later")))
    attachments.claim_same_bytes(expect("attachment-outlives-save", "getAttachment"), world, attachment)
    attachments.claim_listed(expect("attachment-outlives-save", "listAttachments"), world, attachment)
