"""What traffic comes to, in one word and one line: who breaks the interface, and the exit code of design 3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.evidence.outcomes import ExitCode
from contracts.evidence.plain import many
from contracts.traffic.findings import Side
from contracts.traffic.tally import Group, Tally


@dataclass(frozen=True)
class TrafficVerdict:
    """The end of it.

    Attributes:
        client, service: How many different findings decide, on either side.
        reason: One line, without a full stop.
    """

    exit_code: ExitCode
    reason: str
    client: int
    service: int

    @property
    def word(self) -> str:
        """The verdict's name."""
        return self.exit_code.word


def verdict_of(tally: Tally) -> TrafficVerdict:
    """The verdict on everything that was taken in so far."""
    client = [group for group in tally.groups if group.first.decides and group.first.side is Side.REQUEST]
    service = [group for group in tally.groups if group.first.decides and group.first.side is Side.ANSWER]
    used, spoilt = sum(tally.of_interface.values()), sum(tally.faults.values())
    if client or service:
        code, reason = ExitCode.FAIL, _whose(client, service)
    elif tally.breakages:
        code, reason = ExitCode.ERROR, f"the suite broke on {tally.breakages[0]}"
    elif not used:
        code, reason = ExitCode.NOTHING_TESTED, "no request was an operation of the interface"
    elif spoilt == used:
        first = tally.faults.most_common(1)[0][0]
        code, reason = ExitCode.INCONCLUSIVE, f"the environment gave no answer of the service ({first})"
    else:
        exercised = len(tally.operations) - len(tally.never)
        keeps = "keeps" if used == 1 else "keep"
        reason = (
            f"{many(used, 'request')} of {many(exercised, 'operation')} {keeps} the interface, on both sides"
        )
        reason += f"; {many(spoilt, 'answer')} not judged: the environment" if spoilt else ""
        code = ExitCode.PASS
    return TrafficVerdict(code, reason, len(client), len(service))


def _whose(client: Sequence[Group], service: Sequence[Group]) -> str:
    told = []
    if service:
        told.append(f"the service breaks the interface ({_listed(service)})")
    if client:
        told.append(f"the client breaks the interface ({_listed(client)})")
    return "; ".join(told)


def _listed(groups: Sequence[Group]) -> str:
    names = list(dict.fromkeys(group.first.fault or group.first.what for group in groups))
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
