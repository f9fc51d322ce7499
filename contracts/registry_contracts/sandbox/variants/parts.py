"""Variants that replace methods of a part of the service: each is a subclass, and its docstring is its sentence."""

import asyncio
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, Final

from starlette.responses import Response

from registry_contracts.sandbox.app import TEMPORARY_FILES, Seeds, store
from registry_contracts.sandbox.documents import Attachments, Drafts
from registry_contracts.sandbox.http import JsonBody, Problem, Refusal
from registry_contracts.sandbox.lists import Lists, Page
from registry_contracts.sandbox.responses import INVALID_VALUE, Responses, json_response
from registry_contracts.sandbox.storage import (
    DRAFT,
    PUBLISHED,
    Attachment,
    Records,
    Version,
    opened,
    thumbnail,
)
from registry_contracts.sandbox.validation import (
    CONTACT,
    UNEXPECTED_TERM,
    Expectation,
    Field,
    Kind,
    Path,
    Problems,
    Realm,
    RecordType,
    Validator,
    header_of,
)
from registry_contracts.sandbox.variants.model import variant
from registry_contracts.sandbox.variants.rows import FAILED
from registry_contracts.sandbox.workflow import Submission, Workflow

# Refusals and errors.


@variant("message-spaced", "workflow-message-place")
class _Spaced(Responses):
    """White space around a message is not shown: it is quoted, broken into lines and ends with a line break."""

    def refusal_body(self, status: int, message: str, problems: Sequence[Problem] = ()) -> dict[str, Any]:
        first, space, rest = message.partition(" ")
        return super().refusal_body(status, f"  “{first}{space and chr(10)}{rest}” \r\n", problems)


@variant("problem-json", *FAILED, "workflow-message-place", habits={"refusal_form": "object"})
class _ProblemDetails(Responses):
    """The shape of refusals is not shown: they are problem details, application/problem+json."""

    def refusal(self, refusal: Refusal) -> Response:
        answer = super().refusal(refusal)
        if answer.status_code != 204:
            answer.headers["content-type"] = "application/problem+json"
        return answer

    def refusal_body(self, status: int, message: str, problems: Sequence[Problem] = ()) -> dict[str, Any]:
        body = {"type": "about:blank", "title": "Refused", "status": status, "detail": message}
        return body | ({"errors": self.errors(problems)} if problems else {})


# Lists.


@variant("list-hal", "list-envelope")
class _Hal(Responses):
    """The envelope of a list is not shown: items are embedded, with links (HAL)."""

    def envelope(self, items: list[dict[str, Any]]) -> Any:
        linked = [{**item, "_links": {"self": {"href": f"#{number}"}}} for number, item in enumerate(items)]
        links = {"self": {"href": "?page=0"}, "curies": [{"name": "doc", "href": "/rels/{rel}"}]}
        page = {"size": len(items), "totalElements": len(items), "totalPages": 1, "number": 0}
        return {"_embedded": {"records": linked}, "_links": links, "page": page}


@variant("list-hits", "list-envelope")
class _Hits(Responses):
    """The envelope of a list is not shown: hits of a search, each with its fields under _source."""

    def envelope(self, items: list[dict[str, Any]]) -> Any:
        hits = [{"_index": "records", "_score": 1.0, "_source": item} for item in items]
        return {"took": 3, "timed_out": False, "hits": {"total": {"value": len(hits)}, "hits": hits}}


@variant("list-beside-links", "list-envelope")
class _Beside(Responses):
    """The envelope of a list is not shown: items under a name of its own, links and figures beside them as arrays."""

    def envelope(self, items: list[dict[str, Any]]) -> Any:
        links = [{"rel": rel, "href": f"?page={rel}", "method": "GET"} for rel in ("self", "first", "last")]
        facets = [{"field": "schema", "count": len(items)}]
        return {"links": links, "facets": facets, "found": items, "total": len(items)}


