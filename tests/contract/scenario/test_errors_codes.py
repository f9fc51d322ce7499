"""The codes of the errors array: which one a fault in a contact gives, and which field it names."""

from contracts.cases import (
    CONTACT_FIELDS,
    MANDATORY_FIELDS,
    ContactRequests,
    Deal,
    Expect,
    Observer,
    contact_requests,
    contract,
    errors_array,
    sample_records,
    smoke,
)

#: One field of each kind.
OF_EACH_KIND = tuple({kind: field for field, kind in CONTACT_FIELDS.items()}.values())


@smoke("createContact", requests=2)
@contract("errors-code-mandatory", requests=0, dealt=7)
def test_error_mandatory_names_the_missing_field_and_no_other(
    contacts: ContactRequests, expect: Expect, operation: str, deal: Deal
) -> None:
    """A missing mandatory field gives Error.Mandatory, and no field that is there is called missing."""
    sent = [(field, contacts.lacking(field)) for field in deal(dict.fromkeys(MANDATORY_FIELDS))]
    contact_requests.mandatory_named_rightly(expect("errors-code-mandatory", operation), sent)


@contract(
    "errors-code-mandatory", "errors-code-invalid-type", "errors-property-names-field", requests=0, dealt=7
)
def test_a_wrong_kind_is_reported_as_an_invalid_type_of_its_field(
    contacts: ContactRequests, expect: Expect, operation: str, deal: Deal
) -> None:
    """A field of another kind is named, with Error.InvalidType."""
    sent = [
        (
            field,
            contacts.faulty(f"another {field}", sample_records.of_another_kind(contacts.record(), field)),
        )
        for field in deal(dict.fromkeys(OF_EACH_KIND), len(operation))
    ]
    contact_requests.optional_never_missing(expect("errors-code-mandatory", operation), sent)
    contact_requests.claim_fields_named(expect("errors-property-names-field", operation), sent)
    contact_requests.each_with_code(
        expect("errors-code-invalid-type", operation), sent, errors_array.INVALID_TYPE
    )


@contract("errors-code-invalid-property", requests=0)
def test_an_unknown_field_is_reported_as_an_invalid_property(
    contacts: ContactRequests, expect: Expect, operation: str
) -> None:
    """A field that is not documented gives Error.InvalidProperty when it is refused."""
    sent = [("", contacts.faulty("unknown field", sample_records.unknown_field(contacts.record())))]
    contact_requests.each_with_code(
        expect("errors-code-invalid-property", operation), sent, errors_array.INVALID_PROPERTY
    )


@contract("errors-code-mandatory", "errors-code-unspecified-locale", requests=0)
def test_a_phrase_for_a_language_is_reported_as_an_unspecified_locale(
    contacts: ContactRequests, expect: Expect, operation: str
) -> None:
    """A localised field keyed by no language code gives Error.UnspecifiedLocale."""
    sent = [
        (
            field,
            contacts.faulty(
                f"language of {field}", sample_records.unknown_language(contacts.record(), field)
            ),
        )
        for field in sample_records.LOCALISED_FIELDS[:2]
    ]
    contact_requests.optional_never_missing(expect("errors-code-mandatory", operation), sent)
    contact_requests.each_with_code(
        expect("errors-code-unspecified-locale", operation), sent, errors_array.UNSPECIFIED_LOCALE
    )


@smoke("createContact")
@contract("errors-code-unexpected-term", requests=0.2)
def test_an_unknown_country_is_reported_as_an_unexpected_term(
    contacts: ContactRequests, expect: Expect, operation: str
) -> None:
    """A country that is no known term gives Error.UnexpectedTerm when it is refused."""
    sent = [
        ("country", contacts.faulty("unknown country", sample_records.unknown_country(contacts.record())))
    ]
    contact_requests.each_with_code(
        expect("errors-code-unexpected-term", operation), sent, errors_array.UNEXPECTED_TERM
    )


@contract("errors-several-faults", requests=1)
def test_several_faults_are_reported_together(
    contacts: ContactRequests, expect: Expect, operation: str
) -> None:
    """Faults of three sorts in one record are all named by one answer."""
    record = sample_records.unknown_language(
        sample_records.without(contacts.record(), "lastName"), "city"
    ) | {"phones": {"text": "none"}}
    sent = errors_array.refused_before(contacts.send(record))
    contact_requests.claim_fields_named(
        expect("errors-several-faults", operation),
        [(field, sent) for field in ("lastName", "city", "phones")],
    )


@contract("errors-code-invalid-value", requests=1)
def test_what_counts_as_an_invalid_value_is_observed(
    contacts: ContactRequests, observe: Observer, operation: str
) -> None:
    """Nothing says which values are invalid; a reference to no record is one candidate."""
    nowhere = {"contactOrganization": {"identifier": contacts.fresh_uid()}}
    sent = contacts.send(sample_records.without(contacts.record(), "lastName") | nowhere)
    codes = sorted(
        {
            code
            for code, path in errors_array.elements(sent.answer)
            if not errors_array.names_field(path, "lastName")
        }
    )
    observe("errors-code-invalid-value", operation, codes)
