"""Faults of validation: constraints on fields of contacts and on identifiers, left out or applied wrongly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import CONTACT_VALUES_NOT_SHOWN, load_description
from contracts.sandbox.faults.fault import (
    ACCEPTANCE,
    CONTACTS,
    DRAFTS,
    NAMED_SUBMISSIONS,
    SINGLE,
    STAND_IN,
    Answer,
    Below,
    Family,
    Fault,
    Memory,
    Request,
    answer_json,
    kebab,
)
from contracts.sandbox.faults.samples import CONTACT_FIELDS_SAMPLES, MANDATORY_FIELDS, contact_value

_VALIDATION: Final = Family("validation")
_IDENTITY: Final = Family("identity")


#: Values of another kind, by the kind that they are.
_KINDS: Final[Mapping[str, Callable[[Any], bool]]] = MappingProxyType(
    {
        "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
        "boolean": lambda value: isinstance(value, bool),
        "text": lambda value: isinstance(value, str),
        "array": lambda value: isinstance(value, list),
        "object": lambda value: isinstance(value, dict),
    }
)


async def field_repaired(
    request: Request, below: Below, _: Memory, *, name: str, wrong: Callable[[Any], bool]
) -> Answer | None:
    """A fault of one field is not seen: the service takes the record as if the field were right."""
    record = request.json
    if not isinstance(record, dict) or record.get(name) is None or not wrong(record[name]):
        return None
    return await below(request.with_json({**record, name: contact_value(name, request)}))


async def missing_repaired(request: Request, below: Below, _: Memory, *, name: str) -> Answer | None:
    """A field that is mandatory is not missed where no other is missing."""
    record = request.json
    if not isinstance(record, dict) or set(MANDATORY_FIELDS) - record.keys() != {name}:
        return None
    return await below(request.with_json({**record, name: contact_value(name, request)}))


async def inside_repaired(
    request: Request, below: Below, _: Memory, *, name: str, sample: Any, first: bool
) -> Answer | None:
    """What stands inside a field is not looked at: nothing of it, or nothing behind the first item."""
    record = request.json
    value = record.get(name) if isinstance(record, dict) else None
    if type(value) is not type(sample) or not value:
        return None
    right = contact_value(name, request)
    if isinstance(sample, list):
        kept = value[:1] if first else []
        return await below(request.with_json({**record, name: [*kept, *(sample * (len(value) - len(kept)))]}))
    return await below(request.with_json({**record, name: right}))


async def field_refused(request: Request, below: Below, _: Memory, *, name: str) -> Answer | None:
    """A record with a field is refused whatever the field holds."""
    answer = await below(request)
    record = request.json
    if answer.success and isinstance(record, dict) and name in record:
        return answer_json(400, {"errors": [{"code": "Error.InvalidValue", "property": name}]})
    return answer


async def second_item_refused(request: Request, _below: Below, _: Memory, *, name: str) -> Answer | None:
    """A record whose array holds more than one item is refused."""
    record = request.json
    value = record.get(name) if isinstance(record, dict) else None
    if isinstance(value, list) and len(value) > 1:
        return answer_json(400, {"errors": [{"code": "Error.InvalidValue", "property": name}]})
    return None


def clause_of(operation: str, fault: str) -> str:
    """The clause that speaks of a generated fault."""
    clause = load_catalogue().for_fault(operation, fault)
    assert clause is not None, fault  # noqa: S101 - the catalogue and the description go together
    return clause.id


#: What a refusal of a field breaks beside the clause of a record that holds all of them.
_FULL: Final[Mapping[str, str]] = MappingProxyType(
    {"createContact": "contact-create-full", "updateContact": "contact-update-full"}
)


def validation_faults() -> Iterator[Fault]:
    """Each constraint of each field of a contact, left out, or kept where it must not be."""
    for operation in CONTACTS:
        for name, sample in CONTACT_FIELDS_SAMPLES.items():
            yield from _field_kinds(operation, name, sample, clause_of(operation, f"body.{name}:wrong-kind"))
            mandatory = name in MANDATORY_FIELDS
            if mandatory:
                yield from _VALIDATION.faults(
                    operation,
                    f"{kebab(name)}-not-mandatory",
                    (clause_of(operation, f"body.{name}:missing"),),
                    partial(missing_repaired, name=name),
                    SINGLE,
                )
            refused = ACCEPTANCE[operation] if mandatory else (_FULL[operation],)
            # Nothing reads a contact record, so an organization that is refused may be one that is gone.
            if name not in (*CONTACT_VALUES_NOT_SHOWN, "contactOrganization"):
                yield from _VALIDATION.faults(
                    operation, f"{kebab(name)}-refused", refused, partial(field_refused, name=name), SINGLE
                )
            if isinstance(sample, list):
                yield from _VALIDATION.faults(
                    operation,
                    f"{kebab(name)}-second-item-refused",
                    ("contact-several-items", *refused),
                    partial(second_item_refused, name=name),
                )


_WITHOUT_IDENTIFIER: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "country": ("contact-country-without-identifier",),
        "contactOrganization": ("contact-organization-without-identifier",),
    }
)


def _field_kinds(operation: str, name: str, sample: Any, clause: str) -> Iterator[Fault]:
    right = next(kind for kind, holds in _KINDS.items() if holds(sample))
    for kind, holds in _KINDS.items():
        if kind == right or (kind == "number" and right == "text"):
            continue  # whether a number is read as text is not shown
        # A service may read a number or a boolean as text where text is due.
        yield from _VALIDATION.faults(
            operation,
            f"{kebab(name)}-as-{kind}-taken",
            (clause,),
            partial(field_repaired, name=name, wrong=holds),
            stated=not (right == "text" and kind in ("number", "boolean")),
        )
    yield from _VALIDATION.faults(
        operation,
        f"{kebab(name)}-of-any-kind-taken",
        (clause,),
        partial(field_repaired, name=name, wrong=lambda value: not _KINDS[right](value)),
        SINGLE,
    )
    if isinstance(sample, list | dict):
        yield from _VALIDATION.faults(
            operation,
            f"{kebab(name)}-inside-not-checked",
            (clause, *_WITHOUT_IDENTIFIER.get(name, ())),
            partial(inside_repaired, name=name, sample=sample, first=False),
        )
    if isinstance(sample, list):
        yield from _VALIDATION.faults(
            operation,
            f"{kebab(name)}-first-item-alone-checked",
            (clause,),
            partial(inside_repaired, name=name, sample=sample, first=True),
        )


async def language_keys_unchecked(request: Request, below: Below, _: Memory, *, name: str) -> Answer | None:
    """A key that is no language code is taken in one localised field."""
    record = request.json
    value = record.get(name) if isinstance(record, dict) else None
    if not isinstance(value, dict) or not value or not all(isinstance(text, str) for text in value.values()):
        return None
    return await below(request.with_json({**record, name: {"en": next(iter(value.values()))}}))


async def second_language_refused(request: Request, _below: Below, _: Memory, *, name: str) -> Answer | None:
    """A localised field in more than one language is refused."""
    record = request.json
    value = record.get(name) if isinstance(record, dict) else None
    if isinstance(value, dict) and len(value) > 1:
        return answer_json(400, {"errors": [{"code": "Error.InvalidValue", "property": name}]})
    return None


def language_faults() -> Iterator[Fault]:
    """Localised fields whose language keys are not looked at, or that take one language alone."""
    for operation in CONTACTS:
        for name, sample in CONTACT_FIELDS_SAMPLES.items():
            if sample != {"en": "text"}:
                continue
            for operator, clauses, act in (
                (
                    "language-keys-unchecked",
                    ("contact-language-key-invalid",),
                    language_keys_unchecked,
                ),
                (
                    "second-language-refused",
                    ("contact-several-languages",),
                    second_language_refused,
                ),
            ):
                yield from _VALIDATION.faults(
                    operation, f"{kebab(name)}-{operator}", clauses, partial(act, name=name)
                )


#: Ways in which two identifiers become one.
FOLDINGS: Final[Mapping[str, Callable[[str], str]]] = MappingProxyType(
    {
        "case-folded": str.lower,
        "underscore-as-hyphen": lambda uid: uid.replace("_", "-"),
        "hyphen-as-underscore": lambda uid: uid.replace("-", "_"),
        "hyphens-lost": lambda uid: uid.replace("-", "") if len(uid.replace("-", "")) > 10 else uid,
        "first-20": lambda uid: uid[:20],
        "first-32": lambda uid: uid[:32],
        "first-64": lambda uid: uid[:64],
        "first-100": lambda uid: uid[:100],
        "first-127": lambda uid: uid[:127],
        "trailing-hyphens-lost": lambda uid: uid.rstrip("-") if len(uid.rstrip("-")) > 10 else uid,
        "trailing-underscores-lost": lambda uid: uid.rstrip("_") if len(uid.rstrip("_")) > 10 else uid,
        "hyphens-collapsed": lambda uid: (
            re.sub("-{2,}", "-", uid) if len(re.sub("-{2,}", "-", uid)) > 10 else uid
        ),
    }
)


#: Classes of identifiers inside the rule, by what a careless service may refuse.
VALID_CLASSES: Final[Mapping[str, Callable[[str], bool]]] = MappingProxyType(
    {
        "of-11": lambda uid: len(uid) == 11,
        "of-12": lambda uid: len(uid) == 12,
        "of-127": lambda uid: len(uid) == 127,
        "of-128": lambda uid: len(uid) == 128,
        "over-64": lambda uid: len(uid) > 64,
        "with-hyphen": lambda uid: "-" in uid.strip("-")[3:],
        "ending-in-hyphen": lambda uid: uid.endswith("-"),
        "with-underscore": lambda uid: "_" in uid,
        "with-capitals": lambda uid: uid != uid.lower(),
        "digits-only": str.isdigit,
        "hyphens-only": lambda uid: not uid.strip("-_"),
    }
)


def _holds(characters: str) -> Callable[[str], bool]:
    return lambda uid: any(character in uid for character in characters)


#: Classes of identifiers outside the rule, by what a careless service may let in.
INVALID_CLASSES: Final[Mapping[str, Callable[[str], bool]]] = MappingProxyType(
    {
        "of-10": lambda uid: len(uid) == 10,
        "under-10": lambda uid: 0 < len(uid) < 10,
        "of-129": lambda uid: len(uid) == 129,
        "over-129": lambda uid: len(uid) > 129,
        "with-space": _holds(" "),
        "with-dot": _holds("."),
        "with-bracket": _holds("]"),
        "with-caret": _holds("^"),
        "with-backslash": _holds("\\"),
        "with-other-sign": _holds("!$&'()*+,;=:@~#%?<>|\"`{}["),
        "with-slash": _holds("/"),
        "with-letter-beyond-ascii": lambda uid: any(c.isalpha() and not c.isascii() for c in uid),
        "with-digit-beyond-ascii": lambda uid: any(c.isdigit() and not c.isascii() for c in uid),
        "ending-in-newline": lambda uid: uid.endswith(("\n", "\r")),
    }
)


async def identifier_folded(
    request: Request, below: Below, _: Memory, *, fold: Callable[[str], str]
) -> Answer | None:
    """The service takes one identifier for another."""
    folded = fold(request.uid)
    return None if folded == request.uid or not request.uid else await below(request.with_uid(folded))


async def identifier_refused(
    request: Request, _below: Below, _: Memory, *, holds: Callable[[str], bool]
) -> Answer | None:
    """The service refuses identifiers of a class."""
    return answer_json(400, {"message": "the identifier is invalid"}) if holds(request.uid) else None


async def identifier_taken(
    request: Request, below: Below, _: Memory, *, holds: Callable[[str], bool]
) -> Answer | None:
    """The service takes identifiers of a class outside the rule for good ones."""
    if not holds(request.uid):
        return None
    answer = await below(request.with_uid(STAND_IN))
    refused_otherwise = answer.status in (401, 403) or (
        isinstance(answer.json, dict) and answer.json.get("errors")
    )
    if answer.success or refused_otherwise:
        return answer
    return answer_json(200, [] if request.operation.id == "listAttachments" else {"identifier": request.uid})


#: An identifier that looks like any other.
_ORDINARY: Final = "rc-a1b2c3d4-e5f6g7h8i9j0"


def identifier_faults() -> Iterator[Fault]:
    """Identifiers that are taken for another, refused although they keep the rule, or taken although they break it."""
    fold_clauses = {
        "case-folded": ("uid-case-sensitive",),
        "underscore-as-hyphen": ("uid-underscore", "draft-save-spares-others", "uid-hyphens-only"),
        "hyphen-as-underscore": ("uid-hyphen", "draft-save-spares-others", "uid-hyphens-only"),
    }
    for operator, fold in FOLDINGS.items():
        clauses = fold_clauses.get(
            operator, ("draft-save-spares-others", "uid-hyphen", "uid-underscore", "uid-longest")
        )
        groups: Mapping[str, tuple[str, ...]] = {
            "drafts": DRAFTS,
            "deleteDraft": ("deleteDraft",),
            "attachments": tuple(o.id for o in load_description().operations.values() if "ttachment" in o.id),
            "submissions": NAMED_SUBMISSIONS,
        }
        extra = {
            "drafts": clauses,
            "deleteDraft": ("draft-delete-spares-others", *clauses),
            # The files of a document are looked for under another uid: there is none, or it is another document's.
            "attachments": (
                "attachment-list-own-only",
                "attachment-create-accepted",
                "attachment-create-listed",
                "uid-files-case-sensitive",
                "uid-files-at-the-edges",
                *clauses,
            ),
            "submissions": (
                "workflow-create-with-identifier-accepted",
                "workflow-identifier-kept",
                "workflow-identifier-case-sensitive",
                *clauses,
            ),
        }
        for label, operations in groups.items():
            # That the identifier rule goes for records too, with all its signs and lengths, is a reading.
            yield from _IDENTITY.faults(
                operations,
                operator,
                extra[label],
                partial(identifier_folded, fold=fold),
                label=label,
                stated=label != "submissions" or fold(_ORDINARY) != _ORDINARY,
            )
    yield from _valid_classes()
    yield from _invalid_classes()


_VALID_CLAUSES: Final = {
    "of-11": "uid-shortest",
    "of-12": "uid-shortest",
    "of-127": "uid-longest",
    "of-128": "uid-longest",
    "over-64": "uid-longest",
    "with-hyphen": "uid-hyphen",
    "ending-in-hyphen": "uid-hyphen",
    "with-underscore": "uid-underscore",
    "with-capitals": "uid-case-sensitive",
    "digits-only": "uid-digits-only",
    "hyphens-only": "uid-hyphens-only",
}


def _valid_classes() -> Iterator[Fault]:
    of_any_kind = load_catalogue().clause("uid-any-kind")
    for operator, holds in VALID_CLASSES.items():
        clause = _VALID_CLAUSES[operator]
        for operation in ("saveDraft", "getDraft", "draftExists", "deleteDraft"):
            others = (of_any_kind.id,) if operation in of_any_kind.operations else ()
            yield from _IDENTITY.faults(
                operation,
                f"{operator}-refused",
                (clause, *ACCEPTANCE[operation]) if operator == "with-hyphen" else (clause, *others),
                partial(identifier_refused, holds=holds),
                SINGLE,
            )


#: What the pattern may be read to allow; the rule in words does not, which makes a should of it.
_MISREAD: Final = "uid-misread-range"
_INVALID_CLAUSES: Final = {
    "of-10": "uid-too-short",
    "under-10": "uid-too-short",
    "of-129": "uid-too-long",
    "over-129": "uid-too-long",
    "with-bracket": _MISREAD,
    "with-caret": _MISREAD,
    "with-backslash": _MISREAD,
    "with-letter-beyond-ascii": "uid-non-ascii",
    "with-digit-beyond-ascii": "uid-non-ascii",
    "ending-in-newline": "uid-trailing-newline",
}


def _invalid_classes() -> Iterator[Fault]:
    catalogue = load_catalogue()
    for operator, holds in INVALID_CLASSES.items():
        near = _INVALID_CLAUSES.get(operator, "uid-forbidden-characters")
        for operation in load_description().operations.values():
            if "uid" not in operation.path_parameters:
                continue
            clauses = [
                c
                for c in ((near,) if near == _MISREAD else (near, "uid-forbidden-characters"))
                if operation.id in catalogue.clause(c).operations
            ]
            if clauses:
                yield from _IDENTITY.faults(
                    operation.id,
                    f"{operator}-taken",
                    tuple(dict.fromkeys(clauses)),
                    partial(identifier_taken, holds=holds),
                    SINGLE if operation.takes_realm else ("always",),
                )
