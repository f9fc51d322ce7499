"""Requests made up without sending anything: for a rehearsal, and for targets whose settings lack something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from contracts.generation.grafting import Request
from contracts.generation.samples import STAND_IN_SCHEMA, Samples
from contracts.judging.outcomes import Untested
from contracts.session.namespace import Namespace
from contracts.target.model import Account

#: Operations about something that has to be there before.
ON_SOMETHING: Final = frozenset(
    {
        "updateContact",
        "getDraft",
        "getDraftInfo",
        "draftExists",
        "deleteDraft",
        "createAttachment",
        "persistTemporaryFile",
        "listAttachments",
        "attachmentExists",
        "getAttachment",
        "getAttachmentThumbnail",
        "updateWorkflowRecord",
    }
)
_CONTACTS: Final = ("createContact", "updateContact", "saveDraft")


class Inventor:
    """Makes up requests of one realm.

    Attributes:
        lacking: Settings that were missing, in words; what they would have told is made up.
    """

    def __init__(self, samples: Samples, fresh: Namespace, account: Account) -> None:
        self._samples = samples
        self._fresh = fresh
        self._account = account
        self.lacking: list[str] = []

    def request(self, operation: str, names: tuple[str, ...], given: Mapping[str, str]) -> Request:
        """Make up a request.

        Args:
            names: The operation's path parameters.
            given: Path parameters that are settled already; the body names the same record.
        """
        path = {name: str(given.get(name) or self._path(operation, name)) for name in names}
        identifier = path.get("uid") or path.get("identifier") or self._fresh.uid()
        if operation == "createToken":
            email, password = self._account.email, self._account.password.reveal()
            return Request(operation, body={"email": email, "password": password})
        if operation in _CONTACTS:
            query = {"schema": self._tell("contact_schema", STAND_IN_SCHEMA)}
            return Request(operation, path, query, body=self._contact(identifier))
        if "schema" in names:
            return Request(operation, path, body=self._submission(identifier))
        return Request(operation, path)

    def _path(self, operation: str, name: str) -> str:
        if name == "identifier" and operation == "updateWorkflowRecord":
            found = self._tell("existing_identifier", ())
            return str(found[0]) if found else self._fresh.uid()
        if name == "schema":
            return str(self._tell("workflow_schema", STAND_IN_SCHEMA))
        if name == "tempFileId":
            found = self._tell("temporary_files", ())
            return str(found[0]) if found else self._fresh.uid()
        plain = {"attachmentId": "1", "filename": "note.txt"}
        return plain.get(name) or self._fresh.uid()

    def _tell(self, setting: str, otherwise: Any) -> Any:
        try:
            return self._samples.setting(setting)
        except Untested as missing:
            self._note(missing)
            return otherwise

    def _contact(self, identifier: str) -> dict[str, Any]:
        try:
            return self._samples.full_contact(identifier)
        except Untested as missing:
            self._note(missing)
            return self._samples.stand_in(identifier)

    def _submission(self, identifier: str) -> dict[str, Any]:
        try:
            return self._samples.submission(identifier)
        except Untested as missing:
            self._note(missing)
            return {"document": self._samples.stand_in(identifier)}

    def _note(self, missing: Untested) -> None:
        if str(missing) not in self.lacking:
            self.lacking.append(str(missing))
