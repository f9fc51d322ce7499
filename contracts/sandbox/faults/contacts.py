"""Faults of contacts: each constraint of each field left out, or kept where it must not be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from contracts.interface.description import load_description
from contracts.sandbox.faults.fault import (
    ACCEPTANCE,
    CONTACTS,
    SINGLE,
    Fault,
    claimable_clauses,
    kebab,
    under,
)
from contracts.sandbox.faults.injection import MISSING, Answer, Below, Memory, Request, answer_json


def _contact_samples() -> dict[str, Any]:
    """A value of the right kind for each field of a contact, by the description of the contact record."""
    schemas = load_description().bundle["components"]["schemas"]
    return {name: _sample(schema, schemas) for name, schema in schemas["Contact"]["properties"].items()}


def _sample(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Any:
    name = str(schema.get("$ref", "")).rsplit("/", 1)[-1]
    if name == "LString":
        return {"en": "text"}
    if name == "Header":
        return {"languages": ["en"]}
    if name == "Link":
        return {"url": "https://example.test/"}
    if name in ("Term", "Reference"):
        return {"identifier": {"Term": "ca", "Reference": "organization-abs-dev"}[name]}
    return [_sample(schema["items"], schemas)] if schema.get("type") == "array" else "text"


CONTACT_FIELDS_SAMPLES: Final = _contact_samples()


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


def is_missing(value: Any) -> bool:
    """Whether a field is absent; a null is not."""
    return value is MISSING


async def field_repaired(
    request: Request, below: Below, _: Memory, *, name: str, sample: Any, wrong: Callable[[Any], bool]
) -> Answer | None:
    """A fault of one field is not seen: the service takes the record as if the field were right."""
    record = request.json
    if not isinstance(record, dict) or not record or not wrong(record.get(name, MISSING)):
        return None
    if record.get(name, MISSING) is None:
        return None
    return await below(request.with_json({**record, name: _right(name, sample, request)}))


def _right(name: str, sample: Any, request: Request) -> Any:
    if name == "contactOrganization":
        return {"identifier": f"organization-{request.realm}"}
    if name == "header" and request.uid:
        return {**sample, "identifier": request.uid, "schema": "contact"}
    return sample


async def inside_repaired(
    request: Request, below: Below, _: Memory, *, name: str, sample: Any, first: bool
) -> Answer | None:
    """What stands inside a field is not looked at: nothing of it, or nothing behind the first item."""
    record = request.json
    value = record.get(name) if isinstance(record, dict) else None
    if type(value) is not type(sample) or not value:
        return None
    right = _right(name, sample, request)
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


def validation_faults() -> Iterator[Fault]:
    """Each constraint of each field of a contact, left out, or kept where it must not be."""
    for operation in CONTACTS:
        for name, sample in CONTACT_FIELDS_SAMPLES.items():
            clause = f"contact-kind-{kebab(name)}"
            yield from _field_kinds(operation, name, sample, clause)
            mandatory = f"contact-mandatory-{kebab(name)}"
            if mandatory in claimable_clauses():
                yield from under(
                    SINGLE,
                    family="validation",
                    operations=(operation,),
                    operator=f"{kebab(name)}-not-mandatory",
                    clauses=(mandatory, "contact-all-missing-named"),
                    inject=partial(field_repaired, name=name, sample=sample, wrong=is_missing),
                )
            refused = tuple(
                c for c in ACCEPTANCE[operation] if mandatory in claimable_clauses() or c.endswith("full")
            )
            yield from under(
                SINGLE,
                family="validation",
                operations=(operation,),
                operator=f"{kebab(name)}-refused",
                clauses=refused,
                inject=partial(field_refused, name=name),
            )
            if isinstance(sample, list):
                yield from under(
                    ("always",),
                    family="validation",
                    operations=(operation,),
                    operator=f"{kebab(name)}-second-item-refused",
                    clauses=("contact-several-items", *refused),
                    inject=partial(second_item_refused, name=name),
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
        yield from under(
            ("always",),
            family="validation",
            operations=(operation,),
            operator=f"{kebab(name)}-as-{kind}-taken",
            clauses=(clause,),
            # A service may read a number or a boolean as text where text is due.
            stated=not (right == "text" and kind in ("number", "boolean")),
            inject=partial(field_repaired, name=name, sample=sample, wrong=holds),
        )
    yield from under(
        SINGLE,
        family="validation",
        operations=(operation,),
        operator=f"{kebab(name)}-of-any-kind-taken",
        clauses=(clause,),
        inject=partial(
            field_repaired, name=name, sample=sample, wrong=lambda value: not _KINDS[right](value)
        ),
    )
    if isinstance(sample, list | dict):
        yield from under(
            ("always",),
            family="validation",
            operations=(operation,),
            operator=f"{kebab(name)}-inside-not-checked",
            clauses=(clause, *_WITHOUT_IDENTIFIER.get(name, ())),
            inject=partial(inside_repaired, name=name, sample=sample, first=False),
        )
    if isinstance(sample, list):
        yield from under(
            ("always",),
            family="validation",
            operations=(operation,),
            operator=f"{kebab(name)}-first-item-alone-checked",
            clauses=(clause,),
            inject=partial(inside_repaired, name=name, sample=sample, first=True),
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
                yield from under(
                    ("always",),
                    family="validation",
                    operations=(operation,),
                    operator=f"{kebab(name)}-{operator}",
                    clauses=clauses,
                    inject=partial(act, name=name),
                )
