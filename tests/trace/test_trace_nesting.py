"""Nesting against a plain search, on intervals that also overlap, touch and coincide."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from runner.trace import Trace
from runner.trace.intervals import merged, union
from runner.trace.kinds import Kind
from runner.trace.nesting import NONE, Forest, forest, innermost

Made = Callable[[list[dict[str, Any]]], Trace]
Event = Callable[..., dict[str, Any]]


def random_forest(made: Made, event: Event, seed: int) -> Forest:
    chance = random.Random(seed)
    span = chance.choice([6, 20, 200])
    return forest(
        made(
            [
                event(
                    "cpu_op",
                    "op",
                    chance.randrange(span),
                    chance.choice([0, 1, 2, 5, chance.randrange(span)]),
                    tid=chance.randrange(2),
                )
                for _ in range(60)
            ]
        ),
        Kind.OP,
    )


def contains(nest: Forest, outer: int, inner: int) -> bool:
    return bool(
        nest.thread[outer] == nest.thread[inner]
        and nest.end[outer] >= nest.end[inner]
        and (nest.start[inner] < nest.end[outer] or nest.start[inner] == nest.start[outer])
    )


@pytest.mark.parametrize("seed", range(40))
def test_the_parent_is_the_last_earlier_event_that_contains_it(
    made: Made, event: Event, seed: int
) -> None:
    nest = random_forest(made, event, seed)
    for inner in range(len(nest)):
        holders = [outer for outer in range(inner) if contains(nest, outer, inner)]
        assert nest.parent[inner] == max(holders, default=NONE)


@pytest.mark.parametrize("seed", range(20))
def test_self_times_add_up_to_the_time_of_the_roots(made: Made, event: Event, seed: int) -> None:
    nest = random_forest(made, event, seed)
    roots = nest.parent == NONE
    assert nest.self_ns().sum() == nest.duration[roots].sum()


def test_the_innermost_event_holds_the_instant_half_open(made: Made, event: Event) -> None:
    nest = forest(
        made(
            [
                event("cpu_op", "outer", 0, 10),
                event("cpu_op", "inner", 2, 3),
                event("cpu_op", "next", 5, 1),
                event("cpu_op", "elsewhere", 0, 100, tid=2),
            ]
        ),
        Kind.OP,
    )
    thread = int(nest.thread[0])
    instants = np.array([-1, 0, 2_000, 4_999, 5_000, 6_000, 9_999, 10_000])
    found = innermost(nest, np.full(len(instants), thread), instants)
    assert found.tolist() == [NONE, 0, 1, 1, 2, 0, 0, NONE]


def test_nesting_stays_fast_on_hundred_thousand_overlapping_events(
    made: Made, event: Event
) -> None:
    chance = random.Random(1)
    events = [
        event("cpu_op", "op", chance.randrange(10**6), chance.randrange(10**5))
        for _ in range(100_000)
    ]
    nest = forest(made(events), Kind.OP)
    holders = nest.parent != NONE
    assert holders.mean() > 0.9
    assert (nest.end[nest.parent[holders]] >= nest.end[holders]).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_union_is_the_number_of_instants_covered(seed: int) -> None:
    chance = random.Random(seed)
    pairs = [(start, start + chance.randrange(9)) for start in chance.choices(range(80), k=20)]
    start, end = (np.array(part, np.int64) for part in zip(*pairs, strict=True))
    covered = {instant for first, last in pairs for instant in range(first, last)}
    assert union(start, end) == len(covered)
    opens, closes = merged(start, end)
    assert int((closes - opens).sum()) == len(covered)
    assert (opens[1:] > closes[:-1]).all()
