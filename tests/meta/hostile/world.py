"""What else the world does: clocks that jump, certificates, proxies, settings beyond all measure, odd addresses."""

import datetime
import json
import os
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import trustme

from tests.meta.hostile.probe import SHORT_RUN, TINY_RUN, Ended, command, expect, honest, probe, run_folders
from tests.meta.hostile.service import Asked, Service, accounts, altered, drip, empty_lists, scripted
from tests.meta.program import CHECKOUT

GROUP = "world"


def _aimed(folder: Path, service: Service, *words: str, **more: str) -> Ended:
    return command(folder, *words, "--target", str(service.settings(folder)), environment=accounts() | more)


#: Replaces the clock of a command by one that jumps to and fro; the monotonic one goes on.
_JUMPING = """
import datetime, itertools, time
usual, jumps = time.time, itertools.cycle((0, 86400, -86400, 40 * 365 * 86400, -5))
time.time = lambda: usual() + next(jumps)
class Jumping(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)
datetime.datetime = Jumping
"""


@probe(GROUP, "run: the clock jumps by days and years with each look")
def _clock(folder: Path) -> str:
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(_JUMPING)
    with altered(lambda _, given: given) as service:
        settings = str(service.settings(folder))
        paths = f"{folder / 'site'}{os.pathsep}{CHECKOUT}"
        more = accounts() | {"PYTHONPATH": paths}
        ended = honest(
            command(folder, *SHORT_RUN, "--target", settings, environment=more, fresh=True), 0, 6, lines=3
        )
    return f"exit {ended.code}"


