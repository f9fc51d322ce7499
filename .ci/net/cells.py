"""Verdict cells, findings and requests of whole runs on altered sandboxes, for comparison with `cells.json.xz`.

`python .ci/net/cells.py OUT.json` runs gate and nightly of the installed suite, seed 1, and says what differs.
"""

import json
import lzma
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ALTERED = {
    "faithful": "",
    "uid-accepts-ten": "--defect uid-accepts-ten",
    "draft-text-composed": "--defect draft-text-composed",
    "workflow-locked-ignored": "--defect workflow-locked-accepted",
    "variant-list-empty-404": "--variant list-empty-404",
    "variant-draft-any-schema": "--variant draft-any-schema",
    "variant-realm-any-case": "--variant realm-any-case",
}
COMMAND = Path(sys.executable).with_name("registry-contracts")


def run(profile: str, altered: str) -> dict[str, Any]:
    """One run: exit code, requests, cells as (verdict, assertions), findings."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["run", "--profile", profile, "--reports", folder, "--history", "off", "--seed", "1"]
        words += ["--sandbox-arguments", altered] if altered else []
        done = subprocess.run([COMMAND, *words], capture_output=True, cwd=folder, check=False)  # noqa: S603 - our own
        verdict = json.loads((Path(folder) / "latest/verdict.json").read_text("utf-8"))
    return {
        "exit": done.returncode,
        "requests": verdict["environment"]["requests"],
        "cells": {
            f"{clause['id']} {realm}": [cell["verdict"], cell["assertions"]]
            for clause in verdict["clauses"]
            for realm, cell in clause["realms"].items()
        },
        "findings": sorted(
            f"{f['clause']} {f['realm']} {f['operation']} {f['confirmed']}" for f in verdict["findings"]
        ),
    }


def main() -> None:
    """Run all, write OUT.json, and print a line for each difference from the first commit of this round."""
    with lzma.open(Path(__file__).with_name("cells.json.xz"), "rt") as file:
        before = json.load(file)
    after = {f"{name} {p}": run(p, ALTERED[name]) for name in ALTERED for p in ("gate", "nightly")}
    Path(sys.argv[1]).write_text(json.dumps(after), "utf-8")
    for key, now in after.items():
        then = before[key]
        print(key, "exit", then["exit"], now["exit"], "requests", then["requests"], now["requests"])  # noqa: T201
        for cell in sorted(then["cells"].keys() | now["cells"].keys()):
            old, new = then["cells"].get(cell, ["none"]), now["cells"].get(cell, ["none"])
            if old[0] != new[0]:
                print("  cell", cell, old, new)  # noqa: T201
        for finding in sorted(set(then["findings"]) ^ set(now["findings"])):
            print("  finding", "lost" if finding in then["findings"] else "new", finding)  # noqa: T201


if __name__ == "__main__":
    main()
