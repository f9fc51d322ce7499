"""Temporary files: their creation is "not shown", so the sandbox has its own way, outside the interface."""

import secrets
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.attachment_records import TemporaryFile
from contracts.sandbox.attachments import filename_in_path
from contracts.sandbox.json_answer import JsonAnswer

if TYPE_CHECKING:
    from contracts.sandbox.service import Service


class TemporaryOperations:
    """Answers ``POST /sandbox/temporary-files/{filename}``.

    Args:
        service: the parts of the sandbox.

    """

    def __init__(self, service: "Service") -> None:
        self.service = service

    async def create(self, request: Request) -> Response:
        """Keep the body as a temporary file, without a size limit, and answer its ``tempFileId``."""
        service = self.service
        filename = filename_in_path(request)
        stored = await service.files.receive(request.stream(), limit=None)
        file_id = secrets.token_urlsafe(12)
        with service.storage.transaction() as records:
            kept = TemporaryFile(file_id, filename, stored.size, stored.key)
            records.attachments.add_temporary_files([kept])
        return JsonAnswer({"tempFileId": file_id}, status_code=201)
