"""`site`: a static site over the kept runs: targets, nights and clauses, badges, and a feed of changes.

It asks nothing of the network, holds no script, and carries the nights on in `runs.zip`, which the next build reads.
"""

from __future__ import annotations

import re
import shutil
import uuid
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from itertools import combinations, groupby, pairwise
from pathlib import Path
from typing import Any, Final

import msgspec
from jinja2 import Environment
from markupsafe import Markup, escape

from contracts.errors import UsageError
from contracts.evidence.record import Verdict
from contracts.evidence.verdicts import DeviationState
from contracts.file_formats import convert, mismatch, parse
from contracts.history.drift import between_realms
from contracts.history.observed_facts import SEEN
from contracts.history.runs import GREEN, RED
from contracts.interface.catalogue import Catalogue, Clause
from contracts.interface.operations import ANY_REALM, WORKFLOW_REALMS
from contracts.reports.html import KINDS, MEANINGS, is_web
from contracts.reports.html_sections import template_environment, template_text
from contracts.reports.kept_runs import CLOCKS_DIFFER, KeptRun, Unreadable, archive_members, kept_runs, moment
from contracts.reports.timeline import (
    TURNS,
    Board,
    Difference,
    Night,
    NightRun,
    Side,
    Span,
    Turn,
    boards_of,
    day,
    differences,
    drift_says,
    night_run,
    realm_differences,
    shown_value,
    side_of_night,
    side_of_run,
    worst,
)
from contracts.reports.verdict_json import DeviationEntry
from contracts.safe_text import cut, printable

ARCHIVE: Final = "runs.zip"
#: Nights of a target that are carried on.
KEPT_NIGHTS: Final = 400
_PACKAGE: Final = "contracts.reports"
_REPORT: Final = "index.html"
_FEED_ENTRIES: Final = 60
_NAMESPACE: Final = uuid.UUID("6f0a7c1e-5a52-4b43-9d1c-0b7f4d5a2e11")
_REALMS: Final = (ANY_REALM, *WORKFLOW_REALMS)
#: Verdicts that nobody has to look after.
_QUIET: Final = frozenset({"pass", "observed", "untested"})
#: Colours of a badge, dark enough for white letters.
_COLOURS: Final[Mapping[str, str]] = {
    "pass": "#1e7038",
    "fail": "#b3261e",
    "error": "#7b3fa0",
    "inconclusive": "#9a5200",
    "interrupted": "#9a5200",
    "nothing tested": "#62676d",
    "usage": "#62676d",
}
_LETTER: Final = 6.6
#: What held is a lower bar than what did not, so that a line can be read without its colours.
_HEIGHTS: Final = {False: 'height="10"', True: 'y="2" height="6"'}


@dataclass(frozen=True, slots=True)
class Built:
    """What a build made: pages, nights and boards; `notes` are lines for people."""

    pages: int
    nights: int
    boards: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Packed:
    """A run, packed to a few kilobytes, with what it is looked up by."""

    name: str
    started: datetime
    series: tuple[str, str, tuple[str, ...]]
    left_out: str | None
    content: bytes

    @property
    def run(self) -> NightRun:
        """The run itself."""
        return msgspec.json.decode(zlib.decompress(self.content), type=NightRun)


@dataclass
class _Runs:
    """All runs of a build; a year of them does not fit into memory unless it is packed."""

    packed: dict[tuple[str, str, tuple[str, ...]], _Packed] = field(default_factory=dict)
    folders: dict[str, Path] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, run: NightRun) -> None:
        """Take a run in; one that is there already is taken once."""
        series = (run.target.name, run.profile, run.realms)
        try:
            written = msgspec.json.encode(run)
            msgspec.json.decode(written, type=NightRun)
        except (UnicodeEncodeError, msgspec.ValidationError) as error:
            self.notes.append(f"passed over: {printable(run.run)}: {printable(mismatch(error))}")
            return
        content = zlib.compress(written, 3)
        packed = _Packed(run.run, moment(run.started), series, run.left_out, content)
        self.packed[run.started, run.target.name, run.realms] = packed

    def forget_beyond(self, keep: int) -> None:
        """Leave only the latest runs of each series."""
        counts: dict[tuple[str, str, tuple[str, ...]], int] = defaultdict(int)
        for key, run in sorted(self.packed.items(), key=lambda item: item[1].started, reverse=True):
            counts[run.series] += 1
            if counts[run.series] > keep:
                del self.packed[key]

    def oldest_first(self) -> list[_Packed]:
        """Return the runs in order."""
        return sorted(self.packed.values(), key=lambda run: (run.started, run.name))


