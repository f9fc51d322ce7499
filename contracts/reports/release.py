"""May an SDK be released against a target? Answered from the verdicts that kept runs left, without a request.

The rules are those of a gate: the same clauses count, the same deviations are accepted, the same waivers help. What a
gate sees at once is put together from the latest run of each realm, and held against the age that is allowed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Annotated, Final, Literal

from msgspec import Meta

from contracts.errors import UsageError
from contracts.evidence.findings import Standing, missing_settings
from contracts.evidence.record import ExitCode, Verdict
from contracts.evidence.run_comparison import ON_PURPOSE
from contracts.evidence.terms import PROFILES, Consumer, Terms
from contracts.evidence.verdicts import DeviationState
from contracts.file_formats import Count, Format, Moment, Name, Names, Seconds, one_of
from contracts.history.observed_facts import Severity
from contracts.interface.catalogue import Catalogue, Clause, Level
from contracts.interface.description import where_in_words
from contracts.interface.operations import ANY_REALM
from contracts.reports.kept_runs import CLOCKS_DIFFER, KeptRun, Unreadable, on_this_machine, selection_of
from contracts.reports.verdict_json import FORMAT, CellEntry, DeviationEntry, FindingEntry
from contracts.safe_text import many
from contracts.settings.target import SANDBOX, target_in_words

#: The first profile that takes in every must clause.
_WHOLE: Final = "gate"
_EXIT_CODES: Final = {"pass": 0, "fail": 1, "inconclusive": 6}
_LONGEST: Final = 240
#: How the reason of a clause begins that cases took up and did not come to.
_UNREACHED: Final = "no assertion was reached"


class ReliedRun(Format, frozen=True, kw_only=True):
    """A run that the answer rests on, for these realms."""

    run: Name
    place: Name
    profile: str
    realms: Names
    started: Moment
    age_seconds: Seconds
    verdict: str
    base_url: str


class PassedOver(Format, frozen=True):
    """A kept run that the answer does not rest on, and why."""

    run: Name
    place: Name
    reason: Name


class Contradiction(Format, frozen=True, kw_only=True):
    """What forbids the release: a must that the SDK relies on, or an accepted deviation that has to be changed."""

    clause: Name
    operation: str | None
    realms: Names
    says: Name
    methods: Names
    runs: Names


class Unjudged(Format, frozen=True):
    """A clause that the runs give no verdict on, and why."""

    clause: Name
    realms: Names
    reason: Name


class ReleaseAnswer(Format, frozen=True, kw_only=True):
    """Whether an SDK may be released against a target, from kept runs.

    `judged` counts the must clauses that hold; `unjudged` are those that keep the answer from being a pass, while
    `not_covered` are those that a gate would not judge either, and realms that were not asked about. `accepted` names
    the accepted deviations and waivers that the answer needs.
    """

    format: Literal[1] = 1
    verdict: Annotated[str, one_of(*_EXIT_CODES)]
    exit_code: Annotated[int, Meta(extra_json_schema={"enum": sorted(_EXIT_CODES.values())})]
    reason: Name
    target: Name
    base_url: str | None
    consumer: str | None
    realms: Names
    asked: Moment
    max_age_seconds: Seconds
    judged: Count
    rests_on: tuple[ReliedRun, ...]
    passed_over: tuple[PassedOver, ...]
    failing: tuple[Contradiction, ...]
    unjudged: tuple[Unjudged, ...]
    not_covered: tuple[Unjudged, ...]
    accepted: tuple[Name, ...]
    notes: tuple[Name, ...]

    @property
    def line(self) -> str:
        """The answer in one line, as a gate's last line has it."""
        target = target_in_words(self.target, self.base_url) if self.base_url else self.target
        return f"{self.verdict}: {self.reason} (exit code {self.exit_code}, target: {target})"


@dataclass(frozen=True)
class Question:
    """What is asked.

    Attributes:
        target: Name of the target, as the runs call it.
        base_url: Its address, where it is known: runs on another one are passed over.
        realms: Realms that the answer has to cover.
        terms: The consumer and, where there is a file of them, the deviations; without one those of each run hold.
        max_age: How long ago a run may have begun.
        now: The moment of the question (UTC).
    """

    target: str
    base_url: str | None
    realms: tuple[str, ...]
    terms: Terms
    max_age: timedelta
    now: datetime

    @property
    def day(self) -> date:
        """The day that deviations are held against."""
        return self.now.astimezone(UTC).date()


