"""The site over kept runs: every planted change is shown, old nights are carried on, and nothing leads outside."""

import json
import re
import shutil
import zipfile
from datetime import UTC, datetime, timedelta
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

from contracts.evidence.record import Verdict
from tests.meta import browser as chromium
from tests.meta.program import RunCommand
from tests.meta.sample_nights import Night, build_site, planted_nights, text_of
from tests.meta.schemas import mistakes

NIGHTS, PLANTED = planted_nights()
_VOID = {"meta", "link", "br", "img", "use", "path", "circle", "rect"}
_ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def build(run_command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> RunCommand:
    """Runs `site` in an empty folder, without the seconds that asking pytest for the cases takes each time."""
    monkeypatch.setattr("contracts.cli.site.known_cases", dict)
    return partial(run_command, "site")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of all planted nights; not to be written to."""
    folder = tmp_path_factory.mktemp("nights") / "site"
    build_site(NIGHTS, folder, "--compare", "dev", "staging", "--url", "https://contracts.example.test")
    return folder


# One test over the table, not one for each row: every worker that got a row would build the site.
def test_what_is_planted_is_shown(site: Path) -> None:
    assert [planted.what for planted in PLANTED if not planted.is_shown(site)] == []


def test_what_is_not_planted_is_not_shown(plain_site: Path) -> None:
    assert [planted.what for planted in PLANTED if planted.is_shown(plain_site)] == []


@pytest.fixture(scope="module")
def plain_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the same targets with nothing planted in their nights, of which a few will do."""
    folder = tmp_path_factory.mktemp("plain") / "site"
    plain = [Night(each.started, target=each.target, base_url=each.base_url) for each in NIGHTS[:-1:8]]
    build_site(plain, folder)
    return folder


class Page(HTMLParser):
    """Reads a page strictly: every element ends where it should, no id stands twice; collects where it leads."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[tuple[str, str]] = []
        self.tags: set[str] = set()
        self.feed(page.read_text("utf-8"))
        assert self.open == [], page.name

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in _VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert name != "style"
            assert not name.startswith("on")
            self.ids += [value or ""] if name == "id" else []
            self.links += [(tag, value or "")] if name in {"href", "src"} else []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self.open.pop() == tag


def test_every_page_is_well_formed_and_only_issues_lead_outside(site: Path) -> None:
    pages = sorted(site.glob("*.html"))
    assert len(pages) > 400
    for path in pages:
        page = Page(path)
        assert "script" not in page.tags
        assert len(set(page.ids)) == len(page.ids), path.name
        for tag, address in page.links:
            parts = urlsplit(address)
            if parts.netloc:
                assert (tag, parts.netloc) == ("a", "tracker.example.test"), (path.name, address)
            elif parts.scheme != "data" and parts.path:
                assert (site / parts.path).is_file(), (path.name, address)
            elif tag == "a":
                assert parts.fragment in page.ids, (path.name, address)


def test_families_in_which_nothing_needs_a_look_and_earlier_nights_are_folded(site: Path) -> None:
    for target, open_ones in (
        ("dev", {"contact", "draft", "list", "token", "uid"}),
        ("staging", {"attachment"}),
    ):
        page = (site / f"target-{target}-nightly.html").read_text("utf-8")
        families = re.findall(r'"family-block"( open)?>\n<summary class="family"><h3>(\w+)', page)
        assert {name for mark, name in families if mark} == open_ones, families
        assert any(not mark for mark, _ in families)
        assert "<summary>Earlier nights (26)</summary>" in page


def test_the_feed_is_atom_with_absolute_links_and_lasting_ids(site: Path) -> None:
    feed = ElementTree.fromstring((site / "feed.xml").read_text("utf-8"))  # noqa: S314 - our own
    entries = feed.findall(f"{_ATOM}entry")
    assert len(entries) == len({each.findtext(f"{_ATOM}id") for each in entries}) > 10
    assert entries[0].findtext(f"{_ATOM}updated") == "2026-11-09T02:17:00+00:00"
    for entry in (feed, *entries):
        link = entry.find(f"{_ATOM}link")
        assert link is not None
        address = urlsplit(link.attrib["href"])
        assert address.netloc == "contracts.example.test"
        assert (site / address.path.lstrip("/")).is_file()


def test_nights_are_carried_on_after_their_runs_are_gone(
    site: Path, build: RunCommand, tmp_path: Path
) -> None:
    shutil.copytree(site, "kept")
    later = NIGHTS[39].started + timedelta(days=1)
    Night(later).write(tmp_path / "tonight")
    ended = build("tonight", "-o", "kept")
    assert ended.code == 0, ended.err
    assert "81 nights" in ended.out
    assert "Contradicted now (0)" in text_of(Path("kept/target-dev-nightly.html"))
    assert re.search("holds again.*draft-delete-removes", text_of(Path("kept/index.html")))
    assert "2026-10-11" in text_of(Path("kept/clause-draft-get-content.html"))
    with zipfile.ZipFile("kept/runs.zip") as archive:
        content = json.loads(archive.read(archive.namelist()[0]))
    assert mistakes("night", [content]) == []


def test_a_job_for_each_realm_makes_one_night(build: RunCommand, tmp_path: Path) -> None:
    first = NIGHTS[0].started
    for number, realm in enumerate(("abs-dev", "bch-dev")):
        Night(first + timedelta(minutes=30 * number), realms=(realm,)).write(tmp_path / "reports")
    Night(first + timedelta(hours=2), realms=("abs-dev",)).write(tmp_path / "reports")
    assert "2 nights on 1 board" in build("-o", "site").out


def test_a_run_from_the_future_is_not_the_last_night(build: RunCommand, tmp_path: Path) -> None:
    for started in (NIGHTS[0].started, datetime.now(UTC) + timedelta(hours=3)):
        Night(started).write(tmp_path / "reports")
    assert "1 night on 1 board" in build("-o", "site").out
    assert "it begins in the future" in text_of(Path("site/index.html"))


def test_two_targets_of_one_name_are_told_apart(build: RunCommand, tmp_path: Path) -> None:
    for hours, address in ((0, "https://one.example.test"), (1, "https://two.example.test")):
        Night(NIGHTS[0].started + timedelta(hours=hours), base_url=address).write(tmp_path / "reports")
    assert build("-o", "site").code == 0
    assert "dev at https://one.example.test · nightly" in text_of(Path("site/index.html"))
    assert {path.name for path in Path("site").glob("badge-*")} == {
        "badge-dev-nightly.svg",
        "badge-dev-nightly-2.svg",
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere", "-o", "site"], "there is no 'nowhere'"),
        (["-o", "site"], "there is no 'reports'"),
        (["empty", "-o", "site"], "no kept run in empty"),
        (["reports", "-o", "full"], "'full' holds what is no site of this command"),
        (["reports", "-o", "site", "--compare", "dev", "moon"], "no run and no target 'moon'"),
        (["reports", "-o", "site", "--url", "javascript:x"], "--url is no web address"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_4(build: RunCommand, words: list[str], message: str) -> None:
    Path("empty").mkdir()
    Path("full").mkdir()
    Path("full/thesis.txt").write_text("", "utf-8")
    if words[0] == "reports":
        NIGHTS[0].write(Path("reports"))
    ended = build(*words)
    assert (ended.code, len(ended.err.splitlines())) == (4, 1)
    assert message in ended.err
    assert Path("full/thesis.txt").exists()


def test_hostile_words_of_a_service_do_nothing(build: RunCommand, tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>\"'&]]>\u202e\x1b[31m"
    first = NIGHTS[0].started
    Night(first).write(tmp_path / "reports")
    Night(
        first + timedelta(days=1),
        red={("draft-get-content", "abs-dev"): hostile},
        cells={("list-skip", "abs-dev"): (Verdict.INCONCLUSIVE, hostile)},
        observed={("draft-success-status", "abs-dev"): hostile},
        target="dev",
    ).write(tmp_path / "reports")
    assert build("-o", "site").code == 0
    for page in Path("site").glob("*.html"):
        Page(page)
        assert "<script" not in page.read_text("utf-8")
    ElementTree.parse("site/feed.xml")  # noqa: S314 - our own
    assert "<script>alert(1)</script>" in text_of(Path("site/clause-draft-get-content.html"))


def test_pages_fit_a_phone_and_can_be_read_by_keyboard_alone(
    site: Path, running_browser: chromium.Browser
) -> None:
    names = ("index", "target-dev-nightly", "clause-uid-too-short", "compare-1", "realms-dev-nightly")
    for name in names:
        tab = running_browser.open(site / f"{name}.html", 390, 800)
        assert tab.run("document.documentElement.scrollWidth") == 390, name
        assert tab.complaints() == []
        assert all(urlsplit(address).scheme == "file" for address in tab.requested())
        assert tab.run("getComputedStyle(document.querySelector('.wrap')).maxWidth") == "1180px"
        tab.press("Tab")
        assert tab.run("document.activeElement.textContent") == "Skip to the content"
        tab.press("Enter")
        tab.press("Tab")
        assert tab.run("!!document.activeElement.closest('main')"), name
        reachable = "[...document.querySelectorAll('a, summary')].every((e) => e.tabIndex >= 0)"
        assert tab.run(reachable) is True
        tab.close()
