"""Does something to a draft, or a file, that is near another one by a relation of the table, and looks at the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final

from registry_contracts.cases import attachments, drafts
from registry_contracts.cases.attachment_ids import Attachment, attached, lists, names_file, upload
from registry_contracts.cases.drafts import Elsewhere
from registry_contracts.cases.identifiers import other_case, percent_encoding
from registry_contracts.cases.list_pages import attachments_of
from registry_contracts.cases.rows import identifier_in
from registry_contracts.cases.shared_documents import need_listing
from registry_contracts.cases.world import Draft, World
from registry_contracts.checks.claims import Claim, Expect
from registry_contracts.checks.outcomes import Blocked, Untested, taken, usable
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.request_facts import read_request
from registry_contracts.model.factors import DELETE_ABSENT, FILE_RELATIONS, RELATIONS
from registry_contracts.model.rows import ENCODED, Touch
from registry_contracts.session.actor import Actor

_ACCOUNTS: Final = {"author": "author", "caller_other": "other", "caller_nau": "nau"}
_NAME: Final = "neighbour.txt"
#: Offers a draft of a role that stays until the end of the run.
DRAFT_OF: Final = "a draft of {}"
#: What was done, for a finding.
_DONE: Final = {
    "save": "another one was saved",
    "save_again": "another one was saved twice",
    "delete": "another one was deleted",
    DELETE_ABSENT: "one that is not there was deleted",
}


def claim_stays(
    expect: Expect, world: World, touch: Touch, actors: Callable[[str], Actor], elsewhere: Elsewhere
) -> None:
    """Claim that a draft stays as it was saved, whatever is done to another one that is near it.

    The change may be accepted or refused: the draft stays either way. Nothing is saved in a realm outside the run.
    """
    caller = actors(_ACCOUNTS[touch.caller])
    owner = caller if has_drafts(world, caller) else world.author
    if touch.relation == "of_other_account":
        owner = actors("other" if caller.role != "other" else "author")
    # Beside the one nothing may be there that other rows have saved.
    beside = "nothing" if touch.deed == DELETE_ABSENT else "neighbours"
    name = f"draft with {beside}, of {owner.role}"
    kept = world.shared(name, lambda: world.draft(world.kept_uid(), by=owner))
    done, read = _do(world, kept, touch, caller, elsewhere), owner.get_draft(kept.uid)
    if not drafts.is_as_saved(read, kept):  # another case may be why
        kept = world.draft(by=owner)
        drafts.need_as_saved(owner, kept)
        done, read = _do(world, kept, touch, caller, elsewhere), owner.get_draft(kept.uid)
    else:
        world.offer(DRAFT_OF.format(owner.role), kept.uid)
    relation = RELATIONS[touch.relation] and f", where {RELATIONS[touch.relation]}"
    expected = f"the draft {kept.uid} as it was saved, after {_DONE[touch.deed]} by {caller.role}{relation}"
    claim = expect(touch.clause, done[-1].operation)
    drafts.claim_as_saved(claim, kept, kept.exchange, *done, read, expected=expected)
    claim_own_info(expect("draft-info-own"), owner.get_draft_info(kept.uid), kept.uid, _sent_to(done))


def has_drafts(world: World, account: Actor) -> bool:
    """Whether an account saves drafts and reads them, which is shown of none but the author."""
    if account.role == world.author.role:
        return True

    def look() -> bool:
        uid = world.uid()
        document = world.samples.draft(uid)
        saved = taken(world.save(uid, document, by=account))
        return saved and readers.holds_document(usable(account.get_draft(uid)), document)

    return world.once(f"drafts of {account.role}", look)


def claim_own_info(claim: Claim, info: Exchange, uid: str, others: Iterable[str]) -> None:
    """Claim that the info of a draft does not name another one alone."""
    answer = usable(info)
    named = [other for other in others if other != uid and readers.names(answer.json, other)]
    own = not answer.success or readers.names(answer.json, uid) or not named
    claim.holds(own, info, expected=f"info of {uid}, and not of {', '.join(named)}")


def _sent_to(done: Iterable[Exchange]) -> set[str]:
    return {facts.path["uid"] for each in done if (facts := read_request(each)) and "uid" in facts.path}


def _do(world: World, kept: Draft, touch: Touch, caller: Actor, elsewhere: Elsewhere) -> list[Exchange]:
    """Do to a draft near the kept one what the row says."""
    away = touch.relation == "other_realm"
    uid = _near(world, kept.uid, touch)
    parts: dict[str, Any] = {"realm": elsewhere.realm} if away else {}
    parts |= {"address": percent_encoding(uid)} if touch.form == ENCODED else {}
    saved = touch.deed != DELETE_ABSENT and (elsewhere.in_run or not away)
    done = [
        world.save(uid, document, by=caller, **parts)
        for document in (_documents(world, uid, kept, touch) if saved else ())
    ]
    if touch.deed in ("delete", DELETE_ABSENT) or not saved:
        done.append(caller.delete_draft(uid, **parts))
    for exchange in done:
        usable(exchange)
    return done


def _near(world: World, uid: str, touch: Touch) -> str:
    near: dict[str, Callable[[], str]] = {
        "twin": lambda: other_case(world.fresh, uid),
        "beginning": lambda: uid[:-3],
        "going_on": lambda: f"{uid}-b",
        "lookalike": lambda: _lookalike(uid),
        "other_realm": lambda: uid,
    }
    return near.get(touch.relation, lambda: identifier_in(touch.form, world.fresh))()


def _lookalike(uid: str) -> str:
    """A uid that also stands for the other where an underscore stands for any sign, as in patterns of SQL."""
    return f"{uid[:-4]}_{uid[-3:]}"


def _documents(world: World, uid: str, kept: Draft, touch: Touch) -> list[dict[str, Any]]:
    """What is saved, and saved again: of the other draft's content where the relation says so."""
    own = world.samples.draft(uid, middleName="Neighbour")
    if touch.relation in ("equal_content", "of_other_account"):
        own |= {name: value for name, value in kept.document.items() if name != "header"}
    return [own] * (2 if touch.deed == "save_again" else 1)


