"""Settings: what a file, a name and the variables turn into; a mistake is one line that names place and remedy.

What is missing is named, no way of showing anything shows a password, requests leave in the target's names.
"""

import copy
import dataclasses
import json
import pickle
import pprint
from dataclasses import asdict
from pathlib import Path

import pytest

from registry_contracts.errors import SuiteError, UsageError
from registry_contracts.settings import settings_reader
from registry_contracts.settings.guard import checked_base_url
from registry_contracts.settings.settings_reader import load_target
from registry_contracts.settings.target import (
    DEVELOPMENT_REALMS,
    Account,
    Pace,
    RealmSettings,
    Secret,
    Target,
    WireNames,
)

ROOT = Path(__file__).parents[3]
PASSWORD = "hunter2-correct-horse"
ENVIRON = {"REGISTRY_EMAIL": "author@example.test", "REGISTRY_PASSWORD": PASSWORD}
HEAD = 'base_url = "https://Host.example/prefix/"\nkind = "development"\n'


def loaded(asked: str | None, folder: Path, environ: dict[str, str] = ENVIRON) -> Target:
    target = load_target(asked, environ, folder)
    assert target is not None
    return target


def load(folder: Path, text: str, environ: dict[str, str] = ENVIRON) -> Target:
    (folder / "given.toml").write_text(text, encoding="utf-8")
    return loaded("given.toml", folder, environ)


def test_nothing_asked_for_and_nothing_set_means_the_sandbox(tmp_path: Path) -> None:
    assert load_target(None, {"HOME": "/root"}, tmp_path) is None
    assert load_target("sandbox", {"REGISTRY_EMAIL": "half"}, tmp_path) is None


@pytest.mark.parametrize(
    ("asked", "more"),
    [(None, {"REGISTRY_BASE_URL": " https://Host.example/ "}), ("https://Host.example/", {})],
)
def test_address_and_account_make_a_target(tmp_path: Path, asked: str | None, more: dict[str, str]) -> None:
    target = loaded(asked, tmp_path, ENVIRON | more)
    assert (target.name, target.base_url) == ("environment", "https://host.example")
    assert (target.realms, target.kind) == (DEVELOPMENT_REALMS, "development")
    assert target.accounts["author"].password.reveal() == PASSWORD


ADDRESS = {"REGISTRY_BASE_URL": "https://h.example"}


@pytest.mark.parametrize(
    ("asked", "environ", "words"),
    [
        (None, ADDRESS, "REGISTRY_EMAIL and REGISTRY_PASSWORD"),
        (None, ENVIRON, "REGISTRY_BASE_URL"),
        (None, {**ENVIRON, "REGISTRY_BASE_URL": f"https://me:{PASSWORD}@h"}, "BASE_URL holds credentials"),
        (None, {**ENVIRON, **ADDRESS, "REGISTRY_EMAIL": PASSWORD}, "REGISTRY_EMAIL holds no e-mail"),
        ("https://h.example", {"REGISTRY_EMAIL": "a@b.example"}, "REGISTRY_PASSWORD"),
        (f"https://me:{PASSWORD}@h", ENVIRON, "the address of the target holds credentials"),
        ("", {}, "no target ''"),
        pytest.param("x" * 5000, {}, "no target", id="long-name"),
        ("stagng", {}, "targets/ holds dev, staging; did you mean 'staging'?"),
        ("nowhere.toml", {}, "nowhere.toml: is not a file that can be read"),
    ],
)
def test_no_target_is_one_line(
    tmp_path: Path, asked: str | None, environ: dict[str, str], words: str
) -> None:
    (tmp_path / "targets").mkdir()
    for name in ("dev", "staging"):
        (tmp_path / "targets" / f"{name}.toml").write_text(HEAD)
    with pytest.raises(UsageError) as caught:
        load_target(asked, environ, tmp_path)
    assert words in str(caught.value)
    assert PASSWORD not in repr(caught.value)
    assert "\n" not in str(caught.value)


def test_a_name_is_looked_up_in_the_targets_folder(tmp_path: Path) -> None:
    (tmp_path / "targets").mkdir()
    place = tmp_path / "targets" / "dev.local.toml"
    place.write_text(HEAD)
    for asked in ("dev.local", "dev.local.toml", "targets/dev.local.toml", str(place)):
        assert loaded(asked, tmp_path).name == "dev.local"


def test_whatever_is_loaded_passes_the_guard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Target] = []
    monkeypatch.setattr(settings_reader, "refuse_production", seen.append)
    assert load(tmp_path, HEAD) in seen
    assert loaded(None, tmp_path, ENVIRON | ADDRESS) in seen


