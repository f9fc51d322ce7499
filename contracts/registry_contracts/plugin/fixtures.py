"""Fixtures of the cases: actors, claims, arrangements and settings, each for one attempt at one case."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from registry_contracts.cases.census import Census
from registry_contracts.cases.contact_requests import ContactRequests
from registry_contracts.cases.contents import Limit, upload_limit
from registry_contracts.cases.described_inputs import described_operation
from registry_contracts.cases.drafts import Elsewhere, prove
from registry_contracts.cases.fault_probe import MOST_IN_BRIEF, Probe, sending
from registry_contracts.cases.hostile_input import Deal
from registry_contracts.cases.preconditions import rely_on
from registry_contracts.cases.properties import Properties, example_database
from registry_contracts.cases.requests import OTHERS, OrdinaryRequests
from registry_contracts.cases.rows import Rows
from registry_contracts.cases.sample_records import DRAFTS_OF_WORKFLOW, Samples
from registry_contracts.cases.sign_in import Credentials
from registry_contracts.cases.taken_rows import AcceptedRows, TakenRows
from registry_contracts.cases.workflow_records import WorkflowRecords
from registry_contracts.cases.world import World
from registry_contracts.checks.claims import Expect, Observer
from registry_contracts.checks.outcomes import Attempt, Untested
from registry_contracts.interface.description import load_description
from registry_contracts.interface.profiles import Profile
from registry_contracts.plugin.case import case_of
from registry_contracts.plugin.protocol import TRY, Try
from registry_contracts.plugin.worker import WORKER, Worker
from registry_contracts.session.actor import Actor
from registry_contracts.settings.target import ACCOUNT_ROLES, ANONYMOUS, DOCUMENT_REALMS, RealmSettings


@pytest.fixture
def worker(request: pytest.FixtureRequest) -> Worker:
    """This process's share of the run."""
    return request.config.stash[WORKER]


@pytest.fixture
def attempt(request: pytest.FixtureRequest) -> Attempt:
    """The attempt under way."""
    tried: Try = request.node.stash[TRY]
    return tried.attempt


@pytest.fixture
def expect(request: pytest.FixtureRequest, worker: Worker, attempt: Attempt) -> Expect:
    """Makes claims: `expect("clause-id").refused(exchange)`."""
    return Expect(attempt, worker.catalogue, case_of(request.node).clauses)


@pytest.fixture
def observe(request: pytest.FixtureRequest, worker: Worker, attempt: Attempt) -> Observer:
    """Records observations where the document is silent: `observe("clause-id", "operation", seen)`."""
    return Observer(attempt, worker.catalogue, case_of(request.node).clauses)


@pytest.fixture
def settings(worker: Worker, realm: str) -> RealmSettings:
    """The target's settings for the realm; drafts use the workflow's schema if the preflight check saw that work."""
    settings = worker.target.realm_settings(realm)
    if settings.draft_document is None and worker.shared.offered(DRAFTS_OF_WORKFLOW):
        return replace(
            settings, draft_schema=settings.workflow_schema, draft_document=settings.workflow_document
        )
    return settings


@pytest.fixture
def samples(worker: Worker, author: Actor, settings: RealmSettings, realm: str) -> Samples:
    """Valid records of the realm, from its settings; drafts even without settings."""
    return Samples(settings, realm, partial(prove, worker, author))


@pytest.fixture
def world(
    request: pytest.FixtureRequest, worker: Worker, author: Actor, samples: Samples, attempt: Attempt
) -> World:
    """The author, records to send, fresh identifiers and arrangements; checks first what the case relies on."""
    world = World(worker, author, samples, anew=attempt.replay)
    rely_on(world, case_of(request.node).facts.relies_on)
    return world


@pytest.fixture
def contacts(world: World, operation: str) -> ContactRequests:
    """The author's contact records, sent with the case's operation."""
    return ContactRequests(operation, world)


@pytest.fixture
def records(world: World, attempt: Attempt) -> WorkflowRecords:
    """Records that workflow cases need in the realm: existing, expendable and locked ones."""
    return WorkflowRecords(world, attempt)


def _trials(name: str, kind: type[Rows | TakenRows], *more: str) -> Any:
    @pytest.fixture(name=name)
    def trials(request: pytest.FixtureRequest, worker: Worker, world: World, attempt: Attempt) -> Any:
        """Sends rows of the factor table and claims what the interface promises for them."""
        actor, clauses = request.getfixturevalue, case_of(request.node).clauses
        return kind(world, actor, attempt, worker.catalogue, clauses, *map(request.getfixturevalue, more))

    return trials


rows = _trials("rows", Rows, "records")
taken_rows = _trials("taken_rows", TakenRows)
accepted_rows = _trials("accepted_rows", AcceptedRows, "records")


