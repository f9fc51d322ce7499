"""Other tools on the description: each is installed by itself, runs, and its result is a row of a table.

`python -m benchmarks.description_tools`; needs Node, npm, Java and Chromium, and says what it could not measure.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Final

import click
import requests

from contracts.errors import UsageError
from contracts.interface.description import as_yaml, exact_statuses, load_description
from contracts.interface.operations import follow
from contracts.proving.matrix import put_between
from contracts.safe_text import inline
from contracts.settings.embedded_sandbox import EmbeddedSandbox
from tests.meta import browser as chromium

_SECONDS: Final = 280
_OPERATIONS: Final = len(load_description().operations)
_FILE: Final = "registry.yaml"
_KEPT: Final = "result.json"
_EXACT: Final = "exact.yaml"
_TYPESCRIPT: Final = "typescript@5.9.3"
#: What every compiler of generated TypeScript is told.
_STRICT: Final = (
    "--strict --noEmit --skipLibCheck --target es2022 --module es2022 --moduleResolution bundler "
    "--lib es2022,dom,dom.iterable"
)
_ACCOUNT: Final = {"email": "author@sandbox.test", "password": "sandbox-author"}


class NotTaken(Exception):
    """A tool failed, or did not do what was asked of it."""


@dataclass
class Place:
    """The folder of one tool, with the description in it.

    Attributes:
        folder: Holds `registry.yaml` and what the tool makes.
        home: Where the tool is installed.
    """

    folder: Path
    home: Path

    def program(self, name: str) -> str:
        """Where a program of the tool lies; its name where it has none of that name."""
        places = (self.home / "node_modules" / ".bin", self.home / "venv" / "bin")
        return next((str(place / name) for place in places if (place / name).exists()), name)

    def run(self, command: str, **environment: str) -> str:
        """Run a command line, and return what it printed.

        Raises:
            NotTaken: it failed.
        """
        words = shlex.split(command)
        words[0] = self.program(words[0])
        variables = {**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
        try:
            done = subprocess.run(
                words,
                cwd=self.folder,
                env=variables | environment,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotTaken(f"{words[0]}: {type(error).__name__}") from error
        if done.returncode:
            said = " ".join((done.stdout + done.stderr).split())[-300:]
            raise NotTaken(f"exit {done.returncode}: {said}")
        return done.stdout + done.stderr


@dataclass(frozen=True)
class Tool:
    """A tool, what it is told, and what shows that it took the description.

    Attributes:
        packages: Of npm, pinned; the first is the tool.
        python: Of PyPI, pinned; the first is the tool.
        commands: Run one after another in the tool's folder.
        shows: Looks at what came of it, and says it in a few words.
        then: What that runs or opens, for the table.
    """

    name: str
    shows: Callable[[Place], str]
    packages: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    then: str = ""

    @property
    def release(self) -> str:
        """Its version."""
        pinned = (*self.python, *self.packages)
        return re.split(r"@(?=\d)|==", pinned[0])[1] if pinned else ""


@dataclass
class Row:
    """What became of a tool; kept beside it, so that tools can be measured one at a time."""

    name: str
    release: str
    taken: bool
    says: str
    seconds: float


def _quiet(_place: Place) -> str:
    return "no error, no warning"


def _holds(place: Place, file: str, *texts: str) -> None:
    text = (place.folder / file).read_text("utf-8")
    for each in texts:
        if each not in text:
            raise NotTaken(f"{file} lacks {each}")


def _typescript_types(place: Place) -> str:
    _holds(place, "registry.d.ts", *load_description().operations)
    return f"types of {_OPERATIONS} operations, compiled strictly"


def _typescript_fetch(folder: str) -> Callable[[Place], str]:
    def shows(place: Place) -> str:
        text = "".join(path.read_text("utf-8") for path in (place.folder / folder).rglob("*.ts"))
        missing = [name for name in load_description().operations if name not in text]
        if missing:
            raise NotTaken(f"without {', '.join(missing)}")
        return f"a client with {_OPERATIONS} operations, compiled strictly"

    return shows


_PYTHON_CLIENT: Final = """
import sys; sys.path.insert(0, ".")
from made import client, models
from made.api.authentication import create_token
from made.api.contacts import create_contact
place = {"base_url": sys.argv[1], "httpx_args": {"trust_env": False}}
who = models.Credentials(email=sys.argv[2], password=sys.argv[3])
token = create_token.sync(client=client.Client(**place), body=who)
assert isinstance(token, models.Token), token
author = client.AuthenticatedClient(**place, token=token.authentication_token)
refused = create_contact.sync(client=author, realm=models.DocumentRealm.ABS_DEV, schema="contact",
    body=models.Contact("a", "b", models.LString(), models.Term("ke"), [], 1, models.Reference("x")))
