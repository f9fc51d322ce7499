"""Merging of shards: checks that run folders make one whole run, and puts them together into one folder."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from contracts.errors import UsageError
from contracts.evidence.journal import Event, is_closed, journal_path, read_journal
from contracts.evidence.record import Environment, RunRecord, Shard, digest_of_cases
from contracts.evidence.run_folder import LATEST, collect
from contracts.file_formats import plain
from contracts.safe_text import many
from contracts.session.ledger import RUN_FILE

#: Members of a plan of which only a digest is known, which tells nobody anything.
_DIGESTS: Final = frozenset({"settings", "consumer or deviations"})
#: How deep run folders are looked for below a folder that is none: an artifact may hold a reports folder.
_DEPTHS: Final = ("*", "*/*")


@dataclass(frozen=True, slots=True)
class ShardRun:
    """One shard's run folder and what is in it."""

    folder: Path
    shard: Shard
    record: RunRecord

    @property
    def name(self) -> str:
        """The shard and where it lies, as messages show it."""
        return f"{self.shard.name} ({self.folder})"


def find_folders(given: Sequence[Path]) -> list[Path]:
    """Find the run folders that are meant.

    Args:
        given: Run folders, or folders that hold some, such as a reports folder or the artifacts of several jobs.

    Returns:
        The run folders, each once, in the order given. The `latest` of a reports folder is passed over, since an
        artifact holds a copy of the run there.

    Raises:
        UsageError: one is no folder, or holds no run.
    """
    folders: dict[Path, Path] = {}
    for folder in given:
        inside = [folder] if (folder / RUN_FILE).is_file() else _inside(folder)
        if not inside:
            raise UsageError(f"'{folder}' holds no run: neither it nor a folder in it has a {RUN_FILE}")
        for run in inside:
            folders.setdefault(run.resolve(), run)
    return list(folders.values())


