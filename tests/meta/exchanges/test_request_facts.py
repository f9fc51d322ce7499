"""What of a request breaks the description, whatever the names of its members are."""

import json

import pytest

from contracts.exchanges.request_facts import read_request, scheme_fault
from contracts.interface.description import load_description
from tests.meta.messages import exchange

URL = "http://127.0.0.1/api/v2013/documents?schema=contact"


@pytest.mark.parametrize("name", ["5", "05", "+5", "-5", "\u0665", "5 ", "99999999999999999999999"])
def test_a_member_whose_name_is_a_number_is_read(name: str) -> None:
    sent = {"organization": {name: 7, "en": ["no text"]}, "emails": ["a@example.test", 5]}
    body = json.dumps(sent).encode()
    seen = exchange(None, "createContact", {"Realm": "abs-dev"}, body, method="POST", url=URL)
    facts = read_request(seen, load_description())
    assert facts is not None
    assert {"body.organization.en:wrong-kind", "body.emails.1:wrong-kind"} <= {
        each.key for each in facts.faults
    }


@pytest.mark.parametrize(
    ("value", "told"),
    [("Token [redacted]", True), ("Token ***", True), ("[redacted]", False), ("removed by tool", False)],
)
def test_a_scheme_that_a_recorder_left_is_read_where_it_blanked_the_token(value: str, told: bool) -> None:
    assert (scheme_fault({"authorization": value}) is not None) is told
