"""Schemathesis and the suite on the same drawn faults and drawn conformant services, one realm each.

`python -m benchmarks.beside_schemathesis --document docs/maintain/peers.md` measures it. Schemathesis gets the
description narrowed to the realm, its links and examples, and the author's token. What it reports on the faithful
sandbox goes into its own baseline; a fault counts as found when it reports anything else, twice, on fresh sandboxes.
"""

import copy
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, Final

import click
import requests

from benchmarks.commands import ENVIRONMENT, PROGRAM
from registry_contracts.interface.description import load_description
from registry_contracts.interface.operations import ANY_REALM
from registry_contracts.proving.plan import drawn_trials
from registry_contracts.proving.services import AND
from registry_contracts.proving.trials import Kind, Trial
from registry_contracts.settings.embedded_sandbox import EmbeddedSandbox
from tools.tables import put_between

_EXAMPLES: Final = 30
#: A valid text need be no valid term, so only the examples have to be accepted.
_SETTINGS: Final = """\
continue-on-failure = true
request-timeout = 10.0
[phases.coverage.extra-data-sources]
responses = false
[phases.coverage.checks]
positive_data_acceptance.enabled = false
[phases.fuzzing.generation]
max-examples = 10
[phases.fuzzing.checks]
positive_data_acceptance.enabled = false
[phases.stateful.checks]
positive_data_acceptance.enabled = false
"""
#: How often it meets the faithful sandbox for its baseline, as what it makes differs from run to run.
_FAITHFUL_RUNS: Final = 2


@dataclass
class Schemathesis:
    """Its command line, with a folder for descriptions and baselines."""

    folder: Path
    examples: int
    seconds: list[float] = field(default_factory=list)

    def finds(self, trial: Trial) -> bool:
        """Whether it reports what it does not report on the faithful sandbox; seen once more."""
        if not (self.folder / f"baseline-{trial.realms[0]}.json").exists():
            self._accept(trial.realms[0])
        return all(self._fails(trial.realms[0], _alteration(trial)) for _ in range(2))

    def alarms(self, realm: str) -> int:
        """How many different failures it reported on the faithful sandbox."""
        return len(json.loads((self.folder / f"baseline-{realm}.json").read_text("utf-8"))["entries"])

    def _accept(self, realm: str) -> None:
        (self.folder / "settings.toml").write_text(_SETTINGS, "utf-8")
        (self.folder / f"{realm}.json").write_text(json.dumps(_description(realm)), "utf-8")
        for _ in range(_FAITHFUL_RUNS):
            self._fails(realm, (), "--baseline-update")

    def _fails(self, realm: str, alteration: Sequence[str], *more: str) -> bool:
        with EmbeddedSandbox(arguments=alteration) as sandbox:
            words = [str(Path(sys.executable).with_name("st")), "--config-file", "settings.toml", "run"]
            words += [
                f"{realm}.json",
                "--url",
                sandbox.base_url,
                "--seed",
                "1",
                "--generation-database",
                "none",
            ]
            words += ["--header", f"Authorization: Bearer {_token(sandbox.base_url)}"]
            words += [f"--max-examples={self.examples}", f"--baseline=baseline-{realm}.json", *more]
            started = time.monotonic()
            ended = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=False)
            self.seconds.append(time.monotonic() - started)
        if ended.returncode not in (0, 1):
            raise RuntimeError(f"Schemathesis broke:\n{ended.stdout}{ended.stderr}")
        return ended.returncode == 1


def _description(realm: str) -> dict[str, Any]:
    """The description narrowed to a realm, with the operation that knows no realm, and one more contact.

    Without that one, whose identifier is left to the service, each faulty contact is refused as there already.
    """
    narrowed, token = (load_description().for_realm(name) for name in (realm, ANY_REALM))
    narrowed["paths"] |= token["paths"]
    if contacts := narrowed["paths"].get("/api/v2013/documents"):
        examples = contacts["post"]["requestBody"]["content"]["application/json"]["examples"]
        name = examples[realm]["$ref"].rpartition("/")[2]
        examples["unnamed"] = copy.deepcopy(narrowed["components"]["examples"][name])
        del examples["unnamed"]["value"]["header"]["identifier"]
    return narrowed


def _alteration(trial: Trial) -> list[str]:
    return [
        word
        for name in trial.name.split(AND)
        for word in (f"--{'fault' if trial.kind is Kind.FAULT else 'variant'}", name)
    ]


def _token(base_url: str) -> str:
    """The author's token, or a word that is none where a fault keeps it back."""
    credentials = {"email": "author@sandbox.test", "password": "sandbox-author"}
    answer = requests.post(f"{base_url}/api/v2013/authentication/token", json=credentials, timeout=30)
    try:
        return str(answer.json()["authenticationToken"])
    except (ValueError, KeyError, TypeError):
        return "no-token"


def _ours(trial: Trial, seconds: list[float]) -> bool:
    """Whether a gate of the suite in the trial's realm fails; it confirms its findings itself."""
    with tempfile.TemporaryDirectory() as folder:
        words = [*PROGRAM, "run", "--realm", trial.realms[0], "--reports", folder]
        words.append(f"--sandbox-arguments={' '.join(_alteration(trial))}")
        started = time.monotonic()
        ended = subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT, check=False)
        seconds.append(time.monotonic() - started)
    if ended.returncode not in (0, 1, 6):
        raise RuntimeError(f"the suite broke:\n{ended.stdout}{ended.stderr}")
    return ended.returncode == 1


def beside(faults: Sequence[Trial], services: Sequence[Trial], examples: int = _EXAMPLES) -> Iterator[str]:
    """Measure both, and yield the table in Markdown.

    Args:
        examples: How many Schemathesis makes.
    """
    trials, ours = [*faults, *services], list[float]()
    with tempfile.TemporaryDirectory() as folder:
        peer = Schemathesis(Path(folder), examples)
        found = [(trial, _ours(trial, ours), peer.finds(trial)) for trial in trials]
        alarms = max(peer.alarms(trial.realms[0]) for trial in trials)
    yield "| tool | faults found | false alarms, faithful | services with false alarms | seconds a run |"
    yield "|---|---:|---:|---:|---:|"
    tools = (
        ("registry-contracts", 1, 0, ours),
        (f"Schemathesis {version('schemathesis')}", 2, alarms, peer.seconds),
    )
    for name, column, faithful, seconds in tools:
        of = [
            sum(bool(row[column]) for row in found if (row[0].kind is Kind.FAULT) is kind)
            for kind in (True, False)
        ]
        yield (
            f"| {name} | {of[0]} of {len(faults)} | {faithful} | {of[1]} of {len(services)} |"
            f" {median(seconds):.1f} |"
        )


@click.command()
@click.option("--faults", default=20, show_default=True)
@click.option("--services", default=5, show_default=True)
@click.option("--seed", default=1, show_default=True, help="Of the draw.")
@click.option("--document", type=click.Path(path_type=Path, exists=True), help="Takes the table.")
def main(faults: int, services: int, seed: int, document: Path | None) -> None:
    """Measure Schemathesis beside the suite."""
    drawn = list(drawn_trials(faults, 0, seed))
    head = (
        f"{faults} faults and {services} services, drawn with seed {seed}, on {datetime.now(UTC):%Y-%m-%d}:"
    )
    text = "\n".join([head, "", *beside(drawn, list(drawn_trials(0, services, seed)))])
    click.echo(text)
    if document is not None:
        put_between(document, "beside", text)


if __name__ == "__main__":
    main()
