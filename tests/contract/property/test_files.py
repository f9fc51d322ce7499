"""Attached files of generated kinds and bytes: an accepted file comes back byte for byte."""

from registry_contracts.cases import Deal, Expect, Properties, World, contract, drawn_contents, smoke


@smoke(requests=3)
@contract("attachment-download-same", "attachment-name-kept", requests=6, dealt=33, nightly=32)
@contract(operations=["createAttachment", "getAttachment", "attachmentExists"])
def test_any_bytes_of_any_kind_come_back(
    world: World, expect: Expect, properties: Properties, deal: Deal
) -> None:
    """A file comes back as sent: byte order marks, line ends, nulls, invalid text, and sizes around whole blocks."""
    files = drawn_contents.DrawnFiles(world, expect)
    first = list(deal(drawn_contents.FIRST).values())
    # Attachments are permanent: a run makes no more of them than it needs, and only a night draws others.
    properties.hold(
        drawn_contents.files(),
        files.claim_comes_back,
        requests=3 * len(first) // properties.share + 3 * (properties.share > 1),
        each=3,
        first=first,
    )