def build(
    sources: Sequence[Path],
    out: Path,
    catalogue: Catalogue,
    *,
    defects: Mapping[str, Sequence[tuple[str, str]]] | None,
    cases: Mapping[str, Sequence[str]],
    pairs: Sequence[tuple[str, str]] = (),
    url: str = "",
    keep: int = KEPT_NIGHTS,
) -> Built:
    """Build the site.

    Args:
        sources: Where kept runs lie (`kept_runs`); also earlier sites, by their `runs.zip`.
        out: Folder of the site; nights that an earlier build left in it are carried on.
        defects: Clause id to name and sentence of the defects that prove it; None where no sandbox is installed.
        cases: Clause id to the names of its cases.
        pairs: Names of runs, or of targets for their last night, to be put side by side.
        url: Address that the site is published at, for the feed; without it the feed's links are relative.
        keep: Nights of each target that are carried on.

    Raises:
        UsageError: a source cannot be used, there is no run, a pair names none, or the folder is no site.
    """
    _refuse_foreign(out)
    runs = _gathered([*sources, *([out] if (out / ARCHIVE).is_file() else [])])
    if not runs.packed:
        raise UsageError(f"no kept run in {', '.join(map(str, sources))}: `registry-contracts run` makes one")
    runs.forget_beyond(keep)
    # A run from the future would pass for the last night until its day has come.
    latest = datetime.now(UTC) + CLOCKS_DIFFER
    ahead = "it begins in the future: a clock is wrong"
    left_out = {
        run.name: run.left_out or ahead for run in runs.oldest_first() if run.left_out or run.started > latest
    }
    if len(left_out) == len(runs.packed):
        raise UsageError(f"no run to show: {next(iter(left_out))}: {next(iter(left_out.values()))}")
    boards = boards_of(run.run for run in runs.oldest_first() if run.name not in left_out)
    site = _Site(out, catalogue, boards, defects, cases, url)
    sides = _sides(pairs, runs, boards)
    out.mkdir(parents=True, exist_ok=True)
    _write_archive(out / ARCHIVE, runs)
    for page in (*out.glob("*.html"), *out.glob("badge-*.svg")):
        page.unlink()
    site.write_all(sides, left_out, runs.folders)
    nights = sum(len(board.nights) for board in boards)
    return Built(site.pages, nights, len(boards), tuple(runs.notes))