def claim_file_stays(claims: Callable[[str, str], Claim], world: World, relation: str) -> None:
    """Claim that a file stays listed, with its bytes, when a similar one is uploaded and its draft is deleted.

    Raises:
        Untested: drafts accept no attachments, so that no document beside its own can be filled.
    """
    if world.refusal_of_files() is not None:
        raise Untested("drafts accept no attachments")
    kept = world.shared("file with neighbours", lambda: _kept_file(world))
    near = {"on_twin": other_case(world.fresh, kept.uid), "on_lookalike": _lookalike(kept.uid)}
    uid = world.draft(near.get(relation) or world.uid()).uid
    own_name = relation in ("same_content", "on_lookalike")
    name = f"{world.uid(16)}.txt" if own_name else f"{_NAME}.bak" if relation == "name_goes_on" else _NAME
    content = kept.content if relation in ("same_content", "same_file") else f"another of {uid}\n".encode()
    done = [upload(world.author, uid, name, content)]
    usable(done[0])
    where = FILE_RELATIONS[relation]
    listed = claims("attachment-create-listed", "listAttachments")
    if own_name:
        own = claims("attachment-list-own-only", "listAttachments")
        _claim_kept_not_listed(own, world, uid, done, where)
        if taken(done[0]):
            attachments.claim_listed(listed, world, Attachment(uid, None, name, content))
    _claim_listed(listed, world, kept, done, where)
    done.append(world.author.delete_draft(uid))
    _claim_listed(listed, world, kept, done, where)
    if kept.id is not None:
        read = world.author.get_attachment(kept.path)
        same, expected = usable(read).content == kept.content, f"the bytes that were sent, where {where}"
        claims("attachment-download-same", "getAttachment").holds(same, *done, read, expected=expected)


def claim_bytes_beside_name_in_capitals(claim: Claim, world: World) -> None:
    """Claim that a file keeps its bytes beside one whose name differs in letter case only.

    Raises:
        Untested: the service takes no such file, or gives both one id, so that to it they may be one.
    """
    if world.refusal_of_files() is not None:
        raise Untested("drafts accept no attachments")
    kept, other = world.shared("file with neighbours", lambda: _kept_file(world)), None
    with suppress(Blocked):
        other = attached(world.author, kept.uid, _NAME.upper(), b"another file of this document\n")

    def both_listed() -> bool:
        records = list(attachments_of(world.author, kept.uid).walk())
        return all(any(names_file(each, file.filename) for each in records) for file in (kept, other) if file)

    if (
        other is None
        or None in (kept.id, other.id)
        or kept.id == other.id
        or not world.eventually(both_listed)
    ):
        raise Untested("whether names of files that differ in letter case only are two is not shown")
    for file in (kept, other):
        attachments.claim_same_bytes(claim, world, file)


def _kept_file(world: World) -> Attachment:
    kept = attached(world.author, world.kept_draft().uid, _NAME, b"kept beside others\n")
    need_listing(world, kept)
    return kept


def _claim_kept_not_listed(claim: Claim, world: World, uid: str, done: list[Exchange], where: str) -> None:
    page = attachments_of(world.author, uid).page()
    given = [each for each in page.records or () if names_file(each, _NAME)]
    claim.holds(not given, *done, page.exchange, expected=f"no {_NAME}, where {where}")


def _claim_listed(claim: Claim, world: World, kept: Attachment, done: list[Exchange], where: str) -> None:
    page = attachments_of(world.author, kept.uid).page()
    there = any(lists(each, kept) for each in page.records or ())
    claim.holds(there, *done, page.exchange, expected=f"{kept.filename} in the list, where {where}")
