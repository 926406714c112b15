"""What must hold between keys, once each value by itself is right."""

from __future__ import annotations

from collections.abc import Iterator

from runner.config.convert import Problem, nearest
from runner.config.inputs import belied
from runner.config.kinds import DTYPES
from runner.config.schema import Config

MOST_STEPS = 100_000
"""A profiled pass keeps every event of a cycle in memory; beyond this it is surely a mistake."""


def broken_rules(config: Config) -> list[Problem]:
    """Return every rule between keys that a config breaks."""
    return [
        *_workload(config),
        # What is measured again was let in by the rules of its time, and keeps its name.
        *([] if config.rerun else belied(config.workload)),
        *_variant(config),
        *_hardware(config),
        *_passes(config),
    ]


def _workload(config: Config) -> Iterator[Problem]:
    spec = config.workload
    function = spec._target_ == "workloads.function.Function"
    if function and spec.target is None:
        yield Problem("workload.target", "null", "name the function: workload.target=pkg.mod:fn")
    if spec.target is not None and ":" not in spec.target:
        yield Problem("workload.target", repr(spec.target), "write it as pkg.mod:fn")
    if spec.shape is None and not spec.inputs:
        yield Problem("workload.shape", "null", "give sizes, as workload.shape=4x512")
    if spec.direction != "fwd" and config.variant.grad_mode == "inference":
        yield Problem(
            "variant.grad_mode",
            f"'inference' with workload.direction={spec.direction}",
            "a backward needs gradients: use no_grad or enabled",
        )


def _variant(config: Config) -> Iterator[Problem]:
    how = config.variant.compile
    if how and how.mode and how.options:
        yield Problem(
            "variant.compile.options",
            f"given beside mode={how.mode!r}",
            "torch.compile takes one of the two",
        )


def _hardware(config: Config) -> Iterator[Problem]:
    rates = {
        "peak_tflop_per_s": config.hardware.peak_tflop_per_s,
        "elementwise_tflop_per_s": config.hardware.elementwise_tflop_per_s,
    }
    for key, by_dtype in rates.items():
        for name in sorted(set(by_dtype) - {*DTYPES, "tf32"}):
            near = nearest(name, (*DTYPES, "tf32"))
            yield Problem(f"hardware.{key}.{name}", "no element type", f"take torch's name{near}")


def _passes(config: Config) -> Iterator[Problem]:
    timing, schedule = config.timing, config.schedule
    if timing.min_time_s > timing.max_time_s:
        yield Problem(
            "timing.min_time_s",
            f"{timing.min_time_s:g} above timing.max_time_s {timing.max_time_s:g}",
            "lower the one or raise the other",
        )
    cycle = sum(each or 0 for each in (schedule.wait, schedule.warmup, schedule.active))
    steps = (schedule.skip_first or 0) + cycle * (schedule.repeat or 1)
    if steps > MOST_STEPS:
        yield Problem(
            "schedule",
            f"{steps} steps",
            f"at most {MOST_STEPS}: lower schedule.active or schedule.repeat",
        )
