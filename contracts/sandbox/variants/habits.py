"""Variants that are nothing but other habits: statuses, names of members, defaults."""

from contracts.sandbox.variants.model import Variants

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
    "Success statuses are not shown: every success is 200, deletions included, with the record as body.",
    habits=_all(_WRITES + _SUBMISSIONS, 200),
)
VARIANTS.add(
    "success-201",
    "Success statuses are not shown: every write and every sign-in is answered with 201.",
    habits={**_all(_WRITES + _SUBMISSIONS, 201), "token_status": 201},
)
VARIANTS.add(
    "success-202",
    "Success statuses are not shown: every write is answered with 202, accepted.",
    habits=_all(_WRITES + _SUBMISSIONS, 202),
)
VARIANTS.add(
    "success-204",
    "Success statuses are not shown: contact, draft and attachment writes are answered with 204 and no body.",
    habits=_all(_WRITES, 204),
)
VARIANTS.add(
    "writes-without-body",
    "Bodies of write answers are not shown: they are empty, so ids are found by listing only.",
    habits={"write_answers_record": False, "draft_deleted_status": 200},
)
VARIANTS.add(
    "refusals-400",
    "Failure statuses outside the workflow table are not shown: every refusal is 400.",
    habits=_all(_REFUSALS, 400),
)
VARIANTS.add(
    "refusals-404",
    "Failure statuses outside the workflow table are not shown: every refusal is 404.",
    habits=_all(_REFUSALS, 404),
)
VARIANTS.add(
    "token-refused-403",
    "The status for a missing or unknown token outside the workflow is not shown: it is 403.",
    habits={"unauthenticated_status": 403, "wrong_credentials_status": 403},
)
VARIANTS.add(
    "malformed-422",
    "The status for parameters and bodies that cannot be used is not shown: it is 422.",
    habits={"bad_request_status": 422, "media_type_status": 422},
)
VARIANTS.add(
    "missing-410",
    "The status for what is not there is not shown: it is 410, gone.",
    habits={"not_found_status": 410, "delete_missing_status": 410},
)
VARIANTS.add(
    "faults-200",
    "The status of an errors array is not shown: faulty content is answered with 200, and nothing is stored.",
    habits={"validation_status": 200},
)
VARIANTS.add(
    "faults-409",
    "The status of an errors array is not shown: faulty content is answered with 409.",
    habits={"validation_status": 409},
)
VARIANTS.add(
    "faults-422",
    "The status of an errors array is not shown: faulty content is answered with 422, each fault by its path.",
    habits={"validation_status": 422, "error_property_path": True},
)
VARIANTS.add(
    "delete-idempotent",
    "Deleting a draft that is not there is not shown: it succeeds with 204, as the first time.",
    habits={"delete_missing_status": 204},
)
VARIANTS.add(
    "head-without-length",
    "The headers of an exists check are not shown: it gives no length of the content.",
    habits={"head_length": False},
)
VARIANTS.add(
    "newest-first",
    "The order of a list without an ordering expression is not shown: the newest item comes first.",
    habits={"newest_first": True},
)
VARIANTS.add(
    "pages-of-ten",
    "How many items a list returns without $top is not shown: ten.",
    habits={"list_default_top": 10},
)
VARIANTS.add(
    "list-items",
    "The envelope of a list is not shown: items stand under items, their number under total.",
    habits={"list_member": "items", "count_member": "total"},
)
VARIANTS.add(
    "list-odata",
    "The envelope of a list is not shown: items stand under value, their number under @odata.count.",
    habits={"list_member": "value", "count_member": "@odata.count"},
)
VARIANTS.add(
    "draft-under-body",
    "The record that carries a draft is not shown: the content stands under body.",
    habits={"draft_member": "body"},
)
VARIANTS.add(
    "realm-optional",
    "A contact or draft request without Realm header is not shown: it is served in a default realm.",
    habits={"realm_required": False},
)
VARIANTS.add(
    "attachments-closed",
    "Whether reading an attachment needs a token is not shown: it does.",
    habits={"attachments_open": False},
)
VARIANTS.add(
    "timestamps-tenths",
    "The number of fractional digits is not shown: timestamps have a single one.",
    habits={"timestamp_digits": 1},
)
VARIANTS.add(
    "timestamps-micro",
    "The number of fractional digits is not shown: timestamps have six.",
    habits={"timestamp_digits": 6},
)
VARIANTS.add(
    "empty-text-missing",
    "Whether an empty text counts as a missing mandatory field is not shown: it does.",
    habits={"empty_mandatory_string_refused": True},
)
VARIANTS.add(
    "submission-members-ignored",
    "Unknown members of a submission are not shown: they are ignored, as is a header that names another schema.",
    habits={"unknown_submission_members_refused": False, "header_schema_must_agree": False},
)
