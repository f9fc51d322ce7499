"""The baseline file reads back as it was, and takes in what is accepted."""

from pathlib import Path

import pytest

from registry_contracts.history import baseline
from registry_contracts.history.baseline import accept_facts
from registry_contracts.history.drift import compare
from registry_contracts.history.observed_facts import Facts, Place, Value

AWKWARD = ("true", "~", "0404", "1e3", "a: b", "# no", "- x", "", "401 | 404", "é", "'", "[x]", "12:30")


def facts(clause: str = "list-envelope", *realms: str, **values: Value) -> Facts:
    everywhere = realms or ("abs-dev", "bch-dev", "chm-dev")
    return {Place(clause, "listDrafts", realm): dict(values) for realm in everywhere}


def write(path: Path, content: Facts, target: str = "sandbox") -> str:
    baseline.write(path, baseline.Baseline(target, content))
    return path.read_text("utf-8")


def test_any_text_reads_back_as_it_was_written(tmp_path: Path) -> None:
    content = facts(
        "list-envelope", "abs-dev", **{text or "empty": text for text in AWKWARD}, all=AWKWARD[:1]
    )
    write(tmp_path / "b.yaml", content, "no: such # target")
    assert baseline.read(tmp_path / "b.yaml") == baseline.Baseline("no: such # target", content)


BODY = {"200 body": "object", "200 body.a": "string"}
WIDER = BODY | {"200 body.a": "string, optional"}
INNER = BODY | {"200 body.gone": "object", "200 body.gone.x": "null"}


@pytest.mark.parametrize(
    ("known", "seen", "merged"),
    [
        (facts(seen="array") | facts("list-fields", seen="1"), facts(seen="object"), None),
        (facts(**INNER), facts(**BODY), facts(**BODY)),
        (facts(**WIDER), facts(**BODY), facts(**WIDER)),
    ],
    ids=["unseen stays", "a member goes", "wider stays"],
)
def test_accepting_takes_over_what_contradicts(known: Facts, seen: Facts, merged: Facts | None) -> None:
    accepted = accept_facts(known, seen, compare(known, seen))
    assert accepted == (known | seen if merged is None else merged)
    assert compare(accepted, seen) == ()
