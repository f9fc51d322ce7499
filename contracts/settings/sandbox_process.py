"""Runs the sandbox for as long as the process that started it lives; stdin is the line between the two.

A run that is killed outright can stop nothing any more. The end of stdin tells this process instead, so that
no sandbox is left behind on a shared machine. Start it with `python -m contracts.settings.sandbox_process OPTIONS…`;
the options are those of `python -m contracts.sandbox`.
"""

import os
import runpy
import signal
import sys
import threading


def _end_with_stdin() -> None:
    # The descriptor itself: a buffered reader's lock would be in the way of the interpreter's exit.
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    sys.argv[0] = "contracts.sandbox"
    runpy.run_module("contracts.sandbox", run_name="__main__", alter_sys=True)
