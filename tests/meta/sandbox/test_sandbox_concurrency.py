"""Simultaneous requests to the sandbox: of several that exclude one another exactly one succeeds."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
import requests

from tests.meta.samples import DOCUMENTS, contact
from tests.meta.sandbox_client import TIME_LIMIT, SandboxClient, new_uid

AT_ONCE = 8


def together(action: Callable[[Any, int], int], clients: list[Any]) -> Counter[int]:
    """Let each client act at the same moment and count the statuses."""
    barrier = Barrier(len(clients))

    def act(number: int) -> int:
        barrier.wait(TIME_LIMIT)
        return action(clients[number], number)

    with ThreadPoolExecutor(len(clients)) as pool:
        return Counter(pool.map(act, range(len(clients))))


def persist(client: SandboxClient, file_id: str) -> requests.Response:
    return client.post(f"{DOCUMENTS}/sandbox-existing-abs-dev/attachments/persist-temporary/{file_id}")


def temporary_file(client: SandboxClient) -> str:
    return str(client.post("/sandbox/temporary-files/a.txt", data=b"x").json()["tempFileId"])


@pytest.mark.parametrize(
    ("prepare", "act", "statuses"),
    [
        (lambda _: new_uid(), lambda client, uid: client.submit("POST", uid), (201, 400)),
        (lambda client: client.saved(), lambda client, uid: client.submit("PUT", uid), (200, 400)),
        (lambda _: new_uid(), lambda client, uid: client.post_contact(contact(uid=uid)), (201, 409)),
        (temporary_file, persist, (201, 404)),
    ],
    ids=["create", "update", "contact", "temporary file"],
)
def test_one_of_many_succeeds(
    caller: Any,
    prepare: Callable[[SandboxClient], str],
    act: Callable[[SandboxClient, str], requests.Response],
    statuses: tuple[int, int],
) -> None:
    clients = [caller() for _ in range(AT_ONCE)]
    for _ in range(3):
        name = prepare(clients[0])
        outcome = together(lambda client, _, name=name: act(client, name).status_code, clients)  # type: ignore[misc]
        assert outcome == {statuses[0]: 1, statuses[1]: AT_ONCE - 1}


def test_a_draft_saved_by_many_holds_one_of_their_contents(caller: Any, uid: str) -> None:
    path = f"/api/v2013/documents/{uid}/versions/draft"
    clients = [caller() for _ in range(AT_ONCE)]
    outcome = together(
        lambda client, number: client.put(path + "?schema=contact", json={"by": number}).status_code, clients
    )
    assert outcome == {201: 1, 200: AT_ONCE - 1}
    assert clients[0].get(path).json()["by"] in range(AT_ONCE)
    deleted = together(lambda client, _: client.delete(path).status_code, clients)
    assert deleted == {204: 1, 404: AT_ONCE - 1}


def test_mixed_traffic_of_two_accounts_stays_apart(caller: Any, uid: str) -> None:
    clients = [caller("other" if number % 2 else "author") for number in range(AT_ONCE)]

    def work(client: Any, number: int) -> int:
        for turn in range(20):
            path = f"/api/v2013/documents/{uid}-{number}-{turn}/versions/draft"
            assert client.put(path + "?schema=contact", json={"turn": turn}).status_code == 201
            assert client.get(path).json() == {"turn": turn}
        query = {"collection": "my", "$filter": f"startswith(identifier,'{uid}')"}
        return len(client.get("/api/v2013/document-drafts", params=query).json())

    together(work, clients)
    query = {"collection": "my", "$filter": f"startswith(identifier,'{uid}')"}
    for client, owner in zip(clients[:2], ("author", "other"), strict=True):
        mine = client.get("/api/v2013/document-drafts", params=query).json()
        assert {item["owner"] for item in mine} == {owner}
        assert len(mine) == 20 * AT_ONCE // 2
