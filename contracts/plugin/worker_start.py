"""How workers start: as forks of one process that has imported and collected what every worker needs.

Eight workers that import the same libraries on two cores take longer to start than many a run takes to judge. xdist
starts a command for each worker. That command is `worker_client.py` here, which hands its input and output to the
server of this module. The server is a fork of the controller, made before this has threads; it collects the cases
once and then forks a worker for each client. Where that cannot be done (another system than Linux, a measurement of
coverage), and where the server fails, the client becomes the worker that xdist would have started.

The server ends with the controller. A worker ends as it would without it: at the end of its input, or when its parent
is gone. A client that xdist kills takes its worker along.
"""

from __future__ import annotations

import gc
import inspect
import os
import pickle
import selectors
import shlex
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

import execnet.gateway_base
import pytest

from contracts.cases.described_inputs import load_generators
from contracts.cases.generated_faults import make_all, take_from
from contracts.errors import INTERRUPTING_SIGNALS
from contracts.plugin.controller import is_worker
from contracts.plugin.interruption import signals_held
from contracts.plugin.plan import is_contract_run
from contracts.plugin.worker_client import TAKEN, peer

_CLIENT: Final = Path(__file__).with_name("worker_client.py")
#: What xdist starts a worker of this machine with.
_LOCAL: Final = "popen"
_LARGEST_ENVIRONMENT: Final = 1 << 20
_REQUEST_SECONDS: Final = 5.0
_STANDARD_STREAMS: Final = 3
#: Of work beside the start of workers.
_NICENESS: Final = 10
#: Collects as the workers will, and says nothing.
_QUIETLY: Final = ("--collect-only", "-n0", "-p", "no:terminal", "--capture=no")
_SERVER = pytest.StashKey["ServerHandle"]()


@dataclass(frozen=True)
class ServerHandle:
    """The controller's hold on the server.

    Attributes:
        pid: The server's process.
        lifeline: A pipe's end to write to; the server ends when nobody has it open any more.
    """

    pid: int
    lifeline: int

    def stop(self) -> None:
        """End the server and wait for that."""
        os.close(self.lifeline)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Start the server in the controller of a run with workers, before anything else is started."""
    specs = config.getoption("tx", None) or []
    if is_worker(config) or not specs or set(specs) != {_LOCAL} or not is_contract_run(config):
        return
    if not _can_fork():
        return
    address, config.stash[_SERVER] = start_server(lambda: _collect(config.invocation_params.args))
    if command := client_command(address):
        config.option.tx = [f"{_LOCAL}//python={command}"] * len(specs)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """End the server."""
    if _SERVER in config.stash:
        config.stash[_SERVER].stop()
        del config.stash[_SERVER]


def _can_fork() -> bool:
    """Whether this process may be forked, and what a fork needs is there.

    A fork has no other thread than the one that forked. What measures coverage has to be there from the start, and
    ends with an interpreter.
    """
    if sys.platform != "linux" or threading.active_count() > 1:
        return False
    if sys.gettrace() is not None or sys.getprofile() is not None or "coverage" in sys.modules:
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return True


def client_command(address: str) -> str | None:
    """The command for a worker, as execnet reads it; None where its notation has no word for a path."""
    command = shlex.join([sys.executable, "-I", "-S", str(_CLIENT), address])
    return None if "//" in command else command


def start_server(prepare: Callable[[], object]) -> tuple[str, ServerHandle]:
    """Fork the server from this process.

    Args:
        prepare: Imports what workers need; called in the server.

    Returns:
        Its address, for clients that this process starts, and the hold on it.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(b"")  # a name that Linux chooses; it is no file, and gone with the socket
    listener.listen(socket.SOMAXCONN)
    address = listener.getsockname()[1:].decode("ascii")
    reading, writing = os.pipe()
    with signals_held():
        pid = os.fork()
        if pid == 0:
            os.close(writing)
            _be_server(listener, reading, prepare)
    os.close(reading)
    listener.close()
    return address, ServerHandle(pid, writing)


def _be_server(listener: socket.socket, lifeline: int, prepare: Callable[[], object]) -> NoReturn:
    """Serve until the controller is gone, whatever its frames above this one would do."""
    try:
        _let_go({listener.fileno(), lifeline})
        prepare()
        if threading.active_count() == 1:
            gc.collect()
            gc.freeze()  # no worker's garbage collection copies these pages
            _Server(listener, lifeline).serve()
    finally:
        os._exit(0)


