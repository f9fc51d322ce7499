"""The page for people: hostile content is inert, nothing is fetched, every link leads somewhere."""

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec import structs

from contracts.evidence.run_folder import collect
from contracts.evidence.verdicts import judge
from contracts.exchanges.exchange import Body
from contracts.reports import html
from contracts.reports.writers import write_all


class Page(HTMLParser):
    """Collects what a browser would run or fetch, and the text it would show."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.shown = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.shown += data


@pytest.fixture
def page(folder: Path, made_up: SimpleNamespace) -> Page:
    write_all(folder, ["html"], catalogue=made_up.catalogue)
    return Page((folder / "index.html").read_text("utf-8"))


def test_a_hostile_body_is_shown_and_does_nothing(page: Page) -> None:
    assert "<script>alert(1)</script>" in page.shown
    assert "\\x1b[31m\\u202egnp.exe\\ud800" in page.shown
    assert page.tags.count("script") == 1
    assert "img" not in page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "style"]


def test_the_page_asks_nothing_of_the_network_and_runs_no_script_but_its_own(
    folder: Path, page: Page
) -> None:
    fetched = {value for name, value in page.attributes if name in {"src", "href", "action", "data"}}
    assert all(value.startswith(("#", "data:,")) for value in fetched)
    policy = next(value for _, value in page.attributes if value.startswith("default-src"))
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    style = (Path(html.__file__).parent / "templates" / "report.css").read_text()
    assert "url(" not in style
    assert "@import" not in style
    assert (folder / "index.html").stat().st_size < 3_000_000


def test_every_link_within_the_page_leads_somewhere(page: Page) -> None:
    targets = {value for name, value in page.attributes if name == "id"}
    links = {value[1:] for name, value in page.attributes if name == "href" and value.startswith("#")}
    assert links <= targets
    assert any(link.startswith("finding-") for link in links)


def test_the_page_stays_small_whatever_was_found(folder: Path, made_up: SimpleNamespace) -> None:
    """Every place a service's words can come to is full of what takes most room."""
    record = collect(folder)
    (exchange, *_), (finding, *_) = record.exchanges.values(), record.findings
    body = Body.of(b"<" * 100_000)
    long = replace(exchange, request_body=body)
    swollen = replace(
        record,
        exchanges={"x": long},
        findings=tuple(
            structs.replace(
                finding,
                operation=f"op{number}",
                seen="<" * 6_000,
                expected="<" * 6_000,
                curl=("&" * 5_000,),
                exchanges=("x",) * 12,
            )
            for number in range(450)
        ),
        observations=tuple(
            replace(
                record.observations[0],
                operation=f"op{number}",
                seen={f"{point}{'<' * 200}": "<" * 1_500 for point in range(14)},
                realm=realm,
            )
            for number in range(150)
            for realm in ("abs-dev", "bch-dev")
        ),
        residue=(replace(record.residue[0], identifier="<" * 3_000),) * 500,
        problems=("<" * 3_000,) * 500,
    )
    page = html.render(swollen, judge(swollen, made_up.catalogue))
    assert len(page.encode()) < 3_000_000
    shown = " ".join(Page(page).shown.split())
    assert "findings more in" in shown
    assert "cut short; all of it stands in the files beside it" in shown
