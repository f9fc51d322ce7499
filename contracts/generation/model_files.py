"""Steps on attachments: create, download all of a document's, list. Each is created under a name of its own."""

from __future__ import annotations

from contracts.generation.model import Document, File
from contracts.generation.model_scene import Scene
from contracts.judging import readers
from contracts.judging.claims import usable
from contracts.judging.outcomes import Blocked

_OUTLIVES = "attachment-outlives-save"


def attach(scene: Scene, document: Document) -> None:
    """Create one more attachment of a document that has a draft."""
    scene.cast.attachments -= 1
    number = sum(len(each.files) for each in scene.documents.values()) + 1
    name = f"{document.uid[-8:]}-{number}.txt"
    content = f"file {number} of {document.uid}\n".encode() * number
    before = len(scene.cast.attempt.exchanges)
    attachment = scene.cast.arrange.attachment(scene.owner(document), document.uid, name, content)
    scene.exchanges += scene.cast.attempt.exchanges[before:]
    for each in scene.documents.values():
        for file in each.files:
            file.neighbour_since = True
    document.files.append(File(attachment.path, content))


def download(scene: Scene, document: Document) -> None:
    """Download every attachment of a document: each gives its own bytes."""
    for file in document.files:
        _, answer = scene.send(scene.owner(document), "getAttachment", path=file.path)
        if 300 <= answer.status < 400:
            raise Blocked("getAttachment", f"answered {answer.status}, a redirect that leads nowhere")
        if not answer.success and file.saved_since:
            key = (_OUTLIVES, "getAttachment")
            scene.should(key, False, document, expected=f"{file.name} still there", seen=answer.quote())
            document.files.remove(file)
            return
        clause = "attachment-several" if file.neighbour_since else "attachment-download-same"
        seen = _bytes_seen(scene, answer.content) if answer.success else answer.quote()
        scene.must(
            (clause, "getAttachment"),
            answer.success and answer.content == file.content,
            expected=f"the bytes of {file.name}",
            seen=seen,
        )
        if file.saved_since:
            scene.should((_OUTLIVES, "getAttachment"), True, document, expected="", seen="")
        file.saved_since = file.neighbour_since = False


def _bytes_seen(scene: Scene, content: bytes) -> str:
    files = (file for document in scene.documents.values() for file in document.files)
    owner = next((file for file in files if file.content == content), None)
    return f"the bytes of {owner.name}" if owner else f"{len(content)} other bytes"


def listed(scene: Scene, document: Document) -> None:
    """List the attachments of a document: all of its own, none of another's."""
    found: list[int] = []
    names: set[str] = set()

    def look() -> bool:
        exchange, answer = scene.send(scene.owner(document), "listAttachments", path={"uid": document.uid})
        if not usable(exchange).success:
            raise Blocked("listAttachments", f"answered {answer.quote()}")
        found[:] = readers.integers(answer.json)
        names.clear()
        names.update(value for value in readers.values(answer.json) if isinstance(value, str))
        return all(file.id in found for file in document.files if not file.saved_since)

    if not look():
        scene.cast.eventually(look)
    for file in document.files:
        seen = f"{file.name} (id {file.id}) is not listed"
        if file.saved_since:
            continue  # whether it outlived the save is for a download to tell first
        if file.resaved:
            key = (_OUTLIVES, "listAttachments")
            scene.should(key, file.id in found, document, expected=f"{file.name} listed", seen=seen)
            continue
        clause = "attachment-several" if len(document.files) > 1 else "attachment-create-listed"
        scene.must((clause, "listAttachments"), file.id in found, expected=f"{file.name} listed", seen=seen)
    strange = [
        file.name
        for other in scene.documents.values()
        for file in other.files
        if other is not document and file.name in names
    ]
    key = ("attachment-list-own-only", "listAttachments")
    scene.must(key, not strange, expected=f"files of {document.name} alone", seen=", ".join(strange))
