"""What the operations of one sandbox share: its storage, its clock, its accounts and its rules."""

from contracts.sandbox.answers import Answers, Clock, Metadata
from contracts.sandbox.authentication import Identity, Rights, TokenBook
from contracts.sandbox.habits import Habits, Settings
from contracts.sandbox.http_requests import BodyReader, IdentifierRule
from contracts.sandbox.listing import Listing
from contracts.sandbox.record_types import RealmBook, Validator
from contracts.sandbox.storage import FileStore, Storage, Thumbnails


class Context:
    """What the operations of one sandbox share; each rule is a small object and an attribute here.

    Args:
        settings: where data is kept, and the limits.
        habits: choices where the document is silent.

    Raises:
        UsageError: the data folder cannot be used.

    """

    def __init__(self, settings: Settings, habits: Habits) -> None:
        self.settings = settings
        self.habits = habits
        self.clock = Clock(habits.timestamp_digits)
        self.answers = Answers(habits)
        self.metadata = Metadata(habits, self.clock)
        self.identifiers = IdentifierRule()
        self.identity = Identity(TokenBook(self.clock, settings.token_lifetime))
        self.rights = Rights()
        self.realms = RealmBook(required=habits.realm_required, default=habits.default_realm)
        self.body = BodyReader(settings.json_limit)
        self.validator = Validator(self.identifiers, habits)
        self.listing = Listing(default_top=habits.list_default_top, newest_first=habits.newest_first)
        self.thumbnails = Thumbnails(habits.thumbnail_pixels)
        self.files = FileStore(settings.data)
        self.storage = Storage(settings.data)


class Operations:
    """Base of the classes that answer operations.

    Args:
        context: what the operations share.

    """

    def __init__(self, context: Context) -> None:
        self.context = context
