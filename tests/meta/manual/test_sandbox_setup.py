"""A sandbox set up like a service that was observed; `python -m tests.meta.imitation` shows that none drifts."""

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import UsageError
from contracts.interface.catalogue import load_catalogue
from contracts.manual import sandbox_setup
from contracts.manual.sandbox_setup import imitate
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
        (
            "realm-missing-draft",
            "listDrafts",
            {"fault": "header.Realm:missing", "status": 200},
            "--habit=realm_required=false",
        ),
        ("draft-save-schema-missing", "saveDraft", 201, "--variant=draft-any-schema"),
        ("realm-unknown-draft-save", "saveDraft", 303, "--variant=realm-unknown-written"),
        ("errors-code-invalid-value", "createContact", [], "--variant=faults-one-at-a-time"),
        ("token-bearer-spelling", "listDrafts", {"another scheme": 200}, "--variant=ticket-scheme"),
        ("token-lifetime", "createToken", {"seconds": 60}, "--token-lifetime=60"),
        ("draft-delete-absent", "deleteDraft", {"never": 204}, "--habit=delete_missing_status=204"),
        ("contact-success-status", "createContact", 202, "--habit=contact_created_status=202"),
        ("contact-success-status", "createContact", {"status": 202}, "--habit=contact_created_status=202"),
        ("contact-success-status", "createContact", 404, None),
        ("errors-status", "createContact", {"unknown field": "201"}, "--variant=unknown-fields-kept"),
        ("errors-status", "createContact", {"unknown field": "422 errors"}, None),
        ("draft-get-answer", "getDraft", "content", "--habit=draft_member=content"),
        ("list-default-page", "listDrafts", {"items": "25"}, "--habit=list_default_top=25"),
        ("list-default-page", "listDrafts", {"items": "6 or more"}, None),
        ("contact-identifier-origin", "createContact", "refused", "--variant=refused-contacts-stay-taken"),
        ("contact-identifier-origin", "createContact", "none", None),
        (
            "attachment-name-taken",
            "createAttachment",
            {"the first still there": False},
            "--variant=file-names-replaced",
        ),
        ("attachment-success-status", "listAttachments", {"nothing left": 410}, "--variant=list-empty-404"),
        ("attachment-success-status", "listAttachments", {"nothing left": 200}, None),
    ],
)
def test_what_was_seen_turns_the_knob_that_shows_it(
    tmp_path: Path, clause: str, operation: str, seen: Any, option: str | None
) -> None:
    made = imitate(observed(tmp_path, (clause, operation, seen)))
    assert made.options == ((option,) if option else ())
    assert [line.partition(":")[0] for line in made.lines] == ([clause] if option else [])


MISSING = ("draft-failure-status", "getDraftInfo", {"status": 404})
FORBIDDEN = ("draft-by-restricted", "saveDraft", 403)
WRONG = ("token-failure-answer", "createToken", {"status": 401})
LOST = tuple(
    ("attachment-document-unknown", operation, status)
    for operation, status in (("createAttachment", 201), ("listAttachments", 204))
)
RENAMED = ("attachment-name-unusual", "createAttachment", {"spaces": "renamed"})
UPLOADED = ("attachment-success-status", "createAttachment", 201)
WITHOUT_REALM = ("realm-missing-draft", "listDrafts", {"fault": "header.Realm:missing", "status": 200})
TEXT = ("draft-save-body", "saveDraft", {"taken": {"draft-get-content": True, "draft-text-kept": True}})
FAULTY = ("errors-status", "createWorkflowRecord", ["422 errors"])
NO_PLACE = ("uid-refusal-answer", "getDraft", {"status": 400})
NOWHERE = (
    ("contact-identifier-origin", "createContact", "none"),
    ("contact-success-status", "createContact", 204),
)
FAULTY_200 = ("errors-status", "createWorkflowRecord", ["200 errors"])
SAVED = ("draft-success-status", "saveDraft", {"create": 201})
ANOTHER = ("draft-save-schema-unknown", "saveDraft", {"another": 400})
UNKNOWN_REALM_LISTED = (
    "realm-unknown-draft-read",
    "listDrafts",
    {"fault": "header.Realm:unknown-value", "status": 206},
)
FOUND_WITHOUT_REALM = ("realm-missing-draft", "getDraft", {"missing": 200})
NOTHING_LEFT = ("attachment-success-status", "listAttachments", {"nothing left": 404})
NO_RIGHTS = ("contact-by-restricted", "createContact", 404)
JUDGED_200 = ("contact-by-restricted", "createContact", "200 errors")
OPEN_REFERENCE = ("contact-organization-unknown", "createContact", {"none": 201})
#: What else some of the points show.
BESIDE = {
    f"--variant={name}"
    for name in (
        "attachments-of-anything",
        "contacts-by-restricted",
        "draft-any-json",
        "draft-any-schema",
        "draft-valid-only",
        "list-empty-204",
    )
}
UNLABELLED = ("content-type-missing", "createToken", 401)


