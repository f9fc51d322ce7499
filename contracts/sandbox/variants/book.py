"""All variants by name, named combinations of them, and the choice made on the command line."""

import difflib
import textwrap
from collections.abc import Iterable

from contracts.errors import UsageError
from contracts.sandbox.variants import (
    bodies,
    contacts,
    drafts,
    files,
    late,
    lists,
    names,
    plain,
    readings,
    refusals,
    sight,
    tokens,
    wire,
    workflow,
)
from contracts.sandbox.variants.model import Alteration, Variant

_MODULES = (
    plain,
    refusals,
    names,
    lists,
    late,
    drafts,
    sight,
    files,
    contacts,
    readings,
    tokens,
    workflow,
    bodies,
    wire,
)

ALL: dict[str, Variant] = {variant.name: variant for module in _MODULES for variant in module.VARIANTS}
"""Every variant by its name."""

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
        "drafts-shared",
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
        "drafts-shared",
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
        "extra-members",
        "headers-furnished",
        "tokens-long",
        "timestamps-micro",
        "realm-in-capitals",
    ),
}
"""Groups of variants under one name; each group obeys every clause too."""


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
