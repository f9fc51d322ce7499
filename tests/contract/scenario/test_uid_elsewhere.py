"""The identifier rule on contact update and on attachments: by length and by character, without effect."""

from contracts.cases import (
    Actor,
    Arrangement,
    Claims,
    Exchange,
    Namespace,
    Observer,
    OrdinaryRequests,
    Request,
    contract,
    drafts,
    identifiers,
    requests,
    shape,
    share,
)

READING = ("updateContact", "attachmentExists", "getAttachment", "getAttachmentThumbnail")
UPLOADS = ("createAttachment", "persistTemporaryFile")
CLAUSES = ("uid-too-short", "uid-too-long", "uid-forbidden-characters", "uid-refusal-answer")


def _ask(actor: Actor, request: Request, uids: list[str]) -> list[Exchange]:
    return [requests.send(requests.at(request, uid), actor) for uid in uids]


def _judge(actor: Actor, request: Request, fresh: Namespace, realm: str, claim: Claims) -> Exchange:
    """Claim that a request which is right but for its uid is refused; the last refusal is for a character."""
    operation, uid = request.operation, request.path["uid"]
    characters = {"space": " "} | share(identifiers.FORBIDDEN, realm, len(identifiers.FORBIDDEN), operation)
    asked = {
        "uid-too-short": _ask(actor, request, identifiers.too_short(fresh)[:1]),
        "uid-too-long": _ask(actor, request, identifiers.too_long(fresh)[:1]),
        "uid-forbidden-characters": _ask(actor, request, identifiers.within(fresh, uid, characters, " ")),
    }
    for clause, exchanges in asked.items():
        drafts.each_refused(claim(clause, operation), exchanges)
    return asked["uid-forbidden-characters"][0]


@contract(*CLAUSES, operations=READING)
def test_contacts_and_files_are_found_under_valid_uids_only(
    author: Actor,
    ordinary: OrdinaryRequests,
    fresh: Namespace,
    realm: str,
    claim: Claims,
    observe: Observer,
    operation: str,
) -> None:
    """A uid of 10 or 129 characters, or with a forbidden one in it, updates and discloses nothing."""
    refused = _judge(author, ordinary.request(operation), fresh, realm, claim)
    observe("uid-refusal-answer", operation, shape(refused))


@contract(*CLAUSES, operations=UPLOADS)
def test_attachments_are_created_under_valid_uids_only(
    author: Actor,
    arrange: Arrangement,
    ordinary: OrdinaryRequests,
    fresh: Namespace,
    realm: str,
    claim: Claims,
    observe: Observer,
    operation: str,
) -> None:
    """An upload to a uid outside the rule is refused and adds nothing to the document left when it is tidied."""
    request = ordinary.request(operation)
    refused = _judge(author, request, fresh, realm, claim)
    found = arrange.attachment_ids(author, request.path["uid"])
    claim("uid-forbidden-characters", operation).holds(
        not found, refused, expected="no attachment of the document", seen=f"its list holds {found}"
    )
    observe("uid-refusal-answer", operation, shape(refused))


@contract(
    "uid-forbidden-characters", operations=("saveDraft", *READING, *UPLOADS), profile="nightly", requests=70
)
def test_every_forbidden_character_is_refused_elsewhere(
    author: Actor, ordinary: OrdinaryRequests, fresh: Namespace, claim: Claims, operation: str
) -> None:
    """Every character of ASCII that the rule leaves out is refused by these operations too."""
    request = ordinary.request(operation)
    uids = identifiers.within(fresh, request.path["uid"], identifiers.ALL_FORBIDDEN)
    drafts.each_refused(claim("uid-forbidden-characters", operation), _ask(author, request, uids))
