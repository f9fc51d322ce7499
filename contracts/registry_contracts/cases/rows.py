"""Sends the rows of the factor table, judges them by the reference model, and finds what a contradiction comes from.

A row that contradicts is sent again with its values set back to plain, one by one; what is left is the cause. A row
whose plain request does not hold either is blocked by the finding of that one.
"""

from __future__ import annotations

import json
import string
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from registry_contracts.cases import requests, sign_in, submissions
from registry_contracts.cases.comparison import shape
from registry_contracts.cases.contact_requests import ContactRequests
from registry_contracts.cases.drafts import claim_unchanged, need_exists_check, never_used
from registry_contracts.cases.identifiers import other_case, percent_encoding
from registry_contracts.cases.list_pages import attachments_of
from registry_contracts.cases.requests import ELSEWHERE, Request
from registry_contracts.cases.sample_records import WRONG_KIND, spoilt, without
from registry_contracts.cases.shared_documents import ABSENT, attachment_and_other, shared_document
from registry_contracts.cases.submissions import LONGEST_BATCH, LONGEST_INFO, UNKNOWN_SCHEMA
from registry_contracts.cases.workflow_records import WorkflowRecords
from registry_contracts.cases.world import Draft, World
from registry_contracts.checks import errors_array, workflow
from registry_contracts.checks.claims import Claim, Expect, claim_refusals_in_json
from registry_contracts.checks.outcomes import (
    OBSTACLES,
    Attempt,
    Blocked,
    Contradiction,
    Result,
    Untested,
    observed,
    usable,
)
from registry_contracts.checks.workflow import MESSAGE, ended_in
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.request_facts import read_request
from registry_contracts.interface.catalogue import Catalogue
from registry_contracts.interface.description import load_description
from registry_contracts.model import factors
from registry_contracts.model.dictionary import FILE_NAMES, PLACES_BY_LANGUAGE
from registry_contracts.model.reference import Promise, Reference
from registry_contracts.model.rows import (
    BEFORE_INITIATE,
    BEFORE_SAVE,
    ENCODED,
    FORMS,
    Row,
    clauses_of_refusal,
    leaves_something,
)
from registry_contracts.session.actor import Actor
from registry_contracts.session.namespace import Namespace
from registry_contracts.settings.target import DOCUMENT_REALMS

ROLES: Final = {"caller_other": "other", "caller_nau": "nau", "caller_restricted": "restricted"}
#: How a refusal for want of a token is answered is not shown, but that it is empty or JSON.
_NO_TOKEN, _JSON = "token-missing-answer", "json-bodies"
_TOKENS: Final = {"token_invented": "invented", "token_half": "half"}
_QUESTIONS: Final[Mapping[str, dict[str, str]]] = {
    "list_all": {},
    "list_my": {"collection": "my"},
    "list_mydrafts": {"collection": "mydrafts"},
    "list_top": {"$top": "1"},
    "list_page": {"$top": "1", "$skip": "1"},
}
#: The plain state without a draft: none was ever saved under the uid.
_NEVER: Final = "never_saved"


@dataclass(frozen=True)
class Sent:
    """A row that was sent: the exchange, what is promised of it, and the uid that it names."""

    exchange: Exchange
    promise: Promise
    uid: str
    before: tuple[Exchange, ...] = ()


@dataclass(frozen=True)
class _Prepared:
    """A request of a row in the making; `realm` is asked where that is not the case's own."""

    request: Request
    uid: str = ""
    realm: str = ""
    before: tuple[Exchange, ...] = ()


