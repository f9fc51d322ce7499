"""Whether a sandbox keeps the clauses on contacts."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.meta.defects.observing import shows
from tests.meta.defects.samples import DOCUMENTS, contact
from tests.meta.defects.wire import Answer
from tests.meta.defects.witness import Witness

STRINGS = ("firstName", "middleName", "lastName", "addressType", "type")
LSTRINGS = (
    "prefix",
    "designation",
    "organization",
    "organizationAcronym",
    "department",
    "address",
    "city",
    "state",
    "postalCode",
    "relevantInformation",
)
TERMS = ("gender", "organizationType", "country", "government")
TEXTS = ("phones", "faxes", "emails")
LINKS = ("websites", "relevantDocuments")
Send = Callable[[Any], Answer]


def full(realm: str) -> dict[str, Any]:
    """Return a contact that holds all 26 fields, save what a header would have to agree with."""
    more: dict[str, Any] = {name: {"en": "text", "fr": "texte"} for name in LSTRINGS}
    more |= {name: {"identifier": "ke"} for name in TERMS}
    more |= {name: ["one", "two"] for name in TEXTS}
    more |= {name: [{"url": "https://a.example"}, {"url": "https://b.example"}] for name in LINKS}
    return contact(realm, **more, middleName="B", addressType="home", header={"languages": ["en"]})


def senders(witness: Witness) -> Iterator[tuple[str, Send]]:
    """Yield the realm and the way to send a contact, for each operation and realm looked at."""
    for realm in witness.realms:
        for _ in witness.at("createContact"):
            yield realm, lambda document, realm=realm: witness.create_contact(document, realm)  # type: ignore[misc]
        for _ in witness.at("updateContact"):
            uid = witness.contact_made(realm)
            yield realm, lambda document, uid=uid, realm=realm: witness.update_contact(uid, document, realm)  # type: ignore[misc]


def errors(answer: Answer) -> list[dict[str, Any]]:
    assert answer.status < 500
    assert isinstance(answer.json, dict), answer.text
    found = answer.json.get("errors")
    assert isinstance(found, list), answer.text
    assert found
    return found


def refused_with_errors(answer: Answer) -> list[dict[str, Any]]:
    assert answer.refused, answer.text
    return errors(answer)


def pairs(answer: Answer) -> set[tuple[Any, Any]]:
    return {(each.get("code"), each.get("property")) for each in errors(answer) if isinstance(each, dict)}


@shows("contact-create-accepted", "contact-update-accepted")
def the_mandatory_fields_will_do(witness: Witness) -> None:
    for realm, send in senders(witness):
        for _ in range(2):
            answer = send(contact(realm))
            assert answer.ok, answer.text


@shows("contact-create-full", "contact-update-full")
def all_fields_are_accepted(witness: Witness) -> None:
    for realm, send in senders(witness):
        answer = send(full(realm))
        assert answer.ok, answer.text


@shows("contact-several-languages")
def several_languages_are_accepted(witness: Witness) -> None:
    for realm, send in senders(witness):
        for name in LSTRINGS:
            assert send(contact(realm, **{name: {"en": "a", "fr": "b", "ar": "c"}})).ok, name


@shows("contact-several-items")
def several_items_are_accepted(witness: Witness) -> None:
    for realm, send in senders(witness):
        for name in (*TEXTS, *LINKS):
            assert send(contact(realm, **{name: full(realm)[name]})).ok, name


@shows("contact-refused-frees-identifier")
def a_refused_contact_leaves_its_identifier_free(witness: Witness) -> None:
    for realm in witness.realms:
        header = {"identifier": witness.uid()}
        document = contact(realm, header=header)
        refused_with_errors(witness.create_contact({**document, "firstName": 1}, realm))
        answer = witness.create_contact(document, realm)
        assert answer.ok, answer.text


MANDATORY = ("firstName", "lastName", "organization", "country", "emails", "type", "contactOrganization")


def _kebab(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)


def _mandatory(field: str) -> Callable[[Witness], None]:
    def a_mandatory_field_is_required(witness: Witness) -> None:
        for realm, send in senders(witness):
            document = contact(realm)
            del document[field]
            answer = send(document)
            refused_with_errors(answer)
            assert ("Error.Mandatory", field) in pairs(answer), answer.text

    return a_mandatory_field_is_required


for _field in MANDATORY:
    shows(f"contact-mandatory-{_kebab(_field)}")(_mandatory(_field))


def wrong_kinds(field: str) -> Iterator[Any]:
    """Yield values that are plainly not of the kind of a field."""
    if field in STRINGS:
        yield from ({"a": "b"}, ["a"])
    elif field in LSTRINGS:
        yield from (5, ["a"], "text", {"en": {"a": "b"}}, {"en": ["a"]})
    elif field in TERMS or field == "contactOrganization":
        yield from ("ke", ["ke"], 5, {"identifier": {"a": "b"}}, {"identifier": ["ke"]})
    elif field in TEXTS:
        yield from ({"a": "b"}, 5, [{"a": "b"}], [["a"]])
    elif field in LINKS:
        yield from (5, {"url": "x"}, [5], ["https://a.example"], [{"url": {"a": "b"}}])
    else:
        yield from ("text", ["a"], {"languages": 5}, {"languages": [5]})
        yield from ({"schema": {"a": "b"}}, {"identifier": ["a"]})


def _kinds(field: str) -> Callable[[Witness], None]:
    def a_value_of_another_kind_is_refused(witness: Witness) -> None:
        for realm, send in senders(witness):
            for wrong in wrong_kinds(field):
                refused_with_errors(send(contact(realm, **{field: wrong})))

    return a_value_of_another_kind_is_refused


for _field in (*STRINGS, *LSTRINGS, *TERMS, *TEXTS, *LINKS, "contactOrganization", "header"):
    shows(f"contact-kind-{_kebab(_field)}")(_kinds(_field))


@shows("contact-empty-record")
def an_empty_contact_is_refused(witness: Witness) -> None:
    for _, send in senders(witness):
        answer = send({})
        refused_with_errors(answer)
        assert "Error.Mandatory" in {code for code, _ in pairs(answer)}


@shows("contact-body-kind")
def a_contact_is_an_object(witness: Witness) -> None:
    for realm, send in senders(witness):
        for body in ([contact(realm)], "contact", b"null", 5):
            assert send(body).refused, body
    for operation in witness.operations:
        request = witness.valid(operation)
        request.body = b""
        assert witness.wire.send(request).refused


def _refused(clause: str, name: str, *values: Any) -> None:
    @shows(clause)
    def a_faulty_value_is_refused(witness: Witness) -> None:
        for realm, send in senders(witness):
            for value in values:
                refused_with_errors(send(contact(realm, **{name: value})))


_refused("contact-country-without-identifier", "country", {}, {"name": "Kenya"})
_refused("contact-organization-without-identifier", "contactOrganization", {}, {"name": "Office"})
for _field in ("gender", "organizationType", "government"):
    _refused("contact-optional-term-without-identifier", _field, {}, {"name": "x"})
for _field in LINKS:
    _refused("contact-link-without-url", _field, [{"name": "x"}])
for _field in LSTRINGS:
    _refused("contact-language-key-invalid", _field, {"not a language code": "text"})
_refused("contact-country-unexpected", "country", {"identifier": "nowhere"})
_refused("contact-unknown-property", "shoeSize", 42)


@shows("contact-all-missing-named")
def every_missing_field_is_named(witness: Witness) -> None:
    for realm, send in senders(witness):
        document = contact(realm)
        del document["firstName"], document["type"], document["emails"]
        expected = {("Error.Mandatory", name) for name in ("firstName", "type", "emails")}
        assert expected <= pairs(send(document))


@shows("contact-mandatory-null")
def null_is_no_mandatory_value(witness: Witness) -> None:
    for realm, send in senders(witness):
        for name in MANDATORY:
            assert send(contact(realm, **{name: None})).refused, name


@shows("contact-schema-missing", "contact-schema-unknown")
def a_contact_needs_a_known_schema(witness: Witness) -> None:
    for method, path in (("POST", DOCUMENTS), ("PUT", f"{DOCUMENTS}/{witness.contact_made()}")):
        for query in ({}, {"schema": ""}, {"schema": "no-such-schema"}):
            assert witness.send(method, path, contact(), query=query).refused, query
