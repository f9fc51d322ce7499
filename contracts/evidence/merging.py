"""Puts the run folders of shards together into one, from which the usual reports are made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from contracts.evidence.collecting import RUN_FILE
from contracts.evidence.fitting import Piece
from contracts.evidence.journal import Event, is_closed, journal_path, read_journal

Number = TypeVar("Number", int, float)
_LEDGER: Final = "ledger.jsonl"
#: Events about what other shards do, which is known once they are all there.
_PARTED: Final = ("untested", "narrowed")
#: What one process knows of itself, which no folder that was put together has.
_OF_A_PROCESS: Final = ("token", "process", "left", "shard")


def merge(pieces: Sequence[Piece], folder: Path, command: str) -> None:
    """Fill a folder with the run that some shards make together.

    Args:
        pieces: All shards of one plan (see `contracts.evidence.fitting.misfits`), in their order.
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


def _named(piece: Piece, worker: str) -> str:
    """The name of a worker among those of all shards; also what the ids of its exchanges begin with."""
    return f"shard{piece.shard.number}-{worker}"


def _journal(path: Path, piece: Piece) -> Iterator[Event]:
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


def _ledger(piece: Piece) -> Iterator[dict[str, Any]]:
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


def _whole(pieces: Sequence[Piece], facts: Sequence[dict[str, Any]]) -> dict[str, Any]:
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
        "environment": _environment(pieces),
        "shards": [f"{piece.shard.name}: {piece.folder.resolve().name}" for piece in pieces],
    }


def _environment(pieces: Sequence[Piece]) -> dict[str, Any]:
    seen = [piece.record.run.environment for piece in pieces]
    stopped = [
        f"{piece.shard.name}: {piece.record.run.breaker}" for piece in pieces if piece.record.run.breaker
    ]
    return {
        "requests": sum(int(each.get("requests") or 0) for each in seen),
        "retries": sum(int(each.get("retries") or 0) for each in seen),
        "faults": _summed(each.get("faults") for each in seen),
        "breaker": "; ".join(stopped) or None,
        "limits": _limits([each.get("limits") or {} for each in seen]),
        # Each realm's are made in one shard.
        "permanent_records": _summed(each.get("permanent_records") for each in seen),
        "seconds": _summed(each.get("seconds") for each in seen),
        "peak_memory_mb": max((each.get("peak_memory_mb") or 0.0 for each in seen), default=0.0) or None,
    }


def _summed(counts: Iterable[dict[str, Number] | None]) -> dict[str, Number]:
    total: dict[str, Number] = {}
    for name, number in (pair for each in counts for pair in (each or {}).items()):
        total[name] = total[name] + number if name in total else number
    return total


def _limits(limits: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What all shards together may do; what holds for each realm is the same for all."""
    whole = {}
    for name in dict.fromkeys(name for each in limits for name in each):
        given = [each[name] for each in limits if each.get(name) is not None]
        each_alike = name.endswith("_per_realm")
        whole[name] = None if not given else given[0] if each_alike else round(sum(given), 6)
    return whole
