"""All variants by name, those that are other habits alone, named combinations, and the command line's choice."""

import difflib
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from contracts.errors import UsageError
from contracts.sandbox.variants import demands, drafts, http, lists, names, readings, records
from contracts.sandbox.variants.model import Alteration, Variant

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


#: Variants that are other habits alone: statuses, names of members, defaults.
_OTHER_HABITS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "success-200": (
        "Success statuses are not shown: every success is 200, deletions included, with the record as body.",
        _all(_WRITES + _SUBMISSIONS, 200),
    ),
    "success-201": (
        "Success statuses are not shown: every write and every sign-in is answered with 201.",
        {**_all(_WRITES + _SUBMISSIONS, 201), "token_status": 201},
    ),
    "success-202": (
        "Success statuses are not shown: every write is answered with 202, accepted.",
        _all(_WRITES + _SUBMISSIONS, 202),
    ),
    "success-204": (
        "Success statuses are not shown: contact, draft and attachment writes are answered with 204 and no body.",
        _all(_WRITES, 204),
    ),
    "writes-without-body": (
        "Bodies of write answers are not shown: they are empty, so ids are found by listing only.",
        {"write_answers_record": False, "draft_deleted_status": 200},
    ),
    "refusals-400": (
        "Failure statuses outside the workflow table are not shown: every refusal is 400.",
        _all(_REFUSALS, 400),
    ),
    "refusals-404": (
        "Failure statuses outside the workflow table are not shown: every refusal is 404.",
        _all(_REFUSALS, 404),
    ),
    "token-refused-403": (
        "The status for a missing or unknown token outside the workflow is not shown: it is 403.",
        {"unauthenticated_status": 403, "wrong_credentials_status": 403},
    ),
    "malformed-422": (
        "The status for parameters and bodies that cannot be used is not shown: it is 422.",
        {"bad_request_status": 422, "media_type_status": 422},
    ),
    "missing-410": (
        "The status for what is not there is not shown: it is 410, gone.",
        {"not_found_status": 410, "delete_missing_status": 410},
    ),
    "faults-200": (
        "The status of an errors array is not shown: faulty content is answered with 200, and nothing is stored.",
        {"validation_status": 200},
    ),
    "faults-409": (
        "The status of an errors array is not shown: faulty content is answered with 409.",
        {"validation_status": 409},
    ),
    "faults-422": (
        "The status of an errors array is not shown: faulty content is answered with 422, each fault by its path.",
        {"validation_status": 422, "error_property_path": True},
    ),
    "delete-idempotent": (
        "Deleting a draft that is not there is not shown: it succeeds with 204, as the first time.",
        {"delete_missing_status": 204},
    ),
    "head-without-length": (
        "The headers of an exists check are not shown: it gives no length of the content.",
        {"head_length": False},
    ),
    "newest-first": (
        "The order of a list without an ordering expression is not shown: the newest item comes first.",
        {"newest_first": True},
    ),
    "pages-of-ten": (
        "How many items a list returns without $top is not shown: ten.",
        {"list_default_top": 10},
    ),
    "list-items": (
        "The envelope of a list is not shown: items stand under items, their number under total.",
        {"list_member": "items", "count_member": "total"},
    ),
    "list-odata": (
        "The envelope of a list is not shown: items stand under value, their number under @odata.count.",
        {"list_member": "value", "count_member": "@odata.count"},
    ),
    "draft-under-body": (
        "The record that carries a draft is not shown: the content stands under body.",
        {"draft_member": "body"},
    ),
    "realm-optional": (
        "A contact or draft request without Realm header is not shown: it is served in a default realm.",
        {"realm_required": False},
    ),
    "attachments-closed": (
        "Whether reading an attachment needs a token is not shown: it does.",
        {"attachments_open": False},
    ),
    "timestamps-tenths": (
        "The number of fractional digits is not shown: timestamps have a single one.",
        {"timestamp_digits": 1},
    ),
    "timestamps-micro": (
        "The number of fractional digits is not shown: timestamps have six.",
        {"timestamp_digits": 6},
    ),
    "empty-text-missing": (
        "Whether an empty text counts as a missing mandatory field is not shown: it does.",
        {"empty_mandatory_string_refused": True},
    ),
    "submission-members-ignored": (
        "Unknown members of a submission are not shown: they are ignored, as is a header that names another schema.",
        {"unknown_submission_members_refused": False, "header_schema_must_agree": False},
    ),
}


