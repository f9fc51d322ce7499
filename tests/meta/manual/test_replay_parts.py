"""The parts of a replay: what a finding relies on, fresh names, another target's settings, carried ids, differences."""

import json
from typing import Any

import pytest

from contracts.cli.manual_commands import compact
from contracts.errors import UsageError
from contracts.evidence.record import RunFacts, RunRecord
from contracts.exchanges.exchange import Body, Exchange, Headers, Response
from contracts.exchanges.redaction import TOKEN, Redactor, authorization_template
from contracts.interface.description import load_description
from contracts.manual.prepared_requests import find_part, read_setting
from contracts.manual.recorded_sequence import RecordedSequence, content_of, read_entries
from contracts.manual.replay import AnswerValues, IdentifierMap, SettingMap, differences
from contracts.reports.finding_files import earlier_writes, settings_in
from contracts.session.namespace import Namespace
from contracts.settings.embedded_sandbox import sandbox_target
from contracts.settings.target import Target
from tests.meta import messages
from tests.meta.messages import response

BASE = "http://127.0.0.1:8080"
DESCRIPTION = load_description()


def sent(
    number: int, method: str, path: str, operation: str, told: Any = None, status: int = 200, **more: Any
) -> Exchange:
    body = more.pop("json", None)
    more = {"id": f"x-{number}", "case": "a", "authorization": f"Bearer {TOKEN}", **more}
    return messages.exchange(
        response(status, json_bytes(told)),
        operation,
        {},
        json_bytes(body),
        method=method,
        url=BASE + path,
        **more,
    )


def json_bytes(value: Any) -> bytes:
    return b"" if value is None else json.dumps(value).encode()


def draft(number: int, uid: str, method: str = "PUT", **more: Any) -> Exchange:
    operation = {"PUT": "saveDraft", "GET": "getDraft"}[method]
    return sent(number, method, f"/api/v2013/documents/{uid}/versions/draft", operation, **more)


def record(*exchanges: Exchange) -> RunRecord:
    fields: dict[str, Any] = dict.fromkeys(RunFacts.__dataclass_fields__, ())
    return RunRecord(
        RunFacts(**fields), (), (), (), {each.id: each for each in exchanges}, (), (), (), (), ()
    )


def test_a_finding_takes_along_the_writes_it_relies_on() -> None:
    uid, other = "rc-abcd-the-draft", "rc-abcd-another"
    attaching = f"/api/v2013/documents/{uid}/attachments"
    everything = [
        draft(1, other),
        draft(2, uid, case="another case"),
        draft(3, uid, status=400),
        draft(4, uid, authorization="Bearer garbage"),
        sent(5, "POST", f"{attaching}/a.txt", "createAttachment", {"id": 6}),
        sent(6, "POST", f"{attaching}/b.txt", "createAttachment", {"id": 7}),
        draft(7, uid, realm="bch-dev"),
    ]
    shown = sent(8, "GET", f"{attaching}/7/b.txt", "getAttachment")
    later = draft(9, uid)
    found = earlier_writes(record(*everything, shown, later), [shown])
    assert [each.id for each in found] == ["x-2", "x-6"]
    assert earlier_writes(record(*everything), []) == ()


def test_before_a_list_stands_what_may_be_in_it() -> None:
    drafts = [draft(number, f"rc-abcd-draft-{number}", role="author") for number in range(9)]
    shown = sent(20, "GET", "/api/v2013/document-drafts", "listDrafts")
    assert (
        len(earlier_writes(record(*drafts, draft(10, "rc-abcd-others", role="other"), shown), [shown])) == 5
    )


def test_settings_that_stand_in_a_request_are_told() -> None:
    known = {
        "abs-dev": {
            "locked_identifier": "locked-one-1",
            "contact_schema": "contact",
            "temporary_files": ["tmp-1"],
        }
    }
    shown = [draft(1, "locked-one-1")]
    assert settings_in(known, "abs-dev", shown) == {"locked_identifier": "locked-one-1"}


def test_names_keep_their_shape_and_are_replaced_everywhere() -> None:
    namespace = Namespace("wxyz")
    steps = [
        draft(1, "rc-abcd-x", json={"header": {"identifier": "rc-abcd-other"}}),
        draft(2, "somebodys-own"),
    ]
    names = IdentifierMap(steps, {"given-record-1"}, namespace, DESCRIPTION)
    short, long = names("rc-abcd-x"), names("somebodys-own")
    assert (len(short), short[7:], long.startswith("rc-wxyz"), len(long)) == (9, "-x", True, 13)
    assert names('{"a": "rc-abcd-other"}').count(short[:7]) == 1
    assert names("given-record-1 somebodys-owner") == "given-record-1 somebodys-owner"
    assert all(namespace.owns(name) for name in (short, long))


def target() -> Target:
    return sandbox_target(BASE, 1024)


def sequence(*steps: Exchange, **settings: Any) -> RecordedSequence:
    return RecordedSequence("a file", "elsewhere", BASE, "abs-dev", steps, settings=settings)


def test_settings_of_another_target_take_the_place_of_the_old_ones() -> None:
    old = {
        "locked_identifier": "their-locked-1",
        "contact_organization": "their-organization",
        "country_terms": ["de"],
    }
    step = draft(1, "their-locked-1", json={"contactOrganization": {"identifier": "their-organization"}})
    settled = SettingMap(sequence(step, **old), target(), "bch-dev", 0)
    assert settled.values["their-locked-1"] == "sandbox-locked-bch-dev"
    text = '{"country": {"identifier": "de"}, "lang": "de", "o": "their-organization"}'
    assert json.loads(settled.body(text)) == {
        "country": {"identifier": "ca"},
        "lang": "de",
        "o": "organization-bch-dev",
    }


