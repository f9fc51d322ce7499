"""Steps on the list of drafts. A list may be a moment late, hold thousands of drafts, and be long to walk through."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from contracts.generation.arrangement import done
from contracts.generation.model import SUBMITTED, Document
from contracts.generation.model_scene import Scene
from contracts.judging.listing import Page, drafts_of
from contracts.judging.outcomes import Blocked
from contracts.session.actor import Actor

#: Pages that are read before a list counts as too long to tell what is not in it.
_MOST_PAGES = 30


@dataclass(frozen=True)
class Promise:
    """What a collection promises: clauses for the caller's drafts, for deleted ones, for those of somebody else."""

    collection: str
    mine: str
    mine_is_must: bool
    theirs: str
    theirs_is_must: bool
    gone: str = "list-deleted-gone"


@dataclass
class Expected:
    """Documents that a list has to hold and those that it must not, by clause."""

    held: list[Document] = field(default_factory=list)
    gone: list[Document] = field(default_factory=list)
    theirs: list[Document] = field(default_factory=list)

    @property
    def uids(self) -> list[str]:
        """Uids of all of them."""
        return [document.uid for document in (*self.held, *self.gone, *self.theirs)]

    def agrees(self, named: set[str]) -> bool:
        """Whether a list that names these uids is as expected."""
        must_not = (*self.gone, *self.theirs)
        return all(document.uid in named for document in self.held) and not any(
            document.uid in named for document in must_not
        )


_MY = Promise("my", "list-my-has-mine", False, "list-my-without-others", True)
_MYDRAFTS = Promise("mydrafts", "list-mydrafts-has-mine", True, "list-mydrafts-without-others", False)


def my(scene: Scene, document: Document) -> None:
    """List the collection `my` of the document's owner."""
    _list(scene, document, _MY)


def mydrafts(scene: Scene, document: Document) -> None:
    """List the collection `mydrafts` of the document's owner."""
    _list(scene, document, _MYDRAFTS)


def _list(scene: Scene, document: Document, promise: Promise) -> None:
    actor = scene.owner(document)
    expected = _expected(scene, document.owner, promise)
    named: set[str] = set()

    def agrees() -> bool:
        nonlocal named
        named = _named(scene, actor, promise.collection, expected)
        return expected.agrees(named)

    if not agrees():
        scene.cast.eventually(agrees)
    _judge(scene, promise.mine, promise.mine_is_must, expected.held, named, wanted=True)
    _judge(scene, promise.gone, True, expected.gone, named, wanted=False)
    _judge(scene, promise.theirs, promise.theirs_is_must, expected.theirs, named, wanted=False)


def _expected(scene: Scene, role: str, promise: Promise) -> Expected:
    """What the list is judged by; shoulds that were contradicted often enough are not waited for any more."""
    documents = [document for document in scene.documents.values() if document.name != SUBMITTED]
    mine = [document for document in documents if document.owner == role]
    theirs = [each for each in documents if each.owner != role]

    def due(clause: str, is_must: bool, among: list[Document]) -> list[Document]:
        there = [each for each in among if each.version is not None]
        return [each for each in there if is_must or not scene.cast.known((clause, "listDrafts"), each.uid)]

    return Expected(
        held=due(promise.mine, promise.mine_is_must, mine),
        gone=[each for each in mine if each.gone and each.version is None],
        theirs=due(promise.theirs, promise.theirs_is_must, theirs),
    )


def _judge(
    scene: Scene, clause: str, is_must: bool, documents: Iterable[Document], named: set[str], *, wanted: bool
) -> None:
    key = (clause, "listDrafts")
    for document in documents:
        holds = (document.uid in named) is wanted
        expected = f"{document.name} {'in' if wanted else 'not in'} the list"
        seen = f"{document.name} is {'not ' if wanted else ''}listed"
        if is_must:
            scene.must(key, holds, expected=expected, seen=seen)
        else:
            scene.should(key, holds, document, expected=expected, seen=seen)


def _named(scene: Scene, actor: Actor, collection: str, expected: Expected) -> set[str]:
    """Which of the expected uids a list names; read page by page until those it has to hold are found.

    Raises:
        Blocked: the list is refused, is no list, or cannot be read to its end.
    """
    lister, named, at = drafts_of(actor, collection), set[str](), 0
    wanted, last = {document.uid for document in expected.held}, None
    for number in range(_MOST_PAGES):
        page = _page(scene, lister.page(skip=at) if number else lister.page())
        named |= {uid for uid in expected.uids if page.names(uid)}
        if wanted <= named or page.size == 0:
            return named
        if page.records == last:
            raise Blocked("listDrafts", "the list cannot be read to its end: $skip gives the same page again")
        at, last = at + page.size, page.records
    raise Blocked("listDrafts", f"the list goes on after {_MOST_PAGES} pages, so that absence cannot be told")


def _page(scene: Scene, page: Page) -> Page:
    scene.exchanges.append(page.exchange)
    done(page.exchange)
    if page.size < 0:
        raise Blocked("listDrafts", f"the answer is no list: {page.exchange.answer.quote()}")
    return page
