"""The life of our combinations in one process, one after the other, without isolation."""

from __future__ import annotations

import sys
from pathlib import Path

from runner.config.convert import to_config
from runner.devices.device import Placement
from runner.experiment import Experiment, Task


def main(count: int) -> None:
    """Measure as many combinations, each into a folder of its own."""
    from runner.config.plain import to_plain
    from runner.config.schema import Config, Numerics, Profiler, Timing, Workload

    for number in range(1, count + 1):
        plain = to_plain(
            Config(
                workload=Workload(
                    name="function",
                    _target_="workloads.function.Function",
                    target="tests.sweep.work:same",
                    shape=(8,),
                    scale=number,
                ),
                timing=Timing(samples=0, warmup_s=0.0),
                numerics=Numerics(check=False),
                profiler=Profiler(modes=()),
            )
        )
        config, _ = to_config(plain)
        assert config
        folder = Path(f"{number:03d}")
        folder.mkdir()
        place = Placement(device_type="cpu", start="fork")
        Experiment(Task(config=config, placement=place, folder=folder), lambda _: None).run()


if __name__ == "__main__":
    main(int(sys.argv[1]))
