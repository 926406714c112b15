"""What the installed Neuron software really offers, against what its documents say.

The adapter was written from documents. The first run on hardware shows here what they had wrong.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from runner.errors import RunnerError
from runner.neuron.child import Ended, run
from runner.neuron.deviations import deviations, learned
from runner.neuron.explorer import NOT_FOUND, Explorer, find
from runner.neuron.offer import Installed, Offer

PACKAGE = "torch-neuronx"
PROBE_S = 120.0
CORES_S = 30.0
PREFIXES = ("NEURON_", "TORCH_NEURONX_", "XLA_", "NKI_")


@dataclass(frozen=True, slots=True, kw_only=True)
class NeuronReport:
    """Plain data for the doctor."""

    installed: Installed
    cores: tuple[str, ...]
    """What neuron-ls says of the instance and its cores, line by line."""
    absent: dict[str, str]
    """`package`, `explorer` or `cores` to the reason why nothing is known of it."""
    deviations: tuple[str, ...]
    """Where the software is not as its documents say."""
    learned: tuple[str, ...]
    """What the documents leave open and this installation shows."""

    @property
    def standin(self) -> bool:
        """Tell whether this is a stand-in and no Neuron software."""
        found = self.installed
        offered = found.offer is not None and bool(found.offer.standin)
        return offered or "standin" in f"{found.version} {found.explorer}"

    def lines(self) -> tuple[str, ...]:
        """Return the report as lines of text."""
        return tuple(_lines(self))


def examine(environment: Mapping[str, str] | None = None) -> NeuronReport:
    """Ask package, explorer and neuron-ls; starts no device and writes nothing."""
    variables = dict(os.environ if environment is None else environment)
    absent: dict[str, str] = {}
    offer = _offer(variables, absent)
    explorer: Explorer | None = None
    try:
        explorer = find(variables)
        absent |= {} if explorer else {"explorer": NOT_FOUND}
    except RunnerError as error:
        absent["explorer"] = str(error)
    told = {name: value for name, value in variables.items() if name.startswith(PREFIXES)}
    installed = Installed(
        version=offer.installed if offer else None,
        offer=offer,
        explorer=explorer.version if explorer else None,
        explorer_path=explorer.path if explorer else None,
        explorer_flags=tuple(sorted(explorer.flags)) if explorer else (),
        explorer_problems=explorer.problems if explorer else (),
        variables=dict(sorted(told.items())),
    )
    return NeuronReport(
        installed=installed,
        cores=_cores(variables, absent),
        absent=absent,
        deviations=tuple(deviations(installed)),
        learned=tuple(learned(installed)),
    )


def _offer(variables: Mapping[str, str], absent: dict[str, str]) -> Offer | None:
    """Ask the package in a process of its own: importing it changes torch for good."""
    ours = str(Path(__file__).parents[2])
    search = os.pathsep.join(filter(None, (ours, variables.get("PYTHONPATH"))))
    ended = _run(
        [sys.executable, "-m", "runner.neuron.probe"], PROBE_S, {**variables, "PYTHONPATH": search}
    )
    last = ended.stdout.strip().rpartition("\n")[2]
    try:
        offer = msgspec.json.decode(last, type=Offer)
    except msgspec.MsgspecError:
        error = ended.stderr.strip().rpartition("\n")[2] or f"status {ended.status}"
        absent["package"] = f"{PACKAGE} could not be asked: {error}"
        return None
    if offer.installed is None:
        absent["package"] = f"{PACKAGE} is not installed"
        return None
    return offer


def _cores(variables: Mapping[str, str], absent: dict[str, str]) -> tuple[str, ...]:
    path = shutil.which("neuron-ls", path=variables.get("PATH", ""))
    if path is None:
        absent["cores"] = "neuron-ls is not on PATH"
        return ()
    ended = _run([path], CORES_S, variables)
    if ended.status != 0:
        absent["cores"] = f"neuron-ls: status {ended.status}: {ended.stderr.strip()[:200]}"
        return ()
    return tuple(line.rstrip() for line in ended.stdout.splitlines() if line.strip())


def _run(command: list[str], timeout_s: float, variables: Mapping[str, str]) -> Ended:
    with TemporaryDirectory(prefix="doctor-") as folder:
        return run(command, Path(folder), timeout_s, variables)


def _lines(report: NeuronReport) -> Iterator[str]:
    found = report.installed
    if report.standin:
        yield "This is a stand-in (standin), no Neuron software."
    if found.offer:
        modes = ", ".join(found.offer.modes or ("unknown",))
        yield f"{PACKAGE} {found.version} on torch {found.offer.torch}, profiler modes {modes}"
        for name, default in (found.offer.parameters or {}).items():
            yield f"  NeuronConfig.{name} = {default}"
    if found.explorer_path:
        yield f"neuron-explorer: {found.explorer or 'version unknown'} at {found.explorer_path}"
    yield from (f"{name}={value}" for name, value in found.variables.items())
    yield from report.cores
    yield from report.absent.values()
    yield from (f"deviates from the documents: {text}" for text in report.deviations)
    yield from (f"not in the documents: {text}" for text in report.learned)
