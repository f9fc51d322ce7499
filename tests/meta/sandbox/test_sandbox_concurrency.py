"""Simultaneous requests to the sandbox: of several that exclude one another exactly one succeeds."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

AT_ONCE = 8


def together(action: Callable[[Any, int], int], clients: list[Any]) -> Counter[int]:
    """Let each client act at the same moment and count the statuses."""
    barrier = Barrier(len(clients))

    def act(number: int) -> int:
        barrier.wait(20)
        return action(clients[number], number)

    with ThreadPoolExecutor(len(clients)) as pool:
        return Counter(pool.map(act, range(len(clients))))


def test_one_identifier_is_submitted_once(caller: Any, permit: dict[str, Any], uid: str) -> None:
    clients = [caller() for _ in range(AT_ONCE)]
    for attempt in range(5):
        path = f"/api/v2023/documents/schemas/absPermit/{uid}-{attempt}"

        def submit(client: Any, _: int, path: str = path) -> int:
            return int(client.post(path, json={"document": permit}).status_code)

        found = together(submit, clients)
        assert found == {201: 1, 400: AT_ONCE - 1}


def test_one_record_is_updated_once_before_it_is_locked(
    caller: Any, permit: dict[str, Any], uid: str
) -> None:
    clients = [caller() for _ in range(AT_ONCE)]
    clients[0].put(f"/api/v2013/documents/{uid}/versions/draft?schema=absPermit", json={})
    path = f"/api/v2023/documents/schemas/absPermit/{uid}"
    found = together(lambda client, _: client.put(path, json={"document": permit}).status_code, clients)
    assert found == {200: 1, 400: AT_ONCE - 1}


def test_one_contact_is_created_once(caller: Any, contact: dict[str, Any], uid: str) -> None:
    contact["header"] = {"identifier": uid}
    path = "/api/v2013/documents?schema=contact"
    clients = [caller() for _ in range(AT_ONCE)]
    found = together(lambda client, _: client.post(path, json=contact).status_code, clients)
    assert found == {201: 1, 409: AT_ONCE - 1}


def test_a_draft_saved_by_many_holds_one_of_their_contents(caller: Any, uid: str) -> None:
    path = f"/api/v2013/documents/{uid}/versions/draft"
    clients = [caller() for _ in range(AT_ONCE)]
    found = together(
        lambda client, number: client.put(path + "?schema=contact", json={"by": number}).status_code, clients
    )
    assert found == {201: 1, 200: AT_ONCE - 1}
    assert clients[0].get(path).json()["by"] in range(AT_ONCE)
    deleted = together(lambda client, _: client.delete(path).status_code, clients)
    assert deleted == {204: 1, 404: AT_ONCE - 1}


def test_a_temporary_file_is_used_by_one(caller: Any) -> None:
    clients = [caller() for _ in range(AT_ONCE)]
    temporary = clients[0].post("/sandbox/temporary-files/a.txt", data=b"x").json()["tempFileId"]
    path = f"/api/v2013/documents/sandbox-existing-abs-dev/attachments/persist-temporary/{temporary}"
    found = together(lambda client, _: client.post(path).status_code, clients)
    assert found == {201: 1, 404: AT_ONCE - 1}


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
