"""Previews: the thumbnail of a picture is an image of that picture."""

from registry_contracts.cases import (
    Expect,
    Observer,
    World,
    attachments,
    contract,
    done,
    image_kind,
    is_image,
    require,
    shared_document,
    usable,
)


@contract("attachment-thumbnail-image", "attachment-thumbnail-form", "attachment-success-status", requests=2)
@contract(relies_on=["attachment-download-same"])
def test_the_thumbnail_of_a_picture_is_an_image(world: World, expect: Expect, observe: Observer) -> None:
    """The thumbnail of a picture is an image; the thumbnail of a text, if there is one, is not the text itself."""
    document = shared_document(world)
    text, seen = document.texts[0], attachments.preview(world, document.pictures[0])
    expect("attachment-thumbnail-image").accepted(seen)
    expect("attachment-thumbnail-image").meets("image", seen)
    observe("attachment-success-status", "getAttachmentThumbnail", seen.answer.status)
    preview = world.author.get_attachment_thumbnail(text.path)
    picture = {"picture": image_kind(seen.answer.content), "type": seen.answer.media_type}
    form = picture | {"of a text": preview.answer.status}
    observe("attachment-thumbnail-form", "getAttachmentThumbnail", form)
    same = usable(preview).success and preview.answer.content == text.content
    claim, itself = expect("attachment-thumbnail-image"), "the bytes of the file itself"
    claim.holds(not same, preview, expected="an image, or a refusal", seen=itself)


@contract("attachment-thumbnail-own", relies_on=["attachment-download-same"], requests=2)
def test_thumbnails_of_different_pictures_differ(world: World, expect: Expect) -> None:
    """A red picture and a blue one have different previews."""
    red, blue = (attachments.preview(world, picture) for picture in shared_document(world).pictures)
    both = all(is_image(done(each)) for each in (red, blue))
    require(both, "getAttachmentThumbnail", "gives no image for a picture")
    claim, different = expect("attachment-thumbnail-own"), done(red).content != done(blue).content
    claim.holds(different, red, blue, expected="two different previews", seen="the same bytes twice")
