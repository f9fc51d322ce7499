"""Drawn contacts keep the description, and hold nothing that neither document nor settings tell."""

import json

import jsonschema_rs
from hypothesis import given, settings

from contracts.cases.drawn_contacts import Drawn, some_fields
from contracts.cases.sample_records import CONTACT_FIELDS, MANDATORY_FIELDS, Samples
from contracts.exchanges.request_facts import body_schema
from contracts.interface.description import load_description
from contracts.settings.target import RealmSettings

COUNTRIES = ("ca", "fr")
SAMPLES = Samples(
    RealmSettings(
        contact_schema="contact", contact_organization="an-organization-01", country_terms=COUNTRIES
    ),
    "abs-dev",
)
FULL = SAMPLES.full_contact("rc-a-contact-of-mine")
ALLOWED = jsonschema_rs.Draft202012Validator(
    {**(body_schema("createContact") or {}), "components": load_description().bundle["components"]}
)


@settings(max_examples=50)
@given(some_fields(SAMPLES))
def test_a_drawn_contact_is_allowed_and_made_of_known_values(drawn: Drawn) -> None:
    record = drawn.of(FULL, COUNTRIES)
    assert [error.message for error in ALLOWED.iter_errors(record)] == []
    assert set(MANDATORY_FIELDS) <= record.keys()
    assert not record.keys() & set(SAMPLES.made_up_fields) - set(MANDATORY_FIELDS)
    assert record["country"]["identifier"] in COUNTRIES


@settings(max_examples=50)
@given(some_fields(SAMPLES))
def test_its_languages_are_declared_and_its_identifier_stays(drawn: Drawn) -> None:
    record = drawn.of(FULL, COUNTRIES)
    used = {key for name, value in record.items() if CONTACT_FIELDS[name] == "lstring" for key in value}
    assert used <= set(record["header"]["languages"])
    assert record["header"]["identifier"] == FULL["header"]["identifier"]
    assert json.loads(json.dumps(record)) == record
