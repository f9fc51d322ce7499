"""Looks at the target once before a run: whether it can be reached, and the accounts work there."""

from __future__ import annotations

from contracts.plugin.worker import Worker
from contracts.session.tokens import Token
from contracts.session.weather import GATEWAY_STATUSES
from contracts.target.model import AUTHOR


def preflight(worker: Worker) -> str | None:
    """Sign in with every account, so that the workers share the tokens, and say what makes judging impossible.

    Returns:
        One sentence when the environment is down or the author's credentials are refused; None otherwise. An
        answer that breaks the contract of signing in is no obstacle: its own cases find it.
    """
    tokens = {role: worker.tokens.token(role) for role in worker.target.accounts}
    author = tokens[AUTHOR]
    if author.value or worker.target.is_sandbox:
        return None
    if author.status is None or author.status in GATEWAY_STATUSES:
        return f"{worker.target.base_url} cannot be judged: {author.refusal}; is the service up and the base URL right?"
    return _refused(author, worker)


def _refused(author: Token, worker: Worker) -> str | None:
    if author.status is not None and 400 <= author.status < 500:
        return (
            f"{worker.target.base_url} refuses the author's e-mail and password (status {author.status}): "
            "check the variables that hold them"
        )
    return None
