"""Variants that only change habits: name, silent clauses, habits, a sentence on what the service does, and needs.

Without a sentence, the meanings of its habits are it; one habit that is turned on stands by its name. Needs are the
contact or the settings of a `Variant`.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from registry_contracts.sandbox.habits import MEANINGS
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
FAILED: Final = ("attachment-failure-status", "draft-failure-status", "list-failure-status")
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
    ("refusals-400", ("attachment-size-answer", *FAILED, "token-failure-answer", "token-missing-answer"),
        dict.fromkeys(_REFUSALS, 400),
        "Failure statuses outside the workflow table are not shown: every refusal is 400."),
    ("refusals-404", ("attachment-size-answer", *FAILED, "token-missing-answer", "uid-refusal-answer"),
        dict.fromkeys(_REFUSALS, 404),
        "Failure statuses outside the workflow table are not shown: every refusal is 404."),
    ("refusals-403", (*FAILED, "token-failure-answer", "token-missing-answer"), dict.fromkeys(_REFUSALS, 403),
        "Failure statuses outside the workflow table are not shown: every refusal is 403."),
    ("refusals-apart", (*FAILED, "uid-refusal-answer"),
        {"bad_request_status": 422, "conflict_status": 423, "not_found_status": 410, "delete_missing_status": 410}),
    ("refusals-nested", FAILED, {"error_member": "error", "status_member": "code"}),
    ("refusals-in-capitals", (*FAILED, "workflow-message-place"),
        {"message_member": "Message", "status_member": None}),
    ("refusals-without-body", FAILED, {"refusal_form": "empty"}, "Refusals outside the tables have no body."),
    ("errors-200", "errors-status", {"validation_status": 200}, "Faulty content is answered with 200, and not stored."),
    ("errors-422", "errors-status", {"validation_status": 422, "error_property_path": True}),
    ("delete-idempotent", "draft-delete-absent", {"delete_missing_status": 204}, "Deleting no draft gives 204, too."),
    # What answers hold.
    ("writes-without-body", (*_WRITTEN, "draft-delete-answer"),
        {"write_answers_record": False, "draft_deleted_status": 200}),
    ("id-in-location", _WRITTEN, "write_answers_location"),
    ("ids-renamed", ("attachment-fields", *_WRITTEN),
        {"identifier_member": "documentUid", "attachment_id_member": "_id"}),
    ("attachment-number-alone", "attachment-create-answer", "attachment_write_answers_number"),
    ("attachment-id-text", "attachment-fields", "attachment_id_text"),
    ("attachment-ids-large", "Size of an attachment's number", {"attachment_first_id": 5_000_000_001}),
    ("attachment-id-in-link", "attachment-fields", "attachment_id_in_link"),
    ("attachment-id-not-listed", "attachment-fields",
        {"attachment_numbers": "listed as others", "attachment_persisted_status": 204}),
    ("attachment-id-per-document", "attachment-fields", {"attachment_numbers": "own"}, "Each document counts its own."),
    ("metadata-terse", ("attachment-fields", "draft-info-answer", "list-fields"), {"fields_shown": "schema filename"}),
    ("draft-content-answered", "draft-save-answer", "save_answers_content"),
    ("contact-content-answered", ("contact-create-answer", "contact-update-answer"), "contact_answers_content"),
    ("info-whole", "draft-info-answer", "info_whole"),
    ("info-of-nothing-204", "Info of a draft that is not there", {"info_of_nothing": "204"}),
    ("info-of-nothing-null", "Info of a draft that is not there", {"info_of_nothing": "null"}),
    ("info-of-nothing-told", "Info of a draft that is not there", {"info_of_nothing": "told"}),
    ("submissions-furnished", "workflow-answer", "submission_answer_furnished"),
    ("realm-in-capitals", ("draft-info-answer", "How answers write a realm"), "realm_capitals"),
    ("message-realm-capitals", "workflow-message-place", "message_realm_capitals"),
    ("message-plain-text", "workflow-message-place", {"refusal_form": "text"}, "A message is the body, as plain text."),
    ("message-json-text", "workflow-message-place", {"refusal_form": "string"}, "A message is the body, as JSON text."),
    ("timestamps-tenths", "Digits and offset of a timestamp", {"timestamp_digits": 1}, "Timestamps have tenths alone."),
    ("timestamps-nano", ("draft-info-answer", "Digits and offset of a timestamp"),
        {"timestamp_digits": 9, "timestamp_offset": "+00:00"}),
    ("downloads-plain", "attachment-download-type", {"download_type": "application/octet-stream"}),
    ("downloads-as-sent", "attachment-download-type", {"download_type": "sent"}, "A download has the type as sent."),
    ("thumbnails-of-pictures", "attachment-thumbnail-form", {"thumbnails_of_all": False}, "Only images have previews."),
    ("thumbnails-jpeg", "attachment-thumbnail-form", {"thumbnail_format": "JPEG"}),
    ("thumbnails-svg", "attachment-thumbnail-form", {"thumbnail_format": "SVG+XML"}, "A preview is a drawing, in SVG."),
    ("thumbnails-late", "When a file has its thumbnail", {"thumbnail_delay": 0.7}, "A preview takes 0.7 seconds."),
    # Errors of contents.
    ("errors-one-at-a-time", "Order and number of the elements of an errors array", {"errors_at_once": False}),
    ("errors-reversed", "Order and number of the elements of an errors array", "errors_reversed"),
    ("codes-coarse", "errors-code-invalid-value", "errors_coarse"),
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
    ("bearer-exact", "token-bearer-spelling", "bearer_exact"),
    ("ticket-scheme", "token-bearer-spelling", {"token_schemes": "bearer ticket token"}),
    ("email-any-case", "token-email-letter-case", "email_any_case"),
    ("email-tags-ignored", "When two e-mails are one", "email_tags_ignored"),
    ("credentials-exact", "token-unknown-member", "credentials_exact"),
    ("sign-in-email-checked", "token-failure-answer", "email_checked"),
    ("sign-in-refused-200", "token-failure-answer", {"wrong_credentials_status": 200}),
    ("restricted-shut-out",
        ("attachment-by-restricted", "contact-by-restricted", "draft-by-restricted", "list-by-restricted"),
        {"restricted_may_read": False}),
    ("contacts-by-restricted", "contact-by-restricted", "restricted_create_contacts"),
    ("contacts-shared", "contact-update-by-another", "contacts_shared"),
    ("authors-update-all", "workflow-update-by-another", "records_shared"),
    ("attachments-by-anybody", "attachment-of-another", "attachments_shared"),
    ("attachments-private", "attachment-of-another", {"attachment_lists_shared": False}, "Only owners list the files."),
    ("others-drafts-hidden", "draft-of-another", {"others_drafts": "hidden"}, "Others' drafts are as if not there."),
    ("others-drafts-refused", "draft-of-another", {"others_drafts": "refused"}, "Others may check drafts, not read."),
    ("drafts-shared", "draft-of-another", {"drafts_shared": "kept"}, "Others may save a draft, which keeps its owner."),
    ("drafts-passed-on", "draft-of-another", {"drafts_shared": "passed"}, "A draft belongs to the last who saved it."),
    ("drafts-of-both", "draft-of-another", {"drafts_shared": "joined"}, "A draft belongs to each who has saved it."),
    ("drafts-deleted-by-all", "draft-of-another", "drafts_deleted_by_all"),
    ("attachments-closed", ("attachment-exists-token", "attachment-get-token", "attachment-thumbnail-token"),
        {"attachments_open": False}),
    # Realms, headers, bodies.
    ("realm-optional", ("realm-missing-contact", "realm-missing-draft"),
        {"realm_required": False, "default_realm": "bch-dev"}),
    ("realm-any-case", "realm-letter-case", "realm_any_case"),
    ("realm-query-first", "realm-header-against-query", "realm_query_first"),
    ("realm-in-any-query", "realm-query-elsewhere", "realm_in_any_query"),
    ("realm-unknown-read", "realm-unknown-draft-read", "unknown_realm_read"),
    ("realm-unknown-written", ("realm-unknown-contact", "realm-unknown-draft-save"), "unknown_realm_written"),
    ("reporting-drafts", ("realm-ort-on-contact", "realm-ort-on-draft"), "reporting_drafts"),
    ("attachment-realms-known", "realm-on-attachments", "attachment_realms_known"),
    ("identifiers-over-realms", "Realms in which an identifier is in use", "identifiers_over_realms"),
    ("realm-before-identity", "workflow-identity-against-realm", "realm_before_identity"),
    ("paths-any-case", "Letter case of the fixed words of a path", "paths_any_case"),
    ("versions-alike", "version-other", "versions_alike"),
    ("paths-unknown-html", "version-other", "unknown_path_html"),
    ("slashes-redirected", "A slash at the end of a path", "slashes_redirected"),
    ("identifier-empty", "A slash at the end of a path", "empty_identifier"),
    ("methods-hidden", "method-other", {"other_method_status": 404}, "A method that is not listed is answered 404."),
    ("head-unlisted", "method-other", {"head_everywhere": False}, "HEAD is refused wherever it is not listed."),
    ("options-answered", "method-other", "options_answered"),
    ("content-type-any", ("content-type-other", "content-type-missing"), "any_content_type"),
    ("json-lenient", "draft-save-body", "json_lenient"),
    ("half-pairs-kept", "draft-save-body", "draft_half_pairs"),
    # The identifier in a header has to be the record's.
    ("draft-valid-only", "draft-save-incomplete", {"draft_faults": "refused", "record_header_names": True},
        "A draft has to be valid by its schema."),
    ("draft-faults-told", ("draft-save-incomplete", "draft-save-answer"), {"draft_faults": "told"}),
    ("draft-nulls-dropped", "draft-save-body", {"draft_nulls_kept": False}, "Null stands for an absent field."),
    ("draft-any-json", "draft-save-body", "draft_any_json"),
    # Contents.
    ("references-open", "contact-organization-unknown", {"references_checked": False}, "Any reference is accepted."),
    ("terms-open", "contact-optional-term-values", {"terms_checked": False}, "Every term is known."),
    ("terms-closed", "contact-further-members", "further_members_refused"),
    ("unknown-fields-kept", "workflow-document-content", {"unknown_fields_refused": False}, "Unknown fields are kept."),
    ("numbers-as-text",
        ("contact-number-for-string", "workflow-document-content", "workflow-kinds-kindly", "token-kinds-kindly"),
        "numbers_are_text"),
    ("nulls-absent", ("contact-optional-null", "workflow-info-empty", "workflow-batch-empty", "workflow-kinds-kindly"),
        "nulls_absent"),
    ("empty-values-absent", "contact-mandatory-empty", "empty_values_absent"),
    ("languages-six", "contact-language-key-unknown", {"languages": "ar en es fr ru zh"}, "Six languages are known."),
    ("languages-declared", "Texts in languages that the header does not list", "languages_declared", "",
        {"contact": {"header": {"languages": ["en", "fr"]}, "organization": {"en": "Office", "fr": "Bureau"},
            "type": "person"}}),
    ("header-ignored", ("contact-header-disagrees", "contact-header-identifier-rule", "workflow-header-disagrees"),
        {"header_compared": False}),
    ("header-whole", "contact-header-members", {"header_needs": "identifier schema languages"}),
    ("submission-members-ignored", "workflow-unknown-member", {"unknown_submission_members_refused": False}),
    ("empty-texts-refused", ("workflow-info-empty", "workflow-batch-empty"), "empty_texts_refused"),
    ("info-for-nau-only", "workflow-info-from-others", "info_for_nau_only"),
    ("limits-in-message", "How a text over its limit is told", "limits_in_message"),
    ("lengths-utf16", "What is a character of a limit", "lengths_utf16"),
    # Contacts.
    ("contacts-minted", "contact-identifier-origin", {"contact_header_names": False}, "Contacts get new identifiers."),
    ("refused-identifiers-stay-taken", "Identifiers of refused records", "refused_identifiers_taken"),
    ("identifiers-uuid", ("contact-identifier-origin", "workflow-identifier-origin"), "identifiers_uuid"),
    ("contact-uid-from-query", "uid-on-contact-create", "contact_uid_from_query"),
    ("contact-put-creates", "contact-update-unknown", "contact_put_creates"),
    ("contact-post-updates", "contact-identifier-taken", "contact_post_updates"),
    ("contacts-have-drafts", "contact-read-back", {"contact_versions": "draft published"}, "A contact has a draft."),
    # A draft that no answer names could not be removed.
    ("contacts-are-drafts", "contact-read-back",
        {"contact_versions": "draft", "write_answers_record": True, "contact_created_status": 201},
        "A contact is a draft and no more."),
    ("contact-schema-optional", "A contact without a schema in the query", "contact_schema_optional"),
    # Drafts.
    ("draft-any-schema", ("draft-save-schema-missing", "draft-save-schema-unknown"), "draft_any_schema"),
    ("drafts-of-workflow", "Schemas of drafts", "contact_drafts_refused", "",
        {"settings": {"draft_schema": "workflow_schema", "draft_document": "workflow_document"}}),
    ("draft-schema-stays", "draft-save-schema-unknown", "draft_schema_stays"),
    ("draft-schema-agrees", "draft-save-schema-unknown", "draft_schema_agrees"),
    ("locked-draft-hidden", "draft-of-locked-record", {"locked_draft_readable": False}, "A locked draft is hidden."),
    ("locked-draft-stays", "draft-of-locked-record", {"locked_draft_writable": False}, "A locked draft is read-only."),
    # Submissions.
    ("records-minted", "workflow-identifier-origin", {"record_header_names": False}, "Records get new identifiers."),
    ("lock-late", "workflow-submitted-state", {"lock_delay": 2.0}, "A submission locks its record two seconds later."),
    ("locks-brief", "workflow-submitted-state", {"lock_seconds": 1.5}, "A submission locks its record for 1.5 s."),
    ("submissions-publish", "workflow-submitted-state", "submissions_publish"),
    # What waits has only a draft, and exists all the same.
    ("batches-wait", "workflow-batch-effect", {"batches_wait": True, "drafts_exist": True}),
    ("drafts-not-existing", "workflow-draft-only-record", {"drafts_exist": False}, "A draft alone does not exist."),
    ("locked-before-taken", "workflow-taken-against-locked", "locked_before_taken"),
    ("rights-first", "When rights are looked at", {"rights_checked": "first"}, "Rights are looked at before step 1."),
    ("rights-last", "When rights are looked at", {"rights_checked": "last"}, "Rights are looked at before step 4."),
    # Attachments.
    ("empty-file-refused", "attachment-empty-file", "empty_file_refused"),
    ("uploads-not-json", "attachment-sent-type", "json_file_refused"),
    ("file-names-plain", "attachment-name-unusual", {"file_names": "plain"}, "Unusual file names are refused."),
    ("file-names-changed", "attachment-name-unusual", {"file_names": "changed"}, "Unusual file names are made plain."),
    ("file-names-unread", "attachment-name-disagrees", {"file_name_compared": False}, "File names are not compared."),
    ("file-names-unique", "attachment-name-taken", {"second_file_of_a_name": "refused"}, "Taken names are refused."),
    ("file-names-numbered", "attachment-name-taken", {"second_file_of_a_name": "numbered"}, "A taken name is changed."),
    ("file-names-replaced", "attachment-name-taken", {"second_file_of_a_name": "replaced"}),
    ("file-names-overwritten", "attachment-name-taken", {"second_file_of_a_name": "overwritten"}),
    ("attachments-beyond-drafts", "Attachments of a document that is a draft still", {"attachments_of": "submitted"}),
    ("attachments-of-anything", "attachment-document-unknown", "attachments_of_anything"),
    ("temporary-files-last", "attachment-persist-twice", "temporary_files_last"),
    ("temporary-files-renamed", "attachment-persist-name", {"temporary_file_prefix": "upload-"}),
    ("temporary-files-private", "Whose temporary files are", {"temporary_files_of": "author"}),
    # Lists.
    ("pages-of-five", ("attachment-list-default", "list-default-page"), {"list_largest_page": 5}),
    ("pages-bounded", ("attachment-list-default", "list-default-page"), {"list_largest_top": 50}),
    ("list-scrambled", ("attachment-list-default", "list-default-order"), {"list_order": "scrambled"}),
    ("list-last-changed", "list-default-order", {"list_order": "changed"}, "What changed last comes first in a list."),
    ("list-with-documents", "list-fields", "list_whole"),
    ("list-own-only", "Whose drafts a list without a collection holds", "list_default_own"),
    ("my-without-drafts", "What sets my and mydrafts apart", {"my_holds_drafts": False}),
    ("my-and-mydrafts-differ", "What sets my and mydrafts apart", {"mydrafts_holds_locked": False}),
    ("collections-open", "Another collection than my and mydrafts", {"collections_checked": False}),
    ("odata-open", "list-fields", {"unknown_list_field": "null"}, "An unknown field counts as null in expressions."),
    ("odata-ignored", "list-fields", {"unknown_list_field": "ignored"}, "Expressions by unknown fields are ignored."),
    ("list-numbers-lenient", ("attachment-list-option-empty", "list-number-negative", "list-option-empty"),
        "list_options_lenient"),
    ("list-options-either-way", ("list-options-without-dollar", "attachment-list-options-with-dollar"),
        "list_options_either_way"),
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
    habits: str | dict[str, Any],
    sentence: str = "",
    more: Mapping[str, Any] = MappingProxyType({}),
) -> Variant:
    filled = (silent,) if isinstance(silent, str) else silent
    turned = {habits: True} if isinstance(habits, str) else habits
    return Variant(name, filled, sentence or _sentence(turned), turned, **more)


VARIANTS: Final = tuple(_variant(*row) for row in _ROWS)
