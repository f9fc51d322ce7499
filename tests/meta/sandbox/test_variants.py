"""Variants: each differs from the faithful sandbox in what its sentence says; they are chosen by name, or several."""

import http.client
import io
import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import pytest
from PIL import Image

from contracts.sandbox.habits import Habits, Settings
from contracts.sandbox.serve import USAGE_ERROR, altered, main
from contracts.sandbox.variants import ALL, COMBINATIONS, chosen, help_text
from contracts.sandbox.variants.http import SLOW_SECONDS
from tests.meta.program import eventually
from tests.meta.samples import CONTACT_SCHEMA, contact, draft_path, record, submission_path
from tests.meta.sandbox_client import SandboxClient, new_uid

Probe = Callable[[Any], Any]


def writes(client: SandboxClient) -> list[int]:
    """Statuses of a save, a second save, an attachment, a new contact and a deletion."""
    uid = new_uid()
    answers = [client.save(uid), client.save(uid), client.attach(uid), client.post_contact(contact())]
    return [answer.status_code for answer in [*answers, client.request("DELETE", draft_path(uid))]]


def bodies(client: SandboxClient) -> list[bool]:
    uid = new_uid()
    return [
        bool(answer.content)
        for answer in (client.save(uid), client.attach(uid), client.post_contact(contact()))
    ]


def refusals(client: SandboxClient) -> list[int]:
    """Statuses without a token, for a draft that is not there, and for an unknown schema."""
    path = draft_path(new_uid())
    return [
        client.get(path, role=None).status_code,
        client.get(path).status_code,
        client.request("PUT", path, params={"schema": "unheard"}, json={}).status_code,
    ]


def faulty(client: SandboxClient) -> tuple[int, str]:
    answer = client.post_contact(contact(country={"identifier": 1}))
    return answer.status_code, answer.json()["errors"][0]["property"]


def deleted_twice(client: SandboxClient) -> int:
    uid = client.saved()
    client.request("DELETE", draft_path(uid))
    return int(client.request("DELETE", draft_path(uid)).status_code)


def first_of_two(client: SandboxClient) -> bool:
    uid = client.saved()
    client.attach(uid, "one.txt"), client.attach(uid, "two.txt")
    return bool(client.attachments(uid).json()[0]["filename"] == "two.txt")


def listed_of_twelve(client: SandboxClient) -> int:
    for _ in range(12):
        client.saved(role="nau")
    return len(client.drafts(role="nau", collection="my").json())


def receipts(client: SandboxClient) -> int:
    """How many different receipts the first item of a list has in two answers."""
    return len({client.drafts(top=1).json()[0].get("receipt") for _ in range(2)})


def fraction(client: SandboxClient) -> int:
    return len(client.sign_in().json()["expiration"].rpartition(".")[2]) - 1


def attaching(client: SandboxClient, name: str = "note.txt", content: bytes = b"a note") -> Any:
    return client.attach(client.saved(), name, content)


def picture() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30), "red").save(buffer, "PNG")
    return buffer.getvalue()


def same_name(client: SandboxClient) -> int:
    uid = client.saved()
    client.attach(uid)
    return int(client.attach(uid).status_code)


def of_nothing(client: SandboxClient) -> list[int]:
    uid = new_uid()
    return [client.attachments(uid).status_code, client.attach(uid).status_code]


def thumbnail(client: SandboxClient, name: str, content: bytes) -> Any:
    return client.get(client.attached(name, content) + "/thumbnail", realm=None)


def picture_format(client: SandboxClient) -> str | None:
    return Image.open(io.BytesIO(thumbnail(client, "red.png", picture()).content)).format


def misnamed(client: SandboxClient) -> int:
    path = client.attached().replace("note.txt", "other.txt")
    return int(client.get(path, realm=None).status_code)


def posting(client: SandboxClient, **members: Any) -> int:
    return int(client.post_contact(contact(**members)).status_code)


