"""Bytes to events: exact times, odd spellings, and refusals that say where."""

from __future__ import annotations

import codecs
import gzip
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from runner.trace import TraceRefusedError, analyse
from runner.trace.clock import BAD, BadTimeError, column_ns, to_ns
from runner.trace.read import read_bytes

Event = Callable[..., dict[str, Any]]
ONE = b'{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 2.5, "pid": 1}]}'


def total(content: bytes) -> int | None:
    return analyse(read_bytes(content)).total.device_time_ns


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        (b"1712195495519689.123", 1_712_195_495_519_689_123),
        (b'"3603029046213.755"', 3_603_029_046_213_755),
        (b"5", 5_000), (b"-17.25", -17_250), (b"0.0005", 1), (b"1.2344", 1_234),
        (b"1.5e3", 1_500_000), (b"2.E1", 20_000), (b"  7.1 ", 7_100),
    ],
)  # fmt: skip
def test_decimal_microseconds_become_exact_nanoseconds(text: bytes, nanoseconds: int) -> None:
    assert to_ns(text) == nanoseconds


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"NaN", "not finite"), (b'"-Infinity"', "not finite"), (b"null", "missing"),
        (b"", "missing"), (None, "missing"), (b"true", "not a number"), (b"[1]", "not a number"),
        (b"1e300", "out of range"), (b"1e999999999", "out of range"), (b"9" * 30, "out of range"),
    ],
)  # fmt: skip
def test_what_is_no_time_says_why(value: object, reason: str) -> None:
    with pytest.raises(BadTimeError, match=reason):
        to_ns(value)


def test_doubles_are_only_trusted_where_they_are_exact() -> None:
    assert column_ns([10**16 - 1], lambda: [b"9999999999999999"]).tolist() == [BAD]
    assert column_ns([1.7e15, 2.0], lambda: [b"1.7e15", b"2"]).tolist() == [17 * 10**17, 2000]
    mixed = column_ns([1.7e15, 2.5, 3], lambda: [b"1700000000000000.001", b"2.5", b"3"])
    assert mixed.tolist() == [1_700_000_000_000_000_001, 2_500, 3_000]
    near = [8_796_093_022_207.999, 5_111_488_511_449.408, 0.001]
    assert column_ns(near, list).tolist() == [8_796_093_022_207_999, 5_111_488_511_449_408, 1]
    far = column_ns([1_712_195_495_519_689.1], lambda: [b"1712195495519689.123"])
    assert far.tolist() == [1_712_195_495_519_689_123]
    assert np.asarray(column_ns([1_712_195_495_519_689], list)).tolist() == [
        1_712_195_495_519_689_000
    ]


def test_neighbours_a_nanosecond_apart_stay_apart_at_epoch_times() -> None:
    base = "17121954955196891"
    events = ",".join(
        f'{{"ph":"X","cat":"kernel","name":"k","ts":{base[:-1]}.{i:03d},"dur":0.001}}'
        for i in range(200)
    )
    summary = analyse(read_bytes(f'{{"traceEvents":[{events}]}}'.encode()))
    assert (summary.devices[0].sum_ns, summary.devices[0].union_ns) == (200, 200)


@pytest.mark.parametrize(
    "content",
    [
        ONE,
        b"\n\n  " + ONE + b"\n",
        codecs.BOM_UTF8 + ONE,
        ONE.decode().encode("utf-16"),
        gzip.compress(ONE, mtime=0),
        gzip.compress(ONE[:40], mtime=0) + gzip.compress(ONE[40:], mtime=0),
        json.dumps(json.loads(ONE)["traceEvents"]).encode(),
        ONE.replace(b'"ts": 1', b'"ts": "1"').replace(b"2.5", b'"2.5"'),
        ONE.replace(b'"k"', b'"k\xff\xfe"'),
        ONE.replace(b'"k"', b'"k\n\t"'),
        ONE.replace(b'"k"', rb'"C:\kernels\u12"'),
        ONE.replace(b'"k"', rb'"\ud800 lone"'),
        ONE.replace(b'"pid": 1', b'"pid": {"odd": 1}, "args": null'),
        ONE.replace(b'"pid": 1', b'"pid": 1, "args": {"correlation": [], "device": 2.0}'),
        ONE.replace(b'"pid": 1', b'"pid": 1, "args": {"blocks per SM": Infinity, "x": -inf}'),
    ],
)
def test_the_same_trace_is_read_from_any_spelling(content: bytes) -> None:
    assert total(content) == 2_500


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ('"ts": 1', "dur missing"),
        ('"dur": 1', "ts missing"),
        ('"ts": 1, "dur": NaN', "dur not finite"),
        ('"ts": "soon", "dur": 1', "ts not a number"),
        ('"ts": 1, "dur": -0.001', "dur negative"),
        ('"ts": 1, "dur": 1e15', "dur out of range"),
        ('"ts": true, "dur": 1', "ts not a number"),
    ],
)
def test_a_bad_event_is_named_and_left_out(fields: str, reason: str) -> None:
    bad = f', {{"ph": "X", "cat": "kernel", "name": "odd", {fields}}}]}}'
    trace = read_bytes(ONE[:-2] + bad.encode())
    assert [(event.name, event.reason, event.count) for event in trace.bad] == [("odd", reason, 1)]
    assert analyse(trace).total.device_time_ns == 2_500


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b" \n ", "is empty"),
        (ONE[:-10], "ends at byte"),
        (ONE.replace(b'"k"', b'"k'), "byte"),
        (b"PK\x03\x04 a zip", "not readable as JSON"),
        (b"<html></html>", "not readable as JSON"),
        (b"17", "is not a trace"),
        (b'{"traceEvents": {"a": 1}}', "traceEvents is not a list"),
        (b'{"traceEvents": null}', "traceEvents is not a list"),
        (b'{"traceEvents": []}', "no events"),
        (b"[]", "no events"),
        (b'[{"ph": "M", "name": "process_name"}]', "no complete event among its 1: a failed"),
        (b'[{"ph": "X", "ts": 1, "dur": -1}]', "among its 1, and 1 without a usable time"),
        (
            b"[" + b",".join([b'{"ph": "X", "ts": 1, "dur": 9e12}'] * 600) + b"]",
            "add up to centuries",
        ),
        (b"\x1f\x8bnot gzip after all", "damaged gzip"),
        (b"[" * 100_000, "nested too deeply|ends at byte"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(content: bytes, reason: str) -> None:
    with pytest.raises(TraceRefusedError, match=reason) as caught:
        read_bytes(content, "some.json")
    assert str(caught.value).startswith("some.json: ")
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_refused_by_name(tmp_path: Any) -> None:
    with pytest.raises(TraceRefusedError, match="No such file"):
        analyse(tmp_path / "none.json")


def test_reading_by_chunks_gives_what_reading_at_once_gives(
    event: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = [event("kernel", f"k{i % 7}, }},\n  {{", i, 1.5, correlation=i) for i in range(500)]
    layouts = [json.dumps({"traceEvents": events}, indent=indent) for indent in (None, 1, 2)]
    whole = [analyse(read_bytes(text.encode())).total for text in layouts]
    monkeypatch.setattr("runner.trace.decode._CHUNK_BYTES", 1000)
    parts = [analyse(read_bytes(text.encode())).total for text in layouts]
    assert parts == whole == [whole[0]] * 3
    assert whole[0].device_time_ns == 750_000
