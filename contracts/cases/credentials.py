"""Bodies of the request for a token: right ones, and wrong ones that differ in one point."""

from __future__ import annotations

import json
from typing import Any

from contracts.checks.outcomes import Untested
from contracts.settings.target import Target


class Credentials:
    """E-mails and passwords of a target's accounts, as bodies of the request for a token.

    Raises (all methods that name a role):
        Untested: the settings have no account of this role.
    """

    def __init__(self, target: Target) -> None:
        self._target = target

    def of(self, role: str, **changes: Any) -> dict[str, Any]:
        """The right body for a role, with members replaced or added."""
        return {"email": self.email(role), "password": self.password(role), **changes}

    def without(self, role: str, member: str) -> dict[str, Any]:
        """The right body for a role, with one member left out."""
        return {name: value for name, value in self.of(role).items() if name != member}

    def email(self, role: str) -> str:
        """The e-mail of a role."""
        self._known(role)
        return self._target.accounts[role].email

    def password(self, role: str) -> str:
        """The password of a role."""
        self._known(role)
        return self._target.accounts[role].password.reveal()

    def emails_of_another_kind(self, role: str) -> list[dict[str, Any]]:
        """Bodies whose e-mail is no string; among them the right one in an array, and a query operator."""
        email = self.email(role)
        return [
            self.of(role, email=value) for value in (None, 17, True, [email], {"$ne": ""}, {"email": email})
        ]

    def passwords_of_another_kind(self, role: str) -> list[dict[str, Any]]:
        """Bodies whose password is no string; among them the right one in an array, and a query operator."""
        return [self.of(role, password=value) for value in (None, [self.password(role)], {"$ne": ""})]

    def plain_passwords_of_another_kind(self, role: str) -> list[dict[str, Any]]:
        """Bodies whose password is a number or a truth value, which is wrong as a text as well."""
        return [self.of(role, password=value) for value in (17, True)]

    def near_passwords(self, role: str) -> list[str]:
        """Wrong passwords of a role that differ from the right one by a character behind it, or in letter case."""
        right = self.password(role)
        return [right + "x", *({right.swapcase()} - {right})]

    def bodies_of_another_kind(self, role: str) -> list[bytes | None]:
        """Bodies that are absent, empty, or no object with both members, though the right ones may stand inside."""
        both = self.of(role)
        values: list[Any] = [
            {},
            [],
            [both],
            [both["email"], both["password"]],
            json.dumps(both),
            None,
            17,
            True,
        ]
        return [None, b"", *(json.dumps(value).encode() for value in values)]

    def _known(self, role: str) -> None:
        missing = self._target.missing(f"account.{role}")
        if missing:
            raise Untested(missing)


def nobodys_email() -> str:
    """An e-mail that belongs to no account; always the same, as a gate sends the same requests twice."""
    return "nobody-at-all@example.test"


def half(token: str) -> str:
    """A token cut in half, which nobody ever issued."""
    return token[: len(token) // 2]
