"""Attached files of drawn kinds and bytes: what is taken comes back byte for byte."""

from contracts.cases import Actor, Arrangement, Claims, Namespace, Properties, contract, drawn_files

#: Nothing removes an attachment: a run makes no more of them than it needs.
_KINDS, _DRAWN = 3 * len(drawn_files.KINDS), 3


@contract(
    "attachment-download-same",
    "attachment-name-kept",
    operations=["createAttachment", "getAttachment", "attachmentExists"],
    requests=27,
)
def test_any_bytes_of_any_kind_come_back(
    author: Actor, arrange: Arrangement, fresh: Namespace, claim: Claims, properties: Properties
) -> None:
    """A file comes back as it was sent: marks, line ends, nulls, invalid text, at the edges of blocks."""
    files = drawn_files.DrawnFiles(author, arrange, fresh, claim)
    properties.hold(
        drawn_files.files(),
        files.comes_back,
        requests=_KINDS // properties.share + _DRAWN,
        each=3,
        first=drawn_files.FIRST,
    )
