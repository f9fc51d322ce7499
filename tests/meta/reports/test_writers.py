"""Reports as a whole: complete, repeatable, silent on the environment, plain about a run that was cut."""

import json
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from contracts.errors import UsageError
from contracts.evidence.journal import journal_path
from contracts.evidence.run_folder import collect
from contracts.evidence.verdicts import RunVerdict
from contracts.exchanges.har import read_har
from contracts.reports import writers
from contracts.reports.__main__ import main
from contracts.reports.writers import write_all
from contracts.session.ledger import LEDGER_FILE
from tests.meta.program import in_process


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith("journal-") and path.name != "run.json":
            yield path.name, path.read_bytes().decode("utf-8", "strict")


@pytest.mark.usefixtures("verdict")
def test_no_report_tells_what_stands_in_the_environment(folder: Path, made_up: SimpleNamespace) -> None:
    assert not [name for name, text in texts(folder) if made_up.in_environment in text]


def test_the_same_journals_give_the_same_reports(
    folder: Path, verdict: RunVerdict, made_up: SimpleNamespace
) -> None:
    def stable() -> dict[str, str]:
        return {name: text for name, text in texts(folder) if not name.endswith("-result.json")}

    first = stable()
    assert write_all(folder, catalogue=made_up.catalogue) == verdict
    assert stable() == first


def test_a_run_that_was_cut_is_called_incomplete_everywhere(folder: Path, made_up: SimpleNamespace) -> None:
    path = journal_path(folder, "gw1")
    path.write_bytes(path.read_bytes()[:-30])
    verdict = write_all(folder, catalogue=made_up.catalogue)
    assert verdict.exit_code == 1
    assert "must not be relied on" in (folder / "index.html").read_text()
    assert "incomplete" in (folder / "summary.md").read_text()
    assert json.loads((folder / "verdict.json").read_text())["complete"] is False
    assert ET.parse(folder / "junit.xml").find(".//testsuite[@name='the run itself']//error") is not None  # noqa: S314


def test_a_folder_that_is_too_large_is_packed_and_read_as_before(
    folder: Path, verdict: RunVerdict, made_up: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not writers.pack(folder)
    before, names = collect(folder), {"1-result.json"}
    (folder / "allure").mkdir()
    (folder / "allure" / "1-result.json").write_text("{}", "utf-8")
    traffic = read_har(folder / "traffic.har", "plain").exchanges
    size = sum(writers._bytes_on_disk(path) for path in folder.rglob("*"))
    monkeypatch.setattr(writers, "LARGEST_FOLDER", size - 1)
    assert writers.pack(folder)
    plain = {"traffic.har", "allure", "journal-gw0.jsonl", "journal-gw1.jsonl"}
    assert not plain & {path.name for path in folder.iterdir()}
    assert collect(folder) == before
    assert read_har(folder / "traffic.har.gz", "packed").exchanges == traffic
    assert set(zipfile.ZipFile(folder / "allure.zip").namelist()) == names
    assert write_all(folder, catalogue=made_up.catalogue) == verdict
    assert not (folder / "traffic.har.gz").exists()
    # What is too large even so goes without its traffic, which the journals hold.
    monkeypatch.setattr(writers, "LARGEST_FOLDER", 0)
    (folder / LEDGER_FILE).write_text("", "utf-8")
    assert writers.pack(folder)
    assert {path.name for path in folder.glob("*.gz")} == {
        "journal-gw0.jsonl.gz", "journal-gw1.jsonl.gz", "ledger.jsonl.gz",
    }  # fmt: skip
    assert collect(folder) == before
    path = folder / "journal-gw0.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(
        UsageError, match=r"cannot read .*journal-gw0\.jsonl\.gz: its packed bytes are damaged"
    ):
        collect(folder)


def test_the_command_ends_with_the_run_s_exit_code(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    made_up: SimpleNamespace,
) -> None:
    monkeypatch.setattr(writers, "load_catalogue", lambda: made_up.catalogue)
    run = in_process(monkeypatch, capsys, main)
    done, lost = run(folder), run(folder.parent / "none")
    assert (done.code, done.out.split(":")[0]) == (1, "fail")
    assert (lost.code, lost.out, lost.err.count("\n")) == (4, "", 1)
