"""Which cores a process gets, and that no two processes get the same one."""

from __future__ import annotations

import pytest

from tests.neuron_device.site.torch_neuronx.cores import parse_ranges, visible_cores
from tests.neuron_standin.child import Child, Run


@pytest.fixture(scope="module")
def owner(run: Run) -> Child:
    child = run("cores.py", NEURON_RT_VISIBLE_CORES="0")
    assert child.status == 0, child.stderr
    return child


def test_a_core_in_use_by_another_process_is_refused(owner: Child) -> None:
    status, line = owner.said["same"]
    assert status == 1
    assert "NEURON_CORE_IN_USE: logical NeuronCore 0" in line


def test_another_core_is_free(owner: Child) -> None:
    assert owner.said["other"] == [0, "2.0"]


def test_a_fork_of_a_process_that_used_the_device_cannot_use_it(owner: Child) -> None:
    assert owner.said["fork"].startswith("Cannot re-initialize Neuron in forked subprocess")


def test_ranges_are_read_by_the_documented_grammar() -> None:
    assert parse_ranges("0,2-4,3") == (0, 2, 3, 4)
    for wrong in ("", "a", "0,", "-1", "0;1"):
        with pytest.raises(ValueError, match="not a list"):
            parse_ranges(wrong)
    assert parse_ranges("5-2") == ()


def test_the_chip_has_four_logical_cores_of_two_or_eight_of_one() -> None:
    assert visible_cores({}).indices == (0, 1, 2, 3)
    assert visible_cores({"NEURON_LOGICAL_NC_CONFIG": "1"}).indices == tuple(range(8))


def test_visible_cores_win_over_a_number_of_cores() -> None:
    both = {"NEURON_RT_VISIBLE_CORES": "2-3", "NEURON_RT_NUM_CORES": "1"}
    assert visible_cores(both).indices == (2, 3)
    assert visible_cores({"NEURON_RT_NUM_CORES": "1"}).indices == (0,)


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"NEURON_RT_VISIBLE_CORES": "4"}, "4 logical cores exist"),
        ({"NEURON_RT_VISIBLE_CORES": "x"}, "not a list"),
        ({"NEURON_RT_NUM_CORES": "9"}, "4 logical cores exist"),
        ({"NEURON_LOGICAL_NC_CONFIG": "1", "NEURON_RT_VIRTUAL_CORE_SIZE": "2"}, "disagree"),
        ({"NEURON_LOGICAL_NC_CONFIG": "3"}, "allowed are 1 and 2"),
    ],
)
def test_variables_that_cannot_be_obeyed_become_the_runtimes_error(
    variables: dict[str, str], reason: str
) -> None:
    assert reason in visible_cores(variables).error
