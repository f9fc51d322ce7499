"""A target: a service at a base URL, with its realms, accounts, data and names.

The reader and the tables in `docs/settings.md` take keys, kinds and meanings from the fields. No output shows a
password. A target's own names are put into a request as it leaves: cases, checks and the ledger use documented names.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn, Self
from urllib.parse import quote, unquote_plus, urlsplit

from msgspec import Meta

from registry_contracts.errors import SuiteError
from registry_contracts.interface import operations
from registry_contracts.interface.description import load_description


class Secret:
    """Holds a secret text; showing or storing it gives a fixed mask instead."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the secret itself; only sign-in and redaction need it."""
        return self._value

    def __repr__(self) -> str:
        return "<secret>"

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        # A pickle would carry the plain text to a file or another process.
        raise TypeError("a secret cannot be pickled; read it from the environment again")


DOCUMENT_REALMS = operations.DOCUMENT_REALMS
DEVELOPMENT_REALMS = operations.WORKFLOW_REALMS
PRODUCTION_REALMS = ("abs", "bch", "chm", "ort")
REALMS = frozenset((*DEVELOPMENT_REALMS, *PRODUCTION_REALMS))
ANY_REALM = operations.ANY_REALM

AUTHOR = "author"
ANONYMOUS = "anonymous"
ACCOUNT_ROLES = (AUTHOR, "restricted", "nau", "other")

SANDBOX = "sandbox"
EMBEDDED_IN_WORDS = "the embedded sandbox"
_THIS_MACHINE = "http://127.0.0.1:"


#: The kinds of values, as `docs/settings.md` describes them.
Text = Annotated[str, Meta(pattern=r"\S", description="a text")]
Texts = Annotated[tuple[Text, ...], Meta(description="a list of texts")]
Several = Annotated[tuple[Text, ...], Meta(min_length=1, description="a list of at least one text")]
_RULE: Final = "(11 to 128 letters, digits, hyphens or underscores)"
Identifier = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{11,128}\Z", description=f"an identifier {_RULE}")]
Identifiers = Annotated[
    tuple[Identifier, ...], Meta(description=f"a list of identifiers {_RULE}, or one by itself")
]
Number = Annotated[float, Meta(gt=0, lt=1e300, description="a number above 0")]
Rate = Annotated[float, Meta(ge=1 / 3600, description="a number above 0, or inf for no limit")]
Whole = Annotated[int, Meta(gt=0, description="a whole number above 0")]
Document = Annotated[dict[str, Any], Meta(description="the path of a JSON file")]
File = Annotated[Path, Meta(description="the path of a file")]
Renamed = Annotated[Mapping[str, Text], Meta(description="a table of texts")]


