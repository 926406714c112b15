from __future__ import annotations

from pathlib import Path

import pytest

from runner.result import read_result
from tests.conftest import QUICK, REPO, Cli

PACKAGE = '''
import torch
from runner.workload import Cost


class Scale:
    """x * factor, from a package outside the repository."""

    def __init__(self, *, shape, dtype, factor=2.0):
        self.shape, self.dtype, self.factor = shape, dtype, factor
        assert type(shape) is tuple and type(factor) is float

    def activations(self, draw):
        return (draw.normal(*self.shape),)

    def weights(self, draw):
        return ()

    def implementations(self):
        return {"naive": lambda x: x * self.factor}

    def reference(self, x):
        return x * self.factor

    def cost(self):
        return Cost(bytes=None, flops=None, source="unknown")


def double(x, y, scale=1.0):
    return x * 2 + y * scale


def rms_without_eps(x, weight):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True)) * weight


def rms_in_bfloat16(x, weight):
    total = torch.zeros(x.shape[:-1], dtype=torch.bfloat16)
    for column in (x * x).unbind(-1):
        total = total + column
    return x * torch.rsqrt((total / x.shape[-1]).unsqueeze(-1) + 1e-6) * weight


def raises(x):
    raise RuntimeError("planted")
'''


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "elsewhere"
    (folder / "mine").mkdir(parents=True)
    (folder / "mine/__init__.py").write_text("")
    (folder / "mine/ops.py").write_text(PACKAGE)
    return {"PYTHONPATH": f"{REPO}:{folder}"}


def status_of(tmp_path: Path) -> tuple[str, str | None]:
    (file,) = tmp_path.glob("outputs/2*/*/result.json")
    result = read_result(file)
    return result.status, result.reason


def test_a_class_from_another_package_runs(cli: Cli, env: dict[str, str], tmp_path: Path) -> None:
    args = ("workload._target_=mine.ops.Scale", "workload.eps=null", "workload.name=scale")
    done = cli(*args, "workload.params.factor=3.0", "variant=compiled", *QUICK, env=env)
    assert done.returncode == 0, done.stderr
    assert status_of(tmp_path) == ("passed", None)


def test_a_plain_function_runs_on_inputs_that_the_config_declares(
    cli: Cli, env: dict[str, str], tmp_path: Path
) -> None:
    inputs = "workload.inputs=[{shape:4x8,dtype:fp32},{shape:[8],distribution:uniform}]"
    args = ("workload=function", "workload.target=mine.ops:double", inputs)
    done = cli(*args, "workload.params.scale=0.5", *QUICK, env=env)
    assert done.returncode == 0, done.stderr
    assert status_of(tmp_path) == ("passed", None)


@pytest.mark.parametrize(
    ("path", "shape"), [("rms_without_eps", "4x512"), ("rms_in_bfloat16", "2x8192")]
)
def test_a_wrong_implementation_is_measured_but_ends_as_incorrect(
    path: str, shape: str, cli: Cli, env: dict[str, str], tmp_path: Path
) -> None:
    args = (f"variant.implementation=mine.ops:{path}", f"workload.shape={shape}")
    done = cli(*args, "variant.name=mine", "workload.dtype=bf16", *QUICK, env=env)
    assert done.returncode == 1, done.stderr
    status, reason = status_of(tmp_path)
    assert status == "incorrect"
    assert " inputs: " in str(reason)
    assert "incorrect" in done.stdout


def test_an_exception_fails_with_its_stage_and_reason_and_keeps_its_traceback(
    cli: Cli, env: dict[str, str], tmp_path: Path
) -> None:
    done = cli("workload=function", "workload.target=mine.ops:raises", *QUICK, env=env)
    assert done.returncode == 1
    assert status_of(tmp_path) == ("failed", "RuntimeError: planted")
    (log,) = tmp_path.glob("outputs/2*/*/process_0.log")
    assert "Traceback" in log.read_text()
    assert "Traceback" not in done.stderr
