"""Identifiers at the edges of the rule and outside it, near misses of it, and pairs that services confuse.

All are within the namespace of the run. A near miss is made of an identifier under which something is there, so that
a service which tidies it discloses or changes what belongs to another one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from contracts.cases import requests
from contracts.cases.drafts import (
    claim_each_refused,
    completes_lifecycle_under,
    never_used,
    nothing_saved,
    relies_on_absence,
    save,
    works_for_ordinary_uid,
)
from contracts.cases.hostile_input import Deal
from contracts.cases.properties import Properties
from contracts.cases.requests import OrdinaryRequests, Request
from contracts.cases.sample_records import Samples
from contracts.cases.world import World
from contracts.checks.claims import Claim, Expect
from contracts.checks.outcomes import Blocked, Contradiction, Untested, done, usable
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import operations_with
from contracts.interface.operations import UID_LONGEST, UID_SHORTEST, is_valid_uid
from contracts.session.actor import Actor
from contracts.session.namespace import Namespace
from contracts.settings.target import RealmSettings, Target

_HYPHENLESS: Final = (frozenset("0123456789"), frozenset("_"))
_ALLOWED: Final = re.compile(r"[A-Za-z0-9_-]", re.ASCII)

#: The neighbours of the allowed ranges in ASCII, and what people write into names; NUL last, as proxies refuse it.
FORBIDDEN: Final[Mapping[str, str]] = {
    "space": " ",
    "dot": ".",
    "comma": ",",
    "slash": "/",
    "plus": "+",
    "exclamation": "!",
    "colon": ":",
    "at": "@",
    "opening bracket": "[",
    "backtick": "`",
    "brace": "{",
    "percent": "%",
    "asterisk": "*",
    "tilde": "~",
    "dollar": "$",
    "apostrophe": "'",
    "nul": "\0",
}
#: What stands for a letter where an address is decoded twice.
TWICE: Final[Mapping[str, str]] = {"letter encoded twice": "%41"}
#: What the printed pattern lets in when its doubled backslash is read literally.
MISREAD: Final[Mapping[str, str]] = {"backslash": "\\", "closing bracket": "]", "caret": "^"}
#: Letters and digits that Unicode-aware patterns take for \w, \d or, caseless, for k and s; and wide look-alikes.
NON_ASCII: Final[Mapping[str, str]] = {
    "e acute": "é",
    "cyrillic a": "\u0430",
    "kelvin sign": "\u212a",
    "long s": "\u017f",
    "full-width A": "\uff21",
    "full-width one": "\uff11",
    "arabic-indic one": "\u0661",
    "full-width low line": "\uff3f",
    "unbroken hyphen": "\u2011",
    "emoji": "\U0001f333",
}
#: Line breaks, which `$` lets through at the end of a text in many engines.
LINE_BREAKS: Final[Mapping[str, str]] = {"return": "\r", "return and newline": "\r\n", "newline": "\n"}
#: Every character of ASCII that the rule leaves out.
ALL_FORBIDDEN: Final[Mapping[str, str]] = {
    f"ascii {code}": chr(code) for code in reversed(range(128)) if not _ALLOWED.fullmatch(chr(code))
}
#: Half a surrogate pair, which goes out as bytes that are no UTF-8.
NO_UTF_8: Final[Mapping[str, str]] = {"no utf-8": "\ud800"}


def spoilt(uid: str, characters: Mapping[str, str]) -> list[str]:
    """One uid for each character: the same valid uid with just this character in its middle."""
    half = len(uid) // 2
    return [uid[:half] + character + uid[half:] for character in characters.values()]


def within(fresh: Namespace, uid: str, characters: Mapping[str, str], ending: str = "") -> list[str]:
    """As `spoilt`, for the uid of a record of ours that the service may have named; the run may write to them.

    Args:
        ending: A bad character to put behind the uid as well.
    """
    identifiers = [*spoilt(uid, characters), *([uid + ending] if ending else [])]
    for identifier in identifiers:
        fresh.claim(identifier)
    return identifiers


def foldings(uids: Iterable[str]) -> list[str]:
    """Valid uids that a careless service might take bad ones for.

    Args:
        uids: Uids outside the rule.

    Returns:
        Without the bad characters, with them replaced by hyphen or underscore, cut at the first of them or at 128
        characters, and folded to ASCII; each once. A letter encoded twice stands for itself and folds to nothing.
    """
    plain = [uid for uid in uids if not any(letter in uid for letter in TWICE.values())]
    folded_uids = [folded for uid in plain for folded in _foldings(uid) if is_valid_uid(folded)]
    return list(dict.fromkeys(folded_uids))


def _foldings(uid: str) -> list[str]:
    wide = unicodedata.normalize("NFKD", uid)
    return [
        uid[:UID_LONGEST],
        _without(uid, ""),
        _without(uid, "-"),
        _without(uid, "_"),
        _without(wide, ""),
        re.split(r"[^A-Za-z0-9_-]", uid)[0],
    ]


def _without(uid: str, substitute: str) -> str:
    return "".join(character if _ALLOWED.fullmatch(character) else substitute for character in uid)


def percent_encoding(uid: str) -> Callable[[str], str]:
    """Return what rewrites an address so that every character of a uid is percent-encoded, the allowed ones too."""
    encoded = "".join(f"%{byte:02X}" for byte in uid.encode("utf-8"))
    return lambda address: address.replace(uid, encoded)


def hyphens_name_a_draft(world: World, settings: RealmSettings, expect: Expect) -> None:
    """Claim that a draft lives under a uid with hyphens, doubled and at the end too.

    Ordinary uids of the suite have hyphens as well. Where it fails, one without any is tried.

    Raises:
        Contradiction: a must was contradicted. Blocked: a uid without a hyphen names no draft either.
    """
    try:
        completes_lifecycle_under(world, expect, "uid-hyphen", world.fresh.uid(20) + "--a-")
    except Contradiction:
        for uid in without_hyphen(settings):
            works_for_ordinary_uid(world.author, world, uid)
        raise


def without_hyphen(settings: RealmSettings) -> list[str]:
    """A spare identifier without a hyphen in it, for a control; none when the settings have too few of them.

    The first of digits and of underscores are left to the cases that are about them: cases run side by side.
    """
    kinds = ([uid for uid in settings.spare_identifiers if set(uid) <= signs] for signs in _HYPHENLESS)
    return [uid for uids in kinds for uid in uids[1:2]][:1]


def spare(settings: RealmSettings, realm: str, pattern: str) -> str:
    """A spare identifier of the settings that matches a pattern as a whole.

    Raises:
        Untested: the settings name none of this kind.
    """
    for identifier in settings.spare_identifiers:
        if re.fullmatch(pattern, identifier):
            return identifier
    raise Untested(f"setting realm.{realm}.spare_identifiers is missing: none matches {pattern}")


#: What the identifier rule leaves out: near misses, both misreadings of its pattern, other scripts, white space.
_FORBIDDEN: Final = (".", " ", "]", "\\", "é", "\n")


def foreign_schema(target: Target, realm: str, turn: str) -> str:
    """A workflow schema of another realm that is not this one's; another one for each turn, as far as there are.

    Raises:
        Untested: the settings name none.
    """
    own = target.realm_settings(realm).workflow_schema
    named = (target.realm_settings(other).workflow_schema for other in target.realms if other != realm)
    schemas = [schema for schema in dict.fromkeys(named) if schema and schema != own]
    if not schemas:
        raise Untested("setting realm.<another realm>.workflow_schema is missing")
    return schemas[sum(map(ord, turn)) % len(schemas)]


def forbidden_identifiers(fresh: Namespace) -> dict[str, list[str]]:
    """Identifiers outside the rule, inside the run's prefix, by the clause that forbids them."""
    return {
        "workflow-identifier-too-short": [fresh.uid(UID_SHORTEST - 1), fresh.uid(len(fresh.prefix) + 1)],
        "workflow-identifier-too-long": [fresh.uid(UID_LONGEST + 1), fresh.uid(2 * UID_LONGEST)],
        "workflow-identifier-characters": [fresh.uid() + character for character in _FORBIDDEN],
    }


