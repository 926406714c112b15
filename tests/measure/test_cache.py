"""How large the last-level cache is, by the system's own files."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.measure import cache

L2, L3 = (2, "1024K"), (3, "32768K")


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four cores with a level 2 each, pairs of which share a level 3."""
    for core in range(4):
        pair = "0-1" if core < 2 else "2-3"
        for number, ((level, size), cores) in enumerate([(L2, str(core)), (L3, pair)]):
            index = tmp_path / f"sys/devices/system/cpu/cpu{core}/cache/index{number}"
            index.mkdir(parents=True)
            told = {"level": str(level), "size": size, "shared_cpu_list": cores}
            for name, value in told.items():
                (index / name).write_text(f"{value}\n")
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3})
    return tmp_path


def test_each_shared_last_level_cache_counts_once(system: Path) -> None:
    assert cache.last_level_bytes(system) == 2 * 32 * 2**20


def test_only_caches_of_allowed_cores_count(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {2, 3})
    assert cache.last_level_bytes(system) == 32 * 2**20


def test_a_system_that_does_not_tell_has_no_size(tmp_path: Path) -> None:
    assert cache.last_level_bytes(tmp_path) is None
