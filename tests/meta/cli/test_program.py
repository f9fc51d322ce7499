"""The program: its help, and one clear line for what it does not know."""

import sys

import pytest

from contracts.cli import main


def said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str
) -> tuple[int, str, str]:
    """Run the program in this process; returns its exit code and what it wrote."""
    monkeypatch.setattr(sys, "argv", ["registry-contracts", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    written = capsys.readouterr()
    return int(str(ended.value.code)), written.out, written.err


@pytest.mark.parametrize("words", [(), ("--help",), ("run", "--help")])
def test_help_is_given(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    code, out, err = said(capsys, monkeypatch, *words)
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
    ],
)
def test_what_it_does_not_know_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], why: str
) -> None:
    code, out, err = said(capsys, monkeypatch, *words)
    assert (code, out) == (4, "")
    (line,) = err.splitlines()
    assert why in line
