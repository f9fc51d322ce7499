"""Variants that are other habits alone: statuses, names of members, defaults."""

from contracts.sandbox.variants.model import FAILED, WRITTEN, Variants

VARIANTS = Variants()

_WRITES = (
    "contact_created_status",
    "contact_updated_status",
    "draft_created_status",
    "draft_updated_status",
    "draft_deleted_status",
    "attachment_created_status",
    "attachment_persisted_status",
)
_SUCCEEDED = ("attachment-success-status", "contact-success-status", "draft-success-status")
_SUBMISSIONS = ("workflow_created_status", "workflow_updated_status")
_REFUSALS = (
    "unauthenticated_status",
    "wrong_credentials_status",
    "forbidden_status",
    "not_found_status",
    "delete_missing_status",
    "bad_request_status",
    "conflict_status",
    "too_large_status",
    "media_type_status",
)


def _all(names: tuple[str, ...], status: int) -> dict[str, int]:
    return dict.fromkeys(names, status)


VARIANTS.add(
    "success-200",
    (*_SUCCEEDED, "draft-delete-answer", "workflow-success-status"),
    "Success statuses are not shown: every success is 200, deletions included, with the record as body.",
    habits=_all(_WRITES + _SUBMISSIONS, 200),
)
VARIANTS.add(
    "success-201",
    (*_SUCCEEDED, "token-success-status", "workflow-success-status"),
    "Success statuses are not shown: every write and every sign-in is answered with 201.",
    habits={**_all(_WRITES + _SUBMISSIONS, 201), "token_status": 201},
)
VARIANTS.add(
    "success-204",
    (*WRITTEN, *_SUCCEEDED),
    "Success statuses are not shown: contact, draft and attachment writes are answered with 204 and no body.",
    habits=_all(_WRITES, 204),
)
VARIANTS.add(
    "writes-without-body",
    (*WRITTEN, "draft-delete-answer"),
    "Bodies of write answers are not shown: they are empty, so ids are found by listing only.",
    habits={"write_answers_record": False, "draft_deleted_status": 200},
)
VARIANTS.add(
    "refusals-400",
    ("attachment-size-answer", *FAILED, "token-failure-answer", "token-missing-answer"),
    "Failure statuses outside the workflow table are not shown: every refusal is 400.",
    habits=_all(_REFUSALS, 400),
)
VARIANTS.add(
    "refusals-404",
    ("attachment-size-answer", *FAILED, "token-missing-answer", "uid-refusal-answer"),
    "Failure statuses outside the workflow table are not shown: every refusal is 404.",
    habits=_all(_REFUSALS, 404),
)
VARIANTS.add(
    "faults-200",
    ("errors-status",),
    "The status of an errors array is not shown: faulty content is answered with 200, and nothing is stored.",
    habits={"validation_status": 200},
)
VARIANTS.add(
    "faults-409",
    ("errors-status",),
    "The status of an errors array is not shown: faulty content is answered with 409.",
    habits={"validation_status": 409},
)
VARIANTS.add(
    "faults-422",
    ("errors-status",),
    "The status of an errors array is not shown: faulty content is answered with 422, each fault by its path.",
    habits={"validation_status": 422, "error_property_path": True},
)
VARIANTS.add(
    "delete-idempotent",
    ("draft-delete-absent",),
    "Deleting a draft that is not there is not shown: it succeeds with 204, as the first time.",
    habits={"delete_missing_status": 204},
)
VARIANTS.add(
    "head-without-length",
    ("Headers of answers",),
    "The headers of an exists check are not shown: it gives no length of the content.",
    habits={"head_length": False},
)
VARIANTS.add(
    "newest-first",
    ("attachment-list-default", "list-default-order"),
    "The order of a list without an ordering expression is not shown: the newest item comes first.",
    habits={"newest_first": True},
)
VARIANTS.add(
    "pages-of-ten",
    ("attachment-list-default", "list-default-page"),
    "How many items a list returns without $top is not shown: ten.",
    habits={"list_default_top": 10},
)
VARIANTS.add(
    "list-items",
    ("list-envelope",),
    "The envelope of a list is not shown: items stand under items, their number under total.",
    habits={"list_member": "items", "count_member": "total"},
)
VARIANTS.add(
    "realm-optional",
    ("realm-missing-contact", "realm-missing-draft"),
    "A contact or draft request without Realm header is not shown: it is served in a default realm.",
    habits={"realm_required": False},
)
VARIANTS.add(
    "attachments-closed",
    ("attachment-exists-token", "attachment-get-token", "attachment-thumbnail-token"),
    "Whether reading an attachment needs a token is not shown: it does.",
    habits={"attachments_open": False},
)
VARIANTS.add(
    "timestamps-tenths",
    ("Digits and offset of a timestamp",),
    "The number of fractional digits is not shown: timestamps have a single one.",
    habits={"timestamp_digits": 1},
)
VARIANTS.add(
    "empty-text-missing",
    ("contact-mandatory-empty",),
    "Whether an empty text counts as a missing mandatory field is not shown: it does.",
    habits={"empty_mandatory_string_refused": True},
)
VARIANTS.add(
    "submission-members-ignored",
    ("workflow-unknown-member", "workflow-header-disagrees"),
    "Unknown members of a submission are not shown: they are ignored, as is a header that names another schema.",
    habits={"unknown_submission_members_refused": False, "header_schema_must_agree": False},
)
