"""The first write of an account in a realm: whether it has its role's rights, and the settings name a known schema.

If not, the settings are at fault, not the service.

An account lacks rights in a realm if its first write is refused and either the service says "Insufficient rights to
create a draft record." or another author may write there. If the other author is refused too, and the workflow does
not name rights, the service is at fault, and its cases report it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from registry_contracts.cases.sample_records import STAND_IN_SCHEMA, Samples
from registry_contracts.cases.submissions import UNKNOWN_SCHEMA
from registry_contracts.checks.outcomes import missing, taken
from registry_contracts.checks.workflow import Row, carries_message
from registry_contracts.errors import EnvironmentFault
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.interface.description import operations_with
from registry_contracts.session.actor import Actor
from registry_contracts.session.session import Session
from registry_contracts.settings.target import AUTHOR, DEVELOPMENT_REALMS, DOCUMENT_REALMS

#: Roles that need rights to write: the author, and the accounts that write besides the author.
_SECOND: Final = "other"
_WRITERS: Final = (AUTHOR, _SECOND, "nau")
#: The account may not do this (RFC 9110, 15.5.4).
_FORBIDDEN: Final = 403
_UNAUTHENTICATED: Final = 401
_SAVING: Final = "saveDraft"
_SUBMITTING: Final = "createWorkflowRecord"
_SUBMITTING_NAMED: Final = "createWorkflowRecordWithIdentifier"


@cache
def first_writes() -> tuple[str, ...]:
    """The operations whose refusal may be about an account's rights."""
    return (_SAVING, *operations_with(stores="submission"))


class WithoutRightsError(EnvironmentFault):
    """The author's account lacks the rights of its role, so its refusals prove nothing."""


@dataclass(frozen=True)
class FirstWrite:
    """The result of an account's first write in a realm.

    Attributes:
        lacks_rights: The refusal in words, if the account lacks the rights of its role; else empty.
        unknown_schema: The refusal, if it is about a schema that contacts do not know either; else empty.
    """

    refused: bool = False
    lacks_rights: str = ""
    unknown_schema: str = ""


