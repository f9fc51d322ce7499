"""Sandboxes that break exactly one clause: each defect alters one point of the faithful service.

``load(name).apply(service)`` alters a service before its first request; ``ALL`` lists the defects by name and
``UNBREAKABLE`` gives the reason for each must clause that has none. The faithful service knows nothing of them.
"""

# The families declare their defects when they are imported.
from contracts.sandbox.defects import (  # noqa: F401
    attachment_storage,
    attachments,
    contacts,
    draft_content,
    draft_versions,
    errors_array,
    http_bodies,
    http_failures,
    list_collections,
    list_options,
    realm,
    token_sign_in,
    token_use,
    uid,
    workflow_bodies,
    workflow_effects,
    workflow_rows,
)
from contracts.sandbox.defects.registry import UNBREAKABLE, Defect, declared
from contracts.sandbox.defects.registry import named as load

__all__ = ["ALL", "UNBREAKABLE", "Defect", "load"]

ALL: tuple[Defect, ...] = declared()
"""Every defect, in the order of their names."""