assert isinstance(refused, models.ValidationErrors) and refused.errors[0].code.startswith("Error."), refused
"""

_GENERATOR_CLIENT: Final = """
import sys; sys.path.insert(0, "made")
import openapi_client as made
config = made.Configuration(host=sys.argv[1])
with made.ApiClient(config) as client:
    who = made.Credentials(email=sys.argv[2], password=sys.argv[3])
    token = made.AuthenticationApi(client).create_token(who)
assert isinstance(token, made.Token) and token.authentication_token
error = made.ValidationErrors.from_dict({"errors": [{"code": "Error.OfALaterVersion", "property": "type"}]})
assert error.errors[0].code == "Error.OfALaterVersion"
"""

_MODELS: Final = """
import json, sys, models
assert models.ValidationErrors(errors=[{"code": "Error.OfALaterVersion", "property": "type"}])
assert models.Contact.model_validate(json.loads(sys.argv[4])).firstName
"""


def _program(text: str, says: str) -> Callable[[Place], str]:
    """Run a program that uses what was made, with the address of a sandbox and an account."""

    def shows(place: Place) -> str:
        (place.folder / "program.py").write_text(text, "utf-8")
        contact = json.dumps(load_description().published["components"]["examples"]["AbsContact"]["value"])
        with EmbeddedSandbox() as sandbox:
            words = ["python", "program.py", sandbox.base_url, *_ACCOUNT.values(), contact]
            place.run(shlex.join(words))
        return says

    return shows


def _schemathesis(place: Place) -> str:
    with EmbeddedSandbox() as sandbox:
        answer = requests.post(
            f"{sandbox.base_url}/api/v2013/authentication/token", json=_ACCOUNT, timeout=30
        )
        token = answer.json()["authenticationToken"]
        place.run(
            f"{sys.executable} -m schemathesis.cli run {_FILE} --url {sandbox.base_url} "
            f"--header 'Authorization: Bearer {token}' --checks not_a_server_error,response_schema_conformance "
            "--phases examples --generation-database none"
        )
    return "its examples phase against the sandbox: nothing found"


@contextmanager
def _serving(place: Place, command: str, port: int) -> Iterator[str]:
    words = shlex.split(command)
    words[0] = place.program(words[0])
    with (place.folder / "server.log").open("w") as log:
        process = subprocess.Popen(words, cwd=place.folder, stdout=log, stderr=log)
        try:
            address, limit = f"http://127.0.0.1:{port}", time.monotonic() + _SECONDS
            while time.monotonic() < limit and process.poll() is None:
                try:
                    requests.get(address, timeout=5)
                    break
                except requests.ConnectionError:
                    time.sleep(0.3)
            yield address
        finally:
            process.terminate()
            process.wait()


_PORT: Final = 14010


def _prism(place: Place) -> str:
    """Send each operation's examples; a mock server has to answer with the example of the answer."""
    sent = 0
    document = load_description().published
    with _serving(place, f"prism mock --port {_PORT} --errors {_FILE}", _PORT) as address:
        for operation in load_description().operations.values():
            node = document["paths"][operation.path][operation.method.lower()]
            answer = _send_example(address, node, operation.method, operation.path)
            wanted = _answer_examples(node)
            if answer.status_code // 100 != 2:
                raise NotTaken(f"{operation.id}: {answer.status_code} {answer.text[:160]}")
            if wanted and operation.answers != "file" and answer.json() not in wanted:
                raise NotTaken(f"{operation.id}: {answer.text[:160]}")
            sent += 1
    return f"{sent} operations answered with their examples"


def _example(node: dict[str, object]) -> object:
    if "example" in node:
        return node["example"]
    named = next(iter(dict(node["examples"]).values()))  # type: ignore[call-overload]
    return follow(load_description().published, named)["value"]


