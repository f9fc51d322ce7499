"""A sandbox set up like a service that was observed; `python -m tests.meta.imitation` shows that none drifts."""

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import UsageError
from contracts.interface.catalogue import load_catalogue
from contracts.manual import imitation
from contracts.manual.imitation import imitate
from contracts.sandbox.habits import Habits, read_habits
from contracts.sandbox.variants import ALL
from tests.meta.program import RunCommand


def observed(folder: Path, *points: tuple[str, str, Any], **members: Any) -> Path:
    """Write what a run observed in one realm: clause, operation and value of each point."""
    observations = [
        {"clause": clause, "realm": "abs-dev", "operation": operation, "seen": seen, "cases": ["a case"]}
        for clause, operation, seen in points
    ]
    content = {
        "format": 2,
        "target": "dev",
        "profile": "gate",
        "started": "2026-01-01T00:00:00+00:00",
        "observations": observations,
        "answers": [],
        "realm_differences": [],
        "complete": True,
    }
    path = folder / "observations.json"
    path.write_text(json.dumps(content | members), "utf-8")
    return path


@pytest.mark.parametrize(
    ("clause", "operation", "seen", "option"),
    [
        ("realm-query-elsewhere", "getDraft", 200, "--variant=realm-in-any-query"),
        ("realm-query-elsewhere", "getDraft", 400, None),
        ("realm-missing-draft", "getDraft", {"missing": 200, "empty": 400}, "--habit=realm_required=false"),
        ("draft-save-schema-missing", "saveDraft", 201, "--variant=draft-any-schema"),
        ("realm-unknown-draft-save", "saveDraft", 303, "--variant=realm-unknown-written"),
        ("errors-code-invalid-value", "createContact", [], "--variant=faults-one-at-a-time"),
        ("token-lifetime", "createToken", {"seconds": 60}, "--token-lifetime=60"),
        ("draft-delete-absent", "deleteDraft", {"never": 204}, "--habit=delete_missing_status=204"),
        ("contact-success-status", "createContact", 202, "--habit=contact_created_status=202"),
        ("contact-success-status", "createContact", 404, None),
        ("draft-get-answer", "getDraft", "content", "--habit=draft_member=content"),
        ("list-default-page", "listDrafts", {"items": "25"}, "--habit=list_default_top=25"),
        ("list-default-page", "listDrafts", {"items": "6 or more"}, None),
    ],
)
def test_what_was_seen_turns_the_knob_that_shows_it(
    tmp_path: Path, clause: str, operation: str, seen: Any, option: str | None
) -> None:
    made = imitate(observed(tmp_path, (clause, operation, seen)))
    assert made.options == ((option,) if option else ())
    assert [line.partition(":")[0] for line in made.lines] == ([clause] if option else [])


def test_a_refusal_is_told_by_those_beside_it(tmp_path: Path) -> None:
    points = (
        ("draft-by-restricted", "saveDraft", 403),
        ("draft-failure-status", "getDraftInfo", {"status": 404}),
    )
    hidden = imitate(observed(tmp_path, *points, ("draft-of-another", "getDraft", 404)))
    refused = imitate(observed(tmp_path, *points, ("draft-of-another", "getDraft", 403)))
    assert "--variant=others-drafts-hidden" in hidden.options
    assert "--variant=others-drafts-refused" in refused.options


def test_what_no_knob_is_read_from_is_named(tmp_path: Path) -> None:
    assert imitate(observed(tmp_path, ("rate-limits", "listDrafts", 429))).unread == ("rate-limits",)


def test_every_sign_speaks_of_a_clause_and_turns_a_knob_that_is_there() -> None:
    clauses = {clause.id for clause in load_catalogue()}
    assert {sign.variant for sign in imitation._SIGNS} <= ALL.keys()
    for sign in imitation._SIGNS:
        assert any(re.fullmatch(sign.clause, clause) for clause in clauses), sign
    assert imitation._STATUSES.keys() <= {each.name for each in fields(Habits)}
    assert {place[0] for places in imitation._STATUSES.values() for place in places} <= clauses


@pytest.mark.parametrize("content", ["{", "[]", '{"format": 1}', '{"format": 2}'])
def test_a_file_that_is_no_observations_is_one_line_and_exit_code_4(
    said: RunCommand, tmp_path: Path, content: str
) -> None:
    (tmp_path / "observations.json").write_text(content)
    ended = said("sandbox", "--like", tmp_path / "observations.json")
    assert (ended.code, ended.err.count("\n")) == (4, 1), ended


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("token_status=201", 201),
        ("list_member=none", None),
        ("list_member=items", "items"),
        ("head_length=false", False),
    ],
)
def test_a_habit_is_read_in_its_own_kind(word: str, value: object) -> None:
    assert read_habits([word]) == ((word.partition("=")[0], value),)


@pytest.mark.parametrize(
    "word",
    [
        "token_status",
        "tokn_status=200",
        "token_status=ok",
        "token_status=700",
        "head_length=1",
        "list_member=7",
    ],
)
def test_a_habit_of_another_kind_is_a_usage_error(word: str) -> None:
    with pytest.raises(UsageError, match="--habit"):
        read_habits([word])
