"""The fault population: every place of the description, with every operator that fits it, under every condition.

It is made from the description and the clause catalogue alone, never from the cases. A fault names the clauses that
it breaks; a confirmed finding on any of them finds it.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from types import MappingProxyType
from typing import Any, Final

from starlette.types import ASGIApp

from contracts.errors import UsageError
from contracts.interface.catalogue import Clause, Level, load_catalogue
from contracts.interface.description import load_description
from contracts.interface.operations import DOCUMENT_REALMS
from contracts.sandbox.faults import injections as inject
from contracts.sandbox.faults import protocol
from contracts.sandbox.faults.injection import Condition, Inject, Injector, Met, Request
from contracts.sandbox.faults.operators import (
    BYTE_OPERATORS,
    DOCUMENT_OPERATORS,
    FOLDINGS,
    INVALID_CLASSES,
    LIST_OPERATORS,
    VALID_CLASSES,
    member_dropped,
    member_null,
    paths_of,
)

#: Every identifier is read and written through these.
DRAFTS: Final = ("saveDraft", "getDraft", "draftExists", "deleteDraft", "getDraftInfo")
SUBMISSIONS: Final = ("createWorkflowRecord", "createWorkflowRecordWithIdentifier", "updateWorkflowRecord")
NAMED_SUBMISSIONS: Final = SUBMISSIONS[1:]
CONTACTS: Final = ("createContact", "updateContact")


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        name: `family/operation/operator/condition`; `load` finds the fault by it.
        family: What kind of thing is wrong.
        operations: Where it acts.
        operator: What goes wrong there.
        condition: When.
        clauses: What it breaks; the first is the nearest.
        label: Stands for the operations in the name; by default the first of them.
        stated: Whether a sentence of the document says outright that it is wrong, or only a reading of one.
        of_successes: The condition counts requests that the service takes, and no others.
    """

    family: str
    operations: tuple[str, ...]
    operator: str
    condition: str
    clauses: tuple[str, ...]
    inject: Inject = field(repr=False, compare=False)
    label: str = ""
    stated: bool = True
    of_successes: bool = False

    @property
    def name(self) -> str:
        """The name that the command line takes."""
        return f"{self.family}/{self.label or self.operations[0]}/{self.operator}/{self.condition}"

    @property
    def level(self) -> Level:
        """Must, when it breaks a must clause; else should."""
        if not self.stated:
            return Level.SHOULD
        levels = {load_catalogue().clause(clause).level for clause in self.clauses}
        return Level.MUST if Level.MUST in levels else Level.SHOULD

    @property
    def realms(self) -> tuple[str, ...]:
        """The realms in which it shows; empty for all."""
        realm = self.condition.removeprefix("in-")
        return (realm,) if realm in DOCUMENT_REALMS else ()

    def over(self, app: ASGIApp) -> Injector:
        """Put the fault over a sandbox."""
        return Injector(
            app,
            operations=self.operations,
            inject=self.inject,
            condition=CONDITIONS[self.condition],
            waits=self.condition == "overlapping",
            of_successes=self.of_successes,
        )


def _in_realm(realm: str) -> Condition:
    return lambda request, _: request.realm in ("", realm)


def _always(_request: Request, _met: Met) -> bool:
    return True


#: When a fault acts.
CONDITIONS: Final[Mapping[str, Condition]] = MappingProxyType(
    {
        "always": _always,
        "second-time": lambda request, met: met.by_uid[request.uid] == 2,
        "from-second-time": lambda request, met: met.by_uid[request.uid] >= 2,
        "every-third": lambda _, met: met.total % 3 == 0,
        "every-fifth": lambda _, met: met.total % 5 == 0,
        "after-five": lambda _, met: met.total > 5,
        "after-thirty": lambda _, met: met.total > 30,
        "overlapping": lambda _, met: met.overlapped,
        **{f"in-{realm}": _in_realm(realm) for realm in DOCUMENT_REALMS},
    }
)
#: Conditions for what is judged by single requests; the others need a request to be made again.
_SINGLE: Final = ("always", *(f"in-{realm}" for realm in DOCUMENT_REALMS))
_REPEATED: Final = (
    "always",
    "second-time",
    "from-second-time",
    "every-third",
    "every-fifth",
    "after-five",
    "after-thirty",
)
_STATE: Final = (*_REPEATED, "overlapping", *(f"in-{realm}" for realm in DOCUMENT_REALMS))


#: Conditions that need an operation to be used more often than a live target lets a run use it: what cannot be removed
#: is kept to a few, temporary files are given by name, and one token does for a run.
_OFTEN: Final = ("every-fifth", "after-five", "after-thirty")
_RARE: Final = frozenset(
    {"createToken", "createContact", "updateContact", "persistTemporaryFile", *SUBMISSIONS}
)
#: Operations that succeed once under an identifier: a temporary file is spent, a record exists or is in a workflow.
_ONCE: Final = frozenset({"persistTemporaryFile", *NAMED_SUBMISSIONS})


def _met_by(operation: str, conditions: Sequence[str], *, successes: bool = False) -> tuple[str, ...]:
    """Those of some conditions that an operation can meet in one run.

    Args:
        successes: Successes alone count.
    """
    never: tuple[str, ...] = _OFTEN if operation in _RARE else ()
    if load_description().operations[operation].identifier_parameter is None:
        never += ("second-time",)  # it would act once in a run, and what never comes again counts for nothing
    if successes and operation in _ONCE:
        never += ("second-time", "from-second-time", "every-third")
    return tuple(c for c in conditions if c not in never)


