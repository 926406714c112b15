"""The doctor's part for Neuron: what is installed, and where it is not as documented."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from runner.neuron.deviations import PARAMETERS, deviations, learned
from runner.neuron.doctor import NeuronReport, examine
from runner.neuron.offer import Installed, Offer
from tests.neuron_device import harness

OFFER = Offer(
    installed="2.14.3.0",
    torch="2.14.0",
    version="2.14.3.0",
    standin=False,
    parameters=dict.fromkeys(PARAMETERS) | {"precache_node_info": "True"},
    is_experimental_config=True,
    modes=("DEVICE", "RUNTIME", "CPU_UTIL", "HOST_MEMORY"),
    profiler_members=("export_trace",),
    op_tracking=("clear_op_tracking", "get_executed_ops", "get_fallback_ops"),
    dynamo_metrics=("get_dynamo_metrics",),
)
AS_DOCUMENTED = Installed(
    version="2.14.3.0",
    offer=OFFER,
    explorer=None,
    explorer_path=None,
    explorer_flags=(),
    explorer_problems=(),
    variables={},
)


def told(found: Installed) -> list[str]:
    return list(deviations(found))


def test_what_is_as_documented_deviates_in_nothing() -> None:
    assert told(AS_DOCUMENTED) == []


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            {"version": "2.15.1.0"},
            "torch_neuronx is 2.15.1.0; the documents that were read are of 2.13.3.* or 2.14.3.*",
        ),
        (
            {"parameters": dict.fromkeys([*PARAMETERS[1:], "trace_dma"])},
            "NeuronConfig has no parameter modes",
        ),
        (
            {"parameters": dict.fromkeys(PARAMETERS) | {"precache_node_info": "False"}},
            "NeuronConfig.precache_node_info defaults to False, documented is True",
        ),
        ({"modes": ("DEVICE", "RUNTIME")}, "ProfileMode has no member CPU_UTIL, HOST_MEMORY"),
        (
            {"is_experimental_config": False},
            "NeuronConfig is no _ExperimentalConfig: torch.profiler may refuse it",
        ),
        ({"profiler_members": ("save",)}, "NeuronProfiler has no export_trace"),
        (
            {"op_tracking": ("clear_op_tracking", "get_executed_ops")},
            "torch_neuronx has no get_fallback_ops: fallbacks to the CPU go unseen",
        ),
        (
            {"dynamo_metrics": ()},
            "torch.neuron has no get_dynamo_metrics: compilations are counted by NEFF files alone",
        ),
    ],
)
def test_each_deviation_of_the_package_is_one_line(change: dict[str, object], line: str) -> None:
    offer = msgspec.convert(msgspec.to_builtins(OFFER) | change, Offer)
    assert line in told(replace(AS_DOCUMENTED, offer=offer))


def test_variables_that_spoil_a_capture_are_named() -> None:
    variables = {
        "NEURON_RT_INSPECT_ENABLE": "1",
        "NEURON_RT_VIRTUAL_CORE_SIZE": "1",
        "NEURON_LOGICAL_NC_CONFIG": "2",
    }
    assert told(replace(AS_DOCUMENTED, variables=variables)) == [
        "NEURON_RT_INSPECT_ENABLE is set: it must not be together with torch.profiler",
        "NEURON_RT_VIRTUAL_CORE_SIZE=1 and NEURON_LOGICAL_NC_CONFIG=2 disagree: set them alike",
    ]


def test_an_explorer_without_a_flag_that_we_pass_is_named() -> None:
    flags = ("--session-dir", "--output-format", "--data-path", "--ingest-only")
    found = replace(AS_DOCUMENTED, explorer_path="/bin/x", explorer_flags=flags)
    (line,) = told(found)
    assert line.endswith("names no --output-file, --display-name, --ignore-device-profile")


def test_what_documents_leave_open_is_learned() -> None:
    parameters = dict(OFFER.parameters or {}) | {"max_events_per_nc": "1000000"}
    offer = replace(OFFER, parameters=parameters, profiler_members=("export_trace", "folder"))
    lines = list(learned(replace(AS_DOCUMENTED, offer=offer)))
    assert "NeuronConfig.max_events_per_nc defaults to 1000000" in lines
    assert "NeuronProfiler also has folder" in lines


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> NeuronReport:
    reason = harness.why_not()
    if reason:
        pytest.skip(reason)
    harness.build()
    folder = tmp_path_factory.mktemp("doctor")
    return examine(harness.environment(folder, {"NEURON_RT_VISIBLE_CORES": "1"}))


def test_the_stand_in_offers_what_is_documented_and_says_that_it_is_none(
    report: NeuronReport,
) -> None:
    offer = report.installed.offer
    assert offer is not None
    assert (offer.version, offer.standin) == ("2.13.3.0+standin", True)
    assert tuple(offer.parameters or ()) == PARAMETERS
    assert report.installed.explorer == "neuron-explorer 2.33.0.0+standin"
    assert report.installed.variables["NEURON_RT_VISIBLE_CORES"] == "1"
    assert report.deviations == ()
    assert report.standin
    assert report.lines()[0] == "This is a stand-in (standin), no Neuron software."


def test_a_report_is_plain_data(report: NeuronReport) -> None:
    assert msgspec.json.decode(msgspec.json.encode(report), type=NeuronReport) == report


def test_without_the_package_one_line_says_so() -> None:
    found = examine({"PATH": os.environ["PATH"]})
    assert found.absent["package"] == "torch-neuronx is not installed"
    assert (found.installed.offer, found.deviations) == (None, ())
    assert not found.standin


def test_the_old_xla_package_is_told_apart(tmp_path: Path) -> None:
    found = examine(harness.environment(tmp_path, package="xla"))
    assert found.installed.version == "2.9.0.2.15.32035+standin"
    assert any("older XLA-based package" in line for line in found.deviations)


def test_what_neuron_ls_says_is_passed_on(tmp_path: Path) -> None:
    listing = tmp_path / "neuron-ls"
    listing.write_text("#!/bin/sh\necho 'instance-type: trn2.3xlarge'\necho; echo 'cores: 4'\n")
    listing.chmod(0o755)
    found = examine({"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert found.cores == ("instance-type: trn2.3xlarge", "cores: 4")
