from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPO
from tests.script import script

HEAVY = ("torch", "mlflow", "pandas", "matplotlib", "scipy")
CODE = """
import sys
from runner.entry import main
code = main(sys.argv[1:])
heavy = [name for name in {heavy!r} if name in sys.modules]
print("HEAVY", heavy, "CODE", code)
"""


def imports_of(*args: str, cwd: Path) -> str:
    done = script(CODE.format(heavy=HEAVY), *args, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("--help",), 0),
        (("workload=rmsnrm",), 2),
        (("timing.min_time_s=100",), 2),
        (("device=cpu", "profiler=system"), 2),
        (("tracking.uri=./mlruns",), 2),
    ],
)
def test_help_and_config_errors_import_nothing_heavy(
    args: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    assert imports_of(*args, cwd=tmp_path) == f"HEAVY [] CODE {code}"


READER = """
import sys
from runner import checks
from runner.config.schema import Compile, Config, Variant
from runner.record import Record
from runner.tracking import artifacts
from tests.report.factory import profile
config = Config(variant=Variant(compile=Compile()))
(found,) = checks.check(config, [Record(process=0, profile=profile())], 0)
print(found.name)
measuring = ("runner.trace", "runner.experiment", "runner.launch.pool", "runner.job")
print([name for name in measuring if name in sys.modules])
"""


def test_what_judges_and_sends_results_imports_nothing_that_measures_or_reads_traces() -> None:
    done = script(READER, cwd=REPO)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["compiled_region_missing", "[]"]


def test_help_names_every_group_its_choices_and_the_exit_codes(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "runner", "--help"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPO)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    for word in ("workload:", "=rmsnorm", "variant:", "=compiled", "schedule.active", "Exit codes"):
        assert word in done.stdout
    assert done.stderr == ""
