"""Temporary files become attachments; those that never were uploaded do not."""

from contracts.cases import (
    Actor,
    Arrangement,
    Claims,
    Namespace,
    Observer,
    attachments,
    contract,
    requests,
    shape,
    shared_documents,
    sign_in,
    status,
)


@contract("attachment-persist-listed", "attachment-persist-downloads", "attachment-exists-present")
@contract("attachment-persist-answer", "attachment-persist-name", "attachment-persist-twice")
@contract("realm-attachments-without", "content-type-not-needed", "attachment-persist-no-limit")
@contract(files=1, needs=(), requests=11)
def test_a_temporary_file_becomes_an_attachment(
    author: Actor, arrange: Arrangement, claim: Claims, observe: Observer, realm: str
) -> None:
    """A temporary file that is persisted, without Realm and Content-Type, is listed and can be downloaded."""
    shared_documents.relies_on_listing(arrange, author)
    uid = arrange.document(author)
    path = {"uid": uid, "tempFileId": arrange.temporary_file()}
    kept = author.send("persistTemporaryFile", path=path)
    attachments.persisted_whatever_its_size(claim("attachment-persist-no-limit"), kept)
    arrange.unspent(kept)
    attachments.persisted_without_headers(claim, arrange, author, kept, realm)
    claim("attachment-persist-listed", "persistTemporaryFile").accepted(kept)
    attachments.some_listed(claim("attachment-persist-listed", "listAttachments"), arrange, author, uid, kept)
    attachment = attachments.persisted(arrange, author, uid, kept)
    claim("attachment-exists-present").accepted(author.send("attachmentExists", path=attachment.path))
    got = author.send("getAttachment", path=attachment.path)
    attachments.some_bytes(claim("attachment-persist-downloads", "getAttachment"), kept, got)
    observe("attachment-persist-answer", "persistTemporaryFile", shape(kept))
    observe("attachment-persist-name", "persistTemporaryFile", attachment.filename.rpartition(".")[2])
    again = author.send("persistTemporaryFile", path=path)
    observe("attachment-persist-twice", "persistTemporaryFile", status(again))


@contract("attachment-persist-unknown", "attachment-failure-status", requests=6)
def test_an_unknown_temporary_file_is_refused(
    author: Actor, arrange: Arrangement, fresh: Namespace, claim: Claims, observe: Observer
) -> None:
    """Persisting a temporary file that was never uploaded is refused each time, and no attachment appears."""
    uid = arrange.document(author)
    for number in range(3):
        path = {"uid": uid, "tempFileId": f"never-uploaded-{number}-{fresh.prefix}"}
        refused = author.send("persistTemporaryFile", path=path)
        claim("attachment-persist-unknown").refused(refused)
    attachments.nothing_attached(claim("attachment-persist-unknown"), arrange, author, uid, refused)
    observe("attachment-failure-status", "persistTemporaryFile", shape(refused))


@contract("attachment-temporary-characters", requests=3)
def test_characters_that_are_not_safe_in_an_address_are_refused(
    author: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """A temporary file identifier with characters that are not safe in a URL is refused."""
    uid = arrange.document(author)
    path = {"uid": uid, "tempFileId": "not safe<é>|"}
    claim("attachment-temporary-characters").refused(author.send("persistTemporaryFile", path=path))


@contract(
    "attachment-persist-needs-token",
    "token-invalid-refused",
    "token-missing-answer",
    "attachment-persist-listed",
    "attachment-persist-no-limit",
    "attachment-persist-own-bytes",
    operations=["persistTemporaryFile", "listAttachments", "getAttachment"],
    files=2,
    needs=(),
    requests=24,
)
def test_persisting_needs_a_token(
    author: Actor, anonymous: Actor, arrange: Arrangement, claim: Claims, observe: Observer
) -> None:
    """Without a valid token a temporary file is not persisted and no attachment appears; with one it is."""
    uid = arrange.document(author)
    path = {"uid": uid, "tempFileId": arrange.temporary_file()}
    request = requests.Request("persistTemporaryFile", path)
    invalid = sign_in.never_issued(author).values()
    asked = [requests.send(request, author, {"Authorization": value}) for value in invalid]
    invalid_refused = claim("token-invalid-refused", "persistTemporaryFile")
    sign_in.refused_without_token(invalid_refused, author, arrange, request, asked)
    observe("token-missing-answer", "persistTemporaryFile", shape(asked[0]))
    refused = anonymous.send("persistTemporaryFile", path=path)
    claim("attachment-persist-needs-token").refused(refused)
    attachments.nothing_attached(claim("attachment-persist-needs-token"), arrange, author, uid, refused)
    kept = author.send("persistTemporaryFile", path=path)
    attachments.persisted_whatever_its_size(claim("attachment-persist-no-limit"), kept)
    arrange.unspent(kept)
    claim("attachment-persist-listed", "persistTemporaryFile").accepted(kept)
    attachments.some_listed(claim("attachment-persist-listed", "listAttachments"), arrange, author, uid, kept)
    attachment = attachments.persisted(arrange, author, uid, kept)
    attachments.another_persisted(claim, arrange, author, attachment)
