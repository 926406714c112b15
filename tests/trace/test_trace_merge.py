"""Several traces in one file, each on its own tracks, all beginning at zero."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from runner.trace import analyse, read
from runner.trace.merge import merge


def merged(data: Path, out: Path, *names: str) -> list[dict[str, Any]]:
    merge([(name, read(data / f"{name}.json.gz")) for name in names], out)
    content = out.read_bytes()
    events = json.loads(gzip.decompress(content) if out.suffix == ".gz" else content)
    found: list[dict[str, Any]] = events["traceEvents"]
    return found


def test_variants_stand_on_their_own_tracks_under_their_names(data: Path, tmp_path: Path) -> None:
    events = merged(data, tmp_path / "out.json", "naive", "compiled")
    titles = {e["pid"]: e["args"]["name"] for e in events if e.get("name") == "process_name"}
    assert {title.split(": ")[0] for title in titles.values()} == {"naive", "compiled"}
    used = {event["pid"]: event["name"] for event in events if event["ph"] == "X"}
    assert set(used) <= set(titles)
    marks = [event for event in events if event.get("name") == "process_sort_index"]
    order = {mark["pid"]: mark["args"]["sort_index"] for mark in marks}
    sides: dict[str, list[int]] = {title.split(": ")[0]: [] for title in titles.values()}
    for pid, title in titles.items():
        sides[title.split(": ")[0]].append(order[pid])
    assert max(sides["naive"]) < min(sides["compiled"])


def test_every_variant_begins_at_zero(data: Path, tmp_path: Path) -> None:
    events = merged(data, tmp_path / "out.json.gz", "naive", "fused", "compiled")
    firsts = [e["ts"] for e in events if e["ph"] == "X" and e["name"] == "ProfilerStep#1"]
    assert firsts == [0.0, 0.0, 0.0]


def test_durations_survive_to_the_nanosecond(data: Path, tmp_path: Path) -> None:
    merged(data, tmp_path / "out.json", "naive")
    before, after = analyse(data / "naive.json.gz"), analyse(tmp_path / "out.json")
    assert after.ops == before.ops
    assert after.total == before.total


def test_times_at_epoch_size_are_shifted_exactly(shared: Path, tmp_path: Path) -> None:
    file = shared / "08_cuda_v100_ns_displayunit.pt.trace.json.gz"
    merge([("v100", read(file))], tmp_path / "out.json")
    after = analyse(tmp_path / "out.json")
    assert after.total.device_time_ns == 472_454_441
    assert after.total == analyse(file).total


def test_arrows_of_one_variant_never_lead_into_another(data: Path, tmp_path: Path) -> None:
    events = merged(data, tmp_path / "out.json", "training", "training")
    flows = [(event["id"], event["pid"] // 1000) for event in events if event["ph"] in "sf"]
    assert flows
    ids = [{number for number, variant in flows if variant == wanted} for wanted in (0, 1)]
    assert ids[0].isdisjoint(ids[1])