def test_what_is_used_up_is_another_one_in_each_round() -> None:
    step = sent(
        1, "POST", "/api/v2013/documents/x/attachments/persist-temporary/their-file-1", "persistTemporaryFile"
    )
    taken = {
        SettingMap(sequence(step, temporary_files=["their-file-1"]), target(), "abs-dev", number).values[
            "their-file-1"
        ]
        for number in range(3)
    }
    assert len(taken) == 3


def test_a_setting_that_the_target_lacks_is_named() -> None:
    bare = Target("dev", BASE)
    with pytest.raises(UsageError, match=r"needs setting realm\.abs-dev\.locked_identifier, which dev lacks"):
        SettingMap(
            sequence(draft(1, "their-locked-1"), locked_identifier="their-locked-1"), bare, "abs-dev", 0
        )


def test_ids_are_carried_by_their_place_or_their_order() -> None:
    carried = AnswerValues()
    carried.learn({"id": 3, "identifier": "minted-by-it-1"}, {"identifier": "minted-by-it-2", "id": 8})
    assert (carried.segment("3"), carried.segment("minted-by-it-1"), carried.segment("4")) == (
        "8",
        "minted-by-it-2",
        "4",
    )
    carried.learn({"id": 5}, {"data": {"id": 9}})
    assert carried.segment("5") == "9"


def answered(value: Any, status: int = 200) -> Response:
    return response(status, json.dumps(value).encode(), {"content-type": "application/json"})


@pytest.mark.parametrize(
    ("then", "now", "lines"),
    [
        ({"a": 1, "id": 4}, {"a": 1, "id": 5}, []),
        ({"at": "2030-01-01T00:00:00.1Z"}, {"at": "2031-01-01T00:00:00.1Z"}, []),
        ({"a": "x"}, {"a": "y"}, ['body.a was "x", is "y"']),
        ({"a": 1}, {}, ["body.a was there, is gone"]),
        ([1, 2], [1], ["body had 2 items, has 1"]),
        ([{"u": "rc-abcd-1"}, {"u": "theirs"}], [{"u": "rc-wxyz-1"}], []),
        # Others of the old run, and of earlier rounds, do not matter; one of the settings does.
        ([{"u": "rc-abcd-1"}, {"u": "rc-abcd-2"}, {"u": "kept"}], [{"u": "rc-wxyz-1"}, {"u": "kept"}], []),
        ([{"u": "rc-abcd-1"}, {"u": "kept"}], [{"u": "rc-wxyz-1"}], ["body held 2 of our records, holds 1"]),
    ],
)
def test_differences_leave_out_what_changes_by_itself(then: Any, now: Any, lines: list[str]) -> None:
    old = draft(1, "rc-abcd-x", "GET", told=then)
    named = ("rc-wxyz-1", "kept")
    assert differences(old, answered(now), lambda text: text.replace("rc-abcd", "rc-wxyz"), named) == lines


def test_a_body_that_was_cut_is_json_again() -> None:
    whole = json.dumps({"header": {"a": ["b"]}, "text": "x" * 500})
    cut = Body(whole[:200].encode(), len(whole), whole=False)
    again = content_of(cut, whole[:200])
    assert (len(again), json.loads(again)["header"]) == (len(whole), {"a": ["b"]})


@pytest.mark.parametrize(
    ("header", "template"),
    [
        ("Bearer aBcdefghijklmnopqrstuvwxyz", "Bearer $TOKEN"),
        ("Bearer aBcdefghij", "Bearer $TOKEN[:10]"),
        ("Bearer AbCDEFGHIJKLMNOPQRSTUVWXYZ", "Bearer $TOKEN[swapcase]"),
        ("Bearer aBcdefghijklmnopqrstuvwxyzTail", "Bearer $TOKENTail"),
        ("Bearer never-issued", "Bearer never-issued"),
        ("Basic xyz", "Basic xyz"),
    ],
)
def test_a_recording_tells_a_made_up_token_from_a_right_one(header: str, template: str) -> None:
    redactor = Redactor(["aBcdefghijklmnopqrstuvwxyz"])
    assert authorization_template(Headers({"authorization": header}), redactor) == template
    assert authorization_template(Headers(), redactor) is None


def test_entries_of_a_har_are_a_number_or_a_range() -> None:
    assert (read_entries("3"), read_entries("3-7")) == ((3, 3), (3, 7))
    for wrong in ("0", "7-3", "a", "3-"):
        with pytest.raises(UsageError, match="--entries must be"):
            read_entries(wrong)


def test_a_part_is_found_by_its_bare_name() -> None:
    content = {"document": {"title": {"en": "x"}}, "batchId": "1"}
    assert find_part("title.en", content, ["schema"]).steps == ("document", "title", "en")
    assert find_part("schema", content, ["schema"]).place == "query"
    assert find_part("realm", content, []).place == "header"
    assert read_setting("body.a=b=c").value == "b=c"


def test_short_members_stand_on_one_line() -> None:
    text = json.dumps({"a": {"b": 1}, "c": ["x" * 150]})
    assert compact(text).splitlines()[1] == '  "a": {"b": 1},'
    assert json.loads(compact(text)) == json.loads(text)
    assert compact("no JSON") == "no JSON"
