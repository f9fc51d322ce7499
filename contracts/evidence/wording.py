"""The words of a finding, the same in every report: what was, and what it takes to see why that is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from contracts.evidence.findings import Finding
from contracts.evidence.record import RunRecord
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange, read_timestamp
from contracts.exchanges.redaction import REDACTED, SWAPPED, TOKEN
from contracts.exchanges.request_facts import EVERYTHING, RequestFault, read_request, subject_of, writes
from contracts.interface.catalogue import Clause, matches
from contracts.interface.description import load_description, operations_with
from contracts.interface.operations import in_realms
from contracts.safe_text import many, plain_line

_FAULTS_TOLD: Final = 2
_ERRORS_TOLD: Final = 3
_LONGEST: Final = 400
_SEEN: Final = 160
_ADDRESS: Final = 160
_OPTION: Final = 40
STATUS: Final = re.compile(r"(?P<status>[1-5]\d\d)(?:\s+(?P<body>.*))?", re.DOTALL)
_MESSAGE: Final = re.compile(r'"message"\s*:\s*"(?P<text>(?:[^"\\]|\\.)*)"')
#: An expected answer with the text of its message.
_MESSAGE_DUE: Final = re.compile(r"^[1-5]\d\d ['\"]")
#: What an answer to signing in has to hold.
_SIGN_IN: Final = "createToken"
_GIVEN_BY_SIGN_IN: Final = ("authenticationToken", "expiration")
#: Between the steps of a walk, and how many of the last ones a sentence names.
_STEP: Final = " → "
_STEPS_TOLD: Final = 3
#: How many items a list holds, in a case's words.
_COUNTED: Final = re.compile(r"\d+ items")
#: An answer behind a case's own words.
_QUOTED: Final = re.compile(r": (?=[1-5]\d\d\b)")
#: Identifiers and values, long enough not to stand anywhere by chance.
_WORD: Final = re.compile(r"[\w-]{8,}")
_IDENTIFYING: Final = re.compile(r"[0-9]|\w-\w")
#: What a case says of an answer behind its status, in its own words.
_IN_WORDS: Final = re.compile(r"[a-z][^{\[]*")
#: What a check says of an answer that holds the request's password or token.
_SECRET: Final = "secret of the request"  # noqa: S105 - words
_ROOT: Final = re.compile(r"^.*?/api/v\d+")
#: The member of a document at which it is not what was saved.
MEMBER: Final = re.compile(r"\bdocument\.(?P<name>[\w-]+)")
#: What a check expects where the request should have been refused.
_REFUSAL: Final = re.compile(r"refused( \(4xx\)|: [\w.$*-]+ (is|breaks|has) .+)?")
_ACCEPTANCE: Final = re.compile(r"accepted( \(2xx\))?")
#: What a check expects where the clause says it all.
PLAIN: Final = re.compile(rf"{_REFUSAL.pattern}|{_ACCEPTANCE.pattern}")
#: The member of an answer that holds what was blanked out.
_BLANKED: Final = re.compile(rf'"(\w+)"\s*:\s*"[^"]*{re.escape(REDACTED)}')
#: Items of a list that are named as stored before.
_STORED: Final = 4
#: Writes to what a request is about that are told before it.
_WRITES_TOLD: Final = 3
_FILES: Final = "attachment"
#: Right requests that a wrong one is compared with, at most.
_CONTROLS: Final = 200
_SERVER_ERROR: Final = 500
SUCCESSES: Final = range(200, 300)
#: How the ids of clauses about tokens begin.
_OF_TOKENS: Final = "token-"


def faults_of_clause(faults: Sequence[RequestFault], clause: Clause | None) -> tuple[RequestFault, ...]:
    """The faults of a request that its clause speaks of; all of them where it speaks of none."""
    patterns = clause.faults if clause else ()
    of_clause = [fault for fault in faults if any(matches(pattern, fault.key) for pattern in patterns)]
    return tuple(of_clause or faults)[:_FAULTS_TOLD]


def was(
    finding: Finding, last: Exchange | None, faults: Sequence[RequestFault], before: Iterable[Exchange] = ()
) -> str:
    """Word what was: the answer, what is wrong with the request, and what was expected where that says more.

    Args:
        before: What the finding's case sent before the last one, looked at where a token is what it is about.
    """
    who = finding.operation or "the service"
    answer = STATUS.fullmatch(finding.seen.strip())
    if answer is None:
        # What a case quotes behind its own words is shown in full with the exchanges.
        words = finding.seen if _STEP in finding.seen else _QUOTED.split(finding.seen)[0]
        seen = plain_line(_last_steps(words), _SEEN) + _behind(finding, words, last)
        if faults and last is not None and last.operation == finding.operation:
            seen += f", where {' and '.join(map(fault_in_words, faults))}"
        return _sentence(f"But {who}{_queried(finding, last)} showed: {seen}; expected: {finding.expected}")
    status, body = answer["status"], answer["body"] or ""
    if last is not None and str(last.status) == status:
        who = last.operation or who
    if _SECRET in body:
        # Whatever else is wrong with the request or the answer, it is not that.
        where = _place_of_secret(last)
        return _sentence(f"But {who} was answered {status} {body}{where}; expected: {finding.expected}")
    taken = status.startswith("2")
    message = _message(body)
    quote = "" if taken else plain_line(body if message is None else message, _SEEN)
    if not (taken or quote) and _MESSAGE_DUE.search(finding.expected):
        quote = "without a message"
    errors = _errors_in_words(last, status)
    # Errors that are told in words need not be quoted, too.
    quoted = f" ({quote})" if quote and (message is not None or not errors) else ""
    words = f"But {who} was answered {status}{quoted}{errors}"
    if taken and _IN_WORDS.fullmatch(body):
        quoted = plain_line(body, _SEEN)
        words += f" {quoted}" if quoted.startswith("with") else f" ({quoted})"
    elif taken and who == _SIGN_IN and "…" not in body:
        lacking = [name for name in _GIVEN_BY_SIGN_IN if f'"{name}"' not in body]
        words += f" without {' and '.join(lacking)}" if lacking else ""
    if faults and who == finding.operation:
        words += f", {'though' if taken else 'where'} {' and '.join(map(fault_in_words, faults))}"
    elif last is not None and (_REFUSAL if taken else _ACCEPTANCE).fullmatch(finding.expected):
        # Nothing but the address says what it was that should not have been taken, or refused.
        words += f" to {last.method} {plain_line(_address(last), _ADDRESS)}"
    words += _valid_token(finding, last, before)
    return _sentence(words if PLAIN.fullmatch(finding.expected) else f"{words}; expected: {finding.expected}")


def _message(body: str) -> str | None:
    """The text of an answer's message, without the escapes of JSON; None where there is none."""
    message = _MESSAGE.search(body)
    if message is None:
        return None
    try:
        return str(json.loads(f'"{message["text"]}"', strict=False))
    except ValueError:
        return message["text"]


