"""All variants by name, named combinations that obey every clause too, and the choice of the command line."""

import difflib
import textwrap
from collections.abc import Iterable

from contracts.errors import UsageError
from contracts.sandbox.variants import demands, drafts, habits, http, lists, names, readings, records, tokens
from contracts.sandbox.variants.model import Alteration, Variant

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
        "queries-known",
        "uploads-not-json",
        "attachments-private",
        "sign-in-email-checked",
        "methods-hidden",
        "list-empty-404",
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


_MODULES = (habits, names, lists, drafts, records, readings, tokens, demands, http)

ALL: dict[str, Variant] = {variant.name: variant for module in _MODULES for variant in module.VARIANTS}
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
        lines += [
            f"  {variant.name}",
            *textwrap.wrap(
                variant.sentence,
                100,
                initial_indent=" " * 6,
                subsequent_indent=" " * 6,
                break_on_hyphens=False,
            ),
        ]
    lines += ["", "Combinations:", ""]
    for name, members in COMBINATIONS.items():
        lines += [
            f"  {name}",
            *textwrap.wrap(
                ", ".join(members),
                100,
                initial_indent=" " * 6,
                subsequent_indent=" " * 6,
                break_on_hyphens=False,
            ),
        ]
    return "\n".join(lines) + "\n"