@dataclass(eq=False, repr=False)
class RowTrials(ABC):
    """Tries the rows of one realm, each apart from the case's own attempt.

    `actors` gives the actor of a role, and raises Untested where the settings have no such account; `clauses` are those
    that the case declares.
    """

    _world: World
    _actors: Callable[[str], Actor]
    _attempt: Attempt
    _catalogue: Catalogue
    _clauses: tuple[str, ...]
    _anew: bool = field(default=False, init=False)

    @abstractmethod
    def _judge(self, row: Row, expect: Expect) -> None:
        """Send a row, and claim what is promised of it."""

    def _try(self, row: Row) -> Attempt:
        """Send a row and judge it."""
        tried, refused = Attempt(self._attempt.number), clauses_of_refusal(row) if row.reason else ()
        with suppress(Contradiction):
            self._judge(row, Expect(tried, self._catalogue, {*self._clauses, *refused}))
        return tried

    def send_anew(self, row: Row) -> None:
        """Send a row on data of its own, whatever it shows."""
        self._anew = True
        self._try(row)

    def _least(self, row: Row, evidence: Result) -> Row:
        """The row with each of its values set back to plain that does not matter to a contradiction.

        Raises:
            Blocked: another row has shown that the plain request contradicts the same clause.
        """
        self._anew = True  # each try on data of its own
        if row.beside and self._attempt.number == 1 and (cause := self._world.offered(_plain(evidence))):
            raise Blocked(evidence.operation, cause, evidence.clause)
        for name in row.beside:
            if self._contradicts(other := row.without(name), evidence):
                row = other
        return row

    def _plain_fails(self, evidence: Result, cause: str) -> None:
        """Tell the other rows of the same clause that their plain request does not hold either."""
        self._world.offer(_plain(evidence), cause)

    def _contradicts(self, row: Row, evidence: Result) -> bool:
        try:
            return any(each.key == evidence.key for each in self._try(row).evidence)
        except (*OBSTACLES, Untested):
            return False


def _plain(evidence: Result) -> str:
    return f"plain request against {evidence.clause} ({evidence.operation})"


