"""Contradictions between exchanges: remarks where others may have written, faults where nothing else explains them."""

from contracts.manual.traffic_findings import Standing, TrafficFinding
from tests.meta.manual.sample_traffic import Client

SIGN_IN = "/api/v2013/authentication/token"
LIST = "/api/v2013/document-drafts"


def draft(uid: str) -> str:
    return f"/api/v2013/documents/{uid}/versions/draft"


def broken(findings: tuple[TrafficFinding, ...]) -> dict[str | None, Standing]:
    return {each.clause: each.standing for each in findings}


def test_a_saved_draft_that_is_not_found_is_a_remark_where_others_write(client: Client) -> None:
    client("PUT", draft("a-draft-of-mine"), 201, {}, sent={"title": "x"})
    found = client("HEAD", draft("a-draft-of-mine"), 404)
    assert broken(found) == {"draft-exists-present": Standing.REMARK}
    assert found[0].because_of == 1


def test_it_is_a_fault_once_several_records_show_it(client: Client) -> None:
    weights = []
    for number in range(3):
        uid = f"a-draft-of-mine-{number}"
        client("PUT", draft(uid), 201, {}, sent={"title": "x"})
        weights.append(broken(client("HEAD", draft(uid), 404))["draft-exists-present"])
    assert weights == [Standing.REMARK, Standing.REMARK, Standing.FAULT]


def test_what_is_read_is_what_was_saved(alone: Client) -> None:
    alone("PUT", draft("a-draft-of-mine"), 201, {}, sent={"title": "x"})
    assert alone("GET", draft("a-draft-of-mine"), 200, {"body": {"title": "x", "more": 1}}) == ()
    assert broken(alone("GET", draft("a-draft-of-mine"), 200, {"title": "y"})) == {
        "draft-get-content": Standing.FAULT
    }
    assert alone.watch.tally.held["draft-get-content"] == 1


def test_a_deleted_draft_is_gone_from_reads_and_lists(alone: Client) -> None:
    alone("PUT", draft("a-draft-of-mine"), 201, {}, sent={"title": "x"})
    alone("DELETE", draft("a-draft-of-mine"), 204)
    assert broken(alone("HEAD", draft("a-draft-of-mine"), 200)) == {"draft-delete-removes": Standing.FAULT}
    assert broken(alone("GET", draft("a-draft-of-mine"), 200, {"title": "x"})) == {
        "draft-delete-content-gone": Standing.FAULT
    }
    assert broken(alone("GET", LIST, 200, [{"identifier": "a-draft-of-mine"}])) == {
        "list-deleted-gone": Standing.FAULT
    }
    assert alone("GET", LIST, 200, []) == ()


def test_a_read_without_the_listed_content_type_is_unknown_until_one_was_taken(alone: Client) -> None:
    """Whether a service minds is not shown; one that has taken such a read does not."""
    alone("PUT", draft("a-draft-of-mine"), 201, {}, sent={"title": "x"})
    assert alone("GET", draft("a-draft-of-mine"), 404, Content_Type=None) == ()
    assert alone("GET", draft("a-draft-of-mine"), 200, {"title": "x"}, Content_Type=None) == ()
    assert broken(alone("GET", draft("a-draft-of-mine"), 404, Content_Type=None)) == {
        "draft-get-content": Standing.FAULT
    }
    assert alone("HEAD", draft("a-draft-of-mine"), 404, Content_Type=None) == ()


def test_nothing_is_claimed_for_another_realm_account_or_writer(alone: Client) -> None:
    alone("PUT", draft("a-draft-of-mine"), 201, {}, sent={"title": "x"})
    assert alone("HEAD", draft("a-draft-of-mine"), 404, realm="bch-dev") == ()
    alone.token = "another-token-of-forty-characters-012345"
    assert alone("HEAD", draft("a-draft-of-mine"), 404) == ()


def test_nothing_is_claimed_after_a_write_that_may_have_happened(alone: Client) -> None:
    alone("PUT", draft("a-draft-of-mine"), 201, {}, sent={"title": "x"})
    alone("DELETE", draft("a-draft-of-mine"), 0)
    assert alone("HEAD", draft("a-draft-of-mine"), 404) == ()


def test_nothing_is_claimed_while_something_else_is_written(alone: Client) -> None:
    alone("PUT", draft("a-draft-of-mine"), 201, {}, sent={"title": "x"})
    assert alone("HEAD", draft("a-draft-of-mine"), 404, overlapped=True) == ()


def test_a_submission_takes_its_draft_along(alone: Client) -> None:
    """Whether a draft stays after its submission is not for two exchanges to tell."""
    alone("PUT", draft("a-draft-of-mine"), 201, {}, sent={"title": "x"})
    submit = "/api/v2023/documents/schemas/absPermit/a-draft-of-mine"
    alone("POST", submit, 201, {"identifier": "a-draft-of-mine"}, sent={"document": {"title": "x"}})
    assert alone("HEAD", draft("a-draft-of-mine"), 404) == ()


