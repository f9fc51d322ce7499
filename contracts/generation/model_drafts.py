"""Steps on drafts: save, delete, read, check, ask for info, and what a stranger tries."""

from __future__ import annotations

from contracts.generation import model
from contracts.generation.model import Document, Happening
from contracts.generation.model_scene import Scene
from contracts.judging import readers
from contracts.session.exchange import Answer

_CURRENT = ("draft-info-current", "getDraftInfo")
_CREATES = ("draft-save-creates", "saveDraft")


def save(scene: Scene, document: Document) -> None:
    """Save the next content under the document's uid."""
    scene.versions += 1
    version = scene.versions
    draft = scene.cast.samples.draft(document.uid)
    sent = model.content(draft, document.uid, version)
    exchange, answer = scene.send(
        scene.owner(document),
        "saveDraft",
        path={"uid": document.uid},
        query={"schema": scene.cast.samples.draft_schema},
        json=sent,
    )
    if document.version is None and document.deleted:
        key = ("draft-save-after-delete", "saveDraft")
        scene.should(key, answer.success, document, expected="accepted (2xx)", seen=answer.quote())
        if not answer.success:
            scene.renew(document.name)
            return
    else:
        clause = "draft-save-creates" if document.version is None else "draft-save-updates"
        scene.accepts(exchange, (clause, "saveDraft"))
    document.save(version, {name: value for name, value in sent.items() if name != "header"}, answer.json)
    scene.neighbours(document, Happening.NEIGHBOUR_SAVED)


def delete(scene: Scene, document: Document) -> None:
    """Delete the draft; where there is none, whatever is answered, nothing changes."""
    exchange, answer = scene.send(scene.owner(document), "deleteDraft", path={"uid": document.uid})
    if document.version is None:
        return
    if not answer.success and document.files:
        scene.renew(document.name)  # whether a document with attachments can lose its draft is not shown
        return
    scene.accepts(exchange, ("draft-delete-removes", "deleteDraft"))
    document.delete()
    scene.neighbours(document, Happening.NEIGHBOUR_DELETED)


def read(scene: Scene, document: Document) -> None:
    """Read the draft: the content of the last save, or none of any."""
    _, answer = scene.send(scene.owner(document), "getDraft", path={"uid": document.uid})
    if document.saved is None:
        _absent(scene, document, answer)
        return
    shown = document.shown_as(answer.text) if answer.success else []
    holds = answer.success and readers.holds_document(answer, document.saved)
    key = (
        document.suspect()
        if answer.success or not _never_stored(scene, document, "draftExists")
        else _CREATES
    )
    if holds:
        scene.must(key, True, expected="", seen="")
        old = [version for version in shown if version != document.version]
        _replaced(scene, document, old)
        document.since = []
        return
    others = [
        f"the content of {other.name}"
        for other in scene.documents.values()
        if other is not document and other.shown_as(answer.text)
    ]
    told = [f"v{version}" for version in shown if version != document.version] + others
    seen = ", ".join(told) or (
        readers.difference(answer, document.saved) if answer.success else answer.quote()
    )
    scene.must(key, False, expected=f"v{document.version}", seen=seen)


def _replaced(scene: Scene, document: Document, old: list[int]) -> None:
    if len(document.contents) > 1:
        seen = ", ".join(f"members of v{version}" for version in old)
        key = ("draft-save-replaces", "saveDraft")
        scene.should(key, not old, document, expected=f"v{document.version} alone", seen=seen)


def _absent(scene: Scene, document: Document, answer: Answer) -> None:
    """There is no draft to be read: nobody saved one, it was deleted, or what was sent was refused."""
    shown = document.shown_as(answer.text) if answer.success else []
    if document.gone and Happening.REFUSED_CREATE not in document.since:
        seen = ", ".join(f"v{version}" for version in shown)
        key = ("draft-delete-content-gone", "getDraft")
        scene.must(key, not shown, expected="nothing of the deleted draft", seen=seen)
    key = ("draft-get-absent", "getDraft")
    scene.should(key, answer.refusal, document, expected="refused (4xx)", seen=answer.quote())


