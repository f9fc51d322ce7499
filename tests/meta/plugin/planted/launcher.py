"""Starts runs by forking: what every run has to import stands ready, so that a run costs tenths of a second.

Reads one order a line on stdin (JSON: words, cwd, env, out, err) and answers one line, the exit code.
"""

import json
import os
import sys
from importlib import import_module
from typing import Any

# Third-party only: the library itself comes from the checkout of each order.
READY = (
    "pytest",
    "requests",
    "hypothesis.strategies",
    "schemathesis",
    "jinja2",
    "jsonschema_rs",
    "yaml",
    "click",
)


def main() -> None:
    """Serve orders until stdin ends."""
    for name in READY:
        import_module(name)
    for line in sys.stdin:
        order = json.loads(line)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            _run(order)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _run(order: dict[str, Any]) -> None:
    """Become the process that was ordered; ends by SystemExit, so that everything at exit takes place."""
    os.setsid()
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for descriptor, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(order[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), descriptor)
    sys.path[:] = [order["cwd"], *sys.path[1:]]
    # Only here are plugins imported before pytest could rewrite them.
    words = [*order["words"], "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    sys.argv = ["registry-contracts", *words]
    if order["program"]:
        import_module("registry_contracts").main()
    sys.exit(import_module("pytest").main(words))


if __name__ == "__main__":
    main()
