"""Identifiers at the edges of the rule and outside it, near misses of it, and pairs that services confuse.

All are in the namespace of the run. A near miss is made from the identifier of an existing record, so a service that
normalises it reads or changes that record.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from registry_contracts.cases import requests
from registry_contracts.cases.attachments import claim_nothing_attached
from registry_contracts.cases.drafts import claim_each_refused, claim_nothing_saved, never_used
from registry_contracts.cases.hostile_input import Deal
from registry_contracts.cases.properties import Properties
from registry_contracts.cases.requests import OrdinaryRequests, Request
from registry_contracts.cases.world import World
from registry_contracts.checks.claims import Claim, Expect
from registry_contracts.checks.outcomes import missing, usable
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.description import operations_with
from registry_contracts.interface.operations import UID_LONGEST, UID_SHORTEST, is_valid_uid
from registry_contracts.session.namespace import Namespace
from registry_contracts.settings.target import RealmSettings, Target

_ALLOWED: Final = re.compile(r"[A-Za-z0-9_-]", re.ASCII)

#: ASCII neighbours of the allowed ranges, and characters people write in names; NUL last, since proxies refuse it.
FORBIDDEN: Final = tuple(" .,/+!:@[`{%*~$'\0")
#: A letter encoded twice; a service that decodes twice reads the letter.
TWICE: Final = "%41"
#: Characters that the printed pattern allows if its doubled backslash is read literally.
MISREAD: Final = ("]", "^", "\\")
#: An accented letter and an Arabic-Indic digit; Unicode-aware patterns accept them as letter and digit.
_LETTER, _DIGIT = "\u00e9", "\u0661"
#: More of these: Cyrillic; case variants of k and s; full-width letter, digit and sign; a hyphen; an emoji.
NON_ASCII: Final = (
    *(_LETTER, "\u0430", "\u212a", "\u017f"),
    *("\uff21", "\uff11", _DIGIT, "\uff3f", "\u2011", "\U0001f333"),
)
#: Line breaks; in many engines `$` allows one at the end.
LINE_BREAKS: Final = ("\r", "\r\n", "\n")
#: Every ASCII character that the rule does not allow.
ALL_FORBIDDEN: Final = tuple(chr(code) for code in reversed(range(128)) if not _ALLOWED.fullmatch(chr(code)))
#: Half a surrogate pair, which is sent as invalid UTF-8.
NO_UTF_8: Final = "\ud800"


def within(world: World, uid: str, signs: str) -> list[str]:
    """Our record's uid with one of these signs in its middle, each claimed for the run, which may then write to it."""
    half = len(uid) // 2
    identifiers = [uid[:half] + sign + uid[half:] for sign in signs]
    for identifier in identifiers:
        world.fresh.claim(identifier)
    return identifiers


def foldings(uids: Iterable[str]) -> list[str]:
    """Valid uids that a careless service might turn bad ones into.

    Args:
        uids: Uids outside the rule.

    Returns:
        Each uid without the bad characters, with them replaced by hyphen or underscore, cut at the first of them or
        at 128 characters, and folded to ASCII; without duplicates. Uids with a letter encoded twice are skipped.
    """
    plain = [uid for uid in uids if TWICE not in uid]
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
    """Return a function that percent-encodes every character of a uid in an address, even the allowed ones."""
    encoded = "".join(f"%{byte:02X}" for byte in uid.encode("utf-8"))
    return lambda address: address.replace(uid, encoded)


def spare(settings: RealmSettings, realm: str, pattern: str) -> str:
    """A spare identifier of the settings that matches a pattern."""
    for identifier in settings.spare_identifiers:
        if re.fullmatch(pattern, identifier):
            return identifier
    raise missing(f"realm.{realm}.spare_identifiers", f": none matches {pattern}")


