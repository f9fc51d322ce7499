"""Query strings, read strictly: what cannot be decoded or is given twice is refused, never guessed."""

from urllib.parse import parse_qsl

from starlette.requests import Request

from contracts.sandbox.refusals import bad_request

_MOST_FIELDS = 200


def query_value(request: Request, name: str) -> str | None:
    """Return one query parameter.

    Args:
        request: the request.
        name: the exact, case-sensitive name of the parameter.

    Returns:
        Its decoded value, or ``None`` when it is not there.

    Raises:
        Refusal: the query string cannot be decoded, or gives the parameter more than once.

    """
    values = [value for key, value in _pairs(request) if key == name]
    if len(values) > 1:
        raise bad_request(f"query parameter {name} is given more than once")
    return values[0] if values else None


def _pairs(request: Request) -> list[tuple[str, str]]:
    raw = request.scope["query_string"].decode("latin-1")
    try:
        return parse_qsl(raw, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError as problem:
        raise bad_request("the query string cannot be read: percent-encoded UTF-8 is expected") from problem


def header_value(request: Request, name: str) -> str | None:
    """Return one header; several of the same name count as one value joined by commas, as HTTP says."""
    values = request.headers.getlist(name)
    return ", ".join(values) if values else None