@pytest.mark.parametrize(
    ("points", "variant"),
    [
        ((MISSING, FORBIDDEN, ("draft-of-another", "getDraft", 404)), "others-drafts-hidden"),
        ((MISSING, FORBIDDEN, ("draft-of-another", "getDraft", 403)), "others-drafts-refused"),
        ((MISSING, FORBIDDEN, ("list-by-restricted", "listDrafts", 404)), "list-empty-404"),
        ((MISSING, FORBIDDEN, ("list-by-restricted", "listDrafts", 403)), "restricted-shut-out"),
        ((MISSING, ("list-by-restricted", "listDrafts", 403)), "restricted-shut-out"),
        ((MISSING, FORBIDDEN, ("attachment-of-another", "listAttachments", 403)), "attachments-private"),
        (
            (WRONG, UNLABELLED, ("content-type-other", "createToken", {"nonsense": 415})),
            "content-type-optional",
        ),
        ((WRONG, UNLABELLED, ("content-type-other", "createToken", {"nonsense": 401})), "content-type-any"),
        (
            (("draft-save-body", "saveDraft", {"taken": {"draft-text-kept": True}}),),
            "draft-known-fields-only",
        ),
        ((("draft-save-schema-unknown", "saveDraft", {"another": 422}),), "draft-schema-stays"),
        ((("draft-save-body", "saveDraft", {"taken": {"draft-get-content": False}}),), "draft-valid-only"),
        ((RENAMED,), "file-names-changed"),
        (
            (RENAMED, ("attachment-sent-type", "createAttachment", {"application/json": "renamed"})),
            "attachment-id-not-listed",
        ),
        (
            (*LOST, ("attachment-success-status", "listAttachments", {"seen": 200, "nothing left": 204})),
            "lists-late",
        ),
        ((*LOST, ("attachment-success-status", "listAttachments", {"seen": 204, "nothing left": 204})), None),
        ((("attachment-empty-file", "createAttachment", {"status": 201, "listed": -1}),), "lists-late"),
        ((UPLOADED, ("attachment-success-status", "listAttachments", {"status": 200})), "lists-late"),
        ((UPLOADED, ("attachment-success-status", "listAttachments", 200)), None),
        (
            (
                UPLOADED,
                ("attachment-success-status", "listAttachments", {"status": 200}),
                ("attachment-failure-status", "createAttachment", {"on a draft": 409}),
            ),
            "attachments-beyond-drafts",
        ),
        ((WITHOUT_REALM, TEXT, ("realm-missing-draft", "saveDraft", {"missing": 400})), "draft-valid-only"),
        (
            (WITHOUT_REALM, TEXT, ("realm-missing-draft", "saveDraft", {"missing": 201})),
            "draft-known-fields-only",
        ),
        ((FAULTY, NO_PLACE, ("draft-save-body", "saveDraft", {"array": 422})), "draft-any-json"),
        ((FAULTY, NO_PLACE, ("draft-save-body", "saveDraft", {"array": 400})), None),
        ((FAULTY_200, SAVED, ("draft-save-body", "saveDraft", {"array": 200})), "draft-valid-only"),
        ((FAULTY_200, SAVED, ("draft-save-body", "saveDraft", {"array": 201})), None),
        ((NO_PLACE, ANOTHER), "draft-schema-agrees"),
        ((NO_PLACE, ANOTHER, ("draft-save-schema-missing", "saveDraft", 200)), "draft-schema-stays"),
        ((NO_PLACE, ("realm-ort-on-contact", "createContact", "422 errors")), "reporting-drafts"),
        ((NO_PLACE, ("realm-ort-on-contact", "createContact", "400 errors")), None),
        ((NO_PLACE, ("realm-ort-on-draft", "getDraft", 404)), "reporting-drafts"),
        ((NO_PLACE, UNKNOWN_REALM_LISTED), "realm-unknown-read"),
        ((NO_PLACE, ("realm-unknown-contact", "updateContact", 410)), "realm-unknown-written"),
        ((("realm-query-elsewhere", "getDraft", 200), FOUND_WITHOUT_REALM), None),
        ((NOTHING_LEFT, MISSING, NO_RIGHTS, ("list-by-restricted", "listDrafts", 404)), "list-empty-404"),
        ((("attachment-list-default", "listAttachments", {"order": "other"}),), "list-scrambled"),
        ((("errors-code-invalid-value", "createContact", []), OPEN_REFERENCE), "references-open"),
        ((FAULTY, JUDGED_200), "contact-terms-own-200"),
        ((FAULTY_200, JUDGED_200), None),
        (NOWHERE, "contacts-minted"),
        ((*NOWHERE, ("contact-success-status", "updateContact", 204)), None),
    ],
)
def test_what_one_observation_leaves_open_is_told_by_those_beside_it(
    tmp_path: Path, points: tuple[tuple[str, str, Any], ...], variant: str | None
) -> None:
    turned = {option for option in imitate(observed(tmp_path, *points)).options if "--variant" in option}
    expected = {f"--variant={variant}"} if variant else set()
    assert turned - (BESIDE - expected) == expected