def foreign_schema(target: Target, realm: str, turn: str) -> str:
    """A workflow schema of another realm, different from this realm's; `turn` rotates over them."""
    own = target.realm_settings(realm).workflow_schema
    named = (target.realm_settings(other).workflow_schema for other in target.realms if other != realm)
    schemas = [schema for schema in dict.fromkeys(named) if schema and schema != own]
    if not schemas:
        raise missing("realm.<another realm>.workflow_schema")
    return schemas[sum(map(ord, turn)) % len(schemas)]


def other_case(fresh: Namespace, identifier: str) -> str:
    """The identifier with swapped letter case after the run's prefix."""
    return fresh.prefix + identifier.removeprefix(fresh.prefix).swapcase()


_ANY_KIND, _LONGEST = "uid-any-kind", "uid-longest"
_SAVE_SPARES: Final = ("draft-save-spares-others", "saveDraft")
_DELETE_SPARES: Final = ("draft-delete-spares-others", "deleteDraft")
ALIKE_CLAUSES: Final = (
    *(_ANY_KIND, _LONGEST, "uid-hyphen", "uid-underscore"),
    *(_SAVE_SPARES[0], _DELETE_SPARES[0]),
)


def _kinds(world: World) -> list[tuple[str, str]]:
    """Valid uids of every kind and of medium lengths, each with the clause that promises it."""
    small, both = string.ascii_lowercase, string.ascii_letters
    return [
        ("uid-digits-only", world.fresh.without_prefix(string.digits, 25)),
        (_ANY_KIND, world.fresh.without_prefix(both, 36)),
        (_ANY_KIND, world.fresh.without_prefix(small, 32)),
        ("uid-hyphen", "-" + world.fresh.without_prefix(small, 45) + "--"),
        ("uid-underscore", "_" + world.fresh.without_prefix(small, 62) + "_"),
        (_ANY_KIND, world.fresh.uid(65)),
        (_ANY_KIND, world.fresh.uid(100)),
        (_ANY_KIND, world.fresh.uid(17)),
    ]


def saved_under_every_kind(world: World) -> list[tuple[str, str, Exchange]]:
    """Drafts saved under `_kinds`, as (clause, uid, exchange); they stay until the end of the run."""

    def make() -> list[tuple[str, str, Exchange]]:
        made = []
        for number, (clause, uid) in enumerate(_kinds(world)):
            world.keep(uid)
            draft = world.samples.short_draft(uid, middleName=f"kind {number}")
            made.append((clause, uid, world.save(uid, draft)))
        return made

    return world.shared("drafts of every kind", make)


def claim_every_kind(world: World, expect: Expect) -> None:
    """Claim that a draft is saved, found and read under uids of every kind."""
    kinds = [*saved_under_every_kind(world)]
    for number, (clause, uid, saved) in enumerate(kinds):
        expect(clause, "saveDraft").accepted(saved)
        told = world.samples.members_of_draft(middleName=f"kind {number}")
        expect(clause, "getDraft").shows(world.author.get_draft(uid), told)
    for clause, uid, _ in kinds:  # last, so that a broken check hides no other finding
        expect(clause, "draftExists").accepted(world.author.draft_exists(uid))


#: Length of the common beginning of similar identifiers.
_BEGINNING: Final = 24
#: Endings of identifiers that services confuse, each with the clause that allows it. The second half is deleted;
#: the plainer ones stay, since a service may confuse the others with them.
ALIKE: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "signs": (("bc", _ANY_KIND), ("b-c", "uid-hyphen"), ("b_c", "uid-underscore"), ("b--c", "uid-hyphen")),
    "lengths": tuple(
        (("a" * UID_LONGEST)[: at - _BEGINNING] + "x" * (UID_LONGEST - at), _LONGEST)
        for at in (32, 64, 100, 127, UID_LONGEST)
    ),
}


