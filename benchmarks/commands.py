"""Whole commands, timed from outside as a person would wait for them."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

PROGRAM = [sys.executable, "-c", "from registry_contracts.cli import main; main()"]
#: Python keeps what it has compiled, as it does for anybody who sets nothing.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@dataclass(frozen=True)
class Timed:
    """Wall-clock seconds of a command, and what else is worth saying."""

    seconds: float
    note: str = ""


def collection() -> Timed:
    """Collecting every case, without running one."""
    started = time.perf_counter()
    words = [sys.executable, "-m", "pytest", "--collect-only", "-q"]
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=ENVIRONMENT)
    return Timed(time.perf_counter() - started, done.stdout.strip().splitlines()[-1])


def first_answer() -> Timed:
    """From the command `registry-contracts sandbox` to its first answer over HTTP."""
    started = time.perf_counter()
    words = [*PROGRAM, "sandbox", "--port", "0"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
    try:
        line = server.stdout.readline() if server.stdout else ""
        with urlopen(f"{line.split()[-1]}/openapi.json", timeout=10) as answer:  # noqa: S310 - our own loopback server
            answer.read()
        return Timed(time.perf_counter() - started)
    finally:
        server.terminate()
        server.wait()


def first_request(workers: int) -> Timed:
    """From the command `registry-contracts run` to its first request, at a service that hangs up then."""
    with socket.create_server(("127.0.0.1", 0)) as service, tempfile.TemporaryDirectory() as folder:
        known = {"BASE_URL": f"http://127.0.0.1:{service.getsockname()[1]}"}
        known |= {"EMAIL": "author@sandbox.test", "PASSWORD": "sandbox-author"}
        environment = ENVIRONMENT | {f"REGISTRY_{name}": value for name, value in known.items()}
        words = [*PROGRAM, "run", "--wait", "0", "--workers", str(workers), "--reports", folder]
        started = time.perf_counter()
        run = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        service.settimeout(60)
        service.accept()[0].close()
        seconds = time.perf_counter() - started
        service.close()
        run.wait()
    return Timed(seconds, f"load {os.getloadavg()[0]:.1f}")


def smoke(realms: Sequence[str] = ()) -> Timed:
    """The profile smoke against the embedded sandbox, reports included; without realms, in all of them."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        words = [*PROGRAM, "run", "--profile", "smoke", "--reports", folder]
        words += [f"--realm={realm}" for realm in realms]
        subprocess.run(words, check=True, capture_output=True, env=ENVIRONMENT)
        seconds = time.perf_counter() - started
        verdict = json.loads((Path(folder) / "latest" / "verdict.json").read_text("utf-8"))
    return Timed(seconds, f"{verdict['environment']['requests']} requests")