def other_case(fresh: Namespace, identifier: str) -> str:
    """An identifier that differs in letter case only, behind the run's prefix."""
    return fresh.prefix + identifier.removeprefix(fresh.prefix).swapcase()


_ANY_KIND, _LONGEST = "uid-any-kind", "uid-longest"
#: A sign that the rule allows beside small letters and digits, by the clause about it, as an ending.
_SIGNS: Final[Mapping[str, str]] = {"uid-underscore": "_a", _ANY_KIND: "ABCXYZ", "uid-hyphen": "-a--"}
EVERY_SIGN_CLAUSES: Final = (_LONGEST, *_SIGNS)


def every_sign_names_a_draft(world: World, expect: Expect) -> None:
    """Claim that one uid which is as long as any and holds every sort of sign names a draft, and no other one does.

    One draft judges what many others judge one by one. Where it fails, an ordinary uid is tried, then uids with one
    peculiarity each, so that the finding is about the one that is at fault.

    Raises:
        Contradiction: a must was contradicted. Blocked: not even an ordinary uid names a draft.
    """
    ending = "".join(_SIGNS.values())
    uid = world.fresh.uid(UID_LONGEST - len(ending)) + ending
    document, path = world.samples.draft(uid), {"uid": uid}
    life = {"saveDraft": save(world.author, world.samples, uid, document)}
    life |= {name: world.author.send(name, path=path) for name in operations_with(needs="draft", safe=True)}
    shorter = world.author.draft_exists(uid[:-1])
    life["deleteDraft"] = world.author.send("deleteDraft", path=path)
    failed = next((operation for operation, sent in life.items() if not usable(sent).success), "")
    if not failed and not readers.holds_document(life["getDraft"].answer, document):
        failed = "getDraft"
    if not failed and usable(world.author.send("draftExists", path=path)).success:
        failed = "deleteDraft"
    if failed:
        works_for_ordinary_uid(world.author, world)
        _claim_each_sign(world, expect)
        clause = _ANY_KIND if failed in load_catalogue().clause(_ANY_KIND).operations else _LONGEST
        expect(clause, failed).holds(
            False, life[failed], expected=f"a draft under {uid}", seen=life[failed].answer.quote()
        )
    if usable(shorter).success:
        relies_on_absence(world.author)
    expect("uid-hyphen", "draftExists").holds(
        not usable(shorter).success,
        life["saveDraft"],
        shorter,
        expected=f"no draft under {uid[:-1]}, which is one hyphen shorter",
        seen=shorter.answer.quote(),
    )
    for clause in (_ANY_KIND, _LONGEST, "uid-underscore"):
        expect(clause, "getDraft").shows(life["getDraft"], document)


