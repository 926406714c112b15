from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from runner.config.groups import conf_dir
from runner.errors import UsageError
from runner.published import load, published
from runner.result import Result
from tests.report.factory import failed, result

NAME = "rmsnorm_article.published.json"


def with_reference(made: Result, name: str | None) -> Result:
    sweep = {**made.config["sweep"], "reference": name}
    return dataclasses.replace(made, config={**made.config, "sweep": sweep})


def test_the_articles_table_is_the_one_that_it_published() -> None:
    found = load(NAME, Path("/nowhere"))
    rows = {row.variant: (row.self_device_us, row.self_cpu_us, row.calls) for row in found.rows}
    assert rows == {
        "naive": (2355, 125, 6),
        "fused": (403.3, 47.6, 1),
        "compiled": (375.5, 98.4, 1),
    }
    assert "Profiling TorchNeuron" in found.source
    assert "2/1/1" in found.taken_on
    assert found.device_time_source == "key_averages"


def test_every_experiment_that_names_a_reference_has_it() -> None:
    names = [
        line.partition(":")[2].strip()
        for file in (conf_dir() / "experiment").glob("*.yaml")
        for line in file.read_text().splitlines()
        if line.strip().startswith("reference:")
    ]
    assert NAME in names
    assert all(load(name, Path("/nowhere")).rows for name in names)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "no file 'mine.json'"),
        ("{", "mine.json"),
        ('{"source": "x", "taken_on": "y", "rows": [{"variant": 1}]}', "str"),
    ],
)
def test_a_reference_that_is_none_is_one_line(text: str | None, words: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "mine.json").write_text(text)
    with pytest.raises(UsageError, match=words) as caught:
        load("mine.json", tmp_path)
    assert len(caught.value.problems) == 1
    assert str(caught.value).startswith("sweep.reference: ")


def test_only_the_rows_of_variants_that_were_measured_so_are_shown(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(
        json.dumps(
            {
                "source": "a paper",
                "taken_on": "its machine",
                "when": {"workload.shape": "4x512"},
                "rows": [
                    {"variant": "naive", "self_device_us": 12.5, "calls": 6},
                    {"variant": "fused", "self_device_us": 3},
                    {"variant": "other"},
                ],
            }
        )
    )
    made = [
        with_reference(result("naive"), "mine.json"),
        with_reference(failed("compiled", "it broke"), "mine.json"),
    ]
    lines = published(made, tmp_path)
    assert lines[1] == "published, not measured here: a paper; its machine"
    assert lines[3].split() == ["naive", "12.5", "-", "6", "-"]
    assert len(lines) == 4


def test_without_a_name_nothing_is_shown(tmp_path: Path) -> None:
    assert published([with_reference(result("naive"), None)], tmp_path) == []
