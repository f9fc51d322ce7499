"""Findings by cause: one for all realms, what only follows beneath it, and what it stood in the way of."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from contracts.evidence.record import RunRecord, SeenFinding
from contracts.evidence.verdicts import RunVerdict, judge
from contracts.exchanges.exchange import Body, Exchange, Headers
from contracts.interface.catalogue import load_catalogue
from tests.meta.evidence.sample_records import Story, deviation
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


SAVED = sent("saveDraft", "PUT", f"{DRAFT}?schema=contact", 201, b'{"a":1}')
READ = sent("getDraft", "GET", DRAFT, 404, answer=MISSING)
READ_OTHERWISE = sent("getDraft", "GET", DRAFT, 200, answer=b"{}")
LISTED = sent("listDrafts", "GET", f"{BASE}document-drafts?$top=1", 200, answer=b"[1,2]")
PAGED = sent("listDrafts", "GET", f"{BASE}document-drafts?$top=2&$skip=2", 200, answer=b"[1,2]")
DELETED = sent("deleteDraft", "DELETE", DRAFT, 204)
SHORT = sent("saveDraft", "PUT", f"{BASE}documents/abcdefghij/versions/draft?schema=contact", 201, b'{"a":1}')


def seen(clause: str, shown: Exchange, says: str, realm: str = "abs-dev", **more: Any) -> SeenFinding:
    usual: dict[str, Any] = {
        "case": f"test_x.py::test_{clause}[{realm}]",
        "role": "author",
        "expected": "accepted",
    }
    usual |= {"confirmed": True, "reproduced": 2, "attempts": 2, "curl": (), "command": "run"}
    usual |= {"clause": clause, "realm": realm, "operation": shown.operation, "seen": says}
    return SeenFinding(**usual | {"exchanges": (shown.id,)} | more)


def judged(
    *pairs: tuple[SeenFinding, Exchange], story: Story | None = None, before: Sequence[Exchange] = ()
) -> RunVerdict:
    """Judge findings, each with the exchange that shows it, after others of the same case."""
    record: RunRecord = (story or Story()).record()
    named = [
        (replace(found, exchanges=(f"{n}",)), replace(shown, id=f"{n}"))
        for n, (found, shown) in enumerate(pairs)
    ]
    record = replace(
        record,
        findings=tuple(found for found, _ in named),
        exchanges={f"before {n}": each for n, each in enumerate(before)}
        | {shown.id: shown for _, shown in named},
    )
    catalogue = load_catalogue()
    return judge(record, [catalogue.clause(name) for name in sorted({found.clause for found, _ in named})])


LOST = (seen("draft-save-creates", SAVED, "no draft"), SAVED)
UNREAD = (seen("draft-get-content", READ, "404 {}"), READ)
TOP = (seen("list-top", LISTED, "2 items"), LISTED)
ODD = sent("listDrafts", "GET", f"{BASE}document-drafts?$filter=a%20eq%201", 200, answer=b"[1,2]")
ODD_PAGE = sent(
    "listDrafts", "GET", f"{BASE}document-drafts?$filter=a%20eq%201&$skip=1", 200, answer=b"[1,2]"
)
FILTERED = (seen("list-filter-meaning", ODD, "2 items"), ODD)
FILTERED_PAGE = (seen("list-filter-meaning", ODD_PAGE, "2 items"), ODD_PAGE)
SKIPPED = (seen("list-skip", ODD_PAGE, "2 items"), ODD_PAGE)
PAGES = (seen("list-pages-cover", PAGED, "twice: x"), PAGED)
STILL_THERE = sent("draftExists", "HEAD", DRAFT, 200)
UNDELETED = (seen("draft-delete-removes", DELETED, "still there", expected="no draft any more"), DELETED)
FOUND = (seen("draft-delete-content-gone", READ_OTHERWISE, "200 {}", expected="nothing"), READ_OTHERWISE)
LACKS = "document.city is missing"
KEPT = {"expected": "the document as it was saved"}
OTHERWISE = (seen("draft-get-content", READ_OTHERWISE, LACKS, **KEPT), READ_OTHERWISE)
NO_NAME = sent("createContact", "POST", f"{BASE}documents?schema=contact", 400, b'{"lastName":"x"}')
CODE = (seen("errors-code-known", NO_NAME, "Error.Odd", expected="one of the seven"), NO_NAME)
OF_TERM = (seen("errors-code-unexpected-term", NO_NAME, "Error.Odd for 'country'", expected="x"), NO_NAME)
SAVED_AGAIN = (seen("draft-save-after-delete", SAVED, LACKS, **KEPT), SAVED)


@pytest.mark.parametrize(
    ("pairs", "tree"),
    [
        ([LOST, UNREAD], {"draft-save-creates": ["draft-get-content"]}),
        ([TOP, PAGES], {"list-top": ["list-pages-cover"]}),
        ([LOST, TOP], {"draft-save-creates": [], "list-top": []}),
        ([UNDELETED, FOUND], {"draft-delete-removes": ["draft-delete-content-gone"]}),
        ([CODE, OF_TERM], {"errors-code-known": ["errors-code-unexpected-term"]}),
        # A should is contradicted by the same member of another operation's answer.
        ([OTHERWISE, SAVED_AGAIN], {"draft-get-content": ["draft-save-after-delete"]}),
        # A filter that was wrong with a page alone is none; one that was wrong without it explains the page.
        ([FILTERED_PAGE, SKIPPED], {"list-skip": ["list-filter-meaning"]}),
        ([FILTERED, SKIPPED], {"list-filter-meaning": ["list-skip"]}),
        # Read with other content, in another realm, or where saving is wrong in another way: no consequence.
        (
            [LOST, (seen("draft-get-content", READ_OTHERWISE, "200 {}"), READ_OTHERWISE)],
            {"draft-get-content": [], "draft-save-creates": []},
        ),
        (
            [LOST, (seen("draft-get-content", READ, "404 {}", "bch-dev"), READ)],
            {"draft-get-content": [], "draft-save-creates": []},
        ),
        (
            [(seen("uid-too-short", SHORT, "201", check="refused"), SHORT), UNREAD],
            {"draft-get-content": [], "uid-too-short": []},
        ),
    ],
)
def test_what_only_follows_stands_beneath_its_cause(
    pairs: list[tuple[SeenFinding, Exchange]], tree: dict[str, list[str]]
) -> None:
    causes = judged(*pairs).causes
    assert {each.lead.clause: [one.lead.clause for one in each.follows] for each in causes} == tree


SIGN_IN = sent(
    "createToken",
    "POST",
    f"{BASE}authentication/token",
    200,
    answer=b'{"expiration":"2026-01-01T08:01:00.0Z"}',
)


@pytest.mark.parametrize(
    ("before", "minute", "says"),
    [
        ([], 0, "where the token sent is a valid one of author's"),
        ([SIGN_IN], 0, "where the token sent is a valid one of author's"),
        ([SIGN_IN], 2, "where the token sent is an expired one of author's"),
        ([SIGN_IN, LISTED], 0, "where the token sent is a valid one of author's, taken in abs-dev before"),
    ],
)
def test_a_token_that_was_refused_is_told_with_its_kind_and_whose_it_is(
    before: list[Exchange], minute: int, says: str
) -> None:
    """Where it was taken before is told, too: in another realm, or in the same."""
    refused = replace(
        sent("listDrafts", "GET", f"{BASE}document-drafts", 401, answer=b"{}"),
        started=datetime(2026, 1, 1, 8, minute, tzinfo=UTC),
    )
    *earlier, last = (
        replace(each, authorization="Bearer $TOKEN", role="author") for each in [*before, refused]
    )
    (cause,) = judged((seen("token-opens-protected", refused, "401 {}"), last), before=earlier).causes
    assert f"{says}." in cause.was


def test_the_heading_says_which_of_several_operations_it_was() -> None:
    one, several = judged(TOP).causes[0], judged((seen("uid-too-short", SHORT, "201 {}"), SHORT)).causes[0]
    assert one.heading == one.should
    among = len(load_catalogue().clause("uid-too-short").operations)
    assert several.heading == f"{several.should} Not so: saveDraft, one of {among} operations."


CONTACT = f"{BASE}documents?schema=contact"
BAD_CITY = sent("createContact", "POST", CONTACT, 201, b'{"city":{"e":1}}')
BAD_STATE = sent("createContact", "POST", CONTACT, 400, b'{"state":{"e":1}}')


@pytest.mark.parametrize(
    ("clause", "shown", "says", "before", "named"),
    [
        ("draft-get-content", READ_OTHERWISE, LACKS, [], True),
        ("draft-get-content", READ_OTHERWISE, f"{LACKS}; nor as saved: document.state", [], False),
        # Only where another member at fault was refused is it known to be this one.
        ("contact-language-key-invalid", BAD_CITY, "201 {}", [BAD_STATE], True),
        ("contact-language-key-invalid", BAD_CITY, "201 {}", [], False),
    ],
)
def test_the_heading_says_which_member_it_was_where_it_was_one(
    clause: str, shown: Exchange, says: str, before: list[Exchange], named: bool
) -> None:
    (cause,) = judged((seen(clause, shown, says), shown), before=before).causes
    assert ("the member city" in cause.heading) is named


FILE = f"{BASE}documents/{UID}/attachments"
MADE = sent("createAttachment", "POST", f"{FILE}/a.txt", 500, b"1")
CUT = sent("createAttachment", "POST", f"{FILE}/a.txt", 201, b"four", b'{"id":9,"size":3}')
STREAMED = replace(CUT, request_headers=Headers((("Content-Length", "4"),)), request_body=Body())
THREE = sent("getAttachment", "GET", f"{FILE}/9/a.txt", 200, answer=b"fou")
OTHER_FILE = sent("createAttachment", "POST", f"{FILE}/b.txt", 201, b"1")
NO_FILE = sent("getAttachment", "GET", f"{FILE}/1/a.txt", 404)
WITH_CITY = sent("saveDraft", "PUT", f"{DRAFT}?schema=contact", 201, b'{"city":"x"}')


@pytest.mark.parametrize(
    ("clause", "shown", "says", "before", "told"),
    [
        (
            "attachment-download-same",
            NO_FILE,
            "404",
            [MADE, OTHER_FILE],
            "createAttachment of 1 byte was answered 500",
        ),
        # The answer told already that less was stored than had been sent.
        *(
            (
                "attachment-download-same",
                THREE,
                "3 bytes",
                [made],
                "createAttachment of 4 bytes was answered 201 with size 3",
            )
            for made in (CUT, STREAMED)
        ),
        ("draft-get-content", READ, "404", [SAVED, MADE], "saveDraft was answered 201"),
        ("draft-get-content", READ_OTHERWISE, LACKS, [WITH_CITY], "saveDraft with city x was answered 201"),
        (
            "draft-delete-removes",
            STILL_THERE,
            "200",
            [SAVED, DELETED],
            "saveDraft was answered 201 and deleteDraft 204",
        ),
    ],
)
def test_a_request_is_told_with_how_the_writes_before_it_were_answered(
    clause: str, shown: Exchange, says: str, before: list[Exchange], told: str
) -> None:
    (cause,) = judged((seen(clause, shown, says), shown), before=before).causes
    assert cause.request.endswith(f" as author after {told}")


def test_realms_of_one_contradiction_are_one_finding_that_the_reason_counts_once() -> None:
    verdict = judged(TOP, (seen("list-top", LISTED, "2 items", "bch-dev"), LISTED))
    (cause,) = verdict.causes
    assert cause.realms == ("abs-dev", "bch-dev")
    assert verdict.reason == "1 finding in abs-dev, bch-dev: list-top (listDrafts)"


def test_the_headline_says_what_should_be_and_what_is_wrong_with_the_request_that_was_taken() -> None:
    (cause,) = judged((seen("uid-too-short", SHORT, "201 {}", expected="refused (4xx)"), SHORT)).causes
    assert cause.headline == (
        "A uid of 10 or fewer characters is refused, and nothing is stored under it. "
        "But saveDraft was answered 201, though uid is 'abcdefghij' (10 characters); "
        "the rule is 11 to 128 letters, digits, hyphens and underscores."
    )
    assert "abcdefghij" in cause.marks


def test_a_refusal_is_told_with_the_services_own_message() -> None:
    (cause,) = judged((seen("draft-get-content", READ, f"404 {MISSING.decode()}"), READ)).causes
    shown = (
        "But getDraft was answered 404 (there is no draft) to GET /documents/rc-abcdefghijk/versions/draft."
    )
    assert cause.was == shown
    escaped = r'404 {"message": "r\u00e9serv\u00e9 \ud800"}'
    (cause,) = judged((seen("draft-get-content", READ, escaped), READ)).causes
    assert cause.was.startswith(r"But getDraft was answered 404 (réservé \ud800)")


WALK = "… → getDraft A → saveDraft C → deleteDraft C → draftExists C: 200, the draft exists"
ACCOUNT = b'{"email": "a@b.test", "password": "p"}'
SIGNED_IN = sent("createToken", "POST", f"{BASE}authentication/token", 200, ACCOUNT, b'{"expiration": "x"}')


@pytest.mark.parametrize(
    ("clause", "shown", "says", "expected", "was"),
    [
        (
            "draft-delete-removes",
            READ,
            WALK,
            "no draft",
            "But getDraft showed: … → saveDraft C → deleteDraft C → draftExists C: 200, the draft exists; "
            "expected: no draft.",
        ),
        (
            "draft-get-content",
            READ,
            '404 {"message": ""}',
            '404 "there is none"',
            'But getDraft was answered 404 (without a message); expected: 404 "there is none".',
        ),
        (
            "token-issued",
            SIGNED_IN,
            '200 {"expiration": "x"}',
            "accepted",
            "But createToken was answered 200 without authenticationToken.",
        ),
        (
            "errors-code-known",
            sent("createContact", "POST", f"{BASE}documents?schema=x", 400, b'{"lastName": "x"}'),
            "Error.Odd",
            "one of the seven",
            "But createContact showed: Error.Odd, where firstName is missing and organization is missing; expected: "
            "one of the seven.",
        ),
        (
            "list-top",
            LISTED,
            "200 [1,2]",
            "refused: query.$top is of another kind",
            "But listDrafts was answered 200 to GET /document-drafts?$top=1.",
        ),
    ],
)
def test_a_sentence_says_what_was_without_the_suites_notation(
    clause: str, shown: Exchange, says: str, expected: str, was: str
) -> None:
    (cause,) = judged((seen(clause, shown, says, expected=expected), shown)).causes
    assert cause.was == was


def test_an_accepted_deviation_hides_no_failure_beneath_it() -> None:
    story = Story()
    story.contradicts("draft-get-content")
    story.contradicts("draft-get-content", "bch-dev")
    terms = story.record().run.terms
    verdict = story.verdict(replace(terms, deviations=(deviation(realms=("abs-dev",)),)))
    assert [(str(each.lead.standing), each.realms, each.fails) for each in verdict.causes] == [
        ("fail", ("bch-dev",), True),
        ("deviation", ("abs-dev",), False),
    ]


def test_a_cause_stands_in_the_way_of_what_needs_its_operation_or_what_that_stores() -> None:
    story = Story()
    story.case("draft-get-content", outcome="inconclusive", held=0, operation="getDraft", blocked="getDraft")
    story.case("uid-too-short", outcome="inconclusive", held=0, operation="getDraft", blocked="createContact")
    verdict = judged(LOST, story=story)
    (cause,) = verdict.causes
    assert len(cause.cases) == 1
    assert cause.stood_in_the_way.startswith("stood in the way of 1 case")
    assert set(verdict.blocked.values()) == {cause.id}


LONGER = sent("saveDraft", "PUT", f"{DRAFT}?schema=contact", 201, b'{"a":1}')
OF_A_FORGER = replace(SAVED, authorization="Bearer $TOKEN[:21]")


@pytest.mark.parametrize(
    ("clause", "shown", "control", "contrast"),
    [
        ("uid-too-short", SHORT, LONGER, "with uid 'rc-abcdefghijk' (14 characters): 201"),
        ("token-invalid-refused", OF_A_FORGER, LONGER, "with a valid token: 201"),
        # What was refused itself, or is of another operation, shows nothing.
        ("uid-too-short", SHORT, READ, ""),
        ("uid-too-short", SHORT, replace(OF_A_FORGER, id="other"), ""),
    ],
)
def test_a_finding_tells_what_the_same_request_got_without_its_fault(
    clause: str, shown: Exchange, control: Exchange, contrast: str
) -> None:
    found = seen(clause, shown, "201 {}", expected="refused (4xx)")
    right = replace(control, authorization=control.authorization or "Bearer $TOKEN")
    verdict = judged((found, shown), (seen("draft-save-creates", right, "no draft", "bch-dev"), right))
    cause = next(cause for cause in verdict.causes if cause.lead.clause == clause)
    assert cause.contrast == contrast


@pytest.mark.parametrize(
    ("authorization", "says"),
    [
        ("Bearer", "the token sent is empty: nothing stands behind the word Bearer"),
        ("Bearer $TOKEN[:21]", "the token sent is a valid one cut off after 21 characters"),
        ("Bearer $TOKEN[swapcase]", "the token sent is a valid one with small and capital letters swapped"),
        ("Bearer $TOKENtail", "the token sent is a valid one with another end ('tail')"),
        ("Bearer never-issued", "the token sent is made up ('never-issued') and was never issued"),
        ("Basic $TOKEN", "the token, a valid one, stands under the scheme Basic"),
        ("$TOKEN", "the token, a valid one, stands without the word Bearer"),
    ],
)
def test_a_token_that_should_not_have_opened_anything_is_told_by_its_kind(
    authorization: str, says: str
) -> None:
    shown = replace(SAVED, authorization=authorization)
    (cause,) = judged(
        (seen("token-invalid-refused", shown, "201 {}", expected="refused (4xx)"), shown)
    ).causes
    assert cause.was == f"But saveDraft was answered 201, though {says}."


def test_a_secret_in_an_answer_is_told_with_its_place_and_nothing_else() -> None:
    shown = replace(SAVED, response=response(400, b'{"message":"not [redacted]"}'))
    says = "400 with the secret of the request in it"
    (cause,) = judged(
        (seen("no-secret-echoed", shown, says, expected="no token in the answer"), shown)
    ).causes
    assert (cause.was, cause.contrast) == (
        f"But saveDraft was answered {says}: in the member message; expected: no token in the answer.",
        "",
    )


def test_an_address_is_told_as_it_was_sent() -> None:
    shown = replace(SAVED, url=SAVED.url.replace("abcdefghijk", "abcdefg%2Fijk"))
    (cause,) = judged(
        (seen("uid-forbidden-characters", shown, "201 {}", expected="refused (4xx)"), shown)
    ).causes
    assert "/documents/rc-abcdefg%2Fijk/versions" in cause.request


def test_a_finding_quotes_the_document_and_tells_the_request() -> None:
    (cause,) = judged((seen("uid-too-short", SHORT, "201 {}", expected="refused (4xx)"), SHORT)).causes
    assert cause.details == {
        "document": "uid length | All operations with uid | 11 to 128 characters (Limits)",
        "sent": "PUT /documents/abcdefghij/versions/draft?schema=contact as author",
    }


def test_a_list_is_told_with_what_had_been_stored_and_a_finding_without_a_realm_says_so() -> None:
    before = replace(SAVED, id="before", response=response(201))
    listed = replace(LISTED, url=f"{LISTED.url}&$filter=a%20eq%20'b'")
    lost = seen("list-top", listed, f"{UID} is missing", realm="abs-dev")
    verdict = judged((seen("draft-save-creates", before, "no draft"), before), (lost, listed))
    shown = next(cause for cause in verdict.causes if cause.lead.clause == "list-top")
    assert (
        shown.request == f"GET /document-drafts?$top=1&$filter=a eq 'b' as author after {UID} had been stored"
    )
    anywhere = replace(LISTED, operation="createToken")
    (cause,) = judged((seen("token-issued", anywhere, "no token", realm="any"), anywhere)).causes
    assert cause.place == "createToken whatever the realm"
