"""Good settings: what a file, a name and the variables turn into."""

from pathlib import Path

import pytest

from contracts.errors import UsageError
from contracts.file_formats import TomlFile
from contracts.settings import settings_reader
from contracts.settings.guard import checked_base_url
from contracts.settings.settings_reader import load_target, target_from_environment
from contracts.settings.target import DEVELOPMENT_REALMS, Pace, Target

ROOT = Path(__file__).parents[3]
ENVIRON = {"REGISTRY_EMAIL": "author@example.test", "REGISTRY_PASSWORD": "hunter2"}
HEAD = 'base_url = "https://Host.example/prefix/"\nkind = "development"\n'


def load(folder: Path, text: str, environ: dict[str, str] | None = None) -> Target:
    (folder / "given.toml").write_text(text, encoding="utf-8")
    target = load_target("given.toml", ENVIRON if environ is None else environ, folder)
    assert target is not None
    return target


def test_nothing_asked_for_and_nothing_set_means_the_sandbox(tmp_path: Path) -> None:
    assert load_target(None, {}, tmp_path) is None


def test_sandbox_by_name_wins_over_variables(tmp_path: Path) -> None:
    assert load_target("sandbox", {"REGISTRY_EMAIL": "half"}, tmp_path) is None


def test_three_variables_make_a_target(tmp_path: Path) -> None:
    target = load_target(None, {**ENVIRON, "REGISTRY_BASE_URL": " https://host.example/ "}, tmp_path)
    assert target is not None
    assert (target.name, target.base_url, target.kind) == (
        "environment",
        "https://host.example",
        "development",
    )
    assert target.realms == DEVELOPMENT_REALMS
    assert target.accounts["author"].password.reveal() == "hunter2"


def test_an_address_is_a_target_with_the_account_of_the_variables(tmp_path: Path) -> None:
    target = load_target("https://Host.example/", ENVIRON, tmp_path)
    assert target is not None
    assert (target.name, target.base_url) == ("environment", "https://host.example")
    for address, environ, words in (
        ("https://host.example", {"REGISTRY_EMAIL": "a@b.example"}, "set REGISTRY_PASSWORD, or name"),
        ("https://user:hunter2@host.example", ENVIRON, "the address of the target holds credentials"),
    ):
        with pytest.raises(UsageError, match=words) as refused:
            load_target(address, environ, tmp_path)
        assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("empty", [("BASE_URL",), ("BASE_URL", "EMAIL", "PASSWORD")])
def test_empty_variables_are_refused_and_not_taken_for_the_sandbox(empty: tuple[str, ...]) -> None:
    known = {"REGISTRY_EMAIL": "a@b.example", "REGISTRY_PASSWORD": "hunter2"}
    with pytest.raises(UsageError, match=r"REGISTRY_BASE_URL.* set, but empty"):
        target_from_environment(known | {f"REGISTRY_{name}": "" for name in empty})


def test_without_any_variable_there_is_no_target() -> None:
    assert target_from_environment({"HOME": "/root"}) is None


def test_a_name_is_looked_up_in_the_targets_folder(tmp_path: Path) -> None:
    (tmp_path / "targets").mkdir()
    (tmp_path / "targets" / "dev.local.toml").write_text(HEAD)
    for asked in (
        "dev.local",
        "dev.local.toml",
        "targets/dev.local.toml",
        str(tmp_path / "targets/dev.local.toml"),
    ):
        target = load_target(asked, ENVIRON, tmp_path)
        assert target is not None
        assert target.name == "dev.local"


def test_smallest_file_takes_the_defaults(tmp_path: Path) -> None:
    target = load(tmp_path, HEAD)
    assert target.base_url == "https://host.example/prefix"
    assert target.realms == DEVELOPMENT_REALMS
    assert target.pace == Pace(requests_per_second=20.0, concurrency=8, timeout_seconds=30.0)
    assert set(target.accounts) == {"author"}


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("https://host.example", "https://host.example"),
        ("HTTPS://Host.Example:/", "https://host.example"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("https://host.example/Some/prefix//", "https://host.example/Some/prefix"),
        ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
    ],
)
def test_a_base_url_is_kept_in_one_normal_form(written: str, kept: str) -> None:
    assert checked_base_url(written) == kept


def test_what_stands_in_realm_holds_for_every_realm_that_does_not_say_otherwise(tmp_path: Path) -> None:
    shared = '[realm]\ncontact_schema = "contact"\ncountry_terms = ["ca"]\n[realm.bch-dev]\ncountry_terms = ["fr"]\n'
    target = load(tmp_path, HEAD + shared)
    terms = {realm: target.realm_settings(realm).country_terms for realm in DEVELOPMENT_REALMS}
    assert terms == dict.fromkeys(DEVELOPMENT_REALMS, ("ca",)) | {"bch-dev": ("fr",)}
    assert {target.realm_settings(realm).contact_schema for realm in DEVELOPMENT_REALMS} == {"contact"}


