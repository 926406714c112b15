"""What was read of a capture: figures, findings, and reasons for what is not there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from runner.neuron.engines import summary_checks
from runner.neuron.hardware import Execution
from runner.neuron.pairing import Pair
from runner.neuron.session import Manifest
from runner.neuron.summary import Summary
from runner.neuron.system import SystemProfile
from runner.result import Check, Level
from runner.trace.text import listed

Part = Literal["system", "summary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one session, or one exported file on its own, says."""

    session: str | None
    """The session's folder in the manifest; None for a file on its own."""
    system: SystemProfile | None
    summary: Summary | None
    absent: dict[str, str]
    """`system` or `summary` to the reason why it is not there."""
    given: tuple[Part, ...] = ()
    """What was there as an exported file, readable or not."""
    left_out: tuple[Pair, ...] = ()
    """Pairs of NEFF and NTFF that the summary does not tell of."""

    @property
    def checks(self) -> tuple[Check, ...]:
        """The findings on its figures."""
        found = self.system.checks if self.system else ()
        summarised = (*summary_checks(self.summary), *self._pairs()) if self.summary else ()
        return (*found, *summarised)

    def _pairs(self) -> Iterator[Check]:
        if self.left_out:
            named = listed(pair.ntff for pair in self.left_out)
            yield Check(
                name="one_pair_of_several",
                level=Level.INFO,
                message=f"The summary is of one NTFF alone; {named} are left out. See each with: "
                "neuron-explorer view -n NEFF -s NTFF.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class NeuronCapture:
    """A capture as far as it can be read here."""

    manifest: Manifest
    explorer: str | None
    """Version of neuron-explorer, None where it was not there."""
    readings: tuple[Reading, ...]
    checks: tuple[Check, ...]

    @property
    def system(self) -> SystemProfile | None:
        """The first system profile."""
        return next((one.system for one in self.readings if one.system), None)

    @property
    def executions(self) -> tuple[Execution, ...]:
        """The executions of all system profiles, in order of their start."""
        found = [run for one in self.readings if one.system for run in one.system.executions]
        return tuple(sorted(found, key=lambda run: run.start_ns))

    @property
    def summary(self) -> Summary | None:
        """The first summary."""
        return next((one.summary for one in self.readings if one.summary), None)

    @property
    def standin(self) -> bool:
        """Tell whether any of it comes from a stand-in, and is no figure of Trainium."""
        named = [session.instance or "" for session in self.manifest.sessions]
        for one in self.readings:
            named += one.system.processes if one.system else ()
            named += one.summary.labels.values() if one.summary else ()
        return any("standin" in text for text in (*named, self.explorer or ""))

    def why_absent(self, part: str) -> str | None:
        """Return why there is no `system` or `summary`, None where there is one."""
        if any(part not in one.absent for one in self.readings):
            return None
        reasons = [one.absent[part] for one in self.readings]
        return reasons[0] if reasons else "no session folder"
