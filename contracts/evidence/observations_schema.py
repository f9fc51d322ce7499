"""Shapes of answers as JSON Schema, inferred by GenSON, with the form of a text where every sample has it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import jsonschema_rs
from genson import SchemaBuilder  # type: ignore[import-untyped]
from genson.schema.strategies import String  # type: ignore[import-untyped]


def infer(samples: Iterable[Any]) -> dict[str, Any]:
    """Infer a JSON Schema (draft 2020-12 and earlier read it alike) that every sample fits.

    Args:
        samples: JSON values; at least one. Values leave no trace but their kind and, for texts, their form.

    Returns:
        The schema, members in alphabetical order, the same for any order of the samples.
    """
    builder = _Builder(schema_uri=None)
    for sample in samples:
        builder.add_object(sample)
    schema: dict[str, Any] = _ordered(builder.to_schema())
    return schema


def form_of(text: str) -> str | None:
    """Return the form of a text: `date-time`, `date`, `uuid`, `email`, `uri`, or None for any other."""
    return next((name for name, has in _forms() if has(text)), None)


class _Formed(String):  # type: ignore[misc]
    """Texts of one form; texts of several forms, or of none, stand beside each other as alternatives."""

    KEYWORDS = ("type", "format")
    FORM: str

    @classmethod
    def match_schema(cls, schema: dict[str, Any]) -> bool:
        return schema.get("type") == "string" and schema.get("format") == cls.FORM

    @classmethod
    def match_object(cls, obj: Any) -> bool:
        return isinstance(obj, str) and form_of(obj) == cls.FORM

    def to_schema(self) -> dict[str, Any]:
        return {"type": "string", "format": self.FORM}


class _Plain(String):  # type: ignore[misc]
    """Texts of no form that is told apart."""

    @classmethod
    def match_object(cls, obj: Any) -> bool:
        return isinstance(obj, str) and form_of(obj) is None


_FORMS = ("date-time", "date", "uuid", "email", "uri")


class _Builder(SchemaBuilder):  # type: ignore[misc]
    EXTRA_STRATEGIES = (
        *(type(f"_{name}", (_Formed,), {"FORM": name}) for name in _FORMS),
        _Plain,
    )


@cache
def _forms() -> tuple[tuple[str, Callable[[str], bool]], ...]:
    return tuple((name, _checker(name)) for name in _FORMS)


def _checker(name: str) -> Callable[[str], bool]:
    has = jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True).is_valid
    if name == "uri":
        # Any word before a colon is a scheme; only addresses are meant.
        return lambda text: text.startswith(("http://", "https://")) and has(text)
    return has


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        # Alternatives and required members are sets; their order says nothing.
        return sorted((_ordered(item) for item in value), key=json.dumps)
    return value
