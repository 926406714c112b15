"""A headless Chromium, and what its page says, for tests that look at real pages."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
SCREENSHOTS = "RUNNER_SCREENSHOTS"
"""Environment variable that names a folder for screenshots; without it none is taken."""
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1600,1300",
)
SHOWS_WITHIN_S = 60.0


def why_not() -> str | None:
    """Return why no page can be looked at here, None if one can."""
    if CHROMIUM is None or DRIVER is None:
        return "no chromium with chromedriver here (Debian: chromium, chromium-driver)"
    return None if find_spec("selenium") else "selenium is not installed here"


needs_browser = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


class Page:
    """What a browser shows."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    def open(self, address: str) -> None:
        # The part behind # alone would not load the page anew.
        self._driver.get("about:blank")
        self._driver.get(address)

    def text(self) -> str:
        body = self._driver.execute_script("return document.body ? document.body.innerText : ''")
        return str(body)

    def shows(self, *words: str) -> str:
        """Wait until all the words stand in the page, and return its text."""
        end = time.monotonic() + SHOWS_WITHIN_S
        while missing := [word for word in words if word not in self.text()]:
            assert time.monotonic() < end, f"{missing} not in: {self.text()[:3000]}"
            time.sleep(0.2)
        return self.text()

    def run(self, script: str) -> Any:
        return self._driver.execute_script(script)

    def until(self, script: str) -> Any:
        """Wait until a script returns something true, and return it."""
        end = time.monotonic() + SHOWS_WITHIN_S
        while not (found := self.run(script)):
            assert time.monotonic() < end, f"never true: {script}"
            time.sleep(0.2)
        return found

    def requests(self) -> list[str]:
        """Return the addresses of all that the page has loaded beside itself."""
        script = "return performance.getEntriesByType('resource').map(each => each.name)"
        return list(self._driver.execute_script(script))

    def screenshot(self, name: str) -> None:
        folder = os.environ.get(SCREENSHOTS)
        if folder:
            time.sleep(1.5)  # What moves comes to rest.
            Path(folder).mkdir(parents=True, exist_ok=True)
            self._driver.save_screenshot(str(Path(folder) / f"{name}.png"))


@contextmanager
def browser(profile: Path, *flags: str) -> Iterator[Page]:
    """Run a browser with a new profile; extra flags go along."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={profile}", *flags):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    try:
        yield Page(driver)
    finally:
        driver.quit()
