"""What the proxy costs: time for a request beside the same one sent directly, and memory for an upload."""

import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final

import requests

from benchmarks.commands import ENVIRONMENT, PROGRAM
from registry_contracts.settings.embedded_sandbox import DOCUMENT_SIZE_LIMIT, EmbeddedSandbox

_API: Final = "/api/v2013"
_RECORD: Final = f"{_API}/documents/benchmark-draft-01"
_PATIENCE_SECONDS: Final = 600


def passage(exchanges: int, megabytes: int) -> tuple[float, float]:
    """Read one draft directly and through the proxy in turn, then upload a file through it.

    Returns:
        Milliseconds that the proxy adds to a request, of medians, and MiB that its memory grows by over the upload.
    """
    with tempfile.TemporaryDirectory() as folder, EmbeddedSandbox(DOCUMENT_SIZE_LIMIT) as sandbox:
        words = [
            *PROGRAM,
            "proxy",
            "--base-url",
            sandbox.base_url,
            "--port=0",
            "--no-page",
            "--reports",
            folder,
        ]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as proxy:
            try:
                ready = proxy.stdout.readline() if proxy.stdout else ""
                through = ready.removeprefix("proxy ready at ").partition(",")[0]
                session = _signed_in(sandbox.base_url)
                added = _added(session, sandbox.base_url, through, exchanges)
                return added, _grown(session, through, proxy.pid, Path(folder, "large.bin"), megabytes)
            finally:
                proxy.terminate()
                proxy.communicate(timeout=_PATIENCE_SECONDS)


def _signed_in(base_url: str) -> requests.Session:
    session, account = requests.Session(), {"email": "author@sandbox.test", "password": "sandbox-author"}
    answer = session.post(f"{base_url}{_API}/authentication/token", json=account, timeout=_PATIENCE_SECONDS)
    session.headers["Authorization"] = f"Bearer {answer.json()['authenticationToken']}"
    session.headers["Realm"] = "abs-dev"
    draft = f"{base_url}{_RECORD}/versions/draft?schema=contact"
    session.put(draft, json={"title": {"en": "x"}}, timeout=_PATIENCE_SECONDS).raise_for_status()
    return session


def _added(session: requests.Session, direct: str, through: str, exchanges: int) -> float:
    def taken(url: str) -> float:
        began = time.perf_counter()
        session.get(f"{url}{_RECORD}/versions/draft", timeout=_PATIENCE_SECONDS).raise_for_status()
        return (time.perf_counter() - began) * 1000

    times = [(taken(direct), taken(through)) for _ in range(exchanges)]
    without, beside = map(statistics.median, zip(*times, strict=True))
    return float(beside - without)


def _grown(session: requests.Session, through: str, proxy: int, file: Path, megabytes: int) -> float:
    def highest() -> float:
        lines = Path(f"/proc/{proxy}/status").read_text("utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024

    file.touch()
    with file.open("r+b") as content:
        content.truncate(megabytes << 20)
        before = highest()
        url = f"{through}{_RECORD}/attachments/{file.name}"
        session.post(url, data=content, timeout=_PATIENCE_SECONDS).raise_for_status()
    return highest() - before
