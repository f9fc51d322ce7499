"""Whether a sandbox keeps the clauses on attachments."""

import itertools
from dataclasses import replace
from io import BytesIO

from PIL import Image, UnidentifiedImageError

from tests.meta.defects.observing import shows
from tests.meta.defects.samples import attachments_path
from tests.meta.defects.wire import Answer
from tests.meta.defects.witness import PNG, Witness

EVERY_BYTE = b"\xef\xbb\xbf" + bytes(range(256)) + b"line\r\nend\r\n"
LARGE = bytes(70_000)
SIZE_LIMIT = 200_000
"""The limit for created attachments of the sandboxes that are looked at, in bytes."""


def _ids(witness: Witness, uid: str) -> list[object]:
    return [item["id"] for item in witness.attachments(uid)]


READINGS = {
    "attachmentExists": ("HEAD", ""),
    "getAttachment": ("GET", ""),
    "getAttachmentThumbnail": ("GET", "/thumbnail"),
}


def _readings(witness: Witness) -> list[tuple[str, str]]:
    """Return method and last part of the path of the reading operations that are looked at."""
    return [READINGS[operation] for operation in witness.at(*READINGS)]


@shows("attachment-create-accepted")
def a_file_is_accepted(witness: Witness) -> None:
    for realm in witness.realms:
        uid = witness.saved(realm=realm)
        for number, content in enumerate((b"text", EVERY_BYTE, LARGE)):
            assert witness.attach(uid, f"{number}.bin", content).ok


@shows("attachment-create-listed")
def a_created_attachment_is_listed(witness: Witness) -> None:
    uid = witness.saved()
    numbers = [witness.attached(uid, f"{place}.bin", content) for place, content in enumerate((b"a", LARGE))]
    for _ in range(25):
        assert set(numbers) <= set(_ids(witness, uid))


@shows("attachment-download-same")
def a_download_is_what_was_sent(witness: Witness) -> None:
    uid = witness.saved()
    for place, content in enumerate((EVERY_BYTE, LARGE + b"end\n", b"\n")):
        number = witness.attached(uid, f"{place}.bin", content)
        assert witness.attachment(uid, number, f"{place}.bin").body == content


@shows("attachment-several")
def several_attachments_stand_side_by_side(witness: Witness) -> None:
    uid = witness.saved()
    made = {}
    for name in ("a.txt", "b.txt", "c.txt"):
        answer = witness.attach(uid, name, name.encode())
        assert answer.ok, answer.text
        made[name] = answer.json["id"]
    assert set(_ids(witness, uid)) == set(made.values())
    for name, number in made.items():
        assert witness.attachment(uid, number, name).body == name.encode()


@shows("attachment-list-own-only")
def only_own_attachments_are_listed(witness: Witness) -> None:
    common = witness.uid()
    uid, other, alike = witness.saved(uid=f"{common}-1"), witness.saved(), witness.saved(uid=f"{common}-2")
    own = witness.attached(uid)
    witness.attached(other)
    witness.attached(alike)
    assert _ids(witness, uid) == [own]


@shows("attachment-exists-present")
def an_attachment_exists(witness: Witness) -> None:
    uid = witness.saved()
    for name in ("a.txt", "b.txt"):
        assert witness.attachment(uid, witness.attached(uid, name), name, "HEAD").ok


@shows("attachment-exists-absent", "attachment-get-absent", "attachment-thumbnail-absent")
def an_absent_attachment_is_not_found(witness: Witness) -> None:
    uid = witness.saved()
    number = witness.attached(uid)
    for method, more in _readings(witness):
        assert witness.attachment(uid, number + 1000, method=method, more=more).refused, (method, more)


@shows(
    "attachment-exists-other-document",
    "attachment-get-other-document",
    "attachment-thumbnail-other-document",
)
def an_attachment_belongs_to_its_document(witness: Witness) -> None:
    uid, other = witness.saved(), witness.saved()
    number = witness.attached(other)
    for method, more in _readings(witness):
        assert witness.attachment(uid, number, method=method, more=more).refused, (method, more)


@shows("attachment-id-integer", "attachment-id-thumbnail")
def an_attachment_identifier_is_an_integer(witness: Witness) -> None:
    uid = witness.saved()
    number = witness.attached(uid)
    for method, more in _readings(witness):
        for wrong in ("latest", f"{number}abc", f"{number}.0"):
            assert witness.attachment(uid, wrong, method=method, more=more).refused, (method, more, wrong)