@pytest.mark.parametrize(
    "point",
    [
        ("attachment-sent-type", "createAttachment", {"application/json": "refused with 422"}),
        ("accept-other", "listDrafts", 422),
    ],
)
def test_the_status_of_a_refusal_is_read_where_a_variant_refuses(
    tmp_path: Path, point: tuple[str, str, Any]
) -> None:
    assert "--habit=media_type_status=422" in imitate(observed(tmp_path, point)).options


def test_a_conflict_is_read_where_drafts_take_no_files(tmp_path: Path) -> None:
    point = ("attachment-failure-status", "createAttachment", {"on a draft": 423})
    assert imitate(observed(tmp_path, point)).options == (
        "--variant=attachments-beyond-drafts",
        "--habit=conflict_status=423",
    )


def test_where_all_refusals_that_were_seen_are_alike_so_are_the_others(tmp_path: Path) -> None:
    refused = (
        ("token-missing-answer", "listDrafts", {"status": 404}),
        ("token-failure-answer", "createToken", {"status": 404}),
        NO_RIGHTS,
        MISSING,
        ("uid-refusal-answer", "deleteDraft", {"status": 404}),
        ("attachment-size-answer", "createAttachment", "404"),
    )
    others = (FAULTY, SAVED, ("token-success-status", "createToken", 200))
    options = imitate(observed(tmp_path, *refused, *others)).options
    assert {"--habit=conflict_status=404", "--habit=media_type_status=404"} <= set(options)
    fewer = imitate(observed(tmp_path, *refused[:2], *others)).options
    assert "--habit=conflict_status=404" not in fewer


def test_the_order_of_attachments_tells_that_of_lists_whose_pages_hold_few_drafts(tmp_path: Path) -> None:
    point = ("attachment-list-default", "listAttachments", {"order": "latest first"})
    assert imitate(observed(tmp_path, point)).options == ("--habit=newest_first=true",)


@pytest.mark.parametrize(("realm", "created"), [("bch-dev", True), ("abs-dev", False)])
def test_an_update_that_another_realm_judges_by_its_content_creates(
    tmp_path: Path, realm: str, created: bool
) -> None:
    updated = ("realm-missing-contact", "updateContact", {"fault": "header.Realm:missing", "status": 422})
    path = observed(tmp_path, FAULTY, NO_PLACE, updated)
    path.write_text(path.read_text("utf-8").replace("abs-dev", realm), "utf-8")
    assert ("--variant=contact-put-creates" in imitate(path).options) is created


def test_a_schema_that_the_header_may_contradict_is_told_by_an_update_too(tmp_path: Path) -> None:
    point = ("contact-header-disagrees", "updateContact", {"schema": False})
    assert imitate(observed(tmp_path, point)).options == ("--habit=header_schema_must_agree=false",)


