"""Faults of identifiers: taken for another, refused although they keep the rule, or taken although they break it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import load_description
from contracts.sandbox.faults.fault import ACCEPTANCE, DRAFTS, NAMED_SUBMISSIONS, SINGLE, Fault, under
from contracts.sandbox.faults.injection import STAND_IN, Answer, Below, Memory, Request, answer_json

#: Ways in which two identifiers become one.
FOLDINGS: Final[Mapping[str, Callable[[str], str]]] = MappingProxyType(
    {
        "case-folded": str.lower,
        "underscore-as-hyphen": lambda uid: uid.replace("_", "-"),
        "hyphen-as-underscore": lambda uid: uid.replace("-", "_"),
        "hyphens-lost": lambda uid: uid.replace("-", "") if len(uid.replace("-", "")) > 10 else uid,
        "first-20": lambda uid: uid[:20],
        "first-32": lambda uid: uid[:32],
        "first-64": lambda uid: uid[:64],
        "first-100": lambda uid: uid[:100],
        "first-127": lambda uid: uid[:127],
        "trailing-hyphens-lost": lambda uid: uid.rstrip("-") if len(uid.rstrip("-")) > 10 else uid,
        "trailing-underscores-lost": lambda uid: uid.rstrip("_") if len(uid.rstrip("_")) > 10 else uid,
        "hyphens-collapsed": lambda uid: (
            re.sub("-{2,}", "-", uid) if len(re.sub("-{2,}", "-", uid)) > 10 else uid
        ),
    }
)


#: Classes of identifiers inside the rule, by what a careless service may refuse.
VALID_CLASSES: Final[Mapping[str, Callable[[str], bool]]] = MappingProxyType(
    {
        "of-11": lambda uid: len(uid) == 11,
        "of-12": lambda uid: len(uid) == 12,
        "of-127": lambda uid: len(uid) == 127,
        "of-128": lambda uid: len(uid) == 128,
        "over-64": lambda uid: len(uid) > 64,
        "with-hyphen": lambda uid: "-" in uid.strip("-")[3:],
        "ending-in-hyphen": lambda uid: uid.endswith("-"),
        "with-underscore": lambda uid: "_" in uid,
        "with-capitals": lambda uid: uid != uid.lower(),
        "digits-only": str.isdigit,
        "hyphens-only": lambda uid: not uid.strip("-_"),
    }
)


def _holds(characters: str) -> Callable[[str], bool]:
    return lambda uid: any(character in uid for character in characters)


#: Classes of identifiers outside the rule, by what a careless service may let in.
INVALID_CLASSES: Final[Mapping[str, Callable[[str], bool]]] = MappingProxyType(
    {
        "of-10": lambda uid: len(uid) == 10,
        "under-10": lambda uid: 0 < len(uid) < 10,
        "of-129": lambda uid: len(uid) == 129,
        "over-129": lambda uid: len(uid) > 129,
        "with-space": _holds(" "),
        "with-dot": _holds("."),
        "with-bracket": _holds("]"),
        "with-caret": _holds("^"),
        "with-backslash": _holds("\\"),
        "with-other-sign": _holds("!$&'()*+,;=:@~#%?<>|\"`{}["),
        "with-slash": _holds("/"),
        "with-letter-beyond-ascii": lambda uid: any(c.isalpha() and not c.isascii() for c in uid),
        "with-digit-beyond-ascii": lambda uid: any(c.isdigit() and not c.isascii() for c in uid),
        "ending-in-newline": lambda uid: uid.endswith(("\n", "\r")),
    }
)


async def identifier_folded(
    request: Request, below: Below, _: Memory, *, fold: Callable[[str], str]
) -> Answer | None:
    """The service takes one identifier for another."""
    folded = fold(request.uid)
    return None if folded == request.uid or not request.uid else await below(request.with_uid(folded))


async def identifier_refused(
    request: Request, _below: Below, _: Memory, *, holds: Callable[[str], bool]
) -> Answer | None:
    """The service refuses identifiers of a class."""
    return answer_json(400, {"message": "the identifier is invalid"}) if holds(request.uid) else None


async def identifier_taken(
    request: Request, below: Below, _: Memory, *, holds: Callable[[str], bool]
) -> Answer | None:
    """The service takes identifiers of a class outside the rule for good ones."""
    if not holds(request.uid):
        return None
    answer = await below(request.with_uid(STAND_IN))
    refused_otherwise = answer.status in (401, 403) or (
        isinstance(answer.json, dict) and answer.json.get("errors")
    )
    if answer.success or refused_otherwise:
        return answer
    return answer_json(200, [] if request.operation.id == "listAttachments" else {"identifier": request.uid})


#: An identifier that looks like any other.
_ORDINARY: Final = "rc-a1b2c3d4-e5f6g7h8i9j0"


def identifier_faults() -> Iterator[Fault]:
    """Identifiers that are taken for another, refused although they keep the rule, or taken although they break it."""
    fold_clauses = {
        "case-folded": ("uid-case-sensitive",),
        "underscore-as-hyphen": ("uid-underscore", "draft-save-spares-others", "uid-hyphens-only"),
        "hyphen-as-underscore": ("uid-hyphen", "draft-save-spares-others", "uid-hyphens-only"),
    }
    for operator, fold in FOLDINGS.items():
        clauses = fold_clauses.get(
            operator, ("draft-save-spares-others", "uid-hyphen", "uid-underscore", "uid-longest")
        )
        groups: Mapping[str, tuple[str, ...]] = {
            "drafts": DRAFTS,
            "deleteDraft": ("deleteDraft",),
            "attachments": tuple(o.id for o in load_description().operations.values() if "ttachment" in o.id),
            "submissions": NAMED_SUBMISSIONS,
        }
        extra = {
            "drafts": clauses,
            "deleteDraft": ("draft-delete-spares-others", *clauses),
            # The files of a document are looked for under another uid: there is none, or it is another document's.
            "attachments": (
                "attachment-list-own-only",
                "attachment-create-accepted",
                "attachment-create-listed",
                "uid-files-case-sensitive",
                "uid-files-at-the-edges",
                *clauses,
            ),
            "submissions": (
                "workflow-create-with-identifier-accepted",
                "workflow-identifier-kept",
                "workflow-identifier-case-sensitive",
                *clauses,
            ),
        }
        for label, operations in groups.items():
            yield from under(
                ("always",),
                family="identity",
                operations=operations,
                label=label,
                operator=operator,
                clauses=extra[label],
                # That the identifier rule goes for records too, with all its signs and lengths, is a reading.
                stated=label != "submissions" or fold(_ORDINARY) != _ORDINARY,
                inject=partial(identifier_folded, fold=fold),
            )
    yield from _valid_classes()
    yield from _invalid_classes()


_VALID_CLAUSES: Final = {
    "of-11": "uid-shortest",
    "of-12": "uid-shortest",
    "of-127": "uid-longest",
    "of-128": "uid-longest",
    "over-64": "uid-longest",
    "with-hyphen": "uid-hyphen",
    "ending-in-hyphen": "uid-hyphen",
    "with-underscore": "uid-underscore",
    "with-capitals": "uid-case-sensitive",
    "digits-only": "uid-digits-only",
    "hyphens-only": "uid-hyphens-only",
}


def _valid_classes() -> Iterator[Fault]:
    for operator, holds in VALID_CLASSES.items():
        clause = _VALID_CLAUSES[operator]
        others = ("uid-any-kind",) if operator == "over-64" else ()
        for operation in ("saveDraft", "getDraft", "draftExists", "deleteDraft"):
            yield from under(
                SINGLE,
                family="identity",
                operations=(operation,),
                operator=f"{operator}-refused",
                clauses=(clause, *ACCEPTANCE[operation]) if operator == "with-hyphen" else (clause, *others),
                inject=partial(identifier_refused, holds=holds),
            )


_INVALID_CLAUSES: Final = {
    "of-10": "uid-too-short",
    "under-10": "uid-too-short",
    "of-129": "uid-too-long",
    "over-129": "uid-too-long",
    "with-bracket": "uid-misread-range",
    "with-caret": "uid-misread-range",
    "with-backslash": "uid-misread-range",
    "with-letter-beyond-ascii": "uid-non-ascii",
    "with-digit-beyond-ascii": "uid-non-ascii",
    "ending-in-newline": "uid-trailing-newline",
}


def _invalid_classes() -> Iterator[Fault]:
    catalogue = load_catalogue()
    for operator, holds in INVALID_CLASSES.items():
        near = _INVALID_CLAUSES.get(operator, "uid-forbidden-characters")
        for operation in load_description().operations.values():
            if "uid" not in operation.path_parameters:
                continue
            clauses = [
                c
                for c in (near, "uid-forbidden-characters")
                if operation.id in catalogue.clause(c).operations
            ]
            if clauses:
                yield from under(
                    SINGLE if operation.takes_realm else ("always",),
                    family="identity",
                    operations=(operation.id,),
                    operator=f"{operator}-taken",
                    clauses=tuple(dict.fromkeys(clauses)),
                    inject=partial(identifier_taken, holds=holds),
                )