@contextmanager
def _secure(names: tuple[str, ...], folder: Path, *, expired: bool = False) -> Iterator[tuple[str, str]]:
    """Serve empty lists over TLS; gives the address and the file of the authority."""
    authority = trustme.CA()
    past = datetime.datetime(2020, 1, 1) if expired else None
    certificate = authority.issue_cert(
        *names, not_before=past, not_after=past and past + datetime.timedelta(days=1)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    bundle = folder / "authority.pem"
    authority.cert_pem.write_to_path(str(bundle))
    with scripted(empty_lists, context) as service:
        yield service.url, str(bundle)


CERTIFICATES = {
    "a good certificate of a private authority": (("127.0.0.1",), False, True, (0,)),
    "an authority that nobody knows": (("127.0.0.1",), False, False, (6,)),
    "an expired certificate": (("127.0.0.1",), True, True, (6,)),
    "the certificate of another name": (("registry.test",), False, True, (6,)),
}


def _certificate(
    folder: Path, names: tuple[str, ...], *, expired: bool, known: bool, codes: tuple[int, ...]
) -> str:
    with _secure(names, folder, expired=expired) as (url, bundle):
        text = f'base_url = "{url}"\nkind = "development"\n' + (
            f'[tls]\nca_bundle = "{bundle}"\n' if known else ""
        )
        (folder / "tls.toml").write_text(text)
        more = {"REGISTRY_EMAIL": "a@b.test", "REGISTRY_PASSWORD": "not-a-password"}
        ended = command(folder, "call", "listDrafts", "--target", "tls.toml", environment=more)
    honest(ended, *codes, lines=3)
    expect(codes == (0,) or "certificate" in ended.all, "does not speak of the certificate")
    return f"exit {ended.code}"


for name, (names, expired, known, codes) in CERTIFICATES.items():
    probe(GROUP, f"call: {name}")(
        partial(_certificate, names=names, expired=expired, known=known, codes=codes)
    )


def _through_proxy(folder: Path, variables: Callable[[str], dict[str, str]], *, through: bool) -> str:
    """A proxy that hears the whole address; the target's own listener hears a path."""
    with scripted(empty_lists) as proxy, scripted(empty_lists) as target:
        ended = _aimed(folder, target, "call", "listDrafts", **variables(proxy.url))
        honest(ended, 0, 1, 6, lines=3)
        heard = [each.path for each in proxy.asked]
    expect(bool(heard) is through, f"the proxy heard {heard[:2]}")
    return f"exit {ended.code}"


PROXIES: dict[str, tuple[Callable[[str], dict[str, str]], bool]] = {
    "HTTP_PROXY": (lambda url: {"HTTP_PROXY": url, "NO_PROXY": "", "http_proxy": url, "no_proxy": ""}, True),
    "HTTP_PROXY and NO_PROXY": (
        lambda url: {"http_proxy": url, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"},
        False,
    ),
    "HTTPS_PROXY alone": (lambda url: {"https_proxy": url, "no_proxy": ""}, False),
}
for name, (variables, through) in PROXIES.items():
    probe(GROUP, f"call: {name}")(partial(_through_proxy, variables=variables, through=through))


@probe(GROUP, "call: the proxy's password is in no output")
def _proxy_password(folder: Path) -> str:
    with scripted(lambda _: b"HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n") as proxy:
        url = proxy.url.replace("//", "//someone:secret-of-the-proxy@")
        with scripted(empty_lists) as target:
            ended = _aimed(folder, target, "call", "listDrafts", http_proxy=url, no_proxy="")
    honest(ended, 1, 6, lines=3)
    expect("secret-of-the-proxy" not in ended.all, "shows the password")
    return f"exit {ended.code}"


#: A setting beyond all measure: it works, or it is refused in a line.
SETTINGS = (
    "timeout_seconds = 1e300",
    "timeout_seconds = 1e-300",
    "timeout_seconds = nan",
    "timeout_seconds = 9223372036854775808",
    "concurrency = 9000000000000000000",
    "concurrency = 1e3",
    "requests_per_second = 1e300",
    "requests_per_second = 1e-300",
    "settle_seconds = 1e300",
    "request_budget = 9223372036854775807",
    "permanent_records = 9223372036854775807",
)


def _with_settings(folder: Path, change: Callable[[str, str], str], *codes: int) -> str:
    """Sign in and list drafts with settings that are changed; `change` gets their text and the service's address."""
    with altered(lambda _, given: given) as service:
        settings = service.settings(folder)
        settings.write_text(change(settings.read_text(), service.url))
        words = ("call", "listDrafts", "--realm", "abs-dev", "--target", str(settings))
        ended = honest(command(folder, *words, environment=accounts()), *codes, lines=3)
        outside = [each.path for each in service.asked if ".." in each.path.split("/")]
    expect(not outside, f"asks for {outside[:1]}")
    return f"exit {ended.code}"


def _setting(folder: Path, line: str) -> str:
    def change(text: str, _: str) -> str:
        name = line.partition(" ")[0]
        kept = [each for each in text.splitlines() if not each.startswith(name)]
        if "[pace]" not in kept:
            kept.append("[pace]")
        kept.insert(kept.index("[pace]") + 1, line)
        return "\n".join(kept) + "\n"

    return _with_settings(folder, change, 0, 4, 6)


for line in SETTINGS:
    probe(GROUP, f"call: {line}")(partial(_setting, line=line))

#: Addresses that lead elsewhere, or cannot be one.
ADDRESSES = (
    "%2e%2e/%2e%2e",
    "a/../b",
    "..;/x",
    "%00",
    "x%0d%0aX-Odd:%201",
    "%ff",
    "api/v2013",
    "?a=b",
    "#a",
    "\\x",
    "\u202e",
    "a b",
)


def _address(folder: Path, address: str) -> str:
    escaped = address.replace("\\", "\\\\")
    return _with_settings(folder, lambda text, url: text.replace(url, f"{url}/{escaped}"), 0, 1, 4, 6)


for address in ADDRESSES:
    probe(GROUP, f"call: {address.encode('unicode_escape').decode()} in the address")(
        partial(_address, address=address)
    )


@probe(GROUP, "run: one byte a second from every operation but signing in")
def _dripping(folder: Path) -> str:
    def script(asked: Asked) -> bytes | Iterator[bytes]:
        return empty_lists(asked) if asked.sign_in else drip(asked)

    with scripted(script) as service:
        settings = service.settings(folder)
        settings.write_text(settings.read_text().replace("timeout_seconds = 30", "timeout_seconds = 3"))
        words = (*TINY_RUN, "--target", str(settings))
        ended = honest(command(folder, *words, environment=accounts()), 6, lines=3)
    (run,) = run_folders(folder / "reports")
    verdict = json.loads((run / "verdict.json").read_text("utf-8"))
    expect(verdict["verdict"] == "inconclusive", verdict["verdict"])
    return f"exit {ended.code}"
