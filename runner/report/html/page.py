"""From stored results to the page: its parts in the order in which they are read."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.config.plain import flatten
from runner.report.cells import environment_lines, failure_lines, source_lines, text_table
from runner.report.html.pictures import beyond, distributions, scaling
from runner.report.html.samples import Samples, read_samples
from runner.report.html.scaling import axes_of
from runner.report.html.words import conclusions, findings, how_judged, humps
from runner.report.labels import Key, group_key, measured, varying
from runner.report.render import LEFT
from runner.report.stored import Found, Stored, sweep_of
from runner.report.table import Row, rows_of
from runner.result import Check, Level

TEMPLATE = "page.html.j2"
PICTURES = {".svg": "image/svg+xml", ".png": "image/png"}
MOST_PICTURES = 60
HOW = ("timing", "profiler", "schedule", "numerics")
"""Groups of the config that say how numbers were taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture with the words below it."""

    title: str
    words: str
    svg: str | None = None
    """An element of the page; else `data` holds a file's address."""
    data: str | None = None


def page(found: Found, written: str) -> str:
    """Return the whole page of results; `written` is the time that it names."""
    from jinja2 import Environment, PackageLoader

    rows = rows_of(found.results)
    by_row = _stored_of(rows, found)
    samples = {id(row): read_samples(one) for row, one in by_row}
    loader = PackageLoader("runner.report.html", "")
    template = Environment(loader=loader, autoescape=True).get_template(TEMPLATE)
    return template.render(
        title=_title(rows),
        written=written,
        conclusions=conclusions(rows),
        how_judged=how_judged(),
        table=text_table(rows),
        left=LEFT,
        failures=[*failure_lines(rows), *found.refused],
        findings=_findings(rows, samples),
        distributions=_distributions(rows, samples),
        scaling=_scaling(rows),
        pictures=_files(by_row),
        sources=source_lines(rows),
        settings=_settings(rows),
        machines=environment_lines(rows),
        environments=_environments(rows),
        missing=[line for each in samples.values() for line in each.refused],
    )


def _title(rows: Sequence[Row]) -> str:
    names = dict.fromkeys(str(row.result.config["workload"]["name"]) for row in rows)
    return ", ".join(names)


def _stored_of(rows: Sequence[Row], found: Found) -> list[tuple[Row, Stored]]:
    by_result = {id(one.result): one for one in found.stored}
    return [(row, by_result[id(row.result)]) for row in rows]


def _findings(
    rows: Sequence[Row], samples: Mapping[int, Samples]
) -> list[tuple[str, list[tuple[str, list[str]]]]]:
    """Return findings by level, gravest first, with what the samples themselves show."""
    shown: list[Check] = [hump for row in rows if (hump := humps(row, samples[id(row)]))]
    by_level = [(str(level), findings(rows, level)) for level in Level]
    if shown:
        by_level[-1][1].append((shown[0].name, [check.message for check in shown]))
    return [(level, found) for level, found in by_level if found]


def _distributions(rows: Sequence[Row], samples: Mapping[int, Samples]) -> list[Picture]:
    groups: dict[Key, list[Row]] = {}
    for row in rows:
        if samples[id(row)].processes:
            groups.setdefault(group_key(row.result.config), []).append(row)
    pictures, numbers = [], _numbers(rows)
    for number, members in enumerate(groups.values()):
        processes = [samples[id(row)].processes for row in members]
        labels = [(numbers[row.variant], row.variant) for row in members]
        count, longest = beyond([sample for each in processes for sample in each])
        total = sum(len(sample) for each in processes for sample in each)
        words = f"A curve a process, {total} calls in all."
        if count:
            words += f" {count} calls lie beyond the right edge, the longest at {longest:.4g} us."
        drawn = [(*label, each) for label, each in zip(labels, processes, strict=True)]
        svg = distributions(f"d{number}", drawn)
        pictures.append(Picture(title=members[0].group, words=words, svg=svg))
    return pictures


def _numbers(rows: Sequence[Row]) -> dict[str, int]:
    """Return a number for each variant, so that it looks the same in every picture."""
    variants = sorted(dict.fromkeys(row.variant for row in rows))
    return {variant: number for number, variant in enumerate(variants)}


def _scaling(rows: Sequence[Row]) -> list[Picture]:
    numbers = _numbers(rows)
    words = "Median and 5th to 95th percentile; a ring marks what is suspect or incorrect."
    return [
        Picture(title=f"over {axis.name}", words=words, svg=scaling(f"s{number}", axis, numbers))
        for number, axis in enumerate(axes_of(rows))
    ]


def _files(by_row: Sequence[tuple[Row, Stored]]) -> list[Picture]:
    """Return the pictures that lie in the folders, those of a sweep first."""
    folders: dict[Path, str] = {}
    for _, one in by_row:
        sweep = sweep_of(one.folder)
        if sweep is not None:
            folders[sweep] = "the sweep"
    folders |= {one.folder: row.combination for row, one in by_row}
    files = [
        (file, whose)
        for folder, whose in folders.items()
        for file in sorted(folder.iterdir())
        if file.suffix in PICTURES
    ]
    return [
        Picture(title=file.stem.replace("_", " "), words=f"{whose}: {file.name}", data=_data(file))
        for file, whose in files[:MOST_PICTURES]
    ]


def _data(file: Path) -> str:
    """Return a file as an address that holds it; an image loads nothing and runs nothing."""
    encoded = base64.b64encode(file.read_bytes()).decode()
    return f"data:{PICTURES[file.suffix]};base64,{encoded}"


def _settings(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Return the settings of how numbers were taken, with every value that occurs."""
    flat = [measured(row.result.config) for row in rows]
    keys = [key for key in dict.fromkeys(k for each in flat for k in each) if _is_how(key)]
    differing = set(varying(flat))
    settings = []
    for key in keys:
        values = dict.fromkeys(_shown(each.get(key)) for each in flat)
        mark = " (they differ)" if key in differing else ""
        settings.append((key, ", ".join(values) + mark))
    return settings


def _is_how(key: str) -> bool:
    return key == "processes" or key.partition(".")[0] in HOW


def _environments(rows: Sequence[Row]) -> list[dict[str, str]]:
    """Return each machine's state once; what changes from run to run shows its values together."""
    import msgspec

    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        environment = row.result.environment
        if environment is not None:
            flat = dict(flatten(msgspec.to_builtins(environment)))
            key = f"{environment.host}, {environment.device}, {environment.num_threads}"
            found.setdefault(key, []).append(flat)
    return [_together(each) for each in found.values()]


def _together(environments: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    keys = dict.fromkeys(key for each in environments for key in each)
    return {
        key: ", ".join(dict.fromkeys(_shown(each.get(key)) for each in environments))
        for key in keys
    }


def _shown(value: Any) -> str:
    if value is None:
        return "not known"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
