"""The sandbox's one source of time, and the written form of it."""

from datetime import UTC, datetime


class Clock:
    """Tells the time; a test or a defect may put another clock in its place.

    Args:
        digits: digits of fractional seconds in the written form, 1 to 6.

    """

    def __init__(self, digits: int = 3) -> None:
        self.digits = digits

    def now(self) -> datetime:
        """Return the present moment in UTC, without offset, no finer than its written form."""
        moment = datetime.now(UTC).replace(tzinfo=None)
        # What a client reads is what it can ask for again in a filter.
        return moment.replace(microsecond=moment.microsecond - moment.microsecond % 10 ** (6 - self.digits))

    def written(self, moment: datetime) -> str:
        """Return a moment as "ISO 8601 UTC timestamp with fractional seconds".

        Args:
            moment: UTC without offset.

        Returns:
            For example ``2026-01-31T08:15:00.250Z``.

        """
        fraction = f"{moment.microsecond:06d}"[: self.digits]
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{fraction}Z"
