"""What a run was compared with, kept in its own folder, so that its reports can be made again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.drift.baseline import Baseline, parse, read
from contracts.drift.report import Mode
from contracts.errors import UsageError

SETTINGS_FILE: Final = "drift.json"
BASELINE_FILE: Final = "baseline.yaml"


@dataclass(frozen=True, slots=True)
class Kept:
    """What a run folder says about drift; `baseline` is None when there was no file at `path`."""

    mode: Mode
    path: str
    baseline: Baseline | None


def keep(run_folder: Path, mode: Mode, path: Path, realms_of: Mapping[str, tuple[str, ...]]) -> None:
    """Note in a run folder how its drift is to be judged, and copy the baseline as it is now.

    Raises:
        UsageError: the baseline cannot be read or used.
    """
    known = mode is not Mode.OFF and read(path, realms_of) is not None
    if known:
        (run_folder / BASELINE_FILE).write_text(path.read_text("utf-8"), "utf-8")
    content = {"mode": str(mode), "baseline": path.as_posix(), "known": known}
    (run_folder / SETTINGS_FILE).write_text(json.dumps(content) + "\n", "utf-8")


def kept(run_folder: Path, realms_of: Mapping[str, tuple[str, ...]]) -> Kept | None:
    """Read what `keep` noted; None for a folder where nothing was.

    Raises:
        UsageError: the folder was altered.
    """
    settings = run_folder / SETTINGS_FILE
    try:
        content = json.loads(settings.read_text("utf-8"))
        mode, path, known = Mode(content["mode"]), str(content["baseline"]), bool(content["known"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{settings} was altered: {error}") from error
    copy = run_folder / BASELINE_FILE
    if not known:
        return Kept(mode, path, None)
    try:
        return Kept(mode, path, parse(copy.read_text("utf-8"), str(copy), realms_of))
    except FileNotFoundError as error:
        raise UsageError(f"{copy} is absent: the run folder is not complete") from error
