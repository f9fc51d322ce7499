"""`gate --from`: judges the record of a kept run by the present terms, without a request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from registry_contracts.errors import ExitCode, UsageError
from registry_contracts.evidence.record import RunRecord
from registry_contracts.evidence.run_comparison import drift_of
from registry_contracts.evidence.run_folder import LATEST, read_run_facts
from registry_contracts.evidence.terms import Consumer, Terms
from registry_contracts.evidence.verdicts import RunVerdict, judge
from registry_contracts.interface.catalogue import Clause, Level
from registry_contracts.interface.operations import ANY_REALM, in_realms
from registry_contracts.safe_text import listed, many
from registry_contracts.session.ledger import RUN_FILE
from registry_contracts.settings.target import SANDBOX

#: Largest difference between the clocks of two machines; a run that is further ahead begins in the future.
_CLOCKS_DIFFER: Final = timedelta(minutes=5)
_TOO_SMALL: Final = "smoke"
#: These verdicts outweigh gaps of a kept run.
_WORSE: Final = frozenset({ExitCode.FAIL, ExitCode.ERROR})


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a kept run: the present terms, and its highest age.

    `target` and `base_url` are None for any; deviations expire by `now` (UTC).
    """

    terms: Terms
    target: str | None
    base_url: str | None
    max_age: timedelta
    now: datetime


def newest_run(folder: Path) -> Path:
    """Return the run folder itself, or the newest run inside that was not refused (of an unpacked artifact, say)."""
    inside = [path.parent for pattern in ("*", "*/*") for path in folder.glob(f"{pattern}/{RUN_FILE}")]
    # `latest` is a link to a run; tools that follow links leave a copy of the run in its place.
    own = [path for path in inside if not re.fullmatch(rf"{LATEST}(-\d+)?", path.name)]
    runs = [folder] if (folder / RUN_FILE).is_file() else own
    if not runs:
        raise UsageError(f"no kept run in '{folder}': --from names the folder of a run, or one that holds it")
    newest_first = sorted(runs, key=lambda path: path.name, reverse=True)
    return next((path for path in newest_first if not read_run_facts(path).refused), newest_first[0])


def answer(
    folder: Path, record: RunRecord, question: Question, catalogue: Sequence[Clause]
) -> tuple[RunVerdict, list[str]]:
    """Judge a kept run as a gate with these terms; also return the gaps of the run, a line each.

    Gaps make the answer inconclusive.
    """
    terms = question.terms
    asked = replace(record, run=replace(record.run, terms=terms, strict=True, waived=terms.waived))
    verdict = judge(asked, catalogue, drift_of(asked, folder), day=question.now.date())
    useless = list(_useless(record, question))
    gaps = useless or list(_gaps(asked, record.run.terms.consumer, verdict, catalogue))
    if not gaps or (not useless and verdict.exit_code in _WORSE):
        return verdict, gaps
    more = f" (and {many(len(gaps) - 1, 'reason')} more)" if gaps[1:] else ""
    reason = f"the kept run cannot tell: {gaps[0]}{more}"
    judged = replace(verdict, exit_code=ExitCode.INCONCLUSIVE, reason=reason)
    # The findings of a useless run are not part of the answer.
    return replace(judged, causes=(), deviations=(), waivers=(), unjudged=()) if useless else judged, gaps


def length(age: timedelta) -> str:
    """A duration as text, in hours or minutes."""
    hours = age.total_seconds() / 3600
    return f"{hours:.1f} h" if abs(hours) >= 1 else f"{hours * 60:.0f} min"


def _useless(record: RunRecord, question: Question) -> Iterator[str]:
    """Reasons why a run does not answer the question at all."""
    run, age = record.run, question.now - record.run.began
    if question.target is None and run.target == SANDBOX:
        yield f"it judged the embedded sandbox; give --target {SANDBOX} if that is meant"
    if question.target not in {None, run.target}:
        yield f"it judged the target {run.target}, not {question.target}"
    elif question.base_url not in {None, run.base_url}:
        yield f"it judged {run.base_url}, not {question.base_url}"
    if age > question.max_age:
        yield f"it began {length(age)} ago, and {length(question.max_age)} are allowed"
    elif age < -_CLOCKS_DIFFER:
        yield f"it begins in the future ({run.started}): a clock is wrong"
    if run.refused:
        yield f"it judged nothing: {run.refused}"
    if run.interrupted:
        yield "it was interrupted"
    yield from record.problems


def _gaps(
    record: RunRecord, limited_to: Consumer, verdict: RunVerdict, catalogue: Sequence[Clause]
) -> Iterator[str]:
    """What a gate counts but the run did not judge."""
    run, consumer = record.run, record.run.terms.consumer
    if run.profile == _TOO_SMALL:
        yield f"its profile is {run.profile}, which does not take in every must clause"
        return
    if not _takes_in(limited_to, consumer):
        yield f"it was limited to {limited_to.file}, which does not take in all that is asked about"
    missing = [realm for realm in consumer.realms or run.settings if realm not in run.realms]
    if missing:
        yield f"it did not judge the realm {', '.join(missing)}"
    judged = {(cell.clause.id, cell.realm) for cell in verdict.cells}
    narrowed: dict[str, dict[str, None]] = {}
    for clause in catalogue:
        if clause.level is not Level.MUST or clause.untested or clause.id in run.waived:
            continue
        offered = [realm for realm in clause.realms if realm in (*run.realms, ANY_REALM)]
        realms = [realm for realm in offered if consumer.covers(clause, realm)]
        left_out = [realm for realm in realms if (clause.id, realm) not in judged]
        if left_out:
            yield f"it did not judge {clause.id} {in_realms(left_out)}"
        for each in () if limited_to else record.narrowed:
            if any(each.touches(clause.id, realm) for realm in realms):
                narrowed.setdefault(each.reason, {})[clause.id] = None
    yield from (f"{reason}: {listed(clauses)}" for reason, clauses in narrowed.items())


def _takes_in(limits: Consumer, wanted: Consumer) -> bool:
    pairs = ((limits.operations, wanted.operations), (limits.clauses, wanted.clauses))
    return all(not limited or (asked and set(asked) <= set(limited)) for limited, asked in pairs)
