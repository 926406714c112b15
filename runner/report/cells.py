"""The table in words: columns, cells, and the lines below it that say how each number was taken."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runner.report.labels import Key, group_key
from runner.report.speedup import Speedup
from runner.report.table import IS_BASELINE, Row, trust_of
from runner.result import Level, Numerics, Profile, Result, Status

COLUMNS = (
    "case",
    "variant",
    "self device us",
    "self CPU us",
    "calls",
    "launches",
    "latency us",
    "p05-p95 us",
    "us per call",
    "speed-up",
    "numerics",
    "trust",
    "status",
)
ABSENT = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A table ready to be drawn: rows of cells in groups, and lines that belong below."""

    columns: tuple[str, ...]
    groups: tuple[tuple[tuple[str, ...], ...], ...]
    notes: tuple[str, ...]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """All rows in order."""
        return [row for group in self.groups for row in group]


def text_table(rows: Sequence[Row]) -> TextTable:
    """Return the table of rows that stand in groups already."""
    device_rows = _of_device_rows(rows)
    groups: dict[Key, list[tuple[str, ...]]] = {}
    for row in rows:
        groups.setdefault(group_key(row.result.config), []).append(cells_of(row, device_rows))
    # A single case is said once, below: the table stands first where a note holds it.
    skip = 1 if len(groups) == 1 else 0
    case = [f"case: {rows[0].group}"] if skip else []
    return TextTable(
        columns=COLUMNS[skip:],
        groups=tuple(tuple(row[skip:] for row in group) for group in groups.values()),
        notes=(*case, *environment_lines(rows), *source_lines(rows), *failure_lines(rows)),
    )


def cells_of(row: Row, device_rows: bool) -> tuple[str, ...]:
    """Return the cells of a row; self CPU is of the rows with device time if `device_rows`."""
    result = row.result
    profile, timing = result.profile, result.timing
    return (
        row.group,
        row.variant,
        us(profile.device_time_us if profile else None),
        us(_self_cpu(profile, device_rows)),
        count(profile.op_calls if profile else None),
        count(profile.launches if profile else None),
        us(timing.latency_us.median if timing else None),
        f"{us(timing.latency_us.p05)}-{us(timing.latency_us.p95)}" if timing else ABSENT,
        us(timing.time_per_call_us.median if timing and timing.time_per_call_us else None),
        speedup_cell(row.speedup),
        numerics_cell(result.numerics),
        trust_of(result) or ABSENT,
        str(result.status),
    )


def us(value: float | None) -> str:
    """Return microseconds with four figures, never an exponent."""
    if value is None:
        return ABSENT
    size = abs(value)
    digits = 0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 10 else 3
    return f"{value:.{digits}f}"


def count(value: float | None) -> str:
    """Return a count per step, a fraction where steps differ."""
    return ABSENT if value is None else f"{value:g}"


def speedup_cell(found: Speedup) -> str:
    """Return `2.31x [2.10, 2.54]`, or a dash with the reason."""
    if found is IS_BASELINE:
        return "baseline"
    if found.ratio is None:
        return f"{ABSENT} ({found.reason})"
    return f"{found.ratio:.3g}x [{found.low:.3g}, {found.high:.3g}]"


def numerics_cell(numerics: Numerics | None) -> str:
    """Return whether the output was right, and its largest absolute error."""
    if numerics is None:
        return ABSENT
    error = numerics.max_abs_error
    return ("ok" if numerics.passed else "WRONG") + ("" if error is None else f" {error:.2g}")


def environment_lines(rows: Iterable[Row]) -> list[str]:
    """Say what the numbers were taken on, a line for each kind of machine among them."""
    lines = []
    for row in rows:
        found = row.result.environment
        if found:
            threads = f"{found.num_threads} thread{'s' if found.num_threads > 1 else ''}"
            torch = f"torch {found.versions.get('torch', 'unknown')}"
            cores = f", cores {found.cores}" if found.cores else ""
            lines.append(f"on {found.device}{cores}, {threads}, {torch}, host {found.host}")
    return list(dict.fromkeys(lines))


def source_lines(rows: Sequence[Row]) -> list[str]:
    """Say how each number was taken."""
    profiles = [row for row in rows if row.result.profile]
    lines = []
    if any(row.result.timing for row in rows):
        lines.append(
            "latency: without profiler, one synchronised call a sample, median and p05-p95 of "
            f"{_sampled(rows)}; us per call: without profiler, blocks of calls between two "
            "synchronisations"
        )
    if profiles:
        of = "rows with device time" if _of_device_rows(rows) else "all ops"
        lines.append(f"self CPU: with profiler, a step, of {of}; calls: outermost ops a step")
        lines.append(f"self device: {_device_sources(profiles)}")
    return lines


def failure_lines(rows: Iterable[Row]) -> list[str]:
    """Say of each combination that did not pass what became of it."""
    lines = []
    for row in rows:
        result = row.result
        if result.status is not Status.PASSED:
            stage = f" in {result.stage}" if result.stage else ""
            lines.append(f"{row.combination}: {result.status}{stage}: {_reason(result)}")
    return lines


def finding_lines(rows: Iterable[Row], *levels: Level) -> list[str]:
    """Return the findings of these levels as sentences, one for all combinations that share it."""
    found = shared_findings(rows, *levels)
    return [f"{name} ({', '.join(who)}): {message}" for (name, message), who in found.items()]


def shared_findings(rows: Iterable[Row], *levels: Level) -> dict[tuple[str, str], list[str]]:
    """Return the combinations of each finding of these levels, by its name and message."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for check in row.result.checks:
            if check.level in levels:
                found.setdefault((check.name, check.message), []).append(row.combination)
    return found


def _reason(result: Result) -> str:
    if result.reason:
        return result.reason
    return (result.numerics and result.numerics.reason) or "no reason was recorded"


def _of_device_rows(rows: Iterable[Row]) -> bool:
    profiles = [row.result.profile for row in rows if row.result.profile]
    return bool(profiles) and all(p.device_rows_self_cpu_us is not None for p in profiles)


def _self_cpu(profile: Profile | None, device_rows: bool) -> float | None:
    if profile is None:
        return None
    return profile.device_rows_self_cpu_us if device_rows else profile.self_cpu_us


def _sampled(rows: Iterable[Row]) -> str:
    counts = {len(row.result.timing.processes) for row in rows if row.result.timing}
    several = " or ".join(str(number) for number in sorted(counts) if number > 1)
    if not several:
        return "the calls of one process"
    return f"the medians of {several} processes" + (
        ", or of the calls where one process was taken" if min(counts) == 1 else ""
    )


def _device_sources(rows: Sequence[Row]) -> str:
    sources: dict[str, list[str]] = {}
    for row in rows:
        source = row.result.profile.device_time_source if row.result.profile else None
        if source:
            sources.setdefault(source, []).append(row.variant)
    if not sources:
        return "none was recorded"
    if len(sources) == 1:
        return f"with profiler, a step, from {next(iter(sources))}"
    named = (
        f"{source} ({', '.join(dict.fromkeys(who))})" for source, who in sorted(sources.items())
    )
    return f"with profiler, a step, from {' and '.join(named)}, which cannot be compared"
