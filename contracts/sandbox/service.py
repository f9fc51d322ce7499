"""The parts of one sandbox, put together in one place.

Each rule is a small object and an attribute here; operations reach the others through the service when they
are called. Whoever wants a sandbox that differs in one point replaces that one attribute.
"""

from contracts.sandbox.accounts import Clock, Identity, Rights, TokenBook
from contracts.sandbox.answers import Answers, Metadata
from contracts.sandbox.attachments import AttachmentOperations, TemporaryOperations
from contracts.sandbox.authentication import AuthenticationOperations
from contracts.sandbox.contacts import ContactOperations
from contracts.sandbox.database import Storage
from contracts.sandbox.docs_page import DocsPage
from contracts.sandbox.drafts import DraftOperations
from contracts.sandbox.files import FileStore, Thumbnails
from contracts.sandbox.habits import Habits, Settings
from contracts.sandbox.http_requests import BodyReader
from contracts.sandbox.identifiers import IdentifierRule
from contracts.sandbox.listing import Listing
from contracts.sandbox.record_types import RealmBook
from contracts.sandbox.seeds import Seeds
from contracts.sandbox.validation import Validator
from contracts.sandbox.workflow import SubmissionCheck, WorkflowOperations


class Service:
    """Everything one sandbox is made of.

    Args:
        settings: where data is kept, and the limits.
        habits: choices where the document is silent.

    Raises:
        UsageError: the data folder cannot be used.

    """

    def __init__(self, settings: Settings, habits: Habits) -> None:
        self.settings = settings
        self.habits = habits
        self._rules(settings, habits)
        self._operations()
        self.files = FileStore(settings.data)
        self.storage = Storage(settings.data)
        self.seeds = Seeds(self)

    def _rules(self, settings: Settings, habits: Habits) -> None:
        self.clock = Clock(habits.timestamp_digits)
        self.answers = Answers(habits)
        self.metadata = Metadata(habits, self.clock)
        self.identifiers = IdentifierRule()
        self.identity = Identity(TokenBook(self.clock, settings.token_lifetime))
        self.rights = Rights()
        self.realms = RealmBook(required=habits.realm_required, default=habits.default_realm)
        self.body = BodyReader(settings.json_limit)
        self.validator = Validator(self)
        self.submissions = SubmissionCheck(self)
        self.listing = Listing(default_top=habits.list_default_top, newest_first=habits.newest_first)
        self.thumbnails = Thumbnails(habits.thumbnail_pixels)

    def _operations(self) -> None:
        self.authentication = AuthenticationOperations(self)
        self.contacts = ContactOperations(self)
        self.drafts = DraftOperations(self)
        self.attachments = AttachmentOperations(self)
        self.temporary = TemporaryOperations(self)
        self.workflow = WorkflowOperations(self)
        self.docs = DocsPage(self)

    def start(self) -> None:
        """Put the published data in place; called before the first request."""
        self.seeds.plant()

    def close(self) -> None:
        """Close the database and remove what was only for this process."""
        self.storage.close()
        self.files.close()
