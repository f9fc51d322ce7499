"""Contacts that the interface document allows, as Hypothesis draws them: each field of its kind, with known values.

Only what document or settings promise is drawn: optional fields whose allowed values are shown, texts without a form
of their own, and the countries of the settings.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from contracts.cases.arrangement import Arrangement, require
from contracts.cases.contact_requests import ContactRequests, claim_accepted, claim_shown_as_updated
from contracts.cases.properties import Properties
from contracts.cases.sample_records import (
    CONTACT_FIELDS,
    MANDATORY_FIELDS,
    WORDED_FIELDS,
    Record,
    Samples,
    everything,
    mandatory_of,
    without,
)
from contracts.checks.claims import Claim
from contracts.checks.outcomes import taken

CLAUSE: Final = "contact-any-fields"
#: Languages that the United Nations work in.
_LANGUAGES: Final = ("en", "fr", "es", "ar", "ru", "zh")
_LETTERS: Final = string.ascii_letters + "àéîõüçñøłœßÁÉÑŁŞğабвгдежзАБВΑΒΓαβγابجد文件登记处"
_ITEMS: Final = ("phones", "faxes", "emails", "websites", "relevantDocuments")
_NAMES: Final = ("firstName", "middleName", "lastName")


@dataclass(frozen=True)
class Drawn:
    """What a contact holds.

    Attributes:
        fields: Its optional fields.
        languages: In which its localised fields are.
        items: How many its arrays hold.
        names: First, middle and last name.
        words: The texts of its localised fields, in turn.
        country: Place in the settings' list.
    """

    fields: frozenset[str]
    languages: tuple[str, ...]
    items: int
    names: tuple[str, str, str]
    words: tuple[str, ...]
    country: int

    def of(self, full: Record, countries: Sequence[str]) -> Record:
        """Write it down.

        Args:
            full: A valid record with all fields.
            countries: Those of the settings; none where they tell a whole contact instead.
        """
        values = full | self._texts(full) | self._arrays() | dict(zip(_NAMES, self.names, strict=True))
        if countries:
            values["country"] = {"identifier": countries[self.country % len(countries)]}
        values["header"] = full["header"] | {"languages": list(self.languages)}
        kept = {"header", *MANDATORY_FIELDS, *self.fields}
        return {name: value for name, value in values.items() if name in kept}

    def _texts(self, full: Record) -> Record:
        texts: Record = {}
        for name, kind in CONTACT_FIELDS.items():
            if kind == "lstring" and full.get(name):
                usual = next(iter(full[name].values()))
                word = self.words[len(texts) % len(self.words)] if name in WORDED_FIELDS else usual
                texts[name] = dict.fromkeys(self.languages, word)
        return texts

    def _arrays(self) -> Record:
        numbers = range(self.items)
        links = [{"url": f"https://example.test/{number}"} for number in numbers]
        calls = [f"+254 20 387 30{number:02d}" for number in numbers]
        emails = [f"office{number}@example.test" for number in numbers]
        return dict(zip(_ITEMS, (calls, calls, emails, links, links), strict=True))


def some_fields(samples: Samples) -> SearchStrategy[Drawn]:
    """Contacts with any of the optional fields whose allowed values are known, in any languages."""
    fields = [
        name for name in CONTACT_FIELDS if name not in ("header", *MANDATORY_FIELDS, *samples.made_up_fields)
    ]
    return _drawn(st.frozensets(st.sampled_from(fields)), languages=1, items=1)


def whole(properties: Properties, contacts: ContactRequests, samples: Samples) -> Record:
    """A contact with all fields, several languages, items and names: the same one in a gate, in a night a drawn one."""
    full = contacts.full_record()
    drawn = _drawn(st.just(frozenset(CONTACT_FIELDS)), languages=2, items=2)
    return properties.one(everything(full), drawn.map(lambda each: each.of(full, samples.countries)))


def _drawn(fields: SearchStrategy[frozenset[str]], *, languages: int, items: int) -> SearchStrategy[Drawn]:
    text = st.lists(st.text(_LETTERS, min_size=2, max_size=9), min_size=1, max_size=4)
    name = st.builds(lambda parts, sign: sign.join(parts), text, st.sampled_from((" ", "-", "'")))
    chosen = st.lists(st.sampled_from(_LANGUAGES), min_size=languages, unique=True).map(tuple)
    return st.builds(
        Drawn,
        fields,
        chosen,
        st.integers(items, 6),
        st.tuples(name, name, name),
        st.lists(text.map(" ".join), min_size=1, max_size=7).map(tuple),
        st.integers(0, 9),
    )


class DrawnContacts:
    """Updates one contact with drawn records."""

    def __init__(
        self, contacts: ContactRequests, arrange: Arrangement, samples: Samples, claim: Claim
    ) -> None:
        self._contacts = contacts
        self._arrange = arrange
        self._samples = samples
        self._claim = claim
        self._before: Record = {}

    def is_taken(self, drawn: Drawn) -> None:
        """Claim that an update is accepted, and that what its answer shows of the contact is as it was sent.

        Raises:
            Contradiction: it is not.
            Blocked: a record with its mandatory fields alone, or one with everything, is refused as well; their own
                clauses hold that finding. Or only values that are not shown are refused.
        """
        record = drawn.of(self._contacts.full_record(), self._samples.countries)
        sent = self._contacts.send(record)
        if not taken(sent):
            self._arrange.once("contacts of either kind are taken", self._others_taken)
        claim_accepted(self._claim, sent, self._samples)
        claim_shown_as_updated(self._claim, sent, self._before, record)
        self._before = record

    def _others_taken(self) -> bool:
        unknown = set(self._samples.made_up_fields) - set(MANDATORY_FIELDS)
        documented = without(everything(self._contacts.full_record()), *unknown)
        both = [taken(self._contacts.send(record)) for record in (documented, mandatory_of(documented))]
        return require(all(both), self._contacts.operation, "refuses contacts of other fields and values too")