def _claim_each_sign(world: World, expect: Expect) -> None:
    """Claim that a draft lives under a uid that is as long as any, and under ordinary ones with each sort of sign."""
    uids = {clause: world.fresh.uid() + sign for clause, sign in _SIGNS.items()}
    for clause, uid in ({_LONGEST: world.fresh.uid(UID_LONGEST)} | uids).items():
        completes_lifecycle_under(world, expect, clause, uid)


# -- near misses

_SHORT, _LONG, _CHARACTER = "uid-too-short", "uid-too-long", "uid-forbidden-characters"
_MISREAD, _WIDE, _NEWLINE = "uid-misread-range", "uid-non-ascii", "uid-trailing-newline"
MISS_CLAUSES: Final = (_SHORT, _LONG, _CHARACTER, _MISREAD, _WIDE, _NEWLINE)


@dataclass(frozen=True)
class NearMiss:
    """One way to break the identifier rule by little.

    Attributes:
        clause: The clause that rules it out.
        insert: What is put into the identifier; of the lengths, what is behind it.
        place: Where, from 0 for the middle to 1 for the end.
        length: In place of an insertion, the identifier's length.
    """

    clause: str
    insert: str = ""
    place: float = 0.0
    length: int = 0

    def of(self, uid: str) -> str:
        """Return an identifier that breaks the rule so, made of one that keeps it."""
        if self.length:
            return (uid + "x" * self.length)[: self.length]
        at = len(uid) // 2 + round(self.place * (len(uid) - len(uid) // 2))
        return uid[:at] + self.insert + uid[at:]


#: One of each sort that services let through.
MISSES: Final = (
    NearMiss(_SHORT, length=UID_SHORTEST - 1),
    NearMiss(_SHORT, length=8),
    NearMiss(_LONG, length=UID_LONGEST + 1),
    NearMiss(_LONG, length=2 * UID_LONGEST),
    NearMiss(_NEWLINE, "\n", 1.0),
    NearMiss(_CHARACTER, " "),
    NearMiss(_CHARACTER, " ", 1.0),
    NearMiss(_CHARACTER, "."),
    NearMiss(_CHARACTER, "/"),
    NearMiss(_CHARACTER, "$"),
    NearMiss(_CHARACTER, "\0"),
    NearMiss(_MISREAD, "]"),
    NearMiss(_MISREAD, "^"),
    NearMiss(_MISREAD, "\\"),
    NearMiss(_WIDE, NON_ASCII["e acute"]),
    NearMiss(_WIDE, NON_ASCII["arabic-indic one"]),
)

