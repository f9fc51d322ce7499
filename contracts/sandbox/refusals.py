"""Refusing a request: the reason is raised here, its status and shape are given by ``answers``."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto


class Reason(Enum):
    """Why a request is refused; the habits turn a reason into a status."""

    BAD_REQUEST = auto()
    UNAUTHENTICATED = auto()
    WRONG_CREDENTIALS = auto()
    FORBIDDEN = auto()
    NOT_FOUND = auto()
    DELETE_MISSING = auto()
    CONFLICT = auto()
    TOO_LARGE = auto()
    MEDIA_TYPE = auto()
    INVALID_CONTENT = auto()
    STATED = auto()


@dataclass(frozen=True)
class Fault:
    """One element of the ``errors`` array (Errors, "Validation errors in the errors property").

    Attributes:
        code: one of the seven codes, for example ``Error.Mandatory``.
        path: where the value stands; the first part is the field of the table.

    """

    code: str
    path: tuple[str, ...]


class Refusal(Exception):
    """The request is refused and changes nothing.

    Args:
        reason: what kind of refusal it is.
        message: one line for the client; never a secret, never a path of this machine.
        faults: content problems, all of them.
        status: the status, only where the document states one (``Reason.STATED``).

    """

    def __init__(
        self, reason: Reason, message: str, *, faults: Sequence[Fault] = (), status: int | None = None
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.faults = tuple(faults)
        self.status = status


def bad_request(message: str) -> Refusal:
    """Return the refusal of a parameter, header or body that cannot be used."""
    return Refusal(Reason.BAD_REQUEST, message)


def not_found(message: str) -> Refusal:
    """Return the refusal of a request that names something that is not there."""
    return Refusal(Reason.NOT_FOUND, message)


def forbidden(message: str) -> Refusal:
    """Return the refusal of a caller who lacks the right (roles; workflow has its own rows)."""
    return Refusal(Reason.FORBIDDEN, message)
