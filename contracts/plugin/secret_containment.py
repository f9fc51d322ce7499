"""Keeps secrets inside when something breaks that no report is made of: pytest itself, a worker, a library's log."""

from __future__ import annotations

import logging
from typing import Any, Final

import pytest

from contracts.exchanges.redaction import Redactor

#: Libraries below the door that quote what came over the wire when it makes no sense to them.
_LOGGERS: Final = ("urllib3.connection", "urllib3.connectionpool", "urllib3.response", "urllib3.util.retry")


#: Whether pytest itself broke, here or in a worker, which xdist reports and then forgets.
BROKE = pytest.StashKey[bool]()


class Containment(logging.Filter):
    """Blanks secrets out of pytest's own breakdowns and out of the logs of the libraries below.

    Args:
        config: pytest's; it is told of breakdowns.
        redactor: Knows the secrets of this process, those that come later too.
    """

    def __init__(self, config: pytest.Config, redactor: Redactor) -> None:
        super().__init__()
        self._config = config
        self._redactor = redactor
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """Put the redacted words in place of the message and what goes into it."""
        record.msg, record.args = self._redactor.text(record.getMessage()), None
        if record.exc_info:
            record.exc_info, record.exc_text = None, None
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self, excrepr: Any) -> None:
        """Redact the traceback before anybody shows it, the controller's copy of a worker's included."""
        self._config.stash[BROKE] = True
        text = self._redactor.text(str(excrepr))
        excrepr.toterminal = lambda writer: writer.line(text)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        """Let the logs go."""
        for name in _LOGGERS:
            logging.getLogger(name).removeFilter(self)
