"""The loader finds, joins and matches the description; what is broken gets one plain line."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.errors import UsageError
from contracts.interface.description import Description, load_description
from contracts.interface.location import openapi_directory

BASE = "http://127.0.0.1:8080/registry"
DOCUMENTS = "/api/v2013/documents"
DRAFT = "paths/draft.yaml"
DRAFT_PATH = "/api/v2013/documents/{uid}/versions/draft"
UID = "components/parameters/uid.yaml"
ODD_VALUES = [
    "a/b",
    "%2F",
    "..",
    ".",
    "a?b#c",
    "a+b c",
    "Kä-ß",
    "文書",
    "line\n",
    "%zz",
    "100%",
    "{uid}",
    "\x00",
]


@pytest.fixture(scope="module")
def description() -> Description:
    return load_description()


@pytest.fixture
def broken(tmp_path: Path) -> Callable[[str, str, str], UsageError]:
    """Change one file of a copy of the description and return what loading it says."""

    def change(file: str, old: str, new: str) -> UsageError:
        copied = Path(shutil.copytree(openapi_directory(), tmp_path / "openapi"))
        text = (copied / file).read_text("utf-8")
        assert old in text
        (copied / file).write_text(text.replace(old, new, 1), "utf-8")
        with pytest.raises(UsageError) as caught:
            load_description(copied)
        return caught.value

    return change


@pytest.mark.parametrize("name", load_description().operations)
@pytest.mark.parametrize("value", ODD_VALUES)
def test_url_and_match_are_each_others_reverse(description: Description, name: str, value: str) -> None:
    operation = description.operations[name]
    values = dict.fromkeys(operation.path_parameters, value)
    url = operation.url(BASE + "/", **values)
    assert description.match(operation.method, url.removeprefix(BASE)) == (operation, values)


def test_match_reads_requests_as_they_went_over_the_wire(description: Description) -> None:
    found = description.match("put", f"{DOCUMENTS}/a%2Fb%FF/versions/draft?schema=contact")
    assert found == (description.operations["saveDraft"], {"uid": "a/b\ufffd"})


def test_url_names_the_parameter_that_is_missing_or_unknown(description: Description) -> None:
    operation = description.operations["getDraft"]
    with pytest.raises(UsageError, match="operation getDraft needs the path parameter uid"):
        operation.url(BASE)
    with pytest.raises(UsageError, match="operation getDraft does not have the path parameter name"):
        operation.url(BASE, uid="document-0001", name="x")


@pytest.mark.parametrize("realm", ["abs", "ort", "", "ABS-DEV"])
def test_other_realms_are_not_described(description: Description, realm: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"realm {realm!r} is not described; use one of abs-dev")):
        description.for_realm(realm)


@pytest.mark.parametrize(
    ("file", "old", "new", "text"),
    [
        ("paths/token.yaml", "tags: [", "tags: [[", "paths/token.yaml: is not valid YAML at line"),
        ("registry.yaml", "paths:\n", "path:\n", "registry.yaml: holds no mapping 'paths'"),
        ("registry.yaml", "paths/draft.yaml", "paths/draught.yaml", "there is no file paths/draught.yaml"),
        (DRAFT, "silent.yaml#/Draft", "silent.yaml#/Asked", "responses/silent.yaml holds no /Asked"),
        (DRAFT, "silent.yaml#/Draft", "silent.yaml#/Asked", f"{DRAFT} at /get/responses/2XX: $ref"),
        (DRAFT, "../components/responses", "../../elsewhere", "leaves the directory"),
        (DRAFT, "  operationId: getDraft\n", "", f"{DRAFT}: GET {DRAFT_PATH} has no operationId"),
        (DRAFT, "operationId: getDraft", "operationId: saveDraft", "has the operationId saveDraft"),
        (DRAFT, "x-realms: document", "x-realms: all", "needs x-realms: one of document, workflow, none"),
        (DRAFT, "x-protected: true", "x-protected: maybe", "needs x-protected: one of true, false, silent"),
        (
            DRAFT,
            "x-stores: draft",
            "x-stores: drafts",
            "x-stores is one of draft, contact, attachment, submission",
        ),
        (DRAFT, "tags: [Drafts]", "tags: [Draughts]", "needs one tag: one of Authentication, Contacts"),
        (UID, "name: uid", "name: uuid", "path and path parameters differ in uid, uuid"),
        (UID, "  name: uid\n", "", "has a parameter without 'in' or 'name'"),
        (
            "components/schemas/errors.yaml",
            '"#/ValidationErrorCode"',
            '"#/Code"',
            "errors.yaml holds no /Code",
        ),
    ],
)
def test_broken_description_gets_one_line_that_names_the_file(
    broken: Callable[[str, str, str], UsageError], file: str, old: str, new: str, text: str
) -> None:
    message = str(broken(file, old, new))
    assert text in message
    assert "\n" not in message
    assert ".yaml" in message


def test_installed_package_finds_what_it_carries(tmp_path: Path) -> None:
    packaged = tmp_path / "contracts" / "_promises" / "openapi"
    packaged.mkdir(parents=True)
    with pytest.raises(UsageError, match="install registry-contracts again"):
        openapi_directory(tmp_path / "contracts")
    (packaged / "registry.yaml").touch()
    assert openapi_directory(tmp_path / "contracts") == packaged
