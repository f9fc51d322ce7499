"""The first write of an account in a realm: whether it has the rights of its role, and the settings name a schema.

Where it has not, that is told of the settings, not of the service.

An account lacks them in a realm where its first write is refused and the service says "Insufficient rights to create a
draft record." of it, or another author may write there; where that other is refused as well, and the workflow does
not say so, the service refuses, which its cases find.
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

#: Roles that are nothing without rights: an author, and who writes beside the author.
_SECOND: Final = "other"
_WRITERS: Final = (AUTHOR, _SECOND, "nau")
#: What an account is told that may not do something.
_FORBIDDEN: Final = 403
_UNAUTHENTICATED: Final = 401
_SAVING: Final = "saveDraft"
_SUBMITTING: Final = "createWorkflowRecord"
_SUBMITTING_NAMED: Final = "createWorkflowRecordWithIdentifier"


@cache
def first_writes() -> tuple[str, ...]:
    """The operations whose refusal may tell of an account's rights."""
    return (_SAVING, *operations_with(stores="submission"))


class WithoutRightsError(EnvironmentFault):
    """The author's account lacks the rights of its role, so that nothing can be told of what it is refused."""


@dataclass(frozen=True)
class FirstWrite:
    """What became of the first write of an account in a realm.

    Attributes:
        lacks_rights: How it was refused to an account that lacks the rights of its role, in words; else empty.
        unknown_schema: How it was refused for a schema that contacts do not know either; else empty.
    """

    refused: bool = False
    lacks_rights: str = ""
    unknown_schema: str = ""


class Rights:
    """What the accounts of a session may do."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._writing: set[tuple[str, str]] = set()

    def judge(self, exchange: Exchange) -> None:
        """Pass on what was answered to an account with the rights of its role.

        Args:
            exchange: Sent with the role's own token in the actor's own realm.

        Raises:
            WithoutRightsError: it was refused to an author who lacks them.
            Untested: it was refused to another role that lacks them.
        """
        role, realm, answer = exchange.role, exchange.realm, exchange.response
        if answer is None or role not in _WRITERS or realm not in DEVELOPMENT_REALMS:
            return
        # What a draft is refused with is not shown.
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
        """What became of the first write of a role's account in a realm; it is sent once, and nothing stays."""
        name = f"first write of {role} in {realm}"
        return self._session.shared.once(name, lambda: self._first_write(role, realm))

    def knows_schema(self, realm: str) -> bool:
        """Whether no draft of the settings is refused in a realm for its schema; one is sent."""
        return not _about_a_schema(self._saved(AUTHOR, realm))

    def takes_workflow_draft(self, realm: str) -> bool:
        """Whether a document of the workflow is taken as a draft, where the settings name no other."""
        samples = self._samples(realm)
        if not samples.tells_workflow or samples.tells("draft_document"):
            return False
        uid = self._session.namespace.uid()
        query, document = {"schema": samples.workflow_schema}, samples.document(uid)
        saved = self._actor(AUTHOR, realm).send(_SAVING, path={"uid": uid}, query=query, json=document)
        return not saved.fault and taken(saved)

    def unknown_workflow_schema(self, realm: str) -> str:
        """How the workflow refuses the schema of the settings, in words; what is no document is refused otherwise."""
        path = {"schema": self._samples(realm).workflow_schema}
        sent = self._actor(AUTHOR, realm).send(_SUBMITTING, path=path, json={})
        unknown = not sent.fault and carries_message(sent.answer, Row.SCHEMA_UNKNOWN, realm)
        return sent.answer.quote() if unknown else ""

    def _first_write(self, role: str, realm: str) -> FirstWrite:
        documents = realm in DOCUMENT_REALMS
        first = self._saved(role, realm) if documents else self._submitted(role, realm)
        if not _may_be_about_rights(first):
            return FirstWrite(refused=not first.fault and first.answer.refusal)
        if documents and self._names_no_schema(role, first):
            return FirstWrite(refused=True, unknown_schema=first.answer.quote())
        lacks = self._may_not_save(role, first) if documents else self._may_not_submit(role, first)
        advice = f"the account of {role} must be one that may create and update"
        words = f"{first.operation} was answered {first.answer.quote()}; {advice}"
        return FirstWrite(refused=True, lacks_rights=words if lacks else "")

    def _names_no_schema(self, role: str, refused: Exchange) -> bool:
        """Whether a draft is refused for the schema of the settings, and what is no contact is, too.

        Both are refused in the words that a schema meets which no service has.
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
        """Whether it is for the account that a draft was refused."""
        if _for_want_of_rights(self._submitted(role, saved.realm)):
            return True
        if second := self._second(role):
            other = self._saved(second, saved.realm)
            return not other.fault and other.answer.success and not self._stored(role, saved)
        # Where the settings do not tell a valid draft, its refusal is no finding.
        samples = self._samples(saved.realm)
        told = samples.tells("draft_document") or not samples.lacking
        return _for_want_of_rights(saved) or (saved.status == _FORBIDDEN and not told)

    def _may_not_submit(self, role: str, submitted: Exchange) -> bool:
        """Whether it is for the account that a submission was refused, where there is nothing but submissions."""
        if not _for_want_of_rights(submitted):
            return False
        second = self._second(role)
        return not second or not _for_want_of_rights(self._submitted(second, submitted.realm))

    def _second(self, role: str) -> str:
        """Another role that may write, to compare with; empty where no account of it signs in."""
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
        """Whether a draft is there although its save was refused."""
        look = self._actor(role, saved.realm).send("draftExists", path={"uid": saved.notes["uid"]})
        return not look.fault and look.answer.success

    def _submitted(self, role: str, realm: str) -> Exchange:
        """A faulty submission, of which nothing comes; without a document where the settings tell none."""
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
    """Whether a refusal is the service's own, and not for a token that it does not know."""
    if sent.fault or not sent.answer.refusal or sent.answer.hollow_page:
        return False
    return sent.status != _UNAUTHENTICATED and not carries_message(sent.answer, Row.ANONYMOUS)


def _about_a_schema(sent: Exchange) -> bool:
    refused = not sent.fault and sent.answer.refusal and sent.status != _FORBIDDEN
    return refused and "schema" in sent.answer.text.lower()


def _alike(named: Exchange, unknown: Exchange, schema: str) -> bool:
    """Whether a schema is refused in the words that one meets which no service has."""
    words = "" if unknown.fault else unknown.answer.text.replace(UNKNOWN_SCHEMA, schema)
    return named.status == unknown.status and words == named.answer.text