def _place_of_secret(last: Exchange | None) -> str:
    """Where an answer held a secret, which was blanked out since: the header, or the member, in words."""
    if last is None or last.response is None:
        return ""
    headers = [name for name, value in last.response.headers.pairs if REDACTED in value]
    members = _BLANKED.findall(last.response.body.decoded or "")
    named = [f"the header {name}" for name in headers] + [f"the member {name}" for name in members]
    return f": in {named[0]}" if named else ""


def _queried(finding: Finding, last: Exchange | None) -> str:
    """The query of a list that shows it, as it is meant; empty where there is none."""
    operation = load_description().operations.get(finding.operation or "")
    listing = operation is not None and operation.answers == "list"
    if not listing or last is None or last.operation != finding.operation:
        return ""
    # Each option has its place: a long filter must not hide what stands behind it.
    options = [plain_line(unquote(part), _OPTION) for part in urlsplit(last.url).query.split("&") if part]
    return f" with {' '.join(options)}" if options else ""


def _behind(finding: Finding, words: str, last: Exchange | None) -> str:
    """What the answer says behind a case's own words: how it was refused, or which items a list holds."""
    quoted = STATUS.fullmatch(finding.seen.removeprefix(f"{words}: ").strip())
    if quoted is not None and not quoted["status"].startswith("2"):
        message = _message(quoted["body"] or "")
        return f", {quoted['status']}" + (f" ({plain_line(message, _SEEN)})" if message is not None else "")
    if last is None or last.response is None or not _COUNTED.fullmatch(words):
        return ""
    try:
        items = readers.records(last.response) or []
    except readers.Ambiguous:
        return ""
    members = dict.fromkeys(name for item in items for name in item)
    named = {name: [str(item.get(name)) for item in items] for name in members}
    best = max(
        named.values(), key=lambda values: sum(value in finding.expected for value in values), default=[]
    )
    named_in_expected = any(value in finding.expected for value in best)
    return f" ({plain_line(', '.join(best), _SEEN)})" if named_in_expected else ""


