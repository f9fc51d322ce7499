"""What the interface document leaves open, what of that no variant can show, and variants that do not go together."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

#: Silent clauses that no second behaviour of a sandbox can show, and why.
WITHOUT_KNOB: Final[Mapping[str, str]] = MappingProxyType(
    {
        "attachment-size-unit": "a target's settings name its limit in bytes; a sandbox takes it with --size-limit",
        "attachment-temporary-creation": "no operation creates temporary files",
        "version-policy": "no operation shows a policy",
        "rate-limits": "refusals for too many requests are environment; see the weather",
        "realm-production-at-development": "the guard lets no request with a production realm out",
        "workflow-events": "nothing at the interface shows an event",
    }
)

#: Variants of which each fills a silence, and which together contradict a sentence; with the contradiction.
CONTRADICTORY: Final[Mapping[frozenset[str], str]] = MappingProxyType(
    {
        frozenset({"batches-wait", "drafts-not-existing"}): (
            "a record that was accepted and waits for its batch has a draft alone, so it would not exist"
        ),
        frozenset({"drafts-published-soon", "drafts-not-existing"}): (
            "a record that was accepted and waits to be published has a draft alone, so it would not exist"
        ),
        frozenset({"draft-valid-only", "records-minted"}): (
            "a submission's header names another identifier than the service gives it, so its draft would not be "
            "valid, and none could be submitted"
        ),
    }
)

#: Every sentence of the interface document that says "not shown", with the silent points that it leaves.
# fmt: off
SENTENCES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({
    "Fields of the draft record returned by the draft operations": (
        "draft-get-answer", "draft-info-answer", "draft-save-answer", "list-fields",
    ),
    "Fields of attachment records returned by list": ("attachment-fields",),
    "Allowed values of type, addressType and gender": (
        "contact-type-values", "contact-address-type-values", "contact-gender-values",
    ),
    "Other members of Term, Link and Reference beyond those listed": ("contact-further-members",),
    "States and transitions": ("workflow-submitted-state", "workflow-draft-only-record"),
    "The uid URL parameter of contact create": ("uid-on-contact-create",),
    "Request body of Save": ("draft-save-body", "draft-save-incomplete"),
    "Creation of temporary files": ("attachment-temporary-creation",),
    "Bodies of responses of draft and attachment operations": (
        "draft-save-answer", "draft-delete-answer", "attachment-create-answer", "attachment-persist-answer",
        "list-envelope",
    ),
    "Response of contact create and update and of workflow beyond identifier and errors": (
        "contact-create-answer", "contact-update-answer", "workflow-answer",
    ),
    "Token lifetime": ("token-lifetime",),
    "Whether the attachment exists, get and thumbnail operations require a token": (
        "attachment-exists-token", "attachment-get-token", "attachment-thumbnail-token",
    ),
    "Events": ("workflow-events",),
    "Status codes and bodies for failures of all other operations, including failed authentication": (
        "draft-failure-status", "attachment-failure-status", "list-failure-status", "token-failure-answer",
        "token-missing-answer", "uid-refusal-answer",
    ),
    "Success status codes of all operations": (
        "token-success-status", "contact-success-status", "draft-success-status", "attachment-success-status",
        "list-success-status", "workflow-success-status",
    ),
    "Rate limits": ("rate-limits",),
    "Policy for new versions and retirement of old ones": ("version-policy",),
})
# fmt: on
