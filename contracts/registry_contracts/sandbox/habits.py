"""How a sandbox is set up: its settings, and its habits, the default for each point the document leaves open."""

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Final, TypeVar

ONE_GIGABYTE: Final = 1024**3
"""Limits, "Create attachment": 1 GB, read as 2**30 bytes."""


@dataclass(frozen=True)
class Settings:
    """The options of a sandbox.

    Attributes:
        data: Folder for the database and the files; ``None`` keeps nothing after this process.
        size_limit: Largest attachment that Create accepts, in bytes.
        observed: Count what the service shows, see ``registry_contracts.sandbox.faults.observer``.
        origins: Pages of these origins may use it.
    """

    data: Path | None = None
    size_limit: int = ONE_GIGABYTE
    variants: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    observed: bool = False
    weather: tuple[str, ...] = ()
    weather_seed: int = 1
    origins: tuple[str, ...] = ()


_Value = TypeVar("_Value")


def _habit(usual: _Value, meaning: str) -> _Value:
    value: _Value = field(default=usual, metadata={"meaning": meaning})
    return value


def _off(meaning: str, *silent: str) -> bool:
    """A habit that the faithful service lacks; turned on, it is the variant of its name, and fills these silences."""
    value: bool = field(default=False, metadata={"meaning": meaning, "silent": silent})
    return value


