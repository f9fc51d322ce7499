"""The site over a year: nights made from one real verdict, in which something turns each night, built from outside."""

import json
import random
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.commands import PROGRAM
from contracts.interface.clause_table import known_cases

YEAR = 365
#: Nights of a small site, beside which a larger one shows what each further night takes.
_FEW = 5
_TARGETS = ("dev", "staging")
_FIRST = datetime(2025, 11, 1, 2, 17, tzinfo=UTC)
#: Clauses that turn red each night, and for how many nights at most.
_TURNING, _LONGEST = 2, 30
#: Shares of clauses that an outage keeps from being judged, of observations that a night misses, or sees otherwise.
_STUCK, _MISSED, _OTHERWISE = 0.004, 0.05, 0.001


@dataclass(frozen=True)
class SiteCost:
    """What a site takes; `seconds` on the clock and `busy` of one core, from the run folders."""

    nights: int
    seconds: float
    busy: float
    megabytes: float

    def line(self, few: "SiteCost") -> str:
        """The figures against their bars; of a site of few nights and one of some more, what a year would take."""
        more = (YEAR - self.nights) / (self.nights - few.nights)
        seconds, busy, megabytes = (
            having + (having - first) * more
            for having, first in (
                (self.seconds, few.seconds),
                (self.busy, few.busy),
                (self.megabytes, few.megabytes),
            )
        )
        measured = "" if self.nights == YEAR else f", from {few.nights} and {self.nights} nights"
        return (
            f"site of a year of nights on {len(_TARGETS)} targets{measured}: {seconds:.1f} s, "
            f"{busy:.1f} s of one core (bar 60 s), {megabytes:.1f} MB (bar 50 MB)"
        )


def site_of_a_year(realms: tuple[str, ...], profile: str, nights: int) -> str:
    """Build sites over nights of two targets, each made from one run of the suite at the sandbox; tell what they take.

    Args:
        realms: That the run judges; empty for all four.
        profile: Of the run.
        nights: Of each target; fewer than a year's are scaled.
    """
    with tempfile.TemporaryDirectory() as folder:
        words = [*PROGRAM, "run", "--profile", profile, "--history", "off", "--reports", f"{folder}/run"]
        subprocess.run([*words, *(f"--realm={realm}" for realm in realms)], check=True, capture_output=True)
        verdict = Path(folder, "run", "latest", "verdict.json").read_text("utf-8")
        known_cases()  # collected once, and kept for all sites that follow
        few = _site(verdict, Path(folder, "few"), _FEW)
        return _site(verdict, Path(folder, "many"), nights).line(few)


def _site(verdict: str, folder: Path, nights: int) -> SiteCost:
    for target in _TARGETS:
        for night in _nights(verdict, target, nights):
            place = folder / "kept" / f"{night['started'][:10].replace('-', '')}-{target}"
            place.mkdir(parents=True)
            (place / "verdict.json").write_text(json.dumps(night, indent=2), "utf-8")
    began, before = time.perf_counter(), _busy()
    site = folder / "site"
    subprocess.run([*PROGRAM, "site", f"{folder}/kept", "-o", str(site)], check=True, capture_output=True)
    size = sum(each.stat().st_size for each in site.iterdir()) / 1e6
    return SiteCost(nights, time.perf_counter() - began, _busy() - before, size)


def _busy() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _nights(verdict: str, target: str, number: int) -> Iterator[dict[str, Any]]:
    chance = random.Random(target)  # noqa: S311 - nothing secret hangs on it
    red: dict[str, int] = {}
    for night in range(number):
        content = json.loads(verdict)
        started = _FIRST + timedelta(days=night)
        content |= {
            "target": {"name": target, "kind": "development", "base_url": f"https://{target}.example.test"},
            "command": f"registry-contracts run --target {target}",
            "started": started.isoformat(),
            "finished": (started + timedelta(minutes=9)).isoformat(),
            "verdict": "fail",
            "exit_code": 1,
        }
        firm = [each["id"] for each in content["clauses"] if each["level"] == "must"]
        red |= {clause: night + chance.randint(1, _LONGEST) for clause in chance.sample(firm, _TURNING)}
        red = {clause: end for clause, end in red.items() if end > night}
        content["causes"] = [_cause(clause) for clause in content["clauses"] if clause["id"] in red]
        for clause in content["clauses"]:
            stuck = chance.random() < _STUCK
            for cell in clause["realms"].values() if clause["id"] in red or stuck else ():
                word, why = (
                    ("inconclusive", "the gateway answered 503") if stuck else ("fail", "saved as other")
                )
                cell |= {"verdict": word, "reason": why}
        content["observations"] = [
            {**each, "seen": chance.choice([200, 204, 400])} if chance.random() < _OTHERWISE else each
            for each in content["observations"]
            if chance.random() > _MISSED
        ]
        yield content


def _cause(clause: dict[str, Any]) -> dict[str, Any]:
    """A finding on a clause in all its realms, told at some length."""
    identifier = f"{sum(map(ord, clause['id'])):010x}"
    return {
        "id": identifier,
        "clause": clause["id"],
        "operation": "saveDraft",
        "standing": "fail",
        "counted": True,
        "realms": list(clause["realms"]),
        "should": "What the clause says.",
        "was": f"But saveDraft was answered 200, and {'what it saved is not what was sent; ' * 5}{identifier}.",
        "faults": [],
        "findings": [identifier],
        "follows": [],
        "blocked_cases": 0,
        "blocked_clauses": [],
    }
