"""Variants of tokens and of submissions: each differs from the plain sandbox in what its sentence says."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from contracts.sandbox.variants import tokens, workflow

Probe = Callable[[Any], Any]
LOCKED = "The record is locked for workflow"


def token(kit: Any) -> str:
    return str(kit.sign_in().json()["authenticationToken"])


def expires_within(kit: Any, seconds: float) -> bool:
    """Whether a new token's expiry is less than some seconds ahead."""
    told = str(kit.sign_in().json()["expiration"]).replace("Z", "+00:00")
    return (datetime.fromisoformat(told) - datetime.now(UTC)).total_seconds() < seconds


def first_still_opens(kit: Any) -> bool:
    first = token(kit)
    token(kit)
    return listing(kit, f"Bearer {first}") == 200


def listing(kit: Any, authorization: str) -> int:
    headers = {"Authorization": authorization}
    return int(kit.ask("GET", "/api/v2013/document-drafts", role=None, headers=headers).status_code)


def labelled_otherwise(kit: Any) -> int:
    headers = {"Content-Type": "text/plain"}
    params = {"schema": "contact"}
    return int(kit.ask("PUT", kit.draft(kit.uid()), params=params, data=b"{}", headers=headers).status_code)


def submitted_and_updated(kit: Any) -> list[bool]:
    """Whether an update is taken at once after a submission, and whether the record is locked in the end."""
    uid = kit.uid()
    kit.submit("POST", uid)
    at_once = kit.submit("PUT", uid).ok
    return [at_once, bool(kit.eventually(lambda: LOCKED in kit.submit("PUT", uid).text))]


def updated_again(kit: Any) -> list[bool]:
    uid = kit.uid()
    kit.submit("POST", uid)
    return [kit.submit("PUT", uid).ok for _ in range(3)]


def of_a_draft(kit: Any) -> list[bool]:
    return [kit.submit("POST", kit.saved()).ok, kit.submit("PUT", kit.saved()).ok]


def informed(kit: Any, role: str = "author") -> int:
    body = {"document": kit.permit(), "additionalInfo": "please publish"}
    return int(kit.submit("POST", kit.uid(), body, role=role).status_code)


def with_nulls(kit: Any) -> int:
    body = {"document": kit.permit(), "additionalInfo": None, "batchId": None}
    return int(kit.submit("POST", kit.uid(), body).status_code)


DIFFERENCES: dict[str, tuple[Probe, Any]] = {
    "tokens-short": (lambda kit: len(token(kit)), 10),
    "tokens-long": (lambda kit: len(token(kit)) > 2000, True),
    "tokens-jwt": (lambda kit: token(kit).count("."), 2),
    "token-same-again": (lambda kit: token(kit) == token(kit), True),
    "token-replaced": (first_still_opens, False),
    "tokens-brief": (lambda kit: expires_within(kit, 60), True),
    "bearer-exact": (lambda kit: listing(kit, f"bearer {token(kit)}"), 401),
    "email-any-case": (lambda kit: kit.sign_in(email="Author@Sandbox.test").status_code, 200),
    "sign-in-refused-200": (lambda kit: kit.sign_in(email="nobody@sandbox.test").status_code, 200),
    "content-type-any": (labelled_otherwise, 201),
    "realm-before-identity": (
        lambda kit: kit.submit("POST", kit.uid(), role=None, realm=None).status_code,
        400,
    ),
    "lock-late": (submitted_and_updated, [True, True]),
    "submissions-publish": (updated_again, [True, True, True]),
    "drafts-not-existing": (of_a_draft, [True, False]),
    "locked-before-taken": (lambda kit: LOCKED in kit.submit("POST", "sandbox-locked-abs-dev").text, True),
    "info-for-nau-only": (informed, 400),
    "submission-nulls-absent": (with_nulls, 201),
    "authors-update-all": (lambda kit: kit.submit("PUT", kit.saved(role="other")).status_code, 200),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_variant_differs_as_it_says(kit_of: Callable[..., Any], plain: Any, name: str) -> None:
    probe, seen = DIFFERENCES[name]
    assert probe(kit_of(name)) == seen
    assert probe(plain) != seen


def test_the_nau_role_may_add_information(kit_of: Callable[..., Any]) -> None:
    assert informed(kit_of("info-for-nau-only"), role="nau") == 201


def test_a_submitted_record_exists_although_its_lock_is_still_to_come(kit_of: Callable[..., Any]) -> None:
    kit = kit_of("lock-late", "drafts-not-existing")
    uid = kit.uid()
    assert kit.submit("POST", uid).ok
    assert kit.submit("POST", uid).status_code == 400


def test_every_variant_is_probed() -> None:
    assert list(DIFFERENCES) == [variant.name for module in (tokens, workflow) for variant in module.VARIANTS]
