"""How records and attachments are described in answers: member names and written timestamps."""

from collections.abc import Mapping
from typing import Any

from contracts.sandbox.clock import Clock
from contracts.sandbox.habits import Habits
from contracts.sandbox.records import Version


class Metadata:
    """Describes what is stored, without its content (fields of these records: not shown).

    Args:
        habits: names of the members that carry identifiers.
        clock: writes the timestamps.

    """

    def __init__(self, habits: Habits, clock: Clock) -> None:
        self.habits = habits
        self.clock = clock

    def of_version(self, version: Version) -> dict[str, Any]:
        """Return the description of a draft or a published version."""
        return self.of_row(
            {
                "identifier": version.identifier,
                "schema": version.schema,
                "realm": version.realm,
                "owner": version.owner,
                "createdOn": version.created_on,
                "updatedOn": version.updated_on,
                "size": version.size,
            }
        )

    def of_row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the description made from one row of a list: names as the habits ask, moments written."""
        names = {"identifier": self.habits.identifier_member, "id": self.habits.attachment_id_member}
        return {names.get(name, name): self._shown(name, value) for name, value in row.items()}

    def _shown(self, name: str, value: Any) -> Any:
        return self.clock.written(value) if name.endswith("On") else value
