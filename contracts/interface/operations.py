"""Operations of the interface: name, method and path, parameters, and facts that the description adds."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

from contracts.errors import UsageError

DOCUMENT_REALMS = ("abs-dev", "bch-dev", "chm-dev")
WORKFLOW_REALMS = (*DOCUMENT_REALMS, "ort-dev")
ANY_REALM = "any"
"""The pseudo-realm of operations that know no realm."""

REALMS_OF = {"document": DOCUMENT_REALMS, "workflow": WORKFLOW_REALMS, "none": (ANY_REALM,)}
"""Development realms by the value of ``x-realms``."""

UID_SHORTEST, UID_LONGEST = 11, 128
"""Bounds of the identifier rule, in characters."""

VALID_UID = re.compile(r"[A-Za-z0-9_-]{11,128}", re.ASCII)

METHODS = ("get", "head", "post", "put", "patch", "delete", "options", "trace")
_PROTECTED: Mapping[object, bool | None] = {True: True, False: False, "silent": None}

PERMANENT_KINDS = frozenset({"contact", "submission"})
"""What an operation can store for good and a budget limits; an attachment goes with its document."""

_FAMILY_OF = {
    "Authentication": "token",
    "Contacts": "contact",
    "Drafts": "draft",
    "Attachments": "attachment",
    "Workflow": "workflow",
}
"""Family of an operation by its tag in the description."""

_STORES = "x-stores"
_REMOVES = "x-removes"
_NEEDS = "x-needs"
_ANSWERS = "x-answers"
_ASSIGNS_IDENTIFIER = "x-assigns-identifier"
_LISTS_CONTENT_TYPE = "x-content-type-listed"
_CLAUSES = "x-clauses"
_WORDS = {
    _STORES: ("draft", "contact", "attachment", "submission"),
    _REMOVES: ("draft",),
    _NEEDS: ("contact", "draft", "document", "attachment", "temporary-file", "record"),
    _ANSWERS: ("json", "list", "file"),
    _ASSIGNS_IDENTIFIER: (True, False),
    _LISTS_CONTENT_TYPE: (True, False),
}
"""What the optional extensions of an operation may say."""
_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True)
class AnswerClauses:
    """Clauses of the catalogue about what any answer to an operation says.

    Args:
        right_request: what a refusal of a right request contradicts.
        shown_by_acceptance: whether the acceptance of a right request alone shows that it holds.
        status: the silent clause about the status of a success.
        answer: the silent clause about the body of a success.
        refusal: the silent clause about a refusal.

    """

    right_request: str
    shown_by_acceptance: bool
    status: str
    answer: str
    refusal: str


@dataclass(frozen=True)
class Operation:
    """One method and path of the description.

    Args:
        id: the ``operationId``.
        method: the method in capitals.
        path: the path template below the base URL, for example ``/api/v2013/documents/{uid}``.
        realms: development realms that have the operation, or ``("any",)`` when it knows no realm.
        protected: whether the document asks for a token; ``None`` where it is silent.
        path_parameters: names of the placeholders, in the order of the path.
        query_parameters: names of the query parameters, in the order of the description.
        takes_realm: whether the Realm header is listed for the operation.
        summary: one line for people.
        family: ``token``, ``contact``, ``draft``, ``attachment`` or ``workflow``.
        clauses: the clauses about what its answers say.
        stores: what an accepted request leaves: ``draft``, ``contact``, ``attachment`` or ``submission``.
        removes: what an accepted request takes away: ``draft``.
        needs: what must exist before: ``contact``, ``draft``, ``document``, ``attachment``, ``temporary-file`` or
            ``record``.
        answers: what the success is about: a JSON value (``json``), a ``list`` or the bytes of a ``file``.
        assigns_identifier: whether the service may choose the identifier of what is stored.
        lists_content_type: whether the document lists the header Content-Type for the operation.

    """

    id: str
    method: str
    path: str
    realms: tuple[str, ...]
    protected: bool | None
    path_parameters: tuple[str, ...]
    query_parameters: tuple[str, ...]
    takes_realm: bool
    summary: str
    family: str
    clauses: AnswerClauses
    stores: str | None = None
    removes: str | None = None
    needs: str | None = None
    answers: str = "json"
    assigns_identifier: bool = False
    lists_content_type: bool = True
    _segments: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Cut the template into its segments once, since every request of a run is matched against it."""
        object.__setattr__(self, "_segments", segments(self.path))

    @property
    def safe(self) -> bool:
        """Whether the method only reads (GET, HEAD)."""
        return self.method in {"GET", "HEAD"}

    @property
    def permanent(self) -> bool:
        """Whether an accepted request adds something that the interface gives no means to remove."""
        return self.stores is not None and self.stores != "draft" and self.needs != "contact"

    @property
    def takes_record(self) -> bool:
        """Whether the body is a record, alone or in a submission."""
        return self.stores is not None and self.stores != "attachment"

    @property
    def identifier_parameter(self) -> str | None:
        """The placeholder that holds the identifier of the record or document; None where the path has none."""
        return next((name for name in ("uid", "identifier") if name in self.path_parameters), None)

    @property
    def names_new(self) -> bool:
        """Whether the path holds an identifier of what need not exist before."""
        return self.identifier_parameter is not None and self.needs is None

    @property
    def rank(self) -> tuple[bool, ...]:
        """Sort key by which a literal segment comes before a placeholder at the same place."""
        return tuple(_PLACEHOLDER.fullmatch(part) is not None for part in self._segments)

    def url(self, base_url: str, /, **path_parameters: object) -> str:
        """Build the address of one request.

        Every value becomes exactly one segment: everything but unreserved characters is percent-encoded, and
        a value of ``.`` or ``..`` too, which a client would otherwise take for a step in the path.

        Args:
            base_url: base URL of the target, with or without a closing slash.
            **path_parameters: one value for each placeholder, not encoded; anything ``str`` can show.

        Returns:
            The address without a query.

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
        """Compare the template with the segments of a raw path.

        Args:
            parts: segments as :func:`segments` cuts them, still percent-encoded.

        Returns:
            The decoded value of each placeholder, or ``None`` when the path is another one.

        """
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
    return isinstance(value, str) and VALID_UID.fullmatch(value) is not None


def segments(raw_path: str) -> tuple[str, ...]:
    """Cut a raw path at its slashes; a query or fragment behind it is left out, percent-encoding stays."""
    return tuple(raw_path.partition("?")[0].partition("#")[0].split("/"))


def read_operations(document: Mapping[str, Any], origins: Mapping[str, str]) -> Iterator[Operation]:
    """Read the operations of a joined description.

    Args:
        document: the joined OpenAPI document.
        origins: the file each path was written in, by path; named in error messages.

    Yields:
        The operations in the order of the paths.

    Raises:
        UsageError: an operation lacks its name or an extension the suite needs, says it twice or in unknown
            words, or its placeholders and path parameters differ.

    """
    seen: dict[str, str] = {}
    for path, item in document["paths"].items():
        file = origins.get(path, path)
        if not isinstance(item, dict):
            raise UsageError(f"{file}: {path} is not a mapping; write its operations below it")
        for method in METHODS:
            if method in item:
                operation = _operation(document, path, method, f"{file}: {method.upper()} {path}")
                if operation.id in seen:
                    raise UsageError(
                        f"{file}: {method.upper()} {path} has the operationId {operation.id}, "
                        f"which {seen[operation.id]} has too; give one of them another"
                    )
                seen[operation.id] = f"{operation.method} {path}"
                yield operation


def _operation(document: Mapping[str, Any], path: str, method: str, shown: str) -> Operation:
    item = document["paths"][path]
    node = item[method]
    if not isinstance(node, dict):
        raise UsageError(f"{shown} is not a mapping; write the operation below it")
    name = node.get("operationId")
    if not isinstance(name, str) or not name:
        raise UsageError(f"{shown} has no operationId; give it one")
    realms = REALMS_OF.get(str(node.get("x-realms")))
    if realms is None:
        raise UsageError(f"{shown} needs x-realms: one of {', '.join(REALMS_OF)}")
    if node.get("x-protected") not in list(_PROTECTED):
        raise UsageError(f"{shown} needs x-protected: one of true, false, silent")
    facts = {name: _extension(node, name, words, shown) for name, words in _WORDS.items() if name in node}
    parameters = [_place(parameter, shown) for parameter in parameters_of(document, item, node)]
    return Operation(
        id=name,
        method=method.upper(),
        path=path,
        realms=realms,
        protected=_PROTECTED[node["x-protected"]],
        path_parameters=_placeholders(path, parameters, shown),
        query_parameters=tuple(called for place, called in parameters if place == "query"),
        takes_realm=("header", "Realm") in parameters,
        summary=str(node.get("summary", "")),
        family=_family(node, shown),
        clauses=_clauses(node, shown),
        stores=facts.get(_STORES),
        removes=facts.get(_REMOVES),
        needs=facts.get(_NEEDS),
        answers=facts.get(_ANSWERS, "json"),
        assigns_identifier=facts.get(_ASSIGNS_IDENTIFIER, False),
        lists_content_type=facts.get(_LISTS_CONTENT_TYPE, True),
    )


def _extension(node: Mapping[str, Any], name: str, words: tuple[object, ...], shown: str) -> Any:
    if not any(node[name] is word or (isinstance(word, str) and node[name] == word) for word in words):
        raise UsageError(f"{shown}: {name} is one of {', '.join(str(word).lower() for word in words)}")
    return node[name]


def _clauses(node: Mapping[str, Any], shown: str) -> AnswerClauses:
    named = node.get(_CLAUSES)
    right = "accepted" if isinstance(named, dict) and "accepted" in named else "not-refused"
    words = (right, "status", "answer", "refusal")
    if not isinstance(named, dict) or named.keys() != set(words):
        raise UsageError(f"{shown} needs {_CLAUSES} with accepted or not-refused, status, answer and refusal")
    return AnswerClauses(named[right], right == "accepted", *(str(named[word]) for word in words[1:]))


def _family(node: Mapping[str, Any], shown: str) -> str:
    tags = node.get("tags")
    if not isinstance(tags, list) or len(tags) != 1 or tags[0] not in _FAMILY_OF:
        raise UsageError(f"{shown} needs one tag: one of {', '.join(_FAMILY_OF)}")
    return _FAMILY_OF[tags[0]]


def _place(parameter: object, shown: str) -> tuple[str, str]:
    if not isinstance(parameter, dict) or not {"in", "name"} <= parameter.keys():
        raise UsageError(f"{shown} has a parameter without 'in' or 'name'; say both")
    return str(parameter["in"]), str(parameter["name"])


def _placeholders(path: str, parameters: list[tuple[str, str]], shown: str) -> tuple[str, ...]:
    placeholders = tuple(_PLACEHOLDER.findall(path))
    described = {name for place, name in parameters if place == "path"}
    if described != set(placeholders):
        odd = ", ".join(sorted(described ^ set(placeholders)))
        raise UsageError(f"{shown}: path and path parameters differ in {odd}; describe each placeholder once")
    return placeholders


def parameters_of(document: Mapping[str, Any], item: Mapping[str, Any], node: Mapping[str, Any]) -> list[Any]:
    """List the parameters of an operation, those of its path first, with references followed."""
    listed = [*(item.get("parameters") or ()), *(node.get("parameters") or ())]
    return [follow(document, parameter) for parameter in listed]


def follow(document: Mapping[str, Any], node: Any) -> Any:
    """Follow a reference inside a joined document until something that is not one."""
    while isinstance(node, dict) and isinstance(node.get("$ref"), str):
        target: Any = document
        for part in node["$ref"].split("/")[1:]:
            target = target[part.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


def in_realms(realms: Iterable[str]) -> str:
    """Say in which realms something is so; of an operation that knows none, that it is so whatever the realm."""
    named = list(dict.fromkeys(realms))
    words = (
        [f"in {', '.join(realm for realm in named if realm != ANY_REALM)}"]
        if set(named) - {ANY_REALM}
        else []
    )
    return " and ".join([*words, *(["whatever the realm"] if ANY_REALM in named else [])])


def _quoted(value: object) -> str:
    text = str(value)
    if text in {".", ".."}:
        return text.replace(".", "%2E")
    return quote(text, safe="", errors="surrogatepass")
