"""Posts JSON to a webhook: patiently, for a bounded time, and without ever showing its address."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import requests

from contracts.errors import UsageError

#: How long a run may wait for its webhook after it has told its verdict.
PATIENCE_SECONDS: Final = 20.0
#: Waits between the tries.
PAUSES: Final = (1.0, 2.0, 4.0, 8.0)
#: Patience for one answer.
_TIMEOUT_SECONDS: Final = 6.0
#: Refusals that may be none a moment later.
_PASSING: Final = frozenset({408, 425, 429})
_THREAD: Final = "webhook"


@dataclass(frozen=True)
class Webhook:
    """Where to post; the address is a secret, so nothing shows it."""

    url: str = field(repr=False)

    @property
    def origin(self) -> tuple[str, str | None, int | None]:
        """Scheme, host and port; they say where a request goes."""
        parts = urlsplit(self.url)
        return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def webhook(text: str, given_by: str) -> Webhook:
    """Read the address of a webhook.

    Args:
        text: The address.
        given_by: The option or variable that holds it, for messages.

    Raises:
        UsageError: it is no http or https address; the message does not repeat it.
    """
    try:
        parts = urlsplit(text.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or len(text.split()) != 1:
        raise UsageError(
            f"{given_by} is not a web address; give https://… or leave it out (it is not shown: a secret)"
        )
    return Webhook(text.strip())


class Notice:
    """One summary on its way to a webhook, sent beside whatever the run still does.

    Args:
        to: The webhook.
        content: JSON to post.
        patience: Seconds from the start until it is given up.
        pauses: Seconds between the tries; there is one try more than pauses.
    """

    def __init__(
        self,
        to: Webhook,
        content: Mapping[str, Any],
        patience: float = PATIENCE_SECONDS,
        pauses: Sequence[float] = PAUSES,
    ) -> None:
        self._to = to
        self._content = content
        self._pauses = pauses
        self._deadline = time.monotonic() + patience
        self._patience = patience
        self._given_up = threading.Event()
        self._line: str | None = None
        # Nobody waits for it longer than its patience, not even the interpreter at its end.
        self._thread = threading.Thread(target=self._send, name=_THREAD, daemon=True)

    def start(self) -> None:
        """Begin to send."""
        for name in ("urllib3.connectionpool", "urllib3.util.retry"):
            logging.getLogger(name).addFilter(_keeps_the_address)
        self._thread.start()

    def outcome(self) -> str:
        """Wait for the end, at most until the patience is over, and say in one line whether it arrived."""
        self._thread.join(max(0.0, self._deadline - time.monotonic()))
        self._given_up.set()
        return self._line or f"not notified: the webhook did not take it within {self._patience:.0f} s"

    def _send(self) -> None:
        why = "it was not reached"
        with requests.Session() as session:
            for number, pause in enumerate((*self._pauses, None), start=1):
                taken, why, again = self._try(session, number)
                if taken or not again or pause is None or not self._pause(pause):
                    break
        self._line = f"notified: {why}" if taken else f"not notified: {why}"

    def _try(self, session: requests.Session, number: int) -> tuple[bool, str, bool]:
        """Post once; whether it was taken, in words, and whether another try may help."""
        left = max(0.1, min(_TIMEOUT_SECONDS, self._deadline - time.monotonic()))
        try:
            with session.post(
                self._to.url, json=self._content, timeout=left, allow_redirects=False, stream=True
            ) as answer:
                status = answer.status_code
        except requests.Timeout:
            return False, _tries("the webhook did not answer in time", number), True
        except requests.ConnectionError:
            return False, _tries("there is no connection to the webhook", number), True
        except requests.RequestException:
            return False, "the address of the webhook cannot be used", False
        said = _tries(f"the webhook answered {status}", number)
        return 200 <= status < 300, said, status >= 500 or status in _PASSING

    def _pause(self, seconds: float) -> bool:
        """Wait before the next try; False when there is no time left for one."""
        if time.monotonic() + seconds >= self._deadline:
            return False
        return not self._given_up.wait(seconds)


def _tries(said: str, number: int) -> str:
    return said if number == 1 else f"{said} (after {number} tries)"


def _keeps_the_address(record: logging.LogRecord) -> bool:
    """Leave out what the HTTP library would log of a post: it names the path, which is the secret."""
    return record.threadName != _THREAD
