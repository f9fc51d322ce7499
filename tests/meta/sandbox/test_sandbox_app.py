"""The application of the sandbox: habits change the silence only, one part can be replaced, failures are JSON."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contracts.sandbox.habits import Habits, Settings
from contracts.sandbox.http_requests import IdentifierRule
from contracts.sandbox.service import create_app
from contracts.sandbox.storage import Storage

DRAFT = "/api/v2013/documents/seam-draft-0001/versions/draft"


def test_habits_reshape_what_the_document_leaves_open(
    serve_app: Callable[[Any], str], caller: Any, permit: dict[str, Any]
) -> None:
    habits = Habits(
        draft_created_status=200,
        draft_deleted_status=200,
        identifier_member="uid",
        list_member="Items",
        count_member="Count",
        draft_member="body",
        error_member="error",
        status_member=None,
        error_property_path=True,
        timestamp_digits=6,
        head_length=False,
        realm_required=False,
        validation_status=422,
        delete_missing_status=204,
        attachments_open=False,
        newest_first=True,
        list_default_top=1,
        unknown_submission_members_refused=False,
    )
    author = caller(realm=None, url=serve_app(create_app(Settings(), habits)))
    saved = author.put(DRAFT + "?schema=contact", json={"a": 1})
    assert (saved.status_code, saved.json()["uid"]) == (200, "seam-draft-0001")
    assert len(saved.json()["createdOn"]) == len("2026-01-01T00:00:00.123456Z")
    assert author.get(DRAFT).json() == {"body": {"a": 1}}
    assert author.head(DRAFT).headers["Content-Length"] == "0"
    listed = author.get("/api/v2013/document-drafts").json()
    assert (listed["Count"], listed["Items"][0]["uid"]) == (1, "seam-draft-0001")
    assert author.delete(DRAFT).json()["uid"] == "seam-draft-0001"
    assert author.delete(DRAFT).status_code == 204
    assert author.get(DRAFT).json().keys() == {"error"}
    permit["country"] = {"identifier": 1}
    refused = author.post(
        "/api/v2023/documents/schemas/absPermit?Realm=abs-dev", json={"document": permit, "x": 1}
    )
    assert refused.status_code == 422
    assert refused.json()["errors"] == [{"code": "Error.InvalidType", "property": "country.identifier"}]
    attachment = "/api/v2013/documents/sandbox-existing-abs-dev/attachments/1/a.txt"
    assert caller(None, url=author.base).get(attachment).status_code == 401


def test_writes_may_answer_nothing_but_a_submission_answers_its_identifier(
    serve_app: Callable[[Any], str], caller: Any, permit: dict[str, Any]
) -> None:
    author = caller(url=serve_app(create_app(Settings(), Habits(write_answers_record=False))))
    saved = author.put(DRAFT + "?schema=contact", json={})
    assert (saved.status_code, saved.content) == (201, b"")
    submitted = author.post("/api/v2023/documents/schemas/absPermit", json={"document": permit})
    assert submitted.json()["identifier"]


def test_one_part_is_replaced_and_nothing_else_changes(serve_app: Callable[[Any], str], caller: Any) -> None:
    class TenWillDo(IdentifierRule):
        def holds(self, text: str) -> bool:
            return len(text) == 10 or super().holds(text)

    app = create_app(Settings())
    app.state.service.identifiers = TenWillDo()
    author = caller(url=serve_app(app))
    assert author.get("/api/v2013/documents/abcdefghij/versions/draft").status_code == 404
    assert author.get("/api/v2013/documents/abcdefghi/versions/draft").status_code == 400


@pytest.mark.filterwarnings("ignore")
def test_a_fault_of_its_own_is_told_in_json(serve_app: Callable[[Any], str], caller: Any) -> None:
    app = create_app(Settings())
    author = caller(url=serve_app(app))
    app.state.service.drafts = None
    answer = author.get(DRAFT)
    assert (answer.status_code, answer.json()["statusCode"]) == (500, 500)


def test_every_habit_is_used_somewhere_and_explained() -> None:
    folder = Path(create_app.__code__.co_filename).parent
    sources = "".join(path.read_text() for path in folder.glob("*.py"))
    for field in dataclasses.fields(Habits):
        assert f"habits.{field.name}" in sources, field.name
        assert f"        {field.name}: " in (Habits.__doc__ or ""), field.name


def test_a_transaction_keeps_all_or_nothing(tmp_path: Path) -> None:
    storage = Storage(tmp_path)

    def half() -> None:
        with storage.transaction() as records:
            records.mark("first")
            raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        half()
    with storage.transaction() as records:
        assert not records.marked("first")
    storage.close()
