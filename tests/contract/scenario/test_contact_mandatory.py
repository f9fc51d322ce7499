"""The seven mandatory fields of a contact: create and update refuse a record that lacks one."""

from registry_contracts.cases import (
    MANDATORY_FIELDS,
    ContactRequests,
    Expect,
    Observer,
    contact_requests,
    contract,
    errors_array,
    factors,
    sample_records,
    smoke,
)


@smoke()
@contract("contact-empty-record", "errors-status", operations=factors.CONTACTS, requests=1)
def test_an_empty_record_is_refused(
    contacts: ContactRequests, expect: Expect, observe: Observer, operation: str
) -> None:
    """A record without any field is refused, with Error.Mandatory among its errors."""
    sent = contacts.send({})
    contacts.reporting().claim_some_mandatory(expect("contact-empty-record", operation), sent)
    observe("errors-status", operation, errors_array.outcome(sent))


@contract("contact-all-missing-named", requests=1)
def test_every_missing_field_is_named_at_once(
    contacts: ContactRequests, expect: Expect, operation: str
) -> None:
    """If several mandatory fields are missing, the errors array names each of them."""
    record = sample_records.without(contacts.record(), *MANDATORY_FIELDS)
    sent = errors_array.with_errors(contacts.send(record))
    for field in MANDATORY_FIELDS:
        contact_requests.claim_named(expect("contact-all-missing-named", operation), sent, [field])
