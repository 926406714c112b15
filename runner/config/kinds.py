"""The kinds of value that a config key can hold, each with its parser and its words.

A field of the schema says its kind in its annotation, so one declaration serves the conversion to
plain values, the error text and `--help`. A parser takes what YAML or a Hydra override gives and
returns the canonical value, so equal spellings become equal configs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

DTYPES = (
    "float64",
    "float32",
    "float16",
    "bfloat16",
    "float8_e4m3fn",
    "float8_e5m2",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "bool",
)
SHORT_DTYPES = {
    "bf16": "bfloat16",
    "fp16": "float16",
    "half": "float16",
    "fp32": "float32",
    "float": "float32",
    "fp64": "float64",
    "double": "float64",
}
# The core list grammar of the Neuron runtime; used for CUDA indices and CPU cores alike.
CORES = re.compile(r"\d{1,5}(-\d{1,5})?(,\d{1,5}(-\d{1,5})?)*")


@dataclass(frozen=True)
class Kind:
    """How one kind of value is read: `parse` returns the canonical value or raises ValueError."""

    parse: Callable[[Any], Any]
    allowed: str
    choices: tuple[str, ...] = ()


def whole(value: object) -> int:
    """Return an int from an int or a whole float; a bool or text is refused."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    if isinstance(value, float) and not value.is_integer():  # Nor is an infinite one.
        raise ValueError
    return int(value)


def real(value: object) -> float:
    """Return a finite float from a number or its text, so that `1e-6` is one however spelled."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    number = float(value)
    if not math.isfinite(number):
        raise ValueError
    return number


def text(value: object) -> str:
    """Return text that is not blank; numbers are taken as their text."""
    if (
        isinstance(value, bool)
        or not isinstance(value, str | int | float)
        or not str(value).strip()
    ):
        raise ValueError
    return str(value)


def plain(value: object) -> Any:
    """Return any plain value that a YAML file can hold, a number in text as it stands."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {text(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    raise ValueError


def flag(value: object) -> bool:
    """Return a bool; nothing else counts as one."""
    if not isinstance(value, bool):
        raise ValueError
    return value


def shape(value: object) -> tuple[int, ...]:
    """Return a shape from `4x512`, a single size, or a list of sizes; every size is at least 1."""
    if isinstance(value, str):
        if not re.fullmatch(r"\d+(x\d+)*", value):
            raise ValueError
        value = [int(size) for size in value.split("x")]
    if isinstance(value, int) and not isinstance(value, bool):
        value = [value]
    if not isinstance(value, list | tuple) or not value:
        raise ValueError
    sizes = tuple(whole(size) for size in value)
    if min(sizes) < 1:
        raise ValueError
    return sizes


def dtype(value: object) -> str:
    """Return torch's own name of a dtype from that name or a short one."""
    name = str(value).removeprefix("torch.")
    name = SHORT_DTYPES.get(name, name)
    if name not in DTYPES:
        raise ValueError
    return name


def cores(value: object) -> str:
    """Return a canonical core list, sorted and in ranges: `3,0-2` becomes `0-3`."""
    if isinstance(value, list | tuple):
        value = ",".join(str(whole(core)) for core in value)
    if not CORES.fullmatch(str(value)):
        raise ValueError
    found = core_ids(str(value))
    return core_list(found)


def core_ids(spec: str) -> tuple[int, ...]:
    """Return the ids that a core list names, ascending; ValueError if reversed or named twice."""
    ids: list[int] = []
    for part in spec.split(","):
        low, _, high = part.partition("-")
        if int(high or low) < int(low):
            raise ValueError
        ids.extend(range(int(low), int(high or low) + 1))
    if len(set(ids)) != len(ids):
        raise ValueError
    return tuple(sorted(ids))


def core_list(ids: tuple[int, ...]) -> str:
    """Return ids as the shortest core list: (0, 1, 2, 7) gives `0-2,7`."""
    runs: list[list[int]] = []
    for core in ids:
        if runs and runs[-1][-1] == core - 1:
            runs[-1].append(core)
        else:
            runs.append([core])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _at_least(parse: Callable[[object], Any], low: float, *, above: bool = False) -> Any:
    def checked(value: object) -> Any:
        number = parse(value)
        if number < low or (above and number == low):
            raise ValueError
        return number

    return checked


Text = Annotated[str, Kind(text, "a text")]
Flag = Annotated[bool, Kind(flag, "true or false")]
Whole = Annotated[int, Kind(whole, "a whole number")]
Count = Annotated[int, Kind(_at_least(whole, 0), "a whole number, 0 or more")]
Positive = Annotated[int, Kind(_at_least(whole, 1), "a whole number, 1 or more")]
Real = Annotated[float, Kind(real, "a finite number")]
NonNegative = Annotated[float, Kind(_at_least(real, 0.0), "a finite number, 0 or more")]
Above0 = Annotated[float, Kind(_at_least(real, 0.0, above=True), "a finite number above 0")]
Shape = Annotated[tuple[int, ...], Kind(shape, "sizes of 1 or more, as 4x512 or [4,512]")]
DType = Annotated[str, Kind(dtype, ", ".join((*DTYPES[:4], "bf16, fp16, fp32")), DTYPES)]
Cores = Annotated[str, Kind(cores, 'core ids and ascending ranges, as "0" or "0-3,7"')]
Plain = Annotated[Any, Kind(plain, "any plain value")]
