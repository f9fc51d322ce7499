"""Nights without a service: verdicts in the real format over the real catalogue, with what a test plants in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from contracts.evidence.deviations import DeviationState
from contracts.evidence.findings import Standing, finding_id
from contracts.evidence.record import Verdict
from contracts.file_formats import EXIT_CODES, write_file
from contracts.history.observed_facts import Kind
from contracts.interface.catalogue import Catalogue, Level, load_catalogue
from contracts.reports.verdict_json import (
    FILE_NAME,
    CauseEntry,
    CellEntry,
    ClauseEntry,
    ConsumerEntry,
    CountedChange,
    DeviationEntry,
    EnvironmentEntry,
    FindingEntry,
    ObservationEntry,
    ReproduceEntry,
    TargetEntry,
    VerdictFile,
)

REALMS = ("abs-dev", "bch-dev", "chm-dev", "ort-dev")
_WORDS = {code: word for word, code in EXIT_CODES.items()}


@dataclass
class Night:
    """One run as a test wants it: everything holds but what is planted.

    `red` maps clause and realm to what was seen there; `cells` gives other verdicts, with their reason. `observed`
    maps a silent clause and a realm to what was seen. `accepted` are deviations; a red place that one speaks of stands
    as a deviation until its day. `more` replaces members of the file.
    """

    started: datetime
    target: str = "dev"
    base_url: str = "https://registry.example.test"
    profile: str = "nightly"
    realms: Sequence[str] = REALMS
    red: Mapping[tuple[str, str], str] = field(default_factory=dict)
    cells: Mapping[tuple[str, str], tuple[Verdict, str]] = field(default_factory=dict)
    observed: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    accepted: Sequence[DeviationEntry] = ()
    drift: Sequence[CountedChange] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"{self.started:%Y%m%d-%H%M%S}-{self.target}"

    def write(self, reports: Path) -> Path:
        """Write its `verdict.json` into a folder of its own below the reports, and return that folder."""
        folder = reports / self.name
        folder.mkdir(parents=True)
        write_file(folder / FILE_NAME, self.verdict(), VerdictFile)
        return folder

    def verdict(self) -> VerdictFile:
        """The content of its `verdict.json`."""
        catalogue = load_catalogue()
        findings = tuple(self._finding(catalogue, *place, seen) for place, seen in self.red.items())
        clauses = tuple(self._clauses(catalogue))
        counts = dict.fromkeys(Verdict, 0)
        for clause in clauses:
            for cell in clause.realms.values():
                counts[cell.verdict] += 1
        failing = any(each.standing is Standing.FAIL for each in findings) or any(
            entry.fails for entry in self.accepted
        )
        stuck = counts[Verdict.INCONCLUSIVE] > 0
        code = 1 if failing else 6 if stuck else 0
        content: dict[str, Any] = {
            "verdict": _WORDS[code],
            "exit_code": code,
            "reason": f"{len(findings)} findings" if failing else "as planted",
            "complete": True,
            "problems": (),
            "interrupted": False,
            "target": TargetEntry(self.target, "development", self.base_url),
            "profile": self.profile,
            "strict": False,
            "waived": {},
            "consumer": None,
            "waivers": (),
            "notes": (),
            "seed": 1,
            "realms": tuple(self.realms),
            "started": self.started.isoformat(),
            "finished": (self.started + timedelta(minutes=4)).isoformat(),
            "seconds": 240.0,
            "workers": 1,
            "command": f"registry-contracts run --target {self.target} --profile {self.profile}",
            "versions": {"suite": "0.1.0"},
            "cases": len(clauses),
            "counts": counts,
            "clauses": clauses,
            "findings": findings,
            "causes": tuple(self._causes(findings)),
            "observations": tuple(
                ObservationEntry(clause, realm, catalogue.clause(clause).operations[0], "planted", seen)
                for (clause, realm), seen in self.observed.items()
            ),
            "drift": tuple(self.drift),
            "deviations": tuple(self.accepted),
            "environment": EnvironmentEntry(requests=2000),
            "residue": (),
            "leftovers": (),
        }
        return VerdictFile(**{**content, **self.more})

    def _clauses(self, catalogue: Catalogue) -> Any:
        for clause in catalogue:
            realms = [realm for realm in clause.realms if realm == "any" or realm in self.realms]
            cells = {realm: self._cell(catalogue, clause.id, realm) for realm in realms}
            if cells:
                yield ClauseEntry(clause.id, str(clause.level), cells)

    def _cell(self, catalogue: Catalogue, clause_id: str, realm: str) -> CellEntry:
        clause = catalogue.clause(clause_id)
        place = (clause_id, realm)
        if place in self.red:
            finding = self._finding(catalogue, clause_id, realm, self.red[place])
            word = Verdict(str(finding.standing))
            return CellEntry(word, 1, 0, 1, 1, (finding.id,), self.red[place])
        if place in self.cells:
            word, reason = self.cells[place]
            return CellEntry(word, int(word is Verdict.PASS), int(word is Verdict.PASS), 0, 1, (), reason)
        if clause.untested:
            return CellEntry(Verdict.UNTESTED, 0, 0, 0, 0, (), clause.untested)
        word = Verdict.OBSERVED if clause.level is Level.SILENT else Verdict.PASS
        return CellEntry(word, 1, 1, 0, 1, (), None)

    def _finding(self, catalogue: Catalogue, clause_id: str, realm: str, seen: str) -> FindingEntry:
        clause = catalogue.clause(clause_id)
        operation = clause.operations[0]
        entry = next((each for each in self.accepted if _speaks(each, clause_id, realm)), None)
        held = entry is not None and entry.expires >= self.started.date()
        firm = Standing.FAIL if clause.level is Level.MUST else Standing.ADVISORY
        return FindingEntry(
            id=finding_id(clause_id, realm, operation),
            clause=clause_id,
            realm=realm,
            operation=operation,
            standing=Standing.DEVIATION if held else firm,
            role="author",
            expected="what the clause says",
            seen=seen,
            confirmed=True,
            intermittent=False,
            rate=(2, 2),
            counted=True,
            methods=(),
            deviation=f"{entry.file}:{entry.line}" if held and entry else None,
            cases=("planted",),
            exchanges=(),
            reproduce=ReproduceEntry("registry-contracts replay", ()),
        )

    def _causes(self, findings: Sequence[FindingEntry]) -> Any:
        groups: dict[tuple[Any, ...], list[FindingEntry]] = {}
        for each in findings:
            groups.setdefault((each.clause, each.operation, each.standing), []).append(each)
        for group in groups.values():
            lead = group[0]
            yield CauseEntry(
                id=lead.id,
                clause=lead.clause,
                operation=lead.operation,
                standing=lead.standing,
                counted=True,
                realms=tuple(each.realm for each in group),
                should="What the clause says.",
                was=f"But {lead.operation} showed: {lead.seen}.",
                faults=(),
                findings=tuple(each.id for each in group),
                follows=(),
                blocked_cases=0,
                blocked_clauses=(),
            )


def _speaks(entry: DeviationEntry, clause: str, realm: str) -> bool:
    return entry.clause == clause and realm in entry.realms


def deviation(
    clause: str, *realms: str, expires: str, owner: str = "drafts team", **more: Any
) -> DeviationEntry:
    """An accepted deviation that happens in its realms, unless `more` says otherwise."""
    content: dict[str, Any] = {
        "clause": clause,
        "realms": realms,
        "operation": None,
        "reason": "Known, and promised to be settled.",
        "owner": owner,
        "issue": "https://tracker.example.test/17",
        "expires": date.fromisoformat(expires),
        "profile": "gate",
        "file": "deviations/dev.toml",
        "line": 3,
        "course": DeviationState.HAPPENS,
        "days_left": 30,
        "happens_in": realms,
        "gone_in": (),
        "unjudged_in": (),
        "findings": (),
        "counted": True,
        "fails": False,
        "warns": False,
        "says": f"happens in {', '.join(realms)}; accepted until {expires}",
    }
    return DeviationEntry(**{**content, **more})


def consumer_of(*operations: str, file: str = "other.toml") -> ConsumerEntry:
    """What a run was limited to."""
    return ConsumerEntry(file, operations, {}, (), ())


def changed(clause: str, operation: str, was: str, now: str, *realms: str) -> CountedChange:
    """A breaking change of an observation against the baseline."""
    return CountedChange(
        severity=Kind.STATUS_CHANGED.severity,
        change=str(Kind.STATUS_CHANGED),
        clause=clause,
        operation=operation,
        realms=realms,
        point="status",
        was=was,
        now=now,
        counted=True,
    )
