"""Counts the library modules that one assertion crosses on its way to `verdict.json`.

`python -m benchmarks.path_of_an_assertion [CHECKOUT]` runs the case of one clause in one realm against the embedded
sandbox and notes each module of `contracts` whose functions are called within the calls of a claim, on the way of
the case's events into the journal, and while the record is read, judged and written. Start-up, sending, the other
reports and the sandbox do not count.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CLAUSE, REALM = "token-issued", "abs-dev"
#: All modules entered until then, those of other cases, of the clean-up and of the display included.
_MEANWHILE = "meanwhile"

#: Runs in a process of its own, in the checkout that is measured.
_PROGRAM = """
import json, os, sys, threading
import pytest

root = os.path.join(os.getcwd(), "contracts") + os.sep
stages, inside = {}, []

def stage_of(code):
    place = code.co_filename[len(root):]
    name = os.path.basename(place)
    if name == "claims.py" and code.co_qualname.startswith("Claim.") and code.co_name not in ("__init__", "__call__"):
        return "claim"
    if name == "journal.py" and code.co_qualname == "Journal.write":
        return "journal"
    if place.startswith("evidence") and code.co_qualname in ("collect", "judge"):
        return code.co_qualname
    if name == "verdict_json.py" and code.co_qualname == "write":
        return "verdict.json"
    return None

def watch(frame, event, argument):
    code = frame.f_code
    if not code.co_filename.startswith(root):
        return
    if event == "call" and "claim" in stages and "done" not in stages:
        note(code, "meanwhile")
    if event == "call":
        stage = stage_of(code)
        if stage and (stage == "claim" or "claim" in stages) and not inside:
            inside.append((frame, stage))
            caller = frame
            while stage == "journal" and caller is not None:
                note(caller.f_code, stage)
                caller = caller.f_back
        if inside:
            note(code, inside[0][1])
    elif event == "return" and inside and inside[0][0] is frame:
        if inside[0][1] == "verdict.json":
            stages["done"] = {}
        inside.clear()

def note(code, stage):
    if code.co_filename.startswith(root) and code.co_name != "<module>":
        stages.setdefault(stage, {})[code.co_filename[len(root):]] = None

sys.setprofile(watch)
options = ["--clause", sys.argv[1], "--realm", sys.argv[2], "--reports", sys.argv[3], "--history", "off"]
code = pytest.main(["-q", "-p", "no:cacheprovider", *options])
sys.setprofile(None)
with open(sys.argv[4], "w") as file:
    json.dump({"exit_code": int(code), "stages": {name: list(found) for name, found in stages.items()}}, file)
"""


def measure(checkout: Path) -> dict[str, list[str]]:
    """Return the modules that an assertion crosses, by stage, in the order of their first calls."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "stages.json"
        subprocess.run(
            [sys.executable, "-c", _PROGRAM, CLAUSE, REALM, f"{folder}/reports", str(result)],
            cwd=checkout,
            env={**os.environ, "PYTHONPATH": str(checkout)},
            check=False,
            stdout=subprocess.DEVNULL,
        )
        measured = json.loads(result.read_text("utf-8"))
    if measured["exit_code"]:
        raise SystemExit(f"the run ended with exit code {measured['exit_code']}")
    stages: dict[str, list[str]] = measured["stages"]
    del stages["done"]
    return stages


def crossed(stages: dict[str, list[str]]) -> int:
    """Return how many modules the assertion crosses, each counted once."""
    return len({name for stage, modules in stages.items() if stage != _MEANWHILE for name in modules})


def main() -> None:
    """Print the modules of each stage and how many there are in all."""
    checkout = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    stages = measure(checkout)
    for stage, modules in stages.items():
        print(f"{stage} ({len(modules)}): {', '.join(modules)}")  # noqa: T201 - its answer
    print(f"modules that the assertion crosses: {crossed(stages)}")  # noqa: T201 - its answer


if __name__ == "__main__":
    main()
