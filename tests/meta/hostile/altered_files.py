"""Runs one command on a file once for each value in it that another kind replaces, and says what went wrong.

A process of its own: `python -m tests.meta.hostile.altered_files ORDER`. Nothing it tries reaches the network.
"""

import contextlib
import io
import json
import os
import random
import socket
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from contracts.cli import program
from contracts.reports import __main__ as reports_again
from contracts.settings.embedded_sandbox import EmbeddedSandbox
from tests.meta.hostile.probe import LONG, NASTY, OURS, Ended, Wrong, shown_safely
from tests.meta.replaced_values import replaced_by_field

#: One value of each kind that JSON has, and texts that lead elsewhere or cannot be shown.
KINDS: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    LONG,
    0.5,
    "",
    "../../x",
    *NASTY,
    [],
    [None],
    {},
    {"x": None},
)


Text = tuple[str, Callable[[], str]]


def texts(path: Path, line: int | None) -> list[Text]:
    """Every text of a file with one value in it replaced, after its field: JSON, YAML, TOML, a line of JSON lines.

    Args:
        line: The line of JSON lines that is altered.
    """
    text = path.read_text("utf-8")
    before, after = "", ""
    read: Callable[[str], Any] = json.loads
    write: Callable[[Any], str] = json.dumps
    if line is not None:
        lines = text.splitlines(keepends=True)
        before, text, after = "".join(lines[:line]), lines[line], "\n" + "".join(lines[line + 1 :])
    elif path.suffix == ".yaml":
        read, write = yaml.safe_load, yaml.safe_dump
    elif path.suffix == ".toml":
        read, write = tomllib.loads, _toml

    def written(other: Any) -> str:
        return before + write(other).replace(f'"{LONG}"', "9" * 5000) + after

    every = replaced_by_field(read(text), KINDS, "\ud800x\n::error::")
    return [(field, partial(written, other)) for field, other in every]


def drawn(every: Sequence[Text], seed: int) -> Iterator[Text]:
    """All texts, in rounds: each alters every field once, with a value that the seed draws, as long as it has more."""
    chance = random.Random(f"altered files {seed}")  # noqa: S311 - nothing secret hangs on it
    of_field: dict[str, list[Text]] = defaultdict(list)
    for text in chance.sample(every, len(every)):
        of_field[text[0]].append(text)
    for number in range(max(map(len, of_field.values()))):
        yield from (of[number] for of in of_field.values() if number < len(of))


def _toml(content: Any) -> str:
    """Write a file's content as TOML, tables in a line each; what TOML cannot hold makes a file that is none."""
    if not isinstance(content, dict):
        return _toml_value(content)
    return "".join(f"{json.dumps(name)} = {_toml_value(value)}\n" for name, value in content.items())


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        members = (f"{json.dumps(name)} = {_toml_value(member)}" for name, member in value.items())
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    return value.isoformat() if hasattr(value, "isoformat") else json.dumps(value)


def tried(words: list[str]) -> Ended:
    """Run a command in this process: of `registry-contracts`, or `contracts.reports` by that name."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape") for _ in range(2))
    sys.argv = ["registry-contracts", *words]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            if words[0] == "contracts.reports":
                sys.argv = words
                reports_again.main()
            program.main()
        except SystemExit as ended:
            code = int(str(ended.code or 0))
    for stream in (out, err):
        stream.seek(0)
    return Ended(code, out.read(), err.read())


def _refuse(*_: Any) -> None:
    raise ConnectionRefusedError(111, "Connection refused")


def _unstarted(sandbox: EmbeddedSandbox) -> EmbeddedSandbox:
    """Start no process that nothing would reach."""
    sandbox._base_url = "http://127.0.0.1:9"
    return sandbox


def _end(*_: Any, **__: Any) -> None:
    raise SystemExit(0)


def _listing(folder: Path) -> set[Path]:
    return {path for path in folder.iterdir() if path.name not in OURS}


def _complaint(ended: Ended, order: dict[str, Any], around: set[Path], folder: Path) -> str | None:
    lines = ended.err.strip().splitlines()
    if ended.code not in order["codes"] or "Traceback" in ended.all:
        return f"exit {ended.code}: {(lines or ['silence'])[-1]}"
    if ended.code == 4 and (not 1 <= len(lines) <= order["troubles"] or ended.out.strip()):
        return f"exit 4 in {len(ended.all.splitlines())} lines: {ended.all[:200]!r}"
    if beside := _listing(folder.parent) - around:
        return f"wrote {sorted(map(str, beside))}"
    try:
        shown_safely(ended)
    except Wrong as wrong:
        return str(wrong)
    return None


def main(order: dict[str, Any]) -> dict[str, Any]:
    """Carry out an order: file, line, words, codes, how many values to replace, the seed of these, lines of trouble.

    It may name what a command would begin once it has read its files, where it is to end instead.
    """
    socket.socket.connect = _refuse  # type: ignore[method-assign]
    EmbeddedSandbox.__enter__ = _unstarted  # type: ignore[method-assign, assignment]
    usual_sleep = time.sleep
    for module in list(sys.modules.values()):
        if vars(module).get("sleep") is usual_sleep:
            vars(module)["sleep"] = lambda _: None
    if beginning := order.get("beginning"):
        setattr(import_module(beginning[0]), beginning[1], _end)
    path, folder = Path(order["file"]), Path.cwd()
    usual, around = path.read_bytes(), _listing(folder.parent)
    before = tried(order["words"])
    if order.get("line") is None and before.code not in set(order["codes"]) - {4}:
        raise SystemExit(f"as it is, it ends with {before.code}: {before.all.strip()[-300:]}")
    codes: Counter[int] = Counter()
    wrong: Counter[str] = Counter()
    every = texts(path, order.get("line"))
    fields = {field for field, _ in every}
    altered = list(islice(drawn(every, order["seed"]), order["most"]))
    for _, text in altered:
        path.write_text(text(), "utf-8", "surrogatepass")
        ended = tried(order["words"])
        codes[ended.code] += 1
        if complaint := _complaint(ended, order, around, folder):
            wrong[complaint] += 1
    path.write_bytes(usual)
    figures: dict[str, Any] = {"tried": codes.total(), "every": len(every)}
    figures |= {"altered": len({field for field, _ in altered}), "fields": len(fields)}
    return figures | {"codes": dict(codes), "wrong": wrong.most_common(12)}


if __name__ == "__main__":
    os.environ["PYTHONSAFEPATH"] = "1"
    result = main(json.loads(sys.argv[1]))
    sys.__stdout__.write(json.dumps(result) + "\n")  # type: ignore[union-attr]
