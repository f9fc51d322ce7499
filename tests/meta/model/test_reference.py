"""The reference model knows what was promised, and less where the document is silent or an answer unclear."""

from typing import Any

import pytest

from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.model.reference import Asked, Kind, Reference
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


def read(operation: str = "draftExists", who: str = "author", realm: str = "abs-dev", **more: Any) -> Asked:
    return Asked(operation, realm, UID, who, **more)


SAVED, DELETED = exchange("PUT", DRAFT), exchange("DELETE", DRAFT)


@pytest.mark.parametrize(
    ("before", "asked", "kind", "clause"),
    [
        ([], read(), Kind.REFUSED, "draft-exists-absent"),
        ([SAVED], read(), Kind.ACCEPTED, "draft-exists-present"),
        ([SAVED, DELETED], read(), Kind.REFUSED, "draft-delete-removes"),
        ([SAVED, DELETED], read("getDraft", "nau"), Kind.REFUSED, "draft-delete-content-gone"),
        ([SAVED], read(realm="bch-dev"), Kind.REFUSED, "realm-drafts-apart"),
        ([SAVED], read(who="other"), Kind.SILENT, ""),
        ([SAVED, exchange("PUT", DRAFT, role="other")], read(), Kind.SILENT, ""),
        ([SAVED, exchange("DELETE", DRAFT, role="other")], read(), Kind.SILENT, ""),
        ([SAVED, exchange("DELETE", DRAFT, 404)], read(), Kind.ACCEPTED, "draft-exists-present"),
        ([SAVED, exchange("DELETE", DRAFT, 500)], read(), Kind.SILENT, ""),
        ([exchange("PUT", DRAFT, 200, b'{"errors": [{"code": "x"}]}')], read(), Kind.SILENT, ""),
        ([SAVED, exchange("POST", SUBMISSION)], read(), Kind.SILENT, ""),
        ([SAVED], read(reasons=("draft-exists-needs-token",)), Kind.REFUSED, "draft-exists-needs-token"),
    ],
)
def test_what_is_promised(before: list[Exchange], asked: Asked, kind: Kind, clause: str) -> None:
    promise = after(*before).promised(asked)
    assert (promise.kind, promise.clause) == (kind, clause)
    assert bool(promise.because) is (kind is Kind.SILENT)


def test_a_message_is_due_where_nothing_else_can_be_told() -> None:
    for may in (False, True):
        asked = Asked("updateWorkflowRecord", "abs-dev", UID, reasons=("workflow-realm-missing",), may=may)
        assert after().promised(asked).exact is not may
