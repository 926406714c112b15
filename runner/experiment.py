"""The life of one combination in one process, from config to record; reads in the order it runs."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from runner import environment
from runner.config.schema import Config
from runner.devices.detect import open_device
from runner.devices.device import Device, Placement
from runner.files import write_json
from runner.loader import cost_of, padding_waste
from runner.measure import cache, capture, clock, compilation, numerics
from runner.measure.first_call import first_call
from runner.measure.prepare import Prepared, modes, prepare
from runner.measure.reference import expected_dtype
from runner.record import (
    CostFacts,
    InputFacts,
    Record,
    begin_record,
    samples_file,
    write_record,
)
from runner.result import Memory, ProcessTiming
from runner.roofline import ceilings
from runner.stats import drift, summarise


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a measuring process is given: plain data."""

    config: Config
    placement: Placement
    folder: Path
    process: int = 0
    order: int = 0


class Experiment:
    """Runs the stages of one process and keeps its record on disk after each."""

    def __init__(self, task: Task, tell: Callable[[str], None]) -> None:
        self.task = task
        self.config = task.config
        self._tell = tell
        self.record = Record(process=task.process, order=task.order)

    def run(self) -> None:
        """Run every stage that the config asks for; an exception leaves the stages before it."""
        begin_record(self.task.folder, self.task.process)
        with self._stage("start"):
            device = self._start()
        with modes(self.config):
            with self._stage("inputs"):
                prepared = self._inputs(device)
            with self._stage("first_call"):
                first = self._first_call(prepared, device)
            if self.config.numerics.check:
                with self._stage("numerics"):
                    self._numerics(prepared, device, first)
            del first
            self._measure(prepared, device)
        self._keep(stage="done")
        write_record(self.task.folder, self.record)

    def _measure(self, prepared: Prepared, device: Device) -> None:
        loop = clock.Loop(
            call=prepared.call, sets=prepared.sets, device=device, rules=self.config.timing
        )
        before = compilation.count() if self.config.variant.compile else None
        device.begin()
        with self._stage("warmup"):
            clock.warm_up(loop)
        if self.config.timing.samples > 0:
            with self._stage("timing"):
                self._timing(loop, prepared, device)
        if self.task.process == 0:
            with self._stage("memory"):
                self._memory(prepared, device)
            if self.config.profiler.modes != ():
                self._profile(prepared, device)
        self._keep(checks=(*self.record.checks, *device.findings()))
        if before is not None and self.record.compile is not None:
            reasons = compilation.count().recompile_reasons[len(before.recompile_reasons) :]
            self._keep(
                compile=dataclasses.replace(
                    self.record.compile, recompiles=len(reasons), recompile_reasons=reasons
                ),
            )

    def _start(self) -> Device:
        import torch

        config = self.config
        torch.set_num_threads(threads(config, self.task.placement))
        torch.manual_seed(config.seed)
        compilation.reset() if config.variant.compile else None
        device = open_device(self.task.placement.device_type)
        if config.profiler.modes != () and self.task.process == 0:
            capture.start_kineto(device.kineto())
            # Known from here on, so that one that fails later still stands beside the others.
            self._keep(schedule=capture.resolve(config.schedule, device))
        found = environment.describe(device, self.task.placement)
        self._keep(environment=found)
        place = ceilings.place_of(found)
        hardware, unknown = ceilings.resolve(config.hardware, device.type, place)
        self._keep(ceilings=hardware, ceilings_absent=unknown)
        return device

    def _inputs(self, device: Device) -> Prepared:
        prepared = prepare(self.config, device)
        spec = self.config.workload
        cost = cost_of(prepared.workload, spec)
        self._keep(
            inputs=InputFacts(
                sets=len(prepared.sets),
                bytes=prepared.input_bytes,
                weight_bytes=sum(tensor.nbytes for tensor in prepared.weights),
                eps=getattr(prepared.workload, "eps", None),
            ),
            cost=CostFacts(
                bytes=cost.bytes,
                flops=cost.flops,
                matmul_flops=cost.matmul_flops,
                padding_waste=padding_waste(spec, cost),
                source=cost.source,
            ),
        )
        return prepared

    def _first_call(self, prepared: Prepared, device: Device) -> Any:
        folder, process = self.task.folder, self.task.process
        found = first_call(prepared, self.config, device, folder, process)
        self._keep(compile=found.facts)
        self._absent(found.absent)
        return found.output

    def _numerics(self, prepared: Prepared, device: Device, first: Any) -> None:
        expected, why = expected_dtype(prepared, self.config)
        self._keep(numerics=numerics.check(prepared, self.config, device, first, expected))
        if why:
            self._absent({"numerics.expected_dtype": why})

    def _timing(self, loop: clock.Loop, prepared: Prepared, device: Device) -> None:
        cold = loop.rules.cache_state == "cold"
        evict = cache.evictor(device) if cold else None
        latency, last, output = clock.latency_us(loop, evict)
        samples = {"latency_us": latency}
        blocks, calls = None, 1
        if cold:
            reason = "timing.cache_state=cold: calls of one block would warm the cache"
            self._absent({"timing.time_per_call_us": reason})
        else:
            blocks, calls = clock.time_per_call_us(loop)
            samples["time_per_call_us"] = blocks
        events = clock.event_time_us(loop, evict)
        if events is None:
            self._absent({"timing.event_time_us": f"{device.type} has no timing events"})
        else:
            samples["event_time_us"] = events
        write_json(samples_file(self.task.folder, self.task.process), samples)
        self._keep(
            timing=ProcessTiming(
                process=self.task.process,
                order=self.task.order,
                latency_us=summarise(latency),
                time_per_call_us=summarise(blocks) if blocks else None,
                event_time_us=summarise(events) if events else None,
                calls_per_sample=calls,
            )
        )
        self._keep(notes={**self.record.notes, "drift": drift(blocks or latency)})
        if self.record.numerics is not None:
            before = self.record.numerics
            checked = numerics.recheck(before, prepared, self.config, device, last, output)
            self._keep(numerics=checked)

    def _memory(self, prepared: Prepared, device: Device) -> None:
        peak, reason = device.peak_bytes(lambda: prepared.call(*prepared.sets[0]))
        self._keep(memory=Memory(peak_bytes=peak))
        if reason:
            self._absent({"memory.peak_bytes": reason})

    def _profile(self, prepared: Prepared, device: Device) -> None:
        from runner.profile import profile_of, with_hardware

        with self._stage("profile"):
            captured = capture.capture(prepared, self.config, device, self.task.folder)
        with self._stage("trace"):
            found = profile_of(captured, device)
            collected = device.collect(self.config, self.task.folder, found.steps_ns)
            if collected is not None:
                found = with_hardware(found, collected)
                self._keep(neuron=collected.figures, hints=collected.hints)
            self._keep(profile=found.profile, profiled_step_us=found.step_us)
            self._keep(checks=(*self.record.checks, *found.checks))
            self._absent(found.absent)

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        self._keep(stage=name)
        self._tell(name)
        start = time.perf_counter()
        yield
        self._keep(stage_s={**self.record.stage_s, name: time.perf_counter() - start})
        write_record(self.task.folder, self.record)

    def _keep(self, **changes: Any) -> None:
        self.record = dataclasses.replace(self.record, **changes)

    def _absent(self, reasons: dict[str, str]) -> None:
        self._keep(absent={**self.record.absent, **reasons})


def threads(config: Config, placement: Placement) -> int:
    """Return torch's CPU threads: as configured, else one per core of device.cores it got, else 1.

    One thread is what torch.utils.benchmark takes, and what an op of a few microseconds wants: more
    threads than it can use cost it milliseconds. Jobs beside each other share out the cores.
    """
    if config.device.num_threads:
        return config.device.num_threads
    if config.device.cores and placement.affinity:
        return len(placement.affinity)
    return 1
