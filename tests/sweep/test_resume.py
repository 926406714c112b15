"""What a resume finds changed around it: a file that is gone, a trace cut short, another device."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import REPO
from tests.sweep.command import functions, results_in, run, sweep_in, tree

QUIET = ("timing=quick", "numerics=off", "profiler=off")


def test_extras_that_fail_cost_a_warning_and_neither_the_table_nor_the_end_of_the_run(
    tmp_path: Path,
) -> None:
    reference = tmp_path / "mine.json"
    reference.write_text(json.dumps({"source": "a paper", "taken_on": "its machine", "rows": []}))
    command = ("-m", *functions("same", "double"), "timing=off", "schedule.active=2")
    first = run(tmp_path, *command, "sweep.reference=mine.json")
    assert first.returncode == 0, first.stderr
    reference.unlink()
    for trace in sweep_in(tmp_path).glob("*/trace_0.json.gz"):
        trace.write_bytes(trace.read_bytes()[:-100])

    again = run(tmp_path, *command, "sweep.resume=latest")
    assert again.returncode == 0, again.stderr
    assert "0 of 2 to run" in again.stderr
    warnings = [line for line in again.stderr.splitlines() if line.startswith("warning: ")]
    assert any("no file 'mine.json'" in line for line in warnings)
    assert any("trace_0.json.gz" in line for line in warnings)
    assert ":same" in again.stdout
    assert ":double" in again.stdout
    top, _ = tree(tmp_path).only
    assert top.info.status == "FINISHED"


def test_what_is_done_on_one_device_is_known_where_only_another_is_looked_at(
    tmp_path: Path,
) -> None:
    plugin = tmp_path / "site/some_device-1.0.dist-info"
    plugin.mkdir(parents=True)
    (plugin / "METADATA").write_text("Metadata-Version: 2.1\nName: some-device\nVersion: 1.0\n")
    (plugin / "entry_points.txt").write_text("[torch.backends]\nsome = nowhere:load\n")
    env = {"PYTHONPATH": f"{REPO}:{plugin.parent}", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    command = ("-m", *functions("same"), *QUIET, "tracking=off")
    assert run(tmp_path, *command, "device=cpu", **env).returncode == 0

    planned = run(tmp_path, *command, "device=cpu,auto", "sweep.resume=latest", "plan=true", **env)
    assert "1 of 2 to run" in planned.stdout
    again = run(tmp_path, *command, "device=cpu,auto", "sweep.resume=latest", **env)
    assert again.returncode == 0, again.stderr
    # Here auto is the CPU, where it was measured before.
    assert "0 of 2 to run" in again.stderr
    assert [str(each.status) for each in results_in(sweep_in(tmp_path))] == ["passed"]
