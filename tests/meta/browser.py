"""A headless Chromium driven over a pipe: nothing to install beside the browser, no port, no download.

Speaks the Chrome DevTools Protocol (https://chromedevtools.github.io/devtools-protocol/), messages that end in a null
byte, on the file descriptors 3 and 4 of the browser (`--remote-debugging-pipe`).
"""

import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Seconds for one answer; generous, as a test says nothing about speed.
PATIENCE = 120.0
_OPTIONS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--hide-scrollbars",
    "--mute-audio",
    "--proxy-server=127.0.0.1:9",
)


def installed() -> str | None:
    """Return the path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """A running browser; use `browser` to start one."""

    def __init__(self, to: int, back: int) -> None:
        self._to, self._back = to, back
        self._buffer = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result; events that come before it are kept in `events`."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")  # a pipe takes the whole of so little
        while (answer := self.receive()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return dict(answer["result"])

    def receive(self) -> dict[str, Any]:
        """Return the next message of the browser."""
        limit = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._back], [], [], max(0.0, limit - time.monotonic()))
            assert ready, f"the browser said nothing for {PATIENCE:.0f} s"
            piece = os.read(self._back, 1 << 20)
            assert piece, "the browser ended"
            self._buffer += piece
        message, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(message))

    def open(self, page: Path | str, width: int, height: int) -> "Tab":
        """Open a file or an address in a tab of its own, as wide and as high as given in CSS pixels."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, target, session)
        for domain in ("Page", "Runtime", "Network", "Log"):
            tab.call(f"{domain}.enable")
        size: dict[str, Any] = {"width": width, "height": height, "mobile": width < 500}
        tab.call("Emulation.setDeviceMetricsOverride", deviceScaleFactor=1, **size)
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        tab.call("Emulation.setEmulatedMedia", features=[still])
        tab.call("Page.setLifecycleEventsEnabled", enabled=True)
        self.events.clear()
        address = page if isinstance(page, str) else page.resolve().as_uri()
        loader = tab.call("Page.navigate", url=address)["loaderId"]
        while not any(_loaded(event, loader) for event in self.events):
            self.events.append(self.receive())
        return tab


class Tab:
    """One page in the browser."""

    def __init__(self, of: Browser, target: str, session: str) -> None:
        self._browser, self._target, self._session = of, target, session

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command to the page and return its result."""
        return self._browser.call(method, self._session, **parameters)

    def run(self, script: str) -> Any:
        """Return what a script evaluates to."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release a key."""
        text = {"Enter": "\r", "Space": " "}.get(key, key if len(key) == 1 else "")
        name, code = (" ", 32) if key == "Space" else (key, {"Enter": 13, "Tab": 9}.get(key, 0))
        for kind in ("keyDown", "keyUp"):
            shown = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode=code, **shown)

    def requested(self) -> list[str]:
        """Return the addresses that the page asked for, itself left out."""
        events = [e for e in self._browser.events if e.get("method") == "Network.requestWillBeSent"]
        asked = [event["params"]["request"]["url"] for event in events]
        return [address for address in asked[1:] if not address.startswith("data:")]

    def complaints(self) -> list[str]:
        """Return what went wrong on the page: errors, also those that it caught, and what its policy forbade."""
        found = []
        for event in self._browser.events:
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(str(event["params"]["exceptionDetails"]))
            elif event.get("method") == "Runtime.consoleAPICalled" and event["params"]["type"] == "error":
                found.append(str(event["params"]["args"]))
            elif event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(event["params"]["entry"]["text"])
        return found

    def close(self) -> None:
        """Close the tab."""
        self._browser.call("Target.closeTarget", targetId=self._target)


@contextmanager
def browser(path: str, profile: Path) -> Iterator[Browser]:
    """Start a browser with a profile of its own, and end it.

    Args:
        path: of the program.
        profile: folder for what it writes.
    """
    (reads, to), (back, writes) = os.pipe(), os.pipe()
    # It listens on descriptor 3 and answers on 4, which the shell gives it in place of our numbers.
    begin = f'exec "$0" "$@" 3<&{reads} 4>&{writes}'
    words = ["bash", "-c", begin, path, *_OPTIONS, f"--user-data-dir={profile}", "about:blank"]
    with (
        (profile / "browser.log").open("wb") as log,
        subprocess.Popen(
            words, stdout=log, stderr=log, pass_fds=(reads, writes), start_new_session=True
        ) as process,
    ):
        os.close(reads)
        os.close(writes)
        try:
            yield Browser(to, back)
        finally:
            os.close(to)
            os.close(back)
            os.killpg(process.pid, signal.SIGKILL)


def _loaded(event: dict[str, Any], loader: str) -> bool:
    """Tell whether an event says that a page is there; the empty page before it has a loader of its own."""
    params = event.get("params", {})
    of_page = event.get("method") == "Page.lifecycleEvent" and params["loaderId"] == loader
    return of_page and params["name"] == "load"
