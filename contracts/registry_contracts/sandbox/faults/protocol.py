"""Faults of HTTP, of realms and of tokens: crashes, bodies, headers, paths, secrets, wrong credentials accepted."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from msgspec import structs

from registry_contracts.interface.description import operations_with
from registry_contracts.sandbox.authentication import Account
from registry_contracts.sandbox.faults import effects as do
from registry_contracts.sandbox.faults.fault import Rows, each
from registry_contracts.sandbox.faults.messages import MISSING, Answer, Inject, Request, answer_json
from registry_contracts.sandbox.faults.places import ACCOUNTS, NAMED_SUBMISSIONS, SIGN_IN, TYPES, kebab

_NAMED, _UPDATE = NAMED_SUBMISSIONS
#: A body is nested more than 200 levels deep, or is there and is no well-formed JSON.
_DEEP: Final = r"body~([\[{][^\[{]*){201}"
_MALFORMED: Final = r"body~. json~^null$ -body~^\s*null\s*\Z"


def _elsewhere(request: Request) -> Request:
    """The request at a path that does not exist."""
    path = request.operation.path.replace("/api/v20", "/api/v19")
    return replace(request, operation=structs.replace(request.operation, path=path))


async def with_those_of_others(request: Request, got: Answer) -> Answer:
    """Append the drafts of all other realms to a list of drafts."""
    others = [realm for realm in TYPES if realm != request.realm] if got.success else []
    lists = [await request.ask(request.with_header("realm", realm)) for realm in others]
    return got.with_items([*got.items, *(item for other in lists for item in other.items)])


@do.effect
async def _dies_after(request: Request, number: int) -> Answer | None:
    """Refuse a token after some uses."""
    kept, token = request.memory.kept, request.header("authorization")
    kept[token] = kept.get(token, 0) + 1
    return Answer(401) if request.role and kept[token] > number else None


def _granted(choose: Callable[[Request], Account | None]) -> Inject:
    """Sign in as the account that a request chooses; None leaves the request to the service."""
    return do.send(lambda r: r.signing_in(account) if (account := choose(r)) else None)


def _account(request: Request, credential: str) -> Account | None:
    """The account that a credential in the body belongs to."""
    given = request.member.get(credential)
    return next((account for account in ACCOUNTS.values() if getattr(account, credential) == given), None)


def _misspelt(password: Any) -> bool:
    known = [account.password for account in ACCOUNTS.values()]
    return password not in known and str(password).lower() in known


def _stranger(request: Request) -> Account | None:
    """An account for a body that holds both credentials, the e-mail being that of no account."""
    given = [request.member.get(name) for name in ("email", "password")]
    strange = all(text and isinstance(text, str) for text in given) and _account(request, "email") is None
    return ACCOUNTS["restricted"] if strange else None


def _overlooked(wrong: str, passes: Callable[[Any], bool]) -> Inject:
    """Accept one wrong credential that passes a test if the other is right."""
    right = "password" if wrong == "email" else "email"
    return _granted(lambda r: _account(r, right) if passes(r.member.get(wrong)) else None)


def _member(name: str, change: Callable[[str], Any]) -> Inject:
    """Change a member of the answer to signing in."""
    return do.success(lambda got: got.with_member(name, change(got.member[name])))


#: Tests for requests, each with what a fault says of them.
_CHARSET: Final = ("content-type~(?i)charset", "with the parameter charset in its Content-Type")
_WITH_TYPE: Final = ("content-type~.", "with a Content-Type")
_NO_REALM: Final = ("-realm~.", "without a realm")
# fmt: off
#: The clauses that a refused right request breaks, by operation; the most direct first.
ACCEPTANCE: Final[Mapping[str, tuple[str, ...]]] = {
    "createToken": ("token-issued",),
    "createContact": ("contact-create-accepted", "contact-create-full"),
    "updateContact": ("contact-update-accepted", "contact-update-full"),
    "saveDraft": ("draft-save-creates", "draft-save-updates"),
    "getDraft": ("draft-get-content",),
    "getDraftInfo": ("draft-info-present",),
    "draftExists": ("draft-exists-present", "draft-save-creates"),
    "deleteDraft": ("draft-delete-removes",),
    # A list that is refused breaks the clause of whatever was asked of it.
    "listDrafts": ("list-answers", "list-my-answers", "list-mydrafts-has-mine", "list-top", "list-skip",
        "list-top-and-skip", "list-pages-cover", "list-collection-with-top", "list-collection-with-skip"),
    "createAttachment": ("attachment-create-accepted", "attachment-several"),
    "persistTemporaryFile": ("attachment-persist-listed", "attachment-persist-downloads"),
    "listAttachments": ("attachment-create-listed", "realm-attachments-without", "attachment-list-top",
        "attachment-list-skip", "attachment-list-pages-cover"),
    "attachmentExists": ("attachment-exists-present",),
    "getAttachment": ("attachment-download-same",),
    "getAttachmentThumbnail": ("attachment-thumbnail-image",),
    "createWorkflowRecord": ("workflow-create-accepted", "workflow-batch-longest", "workflow-batch-shared"),
    "createWorkflowRecordWithIdentifier": ("workflow-create-with-identifier-accepted",),
    "updateWorkflowRecord": ("workflow-update-accepted",),
}
_ANY, _REALM = Rows("", ""), Rows("realm-", "realm-")
_GRANTED = Rows("token-", "token-", SIGN_IN, "Signing in gives a token: {}.")
_SIGN_IN, _TOKEN = Rows("token-", "token-", SIGN_IN), Rows("token-", "token-", "listDrafts")
ROWS: Final = (
    _ANY("hangs-on-deep-draft", "answers-in-time", do.stall,
        "saveDraft never answers a body nested more than 200 levels deep", _DEEP, at="saveDraft"),
    # Bodies that are no JSON, or are taken though they are none.
    _ANY("body-with-trailing-comma-taken", "json-dialect-refused",
        do.mend(lambda r: [replace(r, body=re.sub(rb",\s*([}\]])", rb"\1", r.body))]),
        "createToken accepts a body with a comma before a bracket", _MALFORMED, at=SIGN_IN),
    *each(lambda operation: _ANY(f"malformed-body-taken-by-{kebab(operation)}", "malformed-json-refused",
            do.give(do.always(answer_json(200, {"identifier": "taken-as-it-is"}))),
            f"{operation} answers success to a body that is no JSON", _MALFORMED, at=operation),
        # Whether a sign-in that gives no token may be a success is not shown.
        "createContact", "saveDraft"),
    _ANY("json-as-plain", "json-labelled-json",
        do.success(partial(Answer.with_header, name="content-type", value="text/plain")),
        "The JSON that createToken answers is labelled text/plain", at=SIGN_IN),
    _ANY("refusal-in-plain-text", "json-bodies",
        do.refusals(lambda got: replace(got, body=b"there is no such draft").with_header("content-type", "text/plain")),
        "A draft that is not there is refused with a line of plain text", at="getDraft"),
    # Headers, addresses and secrets.
    *each(lambda clause, name, where, says, operation: _ANY(f"{name}-by-{kebab(operation)}", clause,
            do.refuse_before(), f"{operation} refuses a request {says}", where, at=operation),
        ("content-type-charset", "charset-refused", *_CHARSET, "updateContact"),
        ("content-type-charset", "charset-refused", *_CHARSET, "createWorkflowRecord"),
        ("content-type-not-needed", "content-type-needed", "-content-type~.", "without a Content-Type",
            "createAttachment"),
        ("content-type-without-body", "content-type-refused", *_WITH_TYPE, "getDraftInfo"),
        ("content-type-without-body", "content-type-refused", *_WITH_TYPE, "getAttachment"),
        ("realm-attachments-without", "realm-needed", *_NO_REALM, "attachmentExists"),
        ("realm-attachments-without", "realm-needed", *_NO_REALM, "getAttachment"),
    ),
    *each(lambda version, operation: _ANY(f"path-of-{kebab(operation)}-gone", f"version-{version}-paths",
            do.send(_elsewhere), f"There is nothing at the path and method of {operation}", at=operation),
        (2013, "getDraftInfo"), (2023, _UPDATE)),
    _ANY("password-in-answer", "no-secret-echoed", do.answer(lambda r, got: got.with_member("account", r.json) if
        got.success else got), "The answer to a sign-in repeats the password",
        at=SIGN_IN),
    # Realms that are not seen, not known, or mixed up.
    _REALM("query-ignored", "query", do.send(lambda r: r.with_options(Realm=None)),
        "updateWorkflowRecord does not see a realm that the query alone names", "-realm~. Realm~-dev$", at=_UPDATE),
    _REALM("empty-taken", "empty", do.send(lambda r: r.with_header("realm", "abs-dev")),
        "createWorkflowRecordWithIdentifier takes an empty Realm header for abs-dev", "realm~^$", at=_NAMED),
    *each(lambda clause, operation, realm: _ANY(f"realm-refused-by-{kebab(operation)}",
            (clause, *ACCEPTANCE[operation]),
            do.send(lambda r: r.with_header("realm", "no-such-realm") if r.role else None),
            f"{operation} does not know the realm", at=operation).under(f"in-{realm}"),
        ("realm-document-realms", "getDraft", "bch-dev"), ("realm-workflow-realms", _UPDATE, "ort-dev")),
    # Signing in, and tokens.
    *each(lambda name, clause, choose, says: _GRANTED(name, clause, _granted(choose), says),
        ("unknown-account-welcome", "unknown-account", _stranger, "no account has the e-mail"),
        ("body-empty-object", "body-kind", lambda r: ACCOUNTS["author"] if r.json == {} else None,
            "the body is an empty object"),
    ),
    *each(lambda wrong, name, clause, passes, what: _GRANTED(name, clause, _overlooked(wrong, passes),
            f"the {wrong} is {what} and the other credential right"),
        ("password", "password-letter-case", "wrong-password", _misspelt, "in another letter case"),
        ("email", "empty-email", "email-missing", lambda v: v == "", "empty"),
        ("password", "empty-password", "password-missing", lambda v: v == "", "empty"),
        ("email", "email-true", "email-kind", lambda v: v is True, "the boolean true"),
        ("password", "password-true", "password-kind", lambda v: v is True, "the boolean true"),
    ),
    _SIGN_IN("missing", "issued", _member("authenticationToken", do.always(MISSING)),
        "The token in the answer to signing in is missing"),
    _SIGN_IN("expiration-without-zone", "expiration-format",
        _member("expiration", lambda moment: moment.removesuffix("Z")), "The expiration of a token has no zone"),
    _SIGN_IN("expiration-past", "expiration-ahead",
        _member("expiration", do.always("2020-01-01T00:00:00.000Z")), "The expiration of a token is past"),
    _SIGN_IN("needs-authorization", "needs-no-token", do.refuse_before(),
        "Signing in is refused without an Authorization header", "-authorization~."),
    _TOKEN("opens-nothing", "opens-protected", do.refuse_before(401), "No token opens the list of drafts"),
    _TOKEN("opens-nothing", "serves-every-realm", do.refuse_before(401), "No token opens the list of drafts")
        .under("in-bch-dev"),
    _TOKEN("under-basic-opens", "other-scheme",
        do.send(lambda r: r.with_header("authorization", f"Bearer {r.header('authorization')[6:].strip()}")),
        "A token sent under the scheme Basic opens the list of drafts", r"authorization~(?i)^basic\s"),
    _TOKEN("ends-early", "lasts-until-expiration", _dies_after(2),
        "A token is refused after 2 requests, long before its expiration", at=operations_with(protected=True)),
)
# fmt: on