def setting(meaning: str, *, default: Any = None, example: Any = None) -> Any:
    """Declare a setting, with its meaning for readers and an example value; the field's type gives its kind."""
    metadata = {"meaning": meaning, "example": example}
    if default is dict:
        return field(default_factory=dict, hash=False, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Pace:
    """Limits on requests to a target; without a rate, requests are not slowed down."""

    requests_per_second: Rate | None = setting("highest request rate, summed over all workers", default=20.0)
    concurrency: Whole = setting("requests under way at the same time", default=8)
    timeout_seconds: Number = setting(
        "time limit for one answer; a longer wait counts as a hang", default=30.0
    )
    settle_seconds: Number = setting(
        "time limit for effects to show; a draft itself must be there or gone at once",
        default=8.0,
    )
    request_budget: Whole | None = setting(
        "limit of requests in a run; without it the profile's (docs/manners.md)"
    )
    permanent_records: Whole = setting(
        "limit of contacts and submissions, which cannot be removed, in each realm and run",
        default=20,
    )


@dataclass(frozen=True)
class Account:
    """Credentials of one role; only `password.reveal()` shows the password."""

    role: str
    email: str = field(repr=False)
    password: Secret


#: Settings that cannot hold for all realms: a spelling, and data that each use consumes.
OF_ONE_REALM = ("sent_as", "attachment_identifiers", "temporary_files")


@dataclass(frozen=True)
class RealmSettings:
    """Facts about one realm that the interface document does not give; a missing one leaves its clauses untested."""

    sent_as: Text | None = setting(
        "the target's own spelling of this realm, if it does not know the documented one",
        example="ABS-DEV",
    )
    contact_schema: Text | None = setting("schema name of contact records", example="contact")
    contact_organization: Text | None = setting(
        "identifier of an organization, for contactOrganization",
        example="identifier-of-an-organization",
    )
    country_terms: Texts = setting("valid identifiers for country", default=(), example=("ca", "fr"))
    contact_document: Document | None = setting(
        "contact that the service accepts, in a file beside the settings; shows the allowed values of type, gender, "
        "addressType and organizationType, which the interface document does not give",
        example="samples/contact.json",
    )
    workflow_schema: Text | None = setting(
        "schema configured for the workflow in this realm", example="name-of-a-schema"
    )
    workflow_document: Document | None = setting(
        "valid document for workflow_schema, in a file beside the settings; header.identifier is filled in",
        example="samples/workflow.json",
    )
    draft_schema: Text | None = setting(
        "schema of records that are saved as drafts, if contacts cannot be",
        example="name-of-a-schema",
    )
    draft_document: Document | None = setting(
        "valid draft of draft_schema, in a file beside the settings; header.identifier is filled in",
        example="samples/draft.json",
    )
    locked_identifier: Identifier | None = setting(
        "record that is locked for workflow", example="a-record-locked-for-workflow"
    )
    existing_identifier: Identifiers = setting(
        "record or records of the author that exist and are not locked",
        default=(),
        example=("a-record-of-the-author",),
    )
    others_identifier: Identifier | None = setting(
        "record of another account", example="a-record-of-somebody-else"
    )
    published_identifier: Identifiers = setting(
        "record or records with a published version beside their draft",
        default=(),
        example=("a-published-record-with-draft",),
    )
    attachment_identifiers: Identifiers = setting(
        "records of the author that can have attachments but have none, if drafts cannot; each is used up",
        default=(),
        example=("a-record-for-files-1", "a-record-for-files-2"),
    )
    temporary_files: Texts = setting(
        "unused ids of non-empty temporary files; each is used up",
        default=(),
        example=("unused-temporary-file-1", "unused-temporary-file-2"),
    )
    spare_identifiers: Identifiers = setting(
        "identifiers of only hyphens, underscores or digits that the suite may write, outside its prefix",
        default=(),
        example=("------------", "____________", "123456789012"),
    )

    def filled_document(
        self, identifier: str | None, setting: str = "workflow_document"
    ) -> dict[str, Any] | None:
        """Return a copy of a setting's document with `header.identifier` set, or removed for None."""
        given: dict[str, Any] | None = getattr(self, setting)
        if given is None:
            return None
        document = copy.deepcopy(given)
        header = document.setdefault("header", {})
        if identifier is None:
            header.pop("identifier", None)
        else:
            header["identifier"] = identifier
        return document


@dataclass(frozen=True)
class AttachmentSettings:
    """Limits of the attachment operations."""

    size_limit_bytes: Whole | None = setting(
        "largest upload that the target accepts, if below the 1 GB of the interface document"
    )


@dataclass(frozen=True)
class TlsSettings:
    """How the target's certificate is checked; the check cannot be switched off."""

    ca_bundle: File | None = setting("PEM file of the authorities to trust, instead of the usual ones")
    client_certificate: File | None = setting("PEM file of the certificate that the suite shows")
    client_key: File | None = setting("PEM file of its key, if it is a separate file")


@dataclass(frozen=True)
class ServiceNames:
    """The target's own names for documented ones; a run sends these, and reports that once."""

    scheme: Text | None = setting("the word before the token, instead of Bearer")
    query: Renamed = setting(
        'query parameters by their documented name: `{ Realm = "realm", "$top" = "limit" }`', default=dict
    )
    collections: Renamed = setting(
        'collections of drafts by their documented name: `{ my = "mine" }`', default=dict
    )
    realm_header: Text | None = setting("the header that carries the realm, instead of Realm")

    def __bool__(self) -> bool:
        """Whether the target has a name of its own."""
        return bool(self.scheme or self.query or self.collections or self.realm_header)


def target_in_words(name: str, base_url: str) -> str:
    """Name a target with its address if known; the embedded sandbox has another address in each run."""
    local = name == SANDBOX and (not base_url or base_url.startswith(_THIS_MACHINE))
    if local:
        return EMBEDDED_IN_WORDS
    return f"{name} at {base_url}" if base_url else name


@dataclass(frozen=True)
class Target:
    """A service at a base URL (without a trailing slash), with its realms, accounts and data.

    `name` is for reports: the settings file's stem, `sandbox` for the embedded one, or `environment`. `accounts` has
    the known credentials by role, always the author's; `absent` has the reasons for missing ones, if known. Read
    `realm` through `realm_settings`, which has a default.
    """

    name: str
    base_url: str
    kind: str = "development"
    realms: tuple[str, ...] = DEVELOPMENT_REALMS
    pace: Pace = Pace()
    accounts: Mapping[str, Account] = field(default_factory=dict, hash=False)
    realm: Mapping[str, RealmSettings] = field(default_factory=dict, hash=False)
    attachments: AttachmentSettings = AttachmentSettings()
    tls: TlsSettings = TlsSettings()
    names: ServiceNames = ServiceNames()
    absent: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def is_sandbox(self) -> bool:
        """Whether this is the embedded sandbox, which ends with the run; a file of that name may describe anything."""
        return self.name == SANDBOX and self.base_url.startswith(_THIS_MACHINE)

    @property
    def in_words(self) -> str:
        """Name and address, as a person reads them."""
        return target_in_words(self.name, self.base_url)

    def realm_settings(self, realm: str) -> RealmSettings:
        """Return the settings of `realm`, all empty when the target has none for it."""
        return self.realm.get(realm, RealmSettings())

    def missing(self, need: str, realm: str = ANY_REALM) -> str | None:
        """Return a message that a need is missing in `realm`, or None; for `any`, one realm must have it."""
        group, _, key = need.partition(".")
        if group == "realm" and key in RealmSettings.__dataclass_fields__:
            realms = self.realms if realm == ANY_REALM else (realm,)
            given = any(getattr(self.realm_settings(name), key) for name in realms)
            where = "<realm>" if realm == ANY_REALM else realm
            return None if given else f"setting realm.{where}.{key} is missing"
        if group == "account" and key in (*ACCOUNT_ROLES, ANONYMOUS):
            reason = f": {self.absent[key]}" if key in self.absent else ""
            known = key == ANONYMOUS or key in self.accounts
            return None if known else f"setting accounts.{key} is missing{reason}"
        if group == "attachments" and key in AttachmentSettings.__dataclass_fields__:
            given = getattr(self.attachments, key) is not None
            return None if given else f"setting attachments.{key} is missing"
        raise SuiteError(f"the need {need!r} names no setting of a target")


_REALM: Final = "Realm"
_COLLECTION: Final = "collection"
COLLECTIONS: Final = ("my", "mydrafts")
#: Tells the header from the query parameter of the same name.
REALM_HEADER: Final = "the header Realm"
BEARER: Final = "Bearer"


class WireNames(dict[str, str]):
    """A target's own names by the documented ones: realms, query parameters, collections, scheme, realm header.

    `headers` and `url` write a request with them.
    """

    @classmethod
    def of(cls, target: Target) -> WireNames:
        """Read the names from a target's settings, `realm.REALM.sent_as` and `[names]`."""
        names = target.names
        alone = {BEARER: names.scheme, REALM_HEADER: names.realm_header}
        alone |= {realm: given.sent_as for realm, given in target.realm.items()}
        return cls(
            {**{name: sent for name, sent in alone.items() if sent}, **names.query, **names.collections}
        )

    def without(self, documented: str) -> WireNames:
        """Return all names but one; a request then has it as the document writes it. An empty name removes none."""
        return WireNames({name: sent for name, sent in self.items() if name != documented})

    def in_words(self) -> str:
        """List each name and what is sent instead, for a sentence."""
        return ", ".join(f"'{sent}' for {documented}" for documented, sent in self.items())

    def headers(self, headers: Mapping[str, str | bytes]) -> dict[str, str | bytes]:
        """Return headers with the target's realm, realm header and token scheme; undocumented values stay."""
        own = self.get(REALM_HEADER)
        return {
            (own if own and name.lower() == _REALM.lower() else name): self._header(name.lower(), value)
            for name, value in headers.items()
        }

    def url(self, url: str, operation: str | None) -> str:
        """Return an address with the target's query parameters, collections and realms; the rest stays."""
        query = urlsplit(url).query
        if not query or operation is None:
            return url
        listed = load_description().operations[operation].query_parameters
        pairs = [self._pair(pair, listed) for pair in query.split("&")]
        return url.replace(f"?{query}", f"?{'&'.join(pairs)}", 1)

    def _header(self, name: str, value: str | bytes) -> str | bytes:
        text = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
        scheme, space, token = text.partition(" ")
        if name == "realm" and text in DEVELOPMENT_REALMS:
            text = self.get(text, text)
        elif name == "authorization" and scheme == BEARER and space:
            text = f"{self.get(BEARER, BEARER)} {token}"
        return text.encode("utf-8", "surrogateescape") if isinstance(value, bytes) else text

    def _pair(self, pair: str, listed: tuple[str, ...]) -> str:
        name, equals, value = pair.partition("=")
        documented, plain = unquote_plus(name), unquote_plus(value)
        if documented not in listed:
            return pair
        values = {_REALM: DEVELOPMENT_REALMS, _COLLECTION: COLLECTIONS}.get(documented, ())
        if plain in values and plain in self:
            value = quote(self[plain])
        if documented in self:
            name = quote(self[documented], safe="$")
        return f"{name}{equals}{value}"


#: Advice for a service that refuses its own tokens.
SCHEME_ADVICE: Final = "if it needs another word than Bearer, set scheme in [names] to judge the rest"


def sent_as_line(realm: str) -> str:
    """Return the setting for a service that writes a realm in capitals."""
    return f'sent_as = "{realm.upper()}" in [realm.{realm}]'
