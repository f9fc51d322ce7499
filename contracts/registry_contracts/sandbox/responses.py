"""The shapes of answers, as the habits give them: metadata, lists, answers to writes, refusals."""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final

from starlette.responses import PlainTextResponse, Response

from registry_contracts.sandbox.habits import Habits
from registry_contracts.sandbox.http import Problem, Reason, Refusal
from registry_contracts.sandbox.storage import Attachment, Clock, Version

MANDATORY: Final = "Error.Mandatory"
MANDATORY_ANY_OF: Final = "Error.MandatoryAnyOf"
INVALID_VALUE: Final = "Error.InvalidValue"
JSON: Final = "application/json"
NO_CONTENT: Final = 204
_UNAUTHORIZED: Final = 401
_PARTIAL: Final = 206
REDIRECTS: Final = range(300, 400)
#: What an answer can describe.
Stored = Version | Attachment
#: The first letters of the names in a path.
_BEGINNING = re.compile(r"(?:^|(?<=[.]))[a-z]")
_HALVES = re.compile("[\ud800-\udfff]")


def json_text(value: Any) -> str:
    """Return a JSON value as text, in the order and with the numbers it came with; half a surrogate pair is escaped."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def json_bytes(value: Any) -> bytes:
    """Return a JSON value as the bytes of its text."""
    return json_text(value).encode("utf-8")


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response whose body is a JSON value."""
    return Response(json_bytes(value), status, headers, media_type=JSON)


def version_columns(habits: Habits) -> dict[str, str]:
    """Return the names under which the parts of a draft are shown, each with its column."""
    moments = {"createdOn": "created_on", "updatedOn": "updated_on"}
    alike = ("schema", "realm", "owner", "size")
    return {habits.identifier_member: "identifier", **{name: name for name in alike}, **moments}


def attachment_columns(habits: Habits) -> dict[str, str]:
    """Return the names under which the parts of an attachment are shown, each with its column."""
    identifiers = {habits.attachment_id_member: "id", habits.identifier_member: "identifier"}
    alike = {name: name for name in ("filename", "size", "owner")}
    return {**identifiers, **alike, "contentType": "content_type", "createdOn": "created_on"}


def is_shown(habits: Habits, name: str) -> bool:
    """Whether a field of a description is shown; identifiers always are."""
    identifiers = (habits.identifier_member, habits.attachment_id_member)
    return not habits.fields_shown or name in identifiers or name in habits.fields_shown.split()


