"""What to type about a finding: this program's commands, and a shell script that needs only curl.

The script is made from the exchanges. It sends the requests and compares the answers with those of the run, and exits
with 0 only if everything that the finding rests on is the same again.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from registry_contracts.checks import documents, http, sign_in
from registry_contracts.evidence.causes import Cause
from registry_contracts.evidence.findings import Finding
from registry_contracts.evidence.record import RunFacts
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Body, Exchange, Headers, Response
from registry_contracts.exchanges.redaction import KEPT_BODY, TOKEN
from registry_contracts.exchanges.transcript import (
    BODY_IN_FILE,
    PASSWORD_VARIABLE,
    TOKEN_VARIABLE,
    Slot,
    body_words,
    json_of,
    octal,
    request_words,
    secret_slot,
    shell_word,
    variable_of,
)
from registry_contracts.interface.description import operations_with
from registry_contracts.interface.profiles import Profile
from registry_contracts.reports.earlier_writes import IDENTIFIER
from registry_contracts.reports.pages import template_text
from registry_contracts.safe_text import encodable, plain_line
from registry_contracts.session.namespace import SUITE_PREFIX, TOKEN_LENGTH
from registry_contracts.settings.embedded_sandbox import DEFAULT_SIZE_LIMIT, DOCUMENT_SIZE_LIMIT
from registry_contracts.settings.target import ACCOUNT_ROLES, AUTHOR, EMBEDDED_IN_WORDS

#: Options of a run that name its target and its reports.
_WHERE: Final = ("--target", "--sandbox-arguments", "--reports")
_LINE: Final = 400
#: Checks that judge the class of the status only.
_BY_STATUS: Final = frozenset(
    check.id for check in (http.ACCEPTANCE, http.REFUSED, http.BELOW_500, documents.GONE, sign_in.NO_TOKEN)
)
#: Checks that hold if the answer has an errors array.
_BY_ERRORS: Final = frozenset({http.TURNED_DOWN.id, documents.ERRORS_ARRAY.id})
_SIGN_IN: Final = "createToken"
_NAME: Final = re.compile(r"[\w.-]{3,}", re.ASCII)
_IDENTIFYING: Final = re.compile(r"[0-9]|\w[-.]\w")
#: A number; a member whose name can be that of a shell variable.
_NUMBER: Final = re.compile(r"[0-9]+")
_MEMBER: Final = re.compile(r"[A-Za-z]\w*", re.ASCII)
_PARTS_OF_PATHS: Final = frozenset({"versions", "draft", "attachments", "persist-temporary"})
#: Characters that are special in the patterns of the shell's `case`.
_IN_PATTERNS: Final = re.compile(r"[*?\[\]\\]")
_USAGE: Final = """#!/usr/bin/env bash
# {clause}, {place}: {should}
# Sends the requests of finding {id} by curl, and compares the answers with those of the run.
#     bash {id}.sh            at {where}
#     bash {id}.sh ADDRESS    at another address
# Exit codes: 0 the finding shows again, 1 the answers are different, 2 an account is not set or cannot sign in,
# 3 no answer came, 4 the answers must be compared by eye.
"""


@dataclass(frozen=True, slots=True)
class NextCommand:
    """A command line to paste; `does` says what it does."""

    name: str
    does: str
    line: str


def own_commands(run_command: str, finding: Finding) -> tuple[NextCommand, ...]:
    """Return this program's commands about a finding; they work in the folder where its run was started."""
    where = where_of(run_command)
    # The command names the target: files of a kept run must not decide where a password is sent.
    given = [f"{name}={where[name]}" for name in ("--target", "--reports") if name in where]
    explain = ["registry-contracts", "explain", finding.clause]
    again = ["registry-contracts", "run", "--finding", finding.id, *given]
    return (
        NextCommand("explain", "Show the clause and its last verdicts", shlex.join(explain)),
        NextCommand("again", "Run its case again, with its target, realm and seed", shlex.join(again)),
    )


def where_of(command: str) -> dict[str, str]:
    """The values of --target, --sandbox-arguments and --reports in a run's command; none if it cannot be split."""
    try:
        words = shlex.split(command)
    except ValueError:
        return {}
    given = {}
    for word, after in zip(words, [*words[1:], ""], strict=True):
        name, sign, value = word.partition("=")
        if name in _WHERE:
            given[name] = value if sign else after
    return given


