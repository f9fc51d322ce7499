"""The names that `contracts.cases` hands on, loaded when the first of them is asked for."""

# mypy: implicit-reexport
# ruff: noqa: F401

from contracts.cases.attachment_ids import Attachment, attach, upload
from contracts.cases.comparison import shape, status
from contracts.cases.contact_requests import ContactRequests
from contracts.cases.contents import Limit
from contracts.cases.drafts import claim_each_refused
from contracts.cases.fault_probe import Probe
from contracts.cases.generated_cases import Case, for_each_case
from contracts.cases.hostile_input import Deal
from contracts.cases.known_lists import KnownList, drafts_searched, known_drafts, known_files
from contracts.cases.list_pages import Lister, attachments_of, drafts_of, equals, quoted
from contracts.cases.marks import contract, smoke
from contracts.cases.properties import Properties
from contracts.cases.requests import OrdinaryRequests, Request
from contracts.cases.sample_records import CONTACT_FIELDS, MANDATORY_FIELDS, Samples
from contracts.cases.shared_documents import document_for_uploads, second_document, shared_document
from contracts.cases.sign_in import Credentials
from contracts.cases.submissions import CREATE, CREATE_NAMED, UPDATE
from contracts.cases.workflow_records import WorkflowRecords
from contracts.cases.world import Draft, World
from contracts.checks import errors_array
from contracts.checks.claims import Claim, Expect, Observer, claim_answered_in_time, claim_refusals_in_json
from contracts.checks.documents import image_kind, is_image
from contracts.checks.outcomes import Attempt, done, require, usable
from contracts.checks.sign_in import is_utc_with_fraction, moment_of, seconds_ahead
from contracts.checks.workflow import Row, ended_in, row_or_outcome
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange
from contracts.interface.operations import UID_LONGEST, UID_SHORTEST
from contracts.interface.profiles import Profile
from contracts.session.actor import Actor
from contracts.session.namespace import Namespace
from contracts.settings.target import DOCUMENT_REALMS, RealmSettings