#: What is sent where a service that takes it stores it: every sign by itself, beside the others.
MISSES_OF_SAVES: Final = (
    *MISSES,
    *(NearMiss(_CHARACTER, sign) for sign in (*TWICE.values(), *FORBIDDEN.values())),
    *(NearMiss(_WIDE, sign) for sign in (*NON_ASCII.values(), *NO_UTF_8.values())),
    *(NearMiss(_NEWLINE, ending, 1.0) for ending in LINE_BREAKS.values()),
)


def near_misses() -> SearchStrategy[NearMiss]:
    """Near misses with any character that the rule leaves out, at any place of the second half."""
    places = st.sampled_from((0.0, 0.3, 0.5, 0.8, 1.0))
    misread = ("]", "^", "\\")
    plain = [sign for sign in ALL_FORBIDDEN.values() if sign not in misread]
    wide = st.characters(codec="utf-8", min_codepoint=0x80)
    return st.one_of(
        st.builds(NearMiss, st.just(_CHARACTER), st.sampled_from(list(FORBIDDEN.values())), places),
        st.builds(NearMiss, st.just(_CHARACTER), st.sampled_from(plain), places),
        st.builds(NearMiss, st.just(_MISREAD), st.sampled_from(misread), places),
        st.builds(
            NearMiss, st.just(_WIDE), st.one_of(st.sampled_from(list(NON_ASCII.values())), wide), places
        ),
        st.builds(NearMiss, st.just(_NEWLINE), st.sampled_from(list(LINE_BREAKS.values())), st.just(1.0)),
        st.integers(7, UID_SHORTEST - 1).map(lambda length: NearMiss(_SHORT, length=length)),
        st.integers(UID_LONGEST + 1, 300).map(lambda length: NearMiss(_LONG, length=length)),
    )


class NearMisses:
    """Sends requests of one operation that are right but for their identifier.

    Args:
        operation: One that takes a uid in its path.
    """

    def __init__(
        self,
        operation: str,
        actor: Actor,
        world: World,
        ordinary: OrdinaryRequests,
        fresh: Namespace,
        expect: Expect,
    ) -> None:
        self._operation = operation
        self._actor = actor
        self._world = world
        self._ordinary = ordinary
        self._fresh = fresh
        self._claim = expect
        self._usual: Request | None = None
        self._tried: list[str] = []
        self.refused: Exchange | None = None

    def is_refused(self, miss: NearMiss) -> None:
        """Claim that an identifier which nearly keeps the rule is refused.

        Raises:
            Contradiction: it was taken.
            Blocked: the operation refuses nothing that is absent, so nothing can be told apart.
        """
        request = self._request(miss)
        uid = miss.of(request.path["uid"])
        self._fresh.claim(uid)
        self._tried.append(uid)
        spoilt = (
            requests.saving(self._world, uid) if self._operation == "saveDraft" else requests.at(request, uid)
        )
        sent = spoilt.send(self._actor)
        # Operations that only look refuse what is absent, and cannot be told apart where they do not.
        looks = self._operation in operations_with(safe=True)
        control = partial(self._control, request) if looks else None
        claim_each_refused(self._judging(miss.clause), [sent], control)
        self.refused = self.refused or sent

    def are_refused(self, properties: Properties, deal: Deal) -> None:
        """Claim that near misses are refused: this realm's share of the known ones, and one that is drawn."""
        table = MISSES_OF_SAVES if self._operation == "saveDraft" else MISSES
        first = list(deal({str(miss): miss for miss in table}, len(self._operation)).values())
        self._request(first[0])  # what it takes to arrange something is no share of the misses
        properties.hold(near_misses(), self.is_refused, requests=len(first) + 1, each=1, first=first)

    def left_nothing(self) -> None:
        """Claim that no file was added to the document whose identifier was spoilt, and no draft saved."""
        if self.refused is not None and self._operation == "saveDraft":
            claims = partial(self._claim, _CHARACTER)
            nothing_saved(claims, self._actor, self._tried, foldings(self._tried), self.refused)
        elif self._usual is not None and self.refused is not None:
            attached = self._world.attachment_ids(self._usual.path["uid"], by=self._actor)
            self._claim(_CHARACTER, self._operation).holds(
                not attached,
                self.refused,
                expected="no attachment of the document",
                seen=f"its list holds {attached}",
            )

    def _judging(self, clause: str) -> Claim:
        """A claim about the clause, or about the one on characters where that does not speak of the operation."""
        covered = self._operation in load_catalogue().clause(clause).operations
        return self._claim(clause if covered else _CHARACTER, self._operation)

    def _control(self, request: Request) -> Exchange:
        return requests.send(requests.at(request, never_used()), self._actor)

    def _request(self, miss: NearMiss) -> Request:
        """A request on something that is there; for a length, under the identifier that is nearest to it."""
        if self._usual is None:
            self._usual = self._ordinary.request(self._operation)
        if self._operation in operations_with(needs="draft", safe=True):
            return requests.at(self._usual, self._uid_near(miss))
        if miss.length:
            return requests.at(self._usual, self._fresh.uid(UID_SHORTEST))
        return self._usual

    def _uid_near(self, miss: NearMiss) -> str:
        length = UID_SHORTEST if miss.clause == _SHORT else UID_LONGEST if miss.clause == _LONG else 40
        word = {UID_SHORTEST: "shortest", UID_LONGEST: "longest"}.get(length, "base")
        return self._world.shared_draft(word, self._fresh.uid(length), by=self._actor).uid


