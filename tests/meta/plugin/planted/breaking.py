"""A pytest plugin that breaks pytest itself with a secret at hand."""

import pytest

from contracts.plugin.worker import WORKER


def pytest_runtest_logfinish(nodeid: str) -> None:
    """Say what must not be said."""
    config = _configs[0]
    if "test_save" not in nodeid or WORKER not in config.stash or not hasattr(config, "workerinput"):
        return
    token = config.stash[WORKER].tokens.token("author").value
    raise RuntimeError(f"cannot go on with {token} of sandbox-author")


_configs: list[pytest.Config] = []


def pytest_configure(config: pytest.Config) -> None:
    """Remember where the secrets are."""
    _configs.append(config)