def _inside(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise UsageError(
            f"'{folder}' is no folder; name the run folders of the shards, or a folder that holds them"
        )
    paths = sorted(path for depth in _DEPTHS for path in folder.glob(f"{depth}/{RUN_FILE}"))
    return [path.parent for path in paths if path.parent.name != LATEST]


def read_shards(folders: Sequence[Path]) -> tuple[list[ShardRun], list[str]]:
    """Read the shards in some run folders.

    Returns:
        Those that can be read, by their numbers, and what is wrong with the others, a line each.
    """
    pieces, troubles = [], []
    for folder in folders:
        try:
            record = collect(folder)
        except UsageError as error:
            troubles.append(str(error))
            continue
        if record.run.shard is None:
            merged = "was merged from shards already" if record.run.shards else "was run without --shard"
            troubles.append(f"{folder} is no shard: it {merged}")
        else:
            pieces.append(ShardRun(folder, record.run.shard, record))
    return sorted(pieces, key=lambda piece: (piece.shard.number, str(piece.folder))), troubles


def merge_problems(pieces: Sequence[ShardRun]) -> Iterator[str]:
    """Say why shards make no whole run, a line for each reason; nothing when they do."""
    if not pieces:
        return
    yield from _of_other_plans(pieces)
    yield from _unfinished(pieces)
    of = {piece.shard.of for piece in pieces}
    if len(of) == 1:
        yield from _doubles_and_gaps(pieces, of.pop())


def _of_other_plans(pieces: Sequence[ShardRun]) -> Iterator[str]:
    first = pieces[0]
    for piece in pieces[1:]:
        if piece.shard.of != first.shard.of:
            yield f"{piece.name} is of another plan than {first.name}: they count different numbers of shards"
            continue
        for part in dict.fromkeys([*first.shard.plan, *piece.shard.plan]):
            mine, other = piece.shard.plan.get(part), first.shard.plan.get(part)
            if mine != other:
                difference = "" if part in _DIGESTS else f": {_shown(mine)}, not {_shown(other)}"
                yield f"{piece.name} has another {part} than {first.name}{difference}"
    dealt = [piece for piece in pieces if piece.shard.all_cases is not None]
    for piece in dealt[1:]:
        if piece.shard.all_cases != dealt[0].shard.all_cases:
            yield f"{piece.name} was dealt from other cases than {dealt[0].name}: another selection, or other cases"


def _shown(value: object) -> str:
    return (", ".join(map(str, value)) or "none") if isinstance(value, list) else str(value)


def _unfinished(pieces: Sequence[ShardRun]) -> Iterator[str]:
    for piece in pieces:
        run = piece.record.run
        if run.finished is None:
            yield f"{piece.name} has no closing record: it was killed, or is still going on; run it again"
        elif not (run.interrupted or run.breaker or piece.record.problems or _stopped_early(piece.record)):
            yield from _unrun(piece)


def _stopped_early(record: RunRecord) -> bool:
    """Whether the shard was told to stop at its first failures, which its report says."""
    return any(each.cells is None and not each.elsewhere for each in record.narrowed)


def _unrun(piece: ShardRun) -> Iterator[str]:
    ran = {case.id for case in piece.record.cases}
    left = [case for case in piece.shard.cases or () if case not in ran]
    if left or piece.shard.cases is None:
        what = f"{many(len(left), 'case')}, such as {left[0]}" if left else "any of its cases"
        yield f"{piece.name} says that it finished, yet it did not run {what}; run it again"


def _doubles_and_gaps(pieces: Sequence[ShardRun], of: int) -> Iterator[str]:
    by_number: dict[int, list[ShardRun]] = defaultdict(list)
    for piece in pieces:
        by_number[piece.shard.number].append(piece)
    for number in range(1, of + 1):
        there = by_number[number]
        if not there:
            yield f"shard {number} of {of} is missing"
        elif len(there) > 1:
            yield f"{there[0].shard.name} is there twice: {' and '.join(str(piece.folder) for piece in there)}"
    whole = len(pieces) == of and all(piece.shard.cases is not None for piece in pieces)
    if (
        whole
        and len({piece.shard.all_cases for piece in pieces}) == 1
        and set(by_number) == set(range(1, of + 1))
    ):
        yield from _not_adding_up(pieces)


def _not_adding_up(pieces: Sequence[ShardRun]) -> Iterator[str]:
    cases = [case for piece in pieces for case in piece.shard.cases or ()]
    if len(cases) != len(set(cases)) or digest_of_cases(cases) != pieces[0].shard.all_cases:
        yield "the cases of the shards do not add up to those of their plan: a run.json was altered"


Number = TypeVar("Number", int, float)
_LEDGER: Final = "ledger.jsonl"
#: Events about what other shards do, which is known once they are all there.
_PARTED: Final = ("untested", "narrowed")
#: What one process knows of itself, which no folder that was put together has.
_OF_A_PROCESS: Final = ("token", "process", "left", "shard")


def merge(pieces: Sequence[ShardRun], folder: Path, command: str) -> None:
    """Fill a folder with the run that some shards make together.

    Args:
        pieces: All shards of one plan (see `contracts.evidence.merge.misfits`), in their order.
        folder: An empty folder.
        command: How the folder came to be, for its reports.
    """
    facts = [json.loads((piece.folder / RUN_FILE).read_text("utf-8")) for piece in pieces]
    for piece in pieces:
        for worker in piece.record.run.expected_workers:
            source = journal_path(piece.folder, worker)
            if source.exists():
                _write_lines(journal_path(folder, _named(piece, worker)), _journal(source, piece))
    _write_lines(folder / _LEDGER, (line for piece in pieces for line in _ledger(piece)))
    whole = _whole(pieces, facts) | {"command": command}
    (folder / RUN_FILE).write_text(json.dumps(whole, indent=2), encoding="utf-8")


def _named(piece: ShardRun, worker: str) -> str:
    """The name of a worker among those of all shards; also what the ids of its exchanges begin with."""
    return f"shard{piece.shard.number}-{worker}"


def _journal(path: Path, piece: ShardRun) -> Iterator[Event]:
    events = read_journal(path)
    closed, dropped = is_closed(events), 0
    prefix = f"shard{piece.shard.number}-"
    for event in events:
        kind = event["kind"]
        if kind in _PARTED and event.get("elsewhere"):
            dropped += 1
        elif kind == "start":
            yield event | {"worker": f"{prefix}{event['worker']}"}
        elif kind == "exchange":
            yield event | {"id": f"{prefix}{event['id']}"}
        elif kind == "finding":
            yield event | {"exchanges": [f"{prefix}{each}" for each in event["exchanges"]]}
        elif kind == "end" and closed:
            yield event | {"events": event["events"] - dropped}
        else:
            yield event


def _ledger(piece: ShardRun) -> Iterator[dict[str, Any]]:
    path = piece.folder / _LEDGER
    if not path.exists():
        return
    for line in path.read_text("utf-8").splitlines():
        if line.strip():
            entry = json.loads(line)
            yield entry | {"by": _named(piece, str(entry.get("by", "")))}


def _write_lines(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    with path.open("x", encoding="ascii", newline="\n") as file:
        file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def _whole(pieces: Sequence[ShardRun], facts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    runs = [piece.record.run for piece in pieces]
    common = {name: value for name, value in facts[0].items() if name not in _OF_A_PROCESS}
    return common | {
        "started": min(run.started for run in runs),
        "finished": max(run.finished or run.started for run in runs),
        "workers": sum(run.workers for run in runs),
        "interrupted": any(run.interrupted for run in runs),
        "expected_workers": [
            _named(piece, worker) for piece in pieces for worker in piece.record.run.expected_workers
        ],
        "without_journal": [
            _named(piece, worker) for piece in pieces for worker in piece.record.run.without_journal
        ],
        "environment": plain(_environment(pieces)),
        "shards": [f"{piece.shard.name}: {piece.folder.resolve().name}" for piece in pieces],
    }


def _environment(pieces: Sequence[ShardRun]) -> Environment:
    parts = [piece.record.run.environment for piece in pieces]
    stopped = [
        f"{piece.shard.name}: {piece.record.run.breaker}" for piece in pieces if piece.record.run.breaker
    ]
    return Environment(
        requests=sum(part.requests for part in parts),
        retries=sum(part.retries for part in parts),
        faults=_summed(part.faults for part in parts),
        breaker="; ".join(stopped) or None,
        limits=_limits([part.limits for part in parts]),
        # Each realm's are made in one shard.
        permanent_records=_summed(part.permanent_records for part in parts),
        seconds=_summed(part.seconds for part in parts),
        peak_memory_mb=max((part.peak_memory_mb or 0.0 for part in parts), default=0.0) or None,
    )


def _summed(counts: Iterable[Mapping[str, Number]]) -> dict[str, Number]:
    total: dict[str, Number] = {}
    for name, number in (pair for part in counts for pair in part.items()):
        total[name] = total[name] + number if name in total else number
    return total


def _limits(limits: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """What all shards together may do; what holds for each realm is the same for all."""
    whole: dict[str, float | None] = {}
    for name in dict.fromkeys(name for each in limits for name in each):
        given = [limit for each in limits if (limit := each.get(name)) is not None]
        each_alike = name.endswith("_per_realm")
        whole[name] = None if not given else given[0] if each_alike else round(sum(given), 6)
    return whole