@cache
def population() -> Mapping[str, Fault]:
    """Every fault by its name."""
    return MappingProxyType({fault.name: fault for fault in _everything()})


def load(name: str) -> Fault:
    """Find a fault by its name.

    Raises:
        UsageError: there is none of this name.
    """
    fault = population().get(name)
    if fault is None:
        raise UsageError(f"unknown fault '{name}'; --fault list shows them all")
    return fault


def draw(
    number: int, seed: int, *, families: Sequence[str] = (), level: Level | None = Level.MUST
) -> list[Fault]:
    """Draw a sample: families by turns, within a family its operators by turns; the same for the same seed.

    Args:
        number: How many faults; fewer when there are not so many.
        families: Only these; empty for all.
        level: Only faults of this level; None for all.
    """
    chance = random.Random(f"faults {seed}")  # noqa: S311 - nothing secret hangs on it
    faults = list(population().values())
    chance.shuffle(faults)
    queues: dict[str, dict[str, list[Fault]]] = {}
    for fault in faults:
        if (not families or fault.family in families) and level in (None, fault.level):
            queues.setdefault(fault.family, {}).setdefault(fault.operator, []).append(fault)
    drawn: list[Fault] = []
    while queues and len(drawn) < number:
        for family in list(queues)[: number - len(drawn)]:
            operators = queues[family]
            operator, waiting = next(iter(operators.items()))
            drawn.append(waiting.pop())
            # What was drawn goes to the end of the queue.
            del operators[operator]
            if waiting:
                operators[operator] = waiting
            if not operators:
                del queues[family]
    return drawn


def help_text() -> str:
    """Every fault with what it breaks, as `--fault list` prints them."""
    lines = [f"{fault.name}  {', '.join(fault.clauses)}" for fault in population().values()]
    return "\n".join(lines) + "\n"


def _everything() -> Iterator[Fault]:
    for make in (
        _content,
        _bytes,
        _lists,
        _options,
        _identity,
        _tokens,
        _state,
        _validation,
        _workflow,
        _answers,
        _errors,
        _members,
        _protocol,
    ):
        yield from make()


def _under(conditions: Iterable[str], **parts: Any) -> Iterator[Fault]:
    for condition in conditions:
        yield Fault(condition=condition, **parts)


