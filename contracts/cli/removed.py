"""What the program no longer has, and what to use instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from contracts.errors import UsageError

_NOTIFY: Final = "let the CI notify: `reports/latest/summary.md` and `verdict.json` say what there is to tell"
#: Command, or command and option → what to use.
REMOVED: Final[Mapping[str, str]] = {
    "can-release": "use `registry-contracts gate --from FOLDER --max-age 36h`",
    "list cases": "use `registry-contracts explain CLAUSE`, or docs/clauses.md",
    "list variants": "use `registry-contracts sandbox --variant list`",
    "list weathers": "use `registry-contracts sandbox --weather list`",
    "list --untested": "the report and `verdict.json` say what a run could not test, and why",
    "list --history": "use `--reports DIR`, the folder that holds it",
    "list defects": "use `registry-contracts list faults`",
    "prove": "use `python -m contracts.proving` (in a checkout also `tox -e proof`)",
    "history": "use `registry-contracts list runs`, `list red`, `list flaky`, or `explain CLAUSE`",
    "completion": 'put into ~/.bashrc: eval "$(_REGISTRY_CONTRACTS_COMPLETE=bash_source registry-contracts)"',
    "replay": "use `registry-contracts run --finding ID`, or the script of the finding, `findings/ID.sh` of the run",
    "call --save": "copy the curl line that `registry-contracts call` prints",
    "merge": "one machine is enough at a polite pace: use `registry-contracts run --workers N`",
    "run --first": "use `-x`",
    "run --notify": _NOTIFY,
    "run --report-url": _NOTIFY,
    "gate --notify": _NOTIFY,
    "gate --report-url": _NOTIFY,
    "run --shard": "use `--workers N`",
    "gate --shard": "use `--workers N`",
    "site": "the report's trends show earlier runs; `registry-contracts list red` says since when something is red",
    "init --account": "write the names of the variables into the settings file",
    "init --no-look": "init sends nothing",
    "doctor --permanent": "use `registry-contracts run --profile smoke`",
    "openapi --exact-statuses": "read the ranges such as 4XX, which OpenAPI has had since 3.0",
    "sandbox --like": "use `--variant` and `--habit` for each point; `--variant list` and `--habit list` name them",
    "check --realm": "each finding names its realm",
    "check --strict-client": "findings that are advice stand in `check.json` with that standing",
    "proxy --strict-client": "findings that are advice stand in `check.json` with that standing",
    "proxy --until-idle": "end it by a signal: `kill $proxy; wait $proxy` gives the verdict's exit code",
    "consumer": "use `registry-contracts check FILE --consumer-out sdk.toml`",
}


def refuse_removed(words: Sequence[str]) -> None:
    """Refuse a command or an option that was removed.

    Args:
        words: Those of the command line, without the program's name.

    Raises:
        UsageError: one was; says what to use instead, and no value that may be a secret.
    """
    command = words[0] if words else ""
    names = [command, *(f"{command} {word.partition('=')[0]}" for word in words[1:])]
    for name in names:
        if name in REMOVED:
            raise UsageError(f"`{name}` was removed: {REMOVED[name]}")
