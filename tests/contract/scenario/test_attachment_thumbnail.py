"""Previews: the thumbnail of a picture is an image, and its own."""

from contracts.cases import (
    Actor,
    Arrangement,
    Claims,
    Observer,
    attachments,
    contract,
    done,
    image_kind,
    is_image,
    require,
    shared_document,
    shared_documents,
    usable,
)


@contract("attachment-thumbnail-image", "attachment-success-status", requests=2)
def test_the_thumbnail_of_a_picture_is_an_image(
    author: Actor, arrange: Arrangement, claim: Claims, observe: Observer
) -> None:
    """The thumbnail of an attached image is an image, known by its bytes and not only by what it is called."""
    picture = shared_document(arrange, author).pictures[0]
    shared_documents.gives_back(arrange, author, picture)
    seen = attachments.preview(arrange, author, picture)
    answer = usable(seen)
    claim("attachment-thumbnail-image").accepted(seen)
    claim("attachment-thumbnail-image").meets("image", seen)
    observe("attachment-success-status", "getAttachmentThumbnail", answer.status)


@contract("attachment-thumbnail-image", requests=2)
def test_the_preview_of_a_text_is_not_the_text(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """Where a file that is no picture has a thumbnail, it is not the file itself."""
    text = shared_document(arrange, author).texts[0]
    shared_documents.gives_back(arrange, author, text)
    attachments.no_file_for_a_preview(claim("attachment-thumbnail-image"), author, text)


@contract("attachment-thumbnail-own", requests=3)
def test_thumbnails_of_different_pictures_differ(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """A red picture and a blue one have different previews."""
    shared_documents.gives_back(arrange, author, shared_document(arrange, author).pictures[1])
    red, blue = (
        attachments.preview(arrange, author, picture) for picture in shared_document(arrange, author).pictures
    )
    both = all(is_image(done(each)) for each in (red, blue))
    require(both, "getAttachmentThumbnail", "gives no image for a picture")
    different = done(red).content != done(blue).content
    claim("attachment-thumbnail-own").holds(
        different, red, blue, expected="two different previews", seen="the same bytes twice"
    )


@contract("attachment-thumbnail-form", requests=2)
def test_the_form_of_a_thumbnail_is_observed(author: Actor, arrange: Arrangement, observe: Observer) -> None:
    """Format and size of a thumbnail, and what a file that is no image gives, are not shown."""
    shared = shared_document(arrange, author)
    picture = attachments.preview(arrange, author, shared.pictures[0]).answer
    text = author.send("getAttachmentThumbnail", path=shared.texts[0].path).answer
    seen = {
        "picture": image_kind(picture.content),
        "type": picture.media_type,
        "of a text": text.status,
    }
    observe("attachment-thumbnail-form", "getAttachmentThumbnail", seen)
