"""Variants that only change habits: those of one habit that is turned on, and rows.

A row has a name, silent clauses, habits, and a sentence on what the service does; without it, their meanings say it.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from registry_contracts.sandbox.app import STRANGE, TEMPORARY_FILES, WITH_FILES
from registry_contracts.sandbox.habits import MEANINGS, SILENT
from registry_contracts.sandbox.http import Reason
from registry_contracts.sandbox.variants.model import Variant

# fmt: off
#: Silent clauses about the answers to writes outside the workflow.
_WRITTEN: Final = (
    "attachment-create-answer", "attachment-persist-answer", "contact-create-answer", "contact-update-answer",
    "draft-save-answer",
)
#: Silent clauses about success statuses, and about refusals without a stated status.
_SUCCEEDED: Final = ("attachment-success-status", "contact-success-status", "draft-success-status")
_FAILED: Final = ("attachment-failure-status", "draft-failure-status", "list-failure-status")
_WRITES: Final = (
    "contact_created_status", "contact_updated_status", "draft_created_status", "draft_updated_status",
    "draft_deleted_status", "attachment_created_status", "attachment_persisted_status",
)
_SUBMISSIONS: Final = ("workflow_created_status", "workflow_updated_status")
_REFUSALS: Final = tuple(reason.value for reason in Reason if reason is not Reason.INVALID_CONTENT)
_ROWS: Final[tuple[tuple[Any, ...], ...]] = (
    # Statuses.
    ("success-200", (*_SUCCEEDED, "draft-delete-answer", "workflow-success-status"),
        dict.fromkeys(_WRITES + _SUBMISSIONS, 200),
        "Success statuses are not shown: every success is 200, deletions included, with the record as body."),
    ("success-201", (*_SUCCEEDED, "token-success-status", "workflow-success-status"),
        dict.fromkeys((*_WRITES, *_SUBMISSIONS, "token_status"), 201),
        "Success statuses are not shown: every write and every sign-in is answered with 201."),
    ("success-204", (*_WRITTEN, *_SUCCEEDED), dict.fromkeys(_WRITES, 204), "Writes are answered with 204 and no body."),
    ("save-see-other", "draft-success-status", {"draft_created_status": 303, "draft_updated_status": 303}),
    ("head-204", ("attachment-success-status", "draft-success-status"), {"exists_status": 204}),
    ("list-partial", ("attachment-success-status", "list-success-status"), {"list_status": 206}),
    ("list-empty-204", ("list-envelope", "list-success-status"), {"list_empty_status": 204}),
    ("list-empty-404", ("list-envelope", "list-success-status"), {"list_empty_status": 404}),
    *((f"refusals-{status}", silent, dict.fromkeys(_REFUSALS, status),
        f"Failure statuses outside the workflow table are not shown: every refusal is {status}.")
        for status, silent in (
            (400, ("attachment-size-answer", *_FAILED, "token-failure-answer", "token-missing-answer")),
            (404, ("attachment-size-answer", *_FAILED, "token-missing-answer", "uid-refusal-answer")),
            (403, (*_FAILED, "token-failure-answer", "token-missing-answer")))),
    ("refusals-apart", (*_FAILED, "uid-refusal-answer"),
        {"bad_request_status": 422, "conflict_status": 423, "not_found_status": 410, "delete_missing_status": 410}),
    ("refusals-nested", _FAILED, {"error_member": "error", "status_member": "code"}),
    ("refusals-in-capitals", (*_FAILED, "workflow-message-place"),
        {"message_member": "Message", "status_member": None}),
    ("problem-json", (*_FAILED, "workflow-message-place"), {"refusal_form": "problem"},
        "The shape of refusals is not shown: they are problem details, application/problem+json."),
    ("refusals-without-body", _FAILED, {"refusal_form": "empty"}, "Refusals outside the tables have no body."),
    ("errors-200", "errors-status", {"validation_status": 200}, "Faulty content is answered with 200, and not stored."),
    ("errors-422", "errors-status", {"validation_status": 422, "error_property_path": True}),
    ("delete-idempotent", "draft-delete-absent", {"delete_missing_status": 204}, "Deleting no draft gives 204, too."),
    # What answers hold.
    ("writes-without-body", (*_WRITTEN, "draft-delete-answer"),
        {"write_answers_record": False, "draft_deleted_status": 200}),
    ("ids-renamed", ("attachment-fields", *_WRITTEN),
        {"identifier_member": "documentUid", "attachment_id_member": "_id"}),
    ("attachment-ids-large", "Size of an attachment's number", {"attachment_first_id": 5_000_000_001}),
    ("attachment-id-not-listed", "attachment-fields",
        {"attachment_numbers": "listed as others", "attachment_persisted_status": 204}),
    ("attachment-id-per-document", "attachment-fields", {"attachment_numbers": "own"}, "Each document counts its own."),
    ("metadata-terse", ("attachment-fields", "draft-info-answer", "list-fields"), {"fields_shown": "schema filename"}),
    ("draft-wrapped", "draft-get-answer", {"draft_answer": "wrapped"},
        "The record that carries a draft is not shown: the content stands in it beside metadata."),
    ("draft-extended", "draft-get-answer", {"draft_answer": "extended"},
        "What a service adds to a draft is not shown: members of its own, and a header made whole."),
    ("info-of-nothing-204", "Info of a draft that is not there", {"info_of_nothing": "204"}),
    ("info-of-nothing-null", "Info of a draft that is not there", {"info_of_nothing": "null"}),
    ("info-of-nothing-told", "Info of a draft that is not there", {"info_of_nothing": "told"}),
    ("message-plain-text", "workflow-message-place", {"refusal_form": "text"}, "A message is the body, as plain text."),
    ("message-json-text", "workflow-message-place", {"refusal_form": "string"}, "A message is the body, as JSON text."),
    ("timestamps-tenths", "Digits and offset of a timestamp", {"timestamp_digits": 1}, "Timestamps have tenths alone."),
    ("timestamps-nano", ("draft-info-answer", "Digits and offset of a timestamp"),
        {"timestamp_digits": 9, "timestamp_offset": "+00:00"}),
    ("downloads-plain", "attachment-download-type", {"download_type": "application/octet-stream"}),
    ("downloads-as-sent", "attachment-download-type", {"download_type": "sent"}, "A download has the type as sent."),
    ("thumbnails-jpeg", "attachment-thumbnail-form", {"thumbnail_format": "JPEG"}),
    ("thumbnails-svg", "attachment-thumbnail-form", {"thumbnail_format": "SVG+XML"}, "A preview is a drawing, in SVG."),
    ("thumbnails-late", "When a file has its thumbnail", {"thumbnail_delay": 0.7}, "A preview takes 0.7 seconds."),
    # Errors of contents.
    ("any-of-as-mandatory", "errors-code-mandatory-any-of", {"empty_set_code": "Error.Mandatory"}),
    ("empty-values-taken", ("errors-code-mandatory-any-of", "contact-mandatory-empty"), {"empty_set_code": None}),
    ("bare-terms-invalid", "Code of a term without its identifier", {"bare_object_code": "Error.InvalidValue"}),
    ("nulls-ill-kinded", "Code of a mandatory field that is null", {"null_code": "Error.InvalidType"}),
    ("plain-text-without-locale", "Code of a text in place of an lstring",
        {"plain_text_code": "Error.UnspecifiedLocale"}),
    # Identity and rights.
    ("tokens-short", "Form of a token", {"token_bytes": 8}, "A token has eleven characters."),
    ("tokens-long", "Form of a token", {"token_bytes": 1500, "token_suffix": ".~+/ab=="}),
    ("token-same-again", "token-second-sign-in", {"sign_in_again": "same"}, "A second sign-in gives the same token."),
    ("token-replaced", "token-second-sign-in", {"sign_in_again": "replaced"}, "A second sign-in ends the first token."),
    ("tokens-brief", "token-lifetime", {"token_lifetime": 40.0}, "A token stays valid for forty seconds."),
    ("tokens-lasting", "token-lifetime", {"token_lifetime": 315_360_000.0}, "A token stays valid for ten years."),
    ("ticket-scheme", "token-bearer-spelling", {"token_schemes": "bearer ticket token"}),
    ("sign-in-refused-200", "token-failure-answer", {"wrong_credentials_status": 200}),
    ("others-drafts-hidden", "draft-of-another", {"others_drafts": "hidden"}, "Others' drafts are as if not there."),
    ("others-drafts-refused", "draft-of-another", {"others_drafts": "refused"}, "Others may check drafts, not read."),
    ("drafts-shared", "draft-of-another", {"drafts_shared": "kept"}, "Others may save a draft, which keeps its owner."),
    ("drafts-passed-on", "draft-of-another", {"drafts_shared": "passed"}, "A draft belongs to the last who saved it."),
    ("drafts-of-both", "draft-of-another", {"drafts_shared": "joined"}, "A draft belongs to each who has saved it."),
    # Realms, headers, bodies.
    ("realm-optional", ("realm-missing-contact", "realm-missing-draft"),
        {"realm_required": False, "default_realm": "bch-dev"}),
    ("methods-hidden", "method-other", {"other_method_status": 404}, "A method that is not listed is answered 404."),
    # The identifier in a header has to be the record's.
    ("draft-valid-only", "draft-save-incomplete", {"draft_faults": "refused", "records_minted": False},
        "A draft has to be valid by its schema."),
    ("draft-faults-told", ("draft-save-incomplete", "draft-save-answer"), {"draft_faults": "told"}),
    # Contents.
    ("languages-six", "contact-language-key-unknown", {"languages": "ar en es fr ru zh"}, "Six languages are known."),
    ("header-whole", "contact-header-members", {"header_needs": "identifier schema languages"}),
    # Contacts.
    ("contacts-have-drafts", "contact-read-back", {"contact_versions": "draft published"}, "A contact has a draft."),
    # A draft that no answer names could not be removed.
    ("contacts-are-drafts", "contact-read-back",
        {"contact_versions": "draft", "write_answers_record": True, "contact_created_status": 201},
        "A contact is a draft and no more."),
    # Submissions.
    ("lock-late", "workflow-submitted-state", {"lock_delay": 2.0}, "A submission locks its record two seconds later."),
    ("locks-brief", "workflow-submitted-state", {"lock_seconds": 1.5}, "A submission locks its record for 1.5 s."),
    # What waits has only a draft, and exists all the same.
    ("drafts-published-soon", "workflow-submitted-state", {"drafts_published_soon": True, "drafts_not_existing": False},
        "What a publishing workflow makes of a draft is not shown: its published version, half a second later."),
    ("batches-wait", "workflow-batch-effect", {"batches_wait": True, "drafts_not_existing": False},
        "A record of a batch is not locked before the batch is complete."),
    ("rights-first", "When rights are looked at", {"rights_checked": "first"}, "Rights are looked at before step 1."),
    ("rights-last", "When rights are looked at", {"rights_checked": "last"}, "Rights are looked at before step 4."),
    # Attachments.
    ("file-names-plain", "attachment-name-unusual", {"file_names": "plain"}, "Unusual file names are refused."),
    ("file-names-changed", "attachment-name-unusual", {"file_names": "changed"}, "Unusual file names are made plain."),
    ("file-names-unique", "attachment-name-taken", {"second_file_of_a_name": "refused"}, "Taken names are refused."),
    ("file-names-numbered", "attachment-name-taken", {"second_file_of_a_name": "numbered"}, "A taken name is changed."),
    ("file-names-replaced", "attachment-name-taken", {"second_file_of_a_name": "replaced"}),
    ("file-names-overwritten", "attachment-name-taken", {"second_file_of_a_name": "overwritten"}),
    ("attachments-beyond-drafts", "Attachments of a document that is a draft still", {"attachments_of": "submitted"}),
    ("temporary-files-renamed", "attachment-persist-name", {"temporary_file_prefix": "upload-"}),
    ("temporary-files-private", "Whose temporary files are", {"temporary_files_of": "author"}),
    # Lists.
    ("list-hal", "list-envelope", {"list_envelope": "hal"},
        "The envelope of a list is not shown: items are embedded, with links (HAL)."),
    ("list-hits", "list-envelope", {"list_envelope": "hits"},
        "The envelope of a list is not shown: hits of a search, each with its fields under _source."),
    ("list-beside-links", "list-envelope", {"list_envelope": "beside links"},
        "The envelope of a list is not shown: items under a name of its own, links and figures beside them as arrays."),
    ("list-neighbours-named", "list-fields", {"list_envelope": "neighbours"},
        "The fields of a listed item are not shown: it names the one before it and the one behind it."),
    ("list-names-apart", ("list-fields", "attachment-fields"),
        {"list_names_apart": True, "unknown_list_field": "ignored"},
        "Lists are filtered and ordered by other names than they show; unknown ones are ignored."),
    ("pages-of-five", ("attachment-list-default", "list-default-page"), {"list_largest_page": 5}),
    ("pages-bounded", ("attachment-list-default", "list-default-page"), {"list_largest_top": 50}),
    ("list-scrambled", ("attachment-list-default", "list-default-order"), {"list_order": "scrambled"}),
    ("list-last-changed", "list-default-order", {"list_order": "changed"}, "What changed last comes first in a list."),
    ("odata-open", "list-fields", {"unknown_list_field": "null"}, "An unknown field counts as null in expressions."),
    ("odata-ignored", "list-fields", {"unknown_list_field": "ignored"}, "Expressions by unknown fields are ignored."),
)
# fmt: on


def _sentence(habits: Mapping[str, Any]) -> str:
    """Return the meanings of habits, with the values of those that are not only turned on."""
    told = []
    for name, value in habits.items():
        point = re.split("[;:]", MEANINGS[name])[0]
        words = "none" if value is None else "no" if value is False else value
        told.append(MEANINGS[name] if value is True else f"{point}: {words}")
    text = "; ".join(told)
    return f"{text[0].upper()}{text[1:]}."


def _variant(
    name: str,
    silent: str | tuple[str, ...],
    habits: Mapping[str, Any],
    sentence: str = "",
    **more: Any,
) -> Variant:
    filled = (silent,) if isinstance(silent, str) else silent
    return Variant(name, filled, sentence or _sentence(habits), habits, **more)


# fmt: off
VARIANTS: Final = (
    *(_variant(name.replace("_", "-"), silent, {name: True}) for name, silent in SILENT.items()),
    *(_variant(*row) for row in _ROWS),
    _variant("languages-declared", "Texts in languages that the header does not list", {"languages_declared": True},
        contact={"header": {"languages": ["en", "fr"]}, "organization": {"en": "Office", "fr": "Bureau"},
            "type": "person"}),
    _variant("contact-terms-own",
        ("contact-type-values", "contact-address-type-values", "contact-gender-values", "contact-optional-term-values"),
        {"contact_terms_own": True},
        "The allowed values of type, addressType, gender and organizationType are not shown: three codes of its own.",
        contact={"type": "CT-100", "addressType": "CT-200", "gender": {"identifier": "CT-300"},
            "organizationType": {"identifier": "CT-100"}}),
    _variant("attachments-of-published", "Attachments of a document that is a draft still",
        {"attachments_of": "published"},
        "Which documents take attachments is not shown: some published ones; how temporary files are named: strangely.",
        settings={"attachment_identifiers": WITH_FILES, "temporary_files":
            tuple(STRANGE.format(realm="{realm}", number=number) for number in range(1, TEMPORARY_FILES + 1))}),
    _variant("drafts-of-workflow", "Schemas of drafts", {"contact_drafts_refused": True},
        settings={"draft_schema": "workflow_schema", "draft_document": "workflow_document"}),
)
# fmt: on