def posted_twice(client: SandboxClient, role: str = "author") -> int:
    uid = new_uid()
    client.post_contact(contact(uid=uid))
    return int(client.post_contact(contact(uid=uid), role=role).status_code)


def disagreeing(client: SandboxClient) -> int:
    uid = new_uid()
    client.post_contact(contact(uid=uid))
    return int(client.put_contact(uid, contact(uid="test-quite-another")).status_code)


JSON = {"Content-Type": "application/json"}


def page(client: SandboxClient) -> Any:
    client.saved()
    return client.drafts(top=1).json()


def members(client: SandboxClient) -> list[str]:
    """The members of the envelope of a list; none of a bare array."""
    answer = page(client)
    return list(answer) if isinstance(answer, dict) else []


def page_of_eight(client: SandboxClient) -> int:
    for _ in range(8):
        client.saved(role="nau")
    return len(client.drafts(role="nau", collection="my", top=8).json())


def info_members(client: SandboxClient) -> list[str]:
    return sorted(client.get(draft_path(client.saved(), "/info")).json())


def by_no_field(client: SandboxClient) -> Any:
    client.saved()
    filtered, ordered = (
        client.drafts(filter="colour eq 'red'", top=1),
        client.drafts(orderby="colour desc", top=1),
    )
    return len(filtered.json()), len(ordered.json())


def others_listed(client: SandboxClient) -> bool:
    uid = client.saved(role="other")
    return uid in client.drafts().text


def locked_listed(client: SandboxClient) -> list[bool]:
    return ["sandbox-locked-abs-dev" in client.drafts(collection=which).text for which in ("my", "mydrafts")]


def seen_at_once(client: SandboxClient) -> list[bool]:
    uid = client.saved()
    client.attach(uid)
    return [uid in client.drafts(collection="my").text, "note.txt" in client.attachments(uid).text]


def given(client: SandboxClient, body: Any = None) -> Any:
    return client.get(draft_path(client.saved(body)))


def saving_status(client: SandboxClient, body: Any) -> int:
    return int(client.save(new_uid(), body).status_code)


def others_read(client: SandboxClient) -> int:
    return int(client.get(draft_path(client.saved(role="other"))).status_code)


def reported_faults(client: SandboxClient) -> Any:
    answer = client.save(new_uid(), {"firstName": "Ada"}).json()
    return len(answer.get("errors", []))


HALF = b'{"odd": "a\\ud800b", "\\udc00": 1, "whole": "\\ud83d\\ude00"}'


def half_saved(client: SandboxClient) -> Any:
    """The text of a draft with half of a surrogate pair, and whether save, info and list tell of it; or a refusal."""
    uid = new_uid()
    answer = client.request("PUT", draft_path(uid), params=CONTACT_SCHEMA, data=HALF, headers=JSON)
    if answer.status_code >= 400:
        return answer.status_code
    shown = [answer, client.get(draft_path(uid, "/info")), client.drafts(filter=f"identifier eq '{uid}'")]
    escaped = [b'"odd":"a\\ud800b"' in response.content and response.content.isascii() for response in shown]
    return client.get(draft_path(uid)).content, escaped


MESSAGE = "Authorization required, user is anonymous."
LARGE = 4_000_000_000


def anonymous(client: SandboxClient) -> Any:
    return client.submit("POST", new_uid(), role=None)


def invalid(client: SandboxClient) -> Any:
    return client.post_contact(contact(country=None)).json()


def attachment_id(client: SandboxClient) -> Any:
    uid = client.saved()
    return client.attach(uid).json()["id"]


def own_identifier(client: SandboxClient) -> bool:
    """Whether a new contact is found under the identifier of its header."""
    uid = new_uid()
    client.post_contact(contact(uid=uid))
    return client.put_contact(uid, contact()).ok


def header_identifier(client: SandboxClient) -> bool:
    uid = new_uid()
    document = {**record(), "header": {"identifier": uid}}
    return uid in client.submit("POST", body={"document": document}).text