# -- neighbours

NEIGHBOUR_CLAUSES: Final = (
    "uid-case-sensitive",
    "uid-hyphen",
    "uid-underscore",
    "uid-longest",
    "draft-save-spares-others",
    "draft-delete-spares-others",
    "draft-delete-removes",
)
_CASE, _HYPHEN, _UNDERSCORE, _LONGEST = NEIGHBOUR_CLAUSES[:4]


@dataclass(frozen=True)
class Neighbour:
    """One way to make an identifier that is near another one.

    Attributes:
        clause: The clause that such an identifier is acceptable by; empty for an ordinary one.
        make: Makes it of the other one.
        deleted: Whether its draft is deleted, and the plainer one stays that a service may take it for.
    """

    name: str
    clause: str
    make: Callable[[str], str]
    deleted: bool = False


def _neighbours() -> dict[str, Neighbour]:
    plain = (
        ("letters", "", "bc"),
        ("capitals", _CASE, "bC"),
        ("hyphen", _HYPHEN, "b-c"),
        ("underscore", _UNDERSCORE, "b_c"),
        ("hyphens", _HYPHEN, "b--c"),
        ("hyphen behind", _HYPHEN, "bc-"),
        ("underscore behind", _UNDERSCORE, "bc_"),
    )
    near = [
        Neighbour(name, clause, partial(_followed, by=by), name not in ("letters", "hyphen"))
        for name, clause, by in plain
    ]
    near += [Neighbour(f"same {at}", _LONGEST, partial(_filled, other=at)) for at in (32, 64, 100, 127)]
    near.append(Neighbour("filled", _LONGEST, _filled, deleted=True))
    return {neighbour.name: neighbour for neighbour in near}


def _followed(uid: str, by: str) -> str:
    return uid + by


def _filled(uid: str, other: int = UID_LONGEST) -> str:
    """The identifier filled up to the longest; from a place on with another letter."""
    return (uid + "a" * UID_LONGEST)[:other] + "x" * (UID_LONGEST - other)


NEIGHBOURS: Final[Mapping[str, Neighbour]] = _neighbours()


def neighbour_names() -> SearchStrategy[tuple[str, ...]]:
    """Names of some neighbours, each once."""
    names = st.sampled_from(list(NEIGHBOURS))
    return st.lists(names, min_size=1, max_size=5, unique=True).map(tuple)


