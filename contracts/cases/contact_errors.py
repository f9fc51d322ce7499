"""How a contact operation tells what is wrong with a record: the errors array of a refusal, its elements and codes.

One fault, one finding (design 4.5): an operation that validates nothing, or reports without an errors array, is a
finding on the clause about that, and not on the clause of each of the 26 fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final

from contracts.cases.sample_records import CONTACT_FIELDS, MANDATORY_FIELDS
from contracts.checks import errors_array
from contracts.checks.claims import Claim, Expect
from contracts.checks.outcomes import Blocked, usable
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange

_ARRAY, _SHAPE, _KNOWN = "errors-array", "errors-element-shape", "errors-code-known"
_MANDATORY, _NAMED = "errors-code-mandatory", "errors-property-names-field"
#: The code that a whole field of another kind, a field that is not documented, and a language that is none give.
_CODES: Final = {
    "wrong-kind": ("errors-code-invalid-type", errors_array.INVALID_TYPE),
    "unknown-property": ("errors-code-invalid-property", errors_array.INVALID_PROPERTY),
    "pattern": ("errors-code-unspecified-locale", errors_array.UNSPECIFIED_LOCALE),
}
TOLD_CLAUSES: Final = (_ARRAY, _SHAPE, _KNOWN, _MANDATORY, _NAMED, *(clause for clause, _ in _CODES.values()))
#: Kinds of fields without members of their own that may be required.
_SIMPLE: Final = frozenset({"string", "lstring", "array of string"})
#: Codes that say of a field something else than that its value is none of the allowed ones.
_NOT_ABOUT_VALUES: Final = frozenset(
    {errors_array.MANDATORY, errors_array.INVALID_PROPERTY, errors_array.INVALID_TYPE}
)


@dataclass(frozen=True)
class Reporting:
    """What an operation did with a few records that lack mandatory fields.

    Attributes:
        refuses: It refused at least one.
        arrays: At least one refusal held an errors array.
        names: At least one errors array named the missing field with `Error.Mandatory`.
        takes: The record that lacks nothing is taken, so that a refusal is about what is wrong with one.
        made_up: Fields of records whose allowed values neither the document nor the settings show.
    """

    refuses: bool
    arrays: bool
    names: bool
    takes: bool
    made_up: tuple[str, ...] = ()

    def claim_told(self, expect: Expect, clause: str, exchange: Exchange, field: str, key: str) -> None:
        """Claim that a record with one fault was refused, and that its errors tell the fault.

        Args:
            clause: Rules the fault out.
            field: What is wrong.
            key: The fault in the catalogue's notation.

        Raises:
            Contradiction: a must was contradicted; the clause on errors arrays, or on `Error.Mandatory`, where the
                operation never meets it.
            Blocked: nothing tells what the record was refused for.
        """
        kind, operation = key.rpartition(":")[2], exchange.operation or ""
        blamed = clause if self._is_usual(exchange, field) else _ARRAY
        expect(blamed, operation).content_refused(exchange)
        if not readers.errors(usable(exchange)):
            return
        expect(_SHAPE, operation).meets("error-elements", exchange)
        expect(_KNOWN, operation).meets("error-codes", exchange)
        if self._another_first(exchange, field):
            if kind == "missing":
                raise _blocked(
                    exchange, "refuses values that are not shown, and may tell one fault at a time"
                )
            return
        whole = key in (f"body.{field}:{kind}", f"body:{kind}")
        if clause.startswith("contact-mandatory-") and kind == "missing":
            own = clause if self.names else _MANDATORY
            expect(own, operation).reports(exchange, errors_array.MANDATORY, field)
            self._claim_no_other_missing(expect(_MANDATORY, operation), exchange, field)
        elif kind in _CODES and (whole or kind == "pattern"):
            code_clause, code = _CODES[kind]
            claim_code(expect(code_clause, operation), exchange, code)
            claim_named(expect(_NAMED, operation), exchange, field)
            self._claim_not_missing(expect(_MANDATORY, operation), exchange, field)

    def claim_refused(self, claim: Claim, exchange: Exchange, field: str) -> None:
        """Claim that a record was refused with an errors array for what is wrong with a field.

        Raises:
            Blocked: the operation never does so; the clause on errors arrays holds that finding.
        """
        if not self._is_usual(exchange, field):
            raise _blocked(exchange, "takes faulty records, or tells none in an errors array")
        claim.content_refused(exchange)

    def claim_some_mandatory(self, claim: Claim, exchange: Exchange) -> None:
        """Claim that a record without any field was refused, with `Error.Mandatory` at least once.

        Raises:
            Blocked: the operation gives no errors array, or never that code; another clause holds that finding.
        """
        claim.turned_down(exchange)
        tells = self.arrays or bool(readers.errors(exchange.answer))
        if not (tells and (self.names or errors_array.holds_code(exchange.answer, errors_array.MANDATORY))):
            raise _blocked(exchange, f"never tells a missing field with {errors_array.MANDATORY}")
        claim_code(claim, exchange, errors_array.MANDATORY)

    def _is_usual(self, exchange: Exchange, field: str) -> bool:
        """Whether the operation refuses other records as this one should be, and tells so in an errors array.

        Raises:
            Blocked: it refuses the record that lacks nothing as well, and does not name the field.
        """
        answer = usable(exchange)
        if not errors_array.turned_down(answer):
            return self.refuses
        if not self.takes and not errors_array.reports(answer, field):
            raise _blocked(exchange, f"refuses records that lack nothing too, and names no {field}")
        return self.arrays or bool(readers.errors(answer))

    def _claim_no_other_missing(self, claim: Claim, exchange: Exchange, field: str) -> None:
        """Claim that no mandatory field that is there is called missing; a made-up value may count as none."""
        filled = {*MANDATORY_FIELDS} - {field, *self.made_up}
        missed = [name for name in sorted(filled) if _called_missing(exchange, name, field)]
        claim.holds(
            not missed, exchange, expected=f"{errors_array.MANDATORY} for {field} alone", seen=_seen(exchange)
        )

    def _another_first(self, exchange: Exchange, field: str) -> bool:
        """Whether nothing is told of a field: no element can be read, or a made-up value may have been told first."""
        answer = usable(exchange)
        if not list(errors_array.elements(answer)):
            return True
        return refused_for(exchange, self.made_up) and not errors_array.reports(answer, field)

    def _claim_not_missing(self, claim: Claim, exchange: Exchange, field: str) -> None:
        """Claim that an optional field which is there is not called missing, whatever else is wrong with it."""
        if field in MANDATORY_FIELDS or CONTACT_FIELDS.get(field) not in _SIMPLE:
            return
        elements, missing = errors_array.elements(usable(exchange)), errors_array.MANDATORY
        missed = any(code == missing and errors_array.is_field(path, field) for code, path in elements)
        expected = f"another code than {missing} for {field}, which is optional and there"
        claim.holds(not missed, exchange, expected=expected, seen=_seen(exchange))


def _called_missing(exchange: Exchange, name: str, field: str) -> bool:
    return any(
        code == errors_array.MANDATORY
        and errors_array.names_field(path, name)
        and not errors_array.names_field(path, field)
        for code, path in errors_array.elements(exchange.answer)
    )


def read_reporting(probes: Mapping[str, Exchange], made_up: tuple[str, ...], *, takes: bool) -> Reporting:
    """Read how an operation reports from a few probes.

    Args:
        probes: The answer to a record that lacks nothing but the field it is keyed by.
    """
    answers = {field: usable(exchange) for field, exchange in probes.items()}
    return Reporting(
        refuses=any(errors_array.turned_down(answer) for answer in answers.values()),
        arrays=any(readers.errors(answer) for answer in answers.values()),
        names=any(
            errors_array.reports(answer, field, errors_array.MANDATORY) for field, answer in answers.items()
        ),
        takes=takes,
        made_up=made_up,
    )


def claim_code(claim: Claim, exchange: Exchange, code: str) -> None:
    """Claim that a refusal holds a code, whatever property it names."""
    holds = errors_array.holds_code(usable(exchange), code)
    claim.holds(holds, exchange, expected=f"an element with {code}", seen=_seen(exchange))


def claim_named(claim: Claim, exchange: Exchange, field: str) -> None:
    """Claim that a refusal names the field it is about."""
    names = errors_array.reports(usable(exchange), field)
    claim.holds(names, exchange, expected=f"an element that names {field}", seen=_seen(exchange))


def refused_for(exchange: Exchange, fields: Sequence[str], codes: Set[str] | None = None) -> bool:
    """Whether each error is of one of some fields, with one of some codes or else any that may be about a value."""
    elements = list(errors_array.elements(usable(exchange)))
    return bool(elements) and all(
        (code not in _NOT_ABOUT_VALUES if codes is None else code in codes)
        and any(errors_array.names_field(path, field) for field in fields)
        for code, path in elements
    )


def _seen(exchange: Exchange) -> str:
    elements = list(errors_array.elements(exchange.answer))[:5]
    return ", ".join(f"{code} for {path!r}" for code, path in elements) or exchange.answer.quote()


def _blocked(exchange: Exchange, cause: str) -> Blocked:
    return Blocked(exchange.operation or exchange.method, cause)
