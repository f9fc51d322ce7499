"""Steps on the workflow: documents that break their schema, of which nothing may be stored.

They are sent where there is a draft, where there is none, and to a record that was submitted before.
"""

from __future__ import annotations

from typing import Any

from contracts.generation.model import SUBMITTED, Document, Happening
from contracts.generation.model_scene import Scene
from contracts.generation.submissions import CREATE_NAMED, UPDATE, submit
from contracts.judging import readers
from contracts.judging.claims import usable
from contracts.judging.content import turned_down
from contracts.judging.outcomes import Blocked


def submit_faulty(scene: Scene, document: Document) -> None:
    """Create where there is no draft, update where there is one; both have to be refused."""
    actor, samples = scene.owner(document), scene.cast.samples
    update = document.version is not None or document.name == SUBMITTED
    faulty = samples.faulty_submission(document.uid)
    exchange = submit(UPDATE if update else CREATE_NAMED, actor, samples, document.uid, faulty)
    scene.exchanges.append(exchange)
    if not turned_down(usable(exchange)):
        scene.renew(document.name)
        raise Blocked(exchange.operation or "", f"took a faulty document: {exchange.answer.quote()}")
    if document.name == SUBMITTED:
        _nothing_stored(scene, document, faulty["document"])
        return
    document.since.append(Happening.REFUSED_UPDATE if update else Happening.REFUSED_CREATE)


def _nothing_stored(scene: Scene, document: Document, faulty: dict[str, Any]) -> None:
    """The draft of a submitted record may have moved on with its workflow, but it never holds what was refused."""
    _, answer = scene.send(scene.owner(document), "getDraft", path={"uid": document.uid})
    spoilt = {name: value for name, value in faulty.items() if name != "header"}
    stored = answer.success and readers.holds_document(answer, spoilt)
    key = ("workflow-refused-update-keeps-draft", UPDATE)
    scene.must(key, not stored, expected="nothing of the refused document", seen="the refused document")
