"""What a gate refuses: options that would leave cases out, choose others, or judge more leniently."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest

from contracts.cli.running import PYTEST_SETTINGS

PROFILE: Final = "gate"
#: Option → what to do instead. Read from what pytest made of the command, so that it does not matter whether they
#: came as words, in a cluster such as `-qk`, in a file (`@words`), or in PYTEST_ADDOPTS. pytest takes no abbreviations.
_REFUSED: Final = {
    "--profile": "a gate runs the profile gate; for another: registry-contracts run --profile",
    "--clause": "name it under clauses in the consumer file, or use registry-contracts run --clause",
    "--operation": "name it under operations in the consumer file, or use registry-contracts run --operation",
    "--seed": "a gate has a fixed seed; for another: registry-contracts run --seed",
    "--shard": "a gate leaves no case out; use registry-contracts run --shard, and merge its reports",
    "-k": "a gate leaves no case out; use registry-contracts run -k",
    "-m": "a gate leaves no case out; use registry-contracts run -m",
    "--deselect": "a gate leaves no case out; use registry-contracts run --deselect",
    "--ignore": "a gate leaves no case out; use registry-contracts run --ignore",
    "--ignore-glob": "a gate leaves no case out; use registry-contracts run --ignore-glob",
    "--lf": "a gate leaves no case out; take it, or --last-failed, away",
    "--stepwise": "a gate leaves no case out; take it, or --sw, away",
    "--stepwise-skip": "a gate leaves no case out; take it, or --sw-skip, away",
    # A deviation that no longer happens fails a gate; no run that may end early can say that of one.
    "--maxfail": "a gate runs to its end; use registry-contracts run --maxfail, or -x",
    "--collect-only": "it judges nothing; use registry-contracts run --collect-only",
    "-c": "a gate has its own settings of pytest; use registry-contracts run -c",
    "-o": "a gate has its own settings of pytest; use registry-contracts run -o",
}
#: What options hold that nobody gave; the others hold nothing.
_UNASKED: Final[dict[str, object]] = {"--profile": PROFILE, "--seed": None, "-c": str(PYTEST_SETTINGS)}
#: Settings that pytest itself makes of `--strict` and the like.
_STRICTER: Final = re.compile(r"strict\w*=true")


def refusal(config: pytest.Config) -> str | None:
    """Return why a gate cannot be run with what pytest was given; None when it can."""
    for option, advice in _REFUSED.items():
        if _asked(option, config.getoption(option, None)):
            return f"{option} is not for a gate: {advice}"
    return None


def _asked(option: str, value: Any) -> bool:
    if option == "-o":
        return any(not _STRICTER.fullmatch(each) for each in value or ())
    return bool(value != _UNASKED[option] if option in _UNASKED else value)