def test_whatever_is_loaded_passes_the_guard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Target] = []
    monkeypatch.setattr(settings_reader, "refuse_production", seen.append)
    assert load(tmp_path, HEAD) in seen
    assert load_target(None, {**ENVIRON, "REGISTRY_BASE_URL": "https://host.example"}, tmp_path) in seen


def test_every_setting_arrives_in_its_own_kind(tmp_path: Path) -> None:
    (tmp_path / "permit.json").write_text('{"header": {"schema": "permit"}, "title": {"en": "T"}}')
    (tmp_path / "ca.pem").write_text("certificate")
    target = load(
        tmp_path,
        HEAD
        + """realms = ["ort-dev", "abs-dev"]
        pace = { requests_per_second = inf, concurrency = 2, timeout_seconds = 5 }
        attachments.size_limit_bytes = 1_000
        tls.ca_bundle = "ca.pem"
        [realm.abs-dev]
        workflow_document = "permit.json"
        draft_schema = "permit"
        draft_document = "permit.json"
        attachment_identifiers = ["record-with-files"]
        existing_identifier = "existing-record"
        spare_identifiers = ["------------", "____________"]
        [realm.ort-dev]
        existing_identifier = ["existing-one", "existing-two"]
        """,
    )
    assert target.realms == ("ort-dev", "abs-dev")
    assert target.pace == Pace(requests_per_second=None, concurrency=2, timeout_seconds=5.0)
    assert target.attachments.size_limit_bytes == 1000
    assert target.tls.ca_bundle == tmp_path / "ca.pem"
    permit = target.realm_settings("abs-dev")
    assert permit.existing_identifier == ("existing-record",)
    assert permit.spare_identifiers == ("------------", "____________")
    assert (permit.draft_schema, permit.attachment_identifiers) == ("permit", ("record-with-files",))
    assert permit.filled_document("a-draft-0001", "draft_document") == {
        "header": {"schema": "permit", "identifier": "a-draft-0001"},
        "title": {"en": "T"},
    }
    assert permit.filled_document("new-identifier") == {
        "header": {"schema": "permit", "identifier": "new-identifier"},
        "title": {"en": "T"},
    }
    assert target.realm_settings("ort-dev").existing_identifier == ("existing-one", "existing-two")


def test_other_roles_are_left_out_when_their_variables_are_not_set(tmp_path: Path) -> None:
    text = HEAD + '[accounts.nau]\nemail_env = "NAU_EMAIL"\npassword_env = "NAU_PASSWORD"\n'
    target = load(tmp_path, text)
    assert set(target.accounts) == {"author"}
    assert target.missing("account.nau") == (
        "setting accounts.nau is missing: environment variable NAU_EMAIL is not set"
    )
    target = load(tmp_path, text, {**ENVIRON, "NAU_EMAIL": "", "NAU_PASSWORD": ""})
    assert str(target.missing("account.nau")).endswith("environment variable NAU_EMAIL is set, but empty")
    target = load(tmp_path, text, {**ENVIRON, "NAU_EMAIL": "nau@example.test", "NAU_PASSWORD": "n"})
    assert target.missing("account.nau") is None
    assert target.accounts["nau"].email == "nau@example.test"


def test_the_example_is_a_target_that_can_be_used() -> None:
    target = load_target("example", ENVIRON, ROOT)
    assert target is not None
    assert target.missing("realm.contact_schema", "chm-dev") is None


def test_the_examples_commented_keys_are_all_real(tmp_path: Path) -> None:
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples" / "name-of-a-schema.json").write_text('{"title": "x"}')
    (tmp_path / "company-ca.pem").write_text("")
    lines = (ROOT / "targets" / "example.toml").read_text(encoding="utf-8").splitlines()
    bared = [
        line[2:] if line.startswith("# ") and (" = " in line or line.startswith("# [")) else line
        for line in lines
    ]
    target = load(tmp_path, "\n".join(bared))
    given = target.realm_settings("abs-dev")
    assert all(getattr(given, key) for key in given.__dataclass_fields__)
    assert target.attachments.size_limit_bytes is not None
    assert target.tls.ca_bundle is not None
    assert all((target.names.scheme, target.names.query, target.names.collections))


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("a",), 1),
        (("t",), 5),
        (("t", "k.k"), 7),
        (("t", "many"), 8),
        (("u", "v"), 13),
        (("u", "v", "w"), 14),
        (("nowhere",), 1),
    ],
)
def test_lines_are_found_past_comments_and_values_that_look_like_keys(
    keys: tuple[str, ...], line: int
) -> None:
    text = "\n".join(
        [
            'a = """',
            "[t]",
            "many = 1",
            '"""',
            "[t] # comment",
            "# many = 2",
            '"k.k" = 1',
            "many = [",
            "  1,",
            "  # ] [u.v]",
            "]",
            "",
            "[u.v]",
            "w = 1",
        ]
    )
    assert TomlFile(Path(), "", text, {}).line(keys) == line
