"""Forks processes: what they would have to import stands ready, so that each costs hundredths of a second.

It is given the descriptor of a socket that listens, and a checkout, whose library and cases it loads for its first
order. It answers there over XML-RPC: `start` forks a process and returns its number, `code` waits for its end. It ends
with its parent, and all that it started ends with it.
"""

import atexit
import gc
import json
import os
import signal
import socket
import sys
import tempfile
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from xmlrpc.server import SimpleXMLRPCServer

from _pytest.assertion.rewrite import AssertionRewritingHook

LONGEST_SECONDS = 600


class Forks(SimpleXMLRPCServer):
    """Carries out orders one after the other, in the only thread of this process."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(("", 0), logRequests=False, allow_none=True, bind_and_activate=False)
        self.socket.close()
        self.socket = socket.socket(fileno=descriptor)
        self.register_function(self.start)
        self.register_function(self.code)
        self._parent = os.getppid()
        self._running: set[int] = set()
        self._loaded = False

    def start(self, order: Any) -> int:
        """Fork a process for an order, which is JSON (kind, words, cwd, env, out); returns its number."""
        if not self._loaded:
            _load_library()
            self._loaded = True
        from registry_contracts.proving.processes import fork  # noqa: PLC0415 - only once the checkout is settled

        process = fork(lambda: _run(json.loads(order)))
        self._running.add(process)
        return process

    def code(self, process: Any) -> int:
        """Wait for the end of a process; returns its exit code, negative for a signal."""
        _, status = os.waitpid(process, 0)
        self._running.discard(process)
        return os.waitstatus_to_exitcode(status)

    def service_actions(self) -> None:
        """Look now and then whether somebody still gives orders."""
        if os.getppid() != self._parent:
            self.end()

    def end(self, *_: object) -> None:
        """End what was started, and this process."""
        for process in self._running:
            with suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)
        os._exit(0)


def main(descriptor: str, checkout: str) -> None:
    """Carry out orders until the parent of this process is gone."""
    os.setsid()  # a Ctrl-C at the terminal of the tests is for them
    # Only here are plugins imported before pytest could rewrite their assertions, which they have none of.
    AssertionRewritingHook._warn_already_imported = lambda *_: None  # type: ignore[method-assign]
    sys.path[:0] = [f"{checkout}/contracts", checkout]
    forks = Forks(int(descriptor))
    signal.signal(signal.SIGTERM, forks.end)
    forks.serve_forever()


def _load_library() -> None:
    """Load the library and collect its cases, as the proof does before it forks its trials."""
    from registry_contracts.proving.processes import preload  # noqa: PLC0415 - only once that is settled

    preload(object())
    commands = Path(str(import_module("registry_contracts.cli").__file__)).parent
    for command in commands.glob("[a-z]*.py"):
        import_module(f"registry_contracts.cli.{command.stem}")
    gc.collect()
    gc.freeze()  # what is loaded stays shared between the forks instead of being copied by their collectors


def _run(order: dict[str, Any]) -> int:
    """Become the process that was ordered, with all that takes place at its exit but for the clearing of modules.

    That would copy the memory which a fork shares with the process it was forked from, and costs more than the fork.
    """
    try:
        code = _become(order)
    except SystemExit as ended:
        code = ended.code
    threading._shutdown()  # type: ignore[attr-defined] # as the interpreter does: waits for threads
    atexit._run_exitfuncs()
    if code is not None and not isinstance(code, int):
        sys.stderr.write(f"{code}\n")
    return code if isinstance(code, int) else int(code is not None)


def _become(order: dict[str, Any]) -> Any:
    os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # tests in the background of a script ignore it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    tempfile.tempdir = None  # what was found for the process that it was forked from
    for number, name in enumerate((os.devnull, order["out"], f"{order['out']}.err")):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | (os.O_TRUNC if number else 0), 0o600), number)
    if order["kind"] == "sandbox":
        return import_module("registry_contracts.sandbox.serve").main(order["words"])
    signal.alarm(LONGEST_SECONDS)
    sys.path[:] = [order["cwd"], *sys.path[1:]]
    sys.argv = ["registry-contracts", *order["words"]]
    if order["forks_sandbox"]:
        _fork_sandbox()
    if order["kind"] == "program":
        return import_module("registry_contracts.cli").main()
    # Planted plugins import the suite's before pytest could rewrite them.
    ignored = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return import_module("pytest").main([*order["words"], *ignored])


def _fork_sandbox() -> None:
    """Let this process's run have its embedded sandbox as a fork, which is ready at once."""
    from registry_contracts.proving.processes import ForkedSandbox  # noqa: PLC0415 - as above

    class Embedded(ForkedSandbox):
        def __init__(self, size_limit: int, arguments: tuple[str, ...]) -> None:
            self.size_limit = size_limit
            super().__init__(arguments)

        def __enter__(self) -> "Embedded":
            return self

        def __exit__(self, *_: object) -> None:
            self.stop()

    for name in ("registry_contracts.plugin.run", "registry_contracts.manual.manual_session"):
        vars(import_module(name))["EmbeddedSandbox"] = Embedded


if __name__ == "__main__":
    main(*sys.argv[1:])
