"""Counts what a sandbox shows to its clients: successes, refusals and errors arrays of each operation."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Final

from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.sandbox.faults.messages import COUNTS_PATH, Answer, Asked, answer_json
from registry_contracts.sandbox.faults.places import CONTACTS, SIGN_IN, SUBMISSIONS
from registry_contracts.sandbox.faults.workflow import message_of
from registry_contracts.sandbox.storage import Storage

SUCCESS: Final = "success"
REFUSAL: Final = "refusal"
ERRORS: Final = "errors"
_SPACE: Final = re.compile(r"(\\[rnt]|\s)+")
#: An errors array that holds something, wherever it stands.
_FILLED: Final = re.compile(rb'"errors"\s*:\s*\[\s*[^\]\s]')


class Observer:
    """Passes requests on and counts their answers; a GET of `COUNTS_PATH` gives the counts.

    They are `operations`, how often each operation showed a success, a refusal and an errors array; `messages`, the
    clauses whose message was shown; `permanent`, the number of new records by realm that the interface cannot remove;
    and `drafts`, the identifiers of new drafts that still exist.
    """

    def __init__(self) -> None:
        self._shown: dict[str, Counter[str]] = defaultdict(Counter)
        self._waited = {c.id: message_of(c.id) for c in load_catalogue() if c.message}
        self._messages: dict[str, None] = {}
        self._begun: tuple[Counter[str], set[tuple[str, str]]] | None = None

    async def meet(self, asked: Asked) -> None:
        """Answer one request."""
        storage = asked.scope["app"].state.service.storage
        self._begun = self._begun or _stored(storage)
        if asked.path == COUNTS_PATH:
            published, drafts = _stored(storage)
            made = {
                "permanent": published - self._begun[0],
                "drafts": sorted(identifier for _, identifier in drafts - self._begun[1]),
            }
            shown = {"operations": self._shown, "messages": list(self._messages), **made}
            await asked.answer(answer_json(200, shown))
            return
        got = await asked.answered()
        if asked.operation:
            self._note(asked.operation.id, got)
        await asked.answer(got)

    def _note(self, operation: str, got: Answer) -> None:
        text = _SPACE.sub(" ", got.body.decode("utf-8", "replace"))
        if got.refusal:
            self._messages |= dict.fromkeys(c for c, start in self._waited.items() if start in text)
        errors = operation in (*CONTACTS, *SUBMISSIONS) and _FILLED.search(got.body) is not None
        succeeded = 200 <= got.status < 400 and not errors
        if operation == SIGN_IN:
            token = got.member.get("authenticationToken")
            succeeded = succeeded and isinstance(token, str) and bool(token)
        self._shown[operation].update(
            {ERRORS: errors, SUCCESS: succeeded, REFUSAL: not succeeded and got.status < 500}
        )


def _stored(storage: Storage) -> tuple[Counter[str], set[tuple[str, str]]]:
    with storage.transaction() as records:
        return records.published(), records.drafts_alone()
