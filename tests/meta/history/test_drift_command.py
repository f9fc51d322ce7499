"""The command: compare, accept, and say in one line what cannot be done."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.meta.program import RunCommand

BASELINE = Path("baselines") / "sandbox.yaml"


@pytest.fixture
def accepted(made: Any, run_command: RunCommand, latest: Callable[..., Path]) -> None:
    """A baseline of a run that answers 201."""
    latest(made.document(made.observation("contact-success-status", "createContact", 201)))
    assert run_command("drift", "accept")[0] == 0


def test_without_a_baseline_there_is_one_line_and_no_drift(
    made: Any, run_command: RunCommand, latest: Callable[..., Path]
) -> None:
    latest(made.document(made.observation("contact-success-status", "createContact", 201)))
    code, out, err = run_command("drift")
    assert (code, err) == (0, "")
    assert out == f"no baseline of sandbox yet; `registry-contracts drift accept` writes {BASELINE}\n"


@pytest.mark.usefixtures("accepted")
def test_the_same_again_is_no_drift(made: Any, run_command: RunCommand, latest: Callable[..., Path]) -> None:
    latest(made.document(made.observation("contact-success-status", "createContact", 201)))
    assert run_command("drift") == (0, f"no drift: run-1 against {BASELINE}\n", "")
    assert run_command("drift", "accept")[1].startswith("nothing to accept")


@pytest.mark.usefixtures("accepted")
def test_breaking_drift_ends_with_1_and_is_grouped(
    made: Any, run_command: RunCommand, latest: Callable[..., Path]
) -> None:
    latest(made.document(made.observation("contact-success-status", "createContact", 200)))
    code, out, _ = run_command("drift")
    assert code == 1
    assert out.splitlines() == [
        "breaking (1)",
        "  changed: createContact: 201, now 200 (contact-success-status) · abs-dev, bch-dev, chm-dev",
        f"1 breaking, 0 additive: run-1 against {BASELINE}",
    ]
    (change,) = json.loads(run_command("drift", "--json")[1])
    assert (change["severity"], change["change"], change["was"]) == ("breaking", "changed", "201")


@pytest.mark.usefixtures("accepted")
def test_what_is_accepted_is_drift_no_more(
    made: Any, run_command: RunCommand, latest: Callable[..., Path]
) -> None:
    latest(
        made.document(
            made.observation("contact-success-status", "createContact", 200),
            made.observation("list-envelope", "listDrafts", "array"),
        )
    )
    code, out, _ = run_command("drift", "accept", "--realm", "abs-dev", "--clause", "contact-success-status")
    assert (code, out.splitlines()[-1]) == (0, f"accepted 1 change and 0 new facts of run-1: {BASELINE}")
    assert run_command("drift", "--realm", "abs-dev")[0] == 0
    assert run_command("drift")[0] == 1
    assert run_command("drift", "accept")[1].splitlines()[-1] == (
        f"accepted 1 change and 3 new facts of run-1: {BASELINE}"
    )
    assert run_command("drift")[:2] == (0, f"no drift: run-1 against {BASELINE}\n")


@pytest.mark.usefixtures("accepted")
def test_an_earlier_run_can_be_named(made: Any, run_command: RunCommand, latest: Callable[..., Path]) -> None:
    folder = latest(made.document(made.observation("contact-success-status", "createContact", 200)))
    latest(made.document(made.observation("contact-success-status", "createContact", 201)))
    assert [run_command("drift", name)[0] for name in ("run-1", str(folder), "run-2")] == [1, 1, 0]


def test_realms_are_compared_on_demand(
    made: Any, run_command: RunCommand, latest: Callable[..., Path]
) -> None:
    latest(
        made.document(
            made.observation("list-envelope", "listDrafts", "array", "abs-dev")
            + made.observation("list-envelope", "listDrafts", "object", "bch-dev")
        )
    )
    code, out, _ = run_command("drift", "--realms")
    assert code == 0
    assert out.splitlines()[-1] == "1 point on which the realms of sandbox differ"
    assert json.loads(run_command("drift", "--realms", "--json")[1])[0]["values"] == {
        "abs-dev": "array",
        "bch-dev": "object",
    }


@pytest.mark.parametrize(
    ("content", "words", "why"),
    [
        (None, ("drift",), "no run in 'reports' yet"),
        ({}, ("drift", "elsewhere"), "no run 'elsewhere'"),
        ({}, ("drift", "--clause", "list-envelop"), "did you mean 'list-envelope'"),
        ({"format": 1}, ("drift",), "is of another version of the suite"),
        ({"complete": False}, ("drift", "accept"), "is not whole"),
        ({"target": "dev"}, ("drift", "--baseline", "b.yaml"), "b.yaml is the baseline of sandbox"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    made: Any,
    run_command: RunCommand,
    latest: Callable[..., Path],
    tmp_path: Path,
    content: dict[str, Any] | None,
    words: tuple[str, ...],
    why: str,
) -> None:
    (tmp_path / "b.yaml").write_text("format: 1\ntarget: sandbox\nrealms: []\nfacts: {}\n", "utf-8")
    if content is not None:
        latest(made.document(**content))
    code, out, err = run_command(*words)
    assert (code, out) == (4, "")
    (line,) = err.splitlines()
    assert why in line


def test_damaged_observations_are_one_line(
    made: Any, run_command: RunCommand, latest: Callable[..., Path]
) -> None:
    folder = latest(made.document())
    (folder / "observations.json").write_text("{", "utf-8")
    assert "is not JSON" in run_command("drift")[2]
    (folder / "observations.json").unlink()
    assert "is absent" in run_command("drift")[2]