def test_a_base_url_is_kept_in_one_normal_form() -> None:
    assert checked_base_url("HTTPS://Host.Example:/Some/prefix//") == "https://host.example/Some/prefix"
    for usual in ("http://127.0.0.1:8080", "https://xn--bcher-kva.example"):
        assert checked_base_url(usual) == usual


def test_smallest_file_takes_the_defaults_whatever_its_line_ends(tmp_path: Path) -> None:
    target = load(tmp_path, f"\ufeff{HEAD}".replace("\n", "\r\n"))
    assert (target.base_url, target.realms) == ("https://host.example/prefix", DEVELOPMENT_REALMS)
    assert target.pace == Pace(requests_per_second=20.0, concurrency=8, timeout_seconds=30.0)
    assert set(target.accounts) == {"author"}


def test_the_table_realm_holds_for_all_realms_that_do_not_override_it(tmp_path: Path) -> None:
    shared = '[realm]\ncontact_schema = "contact"\ncountry_terms = ["ca"]\n[realm.bch-dev]\ncountry_terms = ["fr"]\n'
    target = load(tmp_path, HEAD + shared)
    terms = {realm: target.realm_settings(realm).country_terms for realm in DEVELOPMENT_REALMS}
    assert terms == dict.fromkeys(DEVELOPMENT_REALMS, ("ca",)) | {"bch-dev": ("fr",)}
    assert {target.realm_settings(realm).contact_schema for realm in DEVELOPMENT_REALMS} == {"contact"}


def test_a_setting_arrives_in_its_own_kind(tmp_path: Path) -> None:
    (tmp_path / "permit.json").write_text('{"header": {"schema": "permit"}, "title": {"en": "T"}}')
    settings = """
        pace = { requests_per_second = inf, concurrency = 2, timeout_seconds = 5 }
        [realm.abs-dev]
        draft_document = "permit.json"
        existing_identifier = "existing-record"
        [realm.bch-dev]
        existing_identifier = ["existing-one", "existing-two"]
        """
    target = load(tmp_path, HEAD + settings)
    assert target.pace == Pace(requests_per_second=None, concurrency=2, timeout_seconds=5.0)
    assert target.realm_settings("abs-dev").existing_identifier == ("existing-record",)
    assert target.realm_settings("bch-dev").existing_identifier == ("existing-one", "existing-two")
    assert target.realm_settings("abs-dev").filled_document("a-draft-0001", "draft_document") == {
        "header": {"schema": "permit", "identifier": "a-draft-0001"},
        "title": {"en": "T"},
    }


def test_other_roles_are_left_out_when_their_variables_are_not_set(tmp_path: Path) -> None:
    text = HEAD + '[accounts.nau]\nemail_env = "NAU_EMAIL"\npassword_env = "NAU_PASSWORD"\n'
    target = load(tmp_path, text)
    assert set(target.accounts) == {"author"}
    missing = "setting accounts.nau is missing: environment variable NAU_EMAIL is not set"
    assert target.missing("account.nau") == missing
    target = load(tmp_path, text, {**ENVIRON, "NAU_EMAIL": "", "NAU_PASSWORD": ""})
    assert str(target.missing("account.nau")).endswith("environment variable NAU_EMAIL is set, but empty")
    target = load(tmp_path, text, {**ENVIRON, "NAU_EMAIL": "nau@example.test", "NAU_PASSWORD": "n"})
    assert (target.missing("account.nau"), target.accounts["nau"].email) == (None, "nau@example.test")


def test_the_example_can_be_used_and_its_commented_keys_are_all_real(tmp_path: Path) -> None:
    assert loaded("example", ROOT).missing("realm.contact_schema", "chm-dev") is None
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples" / "name-of-a-schema.json").write_text('{"title": "x"}')
    (tmp_path / "company-ca.pem").write_text("")
    lines = (ROOT / "targets" / "example.toml").read_text(encoding="utf-8").splitlines()
    commented = [line.startswith("# ") and (" = " in line or line.startswith("# [")) for line in lines]
    target = load(
        tmp_path, "\n".join(line[2:] if bare else line for line, bare in zip(lines, commented, strict=True))
    )
    assert all(asdict(target.realm_settings("abs-dev")).values())
    assert target.attachments.size_limit_bytes is not None
    assert target.tls.ca_bundle is not None
    assert all((target.names.scheme, target.names.query, target.names.collections))


