"""Faults of lists: items that are lost, doubled or stale, and options that are ignored or read wrongly."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from contracts.interface.catalogue import load_catalogue
from contracts.sandbox.faults.fault import (
    SINGLE,
    Answer,
    Below,
    Family,
    Fault,
    Memory,
    Request,
    claimable_clauses,
    items_of,
    kebab,
    with_items,
)

_LISTS: Final = Family("lists")
_OPTIONS: Final = Family("options")

#: What may happen to the items of a list on their way out.
LIST_OPERATORS: Final[Mapping[str, Callable[[list[Any]], list[Any]]]] = MappingProxyType(
    {
        "first-lost": lambda items: items[1:],
        "last-lost": lambda items: items[:-1],
        "second-lost": lambda items: items[:1] + items[2:],
        "first-doubled": lambda items: items[:1] + items,
        "last-doubled": lambda items: items + items[-1:],
        "reversed": lambda items: items[::-1],
        "emptied": lambda _: [],
    }
)


async def items_changed(
    request: Request, below: Below, _: Memory, *, change: Callable[[list[Any]], list[Any]], where: str
) -> Answer | None:
    """The items of a list are changed: always, on a full page, or beside an option."""
    options = {name.removeprefix("$"): value for name, value in request.query}
    if where.startswith("-with-") and where.removeprefix("-with-") not in options:
        return None
    answer = await below(request)
    items = items_of(answer.json)
    if not answer.success or items is None:
        return answer
    top = options.get("top", "")
    if where == "-of-full-page" and not (top.isdigit() and len(items) == int(top)):
        return answer
    return with_items(answer, change)


async def deleted_stay(request: Request, below: Below, memory: Memory, *, collection: str) -> Answer | None:
    """Drafts that were deleted are still listed."""
    if collection and dict(request.query).get("collection") != collection:
        return None
    answer = await below(request)
    stale = [
        item
        for text, item in memory.items["listDrafts"].items()
        if any(uid in text for uid in memory.deleted)
    ]
    remembered = stale or [{"identifier": uid} for uid in memory.deleted]
    return with_items(answer, lambda items: [*remembered, *items]) if answer.success else answer


async def of_others_listed(
    request: Request, below: Below, memory: Memory, *, collection: str
) -> Answer | None:
    """Drafts that other accounts saved are listed, too."""
    if dict(request.query).get("collection", "") != collection or not request.role:
        return None
    answer = await below(request)
    sample = (items_of(answer.json) or [{}])[0] if answer.success else {}
    foreign = [
        {**sample, "identifier": uid}
        for (realm, uid), saved in memory.saved.items()
        if saved.role not in ("", request.role) and realm == request.realm
    ]
    return with_items(answer, lambda items: [*foreign, *items]) if answer.success else answer


async def of_other_documents_listed(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Attachments of other documents are listed, too."""
    answer = await below(request)
    own = items_of(answer.json) or []
    texts = {json.dumps(item, sort_keys=True) for item in own}
    foreign = [item for text, item in memory.items["listAttachments"].items() if text not in texts]
    return with_items(answer, lambda items: items + foreign[-1:]) if answer.success else answer


async def answered_as_before(request: Request, below: Below, memory: Memory) -> Answer | None:
    """The answer is the one that the same request got before."""
    key = (
        request.operation.id,
        request.uid + str(sorted(request.params.items())) + str(request.query) + request.role,
    )
    before = memory.answers.get(key)
    answer = await below(request)
    if answer.success:
        memory.answers.setdefault(key, answer)
    return before if before is not None and answer.success else answer


