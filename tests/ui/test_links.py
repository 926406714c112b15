"""Links: the newest sweep first, and one compare page a case where runs are too many for one."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from runner.ui.links import MOST_COMPARED, compare_links, newest_sweep, runs_below
from runner.ui.presets import COLUMNS, KEY, TAG, preset, view_state
from tests.ui.conftest import Logged

BASE = "http://127.0.0.1:5000"


def run(number: int, shape: str) -> Any:
    params = {"workload.name": "rmsnorm", "workload.shape": shape, "workload.dtype": "bfloat16"}
    return SimpleNamespace(
        info=SimpleNamespace(run_id=f"{number:032x}"), data=SimpleNamespace(params=params)
    )


def compared(address: str) -> list[str]:
    query = parse_qs(urlsplit(urlsplit(address).fragment).query)
    assert query["experiments"] == ['["7"]']
    return list(json.loads(query["runs"][0]))


def test_up_to_a_hundred_runs_are_one_page() -> None:
    runs = [run(number, "4x512") for number in range(MOST_COMPARED)]
    (link,) = compare_links(BASE, "7", runs)
    assert link.what == "100 runs compared"
    assert compared(link.address) == [one.info.run_id for one in runs]


def test_more_are_a_page_for_each_case() -> None:
    runs = [run(number, f"{number % 60}x512") for number in range(120)]
    found = compare_links(BASE, "7", runs)
    assert len(found) == 60
    assert found[0].what == "rmsnorm 0x512 bfloat16: 2 runs compared"
    assert compared(found[0].address) == [runs[0].info.run_id, runs[60].info.run_id]


def test_a_case_of_more_than_a_page_takes_is_parted_and_none_is_lost() -> None:
    runs = [run(number, "4x512") for number in range(250)]
    found = compare_links(BASE, "7", runs)
    assert [len(compared(link.address)) for link in found] == [100, 100, 50]


def test_one_run_is_compared_with_nothing() -> None:
    assert compare_links(BASE, "7", [run(1, "4x512")]) == []


def test_the_newest_sweep_and_its_measured_combinations_are_found(logged: Logged) -> None:
    sweep = newest_sweep(logged.client, logged.experiment_id)
    assert sweep
    assert sweep.info.run_id == logged.parent
    below = runs_below(logged.client, logged.experiment_id, logged.parent)
    assert {one.data.tags["variant"] for one in below} == {"naive", "fused", "compiled"}
    assert {one.info.run_id for one in below} == set(logged.below)


def test_the_view_is_kept_as_a_tag_of_the_experiment(logged: Logged) -> None:
    assert preset(logged.client, logged.experiment_id, logged.parent) == KEY
    tags = logged.client.get_experiment(logged.experiment_id).tags
    assert json.loads(tags[TAG])["selectedColumns"] == list(COLUMNS)
    assert logged.parent in json.loads(tags[TAG])["searchFilter"]
    # Servers before 2.18 took no longer tag.
    assert len(json.dumps(view_state(logged.parent))) < 5000


def test_a_store_that_refuses_the_view_leaves_the_plain_list() -> None:
    from mlflow.exceptions import MlflowException

    class Refusing:
        def set_experiment_tag(self, *_: str) -> None:
            raise MlflowException("too long")

    assert preset(Refusing(), "1") is None
