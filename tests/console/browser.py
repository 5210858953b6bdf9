"""Drives the console in headless Chromium by what a person sees: labels, texts, keys."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

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
)
PATIENCE = 20
CLICKABLE = "self::a or self::button or self::summary"


@dataclass(frozen=True, slots=True)
class Browser:
    """A window of Chromium at a service's console."""

    driver: webdriver.Chrome
    url: str

    def open(self, page: str = "") -> None:
        """Go to a page of the console by its address."""
        if self.driver.current_url.startswith(f"{self.url}/admin"):
            self.driver.execute_script("location.hash = arguments[0]", f"#/{page}")
        else:
            self.driver.get(f"{self.url}/admin#/{page}")

    def log_in(self, key: str) -> None:
        """Log in as a person does."""
        self.open()
        self.fill("API key", key)
        self.click("Log in")
        self.see("Log out")

    def see(self, text: str, *, patience: float = PATIENCE) -> WebElement:
        """Wait until a text is on the page, and return the innermost element that holds it."""
        quoted = _quoted(text)
        path = f"//*[contains(normalize-space(.), {quoted})][not(.//*[contains(normalize-space(.), {quoted})])]"
        return self._wait(lambda: next((one for one in self._all(path) if one.is_displayed()), None), text, patience)

    def gone(self, text: str) -> None:
        """Wait until a text is not on the page."""
        path = f"//main//*[contains(normalize-space(.), {_quoted(text)})]"
        self._wait(lambda: not self._all(path), f"the end of {text}", PATIENCE)

    def click(self, text: str) -> None:
        """Click a link or a button by its text or its label."""
        quoted = _quoted(text)
        same = f"normalize-space(.) = {quoted} or @aria-label = {quoted} or starts-with(normalize-space(.), {quoted})"
        path = f"(//dialog//*[{CLICKABLE}][{same}] | //*[{CLICKABLE}][{same}])"

        def pressed() -> bool:
            found = [one for one in self._all(path) if one.is_displayed() and one.is_enabled()]
            in_dialog = [one for one in found if one.find_elements(By.XPATH, "ancestor::dialog")]
            if not found:
                return False
            (in_dialog or found)[0].click()
            return True

        self._wait(pressed, f"something to click: {text}", PATIENCE)

    def fill(self, label: str, text: str) -> None:
        """Put text into the field with a label."""
        field = self._field(label)
        field.clear()
        field.send_keys(text)

    def choose(self, label: str, option: str) -> None:
        """Choose an option of the field with a label."""
        self._field(label).find_element(By.XPATH, f".//option[normalize-space(.) = {_quoted(option)}]").click()

    def press(self, *keys: str) -> None:
        """Press keys, one after another, wherever the focus is."""
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def escape(self) -> None:
        """Press the escape key."""
        self.press(Keys.ESCAPE)

    def text(self, css: str) -> str:
        """Return the text of the first element that a selector finds, once there is one."""
        return str(self._wait(lambda: next(iter(self.driver.find_elements(By.CSS_SELECTOR, css)), None), css, 20).text)

    def settled(self) -> None:
        """Wait until nothing on the page says that it loads."""
        self._wait(lambda: "Loading…" not in self.driver.find_element(By.TAG_NAME, "body").text, "the page", PATIENCE)

    def size(self, width: int, height: int) -> None:
        """Give the window a size."""
        self.driver.set_window_size(width, height)

    def colours(self, scheme: str) -> None:
        """Ask for the light or the dark colours, as the system would."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.driver.execute_script("dispatchEvent(new Event('theme'))")

    def picture(self, path: Path) -> None:
        """Save a picture of the window."""
        self.settled()
        self.driver.save_screenshot(str(path))

    def faults(self, axe: str) -> list[str]:
        """Return the serious and critical faults of accessibility that axe finds, WCAG 2.2 AA included."""
        self.settled()
        self.driver.execute_script(axe)
        rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
        found: dict[str, Any] = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1]; axe.run(document, JSON.parse(arguments[0])).then(done)",
            json.dumps(rules),
        )
        return [
            f"{one['id']}: {one['help']}: {[node['html'][:160] for node in one['nodes'][:3]]}"
            for one in found["violations"]
            if one["impact"] in {"serious", "critical"}
        ]

    def complaints(self) -> list[str]:
        """Return what the browser's console holds of errors, those of the content security policy included."""
        return [one["message"] for one in self.driver.get_log("browser") if one["level"] == "SEVERE"]

    def _field(self, label: str) -> WebElement:
        path = f"//label[normalize-space(.) = {_quoted(label)}]"
        found = self._wait(lambda: next(iter(self._all(path)), None), f"a field: {label}", PATIENCE)
        return self.driver.find_element(By.ID, found.get_attribute("for") or "")

    def _all(self, path: str) -> Sequence[WebElement]:
        found: Sequence[WebElement] = self.driver.find_elements(By.XPATH, path)
        return found

    def _wait(self, look: Any, what: str, patience: float) -> Any:
        from selenium.common.exceptions import (  # noqa: PLC0415
            ElementClickInterceptedException,
            StaleElementReferenceException,
        )

        passing = [StaleElementReferenceException, ElementClickInterceptedException]
        waiting = WebDriverWait(self.driver, patience, 0.1, ignored_exceptions=passing)
        return waiting.until(lambda _: look(), f"waited for {what}")


@contextmanager
def chromium(url: str, profile: Path) -> Iterator[Browser]:
    """Start Chromium with a profile of its own, at a service."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in (*FLAGS, f"--user-data-dir={profile}", "--window-size=1440,900"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    try:
        driver.set_script_timeout(60)
        yield Browser(driver, url)
    finally:
        driver.quit()


def _quoted(text: str) -> str:
    """Return a text as a literal of XPath, which has no escapes."""
    if "'" not in text:
        return f"'{text}'"
    return "concat(" + ', "\'", '.join(f"'{part}'" for part in text.split("'")) + ")"
