"""Findings by cause: one for all realms, what only follows beneath it, and what it stood in the way of."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from registry_contracts.evidence.findings import Finding
from registry_contracts.evidence.verdicts import RunVerdict, judge
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.interface.catalogue import load_catalogue
from tests.meta.evidence.sample_records import case, finding, run_record
from tests.meta.messages import exchange, response

UID = "rc-abcdefghijk"
BASE = "http://127.0.0.1/api/v2013/"
DRAFT = f"{BASE}documents/{UID}/versions/draft"
HEADERS = {"Realm": "abs-dev", "Authorization": "Bearer $TOKEN", "Content-Type": "application/json"}
MISSING = b'{"message":"there is no draft"}'


def sent(
    operation: str, method: str, url: str, status: int, body: bytes = b"", answer: bytes = b""
) -> Exchange:
    return exchange(response(status, answer), operation, HEADERS, body, id=operation, method=method, url=url)


#: A finding, and the exchange that shows it.
Pair = tuple[Finding, Exchange]
SAVED = sent("saveDraft", "PUT", f"{DRAFT}?schema=contact", 201, b'{"a":1}')
READ = sent("getDraft", "GET", DRAFT, 404, answer=MISSING)
READ_OTHERWISE = sent("getDraft", "GET", DRAFT, 200, answer=b"{}")
LISTED = sent("listDrafts", "GET", f"{BASE}document-drafts?$top=1", 200, answer=b"[1,2]")
SHORT = sent("saveDraft", "PUT", f"{BASE}documents/abcdefghij/versions/draft?schema=contact", 201, b'{"a":1}')


def seen(clause: str, shown: Exchange, says: str, realm: str = "abs-dev", **more: Any) -> Finding:
    by = case(clause, "fail", clauses=(clause,), realm=realm, operations=(str(shown.operation),))
    return finding(by, seen=says, **more)


def judged(*pairs: Pair, before: Sequence[Exchange] = ()) -> RunVerdict:
    """Judge findings, each with the exchange that shows it, after others of the same case."""
    exchanges = {f"before {n}": each for n, each in enumerate(before)}
    exchanges |= {f"{n}": replace(shown, id=f"{n}") for n, (_, shown) in enumerate(pairs)}
    found = tuple(structs.replace(each, exchanges=(f"{n}",)) for n, (each, _) in enumerate(pairs))
    catalogue = load_catalogue()
    clauses = [catalogue.clause(name) for name in sorted({each.clause for each in found})]
    return judge(run_record(findings=found, exchanges=exchanges), clauses)


LOST = (seen("draft-save-creates", SAVED, "no draft"), SAVED)
UNREAD = (seen("draft-get-content", READ, "404 {}"), READ)
TOP = (seen("list-top", LISTED, "2 items"), LISTED)
NO_NAME = sent("createContact", "POST", f"{BASE}documents?schema=contact", 400, b'{"lastName":"x"}')
CODE = (seen("errors-code-known", NO_NAME, "Error.Odd", expected="one of the seven"), NO_NAME)
OF_TERM = (seen("errors-code-unexpected-term", NO_NAME, "Error.Odd for 'country'", expected="x"), NO_NAME)


OTHER_CONTENT = (seen("draft-get-content", READ_OTHERWISE, "200 {}"), READ_OTHERWISE)
OTHER_REALM = (seen("draft-get-content", READ, "404 {}", "bch-dev"), READ)
OTHER_WRONG = (seen("uid-too-short", SHORT, "201", check="refused"), SHORT)


@pytest.mark.parametrize(
    ("first", "second", "follows"),
    [
        (LOST, UNREAD, True),
        (LOST, TOP, False),
        (CODE, OF_TERM, True),
        # Read with other content, in another realm, or where saving is wrong in another way.
        (LOST, OTHER_CONTENT, False),
        (LOST, OTHER_REALM, False),
        (OTHER_WRONG, UNREAD, False),
    ],
)
def test_what_follows_is_grouped(first: Pair, second: Pair, follows: bool) -> None:
    causes = judged(first, second).causes
    tree = {each.lead.clause: [one.lead.clause for one in each.follows] for each in causes}
    names = first[0].clause, second[0].clause
    assert tree == ({names[0]: [names[1]]} if follows else {name: [] for name in names})


CUT_TOKEN = replace(READ_OTHERWISE, authorization="Bearer $TOKEN[:9]")


def test_a_finding_says_what_was_and_which_request_shows_it() -> None:
    shown = seen("token-invalid-refused", CUT_TOKEN, "200 {}", expected="a refusal")
    (cause,) = judged((shown, CUT_TOKEN), before=[SAVED]).causes
    assert cause.was == (
        "But getDraft was answered 200, though the header Authorization is 'Bearer $TOKEN[:9]', not "
        "'Bearer $TOKEN'; expected: a refusal."
    )
    assert cause.request == f"GET /documents/{UID}/versions/draft after saveDraft 201"
