"""The published data of the sandbox: records and temporary files that its users may rely on.

Each realm has ``sandbox-existing-<realm>`` and five more with ``-2`` to ``-6`` behind it (the author's, published),
``sandbox-foreign-<realm>`` (a draft of the other author), ``sandbox-locked-<realm>`` (the author's, submitted and so
locked), ``sandbox-published-<realm>`` (the author's, a published version beside a draft), the organization
``organization-<realm>`` and the unused temporary files ``sandbox-temporary-<realm>-01`` to ``-20``.
"""

import struct
import zlib
from datetime import datetime

from contracts.sandbox.answers import json_text
from contracts.sandbox.context import Context
from contracts.sandbox.database import DRAFT, PUBLISHED, Records, TemporaryFile, Version, new_version
from contracts.sandbox.record_types import CONTACT, Realm

TEMPORARY_FILES = 20
#: An accepted workflow update locks its record for good, so tests of updates need several.
EXISTING_RECORDS = 6
_MARK = "seeded"
_RECORDS = (
    ("existing", "author", (PUBLISHED,)),
    *((f"existing-{number}", "author", (PUBLISHED,)) for number in range(2, EXISTING_RECORDS + 1)),
    ("foreign", "other", (DRAFT,)),
    ("locked", "author", (DRAFT,)),
    ("published", "author", (PUBLISHED, DRAFT)),
)


class Seeds:
    """Plants the published data, once in the life of a database.

    Args:
        context: what the operations share.

    """

    def __init__(self, context: Context) -> None:
        self.context = context

    def plant(self) -> None:
        """Put the data in place, unless this database already had it (what was deleted stays deleted)."""
        with self.context.storage.transaction() as records:
            if records.marked(_MARK):
                return
            moment = self.context.clock.now()
            for realm in self.context.realms.realms.values():
                self.plant_records(records, realm, moment)
                self.plant_temporary_files(records, realm)
            records.mark(_MARK)

    def plant_records(self, records: Records, realm: Realm, moment: datetime) -> None:
        """Store the records of one realm."""
        schema = next(iter(realm.types))
        for name, owner, states in _RECORDS:
            for state in states:
                kind, _, number = name.partition("-")
                identifier = "-".join(filter(None, ("sandbox", kind, realm.name, number)))
                records.store(_version(realm, identifier, schema, state, owner=owner, moment=moment))
        records.lock(realm.name, f"sandbox-locked-{realm.name}", "author", moment)
        if CONTACT.name in realm.types:
            identifier = f"organization-{realm.name}"
            records.store(_version(realm, identifier, CONTACT.name, PUBLISHED, owner="other", moment=moment))

    def plant_temporary_files(self, records: Records, realm: Realm) -> None:
        """Store the temporary files of one realm, each a small picture of its own shade."""
        files = []
        for number in range(1, TEMPORARY_FILES + 1):
            stored = self.context.files.keep(small_png(number * 12))
            file_id = f"sandbox-temporary-{realm.name}-{number:02d}"
            files.append(TemporaryFile(file_id, f"temporary-{number:02d}.png", stored.size, stored.key))
        records.attachments.add_temporary_files(files)


def _version(
    realm: Realm, identifier: str, schema: str, state: str, *, owner: str, moment: datetime
) -> Version:
    header = {"identifier": identifier, "schema": schema, "languages": ["en"]}
    document = {"header": header, "title": {"en": f"The {state} version of {identifier}"}}
    return new_version(
        realm=realm.name,
        identifier=identifier,
        state=state,
        schema=schema,
        owner=owner,
        content=json_text(document),
        moment=moment,
    )


def small_png(shade: int, side: int = 16) -> bytes:
    """Return a valid PNG picture of one grey shade.

    Args:
        shade: 0 (black) to 255 (white).
        side: width and height in pixels.

    """
    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    rows = (b"\0" + bytes([shade]) * side) * side
    pieces = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_piece(name, data) for name, data in pieces)


def _piece(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
