"""MLflow's own pages in a real browser: they open on the answer."""

from __future__ import annotations

from runner.ui.links import Link, links
from runner.ui.presets import preset
from runner.ui.server import Server
from tests.ui.browser import Page, needs_browser
from tests.ui.conftest import PICTURE, Logged

pytestmark = needs_browser


def found_links(logged: Logged, server: Server, *, view: bool = True) -> dict[str, Link]:
    sweep = logged.client.get_run(logged.parent)
    key = preset(logged.client, logged.experiment_id, logged.parent) if view else None
    made = links(server.address, logged.client, logged.experiment_id, sweep, key)
    return {link.what: link for link in made}


def test_the_sweeps_run_shows_its_table_first(logged: Logged, server: Server, page: Page) -> None:
    page.open(found_links(logged, server)["table of sweep of three"].address)
    text = page.shows("self device us", "compiled", "4x [3.8")
    table = text.index("self device us")
    assert text.index("Description") < table < text.index("Metrics (")
    assert text.index("compiled", table) < text.index("fused", table) < text.index("naive", table)
    page.screenshot("mlflow_sweep")


def test_the_runs_list_opens_with_the_columns_that_matter(
    logged: Logged, server: Server, page: Page
) -> None:
    page.open(found_links(logged, server)["runs side by side"].address)
    columns = ("variant", "workload.shape", "workload.dtype", "latency_us/median")
    text = page.shows(*columns, "rmsnorm/fused/4x512/bfloat16", "device_time_us/per_step")
    assert "sweep of three" not in text
    page.shows("16.32", "8")
    page.screenshot("mlflow_runs")


def test_without_presets_the_plain_list_is_shown(
    logged: Logged, server: Server, page: Page
) -> None:
    page.open(found_links(logged, server, view=False)["runs side by side"].address)
    assert "workload.dtype" not in page.shows("sweep of three", "Run Name")


def test_the_charts_open_on_the_metrics_of_the_sweep(
    logged: Logged, server: Server, page: Page
) -> None:
    page.open(found_links(logged, server)["charts"].address)
    text = page.shows("Where the time goes", "latency_us/median", "device_time_us/per_step")
    assert text.index("Where the time goes") < text.index("latency_us/median")
    page.shows("rmsnorm/compiled/4x512/bfloat16")
    page.screenshot("mlflow_charts")


def test_the_compare_page_shows_the_three_variants(
    logged: Logged, server: Server, page: Page
) -> None:
    found = found_links(logged, server)
    (compare,) = [link for link in found.values() if link.what.endswith("runs compared")]
    page.open(compare.address)
    names = [f"rmsnorm/{variant}/4x512/bfloat16" for variant in ("naive", "fused", "compiled")]
    text = page.shows("Run details", *names, "latency_us/median")
    assert all(text.count(name) for name in names)
    page.screenshot("mlflow_compare")


def test_a_picture_among_the_artifacts_opens(logged: Logged, server: Server, page: Page) -> None:
    run = f"{server.address}/#/experiments/{logged.experiment_id}/runs/{logged.below[0]}"
    page.open(f"{run}/artifacts/{PICTURE}")
    page.shows(PICTURE, "result.json")
    wide = page.until(
        "const drawn = [...document.querySelectorAll('img, canvas, svg')]"
        ".map(each => each.getBoundingClientRect())"
        ".filter(each => each.width > 300 && each.height > 80);"
        "return drawn.length && drawn[0].width"
    )
    assert wide > 300
    page.screenshot("mlflow_picture")