def _kebab(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


def _content() -> Iterator[Fault]:
    """Values of a draft, changed when it is saved or when it is read.

    That a change of an ordinary document is wrong is stated; what becomes of values that no such document holds is a
    reading, but for text in other scripts.
    """
    examples = (example["value"] for example in load_description().bundle["components"]["examples"].values())
    bodies = (example for example in examples if isinstance(example, dict))
    # Answers are no documents, and a submission only holds one.
    documents = [body.get("document", body) for body in bodies if {"document", "header"} & body.keys()]
    for operator, change in DOCUMENT_OPERATORS.items():
        clauses = (
            "draft-get-content",
            "draft-text-kept",
            "draft-text-exact",
            "draft-save-updates",
            "draft-save-replaces",
        )
        kind = "text" if operator.startswith("text-") else "values"
        scripts = operator in ("text-astral-replaced", "text-beyond-latin-replaced", "text-accents-lost")
        shows = scripts or any(json.dumps(change(document)) != json.dumps(document) for document in documents)
        yield from _under(
            _REPEATED[:5],
            family=f"content-{kind}",
            operations=("saveDraft",),
            operator=operator,
            clauses=clauses,
            stated=shows,
            inject=partial(inject.request_changed, change=change),
        )
        yield from _under(
            _SINGLE,
            family=f"content-{kind}",
            operations=("getDraft",),
            operator=operator,
            clauses=clauses,
            stated=shows,
            inject=partial(inject.content_changed, change=change),
        )


def _bytes() -> Iterator[Fault]:
    """Bytes of a file, changed when it is sent or when it is downloaded, for all files or for those of one kind."""
    clauses = ("attachment-download-same", "attachment-several", "attachment-size-within")
    kinds = ("", ".txt", ".json", ".xml", ".csv", ".html", ".pdf", ".png", ".bin")
    for operator, change in BYTE_OPERATORS.items():
        for kind in kinds:
            name = f"{operator}{'-of-' if kind else ''}{kind.removeprefix('.')}"
            for operation, act in (
                ("createAttachment", inject.upload_changed),
                ("getAttachment", inject.download_changed),
            ):
                conditions = _REPEATED if not kind else ("always",)
                yield from _under(
                    conditions,
                    family="bytes",
                    operations=(operation,),
                    operator=name,
                    clauses=clauses,
                    inject=partial(act, change=change, suffix=kind),
                )
    yield from _under(
        ("always", "every-third"),
        family="bytes",
        operations=("getAttachment",),
        operator="another-files-bytes",
        clauses=("attachment-several", "attachment-download-same"),
        inject=inject.another_files_bytes,
    )
    yield from _under(
        ("always",),
        family="bytes",
        operations=("createAttachment",),
        operator="same-name-replaced-everywhere",
        clauses=("attachment-several", "attachment-download-same", "attachment-list-own-only"),
        inject=inject.first_upload_kept,
    )


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


def _lists() -> Iterator[Fault]:
    """Items of a list, lost, doubled, or there although they must not be."""
    for operation, clauses in _LIST_CLAUSES.items():
        for operator, change in LIST_OPERATORS.items():
            kind = next((kind for kind in clauses if kind in operator), "lost")
            for where in ("", "-of-full-page", "-with-filter", "-with-orderby", "-with-skip"):
                broken = clauses[kind]
                if where in ("-with-filter", "-with-orderby"):
                    broken = tuple(
                        c for c in _claimable_clauses() if c.startswith(_prefix(operation)) and where[6:] in c
                    )
                if operator == "reversed" and where in ("", "-with-filter", "-of-full-page"):
                    continue  # the order of a list without an ordering expression is not shown
                yield from _under(
                    _SINGLE if operation == "listDrafts" else ("always",),
                    family="lists",
                    operations=(operation,),
                    operator=operator + where,
                    clauses=broken,
                    inject=partial(inject.items_changed, change=change, where=where),
                )
    for collection in ("", "my", "mydrafts"):
        yield from _under(
            ("always",),
            family="lists",
            operations=("listDrafts",),
            operator=f"deleted-stay-listed{'-in-' if collection else ''}{collection}",
            clauses=("list-deleted-gone",),
            inject=partial(inject.deleted_stay, collection=collection),
        )
        yield from _under(
            ("always",),
            family="lists",
            operations=("listDrafts",),
            operator=f"of-others-listed{'-in-' if collection else ''}{collection}",
            clauses=("list-my-without-others", "list-mydrafts-without-others"),
            inject=partial(inject.of_others_listed, collection=collection),
        )
    yield from _under(
        ("always", "every-third"),
        family="lists",
        operations=("listAttachments",),
        operator="of-other-documents-listed",
        clauses=("attachment-list-own-only",),
        inject=inject.of_other_documents_listed,
    )
    for operation in _LIST_CLAUSES:
        yield from _under(
            ("from-second-time", "every-third"),
            family="lists",
            operations=(operation,),
            operator="stale",
            clauses=_LIST_CLAUSES[operation]["lost"] + ("list-deleted-gone",) * (operation == "listDrafts"),
            inject=inject.answered_as_before,
        )


def _prefix(operation: str) -> str:
    return "list-" if operation == "listDrafts" else "attachment-list-"


def _claimable_clauses() -> tuple[str, ...]:
    """Ids of all clauses that can be contradicted."""
    return tuple(clause.id for clause in load_catalogue() if clause.level is not Level.SILENT)


def _options() -> Iterator[Fault]:
    """Each option of a list ignored, or read wrongly, by itself and in company."""
    catalogue = load_catalogue()
    for operation, dollar in (("listDrafts", "$"), ("listAttachments", "")):
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
            "filter": (f"{prefix}filter", *(("list-filter-with-top",) if dollar else ())),
            "orderby": (
                f"{prefix}orderby",
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
        for option, clauses in table.items():
            name = option if option == "collection" else dollar + option
            assert all(catalogue.clause(clause) for clause in clauses)  # noqa: S101 - a table that must agree
            for company in ("", *(other for other in table if other != option)):
                other = company if company in ("", "collection") else dollar + company
                yield from _under(
                    ("always",),
                    family="options",
                    operations=(operation,),
                    operator=f"{option}-ignored{'-beside-' if company else ''}{company}",
                    clauses=clauses,
                    inject=partial(inject.option_ignored, name=name, beside=other),
                )
        for option, by in (("top", 1), ("top", -1), ("skip", 1), ("skip", -1)):
            yield from _under(
                ("always",),
                family="options",
                operations=(operation,),
                operator=f"{option}-off-by-{'plus' if by > 0 else 'minus'}-one",
                clauses=table[option],
                inject=partial(inject.number_shifted, name=dollar + option, by=by),
            )
        yield from _under(
            ("always",),
            family="options",
            operations=(operation,),
            operator="skip-counts-pages",
            clauses=table["skip"],
            inject=partial(inject.skip_counts_pages, top=f"{dollar}top", skip=f"{dollar}skip"),
        )
        for word in (
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
        ):
            yield from _under(
                ("always",),
                family="options",
                operations=(operation,),
                operator=f"filter-with-{_kebab(word.strip('( '))}-ignored",
                clauses=table["filter"],
                inject=partial(inject.option_ignored, name=f"{dollar}filter", containing=word),
            )
        yield from _under(
            ("always",),
            family="options",
            operations=(operation,),
            operator="desc-ignored",
            clauses=table["orderby"],
            inject=partial(inject.word_lost, name=f"{dollar}orderby", word=" desc"),
        )


#: An identifier of which nobody would think that it is special.
_ORDINARY: Final = "rc-a1b2c3d4-e5f6g7h8i9j0"


def _identity() -> Iterator[Fault]:
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
            yield from _under(
                ("always",),
                family="identity",
                operations=operations,
                label=label,
                operator=operator,
                clauses=extra[label],
                # That the identifier rule goes for records too, with all its signs and lengths, is a reading.
                stated=label != "submissions" or fold(_ORDINARY) != _ORDINARY,
                inject=partial(inject.identifier_folded, fold=fold),
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
        for operation in ("saveDraft", "getDraft", "draftExists", "deleteDraft"):
            yield from _under(
                _SINGLE,
                family="identity",
                operations=(operation,),
                operator=f"{operator}-refused",
                clauses=(clause, *_ACCEPTANCE[operation]) if operator == "with-hyphen" else (clause,),
                inject=partial(inject.identifier_refused, holds=holds),
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
                yield from _under(
                    _SINGLE if operation.takes_realm else ("always",),
                    family="identity",
                    operations=(operation.id,),
                    operator=f"{operator}-taken",
                    clauses=tuple(dict.fromkeys(clauses)),
                    inject=partial(inject.identifier_taken, holds=holds),
                )


#: A clause that a refusal of a right request breaks, by operation; and others that it stands for.
_ACCEPTANCE: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "createToken": ("token-issued",),
        "createContact": ("contact-create-accepted", "contact-create-full"),
        "updateContact": ("contact-update-accepted", "contact-update-full"),
        "saveDraft": ("draft-save-creates", "draft-save-updates"),
        "getDraft": ("draft-get-content",),
        "getDraftInfo": ("draft-info-present",),
        "draftExists": ("draft-exists-present", "draft-save-creates"),
        "deleteDraft": ("draft-delete-removes",),
        "listDrafts": ("list-answers",),
        "createAttachment": ("attachment-create-accepted",),
        "persistTemporaryFile": ("attachment-persist-listed", "attachment-persist-downloads"),
        "listAttachments": ("attachment-create-listed", "realm-attachments-without"),
        "attachmentExists": ("attachment-exists-present",),
        "getAttachment": ("attachment-download-same",),
        "getAttachmentThumbnail": ("attachment-thumbnail-image",),
        "createWorkflowRecord": ("workflow-create-accepted",),
        "createWorkflowRecordWithIdentifier": ("workflow-create-with-identifier-accepted",),
        "updateWorkflowRecord": ("workflow-update-accepted",),
    }
)


def _tokens() -> Iterator[Fault]:
    """Tokens that are not asked for, not looked at, or taken for another account's; rights that nobody checks."""
    catalogue = load_catalogue()
    for operation in load_description().operations.values():
        own = [
            c
            for c in _claimable_clauses()
            if "needs-token" in c and operation.id in catalogue.clause(c).operations
        ]
        rows = ("workflow-anonymous",) * (operation.id in SUBMISSIONS)
        if own:
            yield from _under(
                _SINGLE if operation.takes_realm else ("always",),
                family="tokens",
                operations=(operation.id,),
                operator="missing-token-taken",
                clauses=(*own, *rows),
                inject=inject.missing_token_taken,
            )
        invalid = [
            c
            for c in ("token-invalid-refused", "workflow-invalid-token")
            if operation.id in catalogue.clause(c).operations
        ]
        if invalid:
            for operator in ("any", "short", "altered"):
                yield from _under(
                    _SINGLE if operation.takes_realm else ("always",),
                    family="tokens",
                    operations=(operation.id,),
                    operator=f"{operator}-token-taken",
                    clauses=tuple(invalid),
                    inject=partial(inject.invalid_token_taken, kind=operator),
                )
    for submission in SUBMISSIONS:
        clause = (
            "workflow-update-rights" if submission == "updateWorkflowRecord" else "workflow-create-rights"
        )
        yield from _under(
            _SINGLE,
            family="tokens",
            operations=(submission,),
            operator="rights-not-checked",
            clauses=(clause,),
            inject=inject.rights_not_checked,
        )
    yield from _under(
        ("always",),
        family="tokens",
        operations=("listDrafts",),
        operator="other-account-served",
        clauses=("list-my-without-others", "list-mydrafts-has-mine"),
        inject=inject.other_account_served,
    )
    for kind in (
        "wrong-password",
        "unknown-account",
        "password-missing",
        "email-missing",
        "password-kind",
        "email-kind",
    ):
        clause = f"token-{kind}"
        yield from _under(
            ("always",),
            family="tokens",
            operations=("createToken",),
            operator=f"{kind}-taken",
            clauses=(clause, "token-body-kind"),
            inject=partial(inject.sign_in_taken, kind=kind),
        )


def _state() -> Iterator[Fault]:
    """Writes that do not happen, happen elsewhere or take others along; reads that are out of date."""
    lost = {
        "saveDraft": ("draft-save-creates", "draft-save-updates", "draft-get-content"),
        "deleteDraft": ("draft-delete-removes", "draft-delete-content-gone", "list-deleted-gone"),
        "createAttachment": ("attachment-create-listed", "attachment-download-same", "attachment-several"),
        "persistTemporaryFile": ("attachment-persist-listed", "attachment-persist-downloads"),
        "createWorkflowRecordWithIdentifier": (
            "workflow-created-exists",
            "workflow-created-known",
            "workflow-draft-saved",
        ),
    }
    for operation, clauses in lost.items():
        yield from _under(
            _met_by(operation, _STATE if operation in DRAFTS else _REPEATED),
            family="state",
            operations=(operation,),
            operator="not-done",
            clauses=clauses,
            inject=inject.not_done,
        )
    parts: tuple[tuple[str, str, tuple[str, ...], Inject], ...] = (
        ("saveDraft", "stored-elsewhere", lost["saveDraft"], inject.stored_elsewhere),
        (
            "saveDraft",
            "merged-with-before",
            ("draft-save-updates", "draft-save-replaces"),
            inject.merged_with_before,
        ),
        (
            "saveDraft",
            "arrays-appended",
            ("draft-save-updates", "draft-save-replaces"),
            inject.arrays_appended,
        ),
        ("saveDraft", "overwrites-another", ("draft-save-spares-others",), inject.overwrites_another),
        ("saveDraft", "update-not-done", ("draft-save-updates",), inject.update_not_done),
        ("saveDraft", "deletes-another", ("draft-save-spares-others",), inject.deletes_another),
        ("deleteDraft", "deletes-another", ("draft-delete-spares-others",), inject.deletes_another),
        (
            "deleteDraft",
            "deletes-another-instead",
            ("draft-delete-spares-others", "draft-delete-removes"),
            inject.deletes_instead,
        ),
        ("getDraft", "out-of-date", ("draft-save-updates",), inject.out_of_date),
        ("getDraft", "deleted-still-read", ("draft-delete-content-gone",), inject.deleted_still_read),
        ("draftExists", "deleted-still-there", ("draft-delete-removes",), inject.deleted_still_there),
        ("draftExists", "always-there", ("draft-exists-absent", "draft-delete-removes"), inject.always_there),
        (
            "getDraft",
            "another-drafts-content",
            ("draft-get-content", "draft-save-spares-others"),
            inject.another_drafts_content,
        ),
        ("getDraftInfo", "empty", ("draft-info-present",), inject.emptied),
        (
            "attachmentExists",
            "always-there",
            ("attachment-exists-absent", "attachment-exists-other-document"),
            inject.always_there,
        ),
        (
            "attachmentExists",
            "of-any-document",
            ("attachment-exists-other-document",),
            inject.attachment_of_any_document,
        ),
        ("persistTemporaryFile", "unknown-taken", ("attachment-persist-unknown",), inject.refusal_turned),
    )
    for operation, operator, clauses, act in parts:
        yield from _under(
            _met_by(operation, _STATE if load_description().operations[operation].takes_realm else _REPEATED),
            family="state",
            operations=(operation,),
            operator=operator,
            clauses=clauses,
            inject=act,
        )
    for operation, clauses in (
        ("saveDraft", ("draft-save-needs-token", "token-invalid-refused")),
        ("deleteDraft", ("draft-delete-needs-token", "token-invalid-refused")),
        ("createAttachment", ("attachment-create-needs-token", "token-invalid-refused")),
        ("persistTemporaryFile", ("attachment-persist-needs-token", "token-invalid-refused")),
    ):
        yield from _under(
            ("always",),
            family="state",
            operations=(operation,),
            operator="refused-but-done",
            clauses=clauses,
            inject=inject.refused_but_done,
        )


#: Values of another kind, by the kind that they are.
_WRONG: Final[Mapping[str, Callable[[Any], bool]]] = MappingProxyType(
    {
        "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
        "boolean": lambda value: isinstance(value, bool),
        "text": lambda value: isinstance(value, str),
        "array": lambda value: isinstance(value, list),
        "object": lambda value: isinstance(value, dict),
    }
)


def _validation() -> Iterator[Fault]:
    """Each constraint of each field of a contact, left out, or kept where it must not be."""
    for operation in CONTACTS:
        for name, sample in CONTACT_FIELDS_SAMPLES.items():
            clause = f"contact-kind-{_kebab(name)}"
            yield from _field_kinds(operation, name, sample, clause)
            mandatory = f"contact-mandatory-{_kebab(name)}"
            if mandatory in _claimable_clauses():
                yield from _under(
                    _SINGLE,
                    family="validation",
                    operations=(operation,),
                    operator=f"{_kebab(name)}-not-mandatory",
                    clauses=(mandatory, "contact-all-missing-named"),
                    inject=partial(inject.field_repaired, name=name, sample=sample, wrong=inject.is_missing),
                )
            refused = tuple(
                c for c in _ACCEPTANCE[operation] if mandatory in _claimable_clauses() or c.endswith("full")
            )
            yield from _under(
                _SINGLE,
                family="validation",
                operations=(operation,),
                operator=f"{_kebab(name)}-refused",
                clauses=refused,
                inject=partial(inject.field_refused, name=name),
            )
            if isinstance(sample, list):
                yield from _under(
                    ("always",),
                    family="validation",
                    operations=(operation,),
                    operator=f"{_kebab(name)}-second-item-refused",
                    clauses=("contact-several-items", *refused),
                    inject=partial(inject.second_item_refused, name=name),
                )


_WITHOUT_IDENTIFIER: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "country": ("contact-country-without-identifier",),
        "contactOrganization": ("contact-organization-without-identifier",),
    }
)


