"""`init`: writes settings that can be read, learns from recordings, and keeps no secret and no production address."""

import json
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.manual.recorded_settings import learn
from registry_contracts.settings.settings_reader import read_target
from registry_contracts.traffic.archive import read_entry
from tests.meta import samples
from tests.meta.program import RunCommand
from tests.meta.traffic.sample_traffic import CONTACT, SITE, TOKEN, entry

LOCKED = {"message": samples.LOCKED}
DOCUMENT = {
    "header": {"schema": "permit", "identifier": "a-record-of-mine"},
    "contact": {"firstName": "Ada", "address": {"en": "12 Row"}, "emails": ["ada@registry.test"]},
    "title": {"en": "A permit"},
}
Archive = Callable[[Iterable[dict[str, Any]]], Path]


def recorded(method: str, path: str, status: int, answer: Any, sent: Any, realm: str) -> dict[str, Any]:
    headers = {"Realm": realm, "Authorization": f"Bearer {TOKEN}"}
    listed = [{"name": name, "value": value} for name, value in headers.items()]
    return entry(method, SITE + path, status, json.dumps(answer), sent=json.dumps(sent), headers=listed)


def recording(realm: str = "abs-dev") -> list[dict[str, Any]]:
    """A session in which a contact and a submission are taken, and a locked record is met."""
    submissions, submission = "/api/v2023/documents/schemas/permit", {"document": DOCUMENT}
    return [
        recorded("POST", "/api/v2013/documents?schema=contact", 201, {}, CONTACT, realm),
        recorded(
            "POST", "/api/v2013/documents?schema=other", 200, {"errors": [{"code": "c"}]}, CONTACT, realm
        ),
        recorded("POST", submissions, 200, {}, submission, realm),
        recorded("PUT", f"{submissions}/a-locked-record", 400, LOCKED, submission, realm),
        recorded("PUT", f"{submissions}/a-record-of-mine", 200, {}, submission, realm),
    ]


def written(name: str = "dev") -> dict[str, Any]:
    return tomllib.loads(Path("targets", f"{name}.toml").read_text("utf-8"))


def test_a_recording_gives_settings_that_are_read_as_a_target(command: RunCommand, archive: Archive) -> None:
    ended = command("init", "dev", "--from-har", archive(recording()))
    assert ended.code == 0, ended
    settings = written()
    assert (settings["base_url"], settings["realms"]) == (SITE, ["abs-dev"])
    assert settings["realm"]["abs-dev"] == {
        "contact_schema": "contact",
        "country_terms": [CONTACT["country"]["identifier"]],
        "contact_organization": "organization-abs-dev",
        "contact_document": "samples/dev-abs-dev-contact.json",
        "workflow_schema": "permit",
        "workflow_document": "samples/dev-abs-dev-workflow.json",
        "locked_identifier": "a-locked-record",
        "existing_identifier": "a-record-of-mine",
    }
    known = {"REGISTRY_EMAIL": "a@b.test", "REGISTRY_PASSWORD": "p"}
    realm = read_target(Path("targets", "dev.toml"), known, "dev.toml").realm_settings("abs-dev")
    document, contact = realm.workflow_document or {}, realm.contact_document or {}
    assert (document["header"], document["title"]) == ({"schema": "permit"}, DOCUMENT["title"])
    assert (contact["type"], contact["firstName"]) == (CONTACT["type"], "Sample")


@pytest.mark.parametrize(("words", "kept"), [((), False), (("--keep-personal-data",), True)])
def test_personal_data_is_replaced(
    command: RunCommand, archive: Archive, words: tuple[str, ...], kept: bool
) -> None:
    ended = command("init", "dev", "--from-har", archive(recording()), *words)
    texts = [path.read_text("utf-8") for path in Path("targets").rglob("*.*")]
    everything = "".join([ended.out, ended.err, *texts])
    assert TOKEN not in everything
    personal = ("12 Row", "ada@registry.test", CONTACT["emails"][0])
    assert [text in everything for text in personal] == [kept] * 3


def test_git_takes_no_sample_that_was_learned(command: RunCommand, archive: Archive, tmp_path: Path) -> None:
    assert command("init", "dev", "--from-har", archive(recording())).code == 0
    git = shutil.which("git") or pytest.skip("git is not installed")
    for words in (["init", "-q"], ["add", "targets"]):
        subprocess.run([git, *words], cwd=tmp_path, check=True)
    staged = subprocess.run([git, "ls-files"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert staged.stdout.split() == ["targets/dev.toml"]


def test_production_gives_no_address_and_its_realms_nothing(command: RunCommand, archive: Archive) -> None:
    ended = command("init", "dev", "--from-har", archive(recording("abs")))
    assert ended.code == 0, ended
    assert "PRODUCTION" in ended.out
    assert written()["base_url"] == ""
    assert "a-locked-record" not in Path("targets", "dev.toml").read_text("utf-8")


@pytest.mark.parametrize(
    ("value", "scheme", "told"),
    [
        (f"Ticket {TOKEN}", "Ticket", "scheme 'Ticket'"),
        (f"bearer {TOKEN}", None, ""),
        (TOKEN, None, "token alone, without a scheme"),
        ("[REDACTED]", None, ""),
    ],
)
def test_a_client_s_own_names_are_learned_and_no_token(value: str, scheme: str | None, told: str) -> None:
    headers = [{"name": "X-Tenant", "value": "abs-dev"}, {"name": "Authorization", "value": value}]
    url = f"{SITE}/api/v2013/document-drafts?limit=1"
    read = read_entry(1, entry("GET", url, answer="[]", headers=headers))
    assert read is not None
    found = learn([read])
    notes = "; ".join(found.notes)
    assert (found.names.scheme, found.names.query) == (scheme, {})
    assert (found.names.realm_header, [*found.realms]) == ("X-Tenant", ["abs-dev"])
    assert "'limit' (request 1) is not in the document" in notes
    assert told in notes
    assert TOKEN not in notes