@pytest.fixture
def census(
    request: pytest.FixtureRequest, worker: Worker, world: World, records: WorkflowRecords, attempt: Attempt
) -> Census:
    """Looks at what the run has kept, and finds the row that changed it."""
    actors, catalogue = request.getfixturevalue, worker.catalogue
    common = (world, actors, attempt, catalogue, tuple(each.id for each in catalogue))
    refused, taken, accepted = Rows(*common, records), TakenRows(*common), AcceptedRows(*common, records)
    return Census(world, actors, attempt, catalogue, refused, taken, accepted)


@pytest.fixture
def ordinary(worker: Worker, world: World) -> OrdinaryRequests:
    """Valid requests for the realm's operations, on records that the author can use."""
    return OrdinaryRequests(world, worker.target.accounts[world.author.role])


@pytest.fixture
def limit(worker: Worker) -> Limit:
    """Sizes around the target's limit for created attachments."""
    limit = worker.target.attachments.size_limit_bytes
    return upload_limit(limit, everything=worker.selection.profile is Profile.FULL)


@pytest.fixture
def credentials(worker: Worker) -> Credentials:
    """Bodies of the request for a token, with e-mails and passwords of the target's accounts."""
    return Credentials(worker.target)


@pytest.fixture
def description(operation: str, probe: Probe) -> Any:  # noqa: ARG001 - the probe judges the answers
    """The description of one operation, from which Schemathesis generates cases; the same in every realm."""
    return described_operation(operation)


@pytest.fixture
def probe(
    worker: Worker,
    attempt: Attempt,
    ordinary: OrdinaryRequests,
    world: World,
    contacts: ContactRequests,
    realm: str,
) -> Probe:
    """Judges generated cases of the operation: distributed over its realms in a gate, all in each realm at night."""
    operation, profile = contacts.operation, worker.selection.profile
    has = load_description().operations[operation].realms
    realms = [name for name in worker.selection.realms if name in has] or [realm]
    most = MOST_IN_BRIEF if profile is Profile.SMOKE else None
    return Probe(
        operation,
        attempt,
        worker.catalogue,
        sending(operation, ordinary, world),
        contacts.reporting,
        Deal(realms.index(realm) if realm in realms else 0, len(realms), most),
        everything=profile.includes(Profile.NIGHTLY),
    )


@pytest.fixture
def deal(request: pytest.FixtureRequest, worker: Worker, realm: str) -> Deal:
    """Distributes the values of a table over the document realms of the run; in smoke the first few to one realm."""
    smoke = case_of(request.node).smoke
    if worker.selection.profile is Profile.SMOKE and smoke:
        return Deal(0, 1, smoke["values"])
    run = [name for name in worker.selection.realms if name in DOCUMENT_REALMS]
    return Deal(run.index(realm), len(run)) if realm in run else Deal(0, 1)


@pytest.fixture
def elsewhere(worker: Worker, realm: str) -> Elsewhere:
    """Another realm with drafts, preferably one of the run."""
    other = next((name for name in OTHERS[realm] if name in worker.selection.realms), OTHERS[realm][0])
    return Elsewhere(other, other in worker.selection.realms)


@pytest.fixture
def properties(request: pytest.FixtureRequest, worker: Worker, attempt: Attempt, realm: str) -> Properties:
    """Draws examples for a property in this realm: few in smoke, the same in each gate, new ones each night."""
    thorough = worker.selection.profile.includes(Profile.NIGHTLY)
    name = f"{worker.target.name} {realm} {case_of(request.node).id}"
    scratch = None if thorough else Path(worker.plan.private)
    return Properties(
        attempt,
        crc32(f"{worker.selection.seed} {realm} {request.node.name}".encode()),
        example_database(worker.selection.reports, name, scratch),
        thorough=thorough,
        brief=worker.selection.profile is Profile.SMOKE,
    )


def _actor(role: str) -> Any:
    @pytest.fixture(name=role)
    def actor(request: pytest.FixtureRequest, worker: Worker, attempt: Attempt, realm: str) -> Actor:
        """Build the actor of this role in the case's realm."""
        if why := worker.target.missing(f"account.{role}", realm):
            raise Untested(why, f"accounts.{role}")
        return worker.actor(role, realm, case_of(request.node).id, attempt)

    return actor


@pytest.fixture
def another(request: pytest.FixtureRequest, worker: Worker, realm: str) -> Actor | None:
    """The second account; None where the settings name none."""
    return None if worker.target.missing("account.other", realm) else request.getfixturevalue("other")


author, restricted, nau, other, anonymous = map(_actor, (*ACCOUNT_ROLES, ANONYMOUS))
