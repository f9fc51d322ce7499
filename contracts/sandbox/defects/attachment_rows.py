"""How defects find attachments that were not asked for."""

from collections.abc import Callable

from contracts.sandbox.attachment_records import Attachment
from contracts.sandbox.service import Service
from contracts.sandbox.tables import ATTACHMENTS


def latest(service: Service, test: Callable[[Attachment], bool]) -> Attachment | None:
    """Return the latest attachment of any document that passes a test, or ``None``."""
    with service.storage.transaction() as records:
        rows = records.connection.execute(ATTACHMENTS.select().order_by(ATTACHMENTS.c.id.desc())).all()
    every = (Attachment(**row._mapping) for row in rows)
    return next((each for each in every if test(each)), None)
