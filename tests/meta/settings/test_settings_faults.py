"""Bad settings: each gives one line that names the place and what to do, and never repeats a secret."""

from pathlib import Path

import pytest

from contracts.errors import UsageError
from contracts.settings.settings_reader import load_target

PASSWORD = "hunter2-correct-horse"
ENVIRON = {"REGISTRY_EMAIL": "author@example.test", "REGISTRY_PASSWORD": PASSWORD}
HEAD = 'base_url = "https://host.example"\nkind = "development"\n'

# name: (settings file, line the message must name, words the message must hold)
BAD = {
    "statement without a value": (HEAD + "realms = \n", 3, ["not TOML", "column"]),
    "unclosed table": (HEAD + "[pace\n", 3, ["not TOML", "correct"]),
    "text without an end": (HEAD + 'realms = ["abs-dev', 3, ["not TOML"]),
    "list without an end": (HEAD + "realms = [\n", 4, ["not TOML", "end of the file", "complete"]),
    "key given twice": (HEAD + 'kind = "development"\n', 3, ["not TOML", "overwrite"]),
    "unknown key above the tables": (HEAD + 'relms = ["abs-dev"]\n', 3, ["'relms'", "did you mean 'realms'"]),
    "unknown table": (HEAD + "[atachments]\n", 3, ["'atachments'", "did you mean 'attachments'"]),
    "unknown table without near miss": (HEAD + "[zzz]\n", 3, ["'zzz'", "known:", "accounts"]),
    "unknown key in a table": (
        HEAD + "[pace]\n# why\nrequests_per_secnd = 3\n",
        5,
        ["'requests_per_secnd' in [pace]", "did you mean 'requests_per_second'"],
    ),
    "unknown key in a realm": (
        HEAD + '[realm.abs-dev]\nlokced_identifier = "x"\n',
        4,
        ["[realm.abs-dev]", "did you mean 'locked_identifier'"],
    ),
    "unknown key with a line feed in its name": (HEAD + '"a\\nb" = 1\n', 3, ["unknown key 'a\\nb'"]),
    "top key below a table": (
        'kind = "development"\n[pace]\nbase_url = "https://host.example"\n',
        3,
        ["belongs above the first table"],
    ),
    "no base_url": ('kind = "development"\n', 1, ["base_url is missing", "add base_url"]),
    "no kind": ('base_url = "https://host.example"\n', 1, ["kind is missing", 'add kind = "development"']),
    "production kind": ('base_url = "https://h.example"\nkind = "production"\n', 2, ["refuses"]),
    "base_url of another scheme": ('base_url = "ftp://h.example"\nkind = "development"\n', 1, ["http"]),
    "base_url with query": ('base_url = "https://h.example/?a=1"\nkind = "development"\n', 1, ["query"]),
    "base_url with a bare hash": (
        'base_url = "https://h.example/#"\nkind = "development"\n',
        1,
        ["fragment"],
    ),
    "base_url with credentials": (
        f'base_url = "https://me:{PASSWORD}@h.example"\nkind = "development"\n',
        1,
        ["credentials", "[accounts.author]"],
    ),
    "base_url with a password where a port belongs": (
        f'base_url = "https://me:{PASSWORD}"\nkind = "development"\n',
        1,
        ["names no host"],
    ),
    "base_url without host": ('base_url = "https:///x"\nkind = "development"\n', 1, ["no host"]),
    "base_url with letters outside ASCII": (
        'base_url = "https://bücher.example"\nkind = "development"\n',
        1,
        ["outside ASCII", "xn--"],
    ),
    "base_url with a space": ('base_url = "https://h .example"\nkind = "development"\n', 1, ["space"]),
    "base_url with the interface's path": (
        'base_url = "https://h.example/api/v2013"\nkind = "development"\n',
        1,
        ["/api/v", "take that out"],
    ),
    "base_url with dotted path": (
        'base_url = "https://h.example/a/../b"\nkind = "development"\n',
        1,
        ["dotted"],
    ),
    "base_url of the wrong kind": (
        'base_url = 3\nkind = "development"\n',
        1,
        ["must be a text, not a number"],
    ),
    "unknown realm": (HEAD + 'realms = ["abs_dev"]\n', 3, ["'abs_dev'", "did you mean 'abs-dev'"]),
    "production realm in the list": (
        HEAD + 'realms = ["bch-dev", "BCH"]\n',
        3,
        ["production", "use bch-dev"],
    ),
    "production realm as a table": (HEAD + "[realm.ort]\n", 3, ["production", "use ort-dev"]),
    "no realm": (HEAD + "realms = []\n", 3, ["empty", "abs-dev"]),
    "realm named twice": (HEAD + 'realms = ["abs-dev", "abs-dev"]\n', 3, ["twice"]),
    "realms as one text": (
        HEAD + 'realms = "abs-dev"\n',
        3,
        ["must be a list of texts, not a text", "write"],
    ),
    "production realm as a spelling": (
        HEAD + '[realm.abs-dev]\nsent_as = "ABS"\n',
        4,
        ["'ABS'", "production", "use abs-dev"],
    ),
    "spelling that is another realm": (
        HEAD + '[realm.abs-dev]\nsent_as = "bch-dev"\n',
        4,
        ["name of another realm"],
    ),
    "spelling that no header holds": (
        HEAD + '[realm.abs-dev]\nsent_as = "abs dev"\n',
        4,
        ["cannot stand in a header"],
    ),
    "realm header of two words": (HEAD + '[names]\nrealm_header = "My Realm"\n', 4, ["is no header"]),
    "realm header with a meaning of its own": (
        HEAD + '[names]\nrealm_header = "Host"\n',
        4,
        ["is no header"],
    ),
    "draft that is no object": (
        HEAD + '[realm.abs-dev]\ndraft_document = "none.json"\n',
        4,
        ["names no file"],
    ),
    "scheme of two words": (HEAD + '[names]\nscheme = "My Token"\n', 4, ["is no scheme"]),
    "name for what the document does not have": (
        HEAD + '[names]\nquery = { "$tpo" = "limit" }\n',
        4,
        ["'$tpo'", "did you mean '$top'"],
    ),
    "names as one text": (HEAD + '[names]\ncollections = "mine"\n', 4, ["a table of texts, not a text"]),
    "unknown role": (HEAD + "[accounts.auther]\n", 3, ["'auther'", "did you mean 'author'"]),
    "password in the file": (
        HEAD + f'[accounts.author]\nemail_env = "REGISTRY_EMAIL"\npassword = "{PASSWORD}"\n',
        5,
        ["does not belong in a file", 'password_env = "'],
    ),
    "e-mail in the file": (
        HEAD + '[accounts.nau]\nemail = "nau@example.test"\n',
        4,
        ["does not belong in a file", 'email_env = "REGISTRY_NAU_EMAIL"'],
    ),
    "password in place of a variable's name": (
        HEAD + f'[accounts.author]\nemail_env = "REGISTRY_EMAIL"\npassword_env = "{PASSWORD}"\n',
        3,
        ["accounts.author.password_env names", "is not set"],
    ),
    "author's variable is not set": (
        HEAD + '[accounts.author]\nemail_env = "MY_EMAIL"\npassword_env = "MY_PASSWORD"\n',
        3,
        ["MY_EMAIL is not set"],
    ),
    "account with one variable": (
        HEAD + '[accounts.nau]\nemail_env = "REGISTRY_EMAIL"\n',
        3,
        ["accounts.nau.password_env is missing"],
    ),
    "accounts as a text": (HEAD + 'accounts = "author"\n', 3, ["must be a table", "[accounts]"]),
    "realm settings as a list": (HEAD + "[realm]\nabs-dev = []\n", 4, ["must be a table", "[realm.abs-dev]"]),
    "files of one realm for all": (
        HEAD + '[realm]\ntemporary_files = ["a"]\n',
        4,
        ["realm.temporary_files belongs to one realm", "[realm.abs-dev]"],
    ),
    "unknown setting of all realms": (HEAD + '[realm]\ncontact_scheme = "a"\n', 4, ["contact_schema"]),
    "rate below zero": (HEAD + "[pace]\nrequests_per_second = -1\n", 4, ["above 0"]),
    "rate that is no number": (HEAD + "[pace]\nrequests_per_second = nan\n", 4, ["above 0"]),
    "rate as true": (HEAD + "[pace]\nrequests_per_second = true\n", 4, ["not true or false"]),
    "patience without end": (HEAD + "[pace]\ntimeout_seconds = inf\n", 4, ["above 0"]),
    "half a request at once": (HEAD + "[pace]\nconcurrency = 1.5\n", 4, ["whole number"]),
    "no request at once": (HEAD + "[pace]\nconcurrency = 0\n", 4, ["above 0", "write concurrency = 8"]),
    "size limit as a text": (HEAD + '[attachments]\nsize_limit_bytes = "1 GB"\n', 4, ["not a text"]),
    "identifier too short": (HEAD + '[realm.abs-dev]\nlocked_identifier = "short"\n', 4, ["identifier rule"]),
    "identifier with a trailing line feed": (
        HEAD + '[realm.abs-dev]\nlocked_identifier = "abcdefghijkl\\n"\n',
        4,
        ["identifier rule"],
    ),
    "identifier in a list over many lines": (
        HEAD + '[realm.abs-dev]\n# [x]\nspare_identifiers = [\n  "------------",\n  "a b",\n]\n',
        5,
        ["realm.abs-dev.spare_identifiers", "identifier rule"],
    ),
    "number among texts": (HEAD + "[realm.abs-dev]\ncountry_terms = [1]\n", 4, ["with a number in it"]),
    "date for a text": (HEAD + "[realm.abs-dev]\ncontact_schema = 2026-01-01\n", 4, ["not a date;"]),
    "empty text": (HEAD + '[realm.abs-dev]\ncontact_schema = " "\n', 4, ["is empty", "take the line out"]),
    "document that is not there": (
        HEAD + '[realm.abs-dev]\nworkflow_document = "nowhere.json"\n',
        4,
        ["'nowhere.json'", "relative to the settings file"],
    ),
    "document that is a folder": (HEAD + '[realm.abs-dev]\nworkflow_document = "."\n', 4, ["names no file"]),
    "document with a zero byte in its path": (
        HEAD + '[realm.abs-dev]\nworkflow_document = "a\\u0000b"\n',
        4,
        ["names no file"],
    ),
    "document that is not JSON": (
        HEAD + '[realm.abs-dev]\nworkflow_document = "broken.json"\n',
        4,
        ["not JSON", "broken.json line 2 column"],
    ),
    "document that is a list": (
        HEAD + '[realm.abs-dev]\nworkflow_document = "list.json"\n',
        4,
        ["one JSON object"],
    ),
    "document with a constant that JSON lacks": (
        HEAD + '[realm.abs-dev]\nworkflow_document = "constant.json"\n',
        4,
        ["not JSON"],
    ),
    "document with a header that is a text": (
        HEAD + '[realm.abs-dev]\nworkflow_document = "header.json"\n',
        4,
        ["header", "no JSON object"],
    ),
    "document in another encoding": (
        HEAD + '[realm.abs-dev]\nworkflow_document = "latin.json"\n',
        4,
        ["latin.json:2", "not UTF-8"],
    ),
    "certificate file that is not there": (HEAD + '[tls]\nca_bundle = "ca.pem"\n', 4, ["'ca.pem'"]),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a current folder with documents that cannot be used."""
    (tmp_path / "broken.json").write_text('{"a": 1\n "b": 2}')
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "constant.json").write_text('{"a": NaN}')
    (tmp_path / "header.json").write_text('{"header": "x"}')
    (tmp_path / "latin.json").write_bytes(b'{"a":\n"caf\xe9"}')
    return tmp_path


@pytest.mark.parametrize("name", BAD)
def test_bad_settings_give_one_line_with_place_and_remedy(folder: Path, name: str) -> None:
    text, line, words = BAD[name]
    (folder / "bad.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load_target("bad.toml", ENVIRON, folder)
    message = str(caught.value)
    assert message.startswith(f"bad.toml:{line}: ")
    assert "\n" not in message
    assert all(word in message for word in words), message
    assert PASSWORD not in message + repr(caught.value)


def test_file_in_another_encoding_names_the_line(folder: Path) -> None:
    (folder / "latin.toml").write_bytes(HEAD.encode() + b"# caf\xe9\n")
    with pytest.raises(UsageError, match=r"^latin\.toml:3: is not UTF-8 text; save the file as UTF-8$"):
        load_target("latin.toml", ENVIRON, folder)


def test_byte_order_mark_and_windows_line_ends_are_fine(folder: Path) -> None:
    (folder / "windows.toml").write_bytes(b"\xef\xbb\xbf" + HEAD.replace("\n", "\r\n").encode())
    assert load_target("windows.toml", ENVIRON, folder) is not None
