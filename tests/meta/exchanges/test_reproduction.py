"""Lines to paste: they send what was sent, hold no secret, and name the profile that takes the case in."""

import os
import subprocess

import pytest

from contracts.exchanges.redaction import Redactor
from contracts.exchanges.transcript import command, curl
from tests.meta.messages import exchange

TOKEN = "abcdef.ghijkl-mnopqr_0123456789"


def line(value: str | None) -> str:
    headers = {} if value is None else {"Authorization": value}
    return curl(exchange(None, request_headers=headers), Redactor([TOKEN]))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (f"Bearer {TOKEN}", '"Authorization: Bearer $TOKEN"'),
        (f"bearer {TOKEN}", '"Authorization: bearer $TOKEN"'),
        (TOKEN, '"Authorization: $TOKEN"'),
        (f"Bearer {TOKEN[:12]}", '"Authorization: Bearer ${TOKEN:0:12}"'),
        ("Bearer rc-never-issued-0123456789", "'Authorization: Bearer rc-never-issued-0123456789'"),
        ("Bearer", "'Authorization: Bearer'"),
        ("Basic eDp5", "'Authorization: Basic eDp5'"),
        ("", "'Authorization;'"),
    ],
)
def test_a_line_sends_the_token_that_was_sent(value: str, shown: str) -> None:
    made = line(value)
    assert f"-H {shown}" in made
    assert TOKEN[:12] not in made


@pytest.mark.parametrize(
    "value",
    [
        *(f"Bearer {TOKEN}", f"Bearer {TOKEN[:12]}", f"Bearer {TOKEN}Tail", f"Bearer {TOKEN.swapcase()}"),
        'odd "$(x)` \\ ' + TOKEN,
    ],
)
def test_the_shell_makes_of_it_what_was_sent(value: str) -> None:
    made = line(value)
    assert TOKEN[:12].lower() not in made.lower()
    done = subprocess.run(
        ["/bin/bash", "-c", made.replace("curl", "printf '%s\\n'", 1)],
        env={"TOKEN": TOKEN, "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"Authorization: {value}" in done.stdout.splitlines()


def test_the_command_names_profile_realm_and_seed() -> None:
    made = command(target="dev", realm="abs-dev", clause="draft-get-content", profile="nightly", seed=7)
    assert made == (
        "registry-contracts run --target dev --profile nightly --clause draft-get-content --seed 7 --realm abs-dev"
    )
