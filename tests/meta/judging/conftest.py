"""Answers and exchanges to judge, made without a service."""

import json
from typing import Any

import pytest

from contracts.checks.claims import Claim, Claims
from contracts.checks.outcomes import Attempt
from contracts.exchanges.exchange import Exchange, Response
from contracts.interface.catalogue import Catalogue, load_catalogue


def make_answer(
    body: Any = None, status: int = 200, media: str = "application/json", **headers: str
) -> Response:
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return Response(status, "", {"content-type": media, **headers}, content, "http://127.0.0.1/")


def make_exchange(answer: Response | None, operation: str = "getDraft", **more: Any) -> Exchange:
    who = {"id": "main-1", "case": "c", "attempt": 1, "realm": "abs-dev", "role": "author"}
    what = {"method": "GET", "url": "http://127.0.0.1/", "request_headers": {}, "request_body": None}
    made = Exchange(operation=operation, **{**who, **what, **more})
    made.response = answer
    return made


@pytest.fixture
def answer() -> Any:
    """Makes an answer: `answer(body, status, media, **headers)`; bytes stay as they are, None is an empty body."""
    return make_answer


@pytest.fixture
def exchange() -> Any:
    """Makes an exchange: `exchange(answer, operation)`."""
    return make_exchange


@pytest.fixture
def catalogue() -> Catalogue:
    """The suite's own catalogue."""
    return load_catalogue()


@pytest.fixture
def attempt() -> Attempt:
    """An attempt at a case."""
    return Attempt(1)


@pytest.fixture
def claims(attempt: Attempt, catalogue: Catalogue) -> Claims:
    """Claims of a case that declares every clause."""
    return Claims(attempt, catalogue, [clause.id for clause in catalogue])


@pytest.fixture
def must(claims: Claims) -> Claim:
    """A claim on a must clause."""
    return claims("draft-get-content", "getDraft")


@pytest.fixture
def should(claims: Claims) -> Claim:
    """A claim on a should clause."""
    return claims("draft-get-absent", "getDraft")
