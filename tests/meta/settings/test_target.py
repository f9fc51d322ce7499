"""A target: what is missing is named, no way of showing anything shows a password, requests leave in its names."""

import copy
import dataclasses
import json
import pickle
import pprint

import pytest

from registry_contracts.errors import SuiteError
from registry_contracts.settings.target import Account, RealmSettings, Secret, Target, WireNames

PASSWORD = "hunter2-correct-horse"


def a_target() -> Target:
    account = Account("author", "author@example.test", Secret(PASSWORD))
    realm = {"abs-dev": RealmSettings(locked_identifier="locked-record", country_terms=())}
    return Target("t", "https://host.example", accounts={"author": account}, realm=realm)


@pytest.mark.parametrize(
    ("need", "realm", "message"),
    [
        ("realm.locked_identifier", "abs-dev", None),
        ("realm.locked_identifier", "bch-dev", "setting realm.bch-dev.locked_identifier is missing"),
        ("realm.workflow_schema", "any", "setting realm.<realm>.workflow_schema is missing"),
        ("realm.country_terms", "abs-dev", "setting realm.abs-dev.country_terms is missing"),
        ("account.author", "any", None),
        ("attachments.size_limit_bytes", "abs-dev", "setting attachments.size_limit_bytes is missing"),
    ],
)
def test_a_need_is_met_or_named(need: str, realm: str, message: str | None) -> None:
    assert a_target().missing(need, realm) == message


@pytest.mark.parametrize("need", ["realm.nothing", "account.boss", "pace.concurrency", ""])
def test_a_need_that_names_no_setting_is_our_own_fault(need: str) -> None:
    with pytest.raises(SuiteError, match="names no setting"):
        a_target().missing(need)


def test_nothing_shows_a_password() -> None:
    target = a_target()
    secret = target.accounts["author"].password
    plain = dataclasses.asdict(target)
    shown = [show(each) for show in (repr, str, format, pprint.pformat, dir) for each in (target, secret)]
    shown += [f"{secret:>20}", pprint.pformat(plain), json.dumps(plain, default=str)]
    shown += ["%s %r" % (secret, secret)]  # noqa: UP031 (this way of showing is a way too)
    shown += [repr(copy.deepcopy(target)), repr(copy.copy(secret))]
    assert not [text for text in shown if PASSWORD in text]
    assert secret.reveal() == PASSWORD


def test_a_secret_cannot_be_pickled() -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(a_target(), protocol)


def test_a_live_target_in_a_file_called_sandbox_is_no_sandbox() -> None:
    assert Target("sandbox", "http://127.0.0.1:8080").is_sandbox
    assert not Target("sandbox", "https://host.example").is_sandbox
    assert not Target("local", "http://127.0.0.1:8080").is_sandbox


OWN = WireNames({"abs-dev": "OTHER", "Bearer": "Token", "$top": "max", "Realm": "app", "my": "mine"})
LIST, SUBMIT = "listDrafts", "createWorkflowRecord"


@pytest.mark.parametrize(
    ("operation", "query", "sent"),
    [
        (LIST, "$top=1&%24skip=2", "max=1&%24skip=2"),
        (LIST, "%24top=1&collection=my", "max=1&collection=mine"),
        (LIST, "$filter=collection%20eq%20my", "$filter=collection%20eq%20my"),
        (LIST, "Realm=abs-dev", "Realm=abs-dev"),
        (SUBMIT, "Realm=abs-dev", "app=OTHER"),
        (SUBMIT, "realm=abs-dev&Realm=no-such-realm", "realm=abs-dev&app=no-such-realm"),
        (None, "$top=1", "$top=1"),
    ],
)
def test_listed_parameters_alone_are_written_otherwise(operation: str | None, query: str, sent: str) -> None:
    assert OWN.url(f"http://h/p?{query}", operation) == f"http://h/p?{sent}"


def test_documented_values_of_headers_are_written_otherwise() -> None:
    documented: dict[str, str | bytes] = {"Realm": b"abs-dev", "Authorization": b"Bearer t"}
    documented["Accept"] = "abs-dev"
    assert OWN.headers(documented) == {"Realm": b"OTHER", "Authorization": b"Token t", "Accept": "abs-dev"}
    odd: dict[str, str | bytes] = {"Realm": "ABS-DEV", "Authorization": "bearer t"}
    assert OWN.headers(odd) == odd