def answer(question: Question, runs: Iterable[KeptRun | Unreadable], catalogue: Catalogue) -> ReleaseAnswer:
    """Answer from kept runs.

    Raises:
        UsageError: runs that are called the same went to different addresses, and none is named.
    """
    kept = list(runs)
    damaged = [run for run in kept if isinstance(run, Unreadable)]
    readable = [run for run in kept if isinstance(run, KeptRun)]
    mine = [run for run in readable if run.verdict.target.name == question.target]
    _refuse_two_addresses(question, mine)
    others = sorted({run.verdict.target.name for run in readable} - {question.target})
    of_target = _Runs(question, sorted(mine, key=_age), damaged)
    return _Answer(question, of_target, others, catalogue).given()


def _refuse_two_addresses(question: Question, runs: Sequence[KeptRun]) -> None:
    addresses = sorted({run.verdict.target.base_url for run in runs if not run.embedded})
    if question.base_url is None and len(addresses) > 1:
        raise UsageError(
            f"kept runs on '{question.target}' went to different addresses ({', '.join(addresses)}); "
            "name the one that is meant with --base-url"
        )


def _age(run: KeptRun) -> tuple[datetime, str]:
    return run.started, run.name


@dataclass
class _Runs:
    """The kept runs on a target, oldest first: those that an answer rests on, and those that are passed over."""

    question: Question
    all: Sequence[KeptRun]
    damaged: Sequence[Unreadable]

    @cached_property
    def unfit(self) -> dict[str, str]:
        """Place of a run to why nothing can rest on it."""
        return {
            run.place: reason for run in self.all if (reason := next(filter(None, self._flaws(run)), None))
        }

    def _flaws(self, run: KeptRun) -> Iterator[str | None]:
        verdict, chosen = run.verdict, selection_of(run.verdict)
        yield self.why_foreign(run)
        yield run.unfit
        if verdict.exit_code == ExitCode.ERROR:
            yield f"the suite broke in it: {verdict.reason}"
        if verdict.environment.breaker:
            yield f"it was stopped early: {verdict.environment.breaker}"
        if _depth(run) < PROFILES.index(_WHOLE):
            yield f"its profile is {verdict.profile}, which does not take in every must clause"
        if chosen is not None:
            yield f"it judged a selection ({chosen})"
        yield _narrower(run, self.question.terms.consumer)
        if not set(verdict.realms) & set(self.question.realms):
            yield f"it judged other realms ({', '.join(verdict.realms)})"

    def why_foreign(self, run: KeptRun) -> str | None:
        """Why a run says nothing of the target, not even that it contradicts something."""
        question, address = self.question, run.verdict.target.base_url
        if run.started > question.now + CLOCKS_DIFFER:
            return f"it begins in the future ({run.verdict.started}): a clock is wrong"
        if question.base_url is not None and not run.embedded and address != question.base_url:
            return f"it went to {address}, not to {question.base_url}"
        if question.target != SANDBOX and question.base_url is None and on_this_machine(address):
            return f"it went to this machine ({address}), not to an environment; --base-url says that it is meant"
        return None

    @cached_property
    def deciding(self) -> dict[str, KeptRun]:
        """The latest run of each realm that can be relied on, whatever its age."""
        latest: dict[str, KeptRun] = {}
        for run in self.all:
            if run.place not in self.unfit:
                latest |= dict.fromkeys((*run.verdict.realms, ANY_REALM), run)
        return {realm: run for realm, run in latest.items() if realm in (*self.question.realms, ANY_REALM)}

    @property
    def used(self) -> list[KeptRun]:
        return sorted({run.place: run for run in self.deciding.values()}.values(), key=_age, reverse=True)

    def relied(self, run: KeptRun) -> ReliedRun:
        verdict = run.verdict
        return ReliedRun(
            run=run.name,
            place=run.place,
            profile=verdict.profile,
            realms=tuple(realm for realm in self.question.realms if self.deciding.get(realm) is run),
            started=verdict.started,
            age_seconds=max(0.0, round((self.question.now - run.started).total_seconds())),
            verdict=verdict.verdict,
            base_url=verdict.target.base_url,
        )

    def passed_over(self) -> Iterator[PassedOver]:
        used = {run.place for run in self.used}
        for run in reversed(self.all):
            if run.place not in used:
                yield PassedOver(
                    run.name, run.place, self.unfit.get(run.place, "a later run judged its realms")
                )
        yield from (PassedOver(run.name, run.place, run.says) for run in self.damaged)

    def newer_damaged(self) -> Iterator[Unreadable]:
        """Yield damaged verdicts that, by the names of their folders, may be later than what is relied on."""
        oldest = min((f"{run.started:%Y%m%d-%H%M%S}" for run in self.used), default="")
        yield from (run for run in self.damaged if not run.name[:1].isdigit() or run.name[:15] >= oldest)