COMBINATIONS: dict[str, tuple[str, ...]] = {
    "all-different": (
        "success-200",
        "refusals-400",
        "faults-422",
        "errors-nested",
        "ids-renamed",
        "list-docs",
        "pages-of-five",
        "lists-late",
        "draft-wrapped",
        "others-drafts-hidden",
        "contacts-minted",
        "records-minted",
        "identifiers-uuid",
        "timestamps-nano",
        "attachments-closed",
        "downloads-redirected",
        "thumbnails-of-pictures",
        "lock-late",
        "drafts-not-existing",
        "token-same-again",
        "extra-members",
        "charset",
        "gzip",
    ),
    "as-different-again": (
        "success-204",
        "refusals-404",
        "faults-200",
        "message-in-array",
        "id-in-location",
        "list-linked",
        "pages-of-ten",
        "newest-first",
        "draft-extended",
        "draft-nulls-dropped",
        "delete-idempotent",
        "metadata-terse",
        "my-and-mydrafts-differ",
        "attachment-id-large",
        "file-names-changed",
        "attachments-of-anything",
        "thumbnails-jpeg",
        "submissions-publish",
        "contact-put-creates",
        "realm-optional",
        "tokens-jwt",
        "head-204",
        "chunked",
        "header-capitals",
    ),
    "strict": (
        "token-refused-403",
        "malformed-422",
        "faults-409",
        "draft-valid-only",
        "restricted-shut-out",
        "others-drafts-refused",
        "list-own-only",
        "list-edges",
        "attachments-closed",
        "file-names-plain",
        "file-names-unique",
        "empty-file-refused",
        "info-for-nau-only",
        "empty-text-missing",
        "forms-checked",
        "languages-six",
        "header-whole",
        "bearer-exact",
        "locked-before-taken",
        "locked-draft-hidden",
    ),
    "lenient": (
        "content-type-any",
        "realm-optional",
        "references-open",
        "list-hits",
        "draft-schema-stays",
        "numbers-as-text",
        "nulls-absent",
        "empty-values-absent",
        "submission-nulls-absent",
        "submission-members-ignored",
        "header-ignored",
        "contact-put-creates",
        "contact-post-updates",
        "file-names-unread",
        "attachments-of-anything",
        "authors-update-all",
        "email-any-case",
        "odata-open",
        "delete-idempotent",
    ),
    "taciturn": (
        "writes-without-body",
        "refusals-without-body",
        "metadata-terse",
        "list-docs",
        "head-without-length",
        "lists-late",
        "connections-closed",
    ),
    "own-readings": (
        "faults-one-at-a-time",
        "list-odata-old",
        "locked-draft-stays",
        "codes-coarse",
        "unknown-fields-kept",
        "terms-open",
        "collections-open",
        "odata-ignored",
        "realm-any-case",
        "realm-query-first",
        "draft-any-schema",
        "draft-any-json",
        "json-lenient",
        "errors-always",
        "errors-only",
        "message-plain-text",
    ),
    "plain-spoken": (
        "success-202",
        "missing-410",
        "message-plain-text",
        "sign-in-refused-200",
        "list-items",
        "draft-under-body",
        "draft-known-fields-only",
        "timestamps-tenths",
        "attachment-id-text",
        "tokens-short",
        "token-replaced",
        "realm-before-identity",
        "file-names-unread",
        "locked-before-taken",
    ),
    "well-schooled": (
        "problem-json",
        "list-odata",
        "odata-open",
        "draft-rewritten",
        "draft-content-answered",
        "ids-renamed",
        "downloads-redirected",
        "slow",
        "gzip",
        "headers-furnished",
    ),
    "talkative": (
        "success-201",
        "message-under-error",
        "message-spaced",
        "draft-faults-told",
        "odata-ignored",
        "list-with-documents",
        "half-pairs-kept",
        "extra-members",
        "headers-furnished",
        "tokens-long",
        "timestamps-micro",
        "realm-in-capitals",
    ),
    "linked": (
        "save-see-other",
        "list-hal",
        "list-scrambled",
        "attachment-id-in-link",
        "downloads-elsewhere",
        "reads-sent-on",
        "submissions-furnished",
        "thumbnails-webp",
        "problem-json",
        "validators",
        "deflate",
        "realm-in-any-query",
        "temporary-files-renamed",
    ),
    "resources": (
        "list-json-api",
        "list-partial",
        "attachment-id-per-document",
        "ids-renamed",
        "errors-nested",
        "accept-strict",
        "credentials-exact",
        "pages-bounded",
        "attachment-realms-known",
        "draft-schema-agrees",
        "empty-texts-refused",
        "contacts-minted",
        "records-minted",
        "tokens-brief",
    ),
    "demanding": (
        "terms-closed",
        "any-of-as-mandatory",
        "accept-needed",
        "content-type-needed",
        "queries-known",
        "uploads-not-json",
        "attachments-private",
        "sign-in-email-checked",
        "methods-hidden",
        "list-empty-404",
        "my-without-drafts",
        "errors-reversed",
        "message-realm-capitals",
        "refused-contacts-stay-taken",
    ),
    "generous": (
        "ticket-scheme",
        "contacts-by-restricted",
        "contacts-shared",
        "contacts-have-drafts",
        "contact-uid-from-query",
        "list-numbers-lenient",
        "list-options-plain-too",
        "content-type-optional",
        "versions-alike",
        "realm-unknown-written",
        "batches-wait",
        "submission-numbers-as-text",
        "extra-members-everywhere",
    ),
    "easy-going": (
        "list-beside-links",
        "list-items-volatile",
        "list-empty-204",
        "attachment-number-alone",
        "reporting-drafts",
        "realm-unknown-read",
        "attachment-options-dollar",
        "temporary-files-last",
        "attachments-by-anybody",
        "downloads-plain",
        "thumbnails-gif",
        "lists-late",
        "lock-late",
        "success-202",
        "delete-idempotent",
    ),
}
"""Groups of variants under one name; each group obeys every clause too."""


