"""A client of the W3C WebDriver protocol: as much of it as driving one window of Chromium takes."""

from __future__ import annotations

import base64
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--window-size=1440,900",
)
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The name under which the protocol hands elements over."""

PASSING = {"stale element reference", "element click intercepted", "element not interactable", "no such element"}
"""Errors of a page that is being drawn: worth another try."""


class WebDriverError(Exception):
    """The driver refused a command; `code` is the protocol's name for why."""

    def __init__(self, code: str, message: str) -> None:
        """Take the code and the first line of the message."""
        super().__init__(f"{code}: {message.splitlines()[0] if message else ''}")
        self.code = code


@dataclass(frozen=True, slots=True)
class Element:
    """An element of the page, as long as the page keeps it."""

    driver: WebDriver
    id: str

    def click(self) -> None:
        """Click it, as the mouse does."""
        self.driver.command("POST", f"/element/{self.id}/click", {})

    def type(self, text: str) -> None:
        """Type into it."""
        self.driver.command("POST", f"/element/{self.id}/value", {"text": text})

    @property
    def text(self) -> str:
        """Return its text as it is displayed."""
        return str(self.driver.command("GET", f"/element/{self.id}/text"))

    def attribute(self, name: str) -> str | None:
        """Return the value of an attribute."""
        found: str | None = self.driver.command("GET", f"/element/{self.id}/attribute/{name}")
        return found


@dataclass(frozen=True, slots=True)
class WebDriver:
    """A session of chromedriver, with one window."""

    client: httpx.Client

    def command(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Any:
        """Send a command of the session and return its value, or raise WebDriverError."""
        answer = self.client.request(method, path.lstrip("/"), json=body)
        value = answer.json()["value"]
        if answer.is_error:
            raise WebDriverError(value["error"], value["message"])
        return value

    def go(self, url: str) -> None:
        """Load a page."""
        self.command("POST", "/url", {"url": url})

    @property
    def url(self) -> str:
        """Return the address of the page."""
        return str(self.command("GET", "/url"))

    def run(self, script: str, *arguments: object) -> Any:
        """Run a script in the page and return what it returns."""
        body = {"script": script, "args": self._given(arguments)}
        return self._unwrapped(self.command("POST", "/execute/sync", body))

    def run_async(self, script: str, *arguments: object) -> Any:
        """Run a script that calls its last argument with its result, and return that."""
        return self.command("POST", "/execute/async", {"script": script, "args": self._given(arguments)})

    def find(self, path: str) -> list[Element]:
        """Return the elements that an XPath finds."""
        found = self.command("POST", "/elements", {"using": "xpath", "value": path})
        return [Element(self, one[ELEMENT]) for one in found]

    def visible(self, path: str) -> list[Element]:
        """Return those of the elements that are displayed."""
        displayed = "return arguments[0].filter((one) => one.checkVisibility({checkVisibilityCSS: true}))"
        found = self.find(path)
        kept = self.command(
            "POST", "/execute/sync", {"script": displayed, "args": [[{ELEMENT: one.id} for one in found]]}
        )
        return [Element(self, one[ELEMENT]) for one in kept]

    def press(self, key: str) -> None:
        """Press a key, wherever the focus is."""
        keys = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.command("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": keys}]})

    def size(self, width: int, height: int) -> None:
        """Give the page itself, not the window around it, a size."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", metrics)

    def devtools(self, command: str, parameters: Mapping[str, object]) -> dict[str, Any]:
        """Send a command of Chromium's own protocol and return its result."""
        result: dict[str, Any] = self.command("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})
        return result

    def picture(self) -> bytes:
        """Return a picture of the page as PNG."""
        return base64.b64decode(self.command("GET", "/screenshot"))

    def log(self) -> list[dict[str, Any]]:
        """Return what the browser has logged since it was asked last."""
        found: list[dict[str, Any]] = self.command("POST", "/se/log", {"type": "browser"})
        return found

    @staticmethod
    def _given(arguments: Sequence[object]) -> list[object]:
        return [{ELEMENT: one.id} if isinstance(one, Element) else one for one in arguments]

    def _unwrapped(self, value: Any) -> Any:
        return Element(self, value[ELEMENT]) if isinstance(value, dict) and ELEMENT in value else value


@contextmanager
def chromedriver(profile: Path) -> Iterator[WebDriver]:
    """Start Chromium with a profile of its own, and end it and its driver with the block."""
    process = subprocess.Popen(
        ["/usr/bin/chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        started = (re.search(r"started successfully on port (\d+)", line) for line in process.stdout)
        port = next(found[1] for found in started if found)
        options = {"binary": "/usr/bin/chromium", "args": [*FLAGS, f"--user-data-dir={profile}"]}
        wanted = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}
        base = f"http://127.0.0.1:{port}/session"
        made = httpx.post(base, json={"capabilities": wanted}, timeout=60, trust_env=False).raise_for_status().json()
        session = f"{base}/{made['value']['sessionId']}"
        with httpx.Client(base_url=session, timeout=60, trust_env=False) as client:
            driver = WebDriver(client)
            driver.command("POST", "/timeouts", {"script": 60_000})
            try:
                yield driver
            finally:
                httpx.delete(session, timeout=60, trust_env=False).raise_for_status()
    finally:
        process.terminate()
        process.wait(20)
        assert process.stdout is not None
        process.stdout.close()
