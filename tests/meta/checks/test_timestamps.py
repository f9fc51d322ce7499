"""The one format the interface document names: ISO 8601 in UTC with fractional seconds, in all its forms."""

import pytest

from registry_contracts.checks.sign_in import is_utc_with_fraction

FINE = [
    "2026-11-21T10:11:12.3Z",
    "2026-11-21T10:11:12,345Z",
    "20261121T101112,3+0000",
    "2026-W47-6T10:11:12.5Z",
    "2024-366T10:11:12.5Z",
    "2026-12-31T23:59:60.5Z",
]
NOT = [
    None,
    "2026-11-21T10:11:12Z",
    "2026-11-21T10:11:12.Z",
    "2026-11-21T10:11:12.345",
    "2026-11-21T10:11:12.345+02:00",
    "2026-11-21 10:11:12.345Z",
    "2026-02-30T10:11:12.345Z",
    "2026-11-21T10:11:12.345Z\n",
    "٢٠٢٦-11-21T10:11:12.345Z",
]


@pytest.mark.parametrize(
    ("value", "fine"), [*((text, True) for text in FINE), *((value, False) for value in NOT)]
)
def test_every_form_of_the_standard_is_fine_and_nothing_else(value: object, fine: bool) -> None:
    assert is_utc_with_fraction(value) is fine