_GROUPS = (
    [Variant(name, sentence, habits) for name, (sentence, habits) in _OTHER_HABITS.items()],
    names.VARIANTS,
    lists.VARIANTS,
    drafts.VARIANTS,
    records.VARIANTS,
    readings.VARIANTS,
    http.SIGN_IN_VARIANTS,
    demands.VARIANTS,
    http.WIRE_VARIANTS,
)

ALL: dict[str, Variant] = {variant.name: variant for group in _GROUPS for variant in group}
"""Every variant by its name."""


def chosen(names: Iterable[str]) -> Alteration:
    """Return the alteration that variants make together.

    Args:
        names: names of variants and combinations, in the order in which they count.

    Raises:
        UsageError: a name is unknown; the line suggests another.

    """
    members = [member for name in names for member in _members(name)]
    return Alteration(tuple(ALL[member] for member in dict.fromkeys(members)))


def _members(name: str) -> tuple[str, ...]:
    if name in ALL:
        return (name,)
    if name in COMBINATIONS:
        return COMBINATIONS[name]
    close = difflib.get_close_matches(name, [*ALL, *COMBINATIONS], n=1)
    hint = f"did you mean '{close[0]}'?" if close else "--variant list shows them all"
    raise UsageError(f"unknown variant '{name}'; {hint}")


def help_text() -> str:
    """Return every variant with its sentence, then the combinations, as ``--variant list`` prints them."""
    lines = ["Variants (each obeys the interface document and fills a silence of it):", ""]
    for variant in ALL.values():
        lines += _entry(variant.name, variant.sentence)
    lines += ["", "Combinations:", ""]
    for name, members in COMBINATIONS.items():
        lines += _entry(name, ", ".join(members))
    return "\n".join(lines) + "\n"


def _entry(name: str, text: str) -> list[str]:
    margin = " " * 6
    wrapped = textwrap.wrap(
        text, 100, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False
    )
    return [f"  {name}", *wrapped]