@dataclass
class _Answer:
    """Puts an answer together from the runs on the target."""

    question: Question
    runs: _Runs
    other_targets: Sequence[str]
    catalogue: Catalogue
    _accepted: dict[str, None] = field(default_factory=dict)

    def given(self) -> ReleaseAnswer:
        question = self.question
        failing = (*self._contradictions(), *self._stale_deviations(), *self._drift())
        unjudged, not_covered = self._unjudged()
        judged = len({clause.id for clause, realm in self._covered() if self._holds(clause, realm)})
        verdict, reason = self._verdict(failing, unjudged, judged)
        return ReleaseAnswer(
            verdict=verdict,
            exit_code=_EXIT_CODES[verdict],
            reason=reason,
            target=question.target,
            base_url=question.base_url or next((r.verdict.target.base_url for r in self.runs.used), None),
            consumer=self._consumer.file if self._consumer else None,
            realms=question.realms,
            asked=question.now.isoformat(timespec="seconds"),
            max_age_seconds=question.max_age.total_seconds(),
            judged=judged,
            rests_on=tuple(map(self.runs.relied, self.runs.used)),
            passed_over=tuple(self.runs.passed_over()),
            failing=failing,
            unjudged=unjudged,
            not_covered=not_covered,
            accepted=tuple(self._accepted),
            notes=tuple(self._notes()),
        )

    @property
    def _consumer(self) -> Consumer | None:
        return self.question.terms.consumer

    # What forbids the release.

    def _contradictions(self) -> Iterator[Contradiction]:
        """Yield the musts that the deciding runs, or any later ones, saw contradicted."""
        seen: dict[tuple[str, str | None], list[tuple[FindingEntry, KeptRun]]] = defaultdict(list)
        for run in self.runs.all:
            if self.runs.why_foreign(run) is None and run.unfit != ON_PURPOSE:
                for finding in self._counted(run):
                    decides = self.runs.deciding.get(finding.realm)
                    if decides is None or run is decides or run.started > decides.started:
                        seen[finding.clause, finding.operation].append((finding, run))
        for (clause, operation), group in seen.items():
            yield Contradiction(
                clause=clause,
                operation=operation,
                realms=_distinct(finding.realm for finding, _ in group),
                says=f"expected {group[0][0].expected}; seen {group[0][0].seen}"[:_LONGEST],
                methods=self.question.terms.methods_of([operation]),
                runs=_distinct(run.name for _, run in group),
            )

    def _counted(self, run: KeptRun) -> Iterator[FindingEntry]:
        """Yield the findings of a run that fail a gate of this consumer today."""
        levels = {clause.id: clause.level for clause in run.verdict.clauses}
        for finding in run.verdict.findings:
            firm = finding.confirmed and finding.standing in {Standing.FAIL, Standing.DEVIATION}
            level = levels.get(finding.clause, str(Level.MUST))
            if not firm or level != Level.MUST or not self._matters(finding.clause, finding.realm, finding):
                continue
            if (accepted := self._acceptance(run, finding)) is None:
                yield finding
            elif self.runs.deciding.get(finding.realm) is run:
                self._accepted[f"{finding.clause} ({finding.operation}): {accepted}"] = None

    def _matters(self, clause: str, realm: str, finding: FindingEntry) -> bool:
        in_question = realm in (*self.question.realms, ANY_REALM)
        return in_question and self.question.terms.counts(clause, realm, finding.operation)

    def _acceptance(self, run: KeptRun, finding: FindingEntry) -> str | None:
        """How a finding is accepted today, in words; None when it is not."""
        question = self.question
        if question.terms.deviations_file is not None:
            entry = question.terms.accepted(finding.clause, finding.realm, finding.operation, question.day)
            return f"accepted until {entry.expires} ({entry.place})" if entry else None
        stored = next(
            (deviation for deviation in run.verdict.deviations if _concerns(deviation, finding)), None
        )
        if stored is None or stored.expires < question.day:
            return None
        return f"accepted until {stored.expires} ({stored.file}:{stored.line} of {run.name})"

    def _stale_deviations(self) -> Iterator[Contradiction]:
        """Yield the deviations that a gate of this consumer would want changed: they ran out, or no longer happen."""
        stored: dict[tuple[str, str | None], list[tuple[DeviationEntry, KeptRun]]] = defaultdict(list)
        for run in self.runs.used:
            for entry in run.verdict.deviations:
                stored[entry.clause, entry.operation].append((entry, run))
        deviations = self.question.terms.deviations
        for (clause, operation), group in stored.items():
            mine = next(
                (
                    deviation
                    for deviation in deviations
                    if (deviation.clause, deviation.operation) == (clause, operation)
                ),
                None,
            )
            if self.question.terms.deviations_file is not None and mine is None:
                continue
            expires = mine.expires if mine else group[0][0].expires
            place = mine.place if mine else f"{group[0][0].file}:{group[0][0].line}"
            realms = mine.realms if mine else group[0][0].realms
            says = _stale(expires, self.question.day, [entry for entry, _ in group])
            if says is not None and self._concerned(clause, operation, realms):
                yield Contradiction(
                    clause=clause,
                    operation=operation,
                    realms=realms,
                    says=f"{place}: the deviation {says}",
                    methods=self.question.terms.methods_of([operation]),
                    runs=_distinct(run.name for _, run in group),
                )

    def _concerned(self, clause: str, operation: str | None, realms: Iterable[str]) -> bool:
        listed = self.catalogue.clause(clause).operations if clause in self.catalogue else ()
        operations = (operation,) if operation else listed
        own = [realm for realm in realms if realm in (*self.question.realms, ANY_REALM)]
        return any(self.question.terms.counts(clause, realm, name) for realm in own for name in operations)

    def _drift(self) -> Iterator[Contradiction]:
        """Yield the breaking drift that failed a run which was told to fail on it."""
        for run in self.runs.used:
            verdict = run.verdict
            otherwise = any(
                finding.standing is Standing.FAIL and finding.counted for finding in verdict.findings
            )
            if (
                verdict.exit_code != ExitCode.FAIL
                or otherwise
                or any(deviation.fails for deviation in verdict.deviations)
            ):
                continue
            for change in verdict.drift:
                realms = [realm for realm in change.realms if self.runs.deciding.get(realm) is run]
                if change.severity is Severity.BREAKING and any(
                    self.question.terms.counts(change.clause, realm, change.operation) for realm in realms
                ):
                    yield Contradiction(
                        clause=change.clause,
                        operation=change.operation,
                        realms=tuple(realms),
                        says=f"drift, {change.change}: {change.point}: {change.was}, now {change.now}",
                        methods=self.question.terms.methods_of([change.operation]),
                        runs=(run.name,),
                    )

    # What the runs cannot say.

    def _covered(self) -> Iterator[tuple[Clause, str]]:
        """Yield the must clauses that matter to the consumer, with the realms that were asked about."""
        for clause in self.catalogue:
            for realm in clause.realms:
                in_question = realm == ANY_REALM or realm in self.question.realms
                covered = self._consumer is None or self._consumer.covers(clause, realm)
                if clause.level is Level.MUST and in_question and covered:
                    yield clause, realm

    def _cell(self, clause: Clause, realm: str) -> CellEntry | None:
        run = self.runs.deciding.get(realm)
        return _cells(run).get((clause.id, realm)) if run is not None else None

    def _holds(self, clause: Clause, realm: str) -> bool:
        cell = self._cell(clause, realm)
        return cell is not None and cell.held > 0 and cell.verdict is not Verdict.INCONCLUSIVE

    def _unjudged(self) -> tuple[tuple[Unjudged, ...], tuple[Unjudged, ...]]:
        """The clauses that keep the answer from being a pass, and those that a gate would not judge either."""
        blocking: dict[tuple[str, str], list[str]] = defaultdict(list)
        beside: dict[tuple[str, str], list[str]] = defaultdict(list)
        for clause, realm in self._covered():
            if realm not in self.runs.deciding:
                continue
            reason, blocks = self._why_unjudged(clause, realm)
            if reason is None:
                continue
            waiver = self.question.terms.waived.get(clause.id)
            if blocks and waiver:
                self._accepted[f"{clause.id} is waived: {waiver}"] = None
            elif blocks:
                blocking[clause.id, reason].append(realm)
            else:
                beside[clause.id, reason].append(realm)
        return _grouped(blocking), _grouped(beside)

    def _why_unjudged(self, clause: Clause, realm: str) -> tuple[str | None, bool]:
        """Why there is no verdict on a clause, and whether a gate would refuse that; None where there is one."""
        cell = self._cell(clause, realm)
        if cell is None:
            return "the run knows no such clause: an older suite made it", clause.untested is None
        reason = cell.reason or "no reason was given"
        if cell.verdict in {Verdict.INCONCLUSIVE, Verdict.ERROR}:
            return reason, True
        if cell.verdict is Verdict.UNTESTED:
            wanting = missing_settings(reason) is not None or reason.startswith(_UNREACHED)
            return reason, wanting and clause.untested is None
        if cell.verdict is Verdict.FAIL and not cell.held:
            return "contradicted on operations that the consumer does not use, and held on none", True
        return None, False

    def _disagreements(self) -> Iterator[str]:
        """Yield what an earlier run saw contradicted and the deciding one did not, though that takes nothing back.

        A later run of the same profile or a wider one that sees nothing does take it back, unless it came and went.
        """
        for run in self.runs.all:
            young = self.question.now - run.started <= self.question.max_age
            if not young or self.runs.why_foreign(run) is not None or run.unfit == ON_PURPOSE:
                continue
            for finding in self._counted(run):
                decides = self.runs.deciding.get(finding.realm)
                if decides is None or run.started >= decides.started or _has(decides, finding):
                    continue
                where = f"{finding.clause} ({finding.operation}) {where_in_words(finding.operation, [finding.realm])}"
                earlier = f"{where}: {run.name} ({run.verdict.profile}) saw it contradicted"
                if finding.intermittent:
                    yield f"{earlier} in {finding.rate[0]} of {finding.rate[1]} replays, {decides.name} did not"
                elif _depth(decides) < _depth(run):
                    yield f"{earlier}, {decides.name} ({decides.verdict.profile}) does not look that far"

    def _unknown(self, unjudged: Sequence[Unjudged]) -> Iterator[str]:
        """Yield why there can be no pass."""
        question = self.question
        if not self.runs.all:
            there = f"; there are runs on {', '.join(self.other_targets)}" if self.other_targets else ""
            yield f"no kept run on '{question.target}'{there}"
            return
        missing = [realm for realm in question.realms if realm not in self.runs.deciding]
        if missing:
            latest = self.runs.unfit.get(self.runs.all[-1].place) if not self.runs.used else None
            why = f"; the latest run, {self.runs.all[-1].name}: {latest}" if latest else ""
            yield f"no run to rest on in {', '.join(missing)}{why}"
        for run in self.runs.used:
            if question.now - run.started > question.max_age:
                yield f"{run.name} is {length(question.now - run.started)} old, {length(question.max_age)} are allowed"
        yield from (f"{run.name} cannot be read: {run.says}" for run in self.runs.newer_damaged())
        yield from (f"runs disagree on {line}" for line in dict.fromkeys(self._disagreements()))
        if unjudged:
            first = unjudged[0]
            clauses = many(len({cell.clause for cell in unjudged}), "must clause")
            yield f"{clauses} not judged: {first.clause} in {', '.join(first.realms)}: {first.reason}"

    def _verdict(
        self, failing: Sequence[Contradiction], unjudged: Sequence[Unjudged], judged: int
    ) -> tuple[str, str]:
        consumer = f" of {self._consumer.file}" if self._consumer else ""
        if failing:
            places = ", ".join(
                _distinct(f"{cause.clause} ({cause.operation or 'any operation'})" for cause in failing[:3])
            )
            more = f" and {len(failing) - 3} more" if len(failing) > 3 else ""
            methods = _distinct(name for cause in failing for name in cause.methods)
            affected = f"; affects {', '.join(methods)}" if methods else ""
            realms = ", ".join(_distinct(realm for cause in failing for realm in cause.realms))
            return "fail", f"{many(len(failing), 'contradiction')} in {realms}: {places}{more}{affected}"
        if reasons := list(self._unknown(unjudged)):
            more = f"; and {many(len(reasons) - 2, 'reason')} more" if len(reasons) > 2 else ""
            return "inconclusive", "; ".join(reasons[:2]) + more
        if not judged:
            return "inconclusive", f"the runs judged no must clause{consumer}"
        where = many(len(self.question.realms), "realm")
        oldest = max(self.question.now - run.started for run in self.runs.used)
        sentence = (
            f"{many(judged, 'must clause')}{consumer} held in {where}, judged {length(oldest)} ago at most"
        )
        return "pass", sentence + (f"; {len(self._accepted)} accepted or waived" if self._accepted else "")

    def _notes(self) -> Iterator[str]:
        for run in self.runs.used:
            outside = sum(
                finding.standing is Standing.FAIL
                and not self._matters(finding.clause, finding.realm, finding)
                for finding in run.verdict.findings
            )
            if outside:
                yield f"{many(outside, 'finding')} of {run.name} outside what was asked about, not counted"
        versions = _distinct(run.verdict.versions.get("suite", "unknown") for run in self.runs.used)
        if len(versions) > 1:
            yield f"the runs were made by different versions of the suite: {', '.join(versions)}"
        older = [run.name for run in self.runs.used if run.verdict.format < FORMAT]
        yield from (f"the verdict of {name} has an older format" for name in older)