class Neighbourhood:
    """Saves drafts under identifiers that are near each other, and claims that each has one of its own."""

    def __init__(
        self, actor: Actor, world: World, samples: Samples, fresh: Namespace, expect: Expect
    ) -> None:
        self._actor = actor
        self._world = world
        self._samples = samples
        self._fresh = fresh
        self._claim = expect

    def are_told_apart(self, names: Sequence[str]) -> None:
        """Claim that drafts of neighbours keep their contents, and that deleting some leaves the others.

        Raises:
            Contradiction: a must was contradicted.
            Blocked: drafts do not even work under an ordinary identifier.
        """
        works_for_ordinary_uid(self._actor, self._world)
        base = self._fresh.uid()
        near = {NEIGHBOURS[name].make(base): NEIGHBOURS[name] for name in names}
        clauses = {base: ""} | {uid: neighbour.clause for uid, neighbour in near.items()}
        saved = {uid: self._saved(uid, clause) for uid, clause in clauses.items()}
        saved[base] = self._saved(base, "")
        for uid, clause in clauses.items():
            self._claim_own(uid, clause, saved)
        deleted = [base, *(uid for uid, neighbour in near.items() if neighbour.deleted)]
        gone = {uid: self._deleted(uid, clauses[uid]) for uid in deleted}
        for uid in clauses:
            self._claim_left(uid, clauses[uid], gone)

    def _document(self, uid: str) -> dict[str, Any]:
        return self._samples.short_draft(uid, middleName=f"of {len(uid)} {uid}")

    def _saved(self, uid: str, clause: str) -> Exchange:
        sent = save(self._actor, self._samples, uid, self._document(uid))
        if clause:
            self._claim(clause, "saveDraft").accepted(sent)
        done(sent)
        return sent

    def _claim_own(self, uid: str, clause: str, saved: Mapping[str, Exchange]) -> None:
        read = self._actor.get_draft(uid)
        if clause:
            self._claim(clause, "getDraft").accepted(read)
        shown = [other for other in saved if f'"of {len(other)} {other}"' in usable(read).text]
        spared = _at_stake(uid, clause, shown, "draft-save-spares-others")
        self._claim(spared, "saveDraft").holds(
            shown == [uid],
            saved[uid],
            *[saved[other] for other in shown if other != uid],
            read,
            expected=f"the draft saved under {uid}",
            seen=f"that of {', '.join(shown)}" if shown else read.answer.quote(),
        )

    def _deleted(self, uid: str, clause: str) -> Exchange:
        sent = self._actor.delete_draft(uid)
        if clause:
            self._claim(clause, "deleteDraft").accepted(sent)
        done(sent)
        return sent

    def _claim_left(self, uid: str, clause: str, gone: Mapping[str, Exchange]) -> None:
        check = self._actor.draft_exists(uid)
        there = usable(check).success
        if uid in gone and there:
            self._claim_absent(uid, clause, gone[uid], check)
        spared = _at_stake(uid, clause, gone, "draft-delete-spares-others")
        self._claim(spared, "deleteDraft").holds(
            there or uid in gone,
            *gone.values(),
            check,
            expected=f"the draft {uid} untouched",
            seen=check.answer.quote(),
        )

    def _claim_absent(self, uid: str, clause: str, gone: Exchange, check: Exchange) -> None:
        """Claim that the exists check does not take an identifier for another one; it finds each draft that is there.

        Raises:
            Blocked: the draft is still there.
        """
        read = self._actor.get_draft(uid)
        if usable(read).success:
            raise Blocked("deleteDraft", "leaves the draft where it was")
        relies_on_absence(self._actor)
        mistaken = _at_stake(uid, clause, (), "draft-delete-removes")
        self._claim(mistaken, "draftExists").holds(
            False, gone, read, check, expected=f"no draft under {uid}", seen=check.answer.quote()
        )


def _at_stake(uid: str, clause: str, others: Iterable[str], otherwise: str) -> str:
    """The clause about letter case for an identifier in capitals, and for one that such a one may be taken for."""
    in_other_case = any(other != uid and other.lower() == uid.lower() for other in others)
    return _CASE if clause == _CASE or in_other_case else otherwise


#: Neighbours that are taken for each other first; those of one line are always beside each other.
_TAKEN_FOR_EACH_OTHER: Final[Mapping[str, tuple[str, ...]]] = {
    "letter case": ("letters", "capitals", "same 32", "filled"),
    "signs inside": ("letters", "hyphen", "underscore", "hyphens"),
    "signs behind": ("letters", "hyphen behind", "underscore behind", "same 127", "filled"),
}


def beside_each_other(deal: Deal) -> tuple[str, ...]:
    """Neighbours whose turn it is, every one in a run of one realm; of two that look alike, one is deleted."""
    mine = {name for names in deal(_TAKEN_FOR_EACH_OTHER).values() for name in names}
    return tuple(name for name in NEIGHBOURS if name in mine)
