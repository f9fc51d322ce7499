"""The examples of the description are requests that the sandbox accepts, and its links lead somewhere."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from contracts.interface.description import Description, load_description
from contracts.interface.operations import Operation, follow, parameters_of
from tests.meta.sandbox_client import TIME_LIMIT, RunningSandbox

REALMS = ["abs-dev", "bch-dev", "chm-dev", "ort-dev"]
# What an example needs comes before it: a draft is saved before it is deleted, a file sent before it is read.
ORDER = [
    "createContact",
    "updateContact",
    "saveDraft",
    "getDraft",
    "getDraftInfo",
    "draftExists",
    "listDrafts",
    "createAttachment",
    "persistTemporaryFile",
    "listAttachments",
    "attachmentExists",
    "getAttachment",
    "getAttachmentThumbnail",
    "createWorkflowRecord",
    "createWorkflowRecordWithIdentifier",
    "updateWorkflowRecord",
    "deleteDraft",
]
Exchange = tuple[dict[str, dict[str, Any]], requests.Response]


class Author:
    """Sends the examples of one realm as the sandbox's author."""

    def __init__(self, realm: str, base_url: str) -> None:
        self.realm = realm
        self.base_url = base_url
        self.document = load_description().for_realm(realm)
        self.session = requests.Session()
        self.session.trust_env = False

    def sign_in(self, description: Description) -> None:
        """Send the example of createToken and keep the token."""
        operation = description.operations["createToken"]
        node = description.for_realm("any")["paths"][operation.path]["post"]
        body = self.value(node["requestBody"]["content"]["application/json"])
        answer = self.session.post(operation.url(self.base_url), json=body, timeout=TIME_LIMIT)
        assert answer.ok, answer.text
        self.session.headers["Authorization"] = f"Bearer {answer.json()['authenticationToken']}"

    def value(self, node: dict[str, Any]) -> Any:
        """Return the one example that the realm's description keeps."""
        if "example" in node:
            return node["example"]
        (named,) = node["examples"].values()
        return follow(self.document, named)["value"]

    def send(self, operation: Operation) -> Exchange:
        """Send the example of an operation; return its parameters by place, and the answer."""
        node = self.document["paths"][operation.path][operation.method.lower()]
        parameters: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {}}
        for parameter in parameters_of(self.document, {}, node):
            parameters[parameter["in"]][parameter["name"]] = self.value(parameter)
        body: dict[str, Any] = {}
        for media_type, media in node.get("requestBody", {}).get("content", {}).items():
            parameters["header"]["Content-Type"] = media_type
            example = self.value(media)
            body = {"json": example} if media_type == "application/json" else {"data": example.encode()}
        url = operation.url(self.base_url, **parameters["path"])
        answer = self.session.request(
            operation.method,
            url,
            params=parameters["query"],
            headers=parameters["header"],
            timeout=TIME_LIMIT,
            **body,
        )
        return parameters, answer


@pytest.fixture(params=REALMS)
def author(request: pytest.FixtureRequest, start_sandbox: Callable[..., RunningSandbox]) -> Iterator[Author]:
    """Sign in at a new sandbox each time, since an example may use something up."""
    author = Author(request.param, start_sandbox().url)
    with author.session:
        author.sign_in(load_description())
        yield author


def operations(author: Author) -> Iterator[Operation]:
    for name in ORDER:
        operation = load_description().operations[name]
        if operation.path in author.document["paths"]:
            yield operation


def links(author: Author, operation: Operation) -> Iterator[dict[str, Any]]:
    node = author.document["paths"][operation.path][operation.method.lower()]
    for response in node["responses"].values():
        yield from follow(author.document, response).get("links", {}).values()


def evaluated(expression: str, sent: dict[str, dict[str, Any]], answer: requests.Response) -> Any:
    """Evaluate the two kinds of runtime expression the description uses."""
    source, _, rest = expression.removeprefix("$").partition(".")
    if source == "request":
        place, _, name = rest.partition(".")
        return sent[place][name]
    return answer.json()[rest.removeprefix("body#/")]


def test_every_operation_has_its_turn() -> None:
    assert {*ORDER, "createToken"} == set(load_description().operations)


def test_examples_are_accepted(author: Author) -> None:
    refused = {}
    for operation in operations(author):
        _, answer = author.send(operation)
        if answer.status_code // 100 != 2:
            refused[operation.id] = (answer.status_code, answer.text)
    assert refused == {}


def test_links_lead_to_what_was_made(author: Author) -> None:
    """Reading links are followed at once: to what was just made, and to nothing once it was deleted."""
    followed = 0
    for operation in operations(author):
        sent, answer = author.send(operation)
        for link in links(author, operation):
            target = load_description().operations[link["operationId"]]
            values = {name: evaluated(text, sent, answer) for name, text in link["parameters"].items()}
            url = target.url(author.base_url, **placed(values, "path"))
            followed += 1
            if target.safe:
                seen = author.session.request(
                    target.method, url, headers=placed(values, "header"), timeout=TIME_LIMIT
                )
                expected = 4 if operation.id == "deleteDraft" else 2
                assert seen.status_code // 100 == expected, (operation.id, target.id, seen.text)
    assert followed == (2 if author.realm == "ort-dev" else 12)


def placed(values: dict[str, Any], place: str) -> dict[str, Any]:
    prefix = f"{place}."
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
