"""One sandbox: its operations, put together over what they share."""

from contracts.sandbox.attachments import AttachmentOperations, TemporaryOperations
from contracts.sandbox.authentication import AuthenticationOperations
from contracts.sandbox.contacts import ContactOperations
from contracts.sandbox.context import Context
from contracts.sandbox.docs_page import DocsPage
from contracts.sandbox.drafts import DraftOperations
from contracts.sandbox.habits import Habits, Settings
from contracts.sandbox.seeds import Seeds
from contracts.sandbox.workflow import SubmissionCheck, WorkflowOperations


class Service(Context):
    """Everything one sandbox is made of; a sandbox that differs in one point alters one of these objects.

    Args:
        settings: where data is kept, and the limits.
        habits: choices where the document is silent.

    Raises:
        UsageError: the data folder cannot be used.

    """

    def __init__(self, settings: Settings, habits: Habits) -> None:
        super().__init__(settings, habits)
        self.submissions = SubmissionCheck(self)
        self.authentication = AuthenticationOperations(self.identity, self.body, self.clock, habits)
        self.contacts = ContactOperations(self)
        self.drafts = DraftOperations(self)
        self.attachments = AttachmentOperations(self)
        self.temporary = TemporaryOperations(self)
        self.workflow = WorkflowOperations(self, self.submissions, self.drafts)
        self.docs = DocsPage()
        self.seeds = Seeds(self)

    def start(self) -> None:
        """Put the published data in place; called before the first request."""
        self.seeds.plant()

    def close(self) -> None:
        """Close the database and remove what was only for this process."""
        self.storage.close()
        self.files.close()
