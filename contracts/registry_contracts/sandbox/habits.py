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
    write_answers_location: bool = _habit(False, "writes name what they made in the Location header alone")
    attachment_write_answers_number: bool = _habit(False, "attachment writes answer the bare number")
    save_answers_content: bool = _habit(False, "Save answers the content of the draft")
    contact_answers_content: bool = _habit(False, "contact writes answer the contact, too")
    submission_answer_furnished: bool = _habit(False, "the answer to a submission tells of the workflow first")
    identifier_member: str = _habit("identifier", "member that carries a record's identifier")
    attachment_id_member: str = _habit("id", "member that carries an attachment's integer id")
    attachment_first_id: int = _habit(1, "the id of the first attachment; the others follow")
    attachment_id_text: bool = _habit(False, "an attachment's id is text in answers")
    attachment_id_in_link: bool = _habit(False, "an attachment is described by name, length and address alone")
    attachment_numbers: str = _habit("common", "numbers of attachments: common, own, or listed as others")
    fields_shown: str = _habit("", "the only fields that describe drafts and attachments; empty shows all")
    info_whole: bool = _habit(False, "the info of a draft stands in an envelope and holds the content")
    realm_capitals: bool = _habit(False, "descriptions write the realm in capitals")
    message_realm_capitals: bool = _habit(False, "messages write the realm in capitals")
    timestamp_digits: int = _habit(3, "digits of fractional seconds, 1 to 9")
    timestamp_offset: str = _habit("Z", "how a timestamp says that it is UTC")
    download_type: str | None = _habit(None, "type of every download; none goes by the file's name; or sent")
    thumbnail_format: str = _habit("PNG", "format of a thumbnail")
    thumbnail_delay: float = _habit(0.0, "seconds after which a new file has a thumbnail")
    thumbnails_of_all: bool = _habit(True, "a file that is no image has a thumbnail")
    # Refusals.
    refusal_form: str = _habit("object", "a body without errors: object, text, string of JSON, empty (the table apart)")
    error_member: str | None = _habit(None, "member that wraps a refusal; none puts its members at the top level")
    status_member: str | None = _habit(
        "statusCode", "member of a refusal that repeats the status; none leaves it out")
    message_member: str = _habit("message", "member of a refusal that carries its text")
    error_property_path: bool = _habit(False, "the property of an error is a dotted path, not just the table's field")
    errors_at_once: bool = _habit(True, "all errors of a document are told at once; else the first")
    errors_reversed: bool = _habit(False, "the last error of a document comes first")
    errors_coarse: bool = _habit(False, "whatever is no missing field is an invalid value")
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
    bearer_exact: bool = _habit(False, "only the word Bearer and one space stand before a token")
    email_any_case: bool = _habit(False, "letter case of an e-mail does not matter")
    email_tags_ignored: bool = _habit(False, "what stands behind a plus sign of an e-mail's name does not matter")
    email_checked: bool = _habit(False, "an e-mail without an at sign is a malformed request")
    credentials_exact: bool = _habit(False, "further members of a sign-in are refused")
    restricted_may_read: bool = _habit(True, "an account without rights may read")
    restricted_create_contacts: bool = _habit(False, "an account without rights may create contacts")
    contacts_shared: bool = _habit(False, "authors may update the contacts of others")
    records_shared: bool = _habit(False, "authors may update the records of others in the workflow")
    attachments_shared: bool = _habit(False, "authors may attach files to the documents of others")
    attachment_lists_shared: bool = _habit(True, "accounts may list the attachments of others' documents")
    others_drafts: str = _habit("read", "what reading them gives: read, hidden, or refused while they exist for all")
    drafts_shared: str = _habit(
        "", "authors may save drafts of others, which stay theirs (kept), change hands (passed), are both's (joined)")
    drafts_deleted_by_all: bool = _habit(False, "authors may delete the drafts of others")
    attachments_open: bool = _habit(True, "attachment exists, get and thumbnail answer without a token")
    # Realms, headers, bodies.
    realm_required: bool = _habit(True, "contact and draft operations refuse a request without Realm header")
    default_realm: str = _habit("abs-dev", "realm taken when none is given and none is required")
    realm_any_case: bool = _habit(False, "letter case of a realm does not matter")
    realm_query_first: bool = _habit(False, "the query's realm counts before the header's in the workflow")
    realm_in_any_query: bool = _habit(False, "contact and draft operations read a realm in the query")
    unknown_realm_read: bool = _habit(False, "drafts under an unknown realm are read in the default one")
    unknown_realm_written: bool = _habit(False, "contacts and drafts of an unknown realm go to the default one")
    reporting_drafts: bool = _habit(False, "contact and draft operations serve the reporting realm")
    attachment_realms_known: bool = _habit(False, "a Realm header of attachment operations names a known realm")
    paths_any_case: bool = _habit(False, "letter case of the fixed words of a path does not matter")
    versions_alike: bool = _habit(False, "each path is served under the prefix of the other version, too")
    empty_identifier: bool = _habit(False, "a submission may have an empty identifier behind a slash")
    slashes_redirected: bool = _habit(False, "a path with a slash behind it leads to the one without")
    unknown_path_html: bool = _habit(False, "a path that is none is answered with a page")
    head_everywhere: bool = _habit(True, "HEAD is answered wherever GET is")
    options_answered: bool = _habit(False, "OPTIONS is answered with the methods of a path")
    any_content_type: bool = _habit(False, "JSON is read whatever the Content-Type says")
    json_lenient: bool = _habit(False, "a byte order mark and members named twice are read")
    draft_half_pairs: bool = _habit(False, "a draft keeps half of a surrogate pair")
    # Contents.
    references_checked: bool = _habit(True, "a contactOrganization names a record")
    terms_checked: bool = _habit(True, "a term is one that is known")
    unknown_fields_refused: bool = _habit(True, "a field that the table does not have is an error")
    further_members_refused: bool = _habit(False, "further members of Term, Link and Reference are errors")
    numbers_are_text: bool = _habit(False, "a number is read as text where text is due")
    nulls_absent: bool = _habit(False, "null in an optional field counts as left out")
    empty_values_absent: bool = _habit(False, "an empty text, object or array counts as left out")
    languages: str = _habit("", "the language codes that are known; empty takes every well-formed one")
    languages_declared: bool = _habit(False, "texts are in languages that the header lists, where it lists some")
    header_compared: bool = _habit(True, "a header may not disagree with path and query")
    header_needs: str = _habit("", "members that a header has to carry")
    unknown_submission_members_refused: bool = _habit(True, "further members of the workflow body are errors")
    empty_texts_refused: bool = _habit(False, "an empty additionalInfo or batchId is an error")
    info_for_nau_only: bool = _habit(False, "additionalInfo from other accounts is an error")
    limits_in_message: bool = _habit(False, "a text over its limit is told in a message, without an errors array")
    lengths_utf16: bool = _habit(False, "limits of texts count units of UTF-16")
    # Records.
    contact_header_names: bool = _habit(True, "a new contact takes the identifier of its header")
    record_header_names: bool = _habit(True, "a submission without identifier takes that of its header")
    identifiers_over_realms: bool = _habit(False, "an identifier in use in one realm is in use in all")
    refused_identifiers_taken: bool = _habit(False, "the identifier of a record that was refused stays taken")
    identifiers_uuid: bool = _habit(False, "identifiers that the service makes are UUIDs in capitals")
    contact_put_creates: bool = _habit(False, "updating a contact that does not exist creates it")
    contact_post_updates: bool = _habit(False, "creating a contact under the identifier of one's own updates it")
    contact_uid_from_query: bool = _habit(False, "a uid in the query names a new contact")
    contact_versions: str = _habit("published", "what a contact has: published, draft published, or draft")
    contact_schema_optional: bool = _habit(False, "a contact without a schema in the query is taken for one")
    info_of_nothing: str = _habit("refused", "the info of a draft that is not there: refused, 204, null, or told")
    draft_any_schema: bool = _habit(False, "a draft without a schema or of an unknown one is saved")
    draft_schema_stays: bool = _habit(False, "saving a draft under another schema than before is refused")
    draft_schema_agrees: bool = _habit(False, "a draft whose header names another schema than the query is refused")
    draft_faults: str = _habit("kept", "what the schema does not allow in a draft: kept, told, or refused")
    draft_nulls_kept: bool = _habit(True, "null is kept in a draft")
    draft_any_json: bool = _habit(False, "a draft may be any JSON value")
    contact_drafts_refused: bool = _habit(False, "drafts of contacts are not kept")
    # Locked records, see `registry_contracts.sandbox.workflow`.
    rights_checked: str = _habit("second", "when the workflow looks at rights: first, second, last before saving")
    lock_delay: float = _habit(0.0, "seconds from a submission to the lock of its record")
    lock_seconds: float | None = _habit(None, "seconds that this lock lasts; none, for good")
    submissions_publish: bool = _habit(False, "a submission is published at once, and its record free again")
    batches_wait: bool = _habit(False, "a record of a batch is not locked before the batch is complete")
    drafts_exist: bool = _habit(True, "a document that has only a draft exists for the workflow")
    locked_before_taken: bool = _habit(False, "creating under a locked record's identifier is refused for the lock")
    locked_draft_readable: bool = _habit(True, "the draft of a locked record can be read")
    locked_draft_writable: bool = _habit(True, "the draft of a locked record can be saved and deleted")
    realm_before_identity: bool = _habit(False, "a submission is refused for its realm before its token")
    # Attachments.
    attachments_of: str = _habit("all", "documents that take attachments: all, submitted ones, or published ones")
    attachments_of_anything: bool = _habit(False, "a document that does not exist takes attachments")
    second_file_of_a_name: str = _habit("kept", "a name's second file: kept, refused, numbered, replaced, overwritten")
    file_names: str = _habit("any", "names of attachments: any, plain, or changed to plain ones")
    file_name_compared: bool = _habit(True, "number and file name of an attachment belong together")
    empty_file_refused: bool = _habit(False, "an attachment without bytes is refused")
    json_file_refused: bool = _habit(False, "an attachment that is sent as JSON is refused")
    temporary_files_last: bool = _habit(False, "a temporary file can be persisted again")
    temporary_files_of: str = _habit("", "the one account that may persist temporary files; empty, each")
    temporary_file_prefix: str = _habit("", "beginning of the name that a persisted file is given")
    # Lists.
    list_largest_page: int | None = _habit(None, "items answered at most, whatever top asks for")
    list_largest_top: int | None = _habit(None, "the largest top that is not refused")
    list_order: str = _habit("oldest", "default order of lists: oldest or changed (last) first, or scrambled")
    list_whole: bool = _habit(False, "a list of drafts holds their content")
    list_default_own: bool = _habit(False, "a draft list without a collection holds the caller's own")
    my_holds_drafts: bool = _habit(True, "the collection my holds drafts")
    mydrafts_holds_locked: bool = _habit(True, "the collection mydrafts holds drafts that are locked for workflow")
    collections_checked: bool = _habit(True, "another collection than my and mydrafts is refused")
    list_options_lenient: bool = _habit(False, "what is no number from 0 up, or an empty option, is as good as none")
    list_options_either_way: bool = _habit(False, "options of lists are read with a dollar sign and without")
    unknown_list_field: str = _habit("refused", "a filter or order by no field: refused, null, or ignored")
# fmt: on


#: What each habit means.
MEANINGS: Final = {habit.name: str(habit.metadata["meaning"]) for habit in fields(Habits)}
