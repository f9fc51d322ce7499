"""What a proof has to try: every defect and every variant on every seed, and every case that has killed nothing yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from contracts.cases.marks import Profile
from contracts.checks.table import UNIVERSAL
from contracts.errors import UsageError
from contracts.interface.catalogue import Level, load_catalogue
from contracts.proving.trial_plugins import CaseFacts, CaseIndex
from contracts.proving.trials import (
    AND,
    LAST_FOR_DEFECTS,
    SLOW,
    STAGES,
    ProofTrial,
    TrialKind,
    TrialResult,
    drawn,
    pairs,
    stage_of_case,
)
from contracts.sandbox.defects import ALL as DEFECTS
from contracts.sandbox.defects import Defect
from contracts.sandbox.defects import load as defect_named
from contracts.sandbox.variants import COMBINATIONS

#: Defects whose finding waits for a time limit.
_HANGS = "hangs-"
#: Defects that show once in so many times: repetition finds them, which is the nightly profile's; other realms do not.
_RARE = "-one-in-"
PLAIN = "plain"


class ProofPart(StrEnum):
    """What a proof proves."""

    DEFECTS = "defects"
    CASES = "cases"
    CALM = "calm"
    PAIRS = "pairs"


@dataclass(frozen=True)
class Proof:
    """What is asked for.

    Attributes:
        defects: Names; empty for all.
        clauses: Only defects of these clauses; empty for all.
        parts: What to prove.
        whole: Judge every case of the profile against each defect, not just those of its clause.
        to_the_end: Do not stop a trial at its finding.
    """

    seeds: tuple[int, ...]
    defects: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    parts: tuple[ProofPart, ...] = tuple(ProofPart)
    whole: bool = False
    to_the_end: bool = False

    @property
    def complete(self) -> bool:
        """Whether it is about everything there is."""
        return not self.defects and not self.clauses and set(self.parts) == set(ProofPart)


def chosen_defects(proof: Proof) -> list[Defect]:
    """The defects that a proof is about.

    Raises:
        UsageError: an unknown defect or clause, or none is left.
    """
    named = [defect_named(name) for name in proof.defects] or list(DEFECTS)
    clauses = {load_catalogue().clause(clause).id for clause in proof.clauses}
    found = [defect for defect in named if not clauses or defect.clause in clauses]
    if not found:
        raise UsageError(f"no defect breaks {', '.join(sorted(clauses))}; 'prove' has nothing to try")
    return found


def first_trials(proof: Proof) -> list[ProofTrial]:
    """The trials a proof begins with; those that wait come first, so that nothing waits for them at the end."""
    return sorted(_first_trials(proof), key=lambda trial: not waits(trial))


def _first_trials(proof: Proof) -> Iterator[ProofTrial]:
    for seed in proof.seeds:
        if ProofPart.DEFECTS in proof.parts:
            for defect in chosen_defects(proof):
                yield _trial(proof, defect, seed)
        if ProofPart.CALM in proof.parts:
            yield ProofTrial(TrialKind.PLAIN, PLAIN, "", seed, whole=True)
            for name in COMBINATIONS:
                yield ProofTrial(TrialKind.VARIANT, name, "", seed, whole=True)
            yield from _longer(seed)
        if ProofPart.PAIRS in proof.parts:
            yield from _pairs(proof, seed)


def _longer(seed: int) -> Iterator[ProofTrial]:
    """The longer profiles, each once on a few variants that are drawn: they send what no gate run sends."""
    for stage, (profile, _) in enumerate(STAGES):
        if Profile(profile) in (Profile.NIGHTLY, Profile.FULL):
            yield ProofTrial(TrialKind.VARIANT, drawn(seed, profile), "", seed, stage, whole=True)


def _pairs(proof: Proof, seed: int) -> Iterator[ProofTrial]:
    """Each variant with one other, with the cases dealt out to the seeds: it meets every case once in the proof."""
    turn, of = proof.seeds.index(seed), len(proof.seeds)
    for name in pairs(turn):
        yield ProofTrial(TrialKind.VARIANT, name, "", seed, whole=True, share=(turn, of))


def waits(trial: ProofTrial) -> bool:
    """Whether a trial waits for answers most of its time, and leaves the cores to others."""
    return trial.name.startswith(_HANGS) or SLOW in COMBINATIONS.get(trial.name, trial.name.split(AND))


def _trial(proof: Proof, defect: Defect, seed: int) -> ProofTrial:
    return ProofTrial(
        TrialKind.DEFECT, defect.name, defect.clause, seed, whole=proof.whole, stop=not proof.to_the_end
    )


def next_stage(result: TrialResult) -> ProofTrial | None:
    """The trial that goes further where a defect lived; None when it was killed or there is nothing further."""
    trial = result.trial
    again = trial.kind is TrialKind.DEFECT and trial.only is None and not result.killed
    if not again or trial.stage == LAST_FOR_DEFECTS:
        return None
    return trial.further(LAST_FOR_DEFECTS if _RARE in trial.name else trial.stage + 1)


def idle_cases(index: CaseIndex, results: Iterable[TrialResult]) -> dict[str, CaseFacts]:
    """Cases that make claims and have killed no defect yet."""
    killers = {case for result in results for case in result.cases}
    return {name: facts for name, facts in index.cases.items() if name not in killers and claims(facts)}


def claims(facts: CaseFacts) -> tuple[str, ...]:
    """The clauses of a case that can be contradicted: those that are not silent."""
    catalogue = load_catalogue()
    return tuple(clause for clause in facts.clauses if catalogue.clause(clause).level is not Level.SILENT)


def trials_for_case(name: str, facts: CaseFacts, seed: int) -> Sequence[ProofTrial]:
    """What may show that a case can kill: the defects of its clauses, the most promising first."""
    stage = stage_of_case(facts.profile)
    nearest = sorted(_candidates(facts), key=lambda candidate: candidate[0])
    return [ProofTrial(TrialKind.DEFECT, d.name, d.clause, seed, stage, only=name) for _, d in nearest]


def _candidates(facts: CaseFacts) -> Iterator[tuple[tuple[bool, int, int], Defect]]:
    """The defects of a case's clauses, each with how far it is from the case.

    Nearest is what shows on the case's operations and on no other; a clause with many defects leaves room to the next.
    What any exchange would show is not among them when it shows on none of the case's.
    """
    operations = set(facts.operations)
    for clause in claims(facts):
        near: Counter[tuple[bool, int]] = Counter()
        for defect in DEFECTS:
            if defect.clause == clause:
                strange = set(defect.operations) - operations
                apart = strange == set(defect.operations)
                if apart and clause in UNIVERSAL:
                    continue
                distance = (apart, len(strange))
                yield (*distance, near[distance]), defect
                near[distance] += 1