def _let_go(kept: set[int]) -> None:
    """Let go of the controller's files; nothing stands where they were, since objects that know them remain."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for each in Path("/proc/self/fd").iterdir():
        number = int(each.name)
        with suppress(OSError):  # the listing's own
            if number not in kept and number != nothing and os.fstat(number):
                os.dup2(nothing, number, inheritable=number < _STANDARD_STREAMS)
    _open_streams()


def _open_streams() -> None:
    """Open the standard streams anew; the objects that the controller had for them may be wrapped or captured."""
    sys.stdin = sys.__stdin__ = os.fdopen(0, encoding="utf-8", closefd=False)  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", encoding="utf-8", closefd=False)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = os.fdopen(  # type: ignore[misc]
        2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False
    )


def _collect(words: Sequence[str]) -> None:
    """Collect the cases as each worker will, and make what their cases share; a worker that cannot says why itself."""
    pytest.main([*words, *_QUIETLY])
    load_generators()
    if threading.active_count() == 1:
        _have_faults_made()


def _have_faults_made() -> None:
    """Let another process make the faults that cases of all workers want; only a case that wants them waits for it."""
    made = os.memfd_create("generated faults")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        # Its own child does it, which the system takes over and clears away.
        if os.fork() == 0:
            _make_faults(made)
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)

    def source() -> bytes:
        os.read(reading, 1)  # until it has ended
        return os.pread(made, os.fstat(made).st_size, 0)

    take_from(source)


def _make_faults(made: int) -> NoReturn:
    try:
        os.nice(_NICENESS)  # the workers that start meanwhile come first
        os.write(made, pickle.dumps(make_all()))  # all of it, or nothing
    finally:
        os._exit(0)


class _Server:
    """Forks a worker for each client, and tells the client how it ended.

    Args:
        listener: Where clients come.
        lifeline: Ends with the controller.
    """

    def __init__(self, listener: socket.socket, lifeline: int) -> None:
        self._listener = listener
        self._lifeline = lifeline
        self._selector = selectors.DefaultSelector()
        #: By descriptor of the process: the process and its client.
        self._workers: dict[int, tuple[int, socket.socket]] = {}

    def serve(self) -> None:
        """Serve until the controller is gone."""
        self._selector.register(self._listener, selectors.EVENT_READ, self._begin)
        self._selector.register(self._lifeline, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fd == self._lifeline:
                    return
                # An earlier one in the list may have ended this one.
                if key.fd in self._selector.get_map():
                    key.data()

    def _begin(self) -> None:
        """Take a client's streams and environment, and fork its worker."""
        client, _ = self._listener.accept()
        try:
            client.settimeout(_REQUEST_SECONDS)
            if peer(client)[1] != os.getuid():
                raise PermissionError("a client of another user")
            environment, streams, _, _ = socket.recv_fds(client, _LARGEST_ENVIRONMENT, _STANDARD_STREAMS)
            client.send(TAKEN)
        except OSError:
            client.close()
            return
        if len(streams) != _STANDARD_STREAMS:
            client.close()
            return
        pid = os.fork()
        if pid == 0:
            self._let_go(client)
            _be_worker(environment, streams)
        for stream in streams:
            os.close(stream)
        process = os.pidfd_open(pid)
        self._workers[process] = pid, client
        self._selector.register(process, selectors.EVENT_READ, lambda: self._end(process))
        self._selector.register(client, selectors.EVENT_READ, lambda: self._kill(process))

    def _let_go(self, client: socket.socket) -> None:
        """Close, in a worker, what is the server's."""
        self._selector.close()
        self._listener.close()
        os.close(self._lifeline)
        for process, (_, other) in self._workers.items():
            os.close(process)
            other.close()
        client.close()

    def _kill(self, process: int) -> None:
        """End a worker whose client was killed; what becomes of it is seen as its end."""
        pid, client = self._workers[process]
        self._selector.unregister(client)
        os.kill(pid, signal.SIGKILL)

    def _end(self, process: int) -> None:
        """Tell a client how its worker ended."""
        pid, client = self._workers.pop(process)
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        with suppress(OSError):
            client.send(str(code if code >= 0 else 128 - code).encode("ascii"))
        self._selector.unregister(process)
        if client.fileno() in self._selector.get_map():
            self._selector.unregister(client)
        client.close()
        os.close(process)


def _be_worker(environment: bytes, streams: Sequence[int]) -> NoReturn:
    """Do what execnet's `python -u -c CODE` does with a client's streams and environment, and end."""
    code = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        _open_streams()
        _take_environment(environment)
        sys.argv = ["-c"]
        for number in INTERRUPTING_SIGNALS:
            # They are held back as yet, as from every worker that starts; one that is ignored stays so.
            if signal.getsignal(number) is not signal.SIG_IGN:
                usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
                signal.signal(number, usual)
        _run(sys.stdin.readline())
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 - the interpreter would show it and end, and so does this
        sys.excepthook(*sys.exc_info())
    finally:
        for output in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                output.flush()
        # The frames above are the server's and the controller's: their ends, and what they registered for the end
        # of the interpreter, are not this process's.
        os._exit(code)


def _take_environment(sent: bytes) -> None:
    """Take the client's environment, as it was when xdist started it."""
    variables = dict(pair.split(b"=", 1) for pair in sent.split(b"\0") if pair)
    for name in os.environb.keys() - variables.keys():
        del os.environb[name]
    for name, value in variables.items():
        if os.environb.get(name) != value:
            os.environb[name] = value


def _run(line: str) -> None:
    """Run the code that execnet sends first: its own module and what begins with it, which need not be compiled."""
    source: str = eval(line)  # noqa: S307 - a literal text from the controller
    module = execnet.gateway_base
    begun = source.removeprefix(inspect.getsource(module))
    namespace = {"__name__": "__main__"} if begun == source else dict(vars(module))
    exec(begun, namespace)  # noqa: S102 - as execnet's own command does
