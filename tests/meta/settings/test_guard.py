"""The guard: production is refused before the first byte, whatever the spelling; everything else passes."""

from dataclasses import replace
from typing import Any

import pytest
from requests.structures import CaseInsensitiveDict

from registry_contracts.errors import SuiteError, UsageError
from registry_contracts.settings.guard import GuardViolation, refuse_production, refuse_request
from registry_contracts.settings.target import RealmSettings, ServiceNames, Target

TARGET = Target("t", "https://host.example")
DRAFTS = "https://host.example/api/v2013/document-drafts"
WORKFLOW = "https://host.example/api/v2023/documents/schemas/x"


@pytest.mark.parametrize(
    "target",
    [
        *(replace(TARGET, kind=kind) for kind in ("production", "Development", "")),
        *(replace(TARGET, realms=("abs-dev", name)) for name in ("abs", "bch", "chm", "ort", "ABS", " ort ")),
        replace(TARGET, realm={"chm": RealmSettings()}),
    ],
)
def test_a_production_target_is_refused(target: Target) -> None:
    refuse_production(TARGET)
    with pytest.raises(UsageError, match=r"production realm|kind is not"):
        refuse_production(target)


HOST = "https://host.example"
#: Base addresses, and addresses that are elsewhere.
ELSEWHERE = {
    HOST: [
        *("https://other.example/api", "http://host.example/api", "https://host.example:8443/api"),
        *("https://host.example.evil.example/api", "https://me:secret@host.example/api"),
        *("https://host.example@evil.example/api", "https://host.example\\@evil.example/api"),
        *("//host.example/api", "/api/v2013/document-drafts", "https:host.example/api", ""),
    ],
    "http://[::1]:8080": ["http://[::1]/a"],
    f"{HOST}/dev": [
        *(f"{HOST}/api/v2013", HOST, f"{HOST}/", f"{HOST}/development/api", f"{HOST}/DEV/api"),
        *(f"{HOST}/dev/../api", f"{HOST}/dev/%2e%2e/api", f"{HOST}/dev/%252e%252e/api"),
        *(f"{HOST}/dev/a/../../api", f"{HOST}/dev//../api", f"{HOST}/dev/..\\..\\api"),
    ],
}
#: The same, and other spellings of addresses that are there.
THERE = {
    HOST: [
        *("https://host.example/a", "https://HOST.example:443/a", "HTTPS://host.example"),
        *("https://host.example?a=b", f"{HOST}/api/v2013/documents/../%2e%2e/versions/draft"),
    ],
    "http://[::1]:8080": ["http://[::1]:8080/a"],
    f"{HOST}/dev": [
        *(f"{HOST}/dev/api/v2013", f"{HOST}/dev", f"{HOST}/dev/documents/../versions/draft"),
        *(f"{HOST}/dev/a%2Fb", f"{HOST}/dev/..."),
    ],
    f"{HOST}/café": [f"{HOST}/caf%C3%A9/api"],
}


def each(addresses: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(base, url) for base, urls in addresses.items() for url in urls]


@pytest.mark.parametrize(("base", "url"), each(ELSEWHERE))
def test_another_address_is_refused(base: str, url: str) -> None:
    with pytest.raises(GuardViolation, match=r"a GET request: the address is not (on|below)"):
        refuse_request("GET", url, {}, Target("t", base))


@pytest.mark.parametrize(("base", "url"), each(THERE))
def test_another_spelling_of_the_same_address_passes(base: str, url: str) -> None:
    refuse_request("GET", url, {}, Target("t", base))


@pytest.mark.parametrize(
    "value",
    [
        *("abs", "bch", "chm", "ort", "ABS", " abs", "abs\t", "\xa0abs", '"abs"', "ab%73", "%61%62%73"),
        *("%2561bs", "abs-dev,abs", "abs, abs-dev", "abs-dev;ort", "\ufeffabs", "abs\x00"),
        *("\uff41\uff42\uff53", "abs%20", "abs-dev%2Cabs"),
    ],
)
def test_a_production_realm_is_refused_in_header_and_query(value: str) -> None:
    with pytest.raises(GuardViolation, match="Realm header"):
        refuse_request("GET", DRAFTS, {"Realm": value}, TARGET)
    with pytest.raises(GuardViolation, match="Realm query"):
        refuse_request("POST", f"{WORKFLOW}?Realm={value}", {}, TARGET)


@pytest.mark.parametrize(
    ("query", "headers", "says"),
    [
        *(
            (query, {"Realm": "abs-dev"}, "Realm query")
            for query in (
                *("realm=abs", "REALM=abs", "Realm=abs-dev&Realm=abs", "Realm=abs&Realm=abs-dev"),
                *("a=b;Realm=abs", "R%65alm=abs", "%52ealm%3Dabs", "Realm[]=abs", "Realm%5B0%5D=abs"),
                *("+Realm=+abs", "a=1&&Realm=abs&"),
            )
        ),
        ("", [("Realm", b"abs-dev"), (" realm ", b"abs")], "Realm header"),
        ("", {"Realm": "abs-dev", "realm": "abs"}, "Realm header"),
        ("", CaseInsensitiveDict({"reAlm": "abs"}), "Realm header"),
        ("", {"host": "production.example"}, "Host header"),
    ],
)
def test_every_spelling_and_every_value_is_seen(query: str, headers: Any, says: str) -> None:
    with pytest.raises(GuardViolation, match=says):
        refuse_request("POST", f"{WORKFLOW}?{query}", headers, TARGET)


def test_a_production_realm_is_refused_in_a_header_of_the_targets_own() -> None:
    target = replace(TARGET, names=ServiceNames(realm_header="X-Realm"))
    with pytest.raises(GuardViolation, match="Realm header selects a production realm"):
        refuse_request("GET", WORKFLOW, {"x-realm": "abs"}, target)
    refuse_request("GET", WORKFLOW, {"x-realm": "abs-dev"}, target)


@pytest.mark.parametrize(
    "value", ["abs-dev", "ort-dev", "", "absent", "abs-", "xabs", "abs.dev", "production", "a%b"]
)
def test_realms_that_are_not_production_pass(value: str) -> None:
    query = f"Realm={value}&$filter=realm eq 'abs'&schema=abs"
    headers = {"Realm": value, "X-Note": "abs", "Host": "host.example"}
    refuse_request("GET", f"{WORKFLOW}?{query}", headers, TARGET)


def test_no_request_goes_to_a_target_that_is_not_for_development() -> None:
    with pytest.raises(GuardViolation, match="kind is not"):
        refuse_request("GET", DRAFTS, {}, replace(TARGET, kind="production"))


def test_a_violation_is_the_suites_own_fault_and_repeats_no_query() -> None:
    secret = {"Authorization": "Bearer hunter2"}
    with pytest.raises(SuiteError) as caught:
        refuse_request("GET", "https://other.example/?token=hunter2", secret, TARGET)
    assert "hunter2" not in str(caught.value)
