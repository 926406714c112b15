"""What a program sees of the stand-in through torch."""

from __future__ import annotations

import pytest

from tests.neuron_standin.child import Child, Run


@pytest.fixture(scope="module")
def seen(run: Run) -> Child:
    child = run("device.py", NEURON_STANDIN_BYTES_PER_NS=1, NEURON_RT_NUM_CORES=2)
    assert child.status == 0, child.stderr
    return child


def test_import_torch_alone_brings_the_device_under_the_name_neuron(seen: Child) -> None:
    assert seen.said["devices"]["accelerator"] == "neuron"
    assert seen.said["devices"]["count"] == 2


def test_device_and_properties_say_that_they_are_a_standin(seen: Child) -> None:
    assert seen.said["devices"]["name"] == "neuron:0 (standin)"
    assert "standin" in seen.said["devices"]["properties"]


def test_results_and_gradients_of_usual_workloads_are_those_of_the_cpu(seen: Child) -> None:
    assert len(seen.said["values"]) == 13
    assert [name for name, same in seen.said["values"].items() if not same] == []


def test_no_usual_workload_falls_back_to_the_cpu(seen: Child) -> None:
    assert "fell back to CPU" not in seen.stderr


def test_memory_counters_follow_what_tensors_hold(seen: Child) -> None:
    memory = seen.said["memory"]
    assert memory["held"] == memory["peak"] == memory["accelerator_peak"] == 1 << 20
    assert memory["left"] == 0


def test_memory_stats_are_nested_as_torchneuron_has_them(seen: Child) -> None:
    stats = seen.said["memory"]["stats"]
    assert set(stats["allocated_bytes"]) == {"current", "peak", "allocated", "freed"}
    assert stats["num_ooms"] == 1


def test_more_memory_than_the_device_has_is_refused_as_torch_does(seen: Child) -> None:
    assert "standin: out of memory on neuron:0" in seen.said["memory"]["refused"]


def test_work_goes_to_the_core_and_stream_that_are_current(seen: Child) -> None:
    device, values, stream = seen.said["devices"]["second"]
    assert (device, values) == ("neuron:1", [2.0, 2.0])
    assert stream > 0


def test_a_saved_tensor_comes_back_to_its_core(seen: Child) -> None:
    assert seen.said["devices"]["loaded"] == "neuron:1"


def test_a_seed_and_a_restored_state_repeat_random_numbers(seen: Child) -> None:
    assert seen.said["devices"]["repeatable"]
    assert seen.said["devices"]["restored"]


def test_float64_silently_keeps_the_precision_of_float32(seen: Child) -> None:
    assert seen.said["devices"]["float64"] == 1.0


def test_autocast_computes_products_in_the_low_precision(seen: Child) -> None:
    assert seen.said["devices"]["autocast"] == "torch.bfloat16"


def test_without_waiting_the_work_has_neither_ended_nor_arrived(seen: Child) -> None:
    assert seen.said["late"]["early"] == {"query": False, "arrived": False}


def test_after_waiting_the_work_took_the_modelled_time(seen: Child) -> None:
    late = seen.said["late"]
    assert late["late"] == {"query": True, "arrived": True}
    assert 2400 <= late["event_ms"] <= late["waited_s"] * 1e3
