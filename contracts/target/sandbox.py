"""The embedded sandbox as a target: its published accounts, realms and records."""

from dataclasses import replace
from pathlib import Path

from contracts.target.model import ACCOUNT_ROLES, SANDBOX, AttachmentSettings, Target
from contracts.target.reading import read_target

SANDBOX_SETTINGS = Path(__file__).with_name("sandbox.toml")


def sandbox_target(base_url: str, size_limit: int) -> Target:
    """Return the target that describes a sandbox started by this suite.

    Args:
        base_url: where it answers.
        size_limit: the upload limit it was started with, in bytes.

    """
    target = read_target(SANDBOX_SETTINGS, _published_accounts())
    return replace(
        target,
        name=SANDBOX,
        base_url=base_url.rstrip("/"),
        attachments=AttachmentSettings(size_limit_bytes=size_limit),
    )


def _published_accounts() -> dict[str, str]:
    """Return the sandbox's accounts under the variables its settings file names; they protect nothing."""
    variables = {}
    for role in ACCOUNT_ROLES:
        variables[f"SANDBOX_{role.upper()}_EMAIL"] = f"{role}@sandbox.test"
        variables[f"SANDBOX_{role.upper()}_PASSWORD"] = f"sandbox-{role}"
    return variables
