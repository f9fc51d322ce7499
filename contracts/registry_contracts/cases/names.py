"""The names that `registry_contracts.cases` exports, loaded on first use."""

# mypy: implicit-reexport
# ruff: noqa: F401

from registry_contracts.cases.attachment_ids import Attachment, attach, upload
from registry_contracts.cases.census import Census
from registry_contracts.cases.comparison import shape, status
from registry_contracts.cases.contact_requests import ContactRequests
from registry_contracts.cases.contents import Limit
from registry_contracts.cases.drafts import Elsewhere, claim_each_refused
from registry_contracts.cases.fault_probe import Probe
from registry_contracts.cases.generated_cases import Case, with_generated_cases
from registry_contracts.cases.hostile_input import Deal
from registry_contracts.cases.known_lists import KnownList, drafts_searched, known_drafts, known_files
from registry_contracts.cases.list_pages import Lister, attachments_of, drafts_of, equals, quoted
from registry_contracts.cases.marks import contract, for_each_row, smoke
from registry_contracts.cases.properties import Properties
from registry_contracts.cases.requests import OrdinaryRequests, Request
from registry_contracts.cases.rows import Rows
from registry_contracts.cases.sample_records import CONTACT_FIELDS, MANDATORY_FIELDS, Samples
from registry_contracts.cases.shared_documents import document_for_uploads, second_document, shared_document
from registry_contracts.cases.sign_in import Credentials
from registry_contracts.cases.submissions import CREATE, CREATE_NAMED, UPDATE
from registry_contracts.cases.taken_rows import AcceptedRows, TakenRows
from registry_contracts.cases.workflow_records import WorkflowRecords
from registry_contracts.cases.world import Draft, World
from registry_contracts.checks import errors_array
from registry_contracts.checks.claims import (
    Claim,
    Expect,
    Observer,
    claim_answered_in_time,
    claim_refusals_in_json,
)
from registry_contracts.checks.documents import image_kind, is_image
from registry_contracts.checks.outcomes import Attempt, done, require, usable
from registry_contracts.checks.sign_in import is_utc_with_fraction, moment_of, seconds_ahead, token_in
from registry_contracts.checks.workflow import Row, ended_in, row_or_outcome
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.interface.operations import UID_LONGEST, UID_SHORTEST
from registry_contracts.interface.profiles import Profile
from registry_contracts.model import factors
from registry_contracts.model import rows as table
from registry_contracts.session.actor import Actor
from registry_contracts.session.namespace import Namespace
from registry_contracts.settings.target import DOCUMENT_REALMS, RealmSettings
