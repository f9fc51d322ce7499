"""Lives of drafts: what a sequence shows of a service, how it is shortened, what is remembered of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contracts.cases import draft_lives
from contracts.cases.draft_lives import CLAUSES, FAMILIES, TOUR, KeptCalls, Life, Players, calls_of, shortened
from contracts.cases.properties import example_database
from contracts.cases.sample_records import Samples
from contracts.cases.world import World
from contracts.checks.claims import Expect
from contracts.checks.outcomes import Attempt, Contradiction
from contracts.interface.catalogue import Level, load_catalogue
from contracts.interface.description import load_description
from contracts.settings.target import RealmSettings
from tests.meta import messages

TOLD = RealmSettings(contact_schema="person", contact_organization="org-0123456789", country_terms=("ke",))


class Service:
    """Keeps drafts; a fault is an operation of it that does something else."""

    def __init__(self, fault: str = "") -> None:
        self.drafts: dict[str, Any] = {}
        self.fault = fault
        self.sent: list[Any] = []

    def answer(self, operation: str, uid: str, sent: Any) -> tuple[int, Any]:
        """Do what an operation does."""
        there = uid in self.drafts
        match operation:
            case "saveDraft":
                if self.fault == "loses updates" and there:
                    return 200, {}
                if self.fault == "takes a neighbour along" and len(self.drafts) > 1:
                    self.drafts.pop(next(name for name in self.drafts if name != uid))
                self.drafts |= {} if self.fault == "stores nothing" else {uid: sent}
                return 200, {}
            case "deleteDraft":
                if self.fault != "keeps what is deleted":
                    self.drafts.pop(uid, None)
                return 204, None
            case "draftExists" if self.fault == "always exists":
                return 200, None
            case "listDrafts":
                return 200, [{"identifier": name} for name in self.drafts]
        return (200, self.drafts[uid]) if there else (404, None)

    def send(self, operation: str, path: Any = None, query: Any = None, **parts: Any) -> Any:
        """Answer an actor's request."""
        described, uid = load_description().operations[operation], (path or {}).get("uid", "")
        sent = parts.get("json")
        status, body = self.answer(operation, uid, sent)
        pairs = "&".join(f"{name}={value}" for name, value in (query or {}).items())
        url = f"https://registry.test{described.path.replace('{uid}', uid)}{'?' * bool(pairs)}{pairs}"
        exchange = messages.exchange(
            messages.answer(body, status),
            operation,
            id=f"main-{len(self.sent)}",
            method=described.method,
            url=url,
            realm="abs-dev",
            role="author",
            request_body=b"" if sent is None else json.dumps(sent).encode(),
        )
        self.sent.append(exchange)
        return exchange


@pytest.fixture
def players(run: Any) -> Callable[[Service], Players]:
    """Makes the players of a service with one account."""

    def make(service: Service) -> Players:
        actor: Any = messages.FakeActor(service.send, role="author", realm="abs-dev")
        world = World(run, actor, Samples(TOLD, "abs-dev"))
        attempt = Attempt(1, exchanges=service.sent)
        return Players(world, None, Expect(attempt, load_catalogue(), CLAUSES), attempt)

    return make


def drafts_alone() -> draft_lives.Calls:
    return tuple(call for call in TOUR if call[0] != "submit_faulty")


def test_a_service_that_keeps_its_promises_goes_through_the_tour(players: Any) -> None:
    life = Life(players(Service()))
    life.play(drafts_alone())
    assert {call[0] for call in life.done} >= {"save", "read", "exists", "info", "delete", "mydrafts", "my"}


@pytest.mark.parametrize(
    ("fault", "key", "shortest"),
    [
        ("loses updates", ("draft-save-updates", "getDraft"), 3),
        ("takes a neighbour along", ("draft-save-spares-others", "saveDraft"), 5),
        ("keeps what is deleted", ("draft-delete-removes", "deleteDraft"), 3),
        ("always exists", ("draft-exists-absent", "draftExists"), 1),
        ("stores nothing", ("draft-save-creates", "saveDraft"), 2),
    ],
)
def test_a_contradiction_speaks_against_what_broke_the_promise_and_is_shortened(
    players: Any, tmp_path: Path, fault: str, key: tuple[str, str], shortest: int
) -> None:
    place, kept = players(Service(fault)), KeptCalls(example_database(tmp_path, "here", None))
    with pytest.raises(Contradiction) as found:
        draft_lives.explore(place, kept, 1, 200)
    assert found.value.evidence.key == key
    assert [len(calls) for calls in kept.load()] == [shortest]
    assert len(place.attempt.evidence) == 1
    reproduced, tried = place.attempt.confirmed.get(key, (2, 2))
    assert 2 <= reproduced <= tried


def test_the_tour_makes_every_kind_of_call_and_no_clause_of_it_is_silent() -> None:
    assert {action for action, _ in TOUR} == set(FAMILIES)
    assert not [name for name in CLAUSES if load_catalogue().clause(name).level is Level.SILENT]


def test_what_cannot_be_seen_again_is_not_shortened() -> None:
    assert shortened(TOUR, lambda _: False) == TOUR
    calls = calls_of("save A, read A, save B, delete A, read B, save A, read A")
    assert shortened(calls, lambda some: ("delete", "A") in some) == calls_of("delete A, read A")


@pytest.mark.parametrize("entry", [b"", b"\xff", b"{}", b'[["fly", "A"]]', b'[["read", "Z"]]', b"[1]"])
def test_sequences_come_back_shortest_first_and_others_are_passed_over(tmp_path: Path, entry: bytes) -> None:
    database = example_database(tmp_path, "here", None)
    kept, long, short = KeptCalls(database), calls_of("save A, delete A, read A"), calls_of("save A, read A")
    kept.add(long)
    kept.add(short)
    database.save(b"lives of drafts", entry)
    assert kept.load() == [short, long]
    kept.remove(short)
    assert kept.load() == [long]
    assert json.loads(next(one for one in database.fetch(b"lives of drafts") if one.startswith(b"[[")))
