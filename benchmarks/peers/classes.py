"""What it takes to see a defect: the class by which the benchmark reports, one table for all of them.

The rules below are tried in their order; the first that fits gives the class. A word of a rule is a pattern, with a
star for any text, for the name of the defect or the id of its clause. What no rule names is taken from the clause:
one that speaks about generated faults (a field missing, too long, of another kind) is a rule of the description.
"""

from collections.abc import Iterable
from enum import StrEnum
from fnmatch import fnmatchcase

from contracts.errors import SuiteError
from contracts.interface.catalogue import Catalogue, Level
from contracts.sandbox.defects import ALL, Defect


class Need(StrEnum):
    """What a tool needs to notice a defect."""

    DESCRIPTION = "description"
    CONTENT = "content"
    CALLS = "calls"
    ACCOUNTS = "accounts"

    @property
    def told(self) -> str:
        """The class in words, as the table shows it."""
        return _TOLD[self]


_TOLD = {
    Need.DESCRIPTION: "expressible in OpenAPI",
    Need.CONTENT: "needs content",
    Need.CALLS: "needs several calls",
    Need.ACCOUNTS: "needs several accounts or realms",
}

DEFECT_RULES: tuple[tuple[Need, tuple[str, ...]], ...] = (
    (Need.ACCOUNTS, ("draft-create-lost-of-other", "token-of-other-*", "*-of-anyone")),
    # The caller without rights is a second account.
    (Need.ACCOUNTS, ("workflow-*-rights-*", "workflow-*-without-rights")),
    (Need.CALLS, ("*-one-in-*", "*-at-times", "*-once", "*-of-two", "*-from-cache")),
    (Need.CALLS, ("*-yet-*", "*-done-and-refused", "*-though-refused", "*-cut-to-*", "*-stripped")),
    (
        Need.CALLS,
        ("malformed-draft-ignored", "uid-folded-to-ascii", "uid-number-loses-*", "token-in-refusal"),
    ),
    (Need.CONTENT, ("*-message", "*-message-in-*", "*-reported-*", "*-not-named-*", "*-without-code")),
    (Need.CONTENT, ("*-status", "*-status-on-*")),
    (Need.ACCOUNTS, ("realm-draft-given-*", "realm-lists-mixed*", "*-of-other-merged")),
    (Need.DESCRIPTION, ("thumbnail-json", "thumbnail-mislabelled", "thumbnail-page")),
)
"""Rules for names of defects; they come first."""

CLAUSE_RULES: tuple[tuple[Need, tuple[str, ...]], ...] = (
    # A refusal that has to leave no trace is told by its status as much as by what is stored.
    (
        Need.DESCRIPTION,
        ("*-needs-token", "*-needs-no-token", "workflow-anonymous", "*-invalid-*", "uid-*est", "uid-*-edges"),
    ),
    (Need.DESCRIPTION, ("uid-non-ascii", "uid-trailing-newline", "uid-*-only", "uid-any-kind")),
    (Need.DESCRIPTION, ("uid-hyphen", "uid-underscore", "version-*", "no-server-error")),
    (
        Need.DESCRIPTION,
        ("token-issued", "token-expiration-format", "errors-element-shape", "errors-code-known"),
    ),
    (Need.DESCRIPTION, ("contact-create-accepted", "*-full", "contact-several-*", "list-answers")),
    (Need.DESCRIPTION, ("list-my-answers", "realm-query*", "realm-attachments-without", "content-type-*")),
    (Need.DESCRIPTION, ("workflow-*-accepted", "workflow-identifier-returned", "workflow-batch-longest")),
    (Need.DESCRIPTION, ("attachment-create-accepted", "answers-in-time", "workflow-realm-missing")),
    (Need.DESCRIPTION, ("contact-mandatory-null", "contact-names-in-scripts", "contact-optional-not-*")),
    (Need.DESCRIPTION, ("workflow-info-longest", "workflow-batch-characters")),
    (Need.CONTENT, ("contact-schema-validates",)),
    (
        Need.CONTENT,
        ("draft-get-content", "draft-text-*", "attachment-download-same", "attachment-thumbnail-*"),
    ),
    (Need.CONTENT, ("errors-*", "no-secret-echoed", "token-wrong-password", "token-unknown-account")),
    (
        Need.CONTENT,
        ("workflow-identifier-kept", "workflow-document-validated", "workflow-identifier-unknown"),
    ),
    (Need.CONTENT, ("workflow-schema-unknown", "attachment-size-*", "draft-info-present")),
    (
        Need.CALLS,
        ("draft-*", "list-*", "attachment-list-*", "attachment-create-listed", "attachment-several"),
    ),
    (Need.CALLS, ("attachment-exists-*", "attachment-persist-*", "contact-update-*", "contact-any-fields")),
    (
        Need.CALLS,
        (
            "workflow-created-*",
            "workflow-distinct-*",
            "workflow-identifier-taken",
            "workflow-identifier-once",
        ),
    ),
    (Need.CALLS, ("workflow-identifier-case-*", "workflow-update-replaces-draft", "attachment-name-kept")),
    (
        Need.CALLS,
        ("workflow-locked-record", "workflow-order-*", "workflow-refused-*", "workflow-batch-shared"),
    ),
    (
        Need.CALLS,
        ("token-opens-protected", "uid-case-sensitive", "uid-files-case-sensitive", "uid-listing-tidied"),
    ),
)
"""Rules for ids of clauses, for the defects that no rule above names."""


def need_of(defect: Defect, catalogue: Catalogue) -> Need:
    """Return the class of a defect.

    Args:
        defect: one of the sandbox's.
        catalogue: knows its clause.

    Raises:
        SuiteError: no rule fits; the table needs another one.

    """
    if defect.realms:
        return Need.ACCOUNTS
    for word, rules in ((defect.name, DEFECT_RULES), (defect.clause, CLAUSE_RULES)):
        for need, patterns in rules:
            if any(fnmatchcase(word, pattern) for pattern in patterns):
                return need
    if catalogue.clause(defect.clause).faults:
        return Need.DESCRIPTION
    raise SuiteError(f"the defect {defect.name!r} has no class; add a rule to benchmarks/peers/classes.py")


def classed(catalogue: Catalogue, defects: Iterable[Defect] = ALL) -> dict[Need, list[Defect]]:
    """Sort the defects of must clauses into their classes, each in the order given.

    A defect of a weaker clause is no fault that a tool has to find, so it is left out.
    """
    found: dict[Need, list[Defect]] = {need: [] for need in Need}
    for defect in defects:
        if catalogue.clause(defect.clause).level is Level.MUST:
            found[need_of(defect, catalogue)].append(defect)
    return found