def _address(exchange: Exchange) -> str:
    """What stands behind the version in an exchange's address."""
    parts = urlsplit(exchange.url)
    return _ROOT.sub("", parts.path) + (f"?{parts.query}" if parts.query else "")


def _errors_in_words(last: Exchange | None, status: str) -> str:
    """The errors array of a refusal, in words; empty where there is none to tell."""
    if last is None or last.response is None or str(last.status) != status or not status.startswith("4"):
        return ""
    try:
        elements = readers.errors(last.response) or []
    except readers.Ambiguous:
        return ""
    codes = [
        f"{element.get('code')} for {element.get('property')}"
        for element in elements
        if isinstance(element, dict)
    ]
    more = len(codes) - _ERRORS_TOLD
    words = plain_line(", ".join(codes[:_ERRORS_TOLD]), _SEEN)
    return f" with {words}{f' and {more} more' if more > 0 else ''}" if codes else ""


def _last_steps(seen: str) -> str:
    """What was seen after many steps, without those that lie far back."""
    steps = seen.split(_STEP)
    return _STEP.join(["…", *steps[-_STEPS_TOLD:]]) if len(steps) > _STEPS_TOLD else seen


def fault_in_words(fault: RequestFault) -> str:
    """What is wrong with a request, with the member that it is about."""
    member = fault.key.partition(":")[0].removeprefix("body.")
    named = not fault.in_content or fault.field in fault.says
    return fault.says if named else f"{member}: {fault.says}"


def _sentence(words: str) -> str:
    line = plain_line(words, _LONGEST)
    return line if line.endswith((".", "…")) else f"{line}."


def marks_of(finding: Finding, faults: Sequence[RequestFault], last: Exchange | None) -> Iterable[str]:
    """Texts that give it away: what is at fault in the request, and what the answer was judged by."""
    for fault in faults:
        yield from (quoted.removesuffix("…") for quoted in re.findall(r"'([^']{3,})'", fault.says)[:1])
        if fault.in_content and fault.kind != "missing":
            yield f'"{fault.field}"'
    answer = STATUS.fullmatch(finding.seen.strip())
    if answer is not None:
        yield f"{answer['status']} "
    if _SECRET in finding.seen and last is not None and last.response is not None:
        # What must not be told is not told here either; where it stood is.
        secret_headers = (
            f"{name}: {value}" for name, value in last.response.headers.pairs if REDACTED in value
        )
        yield from list(secret_headers) or [REDACTED]
    yield from (f'"{match["name"]}"' for match in MEMBER.finditer(finding.seen))
    words = finding.expected if answer else f"{_QUOTED.split(finding.seen)[0]} {finding.expected}"
    yield from dict.fromkeys(word for word in _WORD.findall(words) if _IDENTIFYING.search(word))


