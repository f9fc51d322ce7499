"""Operations of the description as methods of who sends them: `author.get_draft(uid)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from contracts.exchanges.exchange import Exchange


class OperationCalls:
    """The operations that a case names most often; what else a request can have is given as to `Actor.send`."""

    send: Callable[..., Exchange]

    def create_token(self, **parts: Any) -> Exchange:
        """Sign in."""
        return self.send("createToken", **parts)

    def get_draft(self, uid: str, **parts: Any) -> Exchange:
        """Read the content of a draft."""
        return self.send("getDraft", path={"uid": uid}, **parts)

    def get_draft_info(self, uid: str, **parts: Any) -> Exchange:
        """Read the metadata of a draft."""
        return self.send("getDraftInfo", path={"uid": uid}, **parts)

    def draft_exists(self, uid: str, **parts: Any) -> Exchange:
        """Ask whether a draft is there."""
        return self.send("draftExists", path={"uid": uid}, **parts)

    def delete_draft(self, uid: str, **parts: Any) -> Exchange:
        """Delete a draft."""
        return self.send("deleteDraft", path={"uid": uid}, **parts)

    def list_drafts(self, **parts: Any) -> Exchange:
        """List drafts."""
        return self.send("listDrafts", **parts)

    def list_attachments(self, uid: str, **parts: Any) -> Exchange:
        """List the attachments of a document."""
        return self.send("listAttachments", path={"uid": uid}, **parts)

    def attachment_exists(self, path: Mapping[str, str], **parts: Any) -> Exchange:
        """Ask whether an attachment is there, by its path parameters."""
        return self.send("attachmentExists", path=path, **parts)

    def get_attachment(self, path: Mapping[str, str], **parts: Any) -> Exchange:
        """Download an attachment, by its path parameters."""
        return self.send("getAttachment", path=path, **parts)

    def get_attachment_thumbnail(self, path: Mapping[str, str], **parts: Any) -> Exchange:
        """Download the thumbnail of an attachment, by its path parameters."""
        return self.send("getAttachmentThumbnail", path=path, **parts)