def renamed(client: SandboxClient) -> Any:
    uid = client.saved()
    client.attach(uid)
    rows = client.attachments(uid, filter=f"documentUid eq '{uid}'", orderby="_id")
    return rows.ok and {"documentUid", "_id"} <= rows.json()[0].keys()


def in_capitals(client: SandboxClient) -> Any:
    client.saved()
    rows = client.drafts(filter="realm eq 'ABS-DEV'", top=1).json()
    return [row["realm"] for row in rows]


def nanoseconds(client: SandboxClient) -> bool:
    uid = client.saved()
    moment = client.get(draft_path(uid, "/info")).json()["createdOn"]
    rows = client.drafts(filter=f"createdOn eq {moment}")
    return uid in rows.text and re.search(r"\.\d{9}\+00:00$", moment) is not None


LOCKED = "The record is locked for workflow"


def token(client: SandboxClient) -> str:
    return str(client.sign_in().json()["authenticationToken"])


def expires_within(client: SandboxClient, seconds: float) -> bool:
    """Whether a new token's expiry is less than some seconds ahead."""
    expiration = str(client.sign_in().json()["expiration"]).replace("Z", "+00:00")
    return (datetime.fromisoformat(expiration) - datetime.now(UTC)).total_seconds() < seconds


def first_still_opens(client: SandboxClient) -> bool:
    first = token(client)
    token(client)
    return listing(client, f"Bearer {first}") == 200


def listing(client: SandboxClient, authorization: str) -> int:
    headers = {"Authorization": authorization}
    return int(client.get("/api/v2013/document-drafts", role=None, headers=headers).status_code)


def deleting(client: SandboxClient, headers: dict[str, str]) -> bool:
    path = draft_path(new_uid())
    client.put(path, params=CONTACT_SCHEMA, data=b"{}", headers=JSON)
    return client.delete(path, headers=headers).status_code < 300


def labelled_otherwise(client: SandboxClient) -> int:
    headers = {"Content-Type": "text/plain"}
    path = draft_path(new_uid())
    return client.put(path, params=CONTACT_SCHEMA, data=b"{}", headers=headers).status_code


def submitted_and_updated(client: SandboxClient) -> list[bool]:
    """Whether an update is taken at once after a submission, and whether the record is locked in the end."""
    uid = new_uid()
    client.submit("POST", uid)
    at_once = client.submit("PUT", uid).ok
    return [at_once, bool(eventually(lambda: LOCKED in client.submit("PUT", uid).text))]


def updated_again(client: SandboxClient) -> list[bool]:
    uid = new_uid()
    client.submit("POST", uid)
    return [client.submit("PUT", uid).ok for _ in range(3)]


def of_a_draft(client: SandboxClient) -> list[bool]:
    return [client.submit("POST", client.saved()).ok, client.submit("PUT", client.saved()).ok]


def informed(client: SandboxClient, role: str = "author") -> int:
    body = {"document": record(), "additionalInfo": "please publish"}
    return int(client.submit("POST", new_uid(), body, role=role).status_code)


def with_nulls(client: SandboxClient) -> int:
    body = {"document": record(), "additionalInfo": None, "batchId": None}
    return int(client.submit("POST", new_uid(), body).status_code)


def info(client: SandboxClient) -> Any:
    return client.get(draft_path(client.saved(), "/info"))


def nameless(client: SandboxClient) -> int:
    """The status of a submission whose identifier is empty."""
    path = f"{submission_path('abs-dev', None)}/"
    return client.request("POST", path, json={"document": record()}).status_code


def spelling(client: SandboxClient) -> bool:
    """Whether header names come in capitals; other clients fold them."""
    connection = http.client.HTTPConnection(urlsplit(client.base).netloc)
    connection.request("GET", "/nothing")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return any(name.isupper() for name, _ in answer.getheaders())


def downloaded(client: SandboxClient) -> tuple[int, bytes]:
    answer = client.get(client.attached(), realm=None)
    return len(answer.history), answer.content