#: The header of a request with a right token, as exchanges are kept.
_RIGHT: Final = f"Bearer {TOKEN}"
_CUT: Final = re.compile(re.escape(TOKEN) + r"\[:(\d+)\]")


def token_fault(exchange: Exchange) -> RequestFault | None:
    """What is wrong with the token that a request carries, in words; None for a right one, and for none."""
    value = (exchange.authorization or "").strip()
    if not value or value == _RIGHT or exchange.operation not in operations_with(protected=True):
        return None
    scheme, _, token = value.rpartition(" ")
    if TOKEN in value and scheme != "Bearer":
        says = f"stands under the scheme {scheme}" if scheme else "stands without the word Bearer"
        return RequestFault("header.Authorization:scheme", f"the token, a valid one, {says}")
    return RequestFault("header.Authorization:unknown-value", f"the token sent is {_forged(token)}")


def _forged(token: str) -> str:
    """How a token that was never issued differs from a valid one."""
    if token.lower() == "bearer":
        return "empty: nothing stands behind the word Bearer"
    if match := _CUT.fullmatch(token):
        return f"a valid one cut off after {match[1]} characters"
    if token == f"{TOKEN}{SWAPPED}":
        return "a valid one with small and capital letters swapped"
    if token.startswith(TOKEN):
        return f"a valid one with another end ({plain_line(token.removeprefix(TOKEN), _OPTION)!r})"
    return f"made up ({plain_line(token, _OPTION)!r}) and was never issued"


def _valid_token(finding: Finding, refused: Exchange | None, before: Iterable[Exchange]) -> str:
    """Which token a request was refused with, where that is what it is about: whose, and where it was taken before."""
    if refused is None or not refused.role or refused.authorization != _RIGHT:
        return ""
    if not finding.clause.startswith(_OF_TOKENS) or not 400 <= (refused.status or 0) < _SERVER_ERROR:
        return ""
    done = [other for other in before if other.role == refused.role and other.status in SUCCESSES]
    sign_ins = [place for place, other in enumerate(done) if other.operation == _SIGN_IN]
    uses = [other for other in done[sign_ins[-1] + 1 if sign_ins else 0 :] if other.authorization == _RIGHT]
    realms = [
        facts.realm or other.realm for other in uses if (facts := read_request(other, load_description()))
    ]
    kind = "an expired one" if sign_ins and _over(done[sign_ins[-1]], refused) else "a valid one"
    where = f", taken {in_realms(realms)} before" if realms else ""
    return f", where the token sent is {kind} of {refused.role}'s{where}"


def _over(signed_in: Exchange, later: Exchange) -> bool:
    """Whether the token of a sign-in had expired when a later request was sent."""
    value = signed_in.response.body.json if signed_in.response is not None else None
    expires = read_timestamp(str(value.get(_GIVEN_BY_SIGN_IN[1]))) if isinstance(value, dict) else None
    return expires is not None and later.started is not None and expires < later.started


def request_line(exchange: Exchange) -> str:
    """A request as a person would say it: method, address, and the account whose token it carries, if that is right."""
    protected = exchange.operation in operations_with(protected=True)
    who = f" as {exchange.role}" if exchange.role and token_fault(exchange) is None else ""
    if protected and not exchange.request_headers.get("authorization"):
        who = " without a token"
    # A query is told as it is meant, a path as it is sent: what is encoded there may be what it is about.
    path, mark, query = _address(exchange).partition("?")
    return f"{exchange.method} {plain_line(f'{path}{mark}{unquote(query)}', _LONGEST)}{who}"


def came_before(record: RunRecord, finding: Finding, last: Exchange, faults: Sequence[RequestFault]) -> str:
    """What had been done to what a request is about, in words; empty for nothing, and where the request is at fault."""
    operation = load_description().operations.get(finding.operation or "")
    listing = operation is not None and operation.answers == "list" and last.operation == operation.id
    stored = _stored_before(record, finding, last) if listing else ""
    return stored or ("" if faults else _written_before(record, finding, last))


