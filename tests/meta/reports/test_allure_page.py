"""Allure's report as one file: realms as environments, a history that counts a run once, nothing that is sent."""

import json
import stat
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from contracts.errors import SuiteError, UsageError
from contracts.reports.allure import main, make_page, quiet

# As Allure 3.18.0 writes it.
TAG = """    <script async src="https://www.googletagmanager.com/gtag/js?id=G-LNDJ3J7WT0"></script>
    <script>
        window.dataLayer = window.dataLayer || [];
        function gtag(){dataLayer.push(arguments);}
        gtag('js', new Date());
        gtag('config', 'G-LNDJ3J7WT0', {"report": "awesome"});
    </script>
"""
PAGE = f"<!DOCTYPE html><html><head>\n<title>x</title></head><body><script>work()</script>\n{TAG}<b>x</b></body></html>"
FAKE = """#!{python}
import json, re, sys
config = open(sys.argv[3]).read()
settings = json.loads(config.partition("const settings = ")[2].partition("}};\\n")[0] + "}}")
import os
os.makedirs(settings["output"])
open(settings["output"] + "/index.html", "w").write({page!r})
with open(settings["history"], "a") as lines:
    lines.write(json.dumps({{"name": settings["name"], "realms": settings["realms"]}}) + "\\n")
sys.exit({code})
"""


def program(folder: Path, page: str = PAGE, code: int = 0) -> str:
    path = folder / "allure-stand-in"
    path.write_text(FAKE.format(python=sys.executable, page=page, code=code))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_the_page_is_made_quiet_and_keeps_its_own_scripts(rendered: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "allure").symlink_to(rendered / "allure")
    history = tmp_path / "history.jsonl"
    history.write_text(json.dumps({"name": "earlier", "realms": []}) + "\n")
    for _ in range(2):
        page = make_page(run, program(tmp_path), history).read_text("utf-8")
    assert "googletagmanager" not in page
    assert "<script>work()</script>" in page
    assert "default-src data: blob: 'unsafe-inline'" in page
    lines = [json.loads(line) for line in history.read_text("utf-8").splitlines()]
    assert [line["name"] for line in lines] == ["earlier", "run"]
    assert lines[1]["realms"] == ["abs-dev", "any", "bch-dev"]


@pytest.mark.parametrize(
    "page",
    [
        PAGE.replace("googletagmanager", "google-analytics"),
        PAGE.replace(TAG, '<script src="//elsewhere.example/x.js"></script>'),
        PAGE.replace(TAG, "<link rel=preconnect href=https://elsewhere.example>"),
        "<html>no head</html>",
    ],
)
def test_a_page_that_is_not_known_is_refused(page: str) -> None:
    with pytest.raises(SuiteError, match="not known"):
        quiet(page)


def test_what_is_wanting_or_fails_is_told_in_a_line(rendered: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="install Allure 3"):
        make_page(rendered, str(tmp_path / "absent"))
    with pytest.raises(SuiteError, match="exit code 3"):
        make_page(rendered, program(tmp_path, code=3))
    ended = CliRunner().invoke(main, [str(tmp_path), "--allure", program(tmp_path)])
    assert ended.exit_code == 4
    assert "holds no results of a run" in ended.output