def fetched_from(client: SandboxClient) -> tuple[str | None, bytes]:
    """The host that a file comes from, and the file."""
    answer = client.get(client.attached(), realm=None)
    return urlsplit(answer.url).hostname, answer.content


def sent_on(client: SandboxClient) -> tuple[list[int], int]:
    answer = info(client)
    return [hop.status_code for hop in answer.history], answer.status_code


def faults(client: SandboxClient, **members: Any) -> Any:
    answer = client.post_contact(contact(**members))
    return [error["code"] for error in answer.json().get("errors", [])]


def saving_text(client: SandboxClient, body: bytes, **query: str) -> int:
    headers = {"Content-Type": "application/json"}
    sent = query or {"schema": "contact"}
    return int(
        client.request("PUT", draft_path(new_uid()), params=sent, data=body, headers=headers).status_code
    )


def saved_under_each_schema(client: SandboxClient) -> list[int]:
    """How drafts of a contact and of a record of the workflow are answered."""
    return [saving_text(client, b"{}", schema=schema) for schema in ("contact", "absPermit")]


def attached_to_each(client: SandboxClient) -> list[int]:
    """How a file is answered that goes to a draft, and to a published record of the variant's own."""
    uids = (client.saved(), "sandbox-files-abs-dev-01")
    return [client.attach(uid).status_code for uid in uids]


def between_realms(client: SandboxClient) -> int:
    """Whether a submission is accepted that names its realm in the query and another in the header."""
    body = {"document": record()}
    path = "/api/v2023/documents/schemas/absPermit"
    return int(
        client.request("POST", path, realm="bch-dev", params={"Realm": "abs-dev"}, json=body).status_code
    )


