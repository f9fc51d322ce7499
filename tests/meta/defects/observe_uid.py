"""Whether a sandbox keeps the identifier rule."""

from collections.abc import Iterable
from urllib.parse import quote

from tests.meta.defects.observing import shows
from tests.meta.defects.samples import DOCUMENTS, attachments_path, contact, draft_path
from tests.meta.defects.witness import Witness

READERS = {"getDraft": ("GET", ""), "getDraftInfo": ("GET", "/info"), "draftExists": ("HEAD", "")}


def _accepted(witness: Witness, uid: str) -> None:
    for realm in witness.realms:
        saved = witness.save(uid, realm=realm)
        assert saved.ok, (uid, saved.text)
        for method, more in READERS.values():
            assert witness.send(method, draft_path(uid) + more, realm=realm).ok, (uid, method, more)
        assert uid in [item["identifier"] for item in witness.listed(realm)]
        assert witness.send("DELETE", draft_path(uid), realm=realm).ok
        assert not witness.exists(uid, realm)


def _refused(witness: Witness, uids: Iterable[str]) -> None:
    for realm in witness.realms:
        for uid in uids:
            before = [item["identifier"] for item in witness.listed(realm)]
            assert witness.save(uid, realm=realm).refused, uid
            assert [item["identifier"] for item in witness.listed(realm)] == before, uid
            for operation in witness.at(*READERS):
                method, more = READERS[operation]
                assert witness.send(method, draft_path(uid) + more, realm=realm).refused, (operation, uid)
            for operation in witness.at("updateContact"):
                path = f"{DOCUMENTS}/{quote(uid, safe='')}"
                answer = witness.send("PUT", path, contact(realm), query={"schema": "contact"}, realm=realm)
                assert answer.refused, (operation, uid)
            _attachments_refused(witness, uid)


def _attachments_refused(witness: Witness, uid: str) -> None:
    for _ in witness.at("createAttachment"):
        assert witness.attach(uid).refused, uid
    for _ in witness.at("persistTemporaryFile"):
        assert witness.persist(uid, witness.temporary()).refused, uid
    for operation, method, more in (
        ("attachmentExists", "HEAD", ""),
        ("getAttachment", "GET", ""),
        ("getAttachmentThumbnail", "GET", "/thumbnail"),
    ):
        for _ in witness.at(operation):
            assert witness.send(method, f"{attachments_path(uid)}/1/a.txt{more}", realm=None).refused, (
                operation
            )


@shows("uid-shortest")
def eleven_characters_will_do(witness: Witness) -> None:
    for length in (11, 12):
        _accepted(witness, witness.uid(length))


@shows("uid-longest")
def up_to_128_characters_will_do(witness: Witness) -> None:
    for length in (127, 128):
        _accepted(witness, witness.uid(length))


@shows("uid-too-short")
def ten_characters_are_too_few(witness: Witness) -> None:
    _refused(witness, [witness.uid(length) for length in (1, 9, 10)])


@shows("uid-too-long")
def more_than_128_characters_are_too_many(witness: Witness) -> None:
    _refused(witness, [witness.uid(length) for length in (129, 130, 256)])


@shows("uid-hyphen")
def hyphens_are_allowed(witness: Witness) -> None:
    for uid in (f"{witness.uid(12)}-x", f"{witness.uid(12)}--x", f"{witness.uid(12)}-"):
        _accepted(witness, uid)


@shows("uid-underscore")
def underscores_are_allowed(witness: Witness) -> None:
    for uid in (f"{witness.uid(12)}_x", f"{witness.uid(12)}_"):
        _accepted(witness, uid)


@shows("uid-digits-only")
def digits_alone_are_allowed(witness: Witness) -> None:
    for uid in ("0" + witness.uid(12, "7")[1:], "9" + witness.uid(12, "7")[1:]):
        _accepted(witness, uid)