#: What an altered list of drafts or attachments breaks, by operator.
_LIST_CLAUSES: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = MappingProxyType(
    {
        "listDrafts": {
            "lost": (
                "list-mydrafts-has-mine",
                "list-pages-cover",
                "list-skip",
                "list-top-and-skip",
                "list-plain-has-mine",
            ),
            "doubled": ("list-pages-cover", "list-saved-twice", "list-top", "list-skip", "list-top-and-skip"),
            "reversed": (
                "list-skip",
                "list-top-and-skip",
                "list-pages-cover",
                "list-orderby",
                "list-orderby-falling",
            ),
        },
        "listAttachments": {
            "lost": (
                "attachment-create-listed",
                "attachment-list-pages-cover",
                "attachment-several",
                "attachment-list-skip",
            ),
            "doubled": ("attachment-list-pages-cover", "attachment-list-top", "attachment-list-skip"),
            "reversed": ("attachment-list-skip", "attachment-list-pages-cover", "attachment-list-orderby"),
        },
    }
)


def list_faults() -> Iterator[Fault]:
    """Items of a list, lost, doubled, or there although they must not be."""
    for operation, clauses in _LIST_CLAUSES.items():
        for operator, change in LIST_OPERATORS.items():
            kind = next((kind for kind in clauses if kind in operator), "lost")
            for where in ("", "-of-full-page", "-with-filter", "-with-orderby", "-with-skip"):
                broken = clauses[kind]
                if where in ("-with-filter", "-with-orderby"):
                    broken = tuple(
                        c for c in claimable_clauses() if c.startswith(_prefix(operation)) and where[6:] in c
                    )
                if operator == "reversed" and where in ("", "-with-filter", "-of-full-page"):
                    continue  # the order of a list without an ordering expression is not shown
                yield from _LISTS.faults(
                    operation,
                    operator + where,
                    broken,
                    partial(items_changed, change=change, where=where),
                    SINGLE if operation == "listDrafts" else ("always",),
                )
    for collection in ("", "my", "mydrafts"):
        yield from _LISTS.faults(
            "listDrafts",
            f"deleted-stay-listed{'-in-' if collection else ''}{collection}",
            ("list-deleted-gone",),
            partial(deleted_stay, collection=collection),
        )
        yield from _LISTS.faults(
            "listDrafts",
            f"of-others-listed{'-in-' if collection else ''}{collection}",
            ("list-my-without-others", "list-mydrafts-without-others"),
            partial(of_others_listed, collection=collection),
        )
    yield from _LISTS.faults(
        "listAttachments",
        "of-other-documents-listed",
        ("attachment-list-own-only",),
        of_other_documents_listed,
        ("always", "every-third"),
    )
    for operation in _LIST_CLAUSES:
        yield from _LISTS.faults(
            operation,
            "stale",
            _LIST_CLAUSES[operation]["lost"] + ("list-deleted-gone",) * (operation == "listDrafts"),
            answered_as_before,
            ("from-second-time", "every-third"),
        )


def _prefix(operation: str) -> str:
    return "list-" if operation == "listDrafts" else "attachment-list-"


async def option_ignored(
    request: Request, below: Below, _: Memory, *, name: str, beside: str = "", containing: str = ""
) -> Answer | None:
    """An option has no effect: always, beside another one, or when its expression holds a word."""
    options = dict(request.query)
    if name not in options or (beside and beside not in options) or containing not in options[name]:
        return None
    return await below(request.with_query(name))


async def number_shifted(request: Request, below: Below, _: Memory, *, name: str, by: int) -> Answer | None:
    """An option that is a number counts for one more or one less."""
    value = dict(request.query).get(name, "")
    if not value.isdigit():
        return None
    return await below(request.with_query(**{name: str(max(0, int(value) + by))}))


async def skip_counts_pages(
    request: Request, below: Below, _: Memory, *, top: str, skip: str
) -> Answer | None:
    """The number of skipped items counts pages."""
    options = dict(request.query)
    size, pages = options.get(top, ""), options.get(skip, "")
    if not (size.isdigit() and pages.isdigit()):
        return None
    return await below(request.with_query(**{skip: str(int(pages) * max(1, int(size)))}))