def test_an_identifier_that_was_taken_stays_taken(alone: Client) -> None:
    submit = "/api/v2023/documents/schemas/absPermit/a-record-of-mine"
    body, answer = {"document": {"title": "x"}}, {"identifier": "a-record-of-mine"}
    assert alone("POST", submit, 201, answer, sent=body) == ()
    assert broken(alone("POST", submit, 201, answer, sent=body)) == {
        "workflow-created-exists": Standing.FAULT
    }
    unknown = "A document with the identifier does not exist, please provide correct 'identifier' to update."
    assert broken(alone("PUT", submit, 400, {"message": unknown}, sent=body)) == {
        "workflow-created-known": Standing.FAULT
    }


def test_an_attachment_keeps_its_bytes(alone: Client) -> None:
    files = "/api/v2013/documents/a-document-of-mine/attachments"
    alone("POST", f"{files}/map.png", 201, {"attachmentId": 7}, sent=b"bytes", realm=None)
    assert alone("GET", f"{files}/7/map.png", 200, b"bytes", realm=None) == ()
    assert broken(alone("GET", f"{files}/7/map.png", 200, b"others", realm=None)) == {
        "attachment-download-same": Standing.FAULT
    }
    assert alone("GET", f"{files}/7/map.png", 206, b"by", realm=None, Range="bytes=0-1") == ()
    assert alone("GET", f"{files}/8/map.png", 200, b"others", realm=None) == (), "another attachment"


def test_a_fresh_token_that_is_refused_is_told(alone: Client) -> None:
    signed = {"authenticationToken": alone.token, "expiration": "2026-11-21T13:00:00.000Z"}
    credentials = {"email": "ada@registry.test", "password": "a-secret-of-ada"}
    alone("POST", SIGN_IN, 200, signed, sent=credentials, realm=None, Authorization=None)
    assert alone("GET", LIST, 200, []) == ()
    assert broken(alone("GET", LIST, 401, {})) == {"token-opens-protected": Standing.FAULT}


def test_a_draft_of_another_account_in_a_personal_list_is_told(alone: Client) -> None:
    tokens = {"ada": alone.token, "bob": "another-token-of-forty-characters-012345"}
    for name, token in tokens.items():
        signed = {"authenticationToken": token, "expiration": "2026-11-21T13:00:00.000Z"}
        credentials = {"email": f"{name}@registry.test", "password": f"a-secret-of-{name}"}
        alone("POST", SIGN_IN, 200, signed, sent=credentials, realm=None, Authorization=None)
    alone("PUT", draft("a-draft-of-adas"), 201, {}, sent={"title": "x"})
    listed = [{"identifier": "a-draft-of-adas"}]
    assert alone("GET", f"{LIST}?collection=my", 200, listed) == ()
    alone.token = tokens["bob"]
    assert broken(alone("GET", f"{LIST}?collection=my", 200, listed)) == {
        "list-my-without-others": Standing.ADVICE
    }


def test_a_list_is_given_time_to_settle(alone: Client) -> None:
    files = "/api/v2013/documents/a-document-of-mine/attachments"
    alone("POST", f"{files}/map.png", 201, {"id": 7}, sent=b"bytes", realm=None)
    alone.seconds_apart = 0
    assert alone("GET", files, 200, [], realm=None) == ()
    alone.seconds_apart = 60
    assert broken(alone("GET", files, 200, [], realm=None)) == {"attachment-create-listed": Standing.FAULT}


def test_a_first_page_of_attachments_accuses_nobody_of_what_it_lacks(alone: Client) -> None:
    """How many a list shows unless it is asked is not shown; one that was longer before is whole."""
    files = "/api/v2013/documents/a-document-of-mine/attachments"
    for number in range(4):
        alone("POST", f"{files}/{number}.txt", 201, {"id": number}, sent=b"bytes", realm=None)
    shown = [{"id": number, "filename": f"{number}.txt"} for number in range(3)]
    assert alone("GET", files, 200, shown, realm=None) == ()
    assert broken(alone("GET", files, 200, shown[:2], realm=None)) == {
        "attachment-create-listed": Standing.FAULT
    }


def test_what_a_wrong_draft_speaks_against_is_what_happened_to_it(alone: Client) -> None:
    mine, other = draft("a-draft-of-mine"), draft("another-draft-of-mine")
    alone("PUT", mine, 201, {}, sent={"title": "x"})
    alone("PUT", mine, 200, {}, sent={"title": "y"})
    assert [*broken(alone("GET", mine, 200, {"title": "x"}))] == ["draft-save-updates"]
    assert alone("GET", mine, 200, {"title": "y"}) == ()
    alone("PUT", other, 201, {}, sent={"title": "z"})
    assert [*broken(alone("GET", mine, 200, {"title": "z"}))] == ["draft-save-spares-others"]