def _send_example(address: str, node: dict[str, object], method: str, path: str) -> requests.Response:
    document = load_description().published
    headers = {"Authorization": "Bearer any", "Accept": "application/json, */*;q=0.5"}
    query: dict[str, str] = {}
    for listed in node.get("parameters", ()):  # type: ignore[attr-defined]
        parameter = follow(document, listed)
        value = str(_example(parameter))
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", value)
        else:
            (headers if parameter["in"] == "header" else query)[parameter["name"]] = value
    data = None
    for media_type, media in node.get("requestBody", {}).get("content", {}).items():  # type: ignore[attr-defined]
        headers["Content-Type"] = media_type
        body = _example(media)
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return requests.request(method, address + path, params=query, headers=headers, data=data, timeout=60)


def _answer_examples(node: dict[str, object]) -> list[object]:
    document = load_description().published
    response = follow(document, node["responses"]["2XX"])  # type: ignore[index]
    found = response.get("content", {}).get("application/json", {}).get("examples", {}).values()
    return [follow(document, each)["value"] for each in found]


def _newman(place: Place) -> str:
    with EmbeddedSandbox() as sandbox:
        place.run(
            f"newman run collection.json --env-var base_url={sandbox.base_url} --env-var baseUrl={sandbox.base_url} "
            "--reporters json --reporter-json-export ran.json --timeout-request 20000"
        )
    run = json.loads((place.folder / "ran.json").read_text("utf-8"))["run"]
    answered = [each for each in run["executions"] if each.get("response")]
    if len(answered) != _OPERATIONS:
        raise NotTaken(f"{len(answered)} of {_OPERATIONS} requests were answered")
    return f"a collection of {_OPERATIONS} requests, each answered by the sandbox"


def _bruno(place: Place) -> str:
    made = (place.folder / "bruno").glob("*/*.yml")
    files = [path for path in made if path.stem != "folder" and path.parent.name != "environments"]
    if len(files) != _OPERATIONS:
        raise NotTaken(f"{len(files)} requests")
    return f"a collection of {_OPERATIONS} requests"


_VIEWER: Final = """<!DOCTYPE html><meta charset="utf-8"><title>A viewer</title><link rel="icon" href="data:,">
<div id="app"></div><script src="/tool/node_modules/{script}"></script><script>{start}</script>"""
_SCALAR: Final = _VIEWER.format(
    script="@scalar/api-reference/dist/browser/standalone.js",
    start='Scalar.createApiReference("#app", {url: "/registry.yaml", defaultOpenAllTags: true})',
)
_REDOC: Final = _VIEWER.format(
    script="redoc/bundles/redoc.standalone.js",
    start='Redoc.init("/registry.yaml", {}, document.getElementById("app"))',
)
_SUMMARIES: Final = tuple(
    operation.summary for operation in load_description().operations.values() if operation.family == "draft"
)


