"""A trial of a proof, which is a whole run of the suite on one sandbox, and its result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from registry_contracts.errors import ExitCode
from registry_contracts.file_formats import Count, Name, Seconds
from registry_contracts.proving.services import AND, PERMANENT_RECORDS
from registry_contracts.settings.target import Pace

#: Stands for an unaltered service, or a run without a network fault.
FAITHFUL: Final = "faithful"


class Part(StrEnum):
    """The parts of a proof."""

    FIXED = "fixed"
    DRAWN = "drawn"
    MANNERS = "manners"


class Kind(StrEnum):
    """What a trial tries."""

    FAULT = "fault"
    SERVICE = "service"
    NETWORK_FAULT = "network fault"
    CANARY = "canary"
    KILL = "kill"


class Outcome(StrEnum):
    """How a trial ended."""

    FOUND = "found"
    PASS = "pass"  # noqa: S105 - a verdict
    UNCONFIRMED = "found, but the faithful service does not pass the same cases"
    ELSEWHERE = "found on another clause alone"
    ADVISORY = "found on a should clause alone"
    UNALTERED = "made no difference"
    UNPROMISED = "found where nothing is promised"
    INCONCLUSIVE = "inconclusive"
    NOT_SEEN = "not seen"
    FALSE_ALARM = "false alarm"
    FALSE_PASS = "false pass"  # noqa: S105 - as above
    TOO_MANY_LEFT = "too many permanent records left"
    UNLISTED = "drafts left that the verdict does not list"
    NOT_JUDGED = "not judged"
    WRONG_END = "does not end as it must"
    CHANGED = "changed the records of others"
    LEFT = "left something unlisted behind"
    TROUBLE = "trouble"

    @property
    def good(self) -> bool:
        """Whether the suite did its job."""
        return self in (Outcome.FOUND, Outcome.PASS)


@dataclass(frozen=True)
class Trial:
    """What is tried.

    Attributes:
        name: The fault, the variants with a plus between them, or the network fault; for a canary the options of the
            run, for a kill the seconds until it.
        realms: The realms that are judged.
        seed: Seed of generated data and of the trial's own random choices.
        clauses: The clauses that the fault breaks.
        narrow: Run only the cases of these clauses.
        only: Run only the cases of these test functions; empty for all.
        fault: The sandbox's fault in a trial of a network fault, or of a canary.
        reachable: Whether a run can succeed in spite of the network fault.
    """

    part: Part
    kind: Kind
    name: str
    realms: tuple[Name, ...]
    seed: int
    profile: Name = "gate"
    clauses: tuple[Name, ...] = ()
    narrow: bool = False
    only: tuple[Name, ...] = ()
    fault: str = ""
    reachable: bool = True

    @property
    def shown(self) -> str:
        """The trial in words."""
        beneath = f" over {self.fault}" if self.fault else ""
        profile = "" if self.profile == "gate" else f" in {self.profile}"
        return " ".join(f"{self.kind} {self.name.replace(AND, ' ')}{beneath}{profile}".split())


def function_of(case: str) -> str:
    """The test function of a case."""
    return case.partition("[")[0]


@dataclass(frozen=True)
class Found:
    """The first confirmed finding of a run on a clause."""

    clause: Name
    must: bool
    case: Name
    text: str


@dataclass
class Result:
    """The result of a trial.

    Attributes:
        exit_code: That of the run; without meaning if the run was ended at its finding.
        findings: The first confirmed one on each clause.
        found_by: Cases with a finding that counts.
        passed: Cases that the faithful service passed.
        requests: How many the run sent.
        altered, mattered: How often the fault made a difference, and how often against a promise; None if the
            sandbox did not answer.
        reasons: Clauses that were not judged, and why.
        false_passes: Must clauses that passed although the service never showed what they are about, and why.
        permanent: Permanent records that the run left in the realm with most of them.
        unlisted: Drafts that are left and that the verdict does not list.
        wrong: What a canary changed, or a killed run left.
        trouble: Why the trial has no result; empty otherwise.
        confirmed: Whether the faithful service passes a case that found the fault; None if it was not tried.
        first_run: Why the first run did not judge the service, if this is the second run, alone.
    """

    trial: Trial
    exit_code: Count = 0
    findings: tuple[Found, ...] = ()
    found_by: tuple[Name, ...] = ()
    passed: tuple[Name, ...] = ()
    requests: Count = 0
    seconds: Seconds = 0.0
    altered: int | None = None
    mattered: int | None = None
    reasons: tuple[str, ...] = ()
    false_passes: tuple[str, ...] = ()
    permanent: Count = 0
    unlisted: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    trouble: str = ""
    confirmed: bool | None = None
    first_run: str = ""

    @property
    def outcome(self) -> Outcome:
        """How the trial ended."""
        if self.trouble:
            return Outcome.TROUBLE
        match self.trial.kind:
            case Kind.FAULT:
                return self._of_fault()
            case Kind.SERVICE:
                return self._of_service()
            case Kind.NETWORK_FAULT:
                return Outcome.PASS if self._ends_as_due() else Outcome.WRONG_END
            case Kind.CANARY:
                return Outcome.CHANGED if self.wrong else Outcome.PASS
            case Kind.KILL:
                return Outcome.LEFT if self.wrong else Outcome.PASS

    @property
    def due(self) -> bool:
        """Whether the trial has to end well. A drawn fault that made no difference need not be found."""
        return self.trial.part is not Part.DRAWN or self.outcome is not Outcome.UNALTERED

    @property
    def found(self) -> bool:
        """Whether a fault was found on a clause that it breaks, by a case that the faithful service passes."""
        return self.outcome is Outcome.FOUND

    @property
    def why(self) -> str:
        """Why the trial did not end well."""
        return "; ".join(self._why()) or f"exit code {self.exit_code}, {self.requests} requests"

    def _why(self) -> Iterator[str]:
        if self.trouble:
            yield self.trouble
        yield from self.wrong
        yield from self.false_passes
        yield from (f"{found.clause}: {found.text}" for found in self.findings)
        yield from self.reasons
        if self.outcome is Outcome.TOO_MANY_LEFT:
            yield f"{self.permanent} permanent records"
        yield from self.unlisted
        if self.outcome in (Outcome.NOT_SEEN, Outcome.UNALTERED):
            yield f"altered {self.altered} exchanges, {self.mattered} of them against a promise"

    def _of_fault(self) -> Outcome:
        own = {found.clause for found in self.findings} & set(self.trial.clauses)
        if self.mattered == 0:
            accused = any(found.must for found in self.findings)
            return Outcome.UNPROMISED if accused else Outcome.UNALTERED
        if self.found_by:
            return Outcome.UNCONFIRMED if self.confirmed is False else Outcome.FOUND
        if any(found.must for found in self.findings):
            return Outcome.ELSEWHERE
        if own:
            return Outcome.ADVISORY
        unseen = self.exit_code == ExitCode.PASS and not self.reasons
        return Outcome.NOT_SEEN if unseen else Outcome.INCONCLUSIVE

    def _of_service(self) -> Outcome:
        # A variant may read a should clause in another way; the faithful sandbox keeps them all.
        if any(found.must or self.trial.name == FAITHFUL for found in self.findings):
            return Outcome.FALSE_ALARM
        if self.false_passes:
            return Outcome.FALSE_PASS
        most = Pace().permanent_records if self.trial.name == FAITHFUL else PERMANENT_RECORDS
        if self.permanent > most:
            return Outcome.TOO_MANY_LEFT
        if self.unlisted:
            return Outcome.UNLISTED
        return Outcome.PASS if self.exit_code == ExitCode.PASS else Outcome.NOT_JUDGED

    def _ends_as_due(self) -> bool:
        trial = self.trial
        if not trial.fault:
            return self.exit_code == (ExitCode.PASS if trial.reachable else ExitCode.INCONCLUSIVE)
        failed = self.exit_code == ExitCode.FAIL and bool(self.found_by)
        return failed or (not trial.reachable and self.exit_code == ExitCode.INCONCLUSIVE)