DIFFERENCES: dict[str, tuple[Probe, Any]] = {
    "success-200": (writes, [200, 200, 200, 200, 200]),
    "success-201": (writes, [201, 201, 201, 201, 201]),
    "success-202": (writes, [202, 202, 202, 202, 202]),
    "success-204": (writes, [204, 204, 204, 204, 204]),
    "writes-without-body": (bodies, [False, False, False]),
    "refusals-400": (refusals, [400, 400, 400]),
    "refusals-404": (refusals, [404, 404, 404]),
    "token-refused-403": (refusals, [403, 404, 400]),
    "malformed-422": (refusals, [401, 404, 422]),
    "missing-410": (refusals, [401, 410, 400]),
    "faults-200": (faulty, (200, "country")),
    "faults-409": (faulty, (409, "country")),
    "faults-422": (faulty, (422, "country.identifier")),
    "delete-idempotent": (deleted_twice, 204),
    "head-without-length": (
        lambda client: client.request("HEAD", draft_path(client.saved())).headers.get("Content-Length", "0"),
        "0",
    ),
    "newest-first": (first_of_two, True),
    "pages-of-ten": (listed_of_twelve, 10),
    "list-items": (lambda client: sorted(client.drafts(top=1).json())[:1], ["items"]),
    "list-odata": (lambda client: sorted(client.drafts(top=1).json())[:1], ["@odata.count"]),
    "draft-under-body": (lambda client: list(client.get(draft_path(client.saved())).json())[:1], ["body"]),
    "realm-optional": (lambda client: client.save(new_uid(), realm=None).status_code, 201),
    "attachments-closed": (
        lambda client: client.get(client.attached(), role=None, realm=None).status_code,
        401,
    ),
    "timestamps-tenths": (fraction, 1),
    "timestamps-micro": (fraction, 6),
    "empty-values-absent": (lambda client: client.post_contact(contact(phones={})).status_code, 201),
    "empty-text-missing": (lambda client: client.post_contact(contact(firstName="")).status_code, 400),
    "submission-members-ignored": (
        lambda client: client.submit("POST", new_uid(), {"document": record(), "note": 1}).status_code,
        201,
    ),
    "empty-file-refused": (lambda client: attaching(client, content=b"").status_code, 400),
    "file-names-plain": (lambda client: attaching(client, "a note.txt").status_code, 400),
    "file-names-changed": (lambda client: attaching(client, "a note.txt").json()["filename"], "a_note.txt"),
    "file-names-unread": (misnamed, 200),
    "file-names-unique": (same_name, 409),
    "attachments-of-anything": (of_nothing, [200, 201]),
    "thumbnails-of-pictures": (lambda client: thumbnail(client, "note.txt", b"a note").status_code, 404),
    **{f"thumbnails-{form.lower()}": (picture_format, form) for form in ("JPEG", "WEBP", "GIF")},
    "contact-put-creates": (lambda client: client.put_contact(new_uid(), contact()).status_code, 200),
    "contact-post-updates": (posted_twice, 201),
    "references-open": (
        lambda client: posting(client, contactOrganization={"identifier": "nobody-knows-it"}),
        201,
    ),
    "numbers-as-text": (lambda client: posting(client, firstName=7), 201),
    "nulls-absent": (lambda client: posting(client, middleName=None), 201),
    "forms-checked": (lambda client: posting(client, emails=["nobody"]), 400),
    "languages-six": (lambda client: posting(client, organization={"sw": "Ofisi"}), 400),
    "header-ignored": (disagreeing, 200),
    "header-whole": (lambda client: posting(client, header={"schema": "contact"}), 400),
    "list-docs": (members, ["responseHeader", "response", "facet_counts"]),
    "list-linked": (members, ["links", "page", "warnings", "results"]),
    "pages-of-five": (page_of_eight, 5),
    "list-with-documents": (lambda client: "document" in page(client)[0], True),
    "metadata-terse": (info_members, ["identifier", "schema"]),
    "odata-open": (by_no_field, (0, 1)),
    "odata-ignored": (by_no_field, (1, 1)),
    "list-own-only": (others_listed, False),
    "my-and-mydrafts-differ": (locked_listed, [True, False]),
    "my-without-drafts": (locked_listed, [False, True]),
    "content-type-needed": (lambda client: (deleting(client, {}), deleting(client, JSON)), (False, True)),
    "restricted-shut-out": (lambda client: client.drafts(role="restricted").status_code, 403),
    "lists-late": (seen_at_once, [False, False]),
    "draft-wrapped": (lambda client: "workingDocument" in given(client).json(), True),
    "draft-extended": (lambda client: given(client, {"a": 1}).json().get("header", {}).get("version"), 1),
    "draft-rewritten": (
        lambda client: given(client, {"b": "é", "a": 1}).text,
        '{\n  "a": 1,\n  "b": "\\u00e9"\n}',
    ),
    "draft-nulls-dropped": (lambda client: given(client, {"a": None, "b": [None]}).json(), {"b": [None]}),
    "draft-known-fields-only": (lambda client: saving_status(client, {"colour": "red"}), 400),
    "draft-valid-only": (lambda client: saving_status(client, {"firstName": "Ada"}), 400),
    "draft-faults-told": (reported_faults, 6),
    "draft-content-answered": (lambda client: client.save(new_uid(), {"a": 1}).json(), {"a": 1}),
    "others-drafts-hidden": (others_read, 404),
    "others-drafts-refused": (others_read, 403),
    "locked-draft-hidden": (lambda client: client.get(draft_path("sandbox-locked-abs-dev")).status_code, 404),
    "half-pairs-kept": (half_saved, (HALF, [True, True, True])),
    "message-plain-text": (lambda client: anonymous(client).text, MESSAGE + "\n"),
    "message-under-error": (lambda client: anonymous(client).json().get("error", {}).get("message"), MESSAGE),
    "message-in-array": (
        lambda client: anonymous(client).json().get("messages", [{}])[0].get("text"),
        MESSAGE,
    ),
    "message-spaced": (
        lambda client: anonymous(client).json()["message"],
        "  “Authorization\nrequired, user is anonymous.” \r\n",
    ),
    "errors-nested": (lambda client: "errors" in invalid(client).get("validation", {}), True),
    "refusals-without-body": (lambda client: client.get(draft_path(new_uid())).content, b""),
    "problem-json": (lambda client: anonymous(client).headers["Content-Type"], "application/problem+json"),
    "ids-renamed": (renamed, True),
    "attachment-id-text": (lambda client: type(attachment_id(client)), str),
    "attachment-id-large": (lambda client: attachment_id(client) > LARGE, True),
    "id-in-location": (
        lambda client: re.sub(r"test-\w+", "…", client.save(new_uid()).headers.get("Location", "")),
        "/api/v2013/documents/…",
    ),
    "contacts-minted": (own_identifier, False),
    "records-minted": (header_identifier, False),
    "identifiers-uuid": (lambda client: len(client.submit("POST").json()["identifier"]), 36),
    "realm-in-capitals": (in_capitals, ["ABS-DEV"]),
    "timestamps-nano": (nanoseconds, True),
    "tokens-short": (lambda client: len(token(client)), 10),
    "tokens-long": (lambda client: len(token(client)) > 2000, True),
    "tokens-jwt": (lambda client: token(client).count("."), 2),
    "token-same-again": (lambda client: token(client) == token(client), True),
    "token-replaced": (first_still_opens, False),
    "tokens-brief": (lambda client: expires_within(client, 60), True),
    "bearer-exact": (lambda client: listing(client, f"bearer {token(client)}"), 401),
    "drafts-of-workflow": (saved_under_each_schema, [400, 201]),
    "attachments-of-published": (attached_to_each, [409, 201]),
    "ticket-scheme": (lambda client: listing(client, f"Token {token(client)}"), 200),
    "email-any-case": (lambda client: client.sign_in(email="Author@Sandbox.test").status_code, 200),
    "sign-in-refused-200": (lambda client: client.sign_in(email="nobody@sandbox.test").status_code, 200),
    "content-type-any": (labelled_otherwise, 201),
    "realm-before-identity": (
        lambda client: client.submit("POST", new_uid(), role=None, realm=None).status_code,
        400,
    ),
    "identifier-empty": (nameless, 201),
    "lock-late": (submitted_and_updated, [True, True]),
    "submissions-publish": (updated_again, [True, True, True]),
    "drafts-not-existing": (of_a_draft, [True, False]),
    "locked-before-taken": (
        lambda client: LOCKED in client.submit("POST", "sandbox-locked-abs-dev").text,
        True,
    ),
    "info-for-nau-only": (informed, 400),
    "submission-nulls-absent": (with_nulls, 201),
    "authors-update-all": (lambda client: client.submit("PUT", client.saved(role="other")).status_code, 200),
    "charset": (lambda client: info(client).headers["Content-Type"], "Application/JSON; charset=UTF-8"),
    "header-capitals": (spelling, True),
    "headers-furnished": (lambda client: "Set-Cookie" in info(client).headers, True),
    "chunked": (lambda client: info(client).headers.get("Transfer-Encoding"), "chunked"),
    "gzip": (lambda client: info(client).headers.get("Content-Encoding"), "gzip"),
    "connections-closed": (lambda client: info(client).headers.get("Connection"), "close"),
    "validators": (lambda client: info(client).headers.get("ETag", "").startswith("W/"), True),
    "slow": (lambda client: info(client).elapsed.total_seconds() > SLOW_SECONDS, True),
    "list-items-volatile": (receipts, 2),
    "extra-members": (lambda client: info(client).json().get("apiVersion"), "2.14"),
    "head-204": (lambda client: client.request("HEAD", draft_path(client.saved())).status_code, 204),
    "downloads-redirected": (downloaded, (1, b"a note")),
    "downloads-elsewhere": (fetched_from, ("localhost", b"a note")),
    "reads-sent-on": (sent_on, ([308], 200)),
    "deflate": (lambda client: info(client).headers.get("Content-Encoding"), "deflate"),
    "faults-one-at-a-time": (
        lambda client: len(faults(client, firstName=None, lastName=None, type=None)),
        1,
    ),
    "codes-coarse": (lambda client: faults(client, emails=7), ["Error.InvalidValue"]),
    "unknown-fields-kept": (lambda client: posting(client, colour="red"), 201),
    "terms-open": (lambda client: posting(client, country={"identifier": "xx"}), 201),
    "collections-open": (lambda client: client.drafts(collection="yours").status_code, 200),
    "realm-any-case": (lambda client: client.submit("POST", new_uid(), realm="ABS-Dev").status_code, 201),
    "realm-query-first": (between_realms, 201),
    "draft-any-schema": (lambda client: saving_text(client, b"{}", schema="unheard"), 201),
    "draft-any-json": (lambda client: saving_text(client, b"[1]"), 201),
    "json-lenient": (lambda client: saving_text(client, b'\xef\xbb\xbf{"a": 1, "a": 2}'), 201),
    "errors-always": (lambda client: client.save(new_uid()).json().get("errors"), []),
    "errors-only": (lambda client: list(client.post_contact({}).json()), ["errors"]),
}