@variant("list-neighbours-named", "list-fields")
class _Neighbours(Responses):
    """The fields of a listed item are not shown: it names the one before it and the one behind it."""

    def envelope(self, items: list[dict[str, Any]]) -> Any:
        names = [None, *(item.get(self.habits.identifier_member) for item in items), None]
        beside = zip(names, names[2:], strict=False)
        linked = [
            {**item, "before": one, "behind": other} for item, (one, other) in zip(items, beside, strict=True)
        ]
        return super().envelope(linked)


@variant("list-names-apart", "list-fields", "attachment-fields", habits={"unknown_list_field": "ignored"})
class _NamesApart(Lists):
    """By which names a list is filtered and ordered is not shown: by others than it shows; unknown ones are ignored."""

    def page(
        self, records: Records, columns: Mapping[str, str], rows: str, values: Mapping[str, Any], page: Page
    ) -> list[dict[str, Any]]:
        own = {
            name if name in ("sequence", "changed") else f"{name}_s": each for name, each in columns.items()
        }
        found = super().page(records, own, rows, values, page)
        return [{name.removesuffix("_s"): value for name, value in row.items()} for row in found]


_LATE_SECONDS: Final = 1.0


@variant("lists-late", "When a change shows in a list")
class _Late(Lists):
    """When a change shows in a list is not shown: drafts and attachments come and go a second later."""

    _shown: Records | None = None
    _next: tuple[float, Records] | None = None

    def page(self, records: Records, *query: Any) -> list[dict[str, Any]]:
        now = time.monotonic()
        if self._next is None or now - self._next[0] >= _LATE_SECONDS:
            # Show the last copy from now on, and copy the present state for later.
            if self._shown is not None:
                self._shown.connection.close()
            self._shown = _copied(records) if self._next is None else self._next[1]
            self._next = now, _copied(records)
        return super().page(self._shown or records, *query)


def _copied(records: Records) -> Records:
    """Return a copy of all that is stored."""
    copy = opened(":memory:")
    records.connection.backup(copy)
    return Records(copy, records.clock)


# Contents.

_FORMS: Final = {
    "emails": re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]+"),
    "phones": re.compile(r"[+0-9][0-9 ().-]{4,30}"),
    "faxes": re.compile(r"[+0-9][0-9 ().-]{4,30}"),
}
_ADDRESS: Final = re.compile(r"https?://\S+")


@variant("forms-checked", "contact-text-forms")
class _Forms(Validator):
    """Whether e-mail, telephone and web addresses are checked for their form is not shown: they are."""

    def of_value(self, field: Field, value: Any, path: Path, expectation: Expectation) -> Problems:
        problems = list(super().of_value(field, value, path, expectation))
        yield from problems
        text = value.get("url") if field.kind is Kind.LINK and isinstance(value, dict) else value
        form = _ADDRESS if field.kind is Kind.LINK else _FORMS.get(field.name)
        if form is not None and not problems and form.fullmatch(str(text)) is None:
            yield Problem(INVALID_VALUE, path)


_OWN_TERMS: Final = {
    "type": "CT-100",
    "addressType": "CT-200",
    "gender": {"identifier": "CT-300"},
    "organizationType": {"identifier": "CT-100"},
}


@variant(
    "contact-terms-own",
    *("contact-type-values", "contact-address-type-values", "contact-gender-values"),
    "contact-optional-term-values",
    contact=_OWN_TERMS,
)
class _OwnTerms(Validator):
    """The allowed values of type, addressType, gender and organizationType are not shown: three codes of its own."""

    def of_value(self, field: Field, value: Any, path: Path, expectation: Expectation) -> Problems:
        problems = list(super().of_value(field, value, path, expectation))
        yield from problems
        term = value.get("identifier") if isinstance(value, dict) else value
        own = field.name in _OWN_TERMS and expectation.kind.name == CONTACT.name
        if own and not problems and term not in ("CT-100", "CT-200", "CT-300"):
            yield Problem(UNEXPECTED_TERM, path)


# Drafts.


