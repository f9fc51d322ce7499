"""A draft that was stored although its save was refused is looked for once, and then removed like any other."""

from types import SimpleNamespace
from typing import Any

import pytest
import requests

from contracts.checks.outcomes import Attempt
from contracts.exchanges.exchange import Exchange
from contracts.plugin.drafts_of_cases import settle_drafts
from contracts.session.ledger import Ledger, read_entries
from contracts.session.namespace import Namespace
from contracts.settings.target import DOCUMENT_REALMS
from tests.meta import messages
from tests.meta.samples import TOKEN, credentials
from tests.meta.sandbox_client import TIME_LIMIT

UID = "rc-test-0123456789"


def exchange(
    operation: str, status: int, uid: str = UID, role: str = "author", sender: str = "author"
) -> Exchange:
    url = f"http://127.0.0.1/api/v2013/documents/{uid}/versions/draft?schema=contact"
    headers = {"Authorization": f"Bearer token of {sender}", "Realm": "abs-dev"}
    parts: dict[str, Any] = {"operation": operation, "role": role, "method": "PUT", "url": url}
    return messages.exchange(messages.response(status), request_headers=headers, **parts)


@pytest.fixture
def look(tmp_path: Any) -> Any:
    """Looks after attempts: gives the uids that were asked for, with the role, and the drafts found."""

    def make(*exchanges: Exchange, there: bool = True) -> tuple[list[tuple[str, str]], list[str]]:
        asked: list[tuple[str, str]] = []

        def actor(role: str, *_: Any) -> Any:
            def send(operation: str, path: dict[str, str], headers: dict[str, str | None]) -> Exchange:
                assert headers == {}, "saved under the realm's own header"
                asked.append((role, path["uid"]))
                return exchange(operation, 200 if there else 404)

            return SimpleNamespace(send=send)

        ledger = Ledger(tmp_path / "ledger-main.jsonl")
        worker: Any = SimpleNamespace(
            breaker_reason=None, kept=set(), namespace=Namespace("test"), ledger=ledger, actor=actor
        )
        settle_drafts(worker, [Attempt(1, exchanges=list(exchanges))])
        ledger.close()
        return asked, [entry.identifier for entry in ledger.removable()]

    return make


ASKED = [("author", UID)]


@pytest.mark.parametrize(
    ("exchanges", "asked"),
    [
        pytest.param([exchange("saveDraft", 401, role="anonymous")], ASKED, id="refused"),
        pytest.param([exchange("draftExists", 404), exchange("saveDraft", 400)], ASKED, id="looked before"),
        pytest.param([exchange("saveDraft", 400), exchange("draftExists", 404)], [], id="looked for"),
        pytest.param([exchange("saveDraft", 400), exchange("getDraft", 410)], [], id="read"),
        pytest.param([exchange("saveDraft", 400), exchange("saveDraft", 201)], [], id="saved as well"),
        pytest.param([exchange("saveDraft", 201)], [], id="accepted"),
        pytest.param([exchange("saveDraft", 400, "rc-test-01")], [], id="uid too short"),
        pytest.param([exchange("saveDraft", 400, f"{UID}%20")], [], id="uid with a blank"),
        pytest.param([exchange("saveDraft", 400, "somebody-elses-record")], [], id="of another"),
    ],
)
def test_a_refused_draft_is_asked_for_unless_the_case_did_so_itself(
    look: Any, exchanges: list[Exchange], asked: list[tuple[str, str]]
) -> None:
    """What is there goes into the ledger; uids that break the rule or are not the run's are not asked for."""
    assert look(*exchanges) == (asked, [UID] if asked else [])
    assert look(*exchanges, there=False) == (asked, [])


@pytest.fixture
def left(tmp_path: Any) -> Any:
    """Gives what is still to be removed after an attempt that saved a draft, deleted it and did more."""

    def make(*more: Exchange, kept: bool = False) -> list[str]:
        ledger = Ledger(tmp_path / "ledger-main.jsonl")
        entry = ledger.intend("saveDraft", "abs-dev", "author", UID)
        assert entry is not None
        ledger.settle(entry, "created")
        worker: Any = SimpleNamespace(ledger=ledger, kept={UID} if kept else set())
        exchanges = [exchange("saveDraft", 201), exchange("deleteDraft", 204), *more]
        settle_drafts(worker, [Attempt(1, exchanges=exchanges)])
        ledger.close()
        return [each.identifier for each in ledger.removable()]

    return make


def test_a_draft_that_was_deleted_and_found_absent_needs_no_cleaning(left: Any) -> None:
    assert left(exchange("draftExists", 404)) == []
    assert left(exchange("getDraft", 400)) == []


@pytest.mark.parametrize(
    "more",
    [
        [],
        [exchange("draftExists", 200)],
        [exchange("getDraft", 401, sender="nobody")],
        [exchange("draftExists", 404), exchange("saveDraft", 201)],
        [exchange("draftExists", 404), exchange("saveDraft", 400)],
        [exchange("draftExists", 404), exchange("getDraft", 200)],
    ],
    ids=[
        "not looked for",
        "there",
        "refused for another reason",
        "saved anew",
        "perhaps saved",
        "read after all",
    ],
)
def test_anything_less_sure_is_cleaned_up(left: Any, more: list[Exchange]) -> None:
    assert left(*more) == [UID]


def test_what_cases_share_stays_in_the_ledger(left: Any) -> None:
    assert left(exchange("draftExists", 404), kept=True) == [UID]


@pytest.mark.usefixtures("nothing_left")
def test_no_draft_of_a_default_realm_is_left_unlisted(run: Any, faulty: Any) -> None:
    service = faulty(variants=("realm-optional", "realm-unknown-written"))
    ended = run(f"--target={service.target}", "--realm=bch-dev", "-k", "test_elsewhere")
    assert ended.code == 0, ended.output
    # The look before the run sends under the realm itself.
    written = read_entries([ended.folder / "ledger.jsonl"])
    entries = [entry for entry in written if entry.realm_sent]
    assert {entry.realm_sent for entry in entries} == {"(none)", "(empty)", "no-such-realm"}
    listed = {each["identifier"] for each in ended.verdict["leftovers"]}
    signed_in = requests.post(f"{service.url}{TOKEN}", json=credentials("author"), timeout=TIME_LIMIT).json()
    for realm in DOCUMENT_REALMS:
        headers = {"Authorization": f"Bearer {signed_in['authenticationToken']}", "Realm": realm}
        shown = requests.get(
            f"{service.url}/api/v2013/document-drafts", {"$top": "1000"}, headers=headers, timeout=TIME_LIMIT
        )
        unlisted = {entry.identifier for entry in entries if entry.identifier in shown.text} - listed
        assert not unlisted, realm