def _field_kinds(operation: str, name: str, sample: Any, clause: str) -> Iterator[Fault]:
    right = next(kind for kind, holds in _WRONG.items() if holds(sample))
    for kind, holds in _WRONG.items():
        if kind == right or (kind == "number" and right == "text"):
            continue  # whether a number is read as text is not shown
        yield from _under(
            ("always",),
            family="validation",
            operations=(operation,),
            operator=f"{_kebab(name)}-as-{kind}-taken",
            clauses=(clause,),
            # A service may read a number or a boolean as text where text is due.
            stated=not (right == "text" and kind in ("number", "boolean")),
            inject=partial(inject.field_repaired, name=name, sample=sample, wrong=holds),
        )
    yield from _under(
        _SINGLE,
        family="validation",
        operations=(operation,),
        operator=f"{_kebab(name)}-of-any-kind-taken",
        clauses=(clause,),
        inject=partial(
            inject.field_repaired, name=name, sample=sample, wrong=lambda value: not _WRONG[right](value)
        ),
    )
    if isinstance(sample, list | dict):
        yield from _under(
            ("always",),
            family="validation",
            operations=(operation,),
            operator=f"{_kebab(name)}-inside-not-checked",
            clauses=(clause, *_WITHOUT_IDENTIFIER.get(name, ())),
            inject=partial(inject.inside_repaired, name=name, sample=sample, first=False),
        )
    if isinstance(sample, list):
        yield from _under(
            ("always",),
            family="validation",
            operations=(operation,),
            operator=f"{_kebab(name)}-first-item-alone-checked",
            clauses=(clause,),
            inject=partial(inject.inside_repaired, name=name, sample=sample, first=True),
        )


