from __future__ import annotations

import re
import shlex
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


def blocks(language: str) -> list[str]:
    """The code blocks of the README's guide to one's own operation."""
    guide = (REPO / "README.md").read_text().partition("## Your own operation")[2]
    section = guide.partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


def test_the_guide_works_as_written_in_a_new_folder(cli: Cli, tmp_path: Path) -> None:
    (code,) = blocks("python")
    (commands,) = blocks("sh")
    (tmp_path / "mine.py").write_text(code)
    lines = commands.splitlines()
    assert len(lines) == 3
    for line in lines:
        words = shlex.split(line)
        assert words[:3] == ["python", "-m", "runner"]
        done = cli(*words[3:], *QUICK)
        assert done.returncode == 0, done.stderr
    results = [read_result(file) for file in sorted(tmp_path.glob("outputs/2*/*/result.json"))]
    assert [result.status for result in results] == ["passed"] * 3
    by_variant = {result.config["variant"]["name"]: result for result in results}
    kernel = by_variant["kernel"]
    assert kernel.profile is not None
    assert "mine::rms_norm" in kernel.profile.outermost
    assert kernel.numerics is not None
    assert {each.name for each in kernel.numerics.sets} >= {"ordinary", "mean square near eps"}


@pytest.mark.parametrize("direction", ["fwd", "bwd", "fwd_bwd"])
@pytest.mark.parametrize("variant", ["naive", "compiled"])
def test_a_hand_written_operator_is_right_forward_and_backward(
    direction: str, variant: str
) -> None:
    from tests.workloads.combinations import checked, combine

    path = "tests.examples.handwritten:rms_norm"
    groups = {"variant": {"implementation": path}}
    for dtype in ("float32", "bfloat16"):
        _, found = checked(combine("rmsnorm", variant, groups, dtype=dtype, direction=direction))
        assert found.passed, found.reason


def test_generated_code_is_kept_as_an_artifact_when_asked_for(cli: Cli, tmp_path: Path) -> None:
    done = cli("variant=compiled", "variant.compile.keep_code=true", "tracking=off", *QUICK)
    assert done.returncode == 0, done.stderr
    (file,) = tmp_path.glob("outputs/2*/*/result.json")
    result = read_result(file)
    assert result.compile is not None
    assert result.compile.code
    assert set(result.compile.code) <= set(result.artifacts.values())
    text = (file.parent / result.compile.code[0]).read_text()
    assert "cpp_fused" in text


def test_a_shape_is_padded_and_the_waste_is_in_the_result(cli: Cli, tmp_path: Path) -> None:
    args = ("workload.shape=4x100x64", "workload.pad_to.seq=64", "tracking=off")
    done = cli(*args, *QUICK)
    assert done.returncode == 0, done.stderr
    (file,) = tmp_path.glob("outputs/2*/*/result.json")
    result = read_result(file)
    assert result.roofline is not None
    assert result.roofline.padding_waste == pytest.approx(0.28)
    assert result.config["workload"]["shape"] == "4x100x64"


def test_a_variant_that_a_workload_lacks_is_refused_before_anything_runs(
    cli: Cli, tmp_path: Path
) -> None:
    done = cli("-m", "workload=rmsnorm,rope", "variant=naive,fused", *QUICK)
    assert done.returncode == 2
    assert "rope has no implementation 'fused'; there are: naive" in done.stderr
    assert not list(tmp_path.rglob("result.json"))
