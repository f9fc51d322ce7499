"""A client that is not ours: TypeScript types and a fetch client made from the description, judged by the proxy.

Node and npm have to be there, and npm has to reach its registry; where they are not, these tests are skipped.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.interface.description import load_description
from tests.meta.program import Launcher, RunningProxy, running_proxy

PROGRAM: Final = Path(__file__).with_name("typescript_client.ts")
PACKAGES: Final = (
    "openapi-typescript@7.13.0",
    "openapi-fetch@0.17.0",
    "typescript@5.9.3",
    "@types/node@20.19.43",
)
COMPILER: Final = {
    "strict": True,
    "skipLibCheck": True,
    "target": "es2022",
    "module": "nodenext",
    "moduleResolution": "nodenext",
    "types": ["node"],
}
PATIENCE: Final = 120


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the compiled program, whose types were generated from the description."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("a client for Node needs node and npm on the PATH")
    folder = tmp_path_factory.mktemp("foreign")
    (folder / "package.json").write_text('{"type": "module"}', "utf-8")
    install = [npm, "install", "--no-save", "--no-audit", "--no-fund", "--no-package-lock", *PACKAGES]
    installed = subprocess.run(
        install, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    if installed.returncode:
        reason = next((line for line in installed.stderr.splitlines() if "code" in line), "no reason given")
        pytest.skip(f"npm cannot install the client's packages: {reason}")
    (folder / "bundle.json").write_text(json.dumps(load_description().published), "utf-8")
    shutil.copy(PROGRAM, folder / "program.ts")
    tools = folder / "node_modules" / ".bin"
    done(folder, tools / "openapi-typescript", "bundle.json", "-o", "registry.d.ts")
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": COMPILER}), "utf-8")
    done(folder, tools / "tsc")
    return folder


def done(folder: Path, *words: object) -> str:
    """Run a command that has to succeed, and give what it printed."""
    command = [str(word) for word in words]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def judged(folder: Path, proxy: RunningProxy) -> tuple[int, Any]:
    """Return the exit code of a proxy that is over, and what it reported."""
    assert proxy.ended is not None
    (path,) = folder.rglob("check.json")
    return proxy.ended.code, json.loads(path.read_text("utf-8"))


def test_a_generated_client_keeps_the_interface(
    client: Path, sandbox_url: str, library_launcher: Launcher, tmp_path: Path
) -> None:
    with running_proxy(library_launcher, tmp_path, f"--base-url={sandbox_url}") as proxy:
        output = done(client, "node", "program.js", proxy.url)
    assert output == "read back: true; gone afterwards: true\n"
    code, checked = judged(tmp_path, proxy)
    assert (code, checked["verdict"], checked["findings"]) == (0, "pass", []), proxy.ended


def test_a_mistaken_request_of_the_client_is_named(
    client: Path, sandbox_url: str, library_launcher: Launcher, tmp_path: Path
) -> None:
    with running_proxy(library_launcher, tmp_path, f"--base-url={sandbox_url}") as proxy:
        done(client, "node", "program.js", proxy.url, "mistaken")
    code, checked = judged(tmp_path, proxy)
    (finding,) = checked["findings"]
    assert (code, finding["operation"], finding["side"]) == (1, "saveDraft", "request")
    assert "10" in finding["seen"] or "ten-letter" in finding["seen"], finding