def _contact_samples() -> dict[str, Any]:
    """A value of the right kind for each field of a contact, by the description of the contact record."""
    schemas = load_description().bundle["components"]["schemas"]
    return {name: _sample(schema, schemas) for name, schema in schemas["Contact"]["properties"].items()}


def _sample(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Any:
    name = str(schema.get("$ref", "")).rsplit("/", 1)[-1]
    if name == "LString":
        return {"en": "text"}
    if name == "Header":
        return {"languages": ["en"]}
    if name == "Link":
        return {"url": "https://example.test/"}
    if name in ("Term", "Reference"):
        return {"identifier": {"Term": "ca", "Reference": "organization-abs-dev"}[name]}
    return [_sample(schema["items"], schemas)] if schema.get("type") == "array" else "text"


CONTACT_FIELDS_SAMPLES: Final = _contact_samples()


def _workflow() -> Iterator[Fault]:
    """The rows of the workflow table, the order of its steps, its limits, and what a submission brings about."""
    catalogue = load_catalogue()
    by_message = _clauses_by_message()
    # The clause of the row itself has the shortest name; the others hang on the same answer.
    rows = [min(clauses, key=lambda each: len(each.id)) for clauses in by_message.values()]
    for row in rows:
        for operation in row.operations:
            # A request that names an unknown realm is in none of the realms.
            conditions = _SINGLE[:1] if row.id == "workflow-realm-unknown" else _SINGLE
            for operator, act in inject.ROW_INJECTIONS.items():
                yield from _under(
                    conditions,
                    family="rows",
                    operations=(operation,),
                    operator=f"{row.id.removeprefix('workflow-')}-{operator}",
                    clauses=_clauses_of(row, by_message),
                    inject=partial(
                        act, message=row.message, others=tuple(r.message for r in rows if r is not row)
                    ),
                )
    for operation in SUBMISSIONS:
        for member, limit, above, at in (
            ("batchId", 100, "workflow-batch-too-long", "workflow-batch-longest"),
            ("additionalInfo", 1000, "workflow-info-too-long", "workflow-info-longest"),
        ):
            for more in (1, 10, 100, 10**6):
                yield from _under(
                    ("always",),
                    family="limits",
                    operations=(operation,),
                    operator=f"{_kebab(member)}-{more}-more-taken",
                    clauses=(above,),
                    inject=partial(inject.text_cut, member=member, limit=limit, more=more),
                )
            for fewer in (1, 20):
                if operation in catalogue.clause(at).operations:
                    yield from _under(
                        ("always",),
                        family="limits",
                        operations=(operation,),
                        operator=f"{_kebab(member)}-{fewer}-fewer-only",
                        clauses=(at,),
                        inject=partial(inject.text_refused, member=member, longest=limit - fewer),
                    )
        steps = (
            (
                "content-not-validated",
                ("workflow-document-validated", "errors-array"),
                inject.document_repaired,
            ),
            ("document-of-any-kind", ("workflow-document-kind",), inject.document_kind_repaired),
            ("document-not-needed", ("workflow-document-missing",), inject.document_missing_repaired),
            ("body-of-any-kind", ("workflow-body-kind",), inject.body_repaired),
        )
        for operator, clauses, act in steps:
            yield from _under(
                _SINGLE,
                family="limits",
                operations=(operation,),
                operator=operator,
                clauses=clauses,
                inject=act,
            )
    yield from _under(
        _SINGLE,
        family="state",
        operations=("createWorkflowRecordWithIdentifier",),
        operator="draft-saved-although-refused",
        clauses=("workflow-order-validation-before-save",),
        inject=inject.refused_document_saved,
    )
    yield from _under(
        _SINGLE,
        family="state",
        operations=("updateWorkflowRecord",),
        operator="draft-changed-although-refused",
        clauses=("workflow-refused-update-keeps-draft",),
        inject=inject.refused_document_saved,
    )
    yield from _under(
        ("always", "from-second-time"),
        family="state",
        operations=("createWorkflowRecord",),
        operator="same-identifier-again",
        clauses=("workflow-distinct-identifiers",),
        inject=inject.same_answer_again,
    )


def _clauses_by_message() -> Mapping[str, Sequence[Clause]]:
    """The clauses of the workflow that give a message, by the message."""
    by_message: dict[str, list[Clause]] = {}
    for clause in load_catalogue():
        if clause.message is not None and clause.id.startswith("workflow-"):
            by_message.setdefault(clause.message, []).append(clause)
    return by_message


def _clauses_of(row: Clause, by_message: Mapping[str, Sequence[Clause]]) -> tuple[str, ...]:
    """The clauses that hang on the answer of a row: the row's own first, then all with the same message."""
    same = [clause.id for clause in by_message[row.message or ""]]
    return tuple(dict.fromkeys((row.id, *same, *_row_kin(row.id))))


def _row_kin(row: str) -> tuple[str, ...]:
    """Clauses that hang on the same answer as a row."""
    return {
        "workflow-anonymous": (
            "workflow-invalid-token",
            "workflow-create-needs-token",
            "workflow-update-needs-token",
            "workflow-create-with-identifier-needs-token",
        ),
        "workflow-realm-unknown": ("realm-query-unknown",),
        "workflow-identifier-taken": ("workflow-created-exists", "workflow-order-taken-before-validation"),
        "workflow-identifier-unknown": ("workflow-order-unknown-before-validation", "workflow-created-known"),
        "workflow-locked-record": ("workflow-order-locked-before-validation",),
    }.get(row, ())


def _answers() -> Iterator[Fault]:
    """Answers as a whole: their status, whether they are JSON, and the members that they must carry."""
    for operation, clauses in _ACCEPTANCE.items():
        described = load_description().operations[operation]
        repeated = (*_REPEATED, *_SINGLE[1:]) if described.takes_realm else _REPEATED
        conditions = _met_by(operation, repeated, successes=True)
        for status in (400, 404, 409):
            yield from _under(
                conditions,
                family="answers",
                operations=(operation,),
                operator=f"success-told-as-{status}",
                clauses=clauses,
                of_successes=True,
                inject=partial(inject.success_told_as, status=status),
            )
        yield from _under(
            conditions,
            family="answers",
            operations=(operation,),
            operator="success-told-as-500",
            clauses=("no-server-error",),
            of_successes=True,
            inject=partial(inject.success_told_as, status=500),
        )
        yield from _under(
            ("always", "every-third"),
            family="answers",
            operations=(operation,),
            operator="refusal-told-as-500",
            clauses=("no-server-error",),
            inject=inject.refusal_told_as_500,
        )
    for operation in SUBMISSIONS:
        clause = (
            "workflow-identifier-returned"
            if operation == "createWorkflowRecord"
            else "workflow-identifier-kept"
        )
        for operator, act in (
            ("identifier-missing", inject.identifier_missing),
            ("identifier-altered", inject.identifier_altered),
        ):
            if operator == "identifier-altered" and operation == "createWorkflowRecord":
                continue  # any identifier may be the new record's
            yield from _under(
                _SINGLE,
                family="answers",
                operations=(operation,),
                operator=operator,
                clauses=(clause,),
                inject=act,
            )
    for operator, value in (("missing", inject.MISSING), ("empty", ""), ("number", 7), ("null", None)):
        yield from _under(
            ("always", "every-third"),
            family="answers",
            operations=("createToken",),
            operator=f"token-{operator}",
            clauses=("token-issued",),
            inject=partial(inject.member_set, name="authenticationToken", value=value),
        )
    for operator in inject.EXPIRATION_FORMS:
        yield from _under(
            ("always", "every-third"),
            family="answers",
            operations=("createToken",),
            operator=f"expiration-{operator}",
            clauses=("token-expiration-format",),
            inject=partial(inject.expiration_written, form=operator),
        )


def _errors() -> Iterator[Fault]:
    """The errors array of an answer, its elements, their codes and properties."""
    for operation in (*CONTACTS, *SUBMISSIONS):
        for operator, change in inject.ERRORS_CHANGES.items():
            if operator.startswith("mandatory") and operation in SUBMISSIONS:
                continue  # which fields of a submitted document are mandatory is not shown
            yield from _under(
                _SINGLE,
                family="errors",
                operations=(operation,),
                operator=operator,
                clauses=_errors_clauses(operator, operation),
                inject=partial(inject.errors_changed, change=change),
            )


def _errors_clauses(operator: str, operation: str) -> tuple[str, ...]:
    if operator in ("array-emptied", "array-missing", "array-as-object"):
        return (
            ("errors-array", "contact-body-kind", "errors-code-mandatory")
            if operation in CONTACTS
            else ("errors-array", "workflow-document-validated")
        )
    if operator in ("code-unknown", "code-lower-case"):
        return ("errors-code-known", "errors-code-mandatory")
    if operator.startswith("mandatory"):
        return (
            (
                "errors-code-mandatory",
                *(c for c in _claimable_clauses() if c.startswith("contact-mandatory-")),
            )
            if operation in CONTACTS
            else ("errors-element-shape",)
        )
    return (
        "errors-element-shape",
        "errors-code-mandatory",
        *(c for c in _claimable_clauses() if c.startswith("contact-mandatory-")),
    )


def _members() -> Iterator[Fault]:
    """Each member of a documented record, at every depth, lost or made null on its way into a draft or out of it."""
    examples = load_description().bundle["components"]["examples"]
    document = next(e["value"] for e in examples.values() if "firstName" in e["value"])
    for path in paths_of(document):
        name = "-".join(map(_kebab, path))
        for word, change in (("lost", member_dropped(path)), ("null", member_null(path))):
            for operation, act in (
                ("saveDraft", inject.request_changed),
                ("getDraft", inject.content_changed),
            ):
                yield from _under(
                    ("always",),
                    family="members",
                    operations=(operation,),
                    operator=f"{name}-{word}",
                    clauses=("draft-get-content", "draft-save-updates"),
                    inject=partial(act, change=change),
                )


def _protocol() -> Iterator[Fault]:
    """Realms, headers and tokens of requests, the form of bodies, and the order of the workflow's steps."""
    yield from _realms_and_headers()
    yield from _forms_of_bodies()
    yield from _orders()
    for clause, member, limit in (
        # That a batchId may hold any letter is a reading; that of a text for people is none.
        ("workflow-batch-characters", "batchId", 100),
        ("workflow-info-longest", "additionalInfo", 1000),
    ):
        for operation in load_catalogue().clause(clause).operations:
            yield from _under(
                ("always",),
                family="limits",
                operations=(operation,),
                operator=f"{_kebab(member)}-bytes-counted",
                clauses=(clause,),
                inject=partial(protocol.bytes_counted, member=member, limit=limit),
            )
    for operation in CONTACTS:
        for name, sample in CONTACT_FIELDS_SAMPLES.items():
            if sample != {"en": "text"}:
                continue
            for operator, clauses, act in (
                (
                    "language-keys-unchecked",
                    ("contact-language-key-invalid",),
                    protocol.language_keys_unchecked,
                ),
                (
                    "second-language-refused",
                    ("contact-several-languages",),
                    protocol.second_language_refused,
                ),
            ):
                yield from _under(
                    ("always",),
                    family="validation",
                    operations=(operation,),
                    operator=f"{_kebab(name)}-{operator}",
                    clauses=clauses,
                    inject=partial(act, name=name),
                )


def _realms_and_headers() -> Iterator[Fault]:
    catalogue = load_catalogue()
    plain: tuple[tuple[str, str, Inject], ...] = (
        ("realm-query", "realm-in-query-ignored", protocol.realm_in_query_ignored),
        ("realm-query-unknown", "realm-in-query-unchecked", protocol.realm_in_query_unchecked),
        ("realm-attachments-without", "realm-needed", protocol.realm_needed),
        ("token-needs-no-token", "realm-needed", protocol.realm_needed),
        ("content-type-not-needed", "content-type-needed", protocol.content_type_needed),
        ("content-type-without-body", "content-type-refused", protocol.content_type_refused),
        ("malformed-json-refused", "malformed-taken", protocol.malformed_taken),
    )
    for clause, operator, act in plain:
        for operation in catalogue.clause(clause).operations:
            yield from _under(
                ("always",),
                family="protocol",
                operations=(operation,),
                operator=operator,
                clauses=(clause,),
                inject=act,
            )
    for clause in ("realm-document-realms", "realm-workflow-realms"):
        for operation in catalogue.clause(clause).operations:
            yield from _under(
                _SINGLE[1:],
                family="protocol",
                operations=(operation,),
                operator="realm-refused",
                clauses=(clause, *_ACCEPTANCE[operation]),
                inject=protocol.realm_refused,
            )
    protected = tuple(o.id for o in load_description().operations.values() if o.protected)
    yield from _under(
        ("always",),
        family="tokens",
        operations=protected,
        label="protected",
        operator="token-dies-early",
        clauses=("token-opens-protected",),
        inject=protocol.token_dies_early,
    )
    for operation, operator, act in (
        ("createToken", "password-echoed", protocol.password_echoed),
        *(
            (o, "token-echoed", protocol.token_echoed)
            for o in ("getDraftInfo", "saveDraft", *CONTACTS, *SUBMISSIONS)
        ),
    ):
        yield from _under(
            ("always",),
            family="protocol",
            operations=(operation,),
            operator=operator,
            clauses=("no-secret-echoed",),
            inject=act,
        )


#: Operations whose answers the document shows, or whose content it promises, with the clause that says so.
_TOLD: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "createToken": ("token-issued",),
        "getDraft": ("draft-get-content",),
        "getDraftInfo": ("draft-info-present",),
        "listDrafts": ("list-answers",),
        "listAttachments": ("attachment-create-listed",),
        "createWorkflowRecord": ("workflow-identifier-returned",),
        "createWorkflowRecordWithIdentifier": ("workflow-identifier-kept",),
        "updateWorkflowRecord": ("workflow-identifier-kept",),
    }
)


