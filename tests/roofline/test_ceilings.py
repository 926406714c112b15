"""The shipped ceilings, which of them a device gets, and those measured on this CPU."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from runner.config.convert import to_config
from runner.config.groups import choices, conf_dir
from runner.config.schema import Hardware
from runner.errors import ExitCode
from runner.measure.cache import UNKNOWN_BYTES
from runner.roofline import __main__ as command
from runner.roofline import measure
from runner.roofline.ceilings import Place, measures, read, resolve
from tests.conftest import QUICK, REPO, Cli
from tests.report import factory

FILES = choices([conf_dir()])["hardware"]
SAID = sorted(name for name in FILES if name not in ("none", "auto", "cpu"))


def shipped(name: str) -> Hardware:
    data: Any = OmegaConf.to_container(OmegaConf.load(FILES[name]))
    config, problems = to_config({"hardware": data})
    assert config is not None, problems
    return config.hardware


def on(model: str) -> Place:
    return Place(host="here", model=model, num_threads=1, cores=None, torch="2.13.0")


@pytest.mark.parametrize("name", SAID)
def test_every_shipped_ceiling_has_its_source_and_all_that_a_roofline_needs(name: str) -> None:
    found = shipped(name)
    assert found.source
    assert found.memory_gb_per_s
    assert {"bfloat16", "float32"} <= found.peak_tflop_per_s.keys()
    assert {"bfloat16", "float32"} <= found.elementwise_tflop_per_s.keys()
    assert found.elementwise_tflop_per_s["bfloat16"] < found.peak_tflop_per_s["bfloat16"]


def test_two_physical_cores_make_a_logical_one_with_one_memory_stack() -> None:
    one, two = shipped("trn2_lnc1"), shipped("trn2_lnc2")
    assert two.peak_tflop_per_s["bfloat16"] == pytest.approx(157.3)
    assert one.peak_tflop_per_s["bfloat16"] == pytest.approx(78.64)
    assert one.memory_gb_per_s == two.memory_gb_per_s == 716
    assert two.engines["vector_32_bit"] == pytest.approx(2 * 256 * 0.96e-3, rel=1e-3)
    assert two.engines["scalar_32_bit"] == pytest.approx(2 * 128 * 1.2e-3, rel=1e-3)


def test_the_ridge_of_a_chip_is_the_one_that_is_documented() -> None:
    for name, flops_per_byte in (("trn2_chip", 230), ("trn3_chip", 137)):
        chip = shipped(name)
        assert chip.memory_gb_per_s is not None
        ridge = chip.peak_tflop_per_s["bfloat16"] / chip.memory_gb_per_s * 1e3
        assert ridge == pytest.approx(flops_per_byte, rel=0.01)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM5"),
        ("NVIDIA H200", "NVIDIA H200 SXM"),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", None),
        ("NVIDIA H200 MIG 1g.18gb", None),
        ("NVIDIA H100 PCIe", None),
        ("NVIDIA H200 NVL", None),
        ("neuron:0", None),
    ],
)
def test_auto_takes_the_file_that_names_the_device_and_else_none(
    model: str, name: str | None
) -> None:
    found, why = resolve(Hardware(name="auto"), "cuda", on(model))
    assert found.name == name
    assert (why is None) == (name is not None)
    if why:
        assert f"no shipped hardware file names {model!r}" in why
        assert "one of your own, with hardware=NAME" in why


def test_what_is_given_is_taken_as_it_is_and_none_stays_none() -> None:
    given = Hardware(name="mine", memory_gb_per_s=5.0)
    assert resolve(given, "cpu", on("any")) == (given, None)
    assert resolve(Hardware(), "cpu", on("any")) == (Hardware(), "hardware=none")


def test_ceilings_that_are_not_measured_are_unknown_with_the_file_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found, why = resolve(Hardware(name="auto"), "cpu", on("any"))
    assert found == Hardware()
    assert str(tmp_path) in str(why)
    place = on("any")
    place.file.parent.mkdir(parents=True)
    place.file.write_text("not json")
    assert read(place.file) is None


def test_only_the_cpu_is_measured() -> None:
    assert measures(Hardware(name="auto"), "cpu")
    assert measures(Hardware(name="cpu", measure=True), "cpu")
    assert not measures(Hardware(name="auto"), "cuda")
    assert not measures(Hardware(), "cpu")


def test_this_cpu_is_measured_once_at_its_threads_and_then_read(tmp_path: Path) -> None:
    core = min(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
    code = (
        "import json, os\n"
        "from runner.roofline import measure\n"
        "from runner.roofline.ceilings import Place\n"
        "os.getloadavg = lambda: (0.5, 0.5, 0.5)\n"
        f"place = Place(host='h', model='this', num_threads=1, cores='{core}', torch='any')\n"
        f"measure.measure_once(place, ({core},))\n"
        "measure.measure = None  # A second measurement would end in an error.\n"
        f"measure.measure_once(place, ({core},))\n"
        "print(json.dumps(str(place.file)))"
    )
    env = {"XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(REPO), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False
    )
    assert done.returncode == 0, done.stderr
    kept = read(Path(json.loads(done.stdout)))
    assert kept is not None
    assert kept.load == 0.5
    found = kept.ceilings
    assert found.memory_gb_per_s is not None
    assert 0.5 < found.memory_gb_per_s < 2000
    assert 0.001 < found.peak_tflop_per_s["float32"] < 10
    assert found.peak_tflop_per_s["bfloat16"] >= found.peak_tflop_per_s["float32"]
    assert found.launch_us is not None
    assert 0.05 < found.launch_us < 100
    assert str(found.name) == f"this, 1 thread on cores {core}"
    assert "measured with torch" in str(found.source)


def test_another_host_of_the_same_home_has_ceilings_of_its_own() -> None:
    assert on("any").file != dataclasses.replace(on("any"), host="other").file


def test_ceilings_of_a_busy_hour_are_provisional_and_measured_again_in_a_quiet_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cores = os.cpu_count() or 1
    busy, quiet = 1 + 0.6 * cores, 1 + 0.4 * cores
    place = dataclasses.replace(on("any"), num_threads=1)
    taken: list[float] = []

    def counted(where: Place, load: float) -> Hardware:
        taken.append(load)
        return Hardware(name=f"taken {len(taken)}")

    monkeypatch.setattr(measure, "measure", counted)
    for load in (busy, busy, quiet, quiet, busy):
        monkeypatch.setattr(os, "getloadavg", lambda now=load: (now, now, now))
        measure.measure_once(place, ())
        kept = read(place.file)
        assert kept is not None
        assert kept.ceilings.name == f"taken {len(taken)}"
        assert not measure.is_due(place)
    assert taken == [busy, quiet]


def test_a_last_level_cache_of_unknown_size_is_guessed_for_the_stream_and_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    streamed: list[int] = []

    def stream(size: int) -> float:
        streamed.append(size)
        return 9.0

    monkeypatch.setattr(measure, "last_level_bytes", lambda: None)
    monkeypatch.setattr(measure, "_stream_gb_per_s", stream)
    monkeypatch.setattr(measure, "_matmul_tflop_per_s", lambda dtype: 1.0)
    monkeypatch.setattr(measure, "_launch_us", lambda: 1.0)
    found = measure.measure(on("any"), 99.0)
    assert found.last_level_bytes is None
    assert streamed == [measure.STREAM_CACHES * UNKNOWN_BYTES]
    assert "guessed: the last-level cache has no known size" in str(found.source)
    assert "provisional: others were at work" in str(found.source)
    monkeypatch.setattr(measure, "last_level_bytes", lambda: 1_000_000)
    known = measure.measure(on("any"), 0.0)
    assert (known.last_level_bytes, streamed[-1]) == (1_000_000, 4_000_000)
    assert "guessed" not in str(known.source)
    assert "provisional" not in str(known.source)


def test_a_command_on_the_cpu_has_measured_ceilings_and_the_roofline_shows_them(
    cli: Cli, tmp_path: Path
) -> None:
    # 512 x 16384 in float32 is 67 MB in and out: no cache holds two sets of it.
    shape = ("workload.dims.batch=512", "workload.dims.hidden=16384", "workload.dtype=fp32")
    done = cli("variant=fused", *shape, "timing.inputs=4", "tracking=off", *QUICK)
    assert done.returncode == 0, done.stderr
    shown = cli(module="runner.roofline")
    assert shown.returncode == 0, shown.stderr
    # A machine that hides the size of its last-level cache gets the reason instead.
    assert ("of bound" in shown.stdout.splitlines()[0]) != (": no fraction: " in shown.stdout)
    assert "ceilings: " in shown.stdout
    assert "measured with torch" in shown.stdout
    drawn = cli("--out", "roof.svg", module="runner.roofline")
    assert drawn.returncode == 0, drawn.stderr
    assert (tmp_path / "roof.svg").read_text().startswith("<?xml")


def test_ceilings_of_another_device_are_a_what_if_and_say_so(cli: Cli) -> None:
    done = cli("hardware=h100", "tracking=off", *QUICK)
    assert done.returncode == 0, done.stderr
    assert "foreign_ceilings" in done.stdout


def test_a_result_that_cannot_be_read_is_told_and_fails_beside_those_that_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    factory.store(factory.result("naive"), tmp_path / "000_naive")
    (tmp_path / "001_broken").mkdir()
    assert command.main([str(tmp_path)]) == ExitCode.OK
    (tmp_path / "001_broken" / "result.json").write_text("{")
    capsys.readouterr()
    assert command.main([str(tmp_path)]) == ExitCode.FAILED
    told = capsys.readouterr()
    assert "rmsnorm/naive" in told.out
    assert "not a result of this runner" in told.err


def test_the_roofline_of_nothing_says_so(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "outputs").mkdir()
    done = cli(module="runner.roofline")
    assert done.returncode == 4
    assert done.stderr.startswith("error: ")