def _stored_before(record: RunRecord, finding: Finding, last: Exchange) -> str:
    """Which of the items that a list finding names had been stored, in words."""
    operations = load_description().operations
    family = operations_with(family=operations[str(last.operation)].family)
    makers = {name for name in family if operations[name].stores}
    text = f"{finding.expected} {finding.seen}"
    stored = dict[str, None]()
    for exchange in _before(record, last):
        made = exchange.operation in makers and exchange.role == last.role
        if made and exchange.response is not None and exchange.response.success:
            name = unquote(urlsplit(exchange.url).path.removesuffix("/versions/draft").rpartition("/")[2])
            stored |= {name: None} if name in text else {}
    names = list(stored)
    more = f" and {len(names) - _STORED} more" if len(names) > _STORED else ""
    return f"after {', '.join(names[:_STORED])}{more} had been stored" if names else ""


def _before(record: RunRecord, last: Exchange) -> Iterator[Exchange]:
    """What was sent in an exchange's realm before it."""
    earlier = takewhile(lambda exchange: exchange is not last, record.exchanges.values())
    return (exchange for exchange in earlier if exchange.realm == last.realm)


def _written_before(record: RunRecord, finding: Finding, last: Exchange) -> str:
    """How the writes to what a request is about were answered before it: those of its try, else the last of all.

    Of a member of the document that is not as it was saved, what it was sent with is told, too.
    """
    writes = [exchange for exchange in _before(record, last) if _writes_to_the_same(exchange, last)]
    mine = [write for write in writes if (write.case, write.attempt) == (last.case, last.attempt)]
    mine = mine or writes[-1:]
    done = [write for write in mine if write.method != "DELETE" and write.status in SUCCESSES]
    member = MEMBER.search(finding.seen)
    told = dict[tuple[str, str], None]()
    for write in mine:
        who = f" as {write.role}" if write.role != last.role else ""
        value = _parts(write).get(member["name"]) if member and write in done[-1:] else None
        sent = f" with {value}" if value else _length_sent(write)
        told |= {
            (f"{write.operation}{who}{sent}", f"{write.status or 'nothing'}{_told_length(write, last)}"): None
        }
    *steps, end = [
        f"{who} {'' if place else 'was answered '}{status}"
        for place, (who, status) in enumerate([*told][-_WRITES_TOLD:] or [("", "")])
    ]
    return f"after {' and '.join(filter(None, [', '.join(steps), end]))}" if told else ""


def _length_sent(write: Exchange) -> str:
    """How long the file was that a request sent, in words; empty for one that sent none."""
    length = _file_length(write)
    return f" of {many(length, 'byte')}" if length else ""


def _file_length(write: Exchange) -> int:
    """How long the file was that a request sent; 0 for none. Of a large one no more than its length is kept."""
    told = write.request_headers.get("content-length") or ""
    length = write.request_body.size or (int(told) if re.fullmatch(r"[0-9]{1,18}", told) else 0)
    return length if write.operation in operations_with(family=_FILES) else 0


def _told_length(write: Exchange, last: Exchange) -> str:
    """The length that the answer to sending a file tells, where it is that of what was sent, or of what came back."""
    sent = _file_length(write)
    value = write.response.body.json if write.response and sent else None
    lengths = {sent, *([last.response.body.size] if last.response else [])} - {0}
    members = value.items() if isinstance(value, dict) else ()
    told = (f" with {name} {length}" for name, length in members if type(length) is int and length in lengths)
    return next(told, "")


def _writes_to_the_same(other: Exchange, last: Exchange) -> bool:
    """Whether an exchange may have changed what another is about: the document, or an attachment of that name."""
    subject, of_files = subject_of(last.url), operations_with(family=_FILES)
    if subject == EVERYTHING or not writes(other.method, other.url):
        return False
    if other.operation in of_files and last.operation not in of_files:
        return False
    if subject_of(other.url) == EVERYTHING:
        bodies = (other.request_body, *([other.response.body] if other.response else []))
        return any(f'"{subject}"' in (body.decoded or "") for body in bodies)
    one, two = (_parts(exchange).get("filename") for exchange in (other, last))
    return subject_of(other.url) == subject and (one is None or two is None or one == two)


