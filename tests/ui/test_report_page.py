"""The report's page in a real browser, opened from disk without any network."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.report.html.page import page as page_of
from runner.report.stored import read_newest
from tests.report.test_html import sample
from tests.ui.browser import browser, needs_browser
from tests.ui.conftest import MEDIANS, Logged, five

pytestmark = needs_browser


@pytest.fixture(scope="module")
def report(logged: Logged, tmp_path_factory: pytest.TempPathFactory) -> Path:
    for number, (variant, middle) in enumerate(MEDIANS.items()):
        for process, median in enumerate(five(middle)):
            values = [median * (1 + step / 1000) for step in range(100)]
            sample(logged.folder / f"{number:03d}_{variant}", process, values)
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(page_of(read_newest([logged.folder]), "now"))
    return file


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_it_opens_offline_with_table_pictures_and_words(
    report: Path, tmp_path: Path, scheme: str, dark: bool
) -> None:
    flags = ("--force-dark-mode",) if dark else ()
    # A proxy that is not there keeps every request from getting anywhere.
    with browser(tmp_path, "--proxy-server=127.0.0.1:9", *flags) as page:
        page.open(report.as_uri())
        text = page.shows(
            "What the numbers say",
            "rmsnorm/compiled/4x512/bfloat16 is 4 times as fast compared with naive",
            "4x [3.8",
            "Distribution of latencies",
            "How each number was taken",
            "Environment",
        )
        assert "Example CPU" in text
        assert page.requests() == []
        script = "return [...document.querySelectorAll('img')].every(each => each.naturalWidth > 0)"
        assert page.run(script)
        ground = page.run("return getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(13, 17, 23)" if dark else "rgb(255, 255, 255)")
        stroke = page.run(
            "const path = document.querySelector('#distributions svg path[style*=series]');"
            "return getComputedStyle(path).stroke"
        )
        assert stroke in ("rgb(9, 105, 218)", "rgb(88, 166, 255)")
        assert (stroke == "rgb(88, 166, 255)") is dark
        page.screenshot(f"report_{scheme}")