def json_values(value: Any) -> Iterator[Any]:
    """Return every value inside a JSON value, itself first."""
    yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for member in inner:
        yield from json_values(member)


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_variant_differs_as_it_says(
    client_of: Callable[..., Any], faithful: SandboxClient, name: str
) -> None:
    """That it obeys the document all the same is shown by `prove`, which runs the gate over it."""
    probe, result = DIFFERENCES[name]
    assert probe(client_of(name)) == result
    assert probe(faithful) != result


def test_a_contact_is_not_updated_by_the_post_of_another(client_of: Callable[..., Any]) -> None:
    assert posted_twice(client_of("contact-post-updates"), role="other") == 409


def test_a_contact_is_not_created_by_the_update_of_an_account_without_rights(
    client_of: Callable[..., Any],
) -> None:
    client = client_of("contact-put-creates")
    uid = new_uid()
    assert client.put_contact(uid, contact(), role="restricted").status_code == 403
    assert client.request("HEAD", draft_path(uid)).status_code == 404


def test_a_late_list_shows_what_was_made_and_drops_what_was_deleted(client_of: Callable[..., Any]) -> None:
    client = client_of("lists-late")
    uid = client.saved()
    assert eventually(lambda: uid in client.drafts().text)
    client.request("DELETE", draft_path(uid))
    assert uid in client.drafts().text
    assert eventually(lambda: uid not in client.drafts().text)


