"""Whether a sandbox keeps the clauses on signing in and on tokens."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tests.meta.defects.observing import shows
from tests.meta.defects.samples import PASSWORDS, TOKEN
from tests.meta.defects.wire import Answer, Request
from tests.meta.defects.witness import Witness

AUTHOR = {"email": "author@sandbox.test", "password": PASSWORDS["author"]}


def no_token(answer: Answer) -> None:
    assert answer.refused, answer.text
    assert "authenticationToken" not in answer.text


@shows("token-issued")
def a_token_is_issued(witness: Witness) -> None:
    answer = witness.sign_in(AUTHOR)
    assert answer.ok
    assert isinstance(answer.json.get("authenticationToken"), str)
    assert answer.json["authenticationToken"]


@shows("token-expiration-format")
def the_expiration_is_utc_with_fraction(witness: Witness) -> None:
    for _ in range(2):
        told = witness.sign_in(AUTHOR).json.get("expiration")
        assert isinstance(told, str)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(Z|\+00:00)", told), told
        try:
            datetime.fromisoformat(told)
        except ValueError:
            raise AssertionError(told) from None


@shows("token-expiration-ahead")
def the_expiration_lies_ahead(witness: Witness) -> None:
    told = datetime.fromisoformat(witness.sign_in(AUTHOR).json["expiration"])
    assert told > datetime.now(UTC) - timedelta(seconds=5)


@shows("token-needs-no-token")
def signing_in_needs_no_other_header(witness: Witness) -> None:
    assert witness.sign_in(AUTHOR).ok


@shows("token-opens-protected")
def a_fresh_token_opens_a_protected_operation(witness: Witness) -> None:
    for role in ("author", "other"):
        for _ in range(2):
            assert witness.drafts(role=role).ok


@shows("token-serves-every-realm")
def a_token_serves_every_realm(witness: Witness) -> None:
    for realm in ("abs-dev", "bch-dev", "chm-dev"):
        assert witness.drafts(realm=realm).ok


@shows("token-wrong-password")
def a_wrong_password_gets_no_token(witness: Witness) -> None:
    right = PASSWORDS["author"]
    for wrong in ("something else", right[:-1], right + "x", right.upper()):
        no_token(witness.sign_in({**AUTHOR, "password": wrong}))


@shows("token-unknown-account")
def an_unknown_account_gets_no_token(witness: Witness) -> None:
    for password in (PASSWORDS["author"], "something else"):
        no_token(witness.sign_in({"email": "nobody@sandbox.test", "password": password}))


def _needed(name: str) -> Callable[[Witness], None]:
    def a_credential_is_needed(witness: Witness) -> None:
        no_token(witness.sign_in({other: value for other, value in AUTHOR.items() if other != name}))
        no_token(witness.sign_in({**AUTHOR, name: ""}))

    return a_credential_is_needed


def _string(name: str) -> Callable[[Witness], None]:
    def a_credential_is_a_string(witness: Witness) -> None:
        for wrong in ([AUTHOR[name]], 7, True, {"a": 1}):
            no_token(witness.sign_in({**AUTHOR, name: wrong}))

    return a_credential_is_a_string


for _name in AUTHOR:
    shows(f"token-{_name}-missing")(_needed(_name))
    shows(f"token-{_name}-kind")(_string(_name))


@shows("token-body-kind")
def the_body_is_an_object_with_both(witness: Witness) -> None:
    bodies: tuple[object, ...] = ([AUTHOR], "author", {}, 3, None)
    for body in bodies:
        no_token(witness.sign_in(body))
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    no_token(witness.wire.send(Request("POST", TOKEN, headers=headers)))


@shows("token-invalid-refused", "workflow-invalid-token")
def a_token_that_was_never_issued_is_refused(witness: Witness) -> None:
    for operation in witness.operations:
        request = witness.valid(operation)
        token = witness.token()
        witness.arranged(witness.drafts())
        for wrong in ("never-issued-token", token[:-2], token + "x", token.swapcase(), ""):
            answer = witness.send_as(request, Authorization=f"Bearer {wrong}")
            assert answer.refused, (operation, wrong)
            if "Workflow" in operation:
                assert answer.status == 403
                assert "Authorization required, user is anonymous." in answer.text


@shows("token-other-scheme")
def a_token_under_basic_is_refused(witness: Witness) -> None:
    request = witness.valid("listDrafts")
    assert witness.send_as(request, Authorization=f"Basic {witness.token()}").refused


def _without_token(witness: Witness, operation: str, realm: str) -> None:
    request = witness.valid(operation, realm)
    before = witness.get(_uid(request), realm).body if "/versions/draft" in request.path else b""
    answer = witness.send_as(request, Authorization=None)
    assert answer.refused, (operation, answer.text)
    if operation in {"saveDraft", "deleteDraft"}:
        after = witness.get(_uid(request), realm)
        assert after.ok == (operation == "deleteDraft")
        assert after.body == before
    if operation in {"createAttachment", "persistTemporaryFile"}:
        assert witness.attachments(_uid(request)) == []
    if operation == "createWorkflowRecordWithIdentifier":
        assert witness.wire.send(request).ok


def _uid(request: Request) -> str:
    return request.path.split("/")[4]


@shows(
    "contact-create-needs-token",
    "contact-update-needs-token",
    "draft-save-needs-token",
    "draft-get-needs-token",
    "draft-info-needs-token",
    "draft-exists-needs-token",
    "draft-delete-needs-token",
    "list-needs-token",
    "attachment-create-needs-token",
    "attachment-persist-needs-token",
    "attachment-list-needs-token",
    "workflow-create-needs-token",
    "workflow-create-with-identifier-needs-token",
    "workflow-update-needs-token",
)
def a_protected_operation_needs_a_token(witness: Witness) -> None:
    for operation in witness.operations:
        for realm in witness.realms:
            _without_token(witness, operation, realm)
