"""The process that xdist takes for a worker: hands its input and output to a process that has imported all of it.

Run as `python -I -S worker_client.py ADDRESS -u -c CODE` (see `contracts.plugin.worker_start`), with nothing imported
that can be spared: it is started once for each worker. It lives as long as the worker, and ends with its exit code.
Where nobody takes its input and output, it becomes what would have been started without it: `python -u -c CODE`.
"""

import os
import signal
import socket
import struct
import sys

#: What the server answers once it has input and output; the exit code of the worker comes later.
TAKEN = b"taken"
#: The longest that importing may take, in seconds; a worker of its own is quicker then.
_PATIENCE_SECONDS = 60.0
_CREDENTIALS = struct.Struct("3i")


def peer(connection: socket.socket) -> tuple[int, int]:
    """Process and user at the other end of a Unix socket; of a listening one, those that called `listen`."""
    sent = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, user, _ = _CREDENTIALS.unpack(sent)
    return pid, user


def _hand_over(address: str) -> socket.socket | None:
    """Send the standard streams and the environment to the server of the process that started this one.

    Returns:
        The connection, on which the exit code will come; None where no worker was begun.
    """
    try:
        # Each message arrives whole or not at all.
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.settimeout(_PATIENCE_SECONDS)
        connection.connect(b"\0" + address.encode("ascii"))
        if peer(connection) != (os.getppid(), os.getuid()):
            return None
        environment = b"\0".join(name + b"=" + value for name, value in os.environb.items())
        socket.send_fds(connection, [environment], [0, 1, 2])
        if connection.recv(len(TAKEN)) != TAKEN:
            return None
    except OSError:
        return None
    connection.settimeout(None)
    return connection


def _await(connection: socket.socket) -> int:
    """Wait for the worker, whose input and output nobody else must hold open, and return its exit code."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        # The worker hears of what is sent to all processes of a run; this one has nothing to end before it.
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    ended = connection.recv(16)
    return int(ended) if ended else 1


def main() -> None:
    """Be a worker's stand-in, or the worker."""
    address, *words = sys.argv[1:]
    connection = _hand_over(address)
    if connection is None:
        os.execv(sys.executable, [sys.executable, *words])  # noqa: S606 - our own interpreter
    os._exit(_await(connection))


if __name__ == "__main__":
    main()
