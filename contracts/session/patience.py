"""HTTP connections that a service cannot hold on to: the head of an answer has a time limit of its own as a whole.

The standard library waits for each piece alone, so a head that drips, or one interim answer after another, would keep
a run waiting for ever.
"""

from __future__ import annotations

import http.client
import io
import socket
import time
from typing import Any, Final

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

#: Interim answers (1xx) that are passed over before the one that counts.
MOST_INTERIM: Final = 20
TOO_MANY_INTERIM: Final = "too many interim answers"
_SWITCHING: Final = 101


class _Timed(io.RawIOBase):
    """What arrives on a connection; while there is a deadline, waiting ends with it."""

    def __init__(self, raw: Any, wire: socket.socket) -> None:
        self._raw = raw
        self._wire = wire
        self._patience = wire.gettimeout()
        self.deadline: float | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self.deadline is None:
            return int(read) if (read := self._raw.readinto(buffer)) is not None else None
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the head of the answer did not end in time")
        self._wire.settimeout(min(left, self._patience or left))
        try:
            return int(self._raw.readinto(buffer) or 0)
        finally:
            self._wire.settimeout(self._patience)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class _Answer(http.client.HTTPResponse):
    """An answer whose head comes within the connection's time limit, or not at all."""

    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self._timed = _Timed(self.fp.detach(), sock)
        self.fp = io.BufferedReader(self._timed)
        self._interim = 0

    def begin(self) -> None:
        patience = self._timed._patience
        self._timed.deadline = None if patience is None else time.monotonic() + patience
        super().begin()
        self._timed.deadline = None

    def _read_status(self) -> tuple[str, int, str]:
        while True:
            version, status, reason = super()._read_status()  # type: ignore[misc]
            if not 100 <= status < 200 or status == _SWITCHING:
                return version, status, reason
            self._interim += 1
            if self._interim > MOST_INTERIM:
                raise http.client.HTTPException(TOO_MANY_INTERIM)
            http.client.parse_headers(self.fp)


class _Connection(HTTPConnection):
    response_class = _Answer


class _SecureConnection(HTTPSConnection):
    response_class = _Answer


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


_POOLS: Final = {"http": _Pool, "https": _SecurePool}


class PatientAdapter(HTTPAdapter):
    """The adapter of `requests`, on such connections, through a proxy too."""

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        """Make the pools of connections."""
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = dict(_POOLS)

    def proxy_manager_for(self, *args: Any, **options: Any) -> Any:
        """Make the pools of connections through a proxy."""
        manager = super().proxy_manager_for(*args, **options)
        manager.pool_classes_by_scheme = dict(_POOLS)
        return manager
