"""What runs used up at a target and no run gives back: a line each, kept beside the run folders."""

import json
from pathlib import Path
from typing import Final

from filelock import FileLock

FILE_NAME: Final = "used.jsonl"


class UsedUp:
    """The temporary files of one target that its runs have used, in the file of all targets; None remembers nothing."""

    def __init__(self, path: Path | None, target: str) -> None:
        self._path = path
        self._target = target

    def of(self, realm: str) -> frozenset[str]:
        """Ids that were used in a realm; a line that cannot be read, as a full disk leaves one, tells of none."""
        if self._path is None or not self._path.exists():
            return frozenset()
        lines = (_read(line) for line in self._path.read_text("utf-8", "replace").splitlines())
        return frozenset(line[2] for line in lines if line[:2] == [self._target, realm])

    def note(self, realm: str, name: str) -> None:
        """Remember that an id is about to be used."""
        if self._path is not None:
            with FileLock(f"{self._path}.lock"), self._path.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps([self._target, realm, name]))  # whatever the last line lacks


def _read(line: str) -> list[str]:
    try:
        read = json.loads(line)
    except ValueError:
        return []
    return read if isinstance(read, list) and len(read) == 3 else []