def _forms_of_bodies() -> Iterator[Fault]:
    for operation, clauses in _TOLD.items():
        for operator, act in (("body-cut", protocol.body_cut), ("body-plain", protocol.body_plain)):
            if operation == "getDraftInfo" and operator == "body-plain":
                continue  # the form of a draft's info is not shown
            yield from _under(
                ("always", "every-third"),
                family="protocol",
                operations=(operation,),
                operator=operator,
                clauses=clauses,
                inject=act,
            )


def _orders() -> Iterator[Fault]:
    """Steps of the workflow in another order, and effects of what was refused or removed."""
    catalogue = load_catalogue()
    for row, order in (
        ("workflow-identifier-taken", "workflow-order-taken-before-validation"),
        ("workflow-identifier-unknown", "workflow-order-unknown-before-validation"),
        ("workflow-locked-record", "workflow-order-locked-before-validation"),
    ):
        message = (catalogue.clause(row).message or "").split("'")[0].strip()
        for operation in catalogue.clause(order).operations:
            yield from _under(
                _SINGLE,
                family="state",
                operations=(operation,),
                operator=f"validated-before-{row.removeprefix('workflow-')}",
                clauses=(order,),
                inject=partial(protocol.validated_first, message=message),
            )
    parts: tuple[tuple[str, str, Inject], ...] = (
        ("without-rights-saved", "workflow-rights-refusal-stores-nothing", protocol.without_rights_saved),
        ("refused-but-done", "workflow-create-with-identifier-needs-token", inject.refused_but_done),
        ("published-deleted-too", "draft-delete-keeps-published", protocol.freed_by_deleting),
    )
    for operator, clause, act in parts:
        yield from _under(
            _SINGLE,
            family="state",
            operations=("createWorkflowRecordWithIdentifier",),
            operator=operator,
            clauses=(clause,),
            inject=act,
        )
