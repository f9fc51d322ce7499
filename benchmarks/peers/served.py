"""`python -m benchmarks.peers.served COUNT OPTIONS…`: the sandbox, and a count of the requests it was sent.

The options are `--defect NAME` and `--variant NAME`. The number of requests is written to the file COUNT at the end.
What the server refuses before it is a request (broken HTTP) is not counted.
"""

import argparse
import os
import signal
import socket
import sys
import threading
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from contracts.sandbox.habits import Settings
from contracts.sandbox.serve import altered, make_server
from contracts.settings.embedded_sandbox import DEFAULT_SIZE_LIMIT


class Counted:
    """An application that counts the requests that reach it.

    Args:
        app: what answers them.

    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a request and pass it on."""
        self.requests += scope["type"] == "http"
        await self.app(scope, receive, send)


def _end_with_stdin() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Serve until stdin ends or SIGTERM comes, then write the count."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=Path)
    parser.add_argument("--defect", action="append", default=[])
    parser.add_argument("--variant", action="append", default=[])
    options = parser.parse_args()
    settings = Settings(
        size_limit=DEFAULT_SIZE_LIMIT, defects=tuple(options.defect), variants=tuple(options.variant)
    )
    app = Counted(altered(settings))
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        port = listener.getsockname()[1]

        def ready() -> None:
            sys.stdout.write(f"sandbox ready at http://127.0.0.1:{port}\n")
            sys.stdout.flush()

        make_server(app, ready).run(sockets=[listener])
    options.count.write_text(str(app.requests), encoding="utf-8")


if __name__ == "__main__":
    main()
