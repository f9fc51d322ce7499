"""What no request names stays as it is."""

from registry_contracts.cases import Census, contract
from registry_contracts.cases.census import CLAUSES


@contract(*CLAUSES, requests=26, last=2)
def test_nothing_else_changes(census: Census) -> None:
    """At the end of the run, each draft and file that no request was to change is as it was saved."""
    census.claim()