def claim_told_apart(world: World, expect: Expect, kind: str) -> None:
    """Claim that similar identifiers name different drafts: each comes back, and those that are not deleted stay.

    The exists checks come after all reads, so that a broken check hides no other finding.
    """
    beginning = world.uid(_BEGINNING)
    alike = {beginning + end: clause for end, clause in ALIKE[kind]}
    drafts = {
        uid: world.samples.short_draft(uid, middleName=f"{number} of {beginning}")
        for number, uid in enumerate(alike)
    }
    first, deleted = next(iter(alike)), list(alike)[len(alike) // 2 :]
    for uid in (*alike, first):
        expect(alike[uid], "saveDraft").accepted(world.save(uid, drafts[uid]))
    for uid, clause in alike.items():
        read = world.author.get_draft(uid)
        others = [draft for other, draft in drafts.items() if other != uid]
        replaced = any(readers.holds_document(usable(read), draft) for draft in others)
        expect(*_SAVE_SPARES).holds(not replaced, read, expected="not the draft of another uid")
        expect(clause, "getDraft").shows(read, drafts[uid])
    for uid in deleted:
        for claim in expect.on(alike[uid], "deleteDraft"):
            claim.accepted(world.author.delete_draft(uid))
    for uid, clause in alike.items():
        check, due = world.author.draft_exists(uid), uid not in deleted
        about = _DELETE_SPARES if due else (clause, "draftExists")
        expected = f"{'the' if due else 'no'} draft under {uid}"
        expect(*about).holds(usable(check).success is due, check, expected=expected)


# -- near misses

_SHORT, _LONG, _CHARACTER = "uid-too-short", "uid-too-long", "uid-forbidden-characters"
_MISREAD, _WIDE, _NEWLINE = "uid-misread-range", "uid-non-ascii", "uid-trailing-newline"
MISS_CLAUSES: Final = (_SHORT, _LONG, _CHARACTER, _MISREAD, _WIDE, _NEWLINE)
#: Operations that get near misses: those that look something up by uid, and those that store.
LOOKS: Final = (
    *("getDraft", "getDraftInfo", "draftExists", "updateContact"),
    *("attachmentExists", "getAttachment", "getAttachmentThumbnail"),
)
STORES: Final = ("saveDraft", "createAttachment", "persistTemporaryFile")


@dataclass(frozen=True)
class NearMiss:
    """One way to break the identifier rule slightly.

    Attributes:
        insert: Text to insert into the identifier.
        place: Where to insert it, from 0 (middle) to 1 (end).
        length: Length of the identifier, instead of an insertion.
    """

    insert: str = ""
    place: float = 0.0
    length: int = 0

    @property
    def clause(self) -> str:
        """The clause that rules it out."""
        if self.length:
            return _SHORT if self.length < UID_SHORTEST else _LONG
        if self.insert in LINE_BREAKS and self.place == 1:
            return _NEWLINE
        return _MISREAD if self.insert in MISREAD else _CHARACTER if self.insert.isascii() else _WIDE

    def of(self, uid: str) -> str:
        """Return an identifier that breaks the rule this way, made from a valid one."""
        if self.length:
            return (uid + "x" * self.length)[: self.length]
        at = len(uid) // 2 + round(self.place * (len(uid) - len(uid) // 2))
        return uid[:at] + self.insert + uid[at:]


#: One of each kind that services tend to accept, the most likely first.
MISSES: Final = (
    NearMiss("\n", 1.0),
    NearMiss(_LETTER),
    NearMiss(length=UID_SHORTEST - 1),
    NearMiss(_DIGIT),
    NearMiss(length=UID_LONGEST + 1),
    NearMiss(" "),
    NearMiss(" ", 1.0),
    *map(NearMiss, (".", "/", "\0", *MISREAD)),
)

#: For saves, where an accepted near miss is stored: the same, and every sign alone.
MISSES_OF_SAVES: Final = (
    *MISSES,
    *map(NearMiss, (TWICE, *FORBIDDEN, *NON_ASCII, NO_UTF_8)),
    *(NearMiss(ending, 1.0) for ending in LINE_BREAKS),
)


def near_misses() -> SearchStrategy[NearMiss]:
    """Near misses with any forbidden character at any place in the second half, or with a wrong length."""
    places = st.sampled_from((0.0, 0.3, 0.5, 0.8, 1.0))
    wide = st.characters(codec="utf-8", min_codepoint=0x80)
    return st.one_of(
        st.builds(NearMiss, st.one_of(st.sampled_from((*FORBIDDEN, *MISREAD, *ALL_FORBIDDEN)), wide), places),
        st.builds(NearMiss, st.sampled_from(LINE_BREAKS), st.just(1.0)),
        st.builds(
            NearMiss, length=st.one_of(st.integers(7, UID_SHORTEST - 1), st.integers(UID_LONGEST + 1, 300))
        ),
    )


class NearMisses:
    """Sends requests of one operation that are valid except for their identifier."""

    def __init__(self, operation: str, world: World, ordinary: OrdinaryRequests, expect: Expect) -> None:
        self._operation = operation
        self._world = world
        self._ordinary = ordinary
        self._claim = expect
        self._usual: Request | None = None
        self._tried: list[str] = []
        self.refused: Exchange | None = None

    def claim_refused(self, miss: NearMiss) -> None:
        """Claim that a near miss is refused."""
        request = self._request(miss)
        uid = miss.of(request.path["uid"])
        self._world.fresh.claim(uid)
        self._tried.append(uid)
        spoilt = (
            requests.saving(self._world, uid) if self._operation == "saveDraft" else requests.at(request, uid)
        )
        sent = spoilt.send(self._world.author)
        # A read that does not even refuse absent records proves nothing about bad identifiers.
        looks = self._operation in operations_with(safe=True)
        control = partial(self._control, request) if looks else None
        claim_each_refused(self._judging(miss.clause), [sent], control)
        self.refused = self.refused or sent

    def claim_all_refused(self, properties: Properties, deal: Deal) -> None:
        """Claim that near misses are refused: this realm's share of the known ones, and of a save a drawn one."""
        saves = self._operation == "saveDraft"
        table = MISSES_OF_SAVES if saves else MISSES
        dealt = deal({str(miss): miss for miss in table}, len(self._operation)).values()
        first = list(dict.fromkeys([*MISSES[:saves], *dealt]))  # a save gets a line break in every realm
        self._request(first[0])  # arrange first, so that its requests do not count
        properties.hold(near_misses(), self.claim_refused, requests=len(first) + saves, each=1, first=first)

    def claim_nothing_left(self, deal: Deal) -> None:
        """Claim that near misses saved no draft and added no file to the original document."""
        if self.refused is not None and self._operation == "saveDraft":
            claims = partial(self._claim, _CHARACTER)
            folded = deal.whole(foldings(self._tried))
            claim_nothing_saved(claims, self._world, self._tried, folded, self.refused)
        elif self._usual is not None and self.refused is not None:
            claim = self._claim(_CHARACTER, self._operation)
            claim_nothing_attached(claim, self._world, self._usual.path["uid"], self.refused)

    def _judging(self, clause: str) -> Claim:
        """A claim of the clause, or of the clause on characters if the first does not cover the operation."""
        covered = self._operation in load_catalogue().clause(clause).operations
        return self._claim(clause if covered else _CHARACTER, self._operation)

    def _control(self, request: Request) -> Exchange:
        return requests.send(requests.at(request, never_used()), self._world.author)

    def _request(self, miss: NearMiss) -> Request:
        """A request on an existing record; for a wrong length, under an identifier of the nearest valid length."""
        if self._usual is None:
            self._usual = self._ordinary.request(self._operation)
        if self._operation in operations_with(needs="draft", safe=True):
            return requests.at(self._usual, self._uid_near(miss))
        if miss.length:
            return requests.at(self._usual, self._world.fresh.uid(UID_SHORTEST))
        return self._usual

    def _uid_near(self, miss: NearMiss) -> str:
        length = UID_SHORTEST if miss.clause == _SHORT else UID_LONGEST if miss.clause == _LONG else 40
        world = self._world
        uid = partial(world.fresh.uid, length)
        return world.shared(f"draft of {length} signs", lambda: world.draft(world.kept_uid(uid=uid()))).uid
