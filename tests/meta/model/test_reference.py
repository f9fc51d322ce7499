"""The reference model knows what was promised, and less where the document is silent or an answer unclear."""

from typing import Any

import pytest

from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.model.reference import Reference
from tests.meta import messages
from tests.meta.messages import answer

UID = "rc-test-a-draft"
DRAFT = f"/api/v2013/documents/{UID}/versions/draft"
SUBMISSION = f"/api/v2023/documents/schemas/any/{UID}"


def exchange(
    method: str, path: str, status: int = 200, body: bytes = b"{}", role: str = "author"
) -> Exchange:
    operation = {"PUT": "saveDraft", "DELETE": "deleteDraft", "POST": "createWorkflowRecordWithIdentifier"}
    headers, url = {"Realm": "abs-dev"}, f"http://127.0.0.1{path}"
    return messages.exchange(
        answer(body, status), operation[method], headers, method=method, url=url, role=role
    )


def after(*exchanges: Exchange) -> Reference:
    model = Reference(lambda uid: uid.startswith("rc-test"))
    for number, each in enumerate(exchanges, 1):
        model.learn(each, number)
    return model


SAVED, DELETED = exchange("PUT", DRAFT), exchange("DELETE", DRAFT)


@pytest.mark.parametrize(
    ("before", "asked", "clause"),
    [
        ([], {}, "draft-exists-absent"),
        ([SAVED], {}, ""),
        ([SAVED, DELETED], {}, "draft-delete-removes"),
        ([SAVED, DELETED], {"operation": "getDraft"}, "draft-delete-content-gone"),
        ([SAVED], {"realm": "bch-dev"}, "realm-drafts-apart"),
        ([SAVED, exchange("DELETE", DRAFT, 404)], {}, ""),
        ([SAVED, exchange("DELETE", DRAFT, 500)], {}, ""),
        ([SAVED, exchange("DELETE", DRAFT, role="other")], {}, ""),
        ([exchange("PUT", DRAFT, 200, b'{"errors": [{"code": "x"}]}')], {}, ""),
        ([DELETED, exchange("POST", SUBMISSION)], {}, ""),
        ([SAVED], {"reason": "draft-exists-needs-token"}, "draft-exists-needs-token"),
    ],
)
def test_the_refusal_that_is_promised(before: list[Exchange], asked: dict[str, Any], clause: str) -> None:
    request = {"operation": "draftExists", "realm": "abs-dev", "uid": UID} | asked
    assert after(*before).promised(**request).clause == clause


@pytest.mark.parametrize(
    ("before", "there"),
    [
        ([], False),
        ([SAVED], True),
        ([SAVED, DELETED], False),
        ([SAVED, exchange("DELETE", DRAFT, 404)], True),
        # An unclear answer, another account and a submission leave it open.
        ([SAVED, exchange("DELETE", DRAFT, 500)], False),
        ([SAVED, exchange("PUT", DRAFT, role="other")], False),
        ([SAVED, exchange("DELETE", DRAFT, role="other")], False),
        ([SAVED, exchange("POST", SUBMISSION)], False),
    ],
)
def test_a_draft_is_the_accounts_own_as_long_as_that_is_sure(before: list[Exchange], there: bool) -> None:
    assert (UID in after(*before).of("abs-dev", "author")) is there


def test_a_message_is_due_where_nothing_else_can_be_told() -> None:
    for may in (False, True):
        promise = after().promised(
            "updateWorkflowRecord", "abs-dev", reason="workflow-realm-missing", may=may
        )
        assert promise.exact is not may
