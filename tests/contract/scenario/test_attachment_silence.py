"""Attachment lists and statuses where the document is silent: observed, never judged."""

from registry_contracts.cases import (
    Lister,
    Observer,
    World,
    attachments_of,
    comparison,
    contract,
    shared_document,
    status,
)

OPTIONS = ("filter", "orderby", "top", "skip")


@contract("attachment-fields", "attachment-list-default", "attachment-success-status", requests=2)
def test_the_plain_list_is_observed(world: World, observe: Observer) -> None:
    """The document does not show the fields, envelope, order and length of a list of attachments."""
    shared = shared_document(world)
    attached = attachments_of(world.author, shared.uid)
    page = attached.page()
    names = [attachment.filename for attachment in shared.attachments]
    orders = {"as created": names, "latest first": names[::-1], "by name": sorted(names)}
    order = comparison.order_name(page.order_of(names), orders)
    observe("attachment-fields", "listAttachments", comparison.shape(page.exchange))
    seen = {"order": order, "items": comparison.page_length(page, len(names))}
    observe("attachment-list-default", "listAttachments", seen)
    observe("attachment-success-status", "listAttachments", status(page.exchange))


@contract("attachment-list-option-empty", "attachment-list-options-with-dollar", requests=6)
def test_odd_options_are_observed(world: World, observe: Observer) -> None:
    """The document does not say what empty options, negative numbers and options with a dollar sign do."""
    uid = shared_document(world).uid
    attached = attachments_of(world.author, uid)
    dollar = Lister(world.author, "listAttachments", "$", {"uid": uid})
    empty = {option: status(attached.page(**{option: ""}).exchange) for option in OPTIONS}
    negative = status(attached.page(skip=-1).exchange)
    page = dollar.page(top=1)
    observe("attachment-list-option-empty", "listAttachments", {"empty": empty, "negative": negative})
    seen = {"status": status(page.exchange), "bounded": page.size == 1}
    observe("attachment-list-options-with-dollar", "listAttachments", seen)