def test_a_draft_whose_faults_are_told_beside_nothing_is_saved_with_204(tmp_path: Path) -> None:
    told = answered("draft-save-answer", "saveDraft", "200", "draft", "errors")
    told["answers"]["200"]["schema"]["properties"]["draft"] = {"type": "null"}
    saved = ("draft-success-status", "saveDraft", {"create": 200, "update": 200})
    options = imitate(observed(tmp_path, saved, answers=[told])).options
    assert {"--habit=draft_created_status=204", "--habit=draft_updated_status=204"} <= set(options)


def test_a_status_of_faults_is_not_that_of_a_success(tmp_path: Path) -> None:
    faults = ("errors-status", "createWorkflowRecord", ["200 errors"])
    updated = [
        ("workflow-success-status", "updateWorkflowRecord", {"status": status}) for status in (200, 201)
    ]
    options = imitate(observed(tmp_path, faults, *updated)).options
    assert {"--habit=workflow_updated_status=201", "--habit=validation_status=200"} <= set(options)


def objects(*paths: str) -> dict[str, Any]:
    """A schema of objects within objects, in which the members of these dotted paths are always there."""
    members: dict[str, list[str]] = {path.partition(".")[0]: [] for path in paths}
    for path in paths:
        name, _, rest = path.partition(".")
        members[name] += [rest] if rest else []
    properties = {name: objects(*below) for name, below in members.items()}
    return {"type": "object", "properties": properties, "required": sorted(members)}


def answered(clause: str, operation: str, status: str, *paths: str) -> dict[str, Any]:
    """The shape of an operation's answers with one status."""
    shape = {"types": [], "bodies": [], "schema": objects(*paths)}
    return {"clause": clause, "realm": "abs-dev", "operation": operation, "answers": {status: shape}}


@pytest.mark.parametrize(
    ("clause", "operation", "status", "inside", "outside", "variant"),
    [
        ("draft-info-answer", "getDraftInfo", "200", ["schema"], ["_etag"], "reads-sent-on"),
        (
            "workflow-answer",
            "createWorkflowRecord",
            "201",
            ["workflow._etag"],
            ["workflow.state", "document._etag"],
            "submissions-furnished",
        ),
    ],
)
def test_what_is_furnished_is_told_by_where_it_stands(
    tmp_path: Path,
    clause: str,
    operation: str,
    status: str,
    inside: list[str],
    outside: list[str],
    variant: str,
) -> None:
    """The option that comes first stands further outside, so that its members are added to what comes after it."""
    redirected = ("attachment-download-type", "getAttachment", {"redirects": "2"})
    furnished = answered("token-success-status", "createToken", "200", "_etag")

    def comes_after(paths: list[str]) -> bool:
        shapes = [furnished, answered(clause, operation, status, *paths)]
        options = imitate(observed(tmp_path, redirected, answers=shapes)).options
        assert options.index("--variant=downloads-redirected") > options.index("--variant=reads-sent-on")
        return options.index(f"--variant={variant}") > options.index("--variant=extra-members-everywhere")

    assert [comes_after(inside), comes_after(outside)] == [True, False]


def test_a_receipt_on_listed_items_is_a_knob(tmp_path: Path) -> None:
    listed = answered("list-fields", "listDrafts", "200", "data.receipt")
    assert "--variant=list-items-volatile" in imitate(observed(tmp_path, answers=[listed])).options


@pytest.mark.parametrize(
    ("path", "kind", "variant"),
    [
        ("_id", "string", "attachment-id-text"),
        ("id", "integer", None),
        ("attributes.id", "string", "attachment-id-text"),
        ("attributes.url", "string", "attachment-id-in-link"),
    ],
)
def test_a_number_as_text_is_told_by_any_name(
    tmp_path: Path, path: str, kind: str, variant: str | None
) -> None:
    listed = answered("attachment-fields", "listAttachments", "200", path)
    holder = listed["answers"]["200"]["schema"]
    for name in path.split("."):
        last, holder = (holder, name), holder["properties"][name]
    last[0]["properties"][last[1]] = {"type": kind}
    if "." in path:
        listed["answers"]["200"]["schema"]["properties"]["id"] = {"type": "string"}
    assert imitate(observed(tmp_path, answers=[listed])).options == (
        (f"--variant={variant}",) if variant else ()
    )


