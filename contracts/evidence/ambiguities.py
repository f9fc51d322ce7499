"""Where the interface document says two things, or one that can be read in two ways: its owner has to settle it."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """One passage to settle.

    Attributes:
        id: stable name, kebab-case.
        source: heading of the interface document under which it stands.
        text: what does not go together, and the question, in plain words.
        clauses: whose verdicts and observations show what the service does about it.
    """

    id: str
    source: str
    text: str
    clauses: tuple[str, ...]


AMBIGUITIES: Final = (
    Ambiguity(
        "uid-pattern",
        "Identifier rule (uid)",
        "The pattern of a uid is printed with two backslashes before the hyphen. Read literally it lets "
        "in a backslash, a closing bracket and a caret and shuts out the hyphen; the sentence beside it "
        "says letters, digits, hyphen and underscore. Is the sentence the rule, and will the pattern be "
        "corrected?",
        ("uid-hyphen", "uid-hyphens-only", "uid-misread-range"),
    ),
    Ambiguity(
        "uid-end",
        "Identifier rule (uid)",
        "The pattern of a uid ends in a dollar sign, which in many engines lets a line break through at "
        "the end, and classes of characters may or may not take in letters and digits beyond ASCII. Are "
        "both shut out?",
        ("uid-trailing-newline", "uid-non-ascii"),
    ),
    Ambiguity(
        "uid-on-create",
        "Contact records",
        "A uid parameter is listed for creating a contact, yet the path has no place for one. Is it left "
        "over, or can a client choose the uid of a new contact, and where does it say so?",
        ("uid-on-contact-create", "contact-identifier-origin"),
    ),
    Ambiguity(
        "uid-and-identifier",
        "Workflow submission",
        "Documents are named by a uid in one part of the interface and by an identifier in another, and "
        "only the uid has a rule. Does the same rule hold for the identifier of a submission?",
        (
            "workflow-identifier-edges",
            "workflow-identifier-too-short",
            "workflow-identifier-too-long",
            "workflow-identifier-characters",
            "workflow-identifier-case-sensitive",
        ),
    ),
    Ambiguity(
        "existence-step",
        "States and transitions",
        "The first step of a submission checks that the identifier exists, yet creating is refused when "
        "it does. Does the step mean: exists for an update, is free for a creation? And does a document "
        "that has only a draft exist?",
        ("workflow-identifier-taken", "workflow-identifier-unknown", "workflow-draft-only-record"),
    ),
    Ambiguity(
        "taken-and-locked",
        "Workflow endpoint status codes",
        "Creating under the identifier of a locked record fits two rows of the table, and so does a "
        "submission with neither realm nor token. Which row counts?",
        ("workflow-taken-against-locked", "workflow-identity-against-realm"),
    ),
    Ambiguity(
        "content-status",
        "Errors",
        "The answer to faulty content is told in two places and its status in neither: a submission "
        "carries an errors array “on content problems”, beside a table of refusals that has no row for "
        "them. Which status comes with it?",
        ("errors-status", "errors-array"),
    ),
    Ambiguity(
        "codes-without-fields",
        "Validation errors in the errors property",
        "Codes are listed for values the schema does not allow and for sets of fields of which one is "
        "needed, yet no such value and no such set is shown for any field. Where do they apply?",
        ("errors-code-invalid-value", "errors-code-mandatory-any-of"),
    ),
    Ambiguity(
        "workflow-error-body",
        "Workflow endpoint status codes",
        "The table gives messages, and the section on errors a list of codes, but not the body that "
        "carries a message. Is it a member of the body, or an element of the errors array?",
        ("workflow-message-place",),
    ),
    Ambiguity(
        "realm-on-attachments",
        "Common headers",
        "Attachments belong to documents and documents to a realm, yet the Realm header is listed for "
        "contact, draft and workflow operations only. How is the realm of an attachment known, and is a "
        "Realm header obeyed there?",
        ("realm-attachments-without", "realm-on-attachments"),
    ),
    Ambiguity(
        "realm-required",
        "Workflow submission",
        "Leaving out the realm is refused on the workflow operations. The header is listed for contact "
        "and draft operations too, without a word on its absence. Is it required there, and may it stand "
        "in the query?",
        ("realm-missing-contact", "realm-missing-draft", "realm-query-elsewhere"),
    ),
    Ambiguity(
        "realm-both",
        "Workflow submission",
        "The realm may stand in the header or in the query. Which one counts when both are there and differ?",
        ("realm-header-against-query",),
    ),
    Ambiguity(
        "read-without-token",
        "Authentication",
        "Listing attachments needs a token, while for checking, downloading and previewing one nothing is"
        " said. Is reading an attachment without a token intended?",
        ("attachment-exists-token", "attachment-get-token", "attachment-thumbnail-token"),
    ),
    Ambiguity(
        "content-type-without-body",
        "Common headers",
        "Content-Type: application/json is listed for operations that send no body, reading and deleting "
        "drafts among them, and not for creating attachments, which do send one. Is it required where it "
        "is listed?",
        (
            "content-type-without-body",
            "content-type-not-needed",
            "content-type-missing",
            "attachment-sent-type",
        ),
    ),
    Ambiguity(
        "dollar",
        "Attachments",
        "The options of the two lists mean the same, yet they are written with a dollar sign for drafts "
        "and without one for attachments. Is each spelling alone right, or are both taken?",
        ("list-options-without-dollar", "attachment-list-options-with-dollar"),
    ),
    Ambiguity(
        "collections",
        "Draft versions",
        "Two collections can be listed, my and mydrafts, in a list that holds drafts only. What does my "
        "hold that mydrafts does not, and what is listed without a collection?",
        ("list-my-has-mine", "list-my-without-others", "list-mydrafts-without-others", "list-plain-has-mine"),
    ),
    Ambiguity(
        "gigabyte",
        "Limits",
        "Files above 1 GB cause errors. Is that a thousand million bytes or 2 to the power of 30, and what "
        "is the error?",
        ("attachment-size-at-limit", "attachment-size-answer"),
    ),
    Ambiguity(
        "nau-only",
        "Workflow submission body",
        "additionalInfo is available only when a user with the NAU role sends a request to the PA. Is it "
        "refused, or passed over, when anybody else sends it?",
        ("workflow-info-from-others", "workflow-info-longest"),
    ),
    Ambiguity(
        "draft-body",
        "Draft versions",
        "A draft is saved under a schema, while the body of the request is not shown and nothing says "
        "whether it is validated. May an incomplete draft be saved, and what has to be in it?",
        (
            "draft-save-body",
            "draft-save-incomplete",
            "draft-save-schema-missing",
            "draft-save-schema-unknown",
        ),
    ),
    Ambiguity(
        "read-a-contact",
        "Contact records",
        "Contacts can be created and updated, but no operation reads one back. Do the draft operations show it?",
        ("contact-read-back",),
    ),
)
"""In the order in which the questions are put: what most clients meet first."""
