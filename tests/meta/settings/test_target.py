"""The model: what is missing is named, and no way of showing anything shows a password."""

import copy
import dataclasses
import json
import pickle
import pprint

import pytest

from contracts.errors import SuiteError
from contracts.settings.target import Account, AttachmentSettings, RealmSettings, Secret, Target

PASSWORD = "hunter2-correct-horse"


def a_target(**settings: object) -> Target:
    account = Account("author", "author@example.test", Secret(PASSWORD))
    realm = {"abs-dev": RealmSettings(locked_identifier="locked-record", country_terms=())}
    return Target("t", "https://host.example", accounts={"author": account}, realm=realm, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("need", "realm", "said"),
    [
        ("realm.locked_identifier", "abs-dev", None),
        ("realm.locked_identifier", "bch-dev", "setting realm.bch-dev.locked_identifier is missing"),
        ("realm.locked_identifier", "any", None),
        ("realm.workflow_schema", "any", "setting realm.<realm>.workflow_schema is missing"),
        ("realm.country_terms", "abs-dev", "setting realm.abs-dev.country_terms is missing"),
        ("account.author", "any", None),
        ("account.anonymous", "any", None),
        ("account.restricted", "abs-dev", "setting accounts.restricted is missing"),
        ("attachments.size_limit_bytes", "abs-dev", "setting attachments.size_limit_bytes is missing"),
    ],
)
def test_a_need_is_met_or_named(need: str, realm: str, said: str | None) -> None:
    assert a_target().missing(need, realm) == said


def test_a_size_limit_that_is_set_is_not_missing() -> None:
    target = a_target(attachments=AttachmentSettings(size_limit_bytes=10))
    assert target.missing("attachments.size_limit_bytes") is None


@pytest.mark.parametrize(
    "need", ["realm.nothing", "account.boss", "attachments.x", "", "realm", "pace.concurrency"]
)
def test_a_need_that_names_no_setting_is_our_own_fault(need: str) -> None:
    with pytest.raises(SuiteError, match="names no setting"):
        a_target().missing(need)


def test_nothing_shows_a_password() -> None:
    target = a_target()
    secret = target.accounts["author"].password
    shown = [
        repr(target),
        str(target),
        f"{target}",
        f"{secret}",
        f"{secret:>20}",
        f"{secret!r}",
        "%s %r" % (secret, secret),  # noqa: UP031 (this way of showing is a way too)
        pprint.pformat(dataclasses.asdict(target)),
        pprint.pformat(target),
        json.dumps(dataclasses.asdict(target), default=str),
        repr(copy.deepcopy(target)),
        repr(copy.copy(secret)),
        repr(dir(secret)),
    ]
    assert not [text for text in shown if PASSWORD in text]
    assert secret.reveal() == PASSWORD


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_secret_cannot_be_pickled(protocol: int) -> None:
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(a_target(), protocol)


def test_a_secret_has_no_attribute_dictionary_to_print() -> None:
    assert not hasattr(Secret(PASSWORD), "__dict__")


def test_secrets_compare_by_what_they_hold() -> None:
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2


def test_a_target_can_be_a_dictionary_key_although_it_holds_documents() -> None:
    settings = RealmSettings(workflow_document={"header": {}})
    assert {settings: 1}[RealmSettings(workflow_document={"header": {}})] == 1
    assert {a_target(): 1}[a_target()] == 1


def test_a_filled_document_is_a_copy() -> None:
    settings = RealmSettings(workflow_document={"title": {"en": "T"}})
    filled = settings.filled_document("some-identifier")
    assert filled == {"title": {"en": "T"}, "header": {"identifier": "some-identifier"}}
    assert settings.workflow_document == {"title": {"en": "T"}}
    assert RealmSettings().filled_document("some-identifier") is None


def test_a_document_can_be_filled_without_identifier() -> None:
    settings = RealmSettings(workflow_document={"header": {"identifier": "old", "schema": "s"}})
    assert settings.filled_document(None) == {"header": {"schema": "s"}}


def test_a_live_target_in_a_file_called_sandbox_is_no_sandbox() -> None:
    assert Target("sandbox", "http://127.0.0.1:8080").is_sandbox
    assert not Target("sandbox", "https://host.example").is_sandbox
    assert not Target("local", "http://127.0.0.1:8080").is_sandbox
