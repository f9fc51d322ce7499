"""How one sandbox is set up: its settings, and its habits where the document says "not shown" or nothing.

Another reading of the silence is another value here and never another branch in the code.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from contracts.errors import UsageError, suggestion
from contracts.interface.cross_origin import AllowedOrigins

ONE_GIGABYTE = 1024**3
"""Limits, "Create attachment": 1 GB, read as 2**30 bytes."""


@dataclass(frozen=True)
class Settings:
    """The figures a sandbox is started with.

    Attributes:
        data: folder for the database and the files; ``None`` keeps everything for this process only.
        size_limit: largest attachment accepted by Create, in bytes (Limits: 1 GB).
        token_lifetime: seconds a token stays valid (token lifetime: not shown in the document).
        variants: names of variants and combinations, see ``contracts.sandbox.variants``.
        habits: habits by name, laid over those of the variants.
        defects: names of defects, see ``contracts.sandbox.defects``.
        faults: names of faults of the population, see ``contracts.sandbox.faults``.
        observed: count what the service shows, see ``contracts.sandbox.faults.observer``.
        weather: what stands between the service and its clients, see ``contracts.sandbox.weather``.
        weather_seed: seed of the weather's chance.
        json_limit: largest JSON body read, in bytes (silent; guards the memory).
        origins: pages of these origins may use it; ``None`` leaves browsers to find that they may not.

    """

    data: Path | None = None
    size_limit: int = ONE_GIGABYTE
    token_lifetime: float = 3600.0
    json_limit: int = 16 * 1024**2
    variants: tuple[str, ...] = ()
    habits: tuple[tuple[str, Any], ...] = ()
    defects: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    observed: bool = False
    weather: tuple[str, ...] = ()
    weather_seed: int = 1
    origins: AllowedOrigins | None = None


@dataclass(frozen=True)
class Habits:
    """The plainest HTTP habit for each silent point.

    Attributes:
        token_status: success of the token operation.
        contact_created_status: success of contact create.
        contact_updated_status: success of contact update.
        draft_created_status: success of Save when no draft was there.
        draft_updated_status: success of Save when it replaced one.
        draft_deleted_status: success of Delete; 204 carries no body.
        attachment_created_status: success of Create.
        attachment_persisted_status: success of Upload from temporary storage.
        workflow_created_status: success of a workflow POST.
        workflow_updated_status: success of a workflow PUT.
        unauthenticated_status: protected operation without a valid token (workflow excepted: 403 is stated).
        wrong_credentials_status: token operation with a wrong e-mail or password.
        forbidden_status: signed in, but without the right (workflow excepted).
        not_found_status: the thing named in the path is not there.
        delete_missing_status: Delete where there is no draft, so also the second Delete.
        bad_request_status: a parameter, header or body that cannot be used.
        validation_status: faulty contact or submission content, with the ``errors`` array.
        conflict_status: contact create under an identifier in use.
        too_large_status: an upload or body over its limit.
        media_type_status: a JSON operation with another content type.
        write_answers_record: contact, draft and attachment writes answer the record's metadata; else nothing.
        identifier_member: member that carries a record's identifier.
        attachment_id_member: member that carries an attachment's integer id.
        list_member: member that wraps list items; ``None`` answers the bare array.
        count_member: member beside ``list_member`` that carries the number of items; ``None`` leaves it out.
        draft_member: member that wraps the content answered by Get; ``None`` answers the content itself.
        error_member: member that wraps a refusal; ``None`` puts its members at the top level.
        status_member: member of a refusal that repeats the status; ``None`` leaves it out.
        message_member: member of a refusal that carries its text.
        error_property_path: the ``property`` of a fault is a dotted path, not just the field of the table.
        timestamp_digits: digits of fractional seconds, 1 to 6.
        head_length: HEAD answers carry the Content-Length of the GET.
        realm_required: contact and draft operations refuse a request without Realm header.
        default_realm: realm taken when none is given and none is required.
        attachments_open: attachment exists, get and thumbnail answer without a token.
        empty_mandatory_string_refused: an empty string counts as a missing mandatory value.
        unknown_submission_members_refused: members of the workflow body beside the three listed are a fault.
        header_schema_must_agree: ``header.schema`` must name the schema the request names.
        list_default_top: items answered when the request gives no top; ``None`` answers all.
        newest_first: default order of lists is newest first, not oldest first.
        thumbnail_pixels: longest side of a thumbnail.

    """

    token_status: int = 200
    contact_created_status: int = 201
    contact_updated_status: int = 200
    draft_created_status: int = 201
    draft_updated_status: int = 200
    draft_deleted_status: int = 204
    attachment_created_status: int = 201
    attachment_persisted_status: int = 201
    workflow_created_status: int = 201
    workflow_updated_status: int = 200
    unauthenticated_status: int = 401
    wrong_credentials_status: int = 401
    forbidden_status: int = 403
    not_found_status: int = 404
    delete_missing_status: int = 404
    bad_request_status: int = 400
    validation_status: int = 400
    conflict_status: int = 409
    too_large_status: int = 413
    media_type_status: int = 415
    write_answers_record: bool = True
    identifier_member: str = "identifier"
    attachment_id_member: str = "id"
    list_member: str | None = None
    count_member: str | None = None
    draft_member: str | None = None
    error_member: str | None = None
    status_member: str | None = "statusCode"
    message_member: str = "message"
    error_property_path: bool = False
    timestamp_digits: int = 3
    head_length: bool = True
    realm_required: bool = True
    default_realm: str = "abs-dev"
    attachments_open: bool = True
    empty_mandatory_string_refused: bool = False
    unknown_submission_members_refused: bool = True
    header_schema_must_agree: bool = True
    list_default_top: int | None = None
    newest_first: bool = False
    thumbnail_pixels: int = 160


_WORDS = {"true": True, "false": False, "none": None}
_LOWEST_STATUS, _HIGHEST_STATUS = 200, 499


def read_habits(words: Iterable[str]) -> tuple[tuple[str, Any], ...]:
    """Read habits given as NAME=VALUE.

    Raises:
        UsageError: there is no such habit, or the value is not of its kind.
    """
    return tuple(_read_habit(word) for word in words)


def _read_habit(word: str) -> tuple[str, Any]:
    name, equals, text = word.partition("=")
    usual = {field.name: field.default for field in fields(Habits)}
    if not equals or name not in usual:
        raise UsageError(f"--habit {word!r} is no NAME=VALUE of a habit; {suggestion(name, list(usual))}")
    value = int(text) if text.isascii() and text.isdigit() else _WORDS.get(text, text)
    kind = _kind(name)
    if not re.fullmatch(kind, type(value).__name__):
        raise UsageError(f"--habit {name} takes {_KINDS[kind]}, not {text!r}")
    if name.endswith("_status") and not _LOWEST_STATUS <= int(value or 0) <= _HIGHEST_STATUS:
        raise UsageError(
            f"--habit {name} takes a status from {_LOWEST_STATUS} to {_HIGHEST_STATUS}, not {text}"
        )
    return name, value


#: Types of values, and how a message calls them.
_KINDS = {
    "bool": "true or false",
    "int": "a whole number",
    "int|NoneType": "a whole number or none",
    "str": "a name",
    "str|NoneType": "a name or none",
}


def _kind(name: str) -> str:
    declared = str(Habits.__annotations__[name])
    return declared.replace(" ", "").replace("None", "NoneType").replace("<class'", "").replace("'>", "")


def habit_lines() -> Iterator[str]:
    """Every habit with its usual value and what it is about, a line each."""
    meanings = dict(re.findall(r"^ {8}(\w+): (.+)$", Habits.__doc__ or "", re.MULTILINE))
    for field in fields(Habits):
        usual = next((word for word, value in _WORDS.items() if value is field.default), field.default)
        yield f"{field.name}={usual}  {meanings[field.name]}"