REALM, PACE = "[realm.abs-dev]\n", "[pace]\n"
NAMED = '[accounts.author]\nemail_env = "{}"\npassword_env = "{}"\n'
DOCUMENT = REALM + 'workflow_document = "{}"\n'
#: What stands below the address and the kind, the line that the message names, and words of it.
BAD = [
    ("realms = [\n", 4, "not TOML at the end of the file: "),
    (PACE + "# why\nrequests_per_secnd = 3\n", 5, "in [pace]; did you mean 'requests_per_second'"),
    ('"a\\nb" = 1\n', 3, "unknown key 'a\\nb'"),
    (PACE + 'realms = ["abs-dev"]\n', 4, "belongs above the first table"),
    ('realms = ["abs_dev"]\n', 3, "'abs_dev'; did you mean 'abs-dev'"),
    ('realms = ["bch-dev", "BCH"]\n', 3, "production realm, which is refused; use bch-dev"),
    ("realms = []\n", 3, "realms must be a list of at least one text"),
    (REALM + 'sent_as = "ABS"\n', 4, "production realm, which is refused; use abs-dev"),
    (REALM + 'sent_as = "bch-dev"\n', 4, "name of another realm"),
    (REALM + 'sent_as = "abs dev"\n', 4, "cannot stand in a header"),
    ('[names]\nrealm_header = "My Realm"\n', 4, "cannot carry the realm"),
    ('[names]\nquery = { "$tpo" = "limit" }\n', 4, "'$tpo' there; did you mean '$top'"),
    (f'[accounts.author]\npassword = "{PASSWORD}"\n', 4, "accounts.author.password does not belong in a"),
    ('[accounts.nau]\nemail = "nau@example.test"\n', 4, 'email_env = "REGISTRY_NAU_EMAIL"'),
    (NAMED.format("REGISTRY_EMAIL", PASSWORD), 3, "password_env names is not"),
    (NAMED.format("MY_EMAIL", "MY_PASSWORD"), 3, "MY_EMAIL is not set"),
    ('[accounts.nau]\nemail_env = "REGISTRY_EMAIL"\n', 3, "lacks password_env; see docs/settings.md"),
    ('accounts = "author"\n', 3, "accounts must be a table; write [accounts]"),
    ('[realm]\ntemporary_files = ["a"]\n', 4, "realm.temporary_files belongs to one realm"),
    (PACE + "requests_per_second = -1\n", 4, "a number above 0, or inf for no limit"),
    (PACE + "concurrency = 1.5\n", 4, "concurrency must be a whole number above 0"),
    (REALM + 'locked_identifier = "short"\n', 4, "an identifier (11 to 128 letters"),
    (DOCUMENT.format("nowhere.json"), 4, "names no file: 'nowhere.json'; the path is relative to"),
    (DOCUMENT.format("broken.json"), 4, "broken.json: is not JSON: Expecting ',' delimiter: line 2"),
    (DOCUMENT.format("list.json"), 4, "must hold one JSON object"),
    (DOCUMENT.format("header.json"), 4, "its header, if any, must be an object too"),
    (DOCUMENT.format("latin.json"), 4, "latin.json:2: is not UTF-8"),
    ('[tls]\nca_bundle = "ca.pem"\n', 4, "names no file: 'ca.pem'"),
]
#: Whole files.
BAD_FILES = [
    ('kind = "development"\n', 1, "base_url is missing; add base_url"),
    ('base_url = "https://h.example"\n', 1, 'kind is missing; add kind = "development"'),
    ('base_url = "https://h.example"\nkind = "production"\n', 2, "it refuses every other environment"),
]
#: Addresses that cannot be used, and why.
BAD_ADDRESSES = [
    ("ftp://h.example", "http"),
    ("https://h.example/?a=1", "query"),
    (
        f"https://me:{PASSWORD}@h.example",
        "credentials; remove them, and name their variables in [accounts.author]",
    ),
    (f"https://me:{PASSWORD}", "names no host"),
    ("https://h .example", "space"),
    ("https://bücher.example", "outside ASCII; write its xn--"),
    ("https://h.example/api/v2013", "holds the interface's own /api/v"),
    ("https://h.example/a/../b", "dotted"),
]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        *((HEAD + text, line, words) for text, line, words in BAD),
        *BAD_FILES,
        *((f'base_url = "{url}"\nkind = "development"\n', 1, words) for url, words in BAD_ADDRESSES),
    ],
)
def test_a_mistake_is_one_line_without_a_secret(tmp_path: Path, text: str, line: int, words: str) -> None:
    contents = {"broken": b'{"a": 1\n "b": 2}', "list": b"[]", "header": b'{"header": "x"}'}
    for name, content in (contents | {"latin": b'{"a":\n"caf\xe9"}'}).items():
        (tmp_path / f"{name}.json").write_bytes(content)
    with pytest.raises(UsageError) as caught:
        load(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(f"given.toml:{line}: ")
    assert words in message
    assert "\n" not in message
    assert PASSWORD not in message + repr(caught.value)


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
