"""Operations of the interface: name, method and path, parameters, and facts that the description adds."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Literal
from urllib.parse import quote, unquote

import msgspec

from registry_contracts.errors import UsageError

DOCUMENT_REALMS = ("abs-dev", "bch-dev", "chm-dev")
WORKFLOW_REALMS = (*DOCUMENT_REALMS, "ort-dev")
ANY_REALM = "any"
"""The pseudo-realm of operations without realms."""

SIGN_IN = "createToken"
"""The operation that issues tokens."""

_REALMS_OF = {"document": DOCUMENT_REALMS, "workflow": WORKFLOW_REALMS, "none": (ANY_REALM,)}
_FAMILY_OF = {
    "Authentication": "token",
    "Contacts": "contact",
    "Drafts": "draft",
    "Attachments": "attachment",
    "Workflow": "workflow",
}

UID_SHORTEST, UID_LONGEST = 11, 128
"""Bounds of the identifier rule, in characters."""

_VALID_UID = re.compile(r"[A-Za-z0-9_-]{11,128}", re.ASCII)

METHODS = ("get", "head", "post", "put", "patch", "delete", "options", "trace")

PERMANENT_KINDS = frozenset({"contact", "submission"})
"""The kinds of permanent records, which a budget limits; an attachment goes with its document."""

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


class AnswerClauses(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The ids of the clauses that any answer to an operation concerns.

    `status`, `answer` and `refusal` are silent clauses: on the status of a success, on its body, and on a refusal.
    The refusal of a right request contradicts `accepted` or `not_refused`; an acceptance alone passes `accepted`,
    but not `not_refused`.
    """

    status: str
    answer: str
    refusal: str
    accepted: str | None = None
    not_refused: str | None = msgspec.field(default=None, name="not-refused")

    def __post_init__(self) -> None:
        """Refuse a description that names both clauses on right requests, or neither."""
        if (self.accepted is None) is (self.not_refused is None):
            raise ValueError("needs either accepted or not-refused")

    @property
    def right_request(self) -> str:
        """The clause that the refusal of a right request contradicts."""
        return self.accepted or self.not_refused or ""


class Parameter(msgspec.Struct, frozen=True):
    """A parameter of an operation: its place (`path`, `query` or `header`) and its name."""

    place: str = msgspec.field(name="in")
    name: str


