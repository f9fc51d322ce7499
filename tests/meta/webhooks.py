"""Webhooks on loopback, whose address holds a secret."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.meta.http_answers import redirect
from tests.meta.wire import Request, answered_by

#: The part of a webhook's address that no output may show.
SECRET = "T0-secret-of-the-webhook"


@dataclass
class Hook:
    """A webhook that answers with the statuses it is given, the last one from then on."""

    statuses: list[int]
    url: str = ""
    posted: list[Any] = field(default_factory=list)

    def answer(self, request: Request, _: object) -> bytes:
        """Take what is posted, and answer with the next status."""
        self.posted.append(json.loads(request.body))
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        return redirect("/elsewhere", f"{status} Answer")


@contextmanager
def hooked(*statuses: int) -> Iterator[Hook]:
    hook = Hook(list(statuses))
    with answered_by(hook.answer) as server:
        hook.url = f"{server.url}/{SECRET}"
        yield hook


def assert_unseen(folder: Path, *texts: str) -> None:
    """No file in a folder and no text holds the secret."""
    assert SECRET not in "".join(texts)
    for path in folder.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