def contrast(record: RunRecord, finding: Finding, culprit: Exchange, faults: Sequence[RequestFault]) -> str:
    """What a request like the one that shows a finding got, but without its fault; empty where there was none to tell.

    It was taken, and is the nearest in the realm: it has what is at fault, is of the same cases, and differs in little.
    """
    if _SECRET in finding.seen:
        return ""
    refused = 400 <= (culprit.status or 0) < _SERVER_ERROR and not _REFUSAL.match(finding.expected)
    if not (faults or refused) or culprit.operation != finding.operation:
        return ""
    sent, at_fault = _parts(culprit), {fault.field for fault in faults}

    def differing(other: Exchange) -> dict[str, str]:
        return {name: shown for name, shown in _parts(other).items() if shown != sent.get(name)}

    def likeness(other: Exchange) -> tuple[int, bool, int]:
        names = differing(other)
        return len(at_fault & names.keys()), other.case in finding.cases, -len(names)

    controls = (other for other in reversed([*record.exchanges.values()]) if _is_control(other, culprit))
    best = max(islice(controls, _CONTROLS), key=likeness, default=None)
    if best is None:
        return ""
    differences = differing(best)
    words = [differences[name] for name in differences if name in at_fault or not faults][:_FAULTS_TOLD]
    return f"with {' and '.join(words) or 'a right request'}: {best.status}"


def others_refused(
    record: RunRecord, taken: Exchange, faults: Sequence[RequestFault], clause: Clause
) -> bool:
    """Whether requests with another member at fault, of which the clause speaks, too, were refused."""
    if not faults or not all(fault.in_content for fault in faults):
        return False
    fields = {fault.field for fault in faults}
    for other in record.exchanges.values():
        alike = (other.operation, other.realm, other.role) == (taken.operation, taken.realm, taken.role)
        if alike and 400 <= (other.status or 0) < _SERVER_ERROR:
            facts = read_request(other, load_description())
            of_clause = [
                fault
                for fault in (facts.faults if facts else ())
                if any(matches(pattern, fault.key) for pattern in clause.faults)
            ]
            if of_clause and all(fault.in_content and fault.field not in fields for fault in of_clause):
                return True
    return False


def _is_control(other: Exchange, culprit: Exchange) -> bool:
    """Whether an exchange is a right request of the same operation, account and realm, and was taken."""
    alike = (other.operation, other.realm, other.role) == (culprit.operation, culprit.realm, culprit.role)
    if not alike or other is culprit or other.response is None or not other.response.success:
        return False
    facts = read_request(other, load_description())
    return facts is not None and facts.valid and token_fault(other) is None


def _parts(exchange: Exchange) -> dict[str, str]:
    """What may differ between two requests of an operation, by name, as it is told."""
    facts = read_request(exchange, load_description())
    if facts is None:
        return {}
    value = exchange.request_body.json
    members = {**dict(facts.query), **(value if isinstance(value, dict) else {})}
    parts = {name: f"{name} {_value_in_words(value, sized=True)}" for name, value in facts.path.items()}
    parts |= {name: f"{name} {_value_in_words(value)}" for name, value in members.items()}
    parts |= {"Realm": f"the realm {facts.realm}"} if facts.realm else {}
    return parts | {"Authorization": "a valid token" if exchange.authorization == _RIGHT else "another token"}


def _value_in_words(value: Any, *, sized: bool = False) -> str:
    """A value, cut short; a text that may be at fault for its length with that."""
    if isinstance(value, str) and (sized or len(value) > _OPTION):
        return f"{plain_line(value, _OPTION)!r} ({len(value):,} characters)"
    return plain_line(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), _ADDRESS // 2
    )
