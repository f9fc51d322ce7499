"""What a run may write to: its own, the kept records, what the settings name; never what only looks like it.

Which runs are over, and which private folders are no longer needed.
"""

import json
import platform
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.exchanges.exchange import Headers, Response
from registry_contracts.session import shared_state
from registry_contracts.session.authentication import clock_ahead
from registry_contracts.session.draft_cleanup import earlier_runs
from registry_contracts.session.namespace import ALPHABETS, KEPT_PREFIX, Namespace, is_signed

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
    middle = OURS.uid()
    assert is_signed(f"{middle[:12]}]{middle[12:]}")


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
    assert clock_ahead(Response(200, headers=Headers({"Date": date})), NOW) == ahead


URL = "http://registry.example"
LINE = {"number": 1, "operation": "saveDraft", "what": "draft", "realm": "abs-dev", "role": "author"}
LINE |= {"identifier": "rc-dead0000001", "state": "intended", "at": "2026-01-01T00:00:00+00:00", "by": "main"}


def now(hours_ago: float = 0) -> str:
    return (datetime.now(UTC) - timedelta(hours=hours_ago)).isoformat()


@pytest.mark.parametrize(
    ("facts", "swept"),
    [
        ({}, True),
        ({"finished": "2026-01-01T00:00:00+00:00", "left": 0}, False),
        ({"finished": "2026-01-01T00:00:00+00:00", "left": 2}, True),
        ({"base_url": "http://another.example"}, False),
        ({"token": None}, False),
        ({"process": {"pid": 1, "host": "another-machine"}}, False),
        ({"process": {"pid": 1, "host": "another-machine"}, "started": now(25)}, True),
    ],
    ids=["dead", "finished", "leftovers", "another-target", "no-token", "elsewhere", "elsewhere-long-ago"],
)
def test_only_runs_that_are_over_go(tmp_path: Path, facts: dict[str, Any], swept: bool) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    process = {"pid": 1, "host": platform.node()}
    known = {"base_url": URL, "token": "dead", "finished": None, "started": now(), "process": process}
    (folder / "run.json").write_text(json.dumps({**known, **facts}))
    (folder / "ledger-main.jsonl").write_text(json.dumps(LINE) + "\n")
    found = [draft.identifier for run in earlier_runs(tmp_path, URL) for draft in run.drafts]
    assert found == (["rc-dead0000001"] if swept else [])


def test_private_folders_of_dead_runs_go_and_no_others(tmp_path: Path) -> None:
    places = {name: tmp_path / f"registry-contracts-{name}" for name in ("alive", "dead", "new", "open")}
    for path in places.values():
        path.mkdir(mode=0o700)
    alive = shared_state.ProcessLock(places["alive"], "main")
    for name in ("dead", "open"):
        (places[name] / "alive-main.lock").touch()
        (places[name] / "token-author.json").write_text("{}")
    places["open"].chmod(0o755)
    (tmp_path / "registry-contracts-link").symlink_to(places["dead"])
    assert list(shared_state.abandoned_private_folders(tmp_path)) == [places["dead"]]
    assert shared_state.remove_abandoned_private_folders(tmp_path) == 1
    assert {name for name, path in places.items() if path.exists()} == {"alive", "new", "open"}
    alive.release()
    assert not shared_state.process_alive(places["alive"])
