"""A door that sends nothing: what would pass it is guarded as ever, recorded, and that is all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from contracts.session.door import Call, Context, Door
from contracts.session.exchange import Exchange
from contracts.session.tokens import Token, TokenStore
from contracts.workbench.bench import as_door

_STAND_IN: Final = "token-of-the-{role}-not-asked-for"


class _Rehearsal:
    """Stands in for a door, as far as an actor uses one."""

    def __init__(self, door: Door) -> None:
        self._door = door

    def send(self, call: Call, context: Context) -> Exchange:
        """Do all but send."""
        return self._door.rehearse(call, context)

    def disturbed_since(self, _moment: float) -> bool:
        """Nothing was sent, so nothing disturbed it."""
        return False


def rehearsing(door: Door) -> Door:
    """A door through which nothing leaves."""
    return as_door(_Rehearsal(door))


def rehearsed_tokens(folder: Path, learn: Callable[[str], None]) -> TokenStore:
    """Tokens that nobody issued, one for each role, so that a request can be shown; they are blanked out as real ones.

    Args:
        folder: Private folder.
        learn: Told of each.
    """
    return TokenStore(folder, lambda role: Token(value=_STAND_IN.format(role=role)), learn)
