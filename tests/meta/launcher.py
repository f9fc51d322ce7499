"""Starts runs by forking: what every run has to import stands ready, so that a run costs tenths of a second.

Reads one order a line on stdin (JSON: words, program, cwd, env, out, err) and answers one line, the exit code.
Given a checkout, it loads that one's library and cases too; without, the library comes from each order's folder.
"""

import json
import os
import signal
import sys
import tempfile
from importlib import import_module
from typing import Any

from _pytest.assertion.rewrite import AssertionRewritingHook

THIRD_PARTY = (
    "pytest",
    "requests",
    "hypothesis.strategies",
    "schemathesis",
    "jinja2",
    "jsonschema_rs",
    "yaml",
    "click",
)
LONGEST_SECONDS = 600


def main(words: list[str]) -> None:
    """Serve orders until stdin ends."""
    for name in THIRD_PARTY:
        import_module(name)
    # Only here are plugins imported before pytest could rewrite their assertions, which they have none of.
    AssertionRewritingHook._warn_already_imported = lambda *_: None  # type: ignore[method-assign]
    for checkout in words:
        sys.path.insert(0, checkout)
        _load_library()
    for line in sys.stdin:
        order = json.loads(line)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            _run(order)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _load_library() -> None:
    """Load the library and collect its cases, as the proof does before it forks its trials."""
    import_module("registry_contracts")  # settles which package is called contracts
    from contracts.proving.processes import preload  # noqa: PLC0415 - only where the library is to be loaded

    preload(object())
    for command in ("run", "gate", "program"):
        import_module(f"contracts.cli.{command}")


def _run(order: dict[str, Any]) -> None:
    """Become the process that was ordered; ends by SystemExit, so that everything at exit takes place."""
    os.setsid()
    signal.alarm(LONGEST_SECONDS)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    tempfile.tempdir = None  # what was found for the process that it was forked from
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for descriptor, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(order[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), descriptor)
    sys.path[:] = [order["cwd"], *sys.path[1:]]
    sys.argv = ["registry-contracts", *order["words"]]
    if order["program"]:
        import_module("registry_contracts").main()
    # Planted plugins import the suite's before pytest could rewrite them, in workers as well.
    ignored = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    sys.exit(import_module("pytest").main([*order["words"], *ignored]))


if __name__ == "__main__":
    main(sys.argv[1:])