def _never_stored(scene: Scene, document: Document, otherwise: str) -> bool:
    """Whether a draft that was not found is not found otherwise either, and nothing but its first save can be why."""
    if not {*document.since} <= {Happening.CREATED, Happening.NEIGHBOUR_SAVED} or document.updated:
        return False
    _, answer = scene.send(scene.owner(document), otherwise, path={"uid": document.uid})
    return Happening.CREATED in document.since and not answer.success


def exists(scene: Scene, document: Document) -> None:
    """Check whether the draft exists."""
    _, answer = scene.send(scene.owner(document), "draftExists", path={"uid": document.uid})
    if document.version is not None:
        suspect = document.suspect()
        key = ("draft-exists-present", "draftExists") if suspect[1] == "getDraft" else suspect
        key = _CREATES if not answer.success and _never_stored(scene, document, "getDraft") else key
        scene.must(key, answer.success, expected="the draft exists", seen=answer.quote())
        return
    key = (
        ("draft-delete-removes", "deleteDraft")
        if document.deleted
        else ("draft-exists-absent", "draftExists")
    )
    if Happening.REFUSED_CREATE in document.since and Happening.DELETED not in document.since:
        key = ("workflow-order-validation-before-save", "createWorkflowRecordWithIdentifier")
    seen = f"{answer.status}, the draft exists"
    scene.must(key, not answer.success, expected="no draft", seen=seen)
    document.since = []
    document.gone = document.deleted


def info(scene: Scene, document: Document) -> None:
    """Ask for the info of the draft."""
    _, answer = scene.send(scene.owner(document), "getDraftInfo", path={"uid": document.uid})
    if document.version is None:
        key = ("draft-info-absent", "getDraftInfo")
        scene.should(key, answer.refusal, document, expected="refused (4xx)", seen=answer.quote())
        return
    told = answer.success and bool(answer.json if answer.json is not None else answer.content.strip())
    scene.must(("draft-info-present", "getDraftInfo"), told, expected="some metadata", seen=answer.quote())
    _current(scene, document, answer)


def _current(scene: Scene, document: Document, answer: Answer) -> None:
    """Info after a later save does not tell what the service itself has told to be changed since."""
    latest = answer

    def current() -> bool:
        nonlocal latest
        _, latest = scene.send(scene.owner(document), "getDraftInfo", path={"uid": document.uid})
        return not _stale(document, latest)

    if _stale(document, answer) and not scene.cast.known(_CURRENT, document.uid):
        scene.cast.eventually(current)
    stale = _stale(document, latest)
    if document.told.moved() or stale:
        seen = "; ".join(stale)
        scene.should(_CURRENT, not stale, document, expected=f"info of v{document.version}", seen=seen)
    document.told.info_now = latest.json if isinstance(latest.json, dict) else {}


def _stale(document: Document, answer: Answer) -> list[str]:
    told = answer.json if isinstance(answer.json, dict) else {}
    members = [f"{name} still is {told[name]!r}" for name in document.told.stale(told)]
    shown = document.shown_as(answer.text)
    if shown and document.version not in shown:
        members.append(f"it shows v{max(shown)}")
    return members


def foreign_save(scene: Scene, document: Document) -> None:
    """Another account saves under the uid: refused, so without effect; or accepted, and what follows is not shown."""
    stranger = scene.stranger(document)
    if stranger is None:
        return
    scene.versions += 1
    sent = model.content(scene.cast.samples.draft(document.uid), document.uid, scene.versions)
    query = {"schema": scene.cast.samples.draft_schema}
    _, answer = scene.send(stranger, "saveDraft", path={"uid": document.uid}, query=query, json=sent)
    document.contents[scene.versions] = {name: value for name, value in sent.items() if name != "header"}
    if not answer.refusal:
        scene.renew(document.name)


def foreign_delete(scene: Scene, document: Document) -> None:
    """Another account deletes the draft: refused, so without effect; or accepted, and what follows is not shown."""
    stranger = scene.stranger(document)
    if stranger is None:
        return
    _, answer = scene.send(stranger, "deleteDraft", path={"uid": document.uid})
    if not answer.refusal:
        scene.renew(document.name)
