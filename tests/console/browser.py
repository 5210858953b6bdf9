"""Drives the console in headless Chromium by what a person sees: labels, texts, keys."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tests.console.webdriver import PASSING, Element, WebDriver, WebDriverError, chromedriver

PATIENCE = 20.0
_SELECT_ALL, _DELETE = "\ue009a\ue000", "\ue003"
"""Keys of WebDriver. Its own way to clear a field tells the page nothing, which may draw the old text anew."""

CLICKABLE = "self::a or self::button or self::summary"

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Browser:
    """A window of Chromium at a service's console."""

    driver: WebDriver
    service: str

    def open(self, page: str = "") -> None:
        """Go to a page of the console by its address."""
        if self.driver.url.startswith(f"{self.service}/admin"):
            self.driver.run("location.hash = arguments[0]", f"#/{page}")
        else:
            self.driver.go(f"{self.service}/admin#/{page}")

    def log_in(self, key: str) -> None:
        """Log in as a person does."""
        self.open()
        self.fill("API key", key)
        self.click("Log in")
        self.see("Log out")

    def log_out(self) -> None:
        """Forget the key, the page, and what the browser has logged of it."""
        self.complaints()
        if self.driver.url.startswith(self.service):
            self.driver.run("sessionStorage.clear()")
            self.driver.go("about:blank")

    def shown(self, page: str) -> None:
        """Wait until a page is there, with what it shows."""
        here = f"return location.hash.startsWith({json.dumps('#/' + page)}) && !!document.querySelector('main h1')"
        self._wait(lambda: self.driver.run(here), page)
        self.settled()

    def see(self, text: str) -> Element:
        """Wait until a text is on the page, and return the innermost element that holds it."""
        holds = f"contains(normalize-space(.), {_quoted(text)})"
        return self._wait(lambda: _first(self.driver.visible(f"//body//*[{holds}][not(.//*[{holds}])]")), text)

    def gone(self, text: str) -> None:
        """Wait until a text is not in the page's main part."""
        path = f"//main//*[contains(normalize-space(.), {_quoted(text)})]"
        self._wait(lambda: not self.driver.find(path), f"the end of {text}")

    def click(self, text: str) -> None:
        """Click a link or a button whose text or label begins so; what a dialog holds comes first."""
        quoted = _quoted(text)
        same = f"({CLICKABLE}) and (@aria-label = {quoted} or starts-with(normalize-space(.), {quoted}))"

        def pressed() -> bool:
            found = self.driver.visible(f"//dialog//*[{same}]") or self.driver.visible(f"//*[{same}][not(@disabled)]")
            for one in found[:1]:
                one.click()
            return bool(found)

        self._wait(pressed, f"something to click: {text}")

    def fill(self, label: str, text: str) -> None:
        """Put text into the field with a label."""
        self._field(label).type(f"{_SELECT_ALL}{_DELETE}{text}")

    def fill_date(self, label: str, day: str) -> None:
        """Put a date into the field with a label; typing one depends on the browser's language."""
        setting = (
            "const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;"
            "set.call(arguments[0], arguments[1]); arguments[0].dispatchEvent(new Event('input', {bubbles: true}))"
        )
        self.driver.run(setting, self._field(label), day)

    def choose(self, label: str, option: str) -> None:
        """Choose an option of the field with a label."""
        name = self._field(label).attribute("id")
        [found] = self.driver.find(f"//select[@id = '{name}']/option[normalize-space(.) = {_quoted(option)}]")
        found.click()

    def press(self, *keys: str) -> None:
        """Press keys, one after another, wherever the focus is."""
        for key in keys:
            self.driver.press(key)

    def text(self, css: str) -> str:
        """Return the text of the first element that a selector finds, once there is one."""
        script = "return document.querySelector(arguments[0])?.innerText"
        return str(self._wait(lambda: self.driver.run(script, css), css))

    def count(self, css: str) -> int:
        """Return how many elements a selector finds."""
        return int(self.driver.run("return document.querySelectorAll(arguments[0]).length", css))

    def settled(self) -> None:
        """Wait until nothing on the page says that it loads."""
        self._wait(lambda: self.driver.run("return !document.body.innerText.includes('Loading…')"), "the page")

    def size(self, width: int, height: int) -> None:
        """Give the page a size."""
        self.driver.size(width, height)

    def colours(self, scheme: str) -> None:
        """Ask for the light or the dark colours, as the system would."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.devtools("Emulation.setEmulatedMedia", {"features": features})
        self.driver.run("dispatchEvent(new Event('theme'))")

    def picture(self, path: Path) -> None:
        """Save a picture of the page, once it has come to rest."""
        self.settled()
        time.sleep(0.5)  # transitions, and the plots' own redrawing
        path.write_bytes(self.driver.picture())

    def faults(self, axe: str) -> list[str]:
        """Return the serious and critical faults of accessibility that axe finds, WCAG 2.2 AA included."""
        self.settled()
        self.driver.run(axe)
        rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
        found: dict[str, Any] = self.driver.run_async("axe.run(document, arguments[0]).then(arguments[1])", rules)
        return [
            f"{one['id']}: {one['help']}: {[node['html'][:160] for node in one['nodes'][:3]]}"
            for one in found["violations"]
            if one["impact"] in {"serious", "critical"}
        ]

    def complaints(self) -> list[str]:
        """Return the errors that the browser logged since it was asked last, those of the policy included."""
        return [one["message"] for one in self.driver.log() if one["level"] == "SEVERE"]

    def _field(self, label: str) -> Element:
        path = f"//label[normalize-space(.) = {_quoted(label)}]"
        found = self._wait(lambda: _first(self.driver.find(path)), f"a field: {label}")
        [field] = self.driver.find(f"//*[@id = '{found.attribute('for')}']")
        return field

    def _wait(self, look: Callable[[], Found | None], what: str) -> Found:
        """Return what `look` finds, once it finds something; what passes while a page is drawn is tried again."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                found = look()
            except WebDriverError as error:
                if error.code not in PASSING:
                    raise
                found = None
            if found:
                return found
            if time.monotonic() > deadline:
                page = self.driver.run("return document.body.innerText")
                raise AssertionError(f"waited in vain for {what}; the page says:\n{page[:2000]}")
            time.sleep(0.1)


@contextmanager
def chromium(service: str, profile: Path) -> Iterator[Browser]:
    """Open a window of Chromium at a service."""
    with chromedriver(profile) as driver:
        yield Browser(driver, service)


def _first(found: list[Element]) -> Element | None:
    return found[0] if found else None


def _quoted(text: str) -> str:
    """Return a text as a literal of XPath, which has no escapes."""
    if "'" not in text:
        return f"'{text}'"
    return "concat(" + ', "\'", '.join(f"'{part}'" for part in text.split("'")) + ")"