def _picture(answer: Answer) -> bytes:
    assert answer.ok, answer.text
    assert answer.headers.get("content-type", "").startswith("image/")
    try:
        with Image.open(BytesIO(answer.body)) as image:
            return image.convert("RGB").tobytes()
    except UnidentifiedImageError:
        raise AssertionError("the thumbnail is no image") from None


def _drawn(colour: str) -> bytes:
    buffer = BytesIO()
    Image.new("RGB", (40, 30), colour).save(buffer, "PNG")
    return buffer.getvalue()


@shows("attachment-thumbnail-image")
def the_thumbnail_of_a_picture_is_a_picture(witness: Witness) -> None:
    uid = witness.saved()
    number = witness.attached(uid, "a.png", _drawn("red"))
    _picture(witness.attachment(uid, number, "a.png", more="/thumbnail"))


@shows("attachment-thumbnail-own")
def the_thumbnails_of_two_pictures_differ(witness: Witness) -> None:
    uid = witness.saved()
    seen = []
    for name, colour in (("a.png", "red"), ("b.png", "blue")):
        number = witness.attached(uid, name, _drawn(colour))
        seen.append(_picture(witness.attachment(uid, number, name, more="/thumbnail")))
    assert seen[0] != seen[1]


@shows("attachment-persist-listed")
def a_persisted_file_is_listed(witness: Witness) -> None:
    uid = witness.saved()
    answer = witness.persist(uid, witness.temporary(PNG))
    assert answer.ok, answer.text
    assert len(witness.attachments(uid)) == 1


@shows("attachment-persist-downloads")
def a_persisted_file_can_be_downloaded(witness: Witness) -> None:
    uid = witness.saved()
    told = witness.arranged(witness.persist(uid, witness.temporary(PNG))).json
    download = witness.attachment(uid, told["id"], told.get("filename", "none"))
    assert download.ok
    assert download.body


def _not_persisted(witness: Witness, *file_ids: str) -> None:
    uid = witness.saved()
    for file_id in file_ids:
        assert witness.persist(uid, file_id).refused, file_id
        assert witness.attachments(uid) == []


@shows("attachment-persist-unknown")
def an_unknown_temporary_file_is_refused(witness: Witness) -> None:
    _not_persisted(witness, "never-uploaded", "sandbox-temporary-abs-dev-99")


@shows("attachment-temporary-characters")
def an_unsafe_temporary_identifier_is_refused(witness: Witness) -> None:
    _not_persisted(witness, "with space", "with<angle>")


@shows("attachment-size-within", "attachment-size-at-limit")
def a_file_up_to_the_limit_is_kept_whole(witness: Witness) -> None:
    uid = witness.saved()
    for size in (SIZE_LIMIT * 9 // 10, SIZE_LIMIT):
        answer = witness.attach(uid, f"{size}.bin", bytes(size))
        assert answer.ok, answer.text
        assert witness.attachment(uid, answer.json["id"], f"{size}.bin").body == bytes(size)


@shows("attachment-size-above")
def a_file_above_the_limit_is_refused(witness: Witness) -> None:
    uid = witness.saved()
    for size, announced in itertools.product((SIZE_LIMIT + 1, 2 * SIZE_LIMIT), (True, False)):
        request = witness.make("POST", f"{attachments_path(uid)}/a.bin", bytes(size), realm=None)
        answer = witness.wire.send(replace(request, announced=announced))
        assert answer.refused, (size, announced)
        assert witness.attachments(uid) == []


@shows("attachment-list-empty")
def a_document_without_attachments_has_an_empty_list(witness: Witness) -> None:
    assert witness.attachments(witness.saved()) == []


@shows("attachment-outlives-save")
def an_attachment_outlives_a_save(witness: Witness) -> None:
    uid = witness.saved()
    number = witness.attached(uid)
    witness.arranged(witness.save(uid, {"saved": "again"}))
    assert _ids(witness, uid) == [number]
    assert witness.attachment(uid, number).ok


@shows("attachment-listed-identifier")
def a_listed_attachment_carries_its_number(witness: Witness) -> None:
    uid = witness.saved()
    witness.attached(uid)
    (item,) = witness.attachments(uid)
    numbers = [value for value in item.values() if type(value) is int]
    assert any(witness.attachment(uid, number).ok for number in numbers), item


@shows("attachment-name-without-extension")
def a_name_needs_no_extension(witness: Witness) -> None:
    assert witness.attach(witness.saved(), "README").ok
