"""What a variant is, and the variants that fill each silent point of the interface document otherwise.

A variant is other habits, other parts of the service, or something between it and the wire.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, TypeVar

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from contracts.sandbox.habits import Habits
from contracts.sandbox.service import Service

_Layer = TypeVar("_Layer")
RECORDS = "records"
"""Name under which ``Variant.parts`` replaces what a transaction hands out."""


@dataclass(frozen=True)
class Variant:
    """One other way to fill a silence of the interface document.

    Attributes:
        name: its name on the command line.
        sentence: which silence it fills, and how.
        habits: habits it changes, by name.
        parts: attributes of the service, dotted where they lie deeper, each with a subclass of that part's class
            that is laid over it; several variants may lay theirs over the same part. ``records`` stands for what
            a transaction hands out.
        wrap: makes an application that stands between the service and the wire.
        layer: how near to the wire it stands: those that look into bodies before those that only frame them.
        contact: members of a contact that it takes, where only a target's settings can tell them.
        settings: what a target's settings have to say for it to be judged as a whole, by name: the name of another
            setting with the same value, or several values, with ``{realm}`` for the realm.

    """

    name: str
    sentence: str
    habits: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, type] = field(default_factory=dict)
    wrap: Callable[[ASGIApp], ASGIApp] | None = None
    layer: int = 0
    contact: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)


class Variants(list[Variant]):
    """The variants that one module declares, in the order in which they stand there."""

    def add(self, name: str, sentence: str, **members: Any) -> None:
        """Declare a variant; ``members`` are the other attributes of ``Variant``."""
        self.append(Variant(name, sentence, **members))

    def layer(self, part: str, name: str) -> Callable[[type[_Layer]], type[_Layer]]:
        """Declare a variant that lays the decorated class over one part; its docstring is the sentence."""

        def declare(layer: type[_Layer]) -> type[_Layer]:
            self.add(name, inspect.getdoc(layer) or "", parts={part: layer})
            return layer

        return declare


@dataclass(frozen=True)
class Alteration:
    """Several variants at once; where two change the same habit, the later one counts.

    Attributes:
        variants: in the order they were asked for.

    """

    variants: Sequence[Variant] = ()

    def habits(self) -> Habits:
        """Return the habits of the altered sandbox."""
        habits = Habits()
        for variant in self.variants:
            habits = replace(habits, **variant.habits)
        return habits

    def alter(self, app: Starlette) -> None:
        """Lay the variants over an application that was made with ``habits`` and has not started yet."""
        for variant in self.variants:
            lay_over(app.state.service, variant.parts)
        for variant in sorted(self.variants, key=lambda variant: -variant.layer):
            if variant.wrap is not None:
                # Appended: nearer to the service than what undoes the encoding of paths.
                app.user_middleware.append(Middleware(variant.wrap))


def lay_over(service: Service, parts: Mapping[str, type]) -> None:
    """Give parts of a service other behaviour, keeping what they hold.

    Args:
        service: the parts of a sandbox that has not started yet.
        parts: as ``Variant.parts``.

    """
    for name, layer in parts.items():
        if name == RECORDS:
            service.storage.records = _layered(layer, service.storage.records)
        else:
            part = attrgetter(name)(service)
            part.__class__ = _layered(layer, type(part))


def _layered(layer: type[Any], below: type[Any]) -> type[Any]:
    """Return a class that behaves as ``layer`` and, where that asks further, as ``below``."""
    bases = (layer,) if issubclass(layer, below) else (layer, below)
    made: type[Any] = type(layer.__name__, bases, {})
    return made


_SUCCESS: Final = ("success-200", "success-201", "success-202", "success-204")
_REFUSALS: Final = ("refusals-400", "refusals-404", "malformed-422", "missing-410")
_SHAPES: Final = ("problem-json", "refusals-without-body", "message-under-error", "message-in-array")
_FAULTS: Final = ("faults-200", "faults-409", "faults-422", "contact-terms-own-200")
_LISTS: Final = (
    "list-items",
    "list-odata",
    "list-docs",
    "list-linked",
    "list-hal",
    "list-json-api",
    "list-odata-old",
    "list-hits",
    "list-edges",
    "list-beside-links",
)
_ORDERS: Final = ("newest-first", "list-scrambled")
_PAGES: Final = ("pages-of-ten", "pages-of-five", "pages-bounded")
_EMPTY: Final = ("list-empty-204", "list-empty-404")
_NUMBERS: Final = ("list-numbers-lenient",)
_TERMS: Final = ("contact-terms-own", "contact-terms-own-200")
_OTHERS_DRAFTS: Final = ("others-drafts-hidden", "others-drafts-refused")
_WRITTEN: Final = ("writes-without-body", "id-in-location", "ids-renamed", "success-204")

#: Silent clauses of the catalogue, each with its knobs.
SILENT_CLAUSES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "attachment-size-answer": ("refusals-400", "refusals-404"),
        "attachment-exists-token": ("attachments-closed",),
        "attachment-get-token": ("attachments-closed",),
        "attachment-thumbnail-token": ("attachments-closed",),
        "attachment-name-taken": ("file-names-unique", "file-names-numbered", "file-names-replaced"),
        "attachment-name-disagrees": ("file-names-unread",),
        "attachment-name-unusual": ("file-names-plain", "file-names-changed"),
        "attachment-empty-file": ("empty-file-refused",),
        "attachment-sent-type": ("uploads-not-json",),
        "attachment-download-type": ("downloads-plain", "downloads-redirected", "downloads-elsewhere"),
        "attachment-thumbnail-form": (
            "thumbnails-jpeg",
            "thumbnails-webp",
            "thumbnails-gif",
            "thumbnails-of-pictures",
        ),
        "attachment-document-unknown": ("attachments-of-anything",),
        "attachment-of-another": ("attachments-by-anybody", "attachments-private"),
        "attachment-by-restricted": ("restricted-shut-out",),
        "attachment-persist-twice": ("temporary-files-last",),
        "attachment-persist-name": ("temporary-files-renamed",),
        "attachment-list-options-with-dollar": ("attachment-options-dollar",),
        "attachment-list-option-empty": _NUMBERS,
        "attachment-list-default": (*_ORDERS, *_PAGES),
        "attachment-fields": (
            "metadata-terse",
            "ids-renamed",
            "attachment-id-text",
            "attachment-id-large",
            "attachment-id-in-link",
            "attachment-id-per-document",
            "attachment-id-not-listed",
        ),
        "attachment-create-answer": ("attachment-number-alone", *_WRITTEN),
        "attachment-persist-answer": _WRITTEN,
        "attachment-success-status": (*_SUCCESS, "head-204", "list-partial"),
        "attachment-failure-status": (*_REFUSALS, *_SHAPES),
        "contact-mandatory-empty": ("empty-text-missing", "empty-values-absent"),
        "contact-optional-null": ("nulls-absent",),
        "contact-number-for-string": ("numbers-as-text",),
        "contact-language-key-unknown": ("languages-six",),
        "contact-type-values": _TERMS,
        "contact-address-type-values": _TERMS,
        "contact-gender-values": _TERMS,
        "contact-optional-term-values": (*_TERMS, "terms-open"),
        "contact-organization-unknown": ("references-open",),
        "contact-text-forms": ("forms-checked",),
        "contact-further-members": ("terms-closed",),
        "contact-header-members": ("header-whole",),
        "contact-header-disagrees": ("header-ignored",),
        "contact-identifier-origin": ("contacts-minted", "identifiers-uuid"),
        "contact-header-identifier-rule": ("header-ignored",),
        "contact-identifier-taken": ("contact-post-updates",),
        "contact-update-unknown": ("contact-put-creates",),
        "contact-update-by-another": ("contacts-shared",),
        "contact-by-restricted": ("contacts-by-restricted", "restricted-shut-out"),
        "contact-create-answer": _WRITTEN,
        "contact-update-answer": _WRITTEN,
        "contact-success-status": _SUCCESS,
        "contact-read-back": ("contacts-have-drafts",),
        "draft-delete-absent": ("delete-idempotent",),
        "draft-save-body": ("draft-any-json", "draft-nulls-dropped", "half-pairs-kept", "json-lenient"),
        "draft-save-incomplete": ("draft-valid-only", "draft-known-fields-only", "draft-faults-told"),
        "draft-save-schema-missing": ("draft-any-schema",),
        "draft-save-schema-unknown": ("draft-any-schema", "draft-schema-stays", "draft-schema-agrees"),
        "draft-of-another": _OTHERS_DRAFTS,
        "draft-by-restricted": ("restricted-shut-out",),
        "draft-of-locked-record": ("locked-draft-hidden", "locked-draft-stays"),
        "draft-save-answer": ("draft-content-answered", "draft-faults-told", *_WRITTEN),
        "draft-get-answer": ("draft-under-body", "draft-wrapped", "draft-extended", "draft-rewritten"),
        "draft-info-answer": ("metadata-terse", "timestamps-nano", "realm-in-capitals"),
        "draft-delete-answer": ("success-200", "writes-without-body"),
        "draft-success-status": (*_SUCCESS, "save-see-other", "head-204"),
        "draft-failure-status": (*_REFUSALS, *_SHAPES),
        "errors-code-invalid-value": ("codes-coarse",),
        "errors-code-mandatory-any-of": ("any-of-as-mandatory",),
        "errors-status": _FAULTS,
        "content-type-missing": ("content-type-optional", "content-type-needed"),
        "content-type-other": ("content-type-any",),
        "accept-missing": ("accept-needed",),
        "accept-other": ("accept-strict",),
        "query-unknown": ("queries-known",),
        "method-other": ("methods-hidden",),
        "version-other": ("versions-alike",),
        "list-number-negative": _NUMBERS,
        "list-option-empty": _NUMBERS,
        "list-options-without-dollar": ("list-options-plain-too",),
        "list-default-page": _PAGES,
        "list-default-order": _ORDERS,
        "list-fields": ("metadata-terse", "list-with-documents", "odata-open", "odata-ignored"),
        "list-envelope": (*_LISTS, *_EMPTY),
        "list-by-restricted": ("restricted-shut-out",),
        "list-success-status": ("list-partial", *_EMPTY),
        "list-failure-status": (*_REFUSALS, *_SHAPES),
        "realm-unknown-draft-read": ("realm-unknown-read",),
        "realm-unknown-contact": ("realm-unknown-written",),
        "realm-unknown-draft-save": ("realm-unknown-written",),
        "realm-missing-contact": ("realm-optional",),
        "realm-missing-draft": ("realm-optional",),
        "realm-ort-on-contact": ("reporting-drafts",),
        "realm-ort-on-draft": ("reporting-drafts",),
        "realm-header-against-query": ("realm-query-first",),
        "realm-query-elsewhere": ("realm-in-any-query",),
        "realm-letter-case": ("realm-any-case",),
        "realm-on-attachments": ("attachment-realms-known",),
        "token-lifetime": ("tokens-brief",),
        "token-second-sign-in": ("token-same-again", "token-replaced"),
        "token-bearer-spelling": ("bearer-exact", "ticket-scheme"),
        "token-email-letter-case": ("email-any-case",),
        "token-unknown-member": ("credentials-exact",),
        "token-success-status": ("success-201",),
        "token-failure-answer": ("sign-in-refused-200", "sign-in-email-checked", "refusals-400"),
        "token-missing-answer": ("token-refused-403", "refusals-400", "refusals-404"),
        "uid-on-contact-create": ("contact-uid-from-query",),
        "uid-refusal-answer": ("malformed-422", "refusals-404"),
        "workflow-info-from-others": ("info-for-nau-only",),
        "workflow-info-empty": ("empty-texts-refused", "submission-nulls-absent"),
        "workflow-batch-empty": ("empty-texts-refused", "submission-nulls-absent"),
        "workflow-batch-effect": ("batches-wait",),
        "workflow-unknown-member": ("submission-members-ignored",),
        "workflow-document-content": ("unknown-fields-kept", "numbers-as-text", "submission-numbers-as-text"),
        "workflow-identifier-origin": ("records-minted", "identifiers-uuid"),
        "workflow-header-disagrees": ("header-ignored", "submission-members-ignored"),
        "workflow-draft-only-record": ("drafts-not-existing",),
        "workflow-taken-against-locked": ("locked-before-taken",),
        "workflow-identity-against-realm": ("realm-before-identity",),
        "workflow-update-by-another": ("authors-update-all",),
        "workflow-submitted-state": ("submissions-publish", "lock-late"),
        "workflow-answer": ("submissions-furnished",),
        "workflow-message-place": (
            "message-plain-text",
            "message-under-error",
            "message-in-array",
            "message-spaced",
            "message-realm-capitals",
            "problem-json",
        ),
        "workflow-success-status": _SUCCESS[:3],
    }
)

#: Points at which the document is silent without a clause of their own, each with its knobs.
SILENT_POINTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "Form of a token": ("tokens-short", "tokens-long", "tokens-jwt"),
        "Digits and offset of a timestamp": ("timestamps-tenths", "timestamps-micro", "timestamps-nano"),
        "How answers write a realm": ("realm-in-capitals",),
        "Identifiers of refused records": ("refused-contacts-stay-taken", "refused-records-stay-taken"),
        "Attachments of a document that is a draft still": (
            "attachments-beyond-drafts",
            "attachments-of-published",
        ),
        "Schemas of drafts": ("drafts-of-workflow",),
        "Whose drafts a list without a collection holds": ("list-own-only",),
        "What sets my and mydrafts apart": ("my-and-mydrafts-differ", "my-without-drafts"),
        "Another collection than my and mydrafts": ("collections-open",),
        "When a change shows in a list": ("lists-late",),
        "Order and number of the elements of an errors array": ("errors-reversed", "faults-one-at-a-time"),
        "Place of an errors array, and what stands beside it": (
            "errors-nested",
            "errors-only",
            "errors-always",
        ),
        "Further members of answers": ("extra-members", "extra-members-everywhere"),
        "Further members of a listed item": ("list-items-volatile",),
        "Headers of answers": (
            "charset",
            "header-capitals",
            "headers-furnished",
            "validators",
            "head-without-length",
        ),
        "Framing and coding of bodies": ("chunked", "gzip", "deflate"),
        "Connections and pace": ("connections-closed", "slow"),
        "Redirects of reads": ("reads-sent-on",),
        "An empty identifier behind a slash": ("identifier-empty",),
    }
)

#: Silent clauses that no second behaviour of a sandbox can show, and why.
WITHOUT_KNOB: Final[Mapping[str, str]] = MappingProxyType(
    {
        "attachment-size-unit": "a target's settings name its limit in bytes; a sandbox takes it with --size-limit",
        "attachment-temporary-creation": "no operation creates temporary files",
        "version-policy": "no operation shows a policy",
        "rate-limits": "refusals for too many requests are environment; see the weather",
        "realm-production-at-development": "the guard lets no request with a production realm out",
        "workflow-events": "nothing at the interface shows an event",
    }
)

#: Variants of which each fills a silence, and which together contradict a sentence; with the contradiction.
CONTRADICTORY: Final[Mapping[frozenset[str], str]] = MappingProxyType(
    {
        frozenset({"batches-wait", "drafts-not-existing"}): (
            "a record that was accepted and waits for its batch has a draft alone, so it would not exist"
        ),
        frozenset({"draft-valid-only", "records-minted"}): (
            "a submission's header names another identifier than the service gives it, so its draft would not be "
            "valid, and none could be submitted"
        ),
    }
)

#: Every sentence of the interface document that says "not shown", with the silent points that it leaves.
SENTENCES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "Fields of the draft record returned by the draft operations": (
            "draft-get-answer",
            "draft-info-answer",
            "draft-save-answer",
            "list-fields",
        ),
        "Fields of attachment records returned by list": ("attachment-fields",),
        "Allowed values of type, addressType and gender": (
            "contact-type-values",
            "contact-address-type-values",
            "contact-gender-values",
        ),
        "Other members of Term, Link and Reference beyond those listed": ("contact-further-members",),
        "States and transitions": ("workflow-submitted-state", "workflow-draft-only-record"),
        "The uid URL parameter of contact create": ("uid-on-contact-create",),
        "Request body of Save": ("draft-save-body", "draft-save-incomplete"),
        "Creation of temporary files": ("attachment-temporary-creation",),
        "Bodies of responses of draft and attachment operations": (
            "draft-save-answer",
            "draft-delete-answer",
            "attachment-create-answer",
            "attachment-persist-answer",
            "list-envelope",
        ),
        "Response of contact create and update and of workflow beyond identifier and errors": (
            "contact-create-answer",
            "contact-update-answer",
            "workflow-answer",
        ),
        "Token lifetime": ("token-lifetime",),
        "Whether the attachment exists, get and thumbnail operations require a token": (
            "attachment-exists-token",
            "attachment-get-token",
            "attachment-thumbnail-token",
        ),
        "Events": ("workflow-events",),
        "Status codes and bodies for failures of all other operations, including failed authentication": (
            "draft-failure-status",
            "attachment-failure-status",
            "list-failure-status",
            "token-failure-answer",
            "token-missing-answer",
            "uid-refusal-answer",
        ),
        "Success status codes of all operations": (
            "token-success-status",
            "contact-success-status",
            "draft-success-status",
            "attachment-success-status",
            "list-success-status",
            "workflow-success-status",
        ),
        "Rate limits": ("rate-limits",),
        "Policy for new versions and retirement of old ones": ("version-policy",),
    }
)