@dataclass(eq=False, repr=False)
class Rows(RowTrials):
    """The rows of one realm that are refused; `records` are those of the workflow that they are sent to."""

    _records: WorkflowRecords
    _model: Reference = field(init=False)

    def __post_init__(self) -> None:
        """The model knows the identifiers of the run."""
        self._model = Reference(self._world.fresh.owns)

    # -- judging

    def claim(self, row: Row) -> None:
        """Send a row, and claim what is promised of it.

        Raises:
            Contradiction: it does not hold, with the smallest combination of values that shows it.
            Blocked: the plain request does not hold either.
            Untested: nothing is promised of it on this service.
        """
        tried = self._try(row)
        for each in tried.evidence:
            if each.clause == _JSON:
                self._attempt.note(each)
        # Cases of single faults claim what else errors should tell.
        against = [each for each in tried.evidence if factors.is_must(each.clause)]
        if not against:
            self._attempt.held.update(tried.held)
            return
        least = self._smallest(row, against[0])
        if row.reason == "locked" and not least.beside:
            return  # the lock ended: when locks do is not shown
        expected = f"{against[0].expected}, where {least.words}"
        evidence = replace(against[0], check="", expected=expected)
        self._attempt.note(evidence)
        raise Contradiction(evidence)

    def _judge(self, row: Row, expect: Expect) -> None:
        sent = self._send(row)
        if not sent.promise.clause:
            raise Untested(
                f"nothing is promised of {row}: after earlier requests the draft may or may not exist"
            )
        self._claim_refused(expect, row, sent)
        self._claim_nothing_came(expect, row, sent)
        if row.operation in factors.WORKFLOW and self._tells_content(row, sent):
            submissions.claim_errors_told(expect, sent.exchange)
        if (
            row.reason in factors.CREDENTIALS
            and row.operation in self._catalogue.clause(_NO_TOKEN).operations
        ):
            claim_refusals_in_json(partial(expect, _JSON), sent.exchange)
            self._attempt.observations.append(observed(_NO_TOKEN, row.operation, shape(sent.exchange)))
        if row.sure != row and not self._tells_reason(row, sent.exchange):
            self._judge(row.sure, expect)  # the other values may be why

    def _smallest(self, row: Row, evidence: Result) -> Row:
        """The row without the values that do not matter to a contradiction."""
        least = self._least(row, evidence)
        if not least.beside and row.reason != "locked":
            self._plain_fails(evidence, f"not {evidence.expected}, where {least.words}")
        found = row.operation == "draftExists" and row.reason not in (_NEVER, *factors.CREDENTIALS)
        if found and self._try(replace(least, reason=_NEVER)).evidence:
            raise Blocked(row.operation, "finds what was never saved", "draft-exists-absent")
        return least

    def _claim_refused(self, expect: Expect, row: Row, sent: Sent) -> None:
        claim, exchange = expect(row.clause, row.operation), sent.exchange
        content, tells_content = sent.promise.content, self._tells_content(row, sent)
        if row.operation == "getDraft" and content is not None:
            given = readers.holds_document(usable(exchange), content)
            claim.holds(not given, *sent.before, exchange, expected="nothing of the draft")
            if row.reason in factors.CREDENTIALS:
                claim.turned_down(exchange)
        elif row.operation == "getDraftInfo" and row.reason in factors.ABSENT_STATES:
            self._claim_no_info(claim, row, sent)
        elif tells_content and row.operation in factors.CONTACTS:
            fault = factors.value_named(row.operation, row.reason).fault
            reporting = ContactRequests(row.operation, self._world).reporting()
            reporting.claim_told(expect, row.clause, exchange, fault.split(".")[1].partition(":")[0], fault)
        elif (
            self._catalogue.clause(row.clause).message
            and sent.promise.exact
            and not self._lacks_rights(row, exchange)
        ):
            claim.has_message(exchange, self._world.realm)
        else:
            claim.turned_down(exchange)
        if row.reason in factors.STATE_FIRST:
            at_fault = [path for _, path in errors_array.elements(exchange.answer)]
            members = self._world.samples.document(sent.uid).keys() - {"header"}
            named = [
                path for path in at_fault if any(errors_array.names_field(path, each) for each in members)
            ]
            claim.holds(not named, exchange, expected="refused before the document is looked at")

    def _claim_no_info(self, claim: Claim, row: Row, sent: Sent) -> None:
        """Claim that the info is none of the draft that is near; how the service answers without one is not shown."""
        exchange, saved = sent.exchange, read_request(sent.before[0])
        near = saved.path["uid"] if saved else sent.uid
        given = usable(exchange).success and readers.names(exchange.answer.json, near)
        if given and row.reason == "only_elsewhere":  # the answer may repeat the uid
            nothing = self._world.author.get_draft_info(never_used(), realm=ELSEWHERE[self._world.realm])
            given = not usable(nothing).success
        claim.holds(not given, *sent.before, exchange, expected="no info of the draft")

    def _tells_content(self, row: Row, sent: Sent) -> bool:
        """Whether a refusal has to tell what is wrong with the content: nothing else can have it refused instead."""
        at_fault = bool(factors.value_named(row.operation, row.reason).fault)
        alone = sent.promise.exact and not row.callers
        return at_fault and (alone or bool(readers.errors(usable(sent.exchange))))

    def _tells_reason(self, row: Row, exchange: Exchange) -> bool:
        """Whether a refusal tells what is due for the reason of a row alone."""
        answer, due = usable(exchange), self._catalogue.clause(row.clause).message
        another = due and MESSAGE.contradiction(answer, clause=row.clause, realm=self._world.realm)
        fault = factors.value_named(row.operation, row.reason).fault
        return not another and (not fault or bool(readers.errors(answer)))

    def _lacks_rights(self, row: Row, exchange: Exchange) -> bool:
        """Whether the caller was told to lack the right, which the document does not rule out."""
        return bool(row.rights) and ended_in(exchange, workflow.Row(row.rights))

    def _claim_nothing_came(self, expect: Expect, row: Row, sent: Sent) -> None:
        """Claim that nothing came of what was refused, where something would."""
        if not leaves_something(row):
            return
        if row.operation in factors.WORKFLOW:
            self._claim_nothing_submitted(expect, row, sent)
            return
        author, uid, claim = self._world.author, sent.uid, expect(row.clause, row.operation)
        if row.operation == "createAttachment":
            page = attachments_of(author, uid).page()
            name = str(sent.exchange.notes["filename"])
            listed = any(readers.names(each, name) for each in page.records or ())
            claim.holds(not listed, sent.exchange, page.exchange, expected="no such attachment")
            return
        if "saved" in row.names and row.operation == "saveDraft":
            saved = sent.before[0]
            claim_unchanged(claim, self._world, Draft(uid, saved.request_body.json, saved), sent.exchange)
            return
        look = author.draft_exists(uid)
        there, due = usable(look).success, row.operation == "deleteDraft"
        if there != due:
            need_exists_check(self._world)
        expected = "the draft stays" if due else f"no draft under {uid}"
        claim.holds(there == due, sent.exchange, look, expected=expected)

    def _claim_nothing_submitted(self, expect: Expect, row: Row, sent: Sent) -> None:
        """Claim that a refused submission locks no record, and that faulty content leaves no draft."""
        faulty, operation, world = row.reason == "faulty", row.operation, self._world
        if faulty and world.realm in DOCUMENT_REALMS:
            look, saved = world.author.draft_exists(sent.uid), expect(BEFORE_SAVE, operation)
            gone, expected = not usable(look).success, f"no draft under {sent.uid}"
            if not gone:
                need_exists_check(world)
            saved.holds(gone, sent.exchange, look, expected=expected)
        claim, uid = expect(BEFORE_INITIATE if faulty else row.clause, operation), sent.uid
        # A lock shows when the record is updated, or when it is created again.
        tries: list[Callable[[str], Exchange]] = [self._records.try_faulty, world.try_creating]
        for send in tries if faulty else tries[:1]:
            claim.meets("identifier-not-locked", send(uid), because_of=(sent.exchange,))

    # -- sending

    def _send(self, row: Row) -> Sent:
        family = load_description().operations[row.operation].family
        prepare = {
            "workflow": self._submission,
            "draft": self._draft_request,
            "attachment": self._file_request,
            "contact": self._contact_request,
        }
        made = prepare[family](row)
        actor, headers, parts = self._caller(row)
        if (given := self._realm_of(row, made.realm)) is not None:
            parts |= given
        query = dict(made.request.query) | dict(parts.pop("query", {}))
        if row.of("", "charset"):
            headers["Content-Type"] = "application/json; charset=utf-8"
        if ENCODED in row.names:
            parts["address"] = percent_encoding(made.uid)
        body = made.request.body
        body = written(row, body) if isinstance(body, dict) else body
        request = replace(made.request, query=query, headers=headers, body=body)
        reason = "" if row.reason in ("", *factors.ABSENT_STATES) else row.clause
        realm = made.realm or self._world.realm
        promise = self._model.promised(row.operation, realm, made.uid, reason=reason, may=not row.alone)
        exchange = request.send(actor, **parts)
        exchange.notes |= {"filename": request.path.get("filename", ""), "top": query.get("$top", "")}
        self._model.learn(exchange)
        return Sent(exchange, promise, made.uid, made.before)

    def _caller(self, row: Row) -> tuple[Actor, dict[str, str | None], dict[str, Any]]:
        caller = row.of("author", *ROLES, *factors.CREDENTIALS)
        if caller in _TOKENS:
            value = sign_in.never_issued(self._world)[_TOKENS[caller]]
            return self._actors("anonymous"), {"Authorization": value}, {}
        role = {"author": "author", "anonymous": "anonymous", **ROLES}[caller]
        return (self._world.author if role == "author" else self._actors(role)), {}, {}

    def _realm_of(self, row: Row, elsewhere: str) -> dict[str, Any] | None:
        """The parts of a request that give its realm; None for the actor's own in the header."""
        realm, unknown = elsewhere or self._world.realm, requests.UNKNOWN_REALM
        ways: dict[str, dict[str, Any]] = {
            "realm_in_query": {"realm": None, "query": {"Realm": realm}},
            "realm_twice": {"realm": realm, "query": {"Realm": realm}},
            "realm_missing": {"realm": None},
            "realm_unknown": {"realm": unknown},
            "realm_unknown_in_query": {"realm": None, "query": {"Realm": f"{realm}-none"}},
        }
        way = row.of("header", *ways)
        if way == "realm_in_query" and not self._world.reads_realm_from_query():
            raise Blocked(row.operation, "does not read the realm from the query", "realm-query")
        return ways.get(way, {"realm": elsewhere} if elsewhere else None)

    def _submission(self, row: Row) -> _Prepared:
        world, samples = self._world, self._world.samples
        state = row.of("plain", *factors.STATE_FIRST)
        uid = self._record(row, state)
        batch = {"batch": 24, "batch_longest": LONGEST_BATCH, "batch_too_long": LONGEST_BATCH + 1}
        length = batch.get(row.of("", *batch))
        members = {"batchId": world.fresh.uid(length)} if length else {}
        if "info_too_long" in row.names:
            members["additionalInfo"] = "t" * (LONGEST_INFO + 1)
        body = samples.submission(uid, **members)
        if "faulty" in row.names or state != "plain":
            body["document"] = spoilt(body["document"])
        if "no_document" in row.names:
            del body["document"]
        path = {"schema": UNKNOWN_SCHEMA if "schema_unknown" in row.names else samples.workflow_schema}
        if row.operation != factors.CREATE:
            path["identifier"] = uid
        return _Prepared(Request(row.operation, path, body=body), uid)

    def _record(self, row: Row, state: str) -> str:
        """The identifier of a record in a state; one that is plain is open for updates, or free."""
        if state == "locked":
            return self._records.locked()
        if state == "in_use" or (row.operation == factors.UPDATE and state == "plain"):
            return self._records.standing()
        return identifier_of(row, self._world.fresh)

    def _shared(self, row: Row, *, deleted: bool = False) -> Draft:
        """A draft under an identifier of the form of a row, which rows share; or one that was deleted."""
        form = form_of(row)
        word = f"{'deleted' if deleted else 'kept'} {form}"

        def make() -> tuple[Draft, list[Exchange]]:
            uid = identifier_of(row, self._world.fresh)
            self._world.keep(uid)
            draft = self._world.draft(uid, plain=form == "ordinary")
            if not deleted:
                self._world.note_kept(draft)
            gone = [self._world.author.delete_draft(uid)] if deleted else []
            if deleted and not usable(gone[0]).success:
                raise Blocked("deleteDraft", f"answered {gone[0].answer.quote()}", "draft-delete-removes")
            return draft, [draft.exchange, *gone]

        draft, sent = self._world.shared(f"draft of rows, {word}", make)
        for exchange in sent:
            self._model.learn(exchange)
        return draft

    def _draft_request(self, row: Row) -> _Prepared:
        if row.operation == "listDrafts":
            return _Prepared(Request(row.operation, query=dict(_QUESTIONS[row.of(*_QUESTIONS)])))
        if row.operation in factors.READS:
            return self._read(row)
        before: tuple[Exchange, ...] = ()
        if row.operation == "deleteDraft" or "saved" in row.names:
            draft = self._world.draft(identifier_of(row, self._world.fresh))
            self._model.learn(draft.exchange)
            uid, before = draft.uid, (draft.exchange,)
        else:
            uid = identifier_of(row, self._world.fresh)
        if row.operation == "deleteDraft":
            return _Prepared(Request(row.operation, {"uid": uid}), uid, before=before)
        query = {"schema": self._world.samples.draft_schema}
        body = self._world.samples.draft(uid, middleName="Refused")
        return _Prepared(Request(row.operation, {"uid": uid}, query, body=body), uid, before=before)

    def _read(self, row: Row) -> _Prepared:
        state, world = row.of("saved", *factors.ABSENT_STATES), self._world
        if state == _NEVER:
            uid = identifier_of(row, self._world.fresh)
            return _Prepared(Request(row.operation, {"uid": uid}), uid)
        draft = self._shared(row, deleted=state == "deleted")
        near = {
            "only_twin": other_case(world.fresh, draft.uid),
            "only_longer": draft.uid[:-4],
            "only_shorter": f"{draft.uid}-b",
        }
        uid = near.get(state, draft.uid)
        realm = ELSEWHERE[world.realm] if state == "only_elsewhere" else ""
        return _Prepared(Request(row.operation, {"uid": uid}), uid, realm, (draft.exchange,))

    def _file_request(self, row: Row) -> _Prepared:
        world, operation = self._world, row.operation
        if operation in factors.OF_FILES:
            if "file_of_another" in row.names:
                file, other = attachment_and_other(world)
                path = file.path | {"uid": other.uid}
            else:
                path = shared_document(world).pictures[0].path | {"attachmentId": str(ABSENT)}
            return _Prepared(Request(operation, path), path["uid"])
        own_form = world.refusal_of_files() is None and form_of(row) != "ordinary"
        uid = self._shared(row).uid if own_form else world.shared_attachment().uid
        if "uid_of_record" in row.names:
            uid = str(world.samples.setting("existing_identifier")[0])
        path = {"uid": uid}
        if operation == "persistTemporaryFile":
            path["tempFileId"] = world.uid()
        if operation != "createAttachment":
            return _Prepared(Request(operation, path), uid)
        path["filename"] = file_name(row, world.uid(16))
        content = b"" if "file_empty" in row.names else b"a note of nobody\n"
        return _Prepared(Request(operation, path, body=content), uid)

    def _contact_request(self, row: Row) -> _Prepared:
        samples = self._world.samples
        query = {"schema": samples.contact_schema}
        uid = self._world.contact() if row.operation == "updateContact" else self._world.uid()
        record = samples.contact(uid)
        if "no_last_name" in row.names:
            del record["lastName"]
        if lacking := factors.LACKING.get(row.reason):
            record = without(samples.full_contact(uid), lacking)
        if "emails_no_array" in row.names:
            record["emails"] = WRONG_KIND
        self._spoil_later_element(row, record)
        path = {"uid": uid} if row.operation == "updateContact" else {}
        return _Prepared(Request(row.operation, path, query, body=record), uid)

    def _spoil_later_element(self, row: Row, record: dict[str, Any]) -> None:
        """Put a wrong kind behind right ones, where the row says so."""
        full = self._world.samples.full_contact(str(record["header"]["identifier"]))
        for name in factors.ARRAYS:
            places = {f"{name}_second": 1, f"{name}_last": 2}
            if place := row.of("", *places):
                record[name] = full[name][:1] * 3
                record[name][places[place]] = WRONG_KIND
        for name in PLACES_BY_LANGUAGE:
            if f"{name}_in_french" in row.names:
                record[name] = {"en": "a text", "fr": WRONG_KIND}
                record["header"]["languages"] = ["en", "fr"]


def form_of(row: Row) -> str:
    """The form of the identifier of a row; how an address spells it is none."""
    return row.of("ordinary", *FORMS)


def identifier_of(row: Row, fresh: Namespace) -> str:
    """A fresh identifier of the form of a row."""
    return identifier_in(form_of(row), fresh)


def identifier_in(form: str, fresh: Namespace) -> str:
    """A fresh identifier of a form; an ordinary one for any other word."""
    forms: dict[str, Callable[[], str]] = {
        "uid_of_11": lambda: fresh.uid(11),
        "uid_of_128": lambda: fresh.uid(128),
        "uid_of_digits": lambda: f"-_{fresh.without_prefix(string.digits, 30)}_-",
    }
    return forms.get(form, fresh.uid)()


def file_name(row: Row, mark: str) -> str:
    """The name of a row's file, which holds a mark."""
    _, form = FILE_NAMES.get(row.of("", *FILE_NAMES), ("", "{}.txt"))
    return form.format(mark)


def written(row: Row, record: dict[str, Any]) -> bytes:
    """A JSON body in the form of a row."""
    if "reordered" in row.names:
        record = dict(reversed(record.items()))
    return json.dumps(record, ensure_ascii=False).encode()