class _Silent(SimpleHTTPRequestHandler):
    """Serves a folder, and writes nothing."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _shown(text: str, place: Place) -> str:
    """Open a page of a viewer, and wait until it shows operations."""
    (place.folder / "index.html").write_text(text, "utf-8")
    handler = partial(_Silent, directory=str(place.folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            return _looked_at(f"http://127.0.0.1:{server.server_address[1]}/index.html")
        finally:
            server.shutdown()


def _looked_at(address: str) -> str:
    program = chromium.installed()
    if program is None:
        raise NotTaken("no Chromium is installed")
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        chromium.browser(program, Path(profile)) as running,
    ):
        tab = running.open(address, 1280, 4000)
        limit = time.monotonic() + 60
        while True:
            text = tab.run("document.body.innerText")
            missing = [summary for summary in _SUMMARIES if summary not in text]
            if not missing:
                return f"the page shows the {len(_SUMMARIES)} operations of drafts by their summaries"
            if time.monotonic() > limit:
                raise NotTaken(f"the page lacks {missing[0]!r}; {'; '.join(tab.complaints())[:200]}")
            time.sleep(0.3)


def _swagger_ui(_place: Place) -> str:
    with EmbeddedSandbox() as sandbox:
        return _looked_at(f"{sandbox.base_url}/docs")


_OPENED: Final = "its script in a page in Chromium"
TOOLS: Final = (
    Tool(
        "Redocly CLI",
        _quiet,
        ("@redocly/cli@2.77.0",),
        commands=(f"redocly lint --config redocly.yaml {_FILE} {_EXACT}",),
    ),
    Tool(
        "Spectral",
        _quiet,
        ("@stoplight/spectral-cli@6.16.3",),
        commands=(f"spectral lint --ruleset .spectral.yaml --fail-severity hint {_FILE} {_EXACT}",),
    ),
    Tool(
        "Swagger UI",
        _swagger_ui,
        python=(f"flask-swagger-ui=={version('flask-swagger-ui')}",),
        then="`/docs` of the sandbox in Chromium",
    ),
    Tool("Scalar", partial(_shown, _SCALAR), ("@scalar/api-reference@1.72.1",), then=_OPENED),
    Tool("Redoc", partial(_shown, _REDOC), ("redoc@2.5.4",), then=_OPENED),
    Tool(
        "openapi-typescript",
        _typescript_types,
        ("openapi-typescript@7.13.0", _TYPESCRIPT),
        commands=(f"openapi-typescript {_FILE} -o registry.d.ts", f"tsc {_STRICT} registry.d.ts"),
    ),
    Tool(
        "openapi-python-client",
        _program(_PYTHON_CLIENT, "signs in and reads a refusal, both parsed"),
        python=("openapi-python-client==0.29.1",),
        commands=(
            f"openapi-python-client generate --fail-on-warning --meta none --path {_FILE} --config hooks.json "
            "--output-path made",
        ),
    ),
    Tool(
        "openapi-generator, python",
        _program(_GENERATOR_CLIENT, "signs in, reads a code that it does not know"),
        python=(
            "openapi-generator-cli==7.26.0",
            "urllib3>=2.7,<3",
            "python-dateutil>=2.8.2",
            "pydantic>=2.11",
        ),
        commands=(f"openapi-generator-cli generate -i {_FILE} -g python -o made",),
    ),
    Tool(
        "openapi-generator, typescript-fetch",
        _typescript_fetch("made"),
        (_TYPESCRIPT,),
        ("openapi-generator-cli==7.26.0",),
        (
            f"openapi-generator-cli generate -i {_FILE} -g typescript-fetch -o made",
            f"tsc {_STRICT} made/index.ts",
        ),
    ),
    Tool(
        "orval, fetch",
        _typescript_fetch("made"),
        ("orval@8.38.0", _TYPESCRIPT),
        commands=("orval --config orval.config.cjs", f"tsc {_STRICT} made/registry.ts"),
    ),
    Tool(
        "datamodel-code-generator",
        _program(_MODELS, "models that take the example and a code they do not know"),
        python=("datamodel-code-generator==0.89.0",),
        commands=(
            f"datamodel-codegen --input {_FILE} --input-file-type openapi --output-model-type pydantic_v2.BaseModel "
            "--output models.py",
        ),
    ),
    Tool("Prism", _prism, ("@stoplight/prism-cli@5.16.0",), then=f"`prism mock --errors {_FILE}`"),
    Tool(
        "openapi-to-postmanv2 and newman",
        _newman,
        ("openapi-to-postmanv2@6.3.3", "newman@6.2.2"),
        commands=(f"openapi2postmanv2 -s {_FILE} -o collection.json",),
        then="`newman run collection.json`",
    ),
    Tool(
        "Bruno",
        _bruno,
        ("@usebruno/cli@4.1.0",),
        commands=(f"bru import openapi --source {_FILE} --output bruno --collection-name registry",),
    ),
    Tool(
        "Schemathesis",
        _schemathesis,
        python=(f"schemathesis=={version('schemathesis')}",),
        then=f"`schemathesis run {_FILE} --phases examples`",
    ),
)
#: What our own environment brings along.
_OURS: Final = ("flask-swagger-ui", "schemathesis")


def _prepare(tool: Tool, tools: Path) -> Place:
    """Install a tool in a folder of its own, and put the description beside it.

    Raises:
        NotTaken: it cannot be installed.
    """
    home = _home(tool, tools)
    work = home / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    place = Place(work, home)
    _write_inputs(work, tool)
    marker = home / "installed.txt"
    wanted = "\n".join((*tool.packages, *tool.python))
    if not marker.exists() or marker.read_text("utf-8") != wanted:
        if tool.packages:
            npm = f"npm install --prefix {shlex.quote(str(home))} --no-save --no-audit --no-fund --silent"
            place.run(f"{npm} {shlex.join(tool.packages)}")
        if tool.python and not tool.python[0].startswith(_OURS):
            place.run(f"{sys.executable} -m venv {shlex.quote(str(home / 'venv'))}")
            place.run(f"{home / 'venv' / 'bin' / 'python'} -m pip install --quiet {shlex.join(tool.python)}")
        marker.write_text(wanted, "utf-8")
    (work / "tool").symlink_to(home)
    return place


def _home(tool: Tool, tools: Path) -> Path:
    return tools / re.sub(r"\W+", "-", tool.name.lower())


def _write_inputs(work: Path, tool: Tool) -> None:
    published = load_description().published
    (work / _FILE).write_text(as_yaml(published), "utf-8")
    (work / _EXACT).write_text(as_yaml(exact_statuses(published)), "utf-8")
    (work / "hooks.json").write_text('{"post_hooks": []}', "utf-8")
    openapi = Path(__file__).parents[1] / "openapi"
    for name in ("redocly.yaml", ".spectral.yaml"):
        shutil.copy(openapi / name, work / name)
    output = {"target": "made/registry.ts", "client": "fetch", "baseUrl": "http://127.0.0.1"}
    config = {"registry": {"input": _FILE, "output": output}}
    (work / "orval.config.cjs").write_text(f"module.exports = {json.dumps(config)};", "utf-8")
    (work / "package.json").write_text(json.dumps({"name": re.sub(r"\W+", "-", tool.name.lower())}), "utf-8")


def measure(tool: Tool, tools: Path) -> Row:
    """Install a tool, run it, and keep and return what came of it."""
    began = time.monotonic()
    try:
        place = _prepare(tool, tools)
        for command in tool.commands:
            place.run(command)
        taken, says = True, tool.shows(place)
    except NotTaken as reason:
        taken, says = False, str(reason)
    row = Row(tool.name, tool.release, taken, says, time.monotonic() - began)
    (_home(tool, tools) / _KEPT).write_text(json.dumps(asdict(row)), "utf-8")
    return row


def kept_rows(tools: Path) -> dict[str, Row]:
    """What became of the tools, by their names, those of earlier measurements of the same release included."""
    found = {}
    for tool in TOOLS:
        path = _home(tool, tools) / _KEPT
        row = Row(**json.loads(path.read_text("utf-8"))) if path.exists() else None
        if row is not None and row.release == tool.release:
            found[tool.name] = row
    return found


def table(rows: Mapping[str, Row]) -> str:
    """The rows in Markdown, in the order of the tools."""
    lines = ["| tool | version | command | result |", "|---|---|---|---|"]
    for tool in TOOLS:
        shown = (command.replace(f" {_STRICT}", " --strict …") for command in tool.commands)
        commands = "<br>".join([*(f"`{command}`" for command in shown), *filter(None, [tool.then])])
        row = rows.get(tool.name)
        result = (
            "not measured"
            if row is None
            else f"{'taken' if row.taken else '**not taken**'}: {inline(row.says)}"
        )
        lines.append(f"| {tool.name} | {tool.release} | {commands} | {result} |")
    return "\n".join(lines)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--tools", type=click.Path(path_type=Path), default=Path("reports/description-tools"), show_default=True
)
@click.option("--tool", "names", metavar="NAME", multiple=True, help="Only tools whose name holds this.")
@click.option("--document", type=click.Path(path_type=Path), help="Put the table here, as docs/openapi.md.")
def command(*, tools: Path, names: tuple[str, ...], document: Path | None) -> int:
    """Show the description to each tool, one after another; exit code 1 when one did not take it."""
    chosen = [tool for tool in TOOLS if not names or any(name.lower() in tool.name.lower() for name in names)]
    if not chosen:
        raise UsageError("--tool fits no tool; leave it out to see them all")
    rows = []
    for tool in chosen:
        row = measure(tool, tools.resolve())
        rows.append(row)
        word = "taken" if row.taken else "NOT TAKEN"
        click.echo(f"{tool.name} {tool.release}: {word}: {row.says} ({row.seconds:.0f} s)")
    if document is not None:
        put_between(document, "tools", table(kept_rows(tools.resolve())))
    return 0 if all(row.taken for row in rows) else 1


if __name__ == "__main__":
    sys.exit(command.main(standalone_mode=False))
