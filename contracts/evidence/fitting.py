"""Whether the shards at hand make one whole run: none missing, none twice, none of another plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.errors import UsageError
from contracts.evidence.collecting import RUN_FILE, collect
from contracts.evidence.plain import many
from contracts.evidence.record import RunRecord
from contracts.evidence.reports import LATEST
from contracts.evidence.shards import Shard, digest_of_cases

#: Members of a plan of which only a digest is known, which tells nobody anything.
_DIGESTS: Final = frozenset({"settings", "consumer or deviations"})
#: How deep run folders are looked for below a folder that is none: an artifact may hold a reports folder.
_DEPTHS: Final = ("*", "*/*")


@dataclass(frozen=True, slots=True)
class Piece:
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
    found: dict[Path, Path] = {}
    for folder in given:
        inside = [folder] if (folder / RUN_FILE).is_file() else _inside(folder)
        if not inside:
            raise UsageError(f"'{folder}' holds no run: neither it nor a folder in it has a {RUN_FILE}")
        for each in inside:
            found.setdefault(each.resolve(), each)
    return list(found.values())


def _inside(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise UsageError(
            f"'{folder}' is no folder; name the run folders of the shards, or a folder that holds them"
        )
    paths = sorted(path for depth in _DEPTHS for path in folder.glob(f"{depth}/{RUN_FILE}"))
    return [path.parent for path in paths if path.parent.name != LATEST]


def read_pieces(folders: Sequence[Path]) -> tuple[list[Piece], list[str]]:
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
            pieces.append(Piece(folder, record.run.shard, record))
    return sorted(pieces, key=lambda piece: (piece.shard.number, str(piece.folder))), troubles


def misfits(pieces: Sequence[Piece]) -> Iterator[str]:
    """Say why shards make no whole run, a line for each reason; nothing when they do."""
    if not pieces:
        return
    yield from _of_other_plans(pieces)
    yield from _unfinished(pieces)
    of = {piece.shard.of for piece in pieces}
    if len(of) == 1:
        yield from _doubles_and_gaps(pieces, of.pop())


def _of_other_plans(pieces: Sequence[Piece]) -> Iterator[str]:
    first = pieces[0]
    for piece in pieces[1:]:
        if piece.shard.of != first.shard.of:
            yield f"{piece.name} is of another plan than {first.name}: they count different numbers of shards"
            continue
        for part in dict.fromkeys([*first.shard.plan, *piece.shard.plan]):
            mine, other = piece.shard.plan.get(part), first.shard.plan.get(part)
            if mine != other:
                told = "" if part in _DIGESTS else f": {_shown(mine)}, not {_shown(other)}"
                yield f"{piece.name} has another {part} than {first.name}{told}"
    known = [piece for piece in pieces if piece.shard.all_cases is not None]
    for piece in known[1:]:
        if piece.shard.all_cases != known[0].shard.all_cases:
            yield f"{piece.name} was dealt from other cases than {known[0].name}: another selection, or other cases"


def _shown(value: object) -> str:
    return (", ".join(map(str, value)) or "none") if isinstance(value, list) else str(value)


def _unfinished(pieces: Sequence[Piece]) -> Iterator[str]:
    for piece in pieces:
        run = piece.record.run
        if run.finished is None:
            yield f"{piece.name} has no closing record: it was killed, or is still going on; run it again"
        elif not (run.interrupted or run.breaker or piece.record.problems or _stopped_early(piece.record)):
            yield from _unrun(piece)


def _stopped_early(record: RunRecord) -> bool:
    """Whether the shard was told to stop at its first failures, which its report says."""
    return any(each.cells is None and not each.elsewhere for each in record.narrowed)


def _unrun(piece: Piece) -> Iterator[str]:
    ran = {case.id for case in piece.record.cases}
    left = [case for case in piece.shard.cases or () if case not in ran]
    if left or piece.shard.cases is None:
        what = f"{many(len(left), 'case')}, such as {left[0]}" if left else "any of its cases"
        yield f"{piece.name} says that it finished, yet it did not run {what}; run it again"


def _doubles_and_gaps(pieces: Sequence[Piece], of: int) -> Iterator[str]:
    by_number: dict[int, list[Piece]] = defaultdict(list)
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


def _not_adding_up(pieces: Sequence[Piece]) -> Iterator[str]:
    cases = [case for piece in pieces for case in piece.shard.cases or ()]
    if len(cases) != len(set(cases)) or digest_of_cases(cases) != pieces[0].shard.all_cases:
        yield "the cases of the shards do not add up to those of their plan: a run.json was altered"