def _refuse_foreign(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise UsageError(f"'{out}' is a file; name a folder with -o")
    if out.is_dir() and any(out.iterdir()) and not (out / ARCHIVE).is_file():
        raise UsageError(
            f"'{out}' holds what is no site of this command; name an empty or new folder with -o"
        )


def _gathered(sources: Iterable[Path]) -> _Runs:
    runs = _Runs()
    for source in sources:
        for archive in _archives(source):
            for run in _archived(archive):
                runs.add(run)
        # The archive of a site holds no verdicts, so that it is passed over here.
        for kept in kept_runs([source]):
            if isinstance(kept, Unreadable):
                runs.notes.append(f"passed over: {kept.says}")
            else:
                runs.add(night_run(kept))
                _remember_folder(runs, kept)
    return runs


def _remember_folder(runs: _Runs, kept: KeptRun) -> None:
    folder = Path(kept.place).parent
    if (folder / _REPORT).is_file():
        runs.folders[kept.name] = folder


def _archives(source: Path) -> list[Path]:
    if source.is_dir():
        return [path for path in (source / ARCHIVE,) if path.is_file()]
    return [source] if source.name == ARCHIVE and source.is_file() else []


def _archived(path: Path) -> Iterator[NightRun]:
    for name, content in archive_members(path):
        yield convert(parse(content, f"{path}:{name}"), NightRun, f"{path}:{name}")


def _write_archive(path: Path, runs: _Runs) -> None:
    fresh = path.with_name(f".{path.name}")
    with zipfile.ZipFile(fresh, "w") as archive:
        for number, run in enumerate(runs.oldest_first()):
            # The moment is in the run; a fixed one here makes two builds of the same runs alike.
            member = zipfile.ZipInfo(f"{number:05}-{run.name}.json")
            archive.writestr(member, zlib.decompress(run.content), zipfile.ZIP_DEFLATED)
    fresh.replace(path)


def _sides(pairs: Sequence[tuple[str, str]], runs: _Runs, boards: Sequence[Board]) -> list[tuple[Side, Side]]:
    wanted = {name for pair in pairs for name in pair}
    sides = {board.target: side_of_night(f"{board.target}, last night", board) for board in reversed(boards)}
    sides |= {run.name: side_of_run(run.run) for run in runs.oldest_first() if run.name in wanted}
    for name in wanted - sides.keys():
        raise UsageError(f"no run and no target '{name}' to compare; runs are called as their folders are")
    return [(sides[one], sides[other]) for one, other in pairs]


@dataclass(frozen=True, slots=True)
class _Red:
    """A clause that is contradicted now, with the realms in which it is so alike."""

    clause: str
    verdict: str
    realms: tuple[str, ...]
    since: str
    last_judged: str
    accepted: str
    issue: str
    was: str


@dataclass
class _Site:
    out: Path
    catalogue: Catalogue
    boards: Sequence[Board]
    defects: Mapping[str, Sequence[tuple[str, str]]] | None
    cases: Mapping[str, Sequence[str]]
    url: str
    pages: int = 0
    _reports: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._environment = _environment()
        self._slugs: dict[int, str] = {}
        for board in self.boards:
            base = re.sub(r"[^A-Za-z0-9]+", "-", f"{board.target}-{board.profile}").strip("-").lower()
            taken = set(self._slugs.values())
            free = (base if not number else f"{base}-{number + 1}" for number in range(len(self.boards) + 1))
            self._slugs[id(board)] = next(slug for slug in free if slug not in taken)
        addresses: dict[tuple[str, str], set[str]] = defaultdict(set)
        for board in self.boards:
            addresses[board.target, board.profile].add(board.address)
        self._ambiguous = {key for key, several in addresses.items() if len(several) > 1}
        self._clauses = {clause.id: clause for clause in self.catalogue}
        self._environment.globals.update(
            slug=self.slug,
            title=self.title,
            night_page=self.night_page,
            known=self._clauses,
            turns=TURNS,
            kinds=KINDS,
            meanings=MEANINGS,
            day=day,
            boards=self.boards,
            reports=self._reports,
            built=f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
        )

        self._realms = {id(board): _realms_of(board) for board in self.boards}

    def slug(self, board: Board) -> str:
        """The part of file names that is about a board."""
        return self._slugs[id(board)]

    def title(self, board: Board) -> str:
        """A board in words; with its address where two targets are called the same."""
        where = f" at {board.address}" if (board.target, board.profile) in self._ambiguous else ""
        return f"{board.target}{where} · {board.profile}"

    def night_page(self, board: Board, number: int) -> str:
        """The page of a night."""
        return f"night-{self.slug(board)}-{board.nights[number].started:%Y%m%d-%H%M%S}.html"

    def write_all(
        self, sides: Sequence[tuple[Side, Side]], left_out: Mapping[str, str], folders: Mapping[str, Path]
    ) -> None:
        """Write every page, badge and the feed."""
        style = f":root {{ --realms: 4; --cell: 106px; }}\n{template_text(_PACKAGE, 'report.css')}"
        (self.out / "style.css").write_text(style + template_text(_PACKAGE, "site.css"), "utf-8")
        for board in self.boards:
            self._copy_reports(board, folders)
        compared = [*self._pairs(), *sides]
        pages = [f"compare-{number + 1}.html" for number in range(len(compared))]
        titles = [
            (page, f"{one.name} and {other.name}") for page, (one, other) in zip(pages, compared, strict=True)
        ]
        self._page(
            "index.html",
            "site_index.html.j2",
            summaries=[(b, *self._summary(b)) for b in self.boards],
            compared=titles,
            left_out=left_out,
        )
        for board in self.boards:
            self._board(board)
        for page, (one, other) in zip(pages, compared, strict=True):
            self._page(
                page, "site_compare.html.j2", one=one, other=other, rows=_by_kind(differences(one, other))
            )
        seen = {clause for board in self.boards for clause, _ in board.spans}
        for clause in dict.fromkeys([*self._clauses, *sorted(seen)]):
            self._clause(clause)
        self._feed()

    def _page(self, name: str, template: str, **content: Any) -> None:
        text = self._environment.get_template(template).render(page=name, **content)
        (self.out / name).write_text(text, "utf-8", newline="\n")
        self.pages += 1

    def _copy_reports(self, board: Board, folders: Mapping[str, Path]) -> None:
        for run in board.latest.runs:
            if run.run in folders:
                name = f"report-{self.slug(board)}-{'-'.join(run.realms)}.html"
                shutil.copyfile(folders[run.run] / _REPORT, self.out / name)
                self._reports[run.run] = name

    def _pairs(self) -> Iterator[tuple[Side, Side]]:
        """Yield the last nights of every two targets of one profile."""
        for one, other in combinations(self.boards, 2):
            if one.profile == other.profile:
                yield side_of_night(self.title(one), one), side_of_night(self.title(other), other)

    def _summary(self, board: Board) -> tuple[list[_Red], Markup, list[Turn]]:
        return self._red(board), _night_strip(board), board.latest.turns

    def _red(self, board: Board) -> list[_Red]:
        realms_by_row: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for (clause, realm), spans in board.spans.items():
            if board.red_since(clause, realm) is None:
                continue
            # A night that could not judge it, or left the realm out, takes nothing back.
            last = next(span for span in reversed(spans) if span.verdict in RED)
            entry = board.acceptance(clause, realm)
            key = (
                clause,
                last.verdict,
                self._since(board, clause, realm),
                _last_judged(board, last),
                _acceptance(entry) if entry else "",
                entry.issue if entry else "",
                last.reason,
            )
            realms_by_row[key].append(realm)
        rows = [_Red(key[0], key[1], tuple(realms), *key[2:]) for key, realms in realms_by_row.items()]
        return sorted(rows, key=lambda row: (Verdict(row.verdict).rank, row.clause))

    def _since(self, board: Board, clause: str, realm: str) -> str:
        since = board.red_since(clause, realm)
        first = board.nights[board.spans[clause, realm][0].first].started
        mark = board.marks[clause, realm]
        at_least = "at least since" if mark.last_green is None and since == first.isoformat() else "since"
        return f"{at_least} {day(since)}" if since else ""

    def _board(self, board: Board) -> None:
        slug = self.slug(board)
        (self.out / f"badge-{slug}.svg").write_text(_badge(board), "utf-8")
        rows = [self._row(board, clause, realms) for clause, realms in self._realms[id(board)].items()]
        self._page(
            f"target-{slug}.html",
            "site_target.html.j2",
            board=board,
            families=[
                _family(name, list(group)) for name, group in groupby(rows, key=lambda row: row["family"])
            ],
            red=self._red(board),
            strip=_night_strip(board),
        )
        self._page(
            f"realms-{slug}.html",
            "site_realms.html.j2",
            board=board,
            rows=realm_differences(board),
            observed=between_realms(board.facts),
            realms=[realm for realm in WORKFLOW_REALMS if any(r == realm for _, r in board.latest.cells)],
        )
        for night in board.nights:
            self._page(
                self.night_page(board, night.number),
                "site_night.html.j2",
                board=board,
                night=night,
                findings=[finding for run in night.runs for finding in run.findings],
                deviations=[deviation for run in night.runs for deviation in run.deviations],
                drift=[(change, drift_says(change)) for run in night.runs for change in run.drift],
                worst_cells=_not_held(night),
            )

    def _row(self, board: Board, clause: str, realms: Sequence[str]) -> dict[str, Any]:
        spans = [board.spans[clause, realm] for realm in realms]
        described = self._clauses.get(clause)
        last = {realm: board.spans[clause, realm][-1] for realm in realms}
        return {
            "clause": clause,
            "family": described.family if described else "no longer in the catalogue",
            "level": str(described.level) if described else "",
            "wording": described.wording if described else "",
            "strip": _strip(_merged(spans), board),
            "now": _grouped({r: s.verdict for r, s in last.items() if s.last == board.latest.number}),
            "since": next(filter(None, (self._since(board, clause, realm) for realm in realms)), ""),
        }

    def _clause(self, clause_id: str) -> None:
        clause: Clause | None = self._clauses.get(clause_id)
        sections = []
        for board in self.boards:
            realms = self._realms[id(board)].get(clause_id, [])
            if realms:
                sections.append(self._section(board, clause_id, realms))
        self._page(
            f"clause-{clause_id}.html",
            "site_clause.html.j2",
            id=clause_id,
            clause=clause,
            sections=sections,
            cases=self.cases.get(clause_id, ()),
            defects=None if self.defects is None else self.defects.get(clause_id, ()),
        )

    def _section(self, board: Board, clause: str, realms: Sequence[str]) -> dict[str, Any]:
        facts: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
        for place, values in board.known.items():
            if place.clause == clause:
                for point, value in values.items():
                    facts[place.operation, "" if point == SEEN else point][place.realm] = shown_value(value)
        return {
            "board": board,
            "realms": [
                {
                    "realm": realm,
                    "strip": _strip(board.spans[clause, realm], board),
                    "span": board.spans[clause, realm][-1],
                    "since": self._since(board, clause, realm),
                }
                for realm in realms
            ],
            "history": _history(board, clause, realms),
            "findings": [
                span
                for (name, _), spans in board.findings.items()
                if name == clause
                for span in reversed(spans)
            ],
            "accepted": [deviation for (name, *_), deviation in board.accepted.items() if name == clause],
            "drift": [
                (first, last, drift_says(change), change.realms)
                for first, last, change in board.drift.values()
                if change.clause == clause
            ],
            "changes": [(number, change) for number, change in board.observed if change.clause == clause],
            "facts": [(*key, _grouped(values)) for key, values in sorted(facts.items())],
        }

    def _feed(self) -> None:
        entries = [(board, night) for board in self.boards for night in board.nights if night.turns]
        entries.sort(key=lambda entry: entry[1].started, reverse=True)
        latest = max(board.latest.started for board in self.boards)
        feed = [
            {
                "id": uuid.uuid5(_NAMESPACE, f"{self.title(board)} {night.started.isoformat()}"),
                "board": board,
                "night": night,
                "updated": night.started.isoformat(),
                "title": f"{self.title(board)}: {_counted_changes(night)}",
            }
            for board, night in entries[:_FEED_ENTRIES]
        ]
        base = f"{self.url.rstrip('/')}/" if self.url else ""
        names = " ".join(sorted(self.title(board) for board in self.boards))
        text = self._environment.get_template("site_feed.xml.j2").render(
            entries=feed, updated=latest.isoformat(), base=base, id=uuid.uuid5(_NAMESPACE, base or names)
        )
        (self.out / "feed.xml").write_text(text, "utf-8", newline="\n")


def _environment() -> Environment:
    environment = template_environment(_PACKAGE)
    environment.tests["web"] = is_web
    environment.filters["cut"] = cut
    environment.filters["letters"] = ", ".join
    # Thousands of pages say the same few of them, and calling a macro takes long.
    macros: Any = environment.get_template("macros.html.j2").module
    names = cache(macros.names)
    environment.globals.update(
        chip=cache(macros.chip),
        marked=cache(macros.marked),
        names=lambda realms: names(tuple(realms)),
        clause_link=cache(_clause_link),
    )
    return environment


def _clause_link(clause: str) -> Markup:
    return Markup('<a href="clause-{0}.html">{0}</a>').format(printable(clause))


def _last_judged(board: Board, span: Span) -> str:
    """The day on which a contradiction was seen last; empty where that is the last night."""
    return "" if span.last == board.latest.number else f"{board.nights[span.last].started:%Y-%m-%d}"


def _acceptance(entry: DeviationEntry) -> str:
    """The owner and the expiry date of an accepted deviation; or that it has expired."""
    over = "ran out: " if entry.course is DeviationState.EXPIRED else ""
    return f"{over}accepted by {entry.owner} until {entry.expires}"


def _counted_changes(night: Night) -> str:
    """The changes of a night in a few words, those that matter most first."""
    counts: dict[str, int] = defaultdict(int)
    for turn in night.turns:
        counts[turn.kind] += 1
    return ", ".join(f"{counts[kind]} {words}" for kind, words in TURNS.items() if counts[kind])


def _realms_of(board: Board) -> dict[str, list[str]]:
    """The clauses of a board with the realms that they were judged in, in the usual order."""
    realms: dict[str, list[str]] = {}
    for clause, realm in board.spans:
        realms.setdefault(clause, []).append(realm)
    order = {realm: number for number, realm in enumerate(_REALMS)}
    return {clause: sorted(names, key=lambda name: order.get(name, 9)) for clause, names in realms.items()}


def _not_held(night: Night) -> list[tuple[str, str, list[str]]]:
    """The clauses of a night that are neither held nor observed, by verdict, the worst first."""
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (clause, realm), verdict in night.cells.items():
        if verdict not in _QUIET:
            places[verdict, clause].append(realm)
    rows = [(verdict, clause, realms) for (verdict, clause), realms in places.items()]
    return sorted(rows, key=lambda row: (Verdict(row[0]).rank, row[1]))


def _family(name: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The lines of a family of clauses, folded where none of them needs a look."""
    counts = Counter(worst(verdict for verdict, _ in row["now"]) for row in rows if row["now"])
    ordered = sorted(counts.items(), key=lambda count: Verdict(count[0]).rank)
    return {"name": name, "rows": rows, "counts": ordered, "open": not counts.keys() <= _QUIET}


def _by_kind(rows: Iterable[Difference]) -> list[tuple[str, list[Difference]]]:
    ordered = sorted(
        rows, key=lambda row: (["verdict", "finding", "observation"].index(row.kind), row.clause)
    )
    return [(kind, list(group)) for kind, group in groupby(ordered, key=lambda row: row.kind)]


def _grouped(values: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """Values with the keys that have them."""
    groups: dict[str, list[str]] = defaultdict(list)
    for key, value in values.items():
        groups[value].append(key)
    return list(groups.items())


def _merged(several: Sequence[Sequence[Span]]) -> list[Span]:
    """Spans of several realms as one line of the worst."""
    edges = sorted({edge for spans in several for span in spans for edge in (span.first, span.last + 1)})
    merged: list[Span] = []
    for first, end in pairwise(edges):
        there = [span.verdict for spans in several for span in spans if span.first <= first <= span.last]
        if there:
            verdict = worst(there)
            if merged and merged[-1].verdict == verdict and merged[-1].last == first - 1:
                merged[-1].last = end - 1
            else:
                merged.append(Span(verdict, first, end - 1))
    return merged


def _history(board: Board, clause: str, realms: Sequence[str]) -> list[tuple[Span, list[str]]]:
    """The spans of a clause, the latest first, realms that were alike together."""
    groups: dict[tuple[int, int, str], tuple[Span, list[str]]] = {}
    for realm in realms:
        for span in board.spans[clause, realm]:
            groups.setdefault((span.first, span.last, span.verdict), (span, []))[1].append(realm)
    return sorted(groups.values(), key=lambda group: (-group[0].last, -group[0].first))


def _strip(spans: Sequence[Span], board: Board) -> Markup:
    """A line of nights as a picture; it says in words what the last spans are."""
    nights = board.nights
    pieces = [
        f'<rect class="b-{span.verdict}" x="{span.first}" width="{span.last - span.first + 1}" '
        f"{_HEIGHTS[span.verdict in GREEN]}><title>{_dates(board, span)}: {span.verdict}</title></rect>"
        for span in spans
    ]
    label = "; ".join(f"{_dates(board, span)}: {span.verdict}" for span in list(reversed(spans))[:3])
    return Markup(  # noqa: S704 - verdicts, numbers and dates
        f'<svg class="nights" viewBox="0 0 {len(nights)} 10" preserveAspectRatio="none" role="img" '
        f'aria-label="{label}">{"".join(pieces)}</svg>'
    )


def _dates(board: Board, span: Span) -> str:
    first, last = (f"{board.nights[number].started:%Y-%m-%d}" for number in (span.first, span.last))
    return first if first == last else f"{first} to {last}"


def _night_strip(board: Board) -> Markup:
    spans: list[Span] = []
    for night in board.nights:
        kind = KINDS[night.exit_code.word]
        if spans and spans[-1].verdict == kind:
            spans[-1].last = night.number
        else:
            spans.append(Span(kind, night.number, night.number))
    return _strip(spans, board)


def _badge(board: Board) -> str:
    """A badge: target, verdict and day of the last night."""
    word = board.latest.exit_code.word
    label, message = printable(board.target), f"{word} {board.latest.started:%Y-%m-%d}"
    left, right = (round(len(text) * _LETTER + 14) for text in (label, message))
    label_text, message_text = escape(label), escape(message)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{label_text}: {message_text}"><title>{label_text}: {message_text}</title>'
        f'<rect width="{left}" height="20" fill="#444a50"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{_COLOURS[word]}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2}" y="14">{label_text}</text>'
        f'<text x="{left + right / 2}" y="14">{message_text}</text></g></svg>\n'
    )
