"""Forks processes: what they would have to import stands ready, so that each costs hundredths of a second.

Takes each order over a connection of its own, as JSON (kind, words, cwd, env, out): forks a process for it, answers
with its number, and with its exit code when it is over. The process is killed when the connection is closed before.

Given a checkout, it loads that one's library and cases too; without, the library comes from each order's folder.
"""

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import sys
import tempfile
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from _pytest.assertion.rewrite import AssertionRewritingHook

LONGEST_SECONDS = 600
LONGEST_MESSAGE = 1 << 17


def main(descriptor: str, checkout: str) -> None:
    """Carry out orders until this process is ended."""
    # Only here are plugins imported before pytest could rewrite their assertions, which they have none of.
    AssertionRewritingHook._warn_already_imported = lambda *_: None  # type: ignore[method-assign]
    sys.path.insert(0, checkout)
    _load_library()
    gc.collect()
    gc.freeze()  # what is loaded stays shared between the forks instead of being copied by their collectors
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the guardians
    orders = socket.socket(fileno=int(descriptor))
    while True:
        connection, _ = orders.accept()
        if os.fork() == 0:
            orders.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _guard(connection)
        connection.close()


def _guard(connection: socket.socket) -> NoReturn:
    """Start what is ordered and tell its end, or kill it when nobody listens any more."""
    os.setsid()  # a Ctrl-C at the terminal of the tests is for them
    order = json.loads(connection.recv(LONGEST_MESSAGE))
    process = os.fork()
    if process == 0:
        connection.close()
        _run(order)
    with suppress(OSError):
        connection.send(str(process).encode())
    ended = os.pidfd_open(process)
    if ended not in select.select([ended, connection.fileno()], [], [])[0]:
        os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    with suppress(OSError):
        connection.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _load_library() -> None:
    """Load the library and collect its cases, as the proof does before it forks its trials."""
    import_module("registry_contracts")  # settles which package is called contracts
    from contracts.proving.processes import preload  # noqa: PLC0415 - only where the library is to be loaded

    preload(object())
    commands = Path(str(import_module("contracts.cli").__file__)).parent
    for command in commands.glob("[a-z]*.py"):
        import_module(f"contracts.cli.{command.stem}")


def _run(order: dict[str, Any]) -> NoReturn:
    """Become the process that was ordered, and end as it does."""
    try:
        _become(order)
    except SystemExit as ended:
        _end(ended)


def _end(ended: SystemExit) -> NoReturn:
    """End this process with all that takes place at exit, but for the clearing of modules.

    That would copy the memory which a fork shares with the process it was forked from, and costs more than the fork.
    """
    threading._shutdown()  # type: ignore[attr-defined] # as the interpreter does: waits for threads
    atexit._run_exitfuncs()
    if ended.code is not None and not isinstance(ended.code, int):
        sys.stderr.write(f"{ended.code}\n")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(ended.code if isinstance(ended.code, int) else int(ended.code is not None))


def _become(order: dict[str, Any]) -> NoReturn:
    os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # tests in the background of a script ignore it
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    tempfile.tempdir = None  # what was found for the process that it was forked from
    for number, name in enumerate((os.devnull, order["out"], f"{order['out']}.err")):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | (os.O_TRUNC if number else 0), 0o600), number)
    if order["kind"] == "sandbox":
        sys.exit(import_module("contracts.sandbox.serve").main(order["words"]))
    signal.alarm(LONGEST_SECONDS)
    if order["kind"] == "module":
        sys.argv = order["words"]
        runpy.run_module(order["words"][0], run_name="__main__", alter_sys=True)
        sys.exit()
    sys.path[:] = [order["cwd"], *sys.path[1:]]
    sys.argv = ["registry-contracts", *order["words"]]
    if order["forks_sandbox"] and "contracts.plugin.controller" in sys.modules:
        _fork_sandbox()
    if "-n" in order["words"]:
        _fork_workers()
    if order["kind"] == "program":
        import_module("registry_contracts").main()
    # Planted plugins import the suite's before pytest could rewrite them, in workers as well.
    ignored = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    sys.exit(import_module("pytest").main([*order["words"], *ignored]))


def _fork_sandbox() -> None:
    """Let this process's run have its embedded sandbox as a fork, which is ready at once."""
    from contracts.proving.processes import ForkedSandbox  # noqa: PLC0415 - only where the library is loaded

    class Embedded(ForkedSandbox):
        def __init__(self, size_limit: int, arguments: tuple[str, ...]) -> None:
            self.size_limit = size_limit
            super().__init__(arguments)

        def __enter__(self) -> "Embedded":
            return self

        def __exit__(self, *_: object) -> None:
            self.stop()

    for name in ("contracts.plugin.controller", "contracts.manual.manual_session"):
        vars(import_module(name))["EmbeddedSandbox"] = Embedded


class ForkedWorker:
    """A worker process of pytest-xdist that was forked; `subprocess.Popen` as far as execnet needs it.

    Args:
        source: The socket of a process that forks, which has loaded what workers import.
    """

    def __init__(self, source: socket.socket) -> None:
        (read, writes), (reads, written), (self._lives, lives) = os.pipe(), os.pipe(), os.pipe()
        theirs = [read, written, lives]
        socket.send_fds(source, [json.dumps(dict(os.environ)).encode()], theirs)
        for each in theirs:
            os.close(each)
        self.pid = int(source.recv(32))
        self.stdin, self.stdout = os.fdopen(writes, "wb"), os.fdopen(reads, "rb")

    def wait(self) -> int:
        """Wait until it is over, when nothing holds the other end of a pipe; execnet makes nothing of the code."""
        os.read(self._lives, 1)
        return 0

    def kill(self) -> None:
        """End it."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def _fork_workers() -> None:
    """Let this process's workers be forks of it as it is now, rather than interpreters that load everything again."""
    gateway_io: Any = import_module("execnet.gateway_io")
    base: Any = import_module("execnet.gateway_base")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    source = os.fork()
    if source == 0:
        ours.close()
        _serve_workers(theirs)
    theirs.close()
    atexit.register(os.waitpid, source, 0)
    atexit.register(ours.close)

    class Io(base.Popen2IO):  # type: ignore[misc]
        def __init__(self, _words: object, execmodel: object) -> None:
            self.popen = ForkedWorker(ours)
            super().__init__(self.popen.stdin, self.popen.stdout, execmodel=execmodel)

        wait = gateway_io.Popen2IOMaster.wait
        kill = gateway_io.Popen2IOMaster.kill

    gateway_io.Popen2IOMaster = Io


def _serve_workers(orders: socket.socket) -> None:
    """Fork a worker for each order, until the run that gives them is over; a Ctrl-C is for that run and its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    running: list[int] = []
    while True:
        message, descriptors, _, _ = socket.recv_fds(orders, LONGEST_MESSAGE, 3)
        if not message:
            for process in running:
                os.waitpid(process, os.WNOHANG)
            os._exit(0)
        process = os.fork()
        if process == 0:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            orders.close()
            for number, each in enumerate(descriptors[:2]):
                os.dup2(each, number)
                os.close(each)
            os.environ.clear()
            os.environ.update(json.loads(message))
            exec(eval(_first_line()), {"__name__": "__main__"})  # noqa: S102, S307 - what execnet has `python -c` do
            _end(SystemExit())
        running.append(process)
        orders.send(str(process).encode())
        for each in descriptors:
            os.close(each)


def _first_line() -> bytes:
    """The first line of the input, and no byte more."""
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(0, 1)
    return line


if __name__ == "__main__":
    main(*sys.argv[1:])
