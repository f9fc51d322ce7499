"""Each criterion of the coverage level counts, and a missing element keeps the level down."""

from typing import Any

import pytest

from registry_contracts.evidence.coverage_level import CRITERIA, coverage_level
from registry_contracts.exchanges.exchange import Body, Exchange, Headers, Response
from registry_contracts.interface.description import Description
from registry_contracts.interface.operations import read_operations

DRAFT, LIST = "/api/v2013/documents/{uid}/versions/draft", "/api/v2013/document-drafts"
LINK = {"operationId": "getDraft", "parameters": {"path.uid": "$response.body#/id"}}
UID = {"in": "path", "name": "uid", "schema": {}}
COLLECTION = {"in": "query", "name": "collection", "schema": {"enum": ["my", "mydrafts"]}}
BODY: dict[str, Any] = {"requestBody": {"content": {"application/json": {}, "text/plain": {}}}}
PAGE: dict[str, Any] = {
    "content": {"*/*": {"schema": {"properties": {"items": {"items": {"properties": {"id": {}}}}}}}}
}


def described(name: str, answer: dict[str, Any], parameter: dict[str, Any], **more: Any) -> dict[str, Any]:
    clauses = dict.fromkeys(("accepted", "status", "answer", "refusal"), "a-clause")
    facts = {"tags": ["Drafts"], "x-realms": "document", "x-protected": True, "x-clauses": clauses}
    responses = {"2XX": answer, "404": {}, "4XX": {}}
    return {"operationId": name, "parameters": [parameter], "responses": responses} | facts | more


SAVE, GET = described("saveDraft", {"links": {"saved": LINK}}, UID, **BODY), described("getDraft", {}, UID)
BUNDLE = {
    "paths": {DRAFT: {"put": SAVE, "get": GET}, LIST: {"get": described("listDrafts", PAGE, COLLECTION)}}
}
DESCRIPTION = Description(BUNDLE, {}, {each.id: each for each in read_operations(BUNDLE)})


def sent(
    operation: str, where: str, status: int, kind: str = "", answer: bytes = b"", **more: Any
) -> Exchange:
    path = LIST + where if operation == "listDrafts" else DRAFT.replace("{uid}", where)
    response = Response(
        status, "", Headers({"Content-Type": "application/json"} if answer else {}), Body.of(answer)
    )
    request = Headers({"Content-Type": kind}), Body.of(kind.encode())
    return Exchange("x", "", f"http://sandbox.test{path}", *request, response, operation=operation, **more)


WHOLE = (
    sent("saveDraft", "secret", 200, "application/json; charset=utf-8", b'{"id": 7}'),
    sent("saveDraft", "secret", 404, "text/plain"),
    sent("getDraft", "7", 404),
    sent("getDraft", "secret", 200),
    sent("listDrafts", "?collection=my", 200, answer=b'{"items": [{}, {"id": 1}]}'),
    sent("listDrafts", "?collection=mydrafts", 404),
)
EMPTY = sent("listDrafts", "?collection=my", 200, answer=b'{"items": 1}')


def test_a_complete_run_has_the_highest_level() -> None:
    found = coverage_level(WHOLE, DESCRIPTION)
    assert (found.level, [each.reached for each in found.criteria]) == (7, [2, 3, 2, 1, 3, 6, 2, 3, 2, 1])
    assert all((each.possible, each.missing) == (each.reached, ()) for each in found.criteria)


@pytest.mark.parametrize(
    ("criterion", "name", "kept", "instead"),
    [
        ("paths", LIST, "0123", [sent("listDrafts", "", 200, fault="connection reset")]),
        ("operations", "getDraft", "0145", []),
        ("content types of requests", "saveDraft text/plain", "02345", [sent("saveDraft", "secret", 404)]),
        ("content types of answers", "listDrafts */*", "01235", [sent("listDrafts", "?collection=my", 200)]),
        ("parameters", "listDrafts query.collection", "0123", [sent("listDrafts", "", 200, answer=b"{}")]),
        ("status classes", "getDraft 2XX", "01245", []),
        ("parameter values", "listDrafts query.collection=my", "01235", [sent("listDrafts", "", 200, answer=b"{}")]),
        ("status codes", "listDrafts 404", "01234", [sent("listDrafts", "?collection=mydrafts", 400)]),
        ("members of successful answers", "listDrafts items.id", "01235", [EMPTY]),
        ("operation flows", "saveDraft, getDraft", "01345", [sent("getDraft", "8", 404)]),
    ],
)  # fmt: skip
def test_a_missing_element_keeps_the_level_down(
    criterion: str, name: str, kept: str, instead: list[Exchange]
) -> None:
    found = coverage_level([*(WHOLE[int(each)] for each in kept), *instead], DESCRIPTION)
    assert found.level == CRITERIA[criterion] - 1
    assert name in next(each.missing for each in found.criteria if each.name == criterion)
    assert "secret" not in str(found)
