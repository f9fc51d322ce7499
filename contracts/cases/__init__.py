"""What a contract test uses, from one place: `from contracts.cases import Expect, World, contract, drafts`.

Values send nothing (`sample_records`, `contents`, `identifiers`, `generated_cases`, `hostile_input`);
arrangements and requests send (`World`, `requests`, `WorkflowRecords`, …). What is called `claim_…` asserts, and raises
`Contradiction` where a must does not hold; what is called `need_…` raises `Blocked` where something does not hold that
has a finding of its own. Either raises `Blocked` for a server error, and `EnvironmentFault` without an answer.

A name is imported when it is first asked for: the commands use a few light modules of this package, and the claims
and generators behind the others take most of a second to import.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contracts.cases.attachment_ids import Attachment as Attachment
    from contracts.cases.attachment_ids import attach as attach
    from contracts.cases.attachment_ids import upload as upload
    from contracts.cases.comparison import shape as shape
    from contracts.cases.comparison import status as status
    from contracts.cases.contact_requests import ContactRequests as ContactRequests
    from contracts.cases.contents import Limit as Limit
    from contracts.cases.drafts import claim_each_refused as claim_each_refused
    from contracts.cases.fault_probe import Probe as Probe
    from contracts.cases.generated_cases import Case as Case
    from contracts.cases.generated_cases import for_each_case as for_each_case
    from contracts.cases.hostile_input import Deal as Deal
    from contracts.cases.known_lists import drafts_searched as drafts_searched
    from contracts.cases.known_lists import known_drafts as known_drafts
    from contracts.cases.known_lists import known_files as known_files
    from contracts.cases.list_pages import Lister as Lister
    from contracts.cases.list_pages import attachments_of as attachments_of
    from contracts.cases.list_pages import drafts_of as drafts_of
    from contracts.cases.list_pages import equals as equals
    from contracts.cases.list_pages import quoted as quoted
    from contracts.cases.marks import contract as contract
    from contracts.cases.marks import smoke as smoke
    from contracts.cases.properties import Properties as Properties
    from contracts.cases.requests import OrdinaryRequests as OrdinaryRequests
    from contracts.cases.requests import Request as Request
    from contracts.cases.sample_records import CONTACT_FIELDS as CONTACT_FIELDS
    from contracts.cases.sample_records import MANDATORY_FIELDS as MANDATORY_FIELDS
    from contracts.cases.sample_records import Samples as Samples
    from contracts.cases.shared_documents import document_for_uploads as document_for_uploads
    from contracts.cases.shared_documents import second_document as second_document
    from contracts.cases.shared_documents import shared_document as shared_document
    from contracts.cases.sign_in import Credentials as Credentials
    from contracts.cases.sign_in import unregistered_email as unregistered_email
    from contracts.cases.submissions import CREATE as CREATE
    from contracts.cases.submissions import CREATE_NAMED as CREATE_NAMED
    from contracts.cases.submissions import UPDATE as UPDATE
    from contracts.cases.workflow_records import WorkflowRecords as WorkflowRecords
    from contracts.cases.world import Draft as Draft
    from contracts.cases.world import World as World
    from contracts.checks import errors_array as errors_array
    from contracts.checks.claims import Claim as Claim
    from contracts.checks.claims import Expect as Expect
    from contracts.checks.claims import Observer as Observer
    from contracts.checks.claims import claim_answered_in_time as claim_answered_in_time
    from contracts.checks.claims import claim_refusals_in_json as claim_refusals_in_json
    from contracts.checks.documents import image_kind as image_kind
    from contracts.checks.documents import is_image as is_image
    from contracts.checks.outcomes import Attempt as Attempt
    from contracts.checks.outcomes import done as done
    from contracts.checks.outcomes import require as require
    from contracts.checks.outcomes import usable as usable
    from contracts.checks.sign_in import is_utc_with_fraction as is_utc_with_fraction
    from contracts.checks.sign_in import moment_of as moment_of
    from contracts.checks.sign_in import seconds_ahead as seconds_ahead
    from contracts.checks.workflow import Row as Row
    from contracts.checks.workflow import ended_in as ended_in
    from contracts.checks.workflow import row_or_outcome as row_or_outcome
    from contracts.exchanges import readers as readers
    from contracts.exchanges.exchange import Exchange as Exchange
    from contracts.interface.operations import UID_LONGEST as UID_LONGEST
    from contracts.interface.operations import UID_SHORTEST as UID_SHORTEST
    from contracts.interface.profiles import Profile as Profile
    from contracts.session.actor import Actor as Actor
    from contracts.session.namespace import Namespace as Namespace
    from contracts.settings.target import DOCUMENT_REALMS as DOCUMENT_REALMS
    from contracts.settings.target import RealmSettings as RealmSettings

#: Where each name stands, by the module that defines it.
_NAMES = {
    "contracts.cases.attachment_ids": "Attachment attach upload",
    "contracts.cases.world": "Draft World",
    "contracts.cases.shared_documents": "document_for_uploads second_document shared_document",
    "contracts.cases.comparison": "shape status",
    "contracts.cases.contact_requests": "ContactRequests",
    "contracts.cases.contents": "Limit",
    "contracts.cases.drafts": "claim_each_refused",
    "contracts.cases.fault_probe": "Probe",
    "contracts.cases.generated_cases": "Case for_each_case",
    "contracts.cases.hostile_input": "Deal",
    "contracts.cases.known_lists": "drafts_searched known_drafts known_files",
    "contracts.cases.list_pages": "Lister attachments_of drafts_of equals quoted",
    "contracts.cases.marks": "Profile contract smoke",
    "contracts.cases.properties": "Properties",
    "contracts.cases.requests": "OrdinaryRequests Request",
    "contracts.cases.sample_records": "CONTACT_FIELDS MANDATORY_FIELDS Samples",
    "contracts.cases.sign_in": "Credentials unregistered_email",
    "contracts.cases.submissions": "CREATE CREATE_NAMED UPDATE",
    "contracts.cases.workflow_records": "WorkflowRecords",
    "contracts.checks": "errors_array",
    "contracts.checks.claims": "Claim Expect Observer claim_answered_in_time claim_refusals_in_json",
    "contracts.checks.documents": "image_kind is_image",
    "contracts.checks.outcomes": "Attempt done require usable",
    "contracts.checks.sign_in": "is_utc_with_fraction moment_of seconds_ahead",
    "contracts.checks.workflow": "Row ended_in row_or_outcome",
    "contracts.exchanges": "readers",
    "contracts.exchanges.exchange": "Exchange",
    "contracts.interface.operations": "UID_LONGEST UID_SHORTEST",
    "contracts.session.actor": "Actor",
    "contracts.session.namespace": "Namespace",
    "contracts.settings.target": "DOCUMENT_REALMS RealmSettings",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """The value of a name that this package hands on."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _MODULE_OF[name]
    loaded = import_module(module)
    value = getattr(loaded, name, None) or import_module(f"{module}.{name}")
    globals()[name] = value
    return value
