"""Plays a sequence of calls on fresh documents, step by step, as far as the target lets them be played."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from contracts.errors import GivenUp
from contracts.generation import model_drafts, model_files, model_lists, model_submissions
from contracts.generation.model import FOREIGN, OWNERS, SUBMITTED, Action, Document, Step
from contracts.generation.model_cast import Cast
from contracts.generation.model_scene import Scene
from contracts.judging.outcomes import Blocked, Contradiction, Untested
from contracts.judging.readers import Ambiguous

_Play = Callable[[Scene, Document], None]
#: What each step does, and the family that is left out once one of its operations does not work.
_STEPS: Final[Mapping[Action, tuple[str, _Play]]] = {
    Action.SAVE: ("drafts", model_drafts.save),
    Action.READ: ("drafts", model_drafts.read),
    Action.EXISTS: ("drafts", model_drafts.exists),
    Action.DELETE: ("deletions", model_drafts.delete),
    Action.INFO: ("infos", model_drafts.info),
    Action.FOREIGN_SAVE: ("strangers", model_drafts.foreign_save),
    Action.FOREIGN_DELETE: ("strangers", model_drafts.foreign_delete),
    Action.MY: ("lists", model_lists.my),
    Action.MYDRAFTS: ("lists", model_lists.mydrafts),
    Action.ATTACH: ("attachments", model_files.attach),
    Action.DOWNLOAD: ("attachments", model_files.download),
    Action.ATTACHMENTS: ("attachments", model_files.listed),
    Action.SUBMIT_FAULTY: ("submissions", model_submissions.submit_faulty),
}
_ESSENTIAL: Final = "drafts"
_FILES: Final = (Action.DOWNLOAD, Action.ATTACHMENTS)


class Play:
    """One play: fresh documents, and the steps done with them."""

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self.scene = Scene(cast)

    def do(self, step: Step) -> None:
        """Play one step; one that has nothing to act on, or whose family does not work, is passed over.

        Raises:
            Contradiction: a must does not hold.
            Blocked: drafts cannot be saved or read at all.
            EnvironmentFault: no answer.
        """
        family, play = _STEPS[step.action]
        if family in self._cast.off or not self._possible(step):
            return
        try:
            document = self._document(step.document)
            self.scene.tell(step, self._addition(step))
            play(self.scene, document)
        except (Blocked, Untested, Ambiguous, GivenUp) as obstacle:
            self._leave_out(family, step, obstacle)

    def all(self, steps: Iterable[Step]) -> None:
        """Play several steps; raises as `do`."""
        for step in steps:
            self.do(step)

    def _possible(self, step: Step) -> bool:
        if step.document == SUBMITTED:
            return step.action is Action.SUBMIT_FAULTY
        document = self.scene.documents.get(step.document)
        if document is None:
            return False
        if step.action in FOREIGN:
            return self._cast.other is not None and document.version is not None
        if step.action is Action.ATTACH:
            return document.version is not None and self._cast.attachments > 0
        return bool(document.files) if step.action in _FILES else True

    def _document(self, name: str) -> Document:
        if name == SUBMITTED and name not in self.scene.documents:
            return self.scene.renew(name, self._submitted())
        return self.scene.documents[name]

    def _submitted(self) -> str:
        """A record that went through the workflow: the locked one of the settings, which no run has to make anew."""
        try:
            return str(self._cast.samples.setting("locked_identifier"))
        except Untested:
            return self._cast.arrange.submission(self._cast.author)

    def _addition(self, step: Step) -> str:
        """What a step's words lack: the number of the content that is about to be saved."""
        saves = step.action in (Action.SAVE, Action.FOREIGN_SAVE)
        return f" v{self.scene.versions + 1}" if saves else ""

    def _leave_out(self, family: str, step: Step, obstacle: Blocked | Untested | Ambiguous | GivenUp) -> None:
        """Go on without a family of steps, or without the other account; without drafts there is nothing to play."""
        if OWNERS.get(step.document) == "other" and family == _ESSENTIAL:
            self.scene.documents.pop(step.document)
            self._cast.other = None
        elif family == _ESSENTIAL:
            raise obstacle
        self._cast.off.setdefault(family if family != _ESSENTIAL else "other account", str(obstacle))


def contradicted_by(cast: Cast, steps: Iterable[Step]) -> tuple[Contradiction, Scene] | None:
    """Play a sequence on fresh documents; the contradiction it ends in, if it does, and what was played until then."""
    play = Play(cast)
    try:
        play.all(steps)
    except Contradiction as found:
        return found, play.scene
    return None
