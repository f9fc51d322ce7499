"""Drafts, attachments, submissions and lists over many calls, compared with a small model of what is promised."""

from pathlib import Path

import pytest

from contracts.cases import (
    Actor,
    Arrangement,
    Attempt,
    Claims,
    Deal,
    Namespace,
    Profile,
    Samples,
    contract,
    state_exploration,
    state_model,
)
from contracts.plugin.worker import Worker

DRAFTS = (
    "draft-save-creates",
    "draft-save-updates",
    "draft-save-replaces",
    "draft-save-after-delete",
    "draft-save-spares-others",
    "draft-get-content",
    "draft-get-absent",
    "draft-exists-present",
    "draft-exists-absent",
    "draft-info-present",
    "draft-info-current",
    "draft-info-absent",
    "draft-delete-removes",
    "draft-delete-content-gone",
    "draft-delete-spares-others",
)
LISTS = (
    "list-mydrafts-has-mine",
    "list-mydrafts-without-others",
    "list-my-has-mine",
    "list-my-without-others",
    "list-deleted-gone",
)
ATTACHMENTS = (
    "attachment-create-listed",
    "attachment-download-same",
    "attachment-several",
    "attachment-list-own-only",
    "attachment-outlives-save",
)
SUBMISSIONS = ("workflow-order-validation-before-save", "workflow-refused-update-keeps-draft")
#: Operations of drafts alone: the case has no meaning in a realm without drafts.
OPERATIONS = ("saveDraft", "getDraft", "draftExists", "getDraftInfo", "deleteDraft", "listDrafts")


@pytest.fixture
def context(
    request: pytest.FixtureRequest,
    worker: Worker,
    realm: str,
    author: Actor,
    claim: Claims,
    arrange: Arrangement,
    samples: Samples,
    fresh: Namespace,
    attempt: Attempt,
) -> state_model.Context:
    """Who plays: the author, and the other account where the settings name one."""
    alone = worker.target.missing("account.other", realm)
    other = None if alone else request.getfixturevalue("other")
    return state_model.Context(author, other, claim, arrange, samples, fresh, attempt)


@contract(
    *DRAFTS,
    *LISTS,
    *ATTACHMENTS,
    *SUBMISSIONS,
    operations=OPERATIONS,
    needs=(),
    requests=95,
    dealt=60,
    nightly=3300,
)
def test_promises_hold_over_many_calls(
    context: state_model.Context, worker: Worker, deal: Deal, realm: str
) -> None:
    """Whatever was called before, by this account or the other, what is saved stays and what is deleted is gone."""
    thorough = worker.selection.profile.includes(Profile.NIGHTLY)
    scratch = None if thorough else Path(worker.plan.private)
    saved = state_exploration.Saved(worker.selection.reports, worker.target.name, realm, scratch)
    state_exploration.explore(
        context,
        state_exploration.budget_of(context.attempt.number, deal.realms, thorough=thorough),
        worker.selection.seed,
        saved,
    )
