"""How defects change what the validator finds in a contact."""

from collections.abc import Callable, Iterable
from typing import Any

from contracts.sandbox.defects.altering import alter
from contracts.sandbox.record_types import CONTACT, Field
from contracts.sandbox.refusals import Fault
from contracts.sandbox.service import Service
from contracts.sandbox.validation import Expectation

Meant = Callable[[Expectation], bool]


def of_contact(expectation: Expectation) -> bool:
    """Tell whether a contact is validated."""
    return expectation.kind.name == CONTACT.name


def creating(expectation: Expectation) -> bool:
    """Tell whether a contact is validated that is to be created: its path names no identifier."""
    return of_contact(expectation) and expectation.identifier is None


def updating(expectation: Expectation) -> bool:
    """Tell whether a contact is validated that is to be updated."""
    return of_contact(expectation) and expectation.identifier is not None


def extra_faults(service: Service, more: Callable[[dict[str, Any], Expectation], Iterable[Fault]]) -> None:
    """Add faults to those that are found in a document."""

    def faults(
        faithful: Callable[..., list[Fault]], document: dict[str, Any], expectation: Expectation
    ) -> list[Fault]:
        return [*faithful(document, expectation), *more(document, expectation)]

    alter(service.validator, "faults", faults)


def change_faults(
    service: Service, change: Callable[[Fault], Fault | None], meant: Meant = of_contact
) -> None:
    """Change each fault that is found in a contact; ``None`` overlooks it."""

    def faults(
        faithful: Callable[..., list[Fault]], document: dict[str, Any], expectation: Expectation
    ) -> list[Fault]:
        found: list[Fault] = faithful(document, expectation)
        if not meant(expectation):
            return found
        changed = (change(fault) for fault in found)
        return [fault for fault in changed if fault is not None]

    alter(service.validator, "faults", faults)


def overlook(test: Callable[[Fault], bool], meant: Meant = of_contact) -> Callable[[Service], None]:
    """Return the change that overlooks the faults for which ``test`` holds."""
    return lambda service: change_faults(service, lambda fault: None if test(fault) else fault, meant)


def overlook_value(field: str, test: Callable[[Any], bool], meant: Meant) -> Callable[[Service], None]:
    """Return the change that finds no fault in a field whose given value passes ``test``."""

    def change(service: Service) -> None:
        def field_faults(
            faithful: Callable[..., Iterable[Fault]],
            row: Field,
            value: Any,
            given: bool,
            expectation: Expectation,
        ) -> Iterable[Fault]:
            if row.name == field and given and meant(expectation) and test(value):
                return ()
            return faithful(row, value, given, expectation)

        alter(service.validator, "field_faults", field_faults)

    return change
