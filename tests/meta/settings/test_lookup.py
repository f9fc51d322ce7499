"""Targets that are not there and variables that do not fit: one line each, and never a secret in it."""

from pathlib import Path

import pytest

from contracts.errors import UsageError
from contracts.settings.settings_reader import load_target

PASSWORD = "hunter2-correct-horse"
ENVIRON = {"REGISTRY_EMAIL": "author@example.test", "REGISTRY_PASSWORD": PASSWORD}
SETTINGS = 'base_url = "https://host.example"\nkind = "development"\n'


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("", "--target is empty"),
        ("  ", "--target is empty"),
        ("de\0v", "no target 'de\\x00v'"),
        pytest.param("x" * 5000, "no target", id="long-name"),
        pytest.param("x" * 5000 + ".toml", "is no file", id="long-file"),
        ("\0.toml", "is no file"),
        ("stagng", "targets/ holds dev, staging; did you mean 'staging'?"),
        ("sandbx", "did you mean 'sandbox'?"),
        ("qqqq", "name one of these, a settings file, or sandbox"),
        ("nowhere.toml", "nowhere.toml: is no file that can be read"),
        ("./targets", "targets: is no file that can be read; name the settings file itself"),
        ("/dev/null", "/dev/null: is no file"),
    ],
)
def test_target_that_is_not_there_gets_one_line(tmp_path: Path, asked: str, words: str) -> None:
    (tmp_path / "targets").mkdir()
    for name in ("dev", "staging"):
        (tmp_path / "targets" / f"{name}.toml").write_text(SETTINGS)
    with pytest.raises(UsageError) as caught:
        load_target(asked, ENVIRON, tmp_path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_targets_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no settings file in targets/"):
        load_target("dev", ENVIRON, tmp_path)


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"REGISTRY_BASE_URL": "https://h.example"}, "but not REGISTRY_EMAIL and REGISTRY_PASSWORD"),
        ({"REGISTRY_PASSWORD": PASSWORD, "REGISTRY_EMAIL": "a@b.example"}, "but not REGISTRY_BASE_URL"),
        ({**ENVIRON, "REGISTRY_BASE_URL": ""}, "REGISTRY_BASE_URL set, but empty"),
        ({**ENVIRON, "REGISTRY_BASE_URL": f"https://me:{PASSWORD}@h"}, "REGISTRY_BASE_URL holds credentials"),
        ({**ENVIRON, "REGISTRY_BASE_URL": f"{PASSWORD}"}, "REGISTRY_BASE_URL is not an http"),
        (
            {**ENVIRON, "REGISTRY_BASE_URL": "https://h", "REGISTRY_EMAIL": PASSWORD},
            "REGISTRY_EMAIL holds no e-mail",
        ),
    ],
)
def test_half_or_wrong_variables_name_the_variable_not_its_value(
    tmp_path: Path, environ: dict[str, str], words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        load_target(None, environ, tmp_path)
    assert words in str(caught.value)
    assert PASSWORD not in repr(caught.value)
    assert "\n" not in str(caught.value)
