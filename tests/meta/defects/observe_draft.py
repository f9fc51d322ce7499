"""Whether a sandbox keeps the clauses on drafts."""

from typing import Any

from tests.meta.defects.observing import shows
from tests.meta.defects.samples import draft_path
from tests.meta.defects.witness import Witness

RICH: dict[str, Any] = {
    "title": {"en": {"deep": {"deeper": ["b", "a", "c"]}}},
    "count": 12345678901234,
    "zero": 0,
    "fraction": 1.5,
    "no": False,
    "yes": True,
    "long": "x" * 1000,
    "list": [1, 2, 3],
    **{f"member{number}": number + 1 for number in range(20)},
}
LARGE = {"first": 1, "large": "y" * 70_000, "last": 2}
MANY_ROUNDS = 25


@shows("draft-save-creates")
def a_saved_draft_is_there(witness: Witness) -> None:
    for realm in witness.realms:
        for role in ("author", "other"):
            for document in ({"a": 1}, {"a": "é"}, LARGE):
                uid = witness.saved(document, realm, role)
                assert witness.exists(uid, realm)


@shows("draft-save-creates")
def every_saved_draft_is_there(witness: Witness) -> None:
    for _ in range(MANY_ROUNDS):
        assert witness.exists(witness.saved())


@shows("draft-save-updates")
def a_later_save_counts(witness: Witness) -> None:
    for realm in witness.realms:
        for later in ({"is": "later"}, LARGE):
            uid = witness.saved({"is": "first"}, realm)
            assert witness.get(uid, realm).json == {"is": "first"}
            assert witness.save(uid, later, realm).ok
            assert later.items() <= witness.get(uid, realm).json.items()


@shows("draft-save-updates")
def every_later_save_counts(witness: Witness) -> None:
    uid = witness.saved({"round": -1})
    for number in range(MANY_ROUNDS):
        assert witness.save(uid, {"round": number}).ok
        assert witness.get(uid).json == {"round": number}


@shows("draft-get-content")
def a_draft_comes_back_whole(witness: Witness) -> None:
    for document in (RICH, LARGE):
        assert witness.get(witness.saved(document)).json == document


@shows("draft-text-kept")
def text_in_any_script_comes_back(witness: Witness) -> None:
    document = {"text": "Žluťoučký кінь 漢字 العربية 🌍"}
    assert witness.get(witness.saved(document)).json == document


@shows("draft-text-exact")
def text_comes_back_to_the_character(witness: Witness) -> None:
    document = {"text": "  e\u0301 é\r\n<b>bold</b> & \u0001\t "}
    assert witness.get(witness.saved(document)).json == document


@shows("draft-exists-present")
def a_draft_exists_whenever_asked(witness: Witness) -> None:
    for realm in witness.realms:
        uid = witness.saved(realm=realm)
        for _ in range(MANY_ROUNDS):
            assert witness.exists(uid, realm)


@shows("draft-exists-absent")
def an_unsaved_draft_does_not_exist(witness: Witness) -> None:
    for realm in witness.realms:
        assert not witness.exists(witness.uid(), realm)


@shows("draft-info-present")
def a_draft_has_info(witness: Witness) -> None:
    for realm in witness.realms:
        answer = witness.send("GET", draft_path(witness.saved(realm=realm)) + "/info", realm=realm)
        assert answer.ok
        assert answer.json


@shows("draft-info-names-document")
def the_info_names_the_document(witness: Witness) -> None:
    uid = witness.saved()
    assert f'"{uid}"' in witness.send("GET", draft_path(uid) + "/info").text


@shows("draft-info-current")
def the_info_is_of_the_latest_save(witness: Witness) -> None:
    uid = witness.saved({"a": 1})
    before = witness.send("GET", draft_path(uid) + "/info").json
    later = witness.arranged(witness.save(uid, {"a": "much longer than before"})).json
    after = witness.send("GET", draft_path(uid) + "/info").json
    assert before["size"] != later["size"]
    assert after["size"] == later["size"]


@shows("draft-get-absent", "draft-info-absent")
def an_unsaved_draft_cannot_be_read(witness: Witness) -> None:
    for _ in witness.at("getDraft"):
        assert witness.get(witness.uid()).refused
    for _ in witness.at("getDraftInfo"):
        assert witness.send("GET", draft_path(witness.uid()) + "/info").refused


@shows("draft-delete-removes")
def a_deleted_draft_does_not_exist(witness: Witness) -> None:
    for realm in witness.realms:
        for _ in range(MANY_ROUNDS):
            uid = witness.saved(realm=realm)
            witness.arranged(witness.send("DELETE", draft_path(uid), realm=realm))
            assert not witness.exists(uid, realm)


@shows("draft-delete-content-gone")
def a_deleted_draft_cannot_be_read(witness: Witness) -> None:
    uid = witness.saved({"secret": "plans-of-the-draft"})
    witness.arranged(witness.send("DELETE", draft_path(uid)))
    answer = witness.get(uid)
    assert answer.refused
    assert "plans-of-the-draft" not in answer.text


@shows("draft-delete-spares-others")
def deleting_spares_other_drafts(witness: Witness) -> None:
    uid = witness.saved()
    theirs = witness.saved({"is": "theirs"}, role="other")
    alike, other = witness.saved({"is": "alike"}, uid=f"{uid}-2"), witness.saved({"is": "other"})
    witness.arranged(witness.send("DELETE", draft_path(uid)))
    assert witness.get(alike).json == {"is": "alike"}
    assert witness.get(other).json == {"is": "other"}
    assert witness.send("GET", draft_path(theirs), role="other").json == {"is": "theirs"}


@shows("draft-delete-keeps-published")
def deleting_keeps_the_published_version(witness: Witness) -> None:
    uid = "sandbox-published-abs-dev"
    if witness.exists(uid):
        witness.arranged(witness.send("DELETE", draft_path(uid)))
    answer = witness.submit(identifier=uid)
    assert "A document with the identifier exists" in answer.text


@shows("draft-save-spares-others")
def saving_spares_other_drafts(witness: Witness) -> None:
    uid = witness.uid()
    alike = witness.saved({"is": "alike"}, uid=f"{uid}-2")
    other = witness.saved({"is": "other"})
    witness.saved({"is": "this"}, uid=f"{uid}-1")
    assert witness.get(other).json == {"is": "other"}
    assert witness.get(alike).json == {"is": "alike"}


@shows("draft-save-replaces")
def what_is_left_out_is_gone(witness: Witness) -> None:
    uid = witness.saved({"a": 1, "b": 2})
    witness.arranged(witness.save(uid, {"a": 3}))
    assert witness.get(uid).json == {"a": 3}


@shows("draft-save-after-delete")
def a_deleted_draft_can_be_saved_again(witness: Witness) -> None:
    uid = witness.saved()
    witness.arranged(witness.send("DELETE", draft_path(uid)))
    assert witness.save(uid, {"again": True}).ok
    assert witness.get(uid).json == {"again": True}
