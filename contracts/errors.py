"""Errors that a person is meant to read: one clear line each, and the exit code that goes with it."""


class RegistryContractsError(Exception):
    """Base of every error the suite raises on purpose; its text is one line fit for a terminal."""


class UsageError(RegistryContractsError):
    """Settings or options cannot be used; nothing was sent (exit code 4)."""


class SuiteError(RegistryContractsError):
    """The suite itself broke, or one of its own files is inconsistent (exit code 3)."""


class EnvironmentFault(RegistryContractsError):
    """The environment stood in the way: unreachable, gateway page, rate limit, expired patience (exit code 6)."""


class GivenUp(EnvironmentFault):
    """An operation has not answered for so long that it is not asked any more; all others still are."""
