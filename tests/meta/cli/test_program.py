"""The program: its help, and one clear line for what it does not know."""

import pytest

from tests.meta.program import RunCommand


@pytest.mark.parametrize("words", [(), ("--help",), ("run", "--help")])
def test_help_is_given(run_command: RunCommand, words: tuple[str, ...]) -> None:
    code, out, err = run_command(*words)
    assert code == (0 if words else 4)
    assert ("Usage: " in out, err) == (True, "")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("rnu",), "No such command 'rnu'"),
        (("run", "--workers", "none"), "--workers"),
        (("run", "--workers", "0"), "--workers"),
        (("run", "--seed", "one"), "--seed"),
        (("sandbox", "--port", "99999"), "--port must be from 0 to 65535"),
        (
            ("run", "--clause", "uid-to-short"),
            "registry-contracts: unknown clause 'uid-to-short'; did you mean",
        ),
        (("gate", "--target", "nowhere"), "registry-contracts: no target 'nowhere'"),
    ],
)
def test_what_it_does_not_know_is_one_line(run_command: RunCommand, words: tuple[str, ...], why: str) -> None:
    code, out, err = run_command(*words)
    assert (code, out) == (4, "")
    (line,) = err.splitlines()
    assert why in line