@shows("uid-hyphens-only")
def hyphens_and_underscores_alone_are_allowed(witness: Witness) -> None:
    for uid in ("-" * 12, "-_" * 7, "_" * 13):
        _accepted(witness, uid)


@shows("uid-forbidden-characters")
def other_characters_are_refused(witness: Witness) -> None:
    _refused(witness, [f"{witness.uid(14)}{sign}x" for sign in "! .~+/%@:$'\0\"#&*,;=?<>()|`{}"])
    _refused(witness, [f"{witness.uid(14)}%41x"])


@shows("uid-forbidden-characters")
def no_draft_is_stored_without_the_character(witness: Witness) -> None:
    uid = witness.uid(16)
    witness.save(f"{uid[:8]}!{uid[8:]}")
    assert not witness.exists(uid)


@shows("uid-misread-range")
def backslash_bracket_and_caret_are_refused(witness: Witness) -> None:
    _refused(witness, [f"{witness.uid(14)}{sign}x" for sign in "\\]^"])


@shows("uid-non-ascii")
def other_scripts_are_refused(witness: Witness) -> None:
    _refused(
        witness, [f"{witness.uid(14)}{sign}x" for sign in ("é", "я", "漢", "\uff11", "\u0663", "\uff41")]
    )
    uid = witness.uid(14)
    witness.save(f"{uid}\uff11")
    assert not witness.exists(f"{uid}1")


@shows("uid-trailing-newline")
def a_line_break_is_not_overlooked(witness: Witness) -> None:
    for ending in ("\n", "\r\n"):
        uid = witness.uid()
        _refused(witness, [uid + ending])
        assert not witness.exists(uid)


@shows("uid-case-sensitive")
def letter_case_tells_documents_apart(witness: Witness) -> None:
    lower = f"{witness.uid(12)}-abc".lower()
    upper = lower.upper()
    witness.saved({"is": "lower"}, uid=lower)
    assert not witness.exists(upper)
    assert witness.get(upper).refused
    witness.saved({"is": "upper"}, uid=upper)
    assert witness.get(lower).json == {"is": "lower"}
    assert witness.get(upper).json == {"is": "upper"}
    witness.arranged(witness.send("DELETE", draft_path(upper)))
    assert witness.exists(lower)


@shows("uid-rule-without-effect")
def deleting_and_listing_know_the_rule(witness: Witness) -> None:
    for uid in (witness.uid(10), witness.uid(129), f"{witness.uid(14)}!"):
        for _ in witness.at("deleteDraft"):
            assert witness.send("DELETE", draft_path(uid)).refused
        for _ in witness.at("listAttachments"):
            assert witness.send("GET", attachments_path(uid), realm=None).refused


@shows("uid-percent-encoding")
def an_encoded_letter_is_the_letter(witness: Witness) -> None:
    uid = witness.uid(14) + "-A"
    encoded = draft_path(uid).replace("-A/", "%2D%41/")
    witness.saved({"is": "plain"}, uid=uid)
    assert witness.send("GET", encoded).json == {"is": "plain"}
    assert witness.send("HEAD", encoded).ok
    assert witness.send("PUT", encoded, {"is": "encoded"}, query={"schema": "contact"}).ok
    assert witness.get(uid).json == {"is": "encoded"}


@shows(
    "workflow-identifier-edges",
    "workflow-identifier-too-short",
    "workflow-identifier-too-long",
    "workflow-identifier-characters",
)
def the_identifier_of_a_submission_obeys_the_rule(witness: Witness) -> None:
    for length in (11, 128):
        assert witness.submit(identifier=witness.uid(length)).ok, length
    for wrong in (witness.uid(10), witness.uid(129), f"{witness.uid()}.x"):
        assert witness.submit(identifier=wrong).refused, wrong


@shows("workflow-identifier-case-sensitive")
def letter_case_tells_records_apart(witness: Witness) -> None:
    lower = f"{witness.uid(12)}-abc".lower()
    witness.arranged(witness.submit(identifier=lower))
    assert witness.submit(identifier=lower.upper()).ok