async def word_lost(request: Request, below: Below, _: Memory, *, name: str, word: str) -> Answer | None:
    """A word of an expression has no effect."""
    value = dict(request.query).get(name, "")
    return await below(request.with_query(**{name: value.replace(word, "")})) if word in value else None


#: Operators and functions of a filter, as they stand in its text.
_FILTER_WORDS: Final = (
    " eq ",
    " ne ",
    " gt ",
    " lt ",
    " ge ",
    " le ",
    " and ",
    " or ",
    "not ",
    "contains(",
    "startswith(",
)


def option_faults() -> Iterator[Fault]:
    """Each option of a list ignored, or read wrongly, by itself and in company."""
    for operation, dollar in (("listDrafts", "$"), ("listAttachments", "")):
        clauses = _clauses_of_options(operation, dollar)
        yield from _ignored_options(operation, dollar, clauses)
        yield from _misread_options(operation, dollar, clauses)


def _clauses_of_options(operation: str, dollar: str) -> dict[str, tuple[str, ...]]:
    """The clauses that break where an option of a list is ignored or read wrongly."""
    prefix = _prefix(operation)
    pages = (f"{prefix}pages-cover", *(("list-top-and-skip",) if dollar else ()))
    table = {
        "top": (f"{prefix}top", *pages, *(("list-collection-with-top",) if dollar else ())),
        "skip": (
            f"{prefix}skip",
            f"{prefix}skip-beyond",
            *pages,
            *(("list-collection-with-skip",) if dollar else ()),
        ),
        "filter": (
            f"{prefix}filter",
            f"{prefix}filter-heeded",
            f"{prefix}filter-meaning",
            *(("list-filter-with-top", "list-collection-with-filter") if dollar else ()),
        ),
        "orderby": (
            f"{prefix}orderby",
            f"{prefix}orderby-heeded",
            f"{prefix}orderby-meaning",
            f"{prefix}orderby-with-page",
            *(("list-orderby-falling",) if dollar else ()),
        ),
    }
    if dollar:
        table["collection"] = (
            "list-my-without-others",
            "list-mydrafts-without-others",
            "list-collection-unknown",
        )
    return table


def _ignored_options(operation: str, dollar: str, table: Mapping[str, tuple[str, ...]]) -> Iterator[Fault]:
    catalogue = load_catalogue()
    for option, clauses in table.items():
        name = option if option == "collection" else dollar + option
        assert all(catalogue.clause(clause) for clause in clauses)  # noqa: S101 - a table that must agree
        for company in ("", *(other for other in table if other != option)):
            other = company if company in ("", "collection") else dollar + company
            yield from _OPTIONS.faults(
                operation,
                f"{option}-ignored{'-beside-' if company else ''}{company}",
                clauses,
                partial(option_ignored, name=name, beside=other),
            )


def _misread_options(operation: str, dollar: str, table: Mapping[str, tuple[str, ...]]) -> Iterator[Fault]:
    for option, by in (("top", 1), ("top", -1), ("skip", 1), ("skip", -1)):
        yield from _OPTIONS.faults(
            operation,
            f"{option}-off-by-{'plus' if by > 0 else 'minus'}-one",
            table[option],
            partial(number_shifted, name=dollar + option, by=by),
        )
    yield from _OPTIONS.faults(
        operation,
        "skip-counts-pages",
        table["skip"],
        partial(skip_counts_pages, top=f"{dollar}top", skip=f"{dollar}skip"),
    )
    for word in _FILTER_WORDS:
        yield from _OPTIONS.faults(
            operation,
            f"filter-with-{kebab(word.strip('( '))}-ignored",
            table["filter"],
            partial(option_ignored, name=f"{dollar}filter", containing=word),
        )
    yield from _OPTIONS.faults(
        operation, "desc-ignored", table["orderby"], partial(word_lost, name=f"{dollar}orderby", word=" desc")
    )
