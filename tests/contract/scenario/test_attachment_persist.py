"""Temporary files become attachments; files that were never uploaded do not."""

from functools import partial

from registry_contracts.cases import (
    Actor,
    Expect,
    Observer,
    World,
    attachments,
    claim_each_refused,
    contract,
    requests,
    shape,
    sign_in,
    smoke,
    status,
    usable,
)


@smoke(requests=15)
@contract("attachment-persist-listed", "attachment-persist-downloads", "attachment-exists-present")
@contract("attachment-persist-answer", "attachment-persist-name", "attachment-persist-twice")
@contract("attachment-temporary-characters", "attachment-persist-needs-token")
@contract("realm-attachments-without", "content-type-not-needed", "attachment-persist-no-limit")
@contract(relies_on=["attachment-create-listed", "attachment-download-same"])
@contract(files=1, needs=(), requests=14)
def test_a_temporary_file_becomes_an_attachment(
    world: World, anonymous: Actor, expect: Expect, observe: Observer, realm: str
) -> None:
    """A temporary file that is persisted, without Realm and Content-Type, is listed and can be downloaded.

    Before that, it is refused without a token, and with URL-unsafe characters around its identifier.
    """
    uid = world.document()
    refusals = partial(attachments.claim_not_persisted, expect, world, anonymous)
    path, kept = attachments.persist(expect, world, uid, refusals)
    attachments.claim_persisted_without_headers(expect, world, kept, realm)
    attachment = attachments.claim_persisted_listed(expect, world, uid, kept)
    expect("attachment-exists-present").accepted(world.author.attachment_exists(attachment.path))
    got = world.author.get_attachment(attachment.path)
    given, seen = usable(got).success and bool(got.answer.content), got.answer.quote()
    claim = expect("attachment-persist-downloads", "getAttachment")
    claim.holds(given, kept, got, expected="the bytes of the file", seen=seen)
    observe("attachment-persist-answer", "persistTemporaryFile", shape(kept))
    observe("attachment-persist-name", "persistTemporaryFile", attachment.filename.rpartition(".")[2])
    again = world.author.send("persistTemporaryFile", path=path)
    observe("attachment-persist-twice", "persistTemporaryFile", status(again))


@contract("attachment-persist-unknown", "attachment-failure-status", requests=5)
def test_an_unknown_temporary_file_is_refused(world: World, expect: Expect, observe: Observer) -> None:
    """Persisting a temporary file that was never uploaded is refused each time, and no attachment appears."""
    uid = world.document()
    for number in range(2):
        path = {"uid": uid, "tempFileId": f"never-uploaded-{number}-{world.fresh.prefix}"}
        refused = world.author.send("persistTemporaryFile", path=path)
        expect("attachment-persist-unknown").refused(refused)
    attachments.claim_nothing_attached(expect("attachment-persist-unknown"), world, uid, refused)
    observe("attachment-failure-status", "persistTemporaryFile", shape(refused))


@contract("token-invalid-refused", "token-missing-answer", "attachment-persist-own-bytes")
@contract("attachment-persist-listed", "attachment-persist-no-limit")
@contract(operations=["persistTemporaryFile", "listAttachments", "getAttachment"])
@contract(relies_on=["attachment-create-listed", "attachment-download-same"])
@contract(files=2, needs=(), requests=22, turns=True)
def test_persisting_needs_a_valid_token(world: World, expect: Expect, observe: Observer) -> None:
    """A temporary file is refused with tokens never issued, then persisted with a valid one, and so is a second."""
    uid = world.document()

    def without_token(path: dict[str, str]) -> None:
        request = requests.Request("persistTemporaryFile", path)
        invalid = sign_in.never_issued(world).values()
        asked = [requests.send(request, world.author, {"Authorization": value}) for value in invalid]
        claim_each_refused(expect("token-invalid-refused", "persistTemporaryFile"), asked)
        attachments.claim_nothing_attached(
            expect("token-invalid-refused", "persistTemporaryFile"), world, uid, asked[0]
        )
        observe("token-missing-answer", "persistTemporaryFile", shape(asked[0]))

    _, kept = attachments.persist(expect, world, uid, without_token)
    attachment = attachments.claim_persisted_listed(expect, world, uid, kept)
    attachments.claim_another_persisted(expect, world, attachment)
