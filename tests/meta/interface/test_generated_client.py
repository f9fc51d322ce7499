"""A consumer can make a client from the description and work with it."""

import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import httpx
import pytest

from contracts.interface.description import load_description

PACKAGE = "generated_registry_client"
Part = Callable[[str], ModuleType]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generate the client once; with ``--fail-on-warning`` whatever it leaves out is an error."""
    directory = tmp_path_factory.mktemp("client")
    (directory / "bundle.json").write_text(json.dumps(load_description().published), "utf-8")
    # Without hooks nothing reformats the code, so no formatter has to be on the PATH.
    (directory / "config.json").write_text(json.dumps({"post_hooks": []}), "utf-8")
    command = [
        sys.executable,
        "-m",
        "openapi_python_client",
        "generate",
        "--fail-on-warning",
        "--meta",
        "none",
    ]
    places = ["--meta", "none", "--path", "bundle.json", "--config", "config.json", "--output-path", PACKAGE]
    done = subprocess.run(
        [*command, *places], cwd=directory, capture_output=True, text=True, timeout=120, check=False
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert "warning" not in output.lower(), output
    return directory


@pytest.fixture(scope="module")
def part(generated: Path) -> Iterator[Part]:
    """Import parts of the generated client by their dotted name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(generated))
        yield lambda name: importlib.import_module(f"{PACKAGE}.{name}")


def test_client_has_every_operation(generated: Path, part: Part) -> None:
    modules = sorted(
        path.relative_to(generated / PACKAGE).with_suffix("").as_posix().replace("/", ".")
        for path in (generated / PACKAGE / "api").glob("*/*.py")
        if path.stem != "__init__"
    )
    named = {module.rpartition(".")[2].replace("_", "") for module in modules}
    assert named == {name.lower() for name in load_description().operations}
    assert all(hasattr(part(module), "sync_detailed") for module in modules)


def test_client_signs_in_saves_a_draft_and_reads_it_back(part: Part, sandbox_url: str) -> None:
    models, client = part("models"), part("client")
    # A proxy of the environment has no business with 127.0.0.1.
    place = {"base_url": sandbox_url, "httpx_args": {"trust_env": False}}
    credentials = models.Credentials(email="author@sandbox.test", password="sandbox-author")  # noqa: S106
    with client.Client(**place) as anonymous:
        token = part("api.authentication.create_token").sync(client=anonymous, body=credentials)
    assert isinstance(token, models.Token)

    document = load_description().bundle["components"]["examples"]["AbsDraft"]["value"]
    draft = {"uid": "example-draft-abs-dev", "realm": models.DocumentRealm.ABS_DEV}
    body = models.SaveDraftBody.from_dict(document)
    with client.AuthenticatedClient(**place, token=token.authentication_token) as author:
        saved = part("api.drafts.save_draft").sync_detailed(
            **draft, client=author, body=body, schema="contact"
        )
        assert saved.status_code // 100 == 2, saved.content
        read = part("api.drafts.get_draft").sync_detailed(**draft, client=author)
    assert read.status_code // 100 == 2, read.content
    assert document["emails"][0] in read.content.decode()


@pytest.mark.parametrize(
    ("refusal", "seen"),
    [
        ({"errors": [{"code": "Error.Mandatory", "property": "type"}]}, "Error.Mandatory"),
        ({"errors": [{"code": "Error.OfALaterVersion", "property": "type"}]}, "Error.OfALaterVersion"),
        ("Realm is not configured, please provide valid realm.", None),
        (["a list"], None),
        (None, None),
    ],
)
def test_client_reads_codes_and_refusals_that_the_document_does_not_show(
    part: Part, refusal: object, seen: str | None
) -> None:
    models = part("models")
    transport = httpx.MockTransport(lambda _: httpx.Response(422, text=json.dumps(refusal)))
    body = models.Contact.from_dict(
        load_description().bundle["components"]["examples"]["AbsContact"]["value"]
    )
    with part("client").AuthenticatedClient(
        base_url="http://127.0.0.1",
        token="any",  # noqa: S106
        httpx_args={"transport": transport},
    ) as client:
        answer = part("api.contacts.create_contact").sync_detailed(
            client=client, body=body, realm=models.DocumentRealm.ABS_DEV, schema="contact"
        )
    if seen is None:
        assert answer.parsed == refusal
    else:
        assert isinstance(answer.parsed, models.ValidationErrors)
        assert answer.parsed.errors[0].code == seen
