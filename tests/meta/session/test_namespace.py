"""What a run may write to: its own, the kept records, what the settings name; never what only looks like it."""

from datetime import UTC, datetime

import pytest

from registry_contracts.exchanges.exchange import Headers, Response
from registry_contracts.session.namespace import ALPHABETS, KEPT_PREFIX, Namespace, is_signed
from registry_contracts.session.tokens import seconds_ahead

OURS = Namespace("ab12", ["granted-0001"], "1 main", foreign=["organization-abs-dev"])
OWNED = {
    True: "rc-ab12xyz00000 rc-keep-author-contact granted-0001 rc-ab12a/b0000 rc-ab12..0000",
    False: "rc-ab1 rc-ab13xyz00000 RC-ab12xyz00000 xrc-ab12xyz0000 rc-keepsake-0001 granted-00010 rc-keep-x/.. "
    "rc-ab12x/../sandbox-foreign rc-ab12x%2F..%2Fsandbox-foreign rc-ab12x%252f%252e%252e%252fsandbox-foreign "
    "rc-ab12x\\..\\sandbox-foreign",
}


@pytest.mark.parametrize(
    ("identifier", "owned"), [(each, owned) for owned, names in OWNED.items() for each in names.split()]
)
def test_a_run_owns_its_own_and_not_what_looks_like_it(identifier: str, owned: bool) -> None:
    assert OURS.owns(identifier) is owned


def test_a_foreign_identifier_is_never_taken_in() -> None:
    run = Namespace("ab12", foreign=["organization-abs-dev"])
    for name in ("organization-abs-dev", "minted-00001"):
        run.claim_minted(name)
    assert [run.owns(name) for name in ("organization-abs-dev", "minted-00001")] == [False, True]


@pytest.mark.parametrize(
    "identifier",
    [
        "rc-report-2026-final",
        "rc-report2026finalversion1",
        "rc-abcdmadebyaperson0001",
        f"{KEPT_PREFIX}author-contact-abs-dev",
        "rc-ab12000000000000000000",
        "rc-ab12ABCDEFGHIJKLMNOPQR",
    ],
)
def test_what_people_name_is_not_signed(identifier: str) -> None:
    assert not is_signed(identifier)
    assert is_signed(OURS.uid())


@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_identifiers_without_the_prefix_are_known_to_their_run_alone(alphabet: str) -> None:
    ours, same_seed = Namespace("ab12", seed="1"), Namespace("ab13", seed="1")
    uid = ours.without_prefix(alphabet, 32)
    assert set(uid) <= set(alphabet)
    assert len(uid) == 32
    assert same_seed.without_prefix(alphabet, 32) != uid
    assert all(ours.owns(around) for around in (uid, f"-{uid}", f"_{uid}_"))
    assert not any(ours.owns(other) for other in (uid[:-1], uid[::-1], f"{uid}{uid[-1]}"))
    assert not same_seed.owns(uid)
    same_seed.adopt("ab12")
    assert same_seed.owns(uid)


NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("date", "ahead"),
    [
        ("Sun, 22 Nov 2026 12:00:30 GMT", 30.0),
        ("yesterday", None),
        ("Sat, 01 Jan 99999999999 00:00:00 GMT", None),
    ],
)
def test_the_clock_of_the_service_is_read_or_cannot_be_told(date: str, ahead: float | None) -> None:
    assert seconds_ahead(Response(200, headers=Headers({"Date": date})), NOW) == ahead