@pytest.mark.parametrize(
    "other", ["list-with-documents", "draft-wrapped", "extra-members", "draft-nulls-dropped"]
)
def test_what_holds_half_a_pair_is_json_in_utf_8_whatever_else_is_different(
    client_of: Callable[..., Any], other: str
) -> None:
    client = client_of("half-pairs-kept", other)
    uid = new_uid()
    saved = client.request("PUT", draft_path(uid), params=CONTACT_SCHEMA, data=HALF, headers=JSON)
    read = [client.get(draft_path(uid)), client.get(draft_path(uid, "/info")), client.drafts()]
    for answer in (saved, *read):
        assert answer.status_code < 300
        assert "a\ud800b" in json_values(json.loads(answer.content.decode("utf-8", "strict")))
    contact = client.request("POST", "/api/v2013/documents", params=CONTACT_SCHEMA, data=HALF, headers=JSON)
    assert contact.status_code == 400


def test_the_nau_role_may_add_information(client_of: Callable[..., Any]) -> None:
    assert informed(client_of("info-for-nau-only"), role="nau") == 201


def test_a_submitted_record_exists_although_its_lock_is_still_to_come(client_of: Callable[..., Any]) -> None:
    client = client_of("lock-late", "drafts-not-existing")
    uid = new_uid()
    assert client.submit("POST", uid).ok
    assert client.submit("POST", uid).status_code == 400


