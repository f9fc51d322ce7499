"""Every line of a history fits its published schema."""

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import jsonschema_rs

from contracts.history.runs import Entry, append

Made = Callable[..., Entry]


def test_every_line_fits_the_schema(made_run: Made, tmp_path: Path) -> None:
    text = files("contracts.reports").joinpath("schemas/history.schema.json").read_text("utf-8")
    validator = jsonschema_rs.Draft202012Validator(json.loads(text), validate_formats=True)
    path = tmp_path / "history.jsonl"
    for day, verdict in enumerate(["pass", "fail", "inconclusive", "observed"], start=1):
        append(path, made_run(day, verdict), keep=2)
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert ["until" in line for line in lines] == [True, False, False]
    for line in lines:
        assert [error.message for error in validator.iter_errors(line)] == []
        assert not validator.is_valid({**line, "further": 1})