def _narrower(run: KeptRun, consumer: Consumer | None) -> str | None:
    """Say that a run was limited to a consumer that does not take in all that is asked about; None when it does."""
    limits = run.verdict.consumer
    if limits is None:
        return None
    required = consumer or Consumer("")
    pairs = ((limits.operations, required.operations), (limits.clauses, required.clauses))
    for limited, wanted in pairs:
        if limited and (not wanted or not set(wanted) <= set(limited)):
            return f"it was limited to {limits.file}, which does not take in all that is asked about"
    return None


def _cells(run: KeptRun) -> Mapping[tuple[str, str], CellEntry]:
    return {
        (clause.id, realm): cell for clause in run.verdict.clauses for realm, cell in clause.realms.items()
    }


def _concerns(entry: DeviationEntry, finding: FindingEntry) -> bool:
    same = entry.clause == finding.clause and finding.realm in entry.realms
    return same and entry.operation in {None, finding.operation}


def _stale(expires: date, day: date, entries: Sequence[DeviationEntry]) -> str | None:
    """Say why an accepted deviation has to be changed, as a gate does; None when it need not be."""
    if expires < day:
        return f"ran out on {expires}; settle it with {entries[0].owner}, or set a later date"
    happens = {realm for entry in entries for realm in entry.happens_in}
    gone = _distinct(realm for entry in entries for realm in entry.gone_in)
    judged = any(entry.course in {DeviationState.GONE, DeviationState.EXPIRED} for entry in entries)
    return (
        f"no longer happens in {', '.join(gone)}: take the entry out"
        if gone and judged and not happens
        else None
    )


def _has(run: KeptRun, finding: FindingEntry) -> bool:
    return any(other.id == finding.id for other in run.verdict.findings)


def _depth(run: KeptRun) -> int:
    return PROFILES.index(run.verdict.profile) if run.verdict.profile in PROFILES else -1


def _grouped(groups: Mapping[tuple[str, str], Sequence[str]]) -> tuple[Unjudged, ...]:
    return tuple(Unjudged(clause, tuple(realms), reason) for (clause, reason), realms in groups.items())


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def length(age: timedelta) -> str:
    """How long ago something was, or may have been, for people."""
    seconds = age.total_seconds()
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} min"
