"""Clauses that a case may rely on; each is checked with ordinary data once in a realm.

A broken operation is one finding. Cases that rely on it are inconclusive, blocked by that clause. A precondition that
depends on the case's own data is checked in its body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final

from registry_contracts.cases import attachments, drafts, lists, shared_documents
from registry_contracts.cases.known_lists import known_drafts, known_files
from registry_contracts.cases.world import World
from registry_contracts.checks.outcomes import Blocked

#: Clause → its check, which raises Blocked with the operation at fault if the clause does not hold.
PROBES: Final[Mapping[str, Callable[[World], bool]]] = {
    "draft-get-content": lambda world: drafts.need_as_saved(world.author, world.shared_draft()),
    "draft-exists-present": drafts.need_presence,
    "draft-exists-absent": drafts.need_absence,
    "draft-delete-removes": drafts.need_removal,
    "list-answers": lists.need_answer,
    "list-orderby": lambda world: known_drafts(world).need_order(),
    "attachment-create-listed": shared_documents.need_listing,
    "attachment-list-own-only": shared_documents.need_own_list,
    "attachment-list-orderby": lambda world: known_files(world).need_order(),
    "attachment-download-same": lambda world: shared_documents.need_given_back(
        world, world.shared_attachment()
    ),
    "attachment-thumbnail-image": attachments.need_preview,
    "attachment-exists-present": attachments.need_presence,
    "attachment-exists-absent": partial(shared_documents.need_absence, operation="attachmentExists"),
    "attachment-get-absent": partial(shared_documents.need_absence, operation="getAttachment"),
    "attachment-thumbnail-absent": partial(shared_documents.need_absence, operation="getAttachmentThumbnail"),
}


def rely_on(world: World, clauses: Iterable[str]) -> None:
    """Check clauses with ordinary data, each once in a realm; the next case checks one that failed again.

    Raises:
        Blocked: by the first clause that does not hold.
    """
    for clause in clauses:
        try:
            world.once(f"{clause} holds", partial(PROBES[clause], world))
        except Blocked as obstacle:
            raise Blocked(obstacle.operation, obstacle.cause, clause, obstacle.evidence) from None