def script(
    run: RunFacts, cause: Cause[Finding], before: Sequence[Exchange], shown: Sequence[Exchange]
) -> str:
    """Return the script of a finding; empty without exchanges.

    Args:
        before: earlier writes that its requests rely on.
        shown: its exchanges.
    """
    return encodable(_Script(run, cause, before, shown).text()) if shown else ""


class _Script:
    def __init__(
        self, run: RunFacts, cause: Cause[Finding], before: Sequence[Exchange], shown: Sequence[Exchange]
    ) -> None:
        self._run, self._cause, self._finding = run, cause, cause.lead
        self._sent, self._shown = [*before, *shown], shown
        self._deciding = self._decides(shown[-1])
        self._judged = list(shown[-1:] if self._deciding else shown)
        #: Values of the run that change with each execution, and the variables that replace them.
        self._slots: list[Slot] = []
        if run.base_url:
            self._slots.append((re.compile(re.escape(run.base_url.rstrip("/"))), "$BASE"))
        if len(run.token) == TOKEN_LENGTH:
            for prefix, token, variable in (
                (SUITE_PREFIX, run.token, "${RUN}"),
                (SUITE_PREFIX.upper(), run.token.upper(), "${RUN_IN_CAPITALS}"),
            ):
                self._slots.append((re.compile(f"(?<={prefix}){re.escape(token)}"), variable))

    def _decides(self, last: Exchange) -> tuple[str, ...]:
        """Commands that compare the last answer, if a part of it decides; empty if all answers must be the same."""
        check, answer = self._finding.check, last.response
        if answer is None:
            return ()
        alike = f"is '{answer.status // 100}?? *'"
        if check in _BY_STATUS or (check == http.TAKEN.id and answer.refusal):
            return (alike,)
        if check in _BY_ERRORS and '"errors"' not in answer.text.lower():
            return (alike, "lacks_errors")
        if check == http.NO_SECRET.id:
            kind = PASSWORD_VARIABLE if last.operation == _SIGN_IN else TOKEN_VARIABLE
            return (f'echoes "${variable_of(kind, last.role)}"',)
        return ()

    def text(self) -> str:
        """The whole script."""
        steps = [line for number in range(len(self._sent)) for line in self._step(number)]
        removal = ["removal() {", *(f"    {line}" for line in self._removals()), "    :", "}"]
        body = "\n".join([*removal, "", *steps, "", *self._end()])
        return "\n".join([*self._beginning(body), body, ""])

    def _beginning(self, body: str) -> Iterator[str]:
        cause, run = self._cause, self._run
        embedded = run.target_in_words == EMBEDDED_IN_WORDS
        where = f"{run.target_in_words}, which it starts" * embedded or run.base_url
        values = {"clause": cause.clause, "place": cause.place, "should": cause.should, "where": where}
        yield _USAGE.format(id=cause.id, **{name: plain_line(text, _LINE) for name, text in values.items()})
        yield f"EXPECTED={shell_word(plain_line(self._finding.expected, _LINE))}"
        yield f"SEEN={shell_word(plain_line(self._finding.seen, _LINE))}"
        yield f"BASE=${{1-{'' if embedded else shlex.quote(run.base_url)}}}\n"
        yield template_text("finding.sh")
        if embedded:
            limit = DOCUMENT_SIZE_LIMIT if run.profile == Profile.FULL else DEFAULT_SIZE_LIMIT
            arguments = shlex.split(where_of(run.command).get("--sandbox-arguments", ""))
            serve = shlex.join(["serve", "--size-limit", str(limit), *arguments])
            yield f'[ -n "$BASE" ] || {serve}'
        if "${RUN" in body:
            yield f"RUN=$(tr -dc a-z0-9 < /dev/urandom | head -c {TOKEN_LENGTH})"
        if "${RUN_IN" in body:
            yield 'RUN_IN_CAPITALS=$(printf %s "$RUN" | tr a-z A-Z)'
        for role in ACCOUNT_ROLES:
            yield from _account(role, body, embedded=embedded)

    def _step(self, number: int) -> Iterator[str]:
        """A request, the variables taken from its answer, and the comparison of its answer."""
        exchange = self._sent[number]
        name = shlex.quote(plain_line(exchange.operation or exchange.method))
        yield f"\n# {name}"
        file = '"$folder/sent"'
        made, data = body_words(exchange, file, KEPT_BODY, self._slots)
        if made:
            yield f"{made} > {file}"
        words = " ".join(["send", name, *request_words(exchange, self._slots), *data])
        yield words if exchange.response else f"unanswered=yes\n{words}\nunanswered="
        for value, member, place in self._given(number):
            variable = f"{member.upper()}_{number + 1}" + f"_{place}" * (place > 1)
            yield f"{variable}=$(member {member} {place})"
            self._slots.append((value, f"${{{variable}}}"))
        if any(exchange is each for each in self._judged):
            yield from self._comparison(exchange)

    def _comparison(self, exchange: Exchange) -> Iterator[str]:
        """Commands that compare the part of an answer that the finding rests on with that of the run."""
        response = exchange.response
        if response is None:
            yield "is none"
            return
        if self._deciding:
            yield from self._deciding
            return
        kind = response.headers.first("content-type") or ""
        pattern = _IN_PATTERNS.sub(r"\\\g<0>", f"{response.status} {kind}")
        yield f"is {shlex.quote(pattern)}"
        if exchange.method == "HEAD" or _gives_token(exchange):
            return
        a_list = exchange.operation in operations_with(answers="list") and response.success
        if items := self._items(exchange, response) if a_list else "":
            yield items
        elif response.body.decoded is None or "\0" in response.body.decoded:
            yield f"bytes {octal(response.content)}"
        else:
            secret = secret_slot(TOKEN_VARIABLE, exchange.role)
            yield f"holds {shell_word(response.body.decoded, (*self._slots, secret))}"

    def _items(self, exchange: Exchange, response: Response) -> str:
        """The command that compares a list by the records that the script or the finding names.

        Other records may have changed since the run.
        """
        query = dict(parse_qsl(urlsplit(exchange.url).query))
        most = query.get("$top", query.get("top", ""))
        if self._finding.check == documents.AT_MOST.id and most.isdecimal():
            records = readers.records(response) or [{}]
            names = (name for name in records[0] if response.text.count(f'"{name}"') == len(records))
            return f"more {most} {shlex.quote(next(names, ''))}"
        # Leave out the quoted answer, which names every record of the list.
        seen = re.split(r"[\[{]", self._finding.seen)[0]
        words = _NAME.findall(f"{self._finding.expected} {seen}")
        named = {word for word in words if _IDENTIFYING.search(word) and word in response.text}
        named |= {name for each in self._sent if each.method != "GET" for name in _written(each)}
        wanted = "|".join(name.replace(".", r"\.") for name in sorted(named, key=len, reverse=True))
        had = "".join(f"{name} " for name in re.findall(wanted, response.text)) if wanted else ""
        return f"names {shell_word(wanted, self._slots)} {shell_word(had, self._slots)}" if wanted else ""

    def _given(self, number: int) -> Iterator[tuple[re.Pattern[str], str, int]]:
        """Values that an answer assigned and later requests need: a pattern, the member's name, and its position.

        Identifiers are taken from answers to writes, attachment numbers from any answer.
        """
        exchange, needed = self._sent[number], self._texts_after(number)
        counts, taken = dict[str, int](), set[str]()
        for member, value in _members(json_of(exchange.response.body) if exchange.response else None):
            counts[member], text = counts.get(member, 0) + 1, str(value)
            if text in taken or isinstance(value, bool) or not _MEMBER.fullmatch(member):
                continue
            if _NUMBER.fullmatch(text) and member.lower().endswith("id"):
                before = "/attachments/" + f'|"{member}"\\s*:\\s*"?' * (exchange.method != "GET")
            elif IDENTIFIER.fullmatch(text) and exchange.method != "GET" and self._new(text, exchange):
                before = r"(?<![\w-])"
            else:
                continue
            pattern = re.compile(f"(?:{before})(?P<value>{text})(?![\\w.-])")
            if any(pattern.search(each) for each in needed):
                taken.add(text)
                yield pattern, member, counts[member]

    def _new(self, identifier: str, exchange: Exchange) -> bool:
        """Whether the service made an identifier: neither the request nor the run's token contains it."""
        known = f"{exchange.url} {exchange.request_body.text}"
        return identifier not in known and not (self._run.token and self._run.token in identifier)

    def _texts_after(self, number: int) -> list[str]:
        """Texts of later requests, and of the answers to be compared."""
        later = self._sent[number + 1 :]
        requests = [text for each in later for text in (each.url, each.request_body.text)]
        compared = [
            each
            for each in self._judged
            if each not in self._sent[:number] and each.operation not in operations_with(answers="list")
        ]
        return requests + [each.response.text for each in compared if each.response]

    def _removals(self) -> Iterator[str]:
        """Requests that delete the drafts that the script saves and does not delete."""
        left = dict[str, Exchange]()
        for exchange in self._sent:
            place = exchange.url.partition("?")[0]
            done = exchange.response is not None and exchange.response.success
            if exchange.operation == "saveDraft" and done and exchange.authorization == f"Bearer {TOKEN}":
                left[place] = exchange
            elif exchange.operation == "deleteDraft" and done:
                left.pop(place, None)
        for place, saved in left.items():
            pairs = (
                pair for pair in saved.request_headers.pairs if not pair[0].lower().startswith("content-")
            )
            gone = replace(
                saved, method="DELETE", url=place, request_body=Body(), request_headers=Headers(tuple(pairs))
            )
            yield " ".join(["request", *request_words(gone, self._slots)])

    def _end(self) -> Iterator[str]:
        yield r"""printf 'expected: %s\nin the run: %s\nnow: %s\n' "$EXPECTED" "$SEEN" "$came" """.rstrip()
        if why := self._by_eye():
            yield f"stop 4 {shlex.quote(f'Compare by eye: {why}.')}"
        else:
            yield "[ $again = yes ] || stop 1 'It does not show again: the answers are different.'"
            yield "echo 'It shows again.'"

    def _by_eye(self) -> str:
        """Why the script cannot compare the answers itself; empty if it can."""
        answers = [each.response for each in self._judged if each.response]
        if any(f"@{BODY_IN_FILE}" in body_words(each, "", KEPT_BODY)[1] for each in self._sent):
            return "a body that was sent was not kept whole"
        if self._finding.check == http.NO_CONTENT.id:
            return "curl does not read what follows the answer to HEAD"
        if self._deciding:
            return ""
        if _gives_token(self._judged[-1]):
            return "a token and its expiration are different each time"
        return "" if all(each.body.whole for each in answers) else "an answer was not kept whole"