class Rights:
    """Checks the rights of a session's accounts, and the schemas of the settings."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._writing: set[tuple[str, str]] = set()

    def judge(self, exchange: Exchange) -> None:
        """Check that a refusal is not due to missing rights of the account.

        Args:
            exchange: Sent with the role's own token in the actor's own realm.

        Raises:
            WithoutRightsError: the author lacks rights.
            Untested: another role lacks rights.
        """
        role, realm, answer = exchange.role, exchange.realm, exchange.response
        if answer is None or role not in _WRITERS or realm not in DEVELOPMENT_REALMS:
            return
        # The document does not say with which status a draft is refused.
        of_rights = answer.status == _FORBIDDEN or (exchange.operation == _SAVING and answer.refusal)
        if answer.success and exchange.operation in first_writes():
            self._writing.add((role, realm))
        if not of_rights or (role, realm) in self._writing:
            return
        if refused := self.first_write(role, realm).lacks_rights:
            if role == AUTHOR:
                raise WithoutRightsError(f"the author's account may not write in {realm}: {refused}")
            raise missing(f"accounts.{role}", f" rights in {realm}: {refused}")

    def first_write(self, role: str, realm: str) -> FirstWrite:
        """The result of the first write of a role's account in a realm; sent once, and nothing permanent remains."""
        name = f"first write of {role} in {realm}"
        return self._session.shared.once(name, lambda: self._first_write(role, realm))

    def knows_schema(self, realm: str) -> bool:
        """Whether the service knows the schema of the settings: a draft is not refused for it; sends one."""
        return not _about_a_schema(self._saved(AUTHOR, realm))

    def takes_workflow_draft(self, realm: str) -> bool:
        """Whether a document of the workflow is accepted as a draft, if the settings name no other draft."""
        samples = self._samples(realm)
        if not samples.tells_workflow or samples.tells("draft_document"):
            return False
        uid = self._session.namespace.uid()
        query, document = {"schema": samples.workflow_schema}, samples.document(uid)
        saved = self._actor(AUTHOR, realm).send(_SAVING, path={"uid": uid}, query=query, json=document)
        return not saved.fault and taken(saved)

    def unknown_workflow_schema(self, realm: str) -> str:
        """The workflow's refusal of the schema in the settings; empty if it refuses an empty body for other reasons."""
        path = {"schema": self._samples(realm).workflow_schema}
        sent = self._actor(AUTHOR, realm).send(_SUBMITTING, path=path, json={})
        unknown = not sent.fault and carries_message(sent.answer, Row.SCHEMA_UNKNOWN, realm)
        return sent.answer.quote() if unknown else ""

    def _first_write(self, role: str, realm: str) -> FirstWrite:
        documents = realm in DOCUMENT_REALMS
        first = self._saved(role, realm) if documents else self._submitted(role, realm)
        if not _may_be_about_rights(first):
            return FirstWrite(refused=not first.fault and first.answer.refusal)
        if documents and self._schema_unknown(role, first):
            return FirstWrite(refused=True, unknown_schema=first.answer.quote())
        lacks = self._may_not_save(role, first) if documents else self._may_not_submit(role, first)
        advice = f"the account of {role} must be one that may create and update"
        words = f"{first.operation} was answered {first.answer.quote()}; {advice}"
        return FirstWrite(refused=True, lacks_rights=words if lacks else "")

    def _schema_unknown(self, role: str, refused: Exchange) -> bool:
        """Whether both a draft and an empty contact are refused for the schema of the settings.

        Both get the same words as a schema that no service has.
        """
        realm, samples = refused.realm, self._samples(refused.realm)
        schema = "" if samples.lacking else samples.contact_schema
        if not schema or schema != samples.draft_schema or not _about_a_schema(refused):
            return False
        if not _alike(refused, self._saved(role, realm, UNKNOWN_SCHEMA), schema):
            return False
        of_contact, of_unknown = (
            self._actor(role, realm).send("createContact", query={"schema": name}, json={})
            for name in (schema, UNKNOWN_SCHEMA)
        )
        return _about_a_schema(of_contact) and _alike(of_contact, of_unknown, schema)

    def _may_not_save(self, role: str, saved: Exchange) -> bool:
        """Whether a draft was refused because of the account."""
        if _for_want_of_rights(self._submitted(role, saved.realm)):
            return True
        if second := self._second(role):
            other = self._saved(second, saved.realm)
            return not other.fault and other.answer.success and not self._stored(role, saved)
        # If the settings hold no valid draft, its refusal is no finding.
        samples = self._samples(saved.realm)
        told = samples.tells("draft_document") or not samples.lacking
        return _for_want_of_rights(saved) or (saved.status == _FORBIDDEN and not told)

    def _may_not_submit(self, role: str, submitted: Exchange) -> bool:
        """Whether a submission was refused because of the account, in a realm without drafts."""
        if not _for_want_of_rights(submitted):
            return False
        second = self._second(role)
        return not second or not _for_want_of_rights(self._submitted(second, submitted.realm))

    def _second(self, role: str) -> str:
        """Another role that may write, to compare with; empty if it has no account that can sign in."""
        second = _SECOND if role == AUTHOR else AUTHOR
        known = second in self._session.target.accounts and self._session.tokens.token(second).value
        return second if known else ""

    def _saved(self, role: str, realm: str, schema: str = "") -> Exchange:
        samples, uid = self._samples(realm), self._session.namespace.uid()
        draft = samples.draft(uid)
        if schema:
            draft |= {"header": samples.header(schema, uid)}
        query = {"schema": schema or samples.draft_schema}
        saved = self._actor(role, realm).send(_SAVING, path={"uid": uid}, query=query, json=draft)
        saved.notes["uid"] = uid
        return saved

    def _stored(self, role: str, saved: Exchange) -> bool:
        """Whether a draft exists although its save was refused."""
        look = self._actor(role, saved.realm).send("draftExists", path={"uid": saved.notes["uid"]})
        return not look.fault and look.answer.success

    def _submitted(self, role: str, realm: str) -> Exchange:
        """A faulty submission, which creates nothing; without a document if the settings have none."""
        samples, actor = self._samples(realm), self._actor(role, realm)
        if not samples.tells_workflow:
            return actor.send(_SUBMITTING, path={"schema": STAND_IN_SCHEMA}, json={})
        uid = self._session.namespace.uid()
        path = {"schema": samples.workflow_schema, "identifier": uid}
        return actor.send(_SUBMITTING_NAMED, path=path, json=samples.faulty_submission(uid))

    def _samples(self, realm: str) -> Samples:
        return Samples(self._session.target.realm_settings(realm), realm, lambda _: None)

    def _actor(self, role: str, realm: str) -> Actor:
        return Actor(self._session, role, realm, f"[rights of {role} in {realm}]")


def _for_want_of_rights(sent: Exchange) -> bool:
    return not sent.fault and carries_message(sent.answer, Row.MAY_NOT_CREATE, sent.realm)


def _may_be_about_rights(sent: Exchange) -> bool:
    """Whether a refusal comes from the service itself and is not about an unknown token."""
    if sent.fault or not sent.answer.refusal or sent.answer.hollow_page:
        return False
    return sent.status != _UNAUTHENTICATED and not carries_message(sent.answer, Row.ANONYMOUS)


def _about_a_schema(sent: Exchange) -> bool:
    refused = not sent.fault and sent.answer.refusal and sent.status != _FORBIDDEN
    return refused and "schema" in sent.answer.text.lower()


def _alike(named: Exchange, unknown: Exchange, schema: str) -> bool:
    """Whether a schema gets the same refusal as a schema that no service has."""
    words = "" if unknown.fault else unknown.answer.text.replace(UNKNOWN_SCHEMA, schema)
    return named.status == unknown.status and words == named.answer.text