class Responses:
    """Shapes every JSON response of the sandbox."""

    def __init__(self, habits: Habits, clock: Clock) -> None:
        self.habits = habits
        self.clock = clock
        self._readings = count(1)

    def described(self, stored: Stored) -> dict[str, Any]:
        """Return the description of a version or an attachment (fields of these records: not shown)."""
        columns = (version_columns if isinstance(stored, Version) else attachment_columns)(self.habits)
        row = {name: getattr(stored, column) for name, column in columns.items()}
        if self.habits.realm_in_capitals and "realm" in row:
            row["realm"] = row["realm"].upper()
        return self.of_row(row)

    def of_row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the description of one row of a list, with its moments as text."""
        habits, number = self.habits, self.habits.attachment_id_member
        if habits.attachment_id_in_link and "filename" in row:
            place = f"{row[habits.identifier_member]}/attachments/{row[number]}/{row['filename']}"
            return {"name": row["filename"], "length": row["size"], "url": f"/api/v2013/documents/{place}"}
        shown = {
            name: self.clock.written(value) if name.endswith("On") else value
            for name, value in row.items()
            if is_shown(habits, name)
        }
        if habits.attachment_id_text and number in shown:
            shown[number] = str(shown[number])
        return shown

    def written(self, stored: Stored, status: int, location: str = "", **more: Any) -> Response:
        """Return the response to a write; a redirect leads to ``location``, else to the record."""
        habits, record = self.habits, {**self.described(stored), **more}
        number = record.get(habits.attachment_id_member)
        if status == NO_CONTENT:
            return Response(status_code=status)
        if habits.id_in_location or status in REDIRECTS:
            place = f"/api/v2013/documents/{record.get(habits.identifier_member)}"
            place += "" if number is None else f"/attachments/{number}"
            return Response(status_code=status, headers={"Location": location or place})
        if number is not None and habits.attachment_number_alone:
            return json_response(number, status)
        return json_response(record, status) if habits.write_answers_record else Response(status_code=status)

    def draft(self, draft: Version) -> Response:
        """Return the full content of a draft, exactly as it was stored unless the habit says more."""
        content = None if self.habits.draft_answer == "content" else json.loads(draft.content)
        if self.habits.draft_answer == "wrapped":
            moment = self.clock.written(self.clock.now())
            reading = {"readOn": moment, "reading": next(self._readings), "state": "draft"}
            return json_response({**self.described(draft), **reading, "workingDocument": content})
        if isinstance(content, dict):
            header = {"identifier": draft.identifier, "schema": draft.schema, "languages": ["en"]}
            given = content["header"] if isinstance(content.get("header"), dict) else {}
            own = {"_revision": 1, "_owner": draft.owner}
            return json_response({**own, **content, "header": {**header, **given, "version": 1}})
        return Response(draft.content, media_type=JSON)

    def existing(self, whole: Response) -> Response:
        """Return the response of an exists check from that of the read."""
        status = self.habits.exists_status
        if status == NO_CONTENT:
            return Response(status_code=status, media_type=whole.media_type)
        whole.status_code = status
        return whole

    def listed(self, rows: Sequence[Mapping[str, Any]]) -> Response:
        """Return a list."""
        habits = self.habits
        items = [self.of_row(row) for row in rows]
        if not items and habits.list_empty_status == NO_CONTENT:
            return Response(status_code=NO_CONTENT)
        if not items and habits.list_empty_status is not None:
            return json_response(
                self.refusal_body(habits.list_empty_status, "nothing was found"), habits.list_empty_status
            )
        last = max(0, len(items) - 1)
        headers = {"Content-Range": f"items 0-{last}/*"} if habits.list_status == _PARTIAL else None
        return json_response(self.envelope(items), habits.list_status, headers)

    def envelope(self, items: list[dict[str, Any]]) -> Any:
        """Return the body of a list."""
        match self.habits.list_envelope:
            case "hal":
                linked = [{**item, "_links": {"self": {"href": f"#{at}"}}} for at, item in enumerate(items)]
                links = {"self": {"href": "?page=0"}, "curies": [{"name": "doc", "href": "/rels/{rel}"}]}
                page = {"size": len(items), "totalElements": len(items), "totalPages": 1, "number": 0}
                return {"_embedded": {"records": linked}, "_links": links, "page": page}
            case "hits":
                hits = [{"_index": "records", "_score": 1.0, "_source": item} for item in items]
                return {"took": 3, "timed_out": False, "hits": {"total": {"value": len(hits)}, "hits": hits}}
            case "beside links":
                related = [
                    {"rel": r, "href": f"?page={r}", "method": "GET"} for r in ("self", "first", "last")
                ]
                facets = [{"field": "schema", "count": len(items)}]
                return {"links": related, "facets": facets, "found": items, "total": len(items)}
            case "neighbours":
                names = [None, *(item.get(self.habits.identifier_member) for item in items), None]
                beside = zip(items, names, names[2:], strict=False)
                return [{**item, "before": one, "behind": other} for item, one, other in beside]
        return items

    def refusal(self, refusal: Refusal) -> Response:
        """Return a refusal: its text, and the ``errors`` array when content was faulty."""
        status = refusal.status or int(getattr(self.habits, refusal.reason.value))
        if status == NO_CONTENT:
            return Response(status_code=status)
        body = self.refusal_body(status, refusal.message, refusal.problems)
        if refusal.identifier is not None:
            body[self.habits.identifier_member] = refusal.identifier
        if refusal.reason is Reason.WRONG_CREDENTIALS and status < 300:
            body |= {"authenticationToken": None, "expiration": None}
        headers = {"WWW-Authenticate": "Bearer"} if status == _UNAUTHORIZED else None
        form = "object" if refusal.problems else self.habits.refusal_form
        if form == "text":
            return PlainTextResponse(refusal.message + "\n", status, headers)
        if form == "empty" and refusal.status is None:
            return Response(status_code=status, headers=headers)
        answer = json_response(refusal.message if form == "string" else body, status, headers)
        if self.habits.refusal_form == "problem":
            answer.headers["content-type"] = "application/problem+json"
        return answer

    def refusal_body(self, status: int, message: str, problems: Sequence[Problem] = ()) -> dict[str, Any]:
        """Return the JSON body of a refusal."""
        if self.habits.message_spaced:
            first, space, rest = message.partition(" ")
            message = f"  “{first}{space and chr(10)}{rest}” \r\n"
        if self.habits.refusal_form == "problem":
            details = {"type": "about:blank", "title": "Refused", "status": status, "detail": message}
            return details | ({"errors": self.errors(problems)} if problems else {})
        body: dict[str, Any] = {self.habits.message_member: message}
        if self.habits.status_member is not None:
            body = {self.habits.status_member: status, **body}
        if self.habits.error_member is not None:
            body = {self.habits.error_member: body}
        if problems:
            body["errors"] = self.errors(problems)
        return body

    def errors(self, problems: Sequence[Problem]) -> list[dict[str, Any]]:
        """Return the ``errors`` array: objects of ``code`` and ``property`` (the field concerned)."""
        pairs = dict.fromkeys((self.code_of(problem), self.property_of(problem)) for problem in problems)
        errors = [{"code": code, "property": field} for code, field in pairs]
        return errors[::-1] if self.habits.errors_reversed else errors

    def code_of(self, problem: Problem) -> str:
        """Return the code by which a problem is reported."""
        if problem.code == MANDATORY:
            return MANDATORY_ANY_OF if self.habits.mandatory_as_any_of else MANDATORY
        return INVALID_VALUE if self.habits.codes_coarse else problem.code

    def property_of(self, problem: Problem) -> str:
        """Return the name by which a problem's field is reported."""
        field = ".".join(problem.path) if self.habits.error_property_path else problem.path[0]
        capitals = self.habits.error_properties_in_capitals
        return _BEGINNING.sub(lambda letter: letter[0].upper(), field) if capitals else field
