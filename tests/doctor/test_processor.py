"""What the processor's files tell, on machines made of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.doctor import cpu
from runner.doctor.finding import Finding, State

CPU0 = "sys/devices/system/cpu/cpu0"
CPU1 = "sys/devices/system/cpu/cpu1"
STATE = "sys/devices/system/cpu/intel_pstate/no_turbo"
BOOST = "sys/devices/system/cpu/cpufreq/boost"


def machine(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n")
    return root


def by_name(root: Path) -> dict[str, Finding]:
    return {found.name: found for found in cpu.look(root)}


def test_a_machine_that_tells_nothing_is_unknown_never_good(tmp_path: Path) -> None:
    assert {found.state for found in by_name(tmp_path).values()} == {State.UNKNOWN}


@pytest.mark.parametrize(
    ("files", "name", "state", "words"),
    [
        ({f"{CPU0}/cpufreq/scaling_governor": "performance"}, "governor", State.OK, "performance"),
        (
            {
                f"{CPU0}/cpufreq/scaling_governor": "performance",
                f"{CPU1}/cpufreq/scaling_governor": "powersave",
            },
            "governor",
            State.SPOILS,
            "cpupower frequency-set -g performance",
        ),
        ({STATE: "0"}, "turbo", State.SPOILS, "echo 1 | sudo tee"),
        ({STATE: "1"}, "turbo", State.OK, "off"),
        ({BOOST: "1"}, "turbo", State.SPOILS, "echo 0 | sudo tee"),
        ({BOOST: "0"}, "turbo", State.OK, "off"),
        ({f"{CPU0}/thermal_throttle/core_throttle_count": "0"}, "throttling", State.OK, "No core"),
        (
            {
                f"{CPU0}/thermal_throttle/core_throttle_count": "7",
                f"{CPU1}/thermal_throttle/core_throttle_count": "0",
            },
            "throttling",
            State.SPOILS,
            "1 cores have been throttled 7 times",
        ),
        (
            {
                f"{CPU0}/topology/thread_siblings_list": "0,4",
                f"{CPU1}/topology/thread_siblings_list": "1-2",
            },
            "siblings",
            State.INFO,
            "(the first ones are 0,1)",
        ),
        (
            {
                f"{CPU0}/topology/thread_siblings_list": "0",
                f"{CPU1}/topology/thread_siblings_list": "1",
            },
            "siblings",
            State.OK,
            "2 cores, each a physical one",
        ),
        ({cpu.CLOCK: "tsc"}, "clock", State.OK, "tens of nanoseconds"),
        ({cpu.CLOCK: "hpet"}, "clock", State.SPOILS, "about a microsecond"),
    ],
)
def test_each_file_is_read_for_what_it_means(
    tmp_path: Path, files: dict[str, str], name: str, state: State, words: str
) -> None:
    found = by_name(machine(tmp_path, files))[name]
    assert found.state is state
    assert words in f"{found.message} -> {found.remedy}"
    assert (found.remedy is not None) == (state in (State.SPOILS, State.INFO))
