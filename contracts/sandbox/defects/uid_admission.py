"""How defects let the paths of operations name what is no identifier."""

import re
from collections.abc import Callable, Iterable

from starlette.requests import Request

from contracts.sandbox.defects.altering import alter
from contracts.sandbox.defects.groups import ATTACHING, DRAFTS, READING_ATTACHMENTS
from contracts.sandbox.identifiers import decoded_segment
from contracts.sandbox.query import header_value
from contracts.sandbox.service import Service

WITH_UID = (*DRAFTS, *ATTACHING, "listAttachments", *READING_ATTACHMENTS)
SHOWN = ("saveDraft", "getDraft", "draftExists")
"""Operations on which a uid that was let in shows at once: a draft can be saved, read and checked."""

SHAPE = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)
Read = Callable[[str], str | None]


def admit(
    service: Service, read: Read, operations: Iterable[str] = WITH_UID, realm: str | None = None
) -> None:
    """Let the paths of some operations name what ``read`` makes of a text; ``None`` leaves it to the rule."""
    meant = frozenset(operations)

    def from_path(faithful: Callable[..., str], request: Request, name: str = "uid") -> str:
        text = decoded_segment(request.path_params[name])
        if text is not None and request.scope["operation_id"] in meant and name == "uid":
            found = read(text)
            if found is not None and realm in {None, header_value(request, "realm")}:
                return found
        return faithful(request, name)

    alter(service.identifiers, "from_path", from_path)


def as_it_is(test: Callable[[str], bool]) -> Read:
    """Return the reading of a text as itself, where it passes a test."""
    return lambda text: text if test(text) else None
