"""Runs the sandbox in a child process for as long as the process that started it lives.

A run that is killed outright can stop nothing any more. The end of stdin tells the child instead, so that no sandbox
is left behind on a shared machine.
"""

import os
import runpy
import signal
import sys
import threading


def main() -> None:
    """Serve the sandbox, with the options of `registry-contracts sandbox`, until it is told to stop or stdin ends."""
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    sys.argv[0] = "contracts.sandbox"
    # By its name: nothing on this side imports the sandbox.
    runpy.run_module("contracts.sandbox", run_name="__main__", alter_sys=True)


def _end_with_stdin() -> None:
    # The descriptor itself: a buffered reader's lock would be in the way of the interpreter's exit.
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