# fmt: off
@dataclass(frozen=True)
class Habits:
    """The default behaviour at each silent point; variants set other values."""

    # Statuses.
    token_status: int = _habit(200, "success of the token operation")
    contact_created_status: int = _habit(201, "success of contact create")
    contact_updated_status: int = _habit(200, "success of contact update")
    draft_created_status: int = _habit(201, "success of Save when no draft was there")
    draft_updated_status: int = _habit(200, "success of Save when it replaced one")
    draft_deleted_status: int = _habit(204, "success of Delete; 204 carries no body")
    exists_status: int = _habit(200, "an exists check that finds something")
    attachment_created_status: int = _habit(201, "success of Create")
    attachment_persisted_status: int = _habit(201, "success of Upload from temporary storage")
    list_status: int = _habit(200, "success of a list")
    list_empty_status: int | None = _habit(None, "a list without items; none answers it as any other")
    workflow_created_status: int = _habit(201, "success of a workflow POST")
    workflow_updated_status: int = _habit(200, "success of a workflow PUT")
    unauthenticated_status: int = _habit(401, "a protected operation without a valid token, the workflow's apart")
    wrong_credentials_status: int = _habit(401, "token operation with a wrong e-mail or password")
    forbidden_status: int = _habit(403, "signed in, but without the right (workflow excepted)")
    not_found_status: int = _habit(404, "the thing named in the path is not there")
    delete_missing_status: int = _habit(404, "Delete where there is no draft, so also the second Delete")
    bad_request_status: int = _habit(400, "a parameter, header or body that cannot be used")
    validation_status: int = _habit(400, "faulty contact or submission content, with the errors array")
    conflict_status: int = _habit(409, "a write that contradicts what is stored")
    too_large_status: int = _habit(413, "an upload or body over its limit")
    media_type_status: int = _habit(415, "a JSON operation with another content type")
    not_acceptable_status: int = _habit(406, "an Accept header that leaves out what is served")
    other_method_status: int = _habit(405, "a method that is not listed for a path")
    # What answers hold.
    write_answers_record: bool = _habit(True, "contact, draft and attachment writes answer metadata; else nothing")
    id_in_location: bool = _off("writes name what they made in the Location header alone",
        "attachment-create-answer", "attachment-persist-answer", "contact-create-answer", "contact-update-answer",
        "draft-save-answer")
    attachment_number_alone: bool = _off("attachment writes answer the bare number", "attachment-create-answer")
    draft_content_answered: bool = _off("Save answers the content of the draft", "draft-save-answer")
    contact_content_answered: bool = _off("contact writes answer the contact, too",
        "contact-create-answer", "contact-update-answer")
    submissions_furnished: bool = _off("the answer to a submission tells of the workflow first", "workflow-answer")
    identifier_member: str = _habit("identifier", "member that carries a record's identifier")
    attachment_id_member: str = _habit("id", "member that carries an attachment's integer id")
    attachment_first_id: int = _habit(1, "the id of the first attachment; the others follow")
    attachment_id_text: bool = _off("an attachment's id is text in answers", "attachment-fields")
    attachment_id_in_link: bool = _off("an attachment is described by name, length and address alone",
        "attachment-fields")
    attachment_numbers: str = _habit("common", "numbers of attachments: common, own, or listed as others")
    fields_shown: str = _habit("", "the only fields that describe drafts and attachments; empty shows all")
    draft_answer: str = _habit("content", "the answer to reading a draft: content, wrapped or extended")
    info_whole: bool = _off("the info of a draft stands in an envelope and holds the content", "draft-info-answer")
    realm_in_capitals: bool = _off("descriptions write the realm in capitals",
        "draft-info-answer", "How answers write a realm")
    message_realm_capitals: bool = _off("messages write the realm in capitals", "workflow-message-place")
    timestamp_digits: int = _habit(3, "digits of fractional seconds, 1 to 9")
    timestamp_offset: str = _habit("Z", "how a timestamp says that it is UTC")
    download_type: str | None = _habit(None, "type of every download; none goes by the file's name; or sent")
    thumbnail_format: str = _habit("PNG", "format of a thumbnail")
    thumbnail_delay: float = _habit(0.0, "seconds after which a new file has a thumbnail")
    thumbnails_of_pictures: bool = _off("only images have previews", "attachment-thumbnail-form")
    # Refusals.
    refusal_form: str = _habit(
        "object", "a body without errors: object, problem details, text, string of JSON, empty (the table apart)")
    error_member: str | None = _habit(None, "member that wraps a refusal; none puts its members at the top level")
    status_member: str | None = _habit(
        "statusCode", "member of a refusal that repeats the status; none leaves it out")
    message_member: str = _habit("message", "member of a refusal that carries its text")
    message_spaced: bool = _off("a message is quoted, broken and ends with a line break", "workflow-message-place")
    error_properties_in_capitals: bool = _off("an error names its field with a capital, as in `FirstName`",
        "How a property of an error names a field")
    error_property_path: bool = _habit(False, "the property of an error is a dotted path, not just the table's field")
    errors_one_at_a_time: bool = _off("only the first error of a document is told",
        "Order and number of the elements of an errors array")
    errors_reversed: bool = _off("the last error of a document comes first",
        "Order and number of the elements of an errors array")
    mandatory_as_any_of: bool = _off("a missing field is told as one of a set", "errors-code-mandatory-any-of")
    codes_coarse: bool = _off("whatever is no missing field is an invalid value", "errors-code-invalid-value")
    empty_set_code: str | None = _habit(
        "Error.MandatoryAnyOf", "code of a mandatory lstring or array that holds nothing; none takes it")
    null_code: str = _habit("Error.Mandatory", "code of a mandatory field that is null")
    bare_object_code: str = _habit("Error.Mandatory", "code of a Term, Reference or Link without its member")
    plain_text_code: str = _habit("Error.InvalidType", "code of a text in place of an lstring")
    # Identity.
    token_bytes: int = _habit(32, "bytes of chance in a token")
    token_suffix: str = _habit("", "ending of each token")
    token_lifetime: float = _habit(3600.0, "seconds a token lives")
    sign_in_again: str = _habit("new", "what a second sign-in gives: new, same, or replaced, the first then being dead")
    token_schemes: str = _habit("bearer", "schemes of the Authorization header that carry a token, in any letter case")
    bearer_exact: bool = _off("only the word Bearer and one space stand before a token", "token-bearer-spelling")
    email_any_case: bool = _off("letter case of an e-mail does not matter", "token-email-letter-case")
    email_tags_ignored: bool = _off("what stands behind a plus sign of an e-mail's name does not matter",
        "When two e-mails are one")
    sign_in_email_checked: bool = _off("an e-mail without an at sign is a malformed request", "token-failure-answer")
    credentials_exact: bool = _off("further members of a sign-in are refused", "token-unknown-member")
    restricted_shut_out: bool = _off("an account without rights may not read",
        "attachment-by-restricted", "contact-by-restricted", "draft-by-restricted", "list-by-restricted")
    contacts_by_restricted: bool = _off("an account without rights may create contacts", "contact-by-restricted")
    contacts_shared: bool = _off("authors may update the contacts of others", "contact-update-by-another")
    authors_update_all: bool = _off("authors may update the records of others in the workflow",
        "workflow-update-by-another")
    attachments_by_anybody: bool = _off("authors may attach files to the documents of others", "attachment-of-another")
    attachments_private: bool = _off("only owners list the files", "attachment-of-another")
    others_drafts: str = _habit("read", "what reading them gives: read, hidden, or refused while they exist for all")
    drafts_shared: str = _habit(
        "", "authors may save drafts of others, which stay theirs (kept), change hands (passed), are both's (joined)")
    drafts_deleted_by_all: bool = _off("authors may delete the drafts of others", "draft-of-another")
    attachments_closed: bool = _off("attachment exists, get and thumbnail need a token",
        "attachment-exists-token", "attachment-get-token", "attachment-thumbnail-token")
    # Realms, headers, bodies.
    realm_required: bool = _habit(True, "contact and draft operations refuse a request without Realm header")
    default_realm: str = _habit("abs-dev", "realm taken when none is given and none is required")
    realm_any_case: bool = _off("letter case of a realm does not matter", "realm-letter-case")
    realm_query_first: bool = _off("the query's realm counts before the header's in the workflow",
        "realm-header-against-query")
    realm_in_any_query: bool = _off("contact and draft operations read a realm in the query", "realm-query-elsewhere")
    realm_unknown_read: bool = _off("drafts under an unknown realm are read in the default one",
        "realm-unknown-draft-read")
    realm_unknown_written: bool = _off("contacts and drafts of an unknown realm go to the default one",
        "realm-unknown-contact", "realm-unknown-draft-save")
    reporting_drafts: bool = _off("contact and draft operations serve the reporting realm",
        "realm-ort-on-contact", "realm-ort-on-draft")
    attachment_realms_known: bool = _off("a Realm header of attachment operations names a known realm",
        "realm-on-attachments")
    paths_any_case: bool = _off("letter case of the fixed words of a path does not matter",
        "Letter case of the fixed words of a path")
    versions_alike: bool = _off("each path is served under the prefix of the other version, too", "version-other")
    identifier_empty: bool = _off("a submission may have an empty identifier behind a slash",
        "A slash at the end of a path")
    slashes_redirected: bool = _off("a path with a slash behind it leads to the one without",
        "A slash at the end of a path")
    paths_unknown_html: bool = _off("a path that is none is answered with a page", "version-other")
    head_unlisted: bool = _off("HEAD is refused wherever it is not listed", "method-other")
    options_answered: bool = _off("OPTIONS is answered with the methods of a path", "method-other")
    content_type_any: bool = _off("JSON is read whatever the Content-Type says",
        "content-type-other", "content-type-missing")
    json_lenient: bool = _off("a byte order mark and members named twice are read", "draft-save-body")
    half_pairs_kept: bool = _off("a draft keeps half of a surrogate pair", "draft-save-body")
    # Contents.
    forms_checked: bool = _off("e-mail, telephone and web addresses have a form that is checked", "contact-text-forms")
    contact_terms_own: bool = _habit(False, "type, gender and their like are three codes of the service's own")
    references_open: bool = _off("any reference is accepted", "contact-organization-unknown")
    terms_open: bool = _off("every term is known", "contact-optional-term-values")
    unknown_fields_kept: bool = _off("unknown fields are kept", "workflow-document-content")
    terms_closed: bool = _off("further members of Term, Link and Reference are errors", "contact-further-members")
    numbers_as_text: bool = _off("a number is read as text where text is due",
        "contact-number-for-string", "workflow-document-content", "workflow-kinds-kindly", "token-kinds-kindly")
    nulls_absent: bool = _off("null in an optional field counts as left out",
        "contact-optional-null", "workflow-info-empty", "workflow-batch-empty", "workflow-kinds-kindly")
    empty_values_absent: bool = _off("an empty text, object or array counts as left out", "contact-mandatory-empty")
    languages: str = _habit("", "the language codes that are known; empty takes every well-formed one")
    languages_declared: bool = _habit(False, "texts are in languages that the header lists, where it lists some")
    header_ignored: bool = _off("a header may disagree with path and query",
        "contact-header-disagrees", "contact-header-identifier-rule", "workflow-header-disagrees")
    header_needs: str = _habit("", "members that a header has to carry")
    submission_members_ignored: bool = _off("further members of the workflow body are ignored",
        "workflow-unknown-member")
    empty_texts_refused: bool = _off("an empty additionalInfo or batchId is an error",
        "workflow-info-empty", "workflow-batch-empty")
    info_for_nau_only: bool = _off("additionalInfo from other accounts is an error", "workflow-info-from-others")
    limits_in_message: bool = _off("a text over its limit is told in a message, without an errors array",
        "How a text over its limit is told")
    lengths_utf16: bool = _off("limits of texts count units of UTF-16", "What is a character of a limit")
    # Records.
    contacts_minted: bool = _off("contacts get new identifiers", "contact-identifier-origin")
    records_minted: bool = _off("records get new identifiers", "workflow-identifier-origin")
    identifiers_over_realms: bool = _off("an identifier in use in one realm is in use in all",
        "Realms in which an identifier is in use")
    refused_identifiers_stay_taken: bool = _off("the identifier of a record that was refused stays taken",
        "Identifiers of refused records")
    identifiers_uuid: bool = _off("identifiers that the service makes are UUIDs in capitals",
        "contact-identifier-origin", "workflow-identifier-origin")
    contact_put_creates: bool = _off("updating a contact that does not exist creates it", "contact-update-unknown")
    contact_post_updates: bool = _off("creating a contact under the identifier of one's own updates it",
        "contact-identifier-taken")
    contact_uid_from_query: bool = _off("a uid in the query names a new contact", "uid-on-contact-create")
    contact_versions: str = _habit("published", "what a contact has: published, draft published, or draft")
    contact_schema_optional: bool = _off("a contact without a schema in the query is taken for one",
        "A contact without a schema in the query")
    info_of_nothing: str = _habit("refused", "the info of a draft that is not there: refused, 204, null, or told")
    draft_any_schema: bool = _off("a draft without a schema or of an unknown one is saved",
        "draft-save-schema-missing", "draft-save-schema-unknown")
    draft_schema_stays: bool = _off("saving a draft under another schema than before is refused",
        "draft-save-schema-unknown")
    draft_schema_agrees: bool = _off("a draft whose header names another schema than the query is refused",
        "draft-save-schema-unknown")
    draft_faults: str = _habit("kept", "what the schema does not allow in a draft: kept, told, or refused")
    draft_nulls_dropped: bool = _off("null stands for an absent field", "draft-save-body")
    forms_normalised: bool = _off("e-mails and hosts are kept in small letters, without usual ports", "draft-save-body")
    draft_any_json: bool = _off("a draft may be any JSON value", "draft-save-body")
    contact_drafts_refused: bool = _habit(False, "drafts of contacts are not kept")
    # Locked records, see `registry_contracts.sandbox.workflow`.
    rights_checked: str = _habit("second", "when the workflow looks at rights: first, second, last before saving")
    lock_delay: float = _habit(0.0, "seconds from a submission to the lock of its record")
    lock_seconds: float | None = _habit(None, "seconds that this lock lasts; none, for good")
    submissions_publish: bool = _off("a submission is published at once, and its record free again",
        "workflow-submitted-state")
    drafts_published_soon: bool = _habit(False, "a submission makes of its draft, soon, a published version")
    batches_wait: bool = _habit(False, "a record of a batch is not locked before the batch is complete")
    drafts_not_existing: bool = _off("a draft alone does not exist", "workflow-draft-only-record")
    locked_before_taken: bool = _off("creating under a locked record's identifier is refused for the lock",
        "workflow-taken-against-locked")
    locked_draft_hidden: bool = _off("a locked draft is hidden", "draft-of-locked-record")
    locked_draft_stays: bool = _off("a locked draft is read-only", "draft-of-locked-record")
    realm_before_identity: bool = _off("a submission is refused for its realm before its token",
        "workflow-identity-against-realm")
    # Attachments.
    attachments_of: str = _habit("all", "documents that take attachments: all, submitted ones, or published ones")
    attachments_of_anything: bool = _off("a document that does not exist takes attachments",
        "attachment-document-unknown")
    attachments_with_previews: bool = _off("beside each file its preview is an attachment with a number of its own",
        "Attachments beside those that were created")
    second_file_of_a_name: str = _habit("kept", "a name's second file: kept, refused, numbered, replaced, overwritten")
    file_names: str = _habit("any", "names of attachments: any, plain, or changed to plain ones")
    file_names_unread: bool = _off("file names are not compared", "attachment-name-disagrees")
    empty_file_refused: bool = _off("an attachment without bytes is refused", "attachment-empty-file")
    uploads_not_json: bool = _off("an attachment that is sent as JSON is refused", "attachment-sent-type")
    temporary_files_last: bool = _off("a temporary file can be persisted again", "attachment-persist-twice")
    temporary_files_of: str = _habit("", "the one account that may persist temporary files; empty, each")
    temporary_file_prefix: str = _habit("", "beginning of the name that a persisted file is given")
    # Lists.
    list_largest_page: int | None = _habit(None, "items answered at most, whatever top asks for")
    list_largest_top: int | None = _habit(None, "the largest top that is not refused")
    list_envelope: str = _habit("", "what lists are wrapped in: nothing, hal, hits, beside links; or neighbours named")
    list_names_apart: bool = _habit(False, "a list is filtered and ordered by other names than it shows")
    lists_late: bool = _off("drafts and attachments come and go in lists a second later",
        "When a change shows in a list")
    list_order: str = _habit("oldest", "default order of lists: oldest or changed (last) first, or scrambled")
    list_with_documents: bool = _off("a list of drafts holds their content", "list-fields")
    list_own_only: bool = _off("a draft list without a collection holds the caller's own",
        "Whose drafts a list without a collection holds")
    my_without_drafts: bool = _off("the collection my holds no drafts", "What sets my and mydrafts apart")
    my_and_mydrafts_differ: bool = _off("the collection mydrafts lacks drafts that are locked for workflow",
        "What sets my and mydrafts apart")
    collections_open: bool = _off("another collection than my and mydrafts is taken for none",
        "Another collection than my and mydrafts")
    list_numbers_lenient: bool = _off("what is no number from 0 up, or an empty option, is as good as none",
        "attachment-list-option-empty", "list-number-negative", "list-option-empty")
    list_options_either_way: bool = _off("options of lists are read with a dollar sign and without",
        "list-options-without-dollar", "attachment-list-options-with-dollar")
    unknown_list_field: str = _habit("refused", "a filter or order by no field: refused, null, or ignored")
# fmt: on


#: What each habit means.
MEANINGS: Final = {habit.name: str(habit.metadata["meaning"]) for habit in fields(Habits)}
#: The silences that each habit fills which is a variant by itself.
SILENT: Final = {each.name: each.metadata["silent"] for each in fields(Habits) if "silent" in each.metadata}
