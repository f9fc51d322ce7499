"""The sandbox's published data, as its target describes it, is what the running sandbox holds."""

from collections.abc import Iterator

import pytest

from contracts.settings.embedded_sandbox import DEFAULT_SIZE_LIMIT, EmbeddedSandbox, sandbox_target
from contracts.settings.guard import refuse_production
from contracts.settings.target import (
    ACCOUNT_ROLES,
    ANONYMOUS,
    DEVELOPMENT_REALMS,
    DOCUMENT_REALMS,
    RealmSettings,
    Target,
)
from tests.meta.samples import DOCUMENTS, SCHEMAS, contact, draft_path
from tests.meta.sandbox_client import SandboxClient

OF_DOCUMENTS = {"contact_schema", "contact_organization"}


@pytest.fixture(scope="module")
def running() -> Iterator[Target]:
    """The target of a running sandbox."""
    with EmbeddedSandbox() as sandbox:
        yield sandbox_target(sandbox.base_url, sandbox.size_limit)


@pytest.fixture(scope="module")
def client(running: Target) -> Iterator[SandboxClient]:
    with SandboxClient(running.base_url) as client:
        yield client


@pytest.fixture
def target() -> Target:
    return sandbox_target("http://127.0.0.1:1/", DEFAULT_SIZE_LIMIT)


def test_it_is_a_target_that_may_be_written_to(target: Target) -> None:
    refuse_production(target)
    assert target.is_sandbox
    assert target.base_url == "http://127.0.0.1:1"
    assert target.pace.requests_per_second is None


def test_no_need_of_any_clause_is_missing(target: Target) -> None:
    assert not [role for role in (*ACCOUNT_ROLES, ANONYMOUS) if target.missing(f"account.{role}")]
    assert target.missing("attachments.size_limit_bytes") is None
    for realm in DEVELOPMENT_REALMS:
        # The sandbox takes any type and gender, so that no document tells the allowed ones, and writes realms as usual.
        needs = set(RealmSettings.__dataclass_fields__) - {"contact_document", "sent_as"}
        # It takes contacts as drafts, and files for them.
        needs -= {"draft_schema", "draft_document", "attachment_identifiers"}
        needs -= set() if realm in DOCUMENT_REALMS else OF_DOCUMENTS
        assert not [need for need in needs if target.missing(f"realm.{need}", realm)]


def test_spare_identifiers_are_of_one_kind_and_of_one_realm(target: Target) -> None:
    spare = [name for realm in DEVELOPMENT_REALMS for name in target.realm_settings(realm).spare_identifiers]
    assert len(set(spare)) == len(spare)
    for realm in DEVELOPMENT_REALMS:
        names = target.realm_settings(realm).spare_identifiers
        assert sum(set(name) == {"-"} for name in names) >= 3
        assert sum(set(name) == {"_"} for name in names) >= 3
        assert sum(name.isdigit() for name in names) >= 3


def test_published_passwords_are_masked_like_any_other(target: Target) -> None:
    assert not [role for role in ACCOUNT_ROLES if f"sandbox-{role}" in repr(target.accounts)]


@pytest.mark.parametrize("role", ACCOUNT_ROLES)
def test_every_account_can_sign_in(running: Target, client: SandboxClient, role: str) -> None:
    account = running.accounts[role]
    assert client.sign_in(email=account.email, password=account.password.reveal()).ok


@pytest.fixture
def settings(running: Target, client: SandboxClient, realm: str) -> RealmSettings:
    """The settings of the test's realm, in which the client asks."""
    client.realm = realm
    return running.realm_settings(realm)


def submitted(client: SandboxClient, method: str, settings: RealmSettings, identifier: str | None) -> str:
    """What came of a submission: its status and the answer."""
    path = f"{SCHEMAS}/{settings.workflow_schema}" + (f"/{identifier}" if identifier else "")
    answer = client.request(method, path, json={"document": settings.filled_document(identifier)})
    return f"{answer.status_code} {answer.json().get('errors')} {answer.text}"


@pytest.mark.parametrize("realm", DEVELOPMENT_REALMS)
def test_every_workflow_document_is_accepted(client: SandboxClient, settings: RealmSettings) -> None:
    for identifier in (None, f"sample-{client.realm}-with-identifier"):
        assert submitted(client, "POST", settings, identifier).startswith("201 None")


@pytest.mark.parametrize("realm", DEVELOPMENT_REALMS)
@pytest.mark.parametrize("key", ["existing", "locked", "others", "published"])
def test_every_named_record_exists(client: SandboxClient, settings: RealmSettings, key: str) -> None:
    value = getattr(settings, f"{key}_identifier")
    answer = submitted(client, "POST", settings, value[0] if isinstance(value, tuple) else value)
    assert answer.startswith("400 None")
    assert "A document with the identifier exists" in answer


@pytest.mark.parametrize("realm", DEVELOPMENT_REALMS)
def test_the_locked_record_is_locked_and_the_existing_one_is_not(
    client: SandboxClient, settings: RealmSettings
) -> None:
    locked = submitted(client, "PUT", settings, settings.locked_identifier)
    assert locked.startswith("400 None")
    assert "The record is locked for workflow" in locked
    assert submitted(client, "PUT", settings, settings.existing_identifier[0]).startswith("200 None")


@pytest.mark.parametrize("realm", DOCUMENT_REALMS)
def test_a_contact_made_of_the_settings_is_accepted(client: SandboxClient, settings: RealmSettings) -> None:
    for country in settings.country_terms:
        organization = {"identifier": settings.contact_organization}
        body = contact(country={"identifier": country}, contactOrganization=organization)
        answer = client.post(DOCUMENTS, params={"schema": settings.contact_schema}, json=body)
        assert answer.ok, answer.text


@pytest.mark.parametrize("realm", DOCUMENT_REALMS)
def test_every_spare_identifier_can_be_written_and_deleted(
    client: SandboxClient, settings: RealmSettings
) -> None:
    for identifier in settings.spare_identifiers:
        path, query = draft_path(identifier), {"schema": settings.workflow_schema}
        assert client.put(path, params=query, json=settings.filled_document(identifier)).ok
        assert client.request("DELETE", path).ok


@pytest.mark.parametrize("realm", DOCUMENT_REALMS)
def test_every_temporary_file_is_unused(client: SandboxClient, settings: RealmSettings) -> None:
    uid = client.saved()
    for temporary in settings.temporary_files:
        answer = client.post(f"{DOCUMENTS}/{uid}/attachments/persist-temporary/{temporary}")
        assert answer.ok, answer.text
