"""Defects of the identifier rule that shut out what it lets in, or that mix up two identifiers."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import delete, func, select
from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.defects.altering import Handler, alter, around
from contracts.sandbox.defects.groups import DRAFTS
from contracts.sandbox.defects.registry import defect
from contracts.sandbox.records import DRAFT, Records, Version
from contracts.sandbox.refusals import Refusal, bad_request
from contracts.sandbox.service import Service
from contracts.sandbox.tables import VERSIONS


def refused_when(test: Callable[[str], bool], operations: Iterable[str]) -> Callable[[Service], None]:
    """Return the change that also refuses the uids for which ``test`` holds, in the paths of operations."""
    meant = frozenset(operations)

    def change(service: Service) -> None:
        def from_path(faithful: Callable[..., str], request: Request, name: str = "uid") -> str:
            text: str = faithful(request, name)
            if request.scope["operation_id"] in meant and test(text):
                raise _no_uid()
            return text

        alter(service.identifiers, "from_path", from_path)

    return change


def _no_uid() -> Refusal:
    return bad_request("uid must be letters, digits, hyphen and underscore, 11 to 128 characters")


_SHOWN = ("saveDraft", "getDraft", "draftExists")
_MARKS = (*_SHOWN, "deleteDraft")
_REFUSED: dict[str, tuple[str, str, Callable[[str], bool], tuple[str, ...]]] = {
    "uid-refuses-eleven": ("uid-shortest", "of exactly 11 characters", lambda uid: len(uid) == 11, DRAFTS),
    "uid-refuses-twelve": ("uid-shortest", "of exactly 12 characters", lambda uid: len(uid) == 12, DRAFTS),
    "uid-refuses-eleven-on-delete": (
        "uid-shortest",
        "of exactly 11 characters, on deleting alone,",
        lambda uid: len(uid) == 11,
        ("deleteDraft",),
    ),
    "uid-refuses-128": ("uid-longest", "of exactly 128 characters", lambda uid: len(uid) == 128, DRAFTS),
    "uid-refuses-127": ("uid-longest", "of exactly 127 characters", lambda uid: len(uid) == 127, DRAFTS),
    "uid-refuses-128-on-exists": (
        "uid-longest",
        "of exactly 128 characters, on the exists check alone,",
        lambda uid: len(uid) == 128,
        ("draftExists",),
    ),
    "uid-refuses-128-on-info": (
        "uid-longest",
        "of exactly 128 characters, on asking for the info alone,",
        lambda uid: len(uid) == 128,
        ("getDraftInfo",),
    ),
    "uid-refuses-last-hyphen": ("uid-hyphen", "that ends with a hyphen", lambda uid: _last(uid, "-"), _MARKS),
    "uid-refuses-two-hyphens": (
        "uid-hyphen",
        "with two hyphens side by side",
        lambda uid: _within(uid, "--"),
        _MARKS,
    ),
    "uid-refuses-underscore": ("uid-underscore", "with an underscore", lambda uid: _within(uid, "_"), _MARKS),
    "uid-refuses-last-underscore": (
        "uid-underscore",
        "that ends with an underscore",
        lambda uid: _last(uid, "_"),
        _MARKS,
    ),
    "uid-refuses-digits-only": ("uid-digits-only", "made of digits alone", str.isdigit, _MARKS),
    "uid-refuses-hyphens-only": (
        "uid-hyphens-only",
        "made of hyphens alone",
        lambda uid: set(uid) == {"-"},
        _MARKS,
    ),
    "uid-refuses-underscores-only": (
        "uid-hyphens-only",
        "without any letter or digit, made of hyphens and underscores,",
        lambda uid: set(uid) <= {"-", "_"} and "_" in uid,
        _MARKS,
    ),
}


def _last(uid: str, sign: str) -> bool:
    return uid.endswith(sign) and re.search("[A-Za-z0-9]", uid) is not None


def _within(uid: str, sign: str) -> bool:
    return sign in uid and re.search("[A-Za-z0-9]", uid) is not None


for _name, (_clause, _which, _test, _operations) in _REFUSED.items():
    defect(_name, clause=_clause, operations=_operations, sentence=f"A uid {_which} is refused.")(
        refused_when(_test, _operations)
    )


@defect("uid-number-loses-leading-zero", clause="uid-digits-only", operations=["saveDraft"])
def _(service: Service) -> None:
    """A draft saved under digits alone is stored under them as a number, without leading zeros."""

    def from_path(faithful: Callable[..., str], request: Request, name: str = "uid") -> str:
        text: str = faithful(request, name)
        saving = request.scope["operation_id"] == "saveDraft"
        return str(int(text)) if saving and text.isdigit() else text

    alter(service.identifiers, "from_path", from_path)


class _AnyCase(Records):
    """Finds a draft under a uid that differs only in letter case."""

    def version(self, realm: str, identifier: str, state: str) -> Version | None:
        found = super().version(realm, identifier, state)
        if found is not None or state != DRAFT:
            return found
        like = select(VERSIONS.c.identifier).where(
            VERSIONS.c.realm == realm,
            VERSIONS.c.state == state,
            func.lower(VERSIONS.c.identifier) == identifier.lower(),
        )
        other = self.connection.execute(like).scalars().first()
        return None if other is None else super().version(realm, other, state)


@defect("uid-letter-case-ignored", clause="uid-case-sensitive", operations=_MARKS)
def _(service: Service) -> None:
    """A draft is found, and written over, under a uid that differs only in letter case."""
    service.storage.records = _AnyCase


@defect("uid-letter-case-ignored-on-exists", clause="uid-case-sensitive", operations=["draftExists"])
def _(service: Service) -> None:
    """The exists check alone finds a draft under a uid that differs only in letter case."""

    async def answer(faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        except Refusal:
            uid, realm = service.identifiers.from_path(request), service.realms.of_documents(request)
            with service.storage.transaction() as records:
                if _AnyCase(records.connection).version(realm.name, uid, DRAFT) is None:
                    raise
            return Response(media_type="application/json")

    around(service, ["draftExists"], answer)


class _DeletesAnyCase(Records):
    """Removes the drafts of all uids that differ only in letter case."""

    def remove_draft(self, realm: str, identifier: str) -> None:
        same: Any = func.lower(VERSIONS.c.identifier) == identifier.lower()
        here = (VERSIONS.c.realm == realm, VERSIONS.c.state == DRAFT, same)
        self.connection.execute(delete(VERSIONS).where(*here))


@defect("uid-letter-case-ignored-on-delete", clause="uid-case-sensitive", operations=["deleteDraft"])
def _(service: Service) -> None:
    """Deleting a draft takes along the draft whose uid differs only in letter case."""
    service.storage.records = _DeletesAnyCase


@defect("uid-percent-encoding-refused", clause="uid-percent-encoding", operations=_SHOWN)
def _(service: Service) -> None:
    """An allowed character written percent-encoded in the path is refused."""

    def from_path(faithful: Callable[..., str], request: Request, name: str = "uid") -> str:
        text: str = faithful(request, name)
        if "%" in request.path_params[name] and request.scope["operation_id"] in _SHOWN:
            raise _no_uid()
        return text

    alter(service.identifiers, "from_path", from_path)
