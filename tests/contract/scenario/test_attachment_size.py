"""The size limit of created attachments: a file up to the limit is accepted, a larger one refused."""

from functools import partial

from registry_contracts.cases import (
    Deal,
    Expect,
    Limit,
    Observer,
    World,
    attachments,
    comparison,
    contents,
    contract,
    document_for_uploads,
    smoke,
    upload,
)

#: With Content-Length, and in chunks without it.
SENDINGS = {"announced": contents.Announced, "chunked": contents.Chunks}


@smoke()
@contract("attachment-size-within", "attachment-exists-present", requests=3)
@contract(relies_on=["attachment-download-same"])
def test_a_file_within_the_limit_is_taken(world: World, limit: Limit, expect: Expect) -> None:
    """A file slightly below the limit is accepted and can be downloaded whole."""
    taken, same = (expect("attachment-size-within", each) for each in ("createAttachment", "getAttachment"))
    claims = taken, expect("attachment-exists-present"), same
    attachments.claim_large(claims, world, f"{world.uid()}.bin", limit.within)


@contract("attachment-size-at-limit", requests=1)
def test_a_file_of_exactly_the_limit_is_taken(world: World, limit: Limit, expect: Expect) -> None:
    """A file of exactly the limit is accepted."""
    path = {"uid": document_for_uploads(world), "filename": f"{world.uid()}.bin"}
    body = contents.Announced(contents.exactly(limit))
    created = world.author.send("createAttachment", path=path, body=body)
    small = partial(upload, world.author, path["uid"], f"{world.uid()}.bin", b"small\n")
    comparison.claim_accepted_for_each(created, (expect("attachment-size-at-limit"), small))


@contract("attachment-size-above", "attachment-size-answer", requests=4)
def test_a_file_above_the_limit_is_refused(
    world: World, limit: Limit, deal: Deal, expect: Expect, observe: Observer
) -> None:
    """A file above every reading of the limit gets an error, or the connection ends; no attachment appears."""
    uid = world.document()
    path = {"uid": uid, "filename": "above.bin"}
    for send in deal(SENDINGS).values():
        refused = world.author.send("createAttachment", path=path, body=send(limit.above))
        away, seen = attachments.turned_away(refused), f"accepted: {attachments.manner(refused)}"
        expect("attachment-size-above").holds(away, refused, expected="an error", seen=seen)
        attachments.claim_nothing_attached(expect("attachment-size-above"), world, uid, refused)
    observe("attachment-size-answer", "createAttachment", attachments.manner(refused))