def _gives_token(exchange: Exchange) -> bool:
    return exchange.operation == _SIGN_IN and exchange.response is not None and exchange.response.success


def _account(role: str, body: str, *, embedded: bool) -> Iterator[str]:
    """Commands that set the variables of an account, and its token, if the requests need them."""
    token, password = (variable_of(kind, role) for kind in (TOKEN_VARIABLE, PASSWORD_VARIABLE))
    signs_in, shows_password = (re.search(rf"\$\{{?{name}\b", body) for name in (token, password))
    if not signs_in and not shows_password:
        return
    prefix = "REGISTRY" if role == AUTHOR else f"REGISTRY_{role.upper()}"
    email, secret = f'"${prefix}_EMAIL"', f'"${prefix}_PASSWORD"'
    if embedded:
        email, secret = f"{role}@sandbox.test", f"sandbox-{role}"
    if shows_password:
        yield f"{password}={secret}"
        yield f'hide "${password}"'
    if signs_in:
        yield f"sign_in {role} {email} {secret}"
        yield f"{token}=$token"


def _written(exchange: Exchange) -> Iterator[str]:
    """The names in the address of a write: of a document, of a file."""
    steps = unquote(urlsplit(exchange.url).path).partition("/documents/")[2].split("/")
    return (step for step in steps if step not in _PARTS_OF_PATHS and _NAME.fullmatch(step))


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    """Members of an answer with a scalar value, in their order."""
    if isinstance(value, list):
        for item in value:
            yield from _members(item)
    elif isinstance(value, dict):
        for name, member in value.items():
            if isinstance(member, dict | list):
                yield from _members(member)
            else:
                yield name, member
