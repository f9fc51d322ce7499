"""A pytest plugin that lets nothing but the session's transport open a connection, and keeps count of those."""

import os
import socket
import sys
from pathlib import Path
from types import FrameType
from typing import Any

_LOG = Path(os.environ["DOOR_WATCH_LOG"])
_DOOR = "contracts/registry_contracts/session/transport.py"
_WATCHED = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})


def _through_the_door(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.endswith(_DOOR):
            return True
        frame = frame.f_back
    return False


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _WATCHED or arguments[0].family == socket.AF_UNIX:
        return
    allowed = _through_the_door(sys._getframe(1))
    with _LOG.open("a", encoding="utf-8") as log:
        log.write("door\n" if allowed else f"past the door: {event} {arguments[1]}\n")
    if not allowed:
        raise RuntimeError(f"{event} past the door")


sys.addaudithook(_watch)
