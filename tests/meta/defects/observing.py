"""The register of observations: for each clause, request sequences that show whether a sandbox keeps it."""

from collections.abc import Callable

from tests.meta.defects.witness import Witness

Observation = Callable[[Witness], None]

OBSERVATIONS: dict[str, list[Observation]] = {}
"""The observations of each clause, by its id."""


def shows(*clauses: str) -> Callable[[Observation], Observation]:
    """Register the decorated sequence for clauses; it asserts the document's statement in plain words."""

    def register(observation: Observation) -> Observation:
        for clause in clauses:
            OBSERVATIONS.setdefault(clause, []).append(observation)
        return observation

    return register