@variant("draft-wrapped", "draft-get-answer")
class _Wrapped(Responses):
    """The record that carries a draft is not shown: the content stands in it beside metadata."""

    _readings = count(1)

    def draft(self, draft: Version) -> Response:
        info, clock = self.described(draft), self.clock
        reading = {"readOn": clock.written(clock.now()), "reading": next(self._readings), "state": "draft"}
        return json_response({**info, **reading, "workingDocument": json.loads(draft.content)})


@variant("draft-extended", "draft-get-answer")
class _Extended(Responses):
    """What a service adds to a draft is not shown: members of its own, and a header made whole."""

    def draft(self, draft: Version) -> Response:
        content = json.loads(draft.content)
        if not isinstance(content, dict):
            return super().draft(draft)
        header = {"identifier": draft.identifier, "schema": draft.schema, "languages": ["en"]}
        own = {"_revision": 1, "_owner": draft.owner}
        return json_response({**own, **content, "header": {**header, **header_of(content), "version": 1}})


@variant("forms-normalised", "draft-save-body")
class _Normalised(Drafts):
    """Whether an e-mail and a web address are kept as they are written is not shown: small letters, no usual port."""

    def taken(self, records: Records, realm: Realm, uid: str, kind: RecordType, body: JsonBody) -> str:
        content = super().taken(records, realm, uid, kind, body)
        content = re.sub(r'"[^"\s\\]+@[^"\s\\]+"', lambda found: found[0].lower(), content)
        return re.sub(
            r'"https://[^"/:\\]+(:443)?(?=/)', lambda found: found[0].lower().removesuffix(":443"), content
        )


# Records that were submitted, and attachments.


# What waits has only a draft, and exists all the same.
@variant("drafts-published-soon", "workflow-submitted-state", habits={"drafts_not_existing": False})
class _PublishedSoon(Workflow):
    """What a publishing workflow makes of a draft is not shown: its published version, half a second later."""

    def initiate(self, submission: Submission, identifier: str, _records: Records) -> None:
        asyncio.get_running_loop().call_later(0.5, self._publish, submission.realm.name, identifier)

    def _publish(self, realm: str, identifier: str) -> None:
        with self.context.storage.transaction() as records:
            draft = records.version(realm, identifier, DRAFT)
            if draft is not None:
                what = {"schema": draft.schema, "owner": draft.owner, "content": draft.content}
                records.store(realm, identifier, PUBLISHED, **what)
                records.remove_draft(realm, identifier)


@variant("attachments-with-previews", "Attachments beside those that were created")
class _Previews(Attachments):
    """Whether a preview is an attachment, too, is not shown: it is, beside each file, with a number of its own."""

    def add(self, records: Records, *what: Any) -> Attachment:
        attachment, files = super().add(records, *what), self.context.files
        preview = files.keep(thumbnail(files.path(attachment.file_key), "PNG"))
        name = f"{attachment.filename}.preview.png"
        beside = replace(attachment, id=0, filename=name, content_type="image/png", size=preview.size)
        records.add_attachment(replace(beside, file_key=preview.key))
        return attachment


_WITH_FILES: Final = tuple(f"sandbox-files-{{realm}}-{number:02}" for number in range(1, 41))


_STRANGE: Final = "tmp~{realm}.{number:02}_"


@variant(
    "attachments-of-published",
    "Attachments of a document that is a draft still",
    habits={"attachments_of": "published"},
    settings={
        "attachment_identifiers": _WITH_FILES,
        "temporary_files": tuple(
            _STRANGE.format(realm="{realm}", number=number) for number in range(1, TEMPORARY_FILES + 1)
        ),
    },
)
class _OnlyPublished(Seeds):
    """Which documents take attachments is not shown: some published ones; how temporary files are named: strangely."""

    temporary = _STRANGE

    def plant_records(self, records: Records, realm: Realm) -> None:
        super().plant_records(records, realm)
        for name in _WITH_FILES if CONTACT.name in realm.types else ():
            identifier, schema = name.format(realm=realm.name), next(iter(realm.types))
            store(records, realm, identifier, PUBLISHED, schema, "author")