def test_a_refused_sign_in_that_is_a_success_gives_null_for_a_token(tmp_path: Path) -> None:
    given = answered("token-success-status", "createToken", "200", "authenticationToken")
    given["answers"]["200"]["schema"]["properties"]["authenticationToken"] = {"type": ["null", "string"]}
    assert "--variant=sign-in-refused-200" in imitate(observed(tmp_path, answers=[given])).options


def test_messages_beside_faults_are_told_where_refusals_are_plain_text(tmp_path: Path) -> None:
    text = answered("token-missing-answer", "getDraft", "401")
    text["answers"]["401"] = {"types": ["text/plain"], "bodies": ["text"]}
    faults = answered("errors-status", "createWorkflowRecord", "400", "messages")
    options = imitate(observed(tmp_path, answers=[text, faults])).options
    assert {"--variant=message-plain-text", "--variant=message-in-array"} <= set(options)


@pytest.mark.parametrize("status", ["400", "403"])
def test_errors_of_a_refusal_without_faults_are_told_by_rows_of_the_table(
    tmp_path: Path, status: str
) -> None:
    told = answered("workflow-message-place", "createWorkflowRecord", status, "message", "errors")
    options = imitate(observed(tmp_path, answers=[told])).options
    assert ("--variant=errors-always" in options) is (status == "403")


@pytest.mark.parametrize("found", [True, False])
def test_a_kept_file_that_no_answer_numbers_and_no_list_finds_is_one_that_is_not_listed(
    tmp_path: Path, found: bool
) -> None:
    kept = answered("attachment-persist-answer", "persistTemporaryFile", "204") | {
        "answers": {"204": {"types": [], "bodies": ["empty"]}}
    }
    named = [("attachment-persist-name", "persistTemporaryFile", "png")] if found else []
    options = imitate(observed(tmp_path, *named, answers=[kept])).options
    assert ("--variant=attachment-id-not-listed" in options) is not found


def test_drafts_that_are_checked_but_for_unknown_fields_are_two_knobs(tmp_path: Path) -> None:
    taken = {"draft-get-content": False, "draft-text-kept": True, "draft-values-kept": True}
    options = imitate(observed(tmp_path, ("draft-save-body", "saveDraft", {"taken": taken}))).options
    assert set(options) == {"--variant=unknown-fields-kept", "--variant=draft-valid-only"}


def test_what_no_knob_is_read_from_is_named(tmp_path: Path) -> None:
    assert imitate(observed(tmp_path, ("rate-limits", "listDrafts", 429))).unread == ("rate-limits",)
    points = ("list-default-order", "realm-query-elsewhere", "realm-ort-on-draft", "realm-missing-contact")
    assert imitate(observed(tmp_path, *((clause, "getDraft", "400") for clause in points))).unread == ()


def test_a_line_names_the_clause_that_showed_it(tmp_path: Path) -> None:
    told = answered("workflow-answer", "createWorkflowRecord", "201", "validation.errors")
    code: tuple[str, str, Any] = ("errors-code-invalid-value", "createContact", [])
    lines = imitate(observed(tmp_path, code, answers=[told])).lines
    assert "workflow-answer: errors-nested (createWorkflowRecord 201 body.validation.errors: object)" in lines
    assert "errors-code-invalid-value: faults-one-at-a-time (createContact seen: nothing)" in lines


def test_every_sign_speaks_of_a_clause_and_turns_a_knob_that_is_there() -> None:
    clauses = {clause.id for clause in load_catalogue()}
    assert {sign.variant for sign in sandbox_setup._SIGNS} <= ALL.keys()
    for sign in sandbox_setup._SIGNS:
        assert any(re.fullmatch(sign.clause, clause) for clause in clauses), sign
    assert sandbox_setup._STATUSES.keys() <= {each.name for each in fields(Habits)}
    assert {place[0] for places in sandbox_setup._STATUSES.values() for place in places} <= clauses


@pytest.mark.parametrize("content", ["{", "[]", '{"format": 1}', '{"format": 2}'])
def test_a_file_that_is_no_observations_is_one_line_and_exit_code_4(
    command: RunCommand, tmp_path: Path, content: str
) -> None:
    (tmp_path / "observations.json").write_text(content)
    ended = command("sandbox", "--like", tmp_path / "observations.json")
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
