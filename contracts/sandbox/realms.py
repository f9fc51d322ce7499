"""Realms and the schemas configured in each (What the service does, "Realm values")."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request

from contracts.sandbox import record_types as types
from contracts.sandbox.query import header_value, query_value
from contracts.sandbox.record_types import RecordType
from contracts.sandbox.refusals import bad_request


@dataclass(frozen=True)
class Realm:
    """One application context.

    Attributes:
        name: the value of the Realm header.
        types: the record types configured for it, by schema name.
        holds_documents: contact, draft and attachment operations serve it; else workflow only.

    """

    name: str
    types: Mapping[str, RecordType]
    holds_documents: bool = True


def _realm(name: str, *kinds: RecordType, holds_documents: bool = True) -> Realm:
    return Realm(name, {kind.name: kind for kind in kinds}, holds_documents)


REALMS = (
    _realm("abs-dev", types.ABS_PERMIT, types.ABS_CHECKPOINT, types.ABS_MEASURE, types.CONTACT),
    _realm("bch-dev", types.BCH_DECISION, types.BCH_ORGANISM, types.BCH_LABORATORY, types.CONTACT),
    _realm("chm-dev", types.CHM_PROFILE, types.CHM_NEWS, types.CHM_MEETING, types.CONTACT),
    _realm("ort-dev", types.ORT_REPORT, types.ORT_TARGET, types.ORT_ANNEX, holds_documents=False),
)


class RealmBook:
    """Finds the realm and the schema a request names.

    Args:
        realms: the configured realms; production realms are unknown here.
        required: contact and draft operations refuse a request without realm (silent).
        default: the realm taken when none is given and none is required.

    """

    def __init__(
        self, realms: tuple[Realm, ...] = REALMS, *, required: bool = True, default: str = "abs-dev"
    ) -> None:
        self.realms = {realm.name: realm for realm in realms}
        self.required = required
        self.default = default

    def named(self, name: str) -> Realm | None:
        """Return the configured realm of that name, or ``None``; names are case-sensitive."""
        return self.realms.get(name)

    def given(self, request: Request) -> str | None:
        """Return the realm a workflow request names: the header, else the query parameter ``Realm``."""
        return header_value(request, "realm") or query_value(request, "Realm") or None

    def of_documents(self, request: Request) -> Realm:
        """Return the realm of a contact or draft operation (header only).

        Raises:
            Refusal: no realm, an unknown one, or one that serves the workflow endpoint only.

        """
        name = header_value(request, "realm")
        if not name:
            if self.required:
                raise bad_request("the Realm header is missing")
            name = self.default
        realm = self.named(name)
        if realm is None:
            raise bad_request("the realm is not configured")
        if not realm.holds_documents:
            raise bad_request(f"the realm {realm.name} serves the workflow endpoint only")
        return realm

    def schema(self, request: Request, realm: Realm) -> RecordType:
        """Return the record type the query parameter ``schema`` names.

        Raises:
            Refusal: it is missing, or not configured for the realm.

        """
        name = query_value(request, "schema")
        if not name:
            raise bad_request("the query parameter schema is missing")
        if name not in realm.types:
            raise bad_request(f"the schema is not configured for the realm {realm.name}")
        return realm.types[name]