def test_a_file_is_not_furnished_with_members(client_of: Callable[..., Any]) -> None:
    client = client_of("extra-members")
    uid = client.saved()
    number = client.attach(uid, "data.json", b'{"a":1}').json()["id"]
    path = f"/api/v2013/documents/{uid}/attachments/{number}/data.json"
    assert client.get(path, realm=None).content == b'{"a":1}'


def test_wire_variants_stand_in_the_order_of_their_layers(client_of: Callable[..., Any]) -> None:
    answer = info(client_of("header-capitals", "chunked", "gzip", "extra-members", "charset"))
    assert answer.headers["Transfer-Encoding"] == "chunked"
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.json()["apiVersion"] == "2.14"


def test_contacts_still_need_a_schema_where_drafts_need_none(client_of: Callable[..., Any]) -> None:
    client = client_of("draft-any-schema")
    path = "/api/v2013/documents"
    assert client.request("POST", path, params={"schema": "unheard"}, json=contact()).status_code == 400


def test_what_is_no_json_is_refused_all_the_same(client_of: Callable[..., Any]) -> None:
    client = client_of("json-lenient")
    assert [saving_text(client, body) for body in (b"{'a': 1}", b'{"a": 1,}', b'{"a": 1} more')] == [400] * 3


@pytest.mark.parametrize("name", COMBINATIONS)
def test_a_combination_names_variants_and_each_once(name: str) -> None:
    members = COMBINATIONS[name]
    assert set(members) <= ALL.keys()
    assert len(set(members)) == len(members) > 1


@pytest.mark.parametrize("name", ALL)
def test_a_variant_can_be_laid_over_the_service(name: str) -> None:
    service = altered(Settings(variants=(name,))).state.service
    assert service.habits == Habits(**ALL[name].habits)
    service.close()


def test_each_sentence_is_one_sentence_of_its_own() -> None:
    sentences = [variant.sentence for variant in ALL.values()]
    assert len(set(sentences)) == len(sentences)
    assert all(sentence.endswith(".") for sentence in sentences)


def test_the_list_shows_every_variant_and_combination(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--variant", "list"]) == 0
    shown = capsys.readouterr().out
    assert shown == help_text()
    assert all(f"  {name}\n" in shown for name in [*ALL, *COMBINATIONS])


@pytest.mark.parametrize(
    ("name", "hint"), [("list-doc", "did you mean 'list-docs'?"), ("xyzzy", "--variant list shows them all")]
)
def test_an_unknown_name_is_one_line_with_a_suggestion(
    capsys: pytest.CaptureFixture[str], name: str, hint: str
) -> None:
    assert main(["--port", "0", "--variant", name]) == USAGE_ERROR
    assert capsys.readouterr().err == f"sandbox: unknown variant '{name}'; {hint}\n"


def test_the_later_variant_counts_where_two_change_one_habit() -> None:
    assert chosen(["faults-422", "faults-409"]).habits().validation_status == 409


def test_variants_share_a_part_without_pushing_each_other_out(client_of: Callable[..., Any]) -> None:
    client = client_of("list-docs", "id-in-location", "message-in-array")
    saved = client.save(new_uid())
    assert (saved.content, "Location" in saved.headers) == (b"", True)
    assert "response" in client.drafts().json()
    assert "messages" in client.request("GET", draft_path(new_uid())).json()


def test_data_on_disk_can_be_served_by_a_variant_twice(
    tmp_path: Any, start_sandbox: Callable[..., Any], caller: Any
) -> None:
    options = ("--data", str(tmp_path), "--variant", "lists-late", "--variant", "attachment-id-large")
    first = start_sandbox(*options)
    assert caller(url=first.url).save("variant-on-disk").status_code == 201
    assert first.stop() == 0
    assert caller(url=start_sandbox(*options).url).get(draft_path("variant-on-disk")).status_code == 200
