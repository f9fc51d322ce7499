"""What a run is held to besides the catalogue: what a consumer uses, what it waives, which deviations are accepted."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from contracts.interface.catalogue import Clause
from contracts.interface.operations import ANY_REALM


@dataclass(frozen=True, slots=True)
class Deviation:
    """A contradiction that is known and accepted on one target until a day.

    `realms` is never empty; `operation` None means every operation of the clause. `profile` is the first profile
    that shows the contradiction. `file` and `line` say where the entry starts.
    """

    clause: str
    realms: tuple[str, ...]
    operation: str | None
    reason: str
    owner: str
    issue: str
    expires: date
    profile: str
    file: str
    line: int

    @property
    def place(self) -> str:
        """File and line of the entry, as messages show it."""
        return f"{self.file}:{self.line}"

    def concerns(self, clause: str, realm: str, operation: str | None) -> bool:
        """Tell whether a contradiction is the one that this entry speaks of."""
        return clause == self.clause and realm in self.realms and self.operation in {None, operation}

    def days_left(self, day: date) -> int:
        """Return how many days remain after `day`; 0 on the last day, negative once the date has passed."""
        return (self.expires - day).days


@dataclass(frozen=True, slots=True)
class Waiver:
    """A must clause that a consumer does without a judgement on, and why."""

    clause: str
    reason: str
    file: str
    line: int

    @property
    def place(self) -> str:
        """File and line of the waiver, as messages show it."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Consumer:
    """What an SDK, or any other client, uses of the interface.

    Empty `operations`, `clauses` or `realms` limit nothing. `methods` maps a method of the SDK to the operations
    it calls; these are among `operations`.
    """

    file: str
    operations: tuple[str, ...] = ()
    methods: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    clauses: tuple[str, ...] = ()
    realms: tuple[str, ...] = ()
    waivers: tuple[Waiver, ...] = ()

    def uses(self, operation: str | None) -> bool:
        """Tell whether the consumer calls an operation; None, the service as a whole, concerns everybody."""
        return operation is None or not self.operations or operation in self.operations

    def counts(self, clause: str, realm: str, operation: str | None) -> bool:
        """Tell whether a contradiction touches the consumer."""
        return (
            self.uses(operation)
            and (not self.clauses or clause in self.clauses)
            and (not self.realms or realm in (*self.realms, ANY_REALM))
        )

    def covers(self, clause: Clause, realm: str) -> bool:
        """Tell whether the verdict on a clause in a realm matters to the consumer."""
        return any(self.counts(clause.id, realm, operation) for operation in clause.operations)

    def methods_of(self, operation: str | None) -> tuple[str, ...]:
        """Return the methods that call an operation."""
        return tuple(name for name, called in self.methods.items() if operation in called)


@dataclass(frozen=True, slots=True)
class Terms:
    """All of it for one run; `deviations_file` is None when there is none."""

    consumer: Consumer | None = None
    deviations: tuple[Deviation, ...] = ()
    deviations_file: str | None = None

    @property
    def waived(self) -> dict[str, str]:
        """Clause ids to the reasons for doing without a judgement on them."""
        return {each.clause: each.reason for each in self.consumer.waivers} if self.consumer else {}

    def counts(self, clause: str, realm: str, operation: str | None) -> bool:
        """Tell whether a contradiction bears on the run's verdict; without a consumer every one does."""
        return self.consumer is None or self.consumer.counts(clause, realm, operation)

    def accepted(self, clause: str, realm: str, operation: str | None, day: date) -> Deviation | None:
        """Return the entry that accepts a contradiction on `day`, or None."""
        return next(
            (
                each
                for each in self.deviations
                if each.concerns(clause, realm, operation) and each.days_left(day) >= 0
            ),
            None,
        )

    def methods_of(self, operations: Iterable[str | None]) -> tuple[str, ...]:
        """Return the consumer's methods that call one of the operations, each once."""
        if self.consumer is None:
            return ()
        return tuple(dict.fromkeys(name for each in operations for name in self.consumer.methods_of(each)))