class Operation(msgspec.Struct, frozen=True, dict=True, kw_only=True):
    """One method (in capitals) and path of the description, with the facts of the description's extensions.

    `path` is the template below the base URL, `/api/v2013/documents/{uid}`. `stores`, `removes` and `needs` name the
    kind of record that an accepted request adds, takes away, and must find. `assigns_identifier`: the service may
    choose the identifier of the new record. `lists_content_type`: the document lists the header Content-Type.
    """

    id: str = msgspec.field(name="operationId")
    method: str
    path: str
    parameters: tuple[Parameter, ...]
    tags: tuple[Literal["Authentication", "Contacts", "Drafts", "Attachments", "Workflow"]]
    summary: str = ""
    clauses: AnswerClauses = msgspec.field(name="x-clauses")
    known_in: Literal["document", "workflow", "none"] = msgspec.field(name="x-realms")
    protection: bool | Literal["silent"] = msgspec.field(name="x-protected")
    stores: Literal["draft", "contact", "attachment", "submission"] | None = msgspec.field(
        default=None, name="x-stores"
    )
    removes: Literal["draft"] | None = msgspec.field(default=None, name="x-removes")
    needs: Literal["contact", "draft", "document", "attachment", "temporary-file", "record"] | None = (
        msgspec.field(default=None, name="x-needs")
    )
    answers: Literal["json", "list", "file"] = msgspec.field(default="json", name="x-answers")
    assigns_identifier: bool = msgspec.field(default=False, name="x-assigns-identifier")
    lists_content_type: bool = msgspec.field(default=True, name="x-content-type-listed")

    @property
    def realms(self) -> tuple[str, ...]:
        """The development realms that have the operation, or ``("any",)`` for one without realms."""
        return _REALMS_OF[self.known_in]

    @property
    def protected(self) -> bool | None:
        """Whether the document requires a token; ``None`` where it is silent."""
        return None if self.protection == "silent" else self.protection

    @property
    def family(self) -> str:
        """``token``, ``contact``, ``draft``, ``attachment`` or ``workflow``."""
        return _FAMILY_OF[self.tags[0]]

    @cached_property
    def path_parameters(self) -> tuple[str, ...]:
        """Names of the placeholders, in the order of the path."""
        return tuple(_PLACEHOLDER.findall(self.path))

    @cached_property
    def query_parameters(self) -> tuple[str, ...]:
        """Names of the query parameters, in the order of the description."""
        return tuple(each.name for each in self.parameters if each.place == "query")

    @cached_property
    def takes_realm(self) -> bool:
        """Whether the Realm header is listed for the operation."""
        return Parameter("header", "Realm") in self.parameters

    @cached_property
    def _segments(self) -> tuple[str, ...]:
        """The template's segments, cached because every request of a run is matched against them."""
        return segments(self.path)

    @property
    def safe(self) -> bool:
        """Whether the method only reads (GET, HEAD)."""
        return self.method in {"GET", "HEAD"}

    @property
    def permanent(self) -> bool:
        """Whether an accepted request adds something that the interface cannot remove."""
        return self.stores is not None and self.stores != "draft" and self.needs != "contact"

    @property
    def takes_record(self) -> bool:
        """Whether the body is a record, alone or in a submission."""
        return self.stores is not None and self.stores != "attachment"

    @property
    def identifier_parameter(self) -> str | None:
        """The placeholder that holds the identifier of the record or document; None where the path has none."""
        return next((name for name in ("uid", "identifier") if name in self.path_parameters), None)

    def url(self, base_url: str, /, **path_parameters: object) -> str:
        """Build the address of a request, without a query, from the unencoded value of each placeholder.

        Each value becomes one segment: everything but unreserved characters is percent-encoded, and so are ``.`` and
        ``..``, which clients would resolve as steps in the path.

        Raises:
            UsageError: a placeholder has no value, or a value no placeholder.
        """
        for name in sorted(set(self.path_parameters) ^ set(path_parameters)):
            problem = "needs" if name in self.path_parameters else "does not have"
            raise UsageError(
                f"operation {self.id} {problem} the path parameter {name}; its path is {self.path}"
            )
        path = _PLACEHOLDER.sub(lambda match: _quoted(path_parameters[match[1]]), self.path)
        return base_url.rstrip("/") + path

    def match(self, parts: tuple[str, ...]) -> dict[str, str] | None:
        """Return the decoded placeholder values of a raw path's `segments`; None if the path does not match."""
        if len(parts) != len(self._segments):
            return None
        values: dict[str, str] = {}
        for template, part in zip(self._segments, parts, strict=True):
            value = unquote(part, errors="replace")
            if placeholder := _PLACEHOLDER.fullmatch(template):
                if not value:
                    return None
                values[placeholder[1]] = value
            elif value != template:
                return None
        return values


def is_valid_uid(value: object) -> bool:
    """Whether a value keeps the identifier rule: 11 to 128 ASCII letters, digits, hyphens, underscores."""
    return isinstance(value, str) and _VALID_UID.fullmatch(value) is not None


def segments(raw_path: str) -> tuple[str, ...]:
    """Split a raw path at its slashes, without query and fragment; percent-encoding stays."""
    return tuple(raw_path.partition("?")[0].partition("#")[0].split("/"))


def read_operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    """Read the operations of a joined description, in the order of its paths.

    Raises:
        UsageError: an operation's name or extension is missing or unknown.
    """
    for path, item in document["paths"].items():
        for method in METHODS:
            if method not in item:
                continue
            facts = {
                "method": method.upper(),
                "path": path,
                "parameters": parameters_of(document, item, item[method]),
            }
            try:
                yield msgspec.convert({**item[method], **facts}, Operation)
            except msgspec.ValidationError as error:
                raise UsageError(f"{method.upper()} {path}: {error}") from None


def parameters_of(document: Mapping[str, Any], item: Mapping[str, Any], node: Mapping[str, Any]) -> list[Any]:
    """List the parameters of an operation, those of its path first, with references resolved."""
    listed = [*(item.get("parameters") or ()), *(node.get("parameters") or ())]
    return [follow(document, parameter) for parameter in listed]


def follow(document: Mapping[str, Any], node: Any) -> Any:
    """Resolve a reference inside a joined document, and those that it leads to."""
    while isinstance(node, dict) and isinstance(node.get("$ref"), str):
        target: Any = document
        for part in node["$ref"].split("/")[1:]:
            target = target[part.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


def in_realms(realms: Iterable[str]) -> str:
    """Word realms for a sentence: `in abs-dev, bch-dev`; `whatever the realm` for operations without realms."""
    named = list(dict.fromkeys(realms))
    own = ", ".join(realm for realm in named if realm != ANY_REALM)
    everywhere = "whatever the realm" if ANY_REALM in named else ""
    return " and ".join(filter(None, (own and f"in {own}", everywhere)))


def _quoted(value: object) -> str:
    text = str(value)
    if text in {".", ".."}:
        return text.replace(".", "%2E")
    return quote(text, safe="", errors="surrogatepass")
