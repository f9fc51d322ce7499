"""Many calls of one and of two accounts, some at the same time, compared with the reference model."""

import pytest

from registry_contracts.cases import (
    Actor,
    Expect,
    Properties,
    World,
    attachments,
    contract,
    done,
    draft_lives,
    drafts,
    drawn_contents,
    identifiers,
    overlapping,
)

#: Operations on drafts only: the case has no meaning in a realm without drafts.
OPERATIONS = ("saveDraft", "getDraft", "draftExists", "getDraftInfo", "deleteDraft", "listDrafts")


@pytest.fixture
def players(world: World, another: Actor | None, expect: Expect) -> draft_lives.Players:
    """The author, and the other account if the settings name one."""
    players = draft_lives.Players(world, another, expect)
    players.worked.add(f"deleteDraft by {world.author.role}")  # the case relies on it
    return players


@contract(*draft_lives.CLAUSES, operations=OPERATIONS, needs=(), requests=75, nightly=700, turns=True)
@contract(relies_on=["draft-delete-removes"])
def test_promises_hold_over_many_calls(players: draft_lives.Players, properties: Properties) -> None:
    """After any calls of both accounts, saved drafts exist and deleted ones are gone."""
    draft_lives.claim_promises_hold(players, properties)


@pytest.mark.parametrize("kind", identifiers.ALIKE)
@contract(*identifiers.ALIKE_CLAUSES, operations=(*OPERATIONS[:3], "deleteDraft"), turns=True, requests=22)
@contract(relies_on=drafts.ORDINARY)
def test_alike_identifiers_name_drafts_of_their_own(world: World, expect: Expect, kind: str) -> None:
    """Identifiers that differ only in their signs, or only far from the start, name separate drafts."""
    identifiers.claim_told_apart(world, expect, kind)


@contract("draft-info-current", requests=5)
def test_info_follows_a_later_save(world: World, expect: Expect) -> None:
    """After a later save, info no longer shows the values that the service itself reported as changed."""
    draft_lives.claim_info_follows(expect("draft-info-current"), world)


@contract("attachment-outlives-save", requests=6)
@contract(relies_on=["attachment-create-listed", "attachment-download-same"])
def test_an_attachment_outlives_a_later_save(world: World, expect: Expect) -> None:
    """An attachment of a draft still exists and is listed after the draft was saved again."""
    attachment = attachments.draft_with_file(world)
    done(world.save(attachment.uid, world.samples.draft(attachment.uid, middleName="Later")))
    attachments.claim_same_bytes(expect("attachment-outlives-save", "getAttachment"), world, attachment)
    attachments.claim_listed(expect("attachment-outlives-save", "listAttachments"), world, attachment)


@contract(*overlapping.CLAUSES, operations=OPERATIONS[:5], needs=(), requests=50, turns=True)
@contract(relies_on=["draft-get-content", "draft-delete-removes"])
def test_overlapping_calls_on_drafts_keep_their_promises(
    players: draft_lives.Players, expect: Expect, properties: Properties
) -> None:
    """Two accounts save, read and delete drafts at the same time, and each affects only its own."""
    world, other = players.world, players.other
    overlap = overlapping.OverlappingDrafts([world.author, other or world.author], world, expect)
    overlap.claim_promises_hold()
    overlap.claim_contents_kept(drawn_contents.largest(properties))


@contract("attachment-download-same")
@contract(operations=["createAttachment", "getAttachment"], requests=6, turns=True)
def test_overlapping_uploads_keep_their_bytes(world: World, expect: Expect) -> None:
    """Two files that are sent at the same time each come back as sent."""
    overlapping.claim_files_kept_apart(world, expect)
