"""Lines to paste: they send what was sent, and hold no secret."""

import os
import subprocess

import pytest

from registry_contracts.exchanges.redaction import Redactor, redacted
from registry_contracts.exchanges.transcript import curl
from tests.meta.messages import exchange

TOKEN = "abcdef.ghijkl-mnopqr_0123456789"


@pytest.mark.parametrize(
    "value",
    [
        *(f"Bearer {TOKEN}", f"bearer {TOKEN}", TOKEN, f"Bearer {TOKEN[:12]}", f"Bearer {TOKEN}Tail"),
        *(f"Bearer {TOKEN.swapcase()}", "Bearer rc-never-issued-0123456789", "Bearer", "Basic eDp5"),
        'odd "$(x)` \\ ' + TOKEN,
    ],
)
def test_the_shell_makes_of_a_line_what_was_sent_though_it_holds_no_token(value: str) -> None:
    made = curl(redacted(exchange(None, request_headers={"Authorization": value}), Redactor([TOKEN])))
    assert TOKEN[:12].lower() not in made.lower()
    done = subprocess.run(
        ["/bin/bash", "-c", made.replace("curl", "printf '%s\\n'", 1)],
        env={"TOKEN": TOKEN, "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"Authorization: {value}" in done.stdout.splitlines()
