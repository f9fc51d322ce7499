"""Crossed faults, which nobody wrote one by one: a condition of the factor table with an effect at a place.

Each effect stands in a table with the operations at which it can be, and with the clauses that it breaks there. The
values under which it acts narrow these clauses, and add their own, by one rule: `_broken`. What the document leaves
open of a request is no promise: `_promised` says so of each request on which a fault acts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, partial
from itertools import cycle, islice
from random import Random
from typing import Final

from registry_contracts.errors import UsageError
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.description import load_description
from registry_contracts.interface.operations import Operation, is_valid_uid
from registry_contracts.sandbox.faults import crossed_effects as do
from registry_contracts.sandbox.faults import held
from registry_contracts.sandbox.faults.conditions import (
    ALWAYS,
    COUNTED,
    OPERATIONS,
    Condition,
    conditions_of,
    musts,
    table,
)
from registry_contracts.sandbox.faults.fault import Fault
from registry_contracts.sandbox.faults.messages import Inject, Request
from registry_contracts.sandbox.faults.places import CONTACTS, DRAFTS, FILES, NAMED_SUBMISSIONS, SUBMISSIONS
from registry_contracts.sandbox.faults.protocol import ACCEPTANCE

_SAVE, _GET, _EXISTS, _DELETE, _INFO = DRAFTS
_CREATE_FILE, _PERSIST, _LIST_FILES, _FILE_EXISTS, _GET_FILE, _PREVIEW = FILES
_CREATE, _NAMED, _UPDATE = SUBMISSIONS
_WRITES: Final = (_SAVE, _DELETE, _CREATE_FILE, _PERSIST, *NAMED_SUBMISSIONS)
#: How many conditions a drawn fault has, by weight: most failures hang on one or two (NIST); three by night alone.
_CONDITIONS: Final = {0: 15, 1: 45, 2: 40}
_BY_NIGHT: Final = {0: 10, 1: 35, 2: 40, 3: 15}
#: Of the faults of what is taken so many begin with the second or third time.
_COUNTED: Final = 0.1
#: How often conditions are drawn for an effect.
_TRIES: Final = 50
#: Between a crossed fault's operation and its effect.
_BETWEEN: Final = ":"


class Side(Enum):
    """Which requests an effect is about: those that have to be taken, or to be refused, or all."""

    TAKEN = "taken"
    REFUSED = "refused"
    ALL = "all"


Clauses = tuple[str, ...]
#: The clauses that an effect breaks under some values, at an operation.
Rule = Callable[[str, Sequence[Condition]], Clauses]


@dataclass(frozen=True)
class Effect:
    """A row of the table: what goes wrong, at which place.

    Attributes:
        group: Each group is drawn as often as another.
        name: Behind the operation in the name of a fault.
        says: Behind the operation in its sentence.
        at: Its operations, each with the clauses that it breaks there, or a rule that gives them.
        make: Makes the effect for some values.
        acceptance: What has to be taken is refused, which no account explains alone.
        lost: What has to be taken has no effect, so that it is not taken either.
        clean: It breaks nothing beside a value of which it is not shown whether it is taken.
    """

    group: str
    name: str
    says: str
    side: Side
    at: Mapping[str, Clauses | Rule]
    make: Callable[[Sequence[Condition]], Inject]
    acceptance: bool = False
    lost: bool = False
    clean: bool = False


def _refusing(operation: str, values: Iterable[Condition]) -> list[Condition]:
    return [value for value in values if value.refusing(operation)]


def _broken(effect: Effect, operation: str, values: Sequence[Condition]) -> Clauses:
    """The clauses that an effect breaks at an operation under some values; none where nothing is promised.

    What has to be refused has one reason at the most; what has to be taken has none. An account alone explains no
    missing acceptance: it may lack a right.
    """
    refusing, given = _refusing(operation, values), effect.at[operation]
    own = given(operation, values) if callable(given) else given
    if effect.side is Side.ALL:
        return own if len(refusing) < 2 else ()
    if effect.side is Side.REFUSED:
        return own if len(refusing) == 1 and not (effect.clean and any(v.may for v in values)) else ()
    alone = {value.factor for value in values} == {"caller"}
    if refusing or (effect.acceptance and (alone or any(value.may for value in values))):
        return ()
    unlike = {clause for value in values for clause in value.unlike}
    counts = own and (effect.acceptance or effect.lost)
    more = [clause for value in values for clause in value.taken] if counts else []
    covering = [name for name in more if operation in load_catalogue().clause(name).operations]
    return tuple(dict.fromkeys(name for name in (*own, *covering) if name not in unlike))


def _promised(effect: Effect, operation: Operation, request: Request) -> bool:
    """Whether the document promises anything of a request on which an effect acts."""
    if effect.side is Side.ALL:
        return True
    document = operation.family in ("draft", "contact")
    if document and request.realm not in operation.realms:
        return False
    if effect.side is Side.REFUSED:
        return True
    if request.role in ("", "restricted") or (document and held.locked(request)):
        return False
    if not request.uid:
        return True
    owned = held.own(request) and (operation.family != "attachment" or held.owned(request))
    return is_valid_uid(request.uid) and owned


def _same(operations: Iterable[str], *clauses: str) -> dict[str, Clauses | Rule]:
    return dict.fromkeys(operations, clauses)


def _always(inject: Inject) -> Callable[[Sequence[Condition]], Inject]:
    return lambda _: inject


#: What an answer to a question about drafts breaks where it is refused, and where it lacks an item.
_LISTED: Final[Mapping[str, Clauses]] = {
    "list_all": ("list-answers",),
    "list_my": ("list-my-answers",),
    "list_mydrafts": ("list-mydrafts-has-mine",),
    "list_top": ("list-top",),
    "list_page": ("list-top-and-skip", "list-pages-cover"),
}
_LACKING: Final[Mapping[str, Clauses]] = {
    "list_mydrafts": ("list-mydrafts-has-mine",),
    "list_page": ("list-top-and-skip", "list-pages-cover"),
    "": ("list-mydrafts-has-mine", "list-pages-cover", "list-skip", "list-top-and-skip"),
}
_DOUBLED: Final[Mapping[str, Clauses]] = {
    "list_top": ("list-top",),
    "list_page": ("list-top-and-skip", "list-pages-cover", "list-top"),
    "": ("list-saved-twice", "list-pages-cover", "list-top"),
    "list_all": ("list-saved-twice",),
    "list_my": ("list-saved-twice",),
    "list_mydrafts": ("list-saved-twice",),
}


def _by_question(clauses: Mapping[str, Clauses], every: Clauses = ()) -> Rule:
    """Clauses that hang on what is asked of the list."""

    def rule(_: str, values: Sequence[Condition]) -> Clauses:
        asked = next((value.name for value in values if value.factor == "question"), "")
        return clauses.get(asked, () if asked else every)

    return rule


def _reasons(*, with_message: bool = False) -> Rule:
    """The clauses by which a request is refused; those alone that give status and message, or all."""

    def rule(operation: str, values: Sequence[Condition]) -> Clauses:
        named = [clause for value in _refusing(operation, values) for clause in value.refusing(operation)]
        known = load_catalogue()
        return tuple(name for name in named if not with_message or known.clause(name).message)

    return rule


def _of_content(*clauses: str) -> Rule:
    """Clauses on the errors of faulty content, and with them the one by which it is refused."""

    def rule(operation: str, values: Sequence[Condition]) -> Clauses:
        reasons = [value for value in _refusing(operation, values) if value.factor == "body"]
        if not reasons:
            return ()
        missing = any(value.name == "no_last_name" for value in reasons)
        also = _reasons()(operation, values) if operation in CONTACTS else ()
        kept = [name for name in clauses if not (missing and name == "errors-property-names-field")]
        return (*kept, *also)

    return rule


def _under(name: str, *clauses: str) -> Rule:
    """Clauses that are broken under one value alone."""
    return lambda _, values: clauses if any(value.name == name for value in values) else ()


# fmt: off
_ACCEPTED: Final[dict[str, Clauses | Rule]] = {
    **{name: clauses for name, clauses in ACCEPTANCE.items() if name in OPERATIONS},
    "listDrafts": _by_question(_LISTED, ACCEPTANCE["listDrafts"]),
}
_STORED: Final = ("draft-save-creates", "draft-save-updates", "draft-get-content")
_READ: Final = ("draft-get-content", "draft-save-updates")
_TAKEN_FILE: Final = ("attachment-create-listed", "attachment-download-same", "attachment-exists-present",
    "attachment-several")
_TAKEN_RECORD: Final = ("workflow-created-exists", "workflow-created-known")
#: What the loss, or a change, of a draft breaks that is near another one, by what is done to that, and by how near.
_SPARED: Final = {_SAVE: ("draft-save-spares-others",), _DELETE: ("draft-delete-spares-others",),
    **dict.fromkeys(NAMED_SUBMISSIONS, ())}
_APART: Final = {"twin": ("uid-case-sensitive",), "other_realm": ("realm-drafts-apart",)}
_NEAR: Final = {"on_twin": ("uid-files-case-sensitive",)}


def _on_answers() -> Iterator[Effect]:
    for status in (400, 403, 404, 409):
        yield Effect("answer", f"refused-{status}", f"refuses with {status} what it has to take", Side.TAKEN,
            _ACCEPTED, _always(do.refused(status)), acceptance=True)
        yield Effect("answer", f"told-{status}", f"does what it is asked for and answers {status}", Side.TAKEN,
            _ACCEPTED, _always(do.told(status)), acceptance=True)
    yield Effect("answer", "failed", "answers 500 and does nothing", Side.ALL, _same(OPERATIONS, "no-server-error"),
        _always(do.failed()))
    with_objects = (_INFO, _SAVE, *CONTACTS, *SUBMISSIONS)
    yield Effect("answer", "token-told", "repeats the token of the request in its answer", Side.ALL,
        _same(with_objects, "no-secret-echoed"), _always(do.token_told()))
    identifiers = {_CREATE: ("workflow-identifier-returned",), **_same(NAMED_SUBMISSIONS, "workflow-identifier-kept")}
    yield Effect("bytes", "body-cut", "answers JSON without its last character", Side.TAKEN,
        {_GET: ("draft-get-content",), "listDrafts": _ACCEPTED["listDrafts"],
            _LIST_FILES: ("attachment-create-listed",), **identifiers},
        _always(do.body_cut()), acceptance=True)
    for name, says in (("lost", "no identifier"), ("empty", "an empty identifier")):
        yield Effect("member", f"identifier-{name}", f"answers with {says}", Side.TAKEN, identifiers,
            _always(do.identifier(name)))
    earlier = {_CREATE: ("workflow-distinct-identifiers",), **_same(NAMED_SUBMISSIONS, "workflow-identifier-kept")}
    yield Effect("member", "identifier-of-earlier", "answers with the identifier of the submission before", Side.TAKEN,
        earlier, _always(do.identifier("earlier")))
    for name, says in (("emptied", "is nothing"), ("mislabelled", "is labelled as JSON")):
        yield Effect("bytes", f"image-{name}", f"gives a preview that {says}", Side.TAKEN,
            _same((_PREVIEW,), "attachment-thumbnail-image"), _always(do.image(name)))


def _on_refusals() -> Iterator[Effect]:
    every = {name: _reasons() for name in OPERATIONS}
    yield Effect("accepted", "accepted", "takes what it has to refuse", Side.REFUSED, every, do.accepted)
    yield Effect("accepted", "done-though-refused", "refuses what it has to, and does it all the same", Side.REFUSED,
        {name: _reasons() for name in _WRITES}, do.done_and_refused)
    yield Effect("accepted", "answered", "answers success to what it has to refuse, and does nothing", Side.REFUSED,
        {name: _reasons() for name in (*SUBMISSIONS, *CONTACTS, _EXISTS, _FILE_EXISTS)}, _always(do.answered()))
    rows: dict[str, Clauses | Rule] = {name: _reasons(with_message=True) for name in SUBMISSIONS}
    for status in (401, 404, 409, 422):
        yield Effect("row", f"status-{status}", f"refuses with {status} in place of the status of the table",
            Side.REFUSED, rows, partial(do.told_with, status=status), clean=True)
    for other in ("cut", "of-another-row", "lost"):
        yield Effect("row", f"message-{other}", f"refuses with a message that is {other.replace('-', ' ')}",
            Side.REFUSED, rows, partial(do.told_with, message=other), clean=True)
    wrong = {"code-unknown": "errors-code-known", **dict.fromkeys(("code-lost", "property-lost", "element-text"),
        "errors-element-shape")}
    rows_of_errors = [(f"{place}-{name}", place, name, clause) for place in ("first", "last", "every")
        for name, clause in wrong.items()]
    rows_of_errors += [("every-element-lost", "every", "element-lost", "errors-array"),
        ("every-property-other", "every", "property-other", "errors-property-names-field")]
    for shown, place, name, clause in rows_of_errors:
        operations = CONTACTS if name == "property-other" else (*SUBMISSIONS, *CONTACTS)
        yield Effect("errors", shown, f"tells of faulty content with {shown.replace('-', ' ')}", Side.REFUSED,
            {each: _of_content(clause) for each in operations}, _always(do.errors(place, name)))
    yield Effect("state", "draft-saved", "saves the document that it refuses for its content", Side.REFUSED,
        {_NAMED: _under("faulty", "workflow-order-validation-before-save"),
            _UPDATE: _under("faulty", "workflow-refused-update-keeps-draft")}, _always(do.saved_though_refused()))
    yield Effect("state", "locked", "locks the record whose document it refuses for its content", Side.REFUSED,
        {_NAMED: _under("faulty", "workflow-order-validation-before-initiate")}, _always(do.locked_though_refused()))


def _on_records() -> Iterator[Effect]:
    lost: dict[str, Clauses | Rule] = {_SAVE: _STORED, _CREATE_FILE: _TAKEN_FILE, _NAMED: _TAKEN_RECORD,
        _PERSIST: ("attachment-persist-listed", "attachment-persist-downloads"),
        _UPDATE: ("workflow-update-replaces-draft",),
        _DELETE: ("draft-delete-removes", "draft-delete-content-gone", "list-deleted-gone")}
    yield Effect("state", "without-effect", "answers success and leaves everything as it was", Side.TAKEN, lost,
        _always(do.without_effect()), lost=True)
    for seconds in (1, 3):
        yield Effect("state", f"late-{seconds}", f"does what it is asked for {seconds} s after its answer", Side.TAKEN,
            {name: lost[name] for name in (_SAVE, _DELETE, _UPDATE)}, _always(do.late(seconds)), lost=True)
    yield Effect("state", "published-lost", "removes the published version too", Side.TAKEN,
        {_DELETE: ("draft-delete-keeps-published",)}, _always(do.published_lost()))
    yield Effect("state", "content-of-another", "stores the content of the account's latest other draft", Side.TAKEN,
        {_SAVE: _READ}, _always(do.content_of_another()))
    yield Effect("state", "bytes-of-another", "stores the bytes of the latest other file", Side.TAKEN,
        {_CREATE_FILE: ("attachment-download-same", "attachment-several")}, _always(do.bytes_of_another()))
    yield Effect("state", "others-lost", "removes the other files of the document", Side.TAKEN,
        {_CREATE_FILE: ("attachment-several", "attachment-create-listed"), _PERSIST: ("attachment-create-listed",)},
        _always(do.others_lost()))
    yield Effect("answer", "from-cache", "gives what it gave first, whatever is saved later", Side.TAKEN,
        {_GET: ("draft-save-updates", "draft-get-content")}, _always(do.from_cache()))
    yield Effect("answer", "emptied", "gives an empty object", Side.TAKEN,
        {_GET: ("draft-get-content",), _INFO: ("draft-info-present",)}, _always(do.emptied()))
    for name, says in do.FILE_NAMES.items():
        yield Effect("value", f"name-{name}", f"keeps a file under a name {says}", Side.TAKEN,
            {_CREATE_FILE: ("attachment-name-kept", "attachment-exists-present")}, _always(do.file_name(name)))


def _on_neighbours() -> Iterator[Effect]:
    for relation, (says, _) in held.RELATIONS.items():
        apart = _APART.get(relation, ())
        for name, what, gone in (("lost", "removes", ("draft-exists-present",)),
                ("overwritten", "writes its own content over", ()),):
            at = {op: (*own, *apart, "draft-get-content", *gone) for op, own in _SPARED.items()
                if name == "lost" or op != _DELETE}
            if name == "overwritten" and relation in ("equal_content", "of_other_account"):
                continue
            yield Effect("neighbour", f"{relation}-{name}", f"also {what} another draft: {says}", Side.TAKEN, dict(at),
                _always(do.neighbour(relation, name)))
        if relation != "equal_content":
            named = {} if relation == "other_realm" else {_INFO: ("draft-info-own", *apart)}
            yield Effect("neighbour", f"{relation}-given", f"gives another draft: {says}", Side.TAKEN,
                {_GET: ("draft-get-content", *apart), **named}, _always(do.neighbour_given(relation)))
    lost = ("attachment-create-listed", "attachment-download-same", "attachment-exists-present")
    for relation, (says, _) in held.FILE_RELATIONS.items():
        apart = _NEAR.get(relation, ())
        yield Effect("neighbour", f"{relation}-lost", f"removes a file of another document {says}", Side.TAKEN,
            {_CREATE_FILE: (*lost, *apart)}, _always(do.neighbour_file_lost(relation)))
        if relation in ("same_name", "name_goes_on", "on_twin"):
            yield Effect("neighbour", f"{relation}-given", f"gives a file of another document {says}", Side.TAKEN,
                {_GET_FILE: ("attachment-download-same", *apart)}, _always(do.neighbour_file_given(relation)))


def _on_lists() -> Iterator[Effect]:
    for place in ("first", "second", "last", "newest"):
        yield Effect("entry", f"{place}-lost", f"lists all but the {place} entry", Side.TAKEN,
            {"listDrafts": _by_question(_LACKING, _LACKING[""]),
                _LIST_FILES: ("attachment-create-listed", "attachment-several", "attachment-list-pages-cover")},
            _always(do.entry(place, "lost")))
        yield Effect("entry", f"{place}-doubled", f"lists the {place} entry twice", Side.TAKEN,
            {"listDrafts": _by_question(_DOUBLED, _DOUBLED[""]),
                _LIST_FILES: ("attachment-list-pages-cover", "attachment-list-top")},
            _always(do.entry(place, "doubled")))
    yield Effect("entry", "of-other-realms", "lists the drafts of other realms too", Side.TAKEN,
        _same(("listDrafts",), "realm-lists-apart"), _always(do.of_other_realms()))
    yield Effect("entry", "deleted-kept", "lists drafts that were deleted", Side.TAKEN,
        _same(("listDrafts",), "list-deleted-gone"), _always(do.deleted_listed()))
    yield Effect("entry", "of-other-documents", "lists a file of another document too", Side.TAKEN,
        _same((_LIST_FILES,), "attachment-list-own-only"), _always(do.of_other_documents()))


def _on_values() -> Iterator[Effect]:
    for kind, (says, script, _) in do.TEXTS.items():
        kept = ("draft-text-kept",) if script else ()
        for name, what in do.CHANGES.items():
            for operation, clauses in ((_SAVE, (*_READ, *kept)), (_GET, ("draft-get-content", *kept))):
                where = "stores" if operation == _SAVE else "gives"
                yield Effect("value", f"{kind}-{name}", f"{where} each text {says} as {what}", Side.TAKEN,
                    {operation: clauses}, _always(do.text(kind, name, stored=operation == _SAVE)))
    for name, says in do.ARRAYS.items():
        for operation in (_SAVE, _GET):
            yield Effect("value", f"arrays-{name}", f"{'stores' if operation == _SAVE else 'gives'} arrays {says}",
                Side.TAKEN, {operation: _READ if operation == _SAVE else ("draft-get-content",)},
                _always(do.array(name, stored=operation == _SAVE)))
    for name, says in do.BYTES.items():
        yield Effect("value", f"bytes-{name}", f"gives a file {says}", Side.TAKEN,
            {_GET_FILE: ("attachment-download-same", "attachment-several")}, _always(do.file_bytes(name, stored=False)))
        yield Effect("value", f"bytes-{name}", f"stores a file {says}", Side.TAKEN,
            {_CREATE_FILE: ("attachment-download-same", "attachment-several", "attachment-size-within")},
            _always(do.file_bytes(name, stored=True)))
# fmt: on


@cache
def effects() -> Mapping[str, Mapping[str, Effect]]:
    """Every effect by operation and name."""
    found: dict[str, dict[str, Effect]] = defaultdict(dict)
    for make in (_on_answers, _on_refusals, _on_records, _on_neighbours, _on_lists, _on_values):
        for effect in make():
            for operation in effect.at:
                found[operation][effect.name] = effect
    return found


def load(base: str, when: str) -> Fault | None:
    """The crossed fault of a name, `OPERATION:EFFECT`, under conditions; None where there is no such name.

    Raises:
        UsageError: there is no such condition, or the fault breaks nothing under them.
    """
    operation, _, name = base.partition(_BETWEEN)
    effect = effects().get(operation, {}).get(name)
    values = conditions_of(when) if when else []
    if effect is None:
        return None
    fault = _fault(effect, operation, values)
    if not fault.breaks:
        raise UsageError(f"'{fault.name}' breaks no clause: of such requests nothing is promised")
    return fault


def _fault(effect: Effect, operation: str, values: Sequence[Condition]) -> Fault:
    when = "+".join(value.name for value in values)
    return Fault(
        f"{operation}{_BETWEEN}{effect.name}" + (f"@{when}" if when else ""),
        _broken(effect, operation, values),
        (operation,),
        effect.make(values),
        f"{operation} {effect.says}.",
        when=when or ALWAYS,
        promised=partial(_promised, effect, load_description().operations[operation]),
    )


def kinds(name: str) -> tuple[str, tuple[str, ...], str]:
    """The family of a crossed fault, the factors of its conditions, and the group of its effect; of a row, none."""
    base, _, when = name.partition("@")
    operation, _, effect = base.partition(_BETWEEN)
    if effect not in effects().get(operation, {}):
        return "", ("none",), "row"
    factors = (
        tuple(value.factor or "from the n-th on" for value in conditions_of(when)) if when else ("none",)
    )
    return _family(operation), factors, effects()[operation][effect].group


def _family(operation: str) -> str:
    return "list" if operation == "listDrafts" else load_description().operations[operation].family


def draw(number: int, seed: int, *, by_night: bool = False) -> list[Fault]:
    """Draw crossed faults that break a must; the same for the same seed.

    Groups of effects take turns; in a group its operations, and of an operation its effects, are as likely as each
    other.
    """
    chance = Random(f"crossed {seed}")  # noqa: S311 - nothing secret hangs on it
    groups: dict[str, dict[str, list[Effect]]] = defaultdict(lambda: defaultdict(list))
    for operation, by_name in effects().items():
        for effect in by_name.values():
            groups[effect.group][operation].append(effect)
    drawn: dict[str, Fault] = {}
    for group in islice(cycle(groups.values()), number):
        fault = None
        while fault is None or fault.name in drawn:
            operation = chance.choice([*group])
            fault = _drawn(
                chance.choice(group[operation]), operation, chance, _BY_NIGHT if by_night else _CONDITIONS
            )
        drawn[fault.name] = fault
    return list(drawn.values())


def _drawn(effect: Effect, operation: str, chance: Random, weights: Mapping[int, int]) -> Fault | None:
    """An effect under conditions, of which those are drawn anew that leave no must broken; None where all do."""
    factors = {name: values[1:] for name, values in table(operation).items()}
    if operation == _SAVE:
        factors["state"] = table(operation)["state"]
    names = [name for name, values in sorted(factors.items()) if values]
    for _ in range(_TRIES):
        several = max(chance.choices([*weights], [*weights.values()])[0], effect.side is Side.REFUSED)
        values = [chance.choice(factors[name]) for name in chance.sample(names, min(several, len(names)))]
        if (
            effect.side is Side.TAKEN
            and chance.random() < _COUNTED
            and "free" not in {v.name for v in values}
        ):
            values = [*values[:1], *conditions_of(chance.choice(COUNTED))]
        fault = _fault(effect, operation, values)
        if musts(fault.breaks):
            return fault
    return None
