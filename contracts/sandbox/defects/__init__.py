"""Sandboxes that break exactly one clause: each defect alters one point of the faithful service.

``load(name).apply(service)`` alters a service before its first request; ``ALL`` lists the defects by name and
``UNBREAKABLE`` gives the reason for each must clause that has none. The faithful service knows nothing of them.
"""

# The families declare their defects when they are imported.
from contracts.sandbox.defects import (  # noqa: F401
    attachment_files,
    attachment_finding,
    attachment_lists,
    attachment_storage,
    contact_acceptance,
    contact_kinds,
    contact_mandatory,
    contact_requests,
    draft_content,
    draft_deleting,
    draft_reading,
    draft_saving,
    errors,
    http_bodies,
    http_failures,
    http_headers,
    http_secrets,
    list_collections,
    list_odata,
    list_paging,
    openings,
    realm,
    token_answers,
    token_sign_in,
    token_use,
    uid_accepted,
    uid_characters,
    uid_lengths,
    workflow_answers,
    workflow_bodies,
    workflow_effects,
    workflow_identifiers,
    workflow_leftovers,
    workflow_limits,
    workflow_order,
    workflow_rows,
    workflow_unrefused,
)
from contracts.sandbox.defects.registry import Defect, declared
from contracts.sandbox.defects.registry import named as load
from contracts.sandbox.defects.unbreakable import UNBREAKABLE

__all__ = ["ALL", "UNBREAKABLE", "Defect", "load"]

ALL: tuple[Defect, ...] = declared()
"""Every defect, in the order of their names."""
