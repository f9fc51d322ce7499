"""Requests leave in a target's own names, and are judged and noted in those of the document."""

import pytest

from contracts.session.wire_names import WireNames

OWN = WireNames({"abs-dev": "OTHER"}, "Token", {"$top": "max", "Realm": "app"}, {"my": "mine"})
LIST, SUBMIT = "listDrafts", "createWorkflowRecord"


@pytest.mark.parametrize(
    ("operation", "query", "sent"),
    [
        (LIST, "$top=1&%24skip=2", "max=1&%24skip=2"),
        (LIST, "%24top=1&collection=my", "max=1&collection=mine"),
        (LIST, "$filter=collection%20eq%20my", "$filter=collection%20eq%20my"),
        (LIST, "Realm=abs-dev", "Realm=abs-dev"),
        (SUBMIT, "Realm=abs-dev", "app=OTHER"),
        (SUBMIT, "realm=abs-dev&Realm=no-such-realm", "realm=abs-dev&app=no-such-realm"),
        (None, "$top=1", "$top=1"),
    ],
)
def test_listed_parameters_alone_are_written_otherwise(operation: str | None, query: str, sent: str) -> None:
    assert OWN.url(f"http://h/p?{query}", operation) == f"http://h/p?{sent}"


def test_documented_values_of_headers_are_written_otherwise() -> None:
    documented: dict[str, str | bytes] = {
        "Realm": b"abs-dev",
        "Authorization": b"Bearer t",
        "Accept": "abs-dev",
    }
    assert OWN.headers(documented) == {"Realm": b"OTHER", "Authorization": b"Token t", "Accept": "abs-dev"}
    odd: dict[str, str | bytes] = {"Realm": "ABS-DEV", "Authorization": "bearer t"}
    assert OWN.headers(odd) == odd


def test_one_name_may_go_out_as_documented() -> None:
    assert OWN.without("Bearer").headers({"Authorization": "Bearer t"}) == {"Authorization": "Bearer t"}
    assert OWN.without("my").url("http://h?collection=my&$top=1", LIST) == "http://h?collection=my&max=1"
    assert set(OWN) - set(OWN.without("abs-dev")) == {"abs-dev"}
