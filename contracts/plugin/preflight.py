"""Looks at the target once before a run: whether it can be reached, and the accounts work there."""

from __future__ import annotations

from contracts.plugin.worker import Worker
from contracts.session.tokens import Token
from contracts.target.model import AUTHOR

#: How long looking at the target may take, in seconds: a service that is down is soon known to be.
LONGEST_LOOK_SECONDS = 8.0


def preflight(worker: Worker) -> str | None:
    """Sign in with every account, so that the workers share the tokens, and say what makes judging impossible.

    The author comes first: when the environment is down, nobody else is tried.

    Returns:
        One sentence when the environment is down or the author's credentials are refused; None otherwise. An
        answer that breaks the contract of signing in is no obstacle: its own cases find it.
    """
    with worker.door.hurried(LONGEST_LOOK_SECONDS):
        author = worker.tokens.token(AUTHOR)
    # An embedded sandbox that answers may be one with a defect, which its cases are there to find.
    if author.environment and (author.status is None or not worker.target.is_sandbox):
        return f"{worker.target.base_url} cannot be judged: {author.refusal}; is the service up and the base URL right?"
    for role in worker.target.accounts:
        worker.tokens.token(role)
    return None if author.value or worker.target.is_sandbox else _refused(author, worker)


def _refused(author: Token, worker: Worker) -> str | None:
    if author.status is not None and 400 <= author.status < 500:
        return (
            f"{worker.target.base_url} refuses the author's e-mail and password (status {author.status}): "
            "check the variables that hold them"
        )
    return None
