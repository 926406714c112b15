"""What a combination is called: the same words in run names, tables and metric keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runner.config.plain import flatten, shape_text

NOT_MEASURED_BY = ("sweep", "tracking", "plan", "rerun", "run_name")
"""Config that says how a result came to be stored, not what it measured."""
NAMED = (
    "workload.name",
    "variant.name",
    "workload.shape",
    "workload.inputs",
    "workload.dtype",
    "workload.dims",
)
"""What stands in every name, the sizes in `dims` as a shape."""
IMPLIED = ("workload._target_", "workload.axes")
"""What a workload's name tells where it stands for one of them alone."""

Config = Mapping[str, Any]
Key = tuple[tuple[str, str], ...]


def run_name(config: Config) -> str:
    """Return `workload/variant/shape/dtype`, or the name that the config asks for."""
    return str(config["run_name"]) if config.get("run_name") else "/".join(_base(config))


def combination_names(configs: Sequence[Config]) -> list[str]:
    """Return a name for each config, with what else differs among them: `.../eps 1e-05`."""
    flat = [measured(config) for config in configs]
    extra = _others(flat)
    same_variant = _variant_keys(flat)
    return [
        "/".join([*_base(config), *described(values, [*extra, *same_variant])])
        for config, values in zip(configs, flat, strict=True)
    ]


def group_names(configs: Sequence[Config]) -> list[str]:
    """Return what each config measures, the variant aside: `rmsnorm 4x512 bfloat16, eps 1e-05`."""
    flat = [measured(config) for config in configs]
    extra = _others(flat)
    named = [" ".join(part for part in _base(config, variant=False)) for config in configs]
    return [
        ", ".join([name, *described(values, extra)])
        for name, values in zip(named, flat, strict=True)
    ]


def variant_names(configs: Sequence[Config]) -> list[str]:
    """Return each config's variant, with its settings where one name stands for several."""
    flat = [measured(config) for config in configs]
    same = _variant_keys(flat)
    return [
        ", ".join(
            [
                config["variant"]["name"],
                *(text.removeprefix("variant.") for text in described(values, same)),
            ]
        )
        for config, values in zip(configs, flat, strict=True)
    ]


def measured(config: Config) -> dict[str, Any]:
    """Return the flattened config without what does not change a measurement."""
    kept = {key: value for key, value in config.items() if key not in NOT_MEASURED_BY}
    return dict(flatten(kept))


def group_key(config: Config) -> Key:
    """Return everything that is not the variant, as something to group by."""
    flat = measured(config).items()
    return tuple(sorted((k, repr(v)) for k, v in flat if not k.startswith("variant")))


def varying(flat: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the keys that do not hold the same value in all of them."""
    keys = dict.fromkeys(key for values in flat for key in values)
    return [key for key in keys if len({repr(values.get(key)) for values in flat}) > 1]


def _others(flat: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the keys that differ and that no name or variant tells."""
    told = (*NAMED, *(key for key in IMPLIED if _follows(key, flat)))
    return [key for key in varying(flat) if not key.startswith(("variant.", *told))]


def _follows(key: str, flat: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether each workload's name stands for one value of a key."""
    pairs = {(values["workload.name"], repr(values.get(key))) for values in flat}
    return len(pairs) == len({name for name, _ in pairs})


def described(values: Mapping[str, Any], keys: Sequence[str]) -> list[str]:
    """Return `eps 1e-05` for each key that has a value; a list is joined by commas."""
    return [
        f"{key.removeprefix('workload.').removeprefix('params.')} {_text(values[key])}"
        for key in keys
        if values.get(key) is not None
    ]


def _base(config: Config, *, variant: bool = True) -> list[str]:
    workload = config["workload"]
    variants = [config["variant"]["name"]] if variant else []
    sizes = _inputs(workload) or workload.get("shape")
    return [workload["name"], *variants, *([sizes] if sizes else []), workload["dtype"]]


def _inputs(workload: Config) -> str:
    """Return the declared inputs as `4x8,8-int64-ones`: of dtype and values what is unusual."""
    found = []
    for each in workload.get("inputs") or ():
        dtype = None if each["dtype"] == workload["dtype"] else each["dtype"]
        drawn = None if each["distribution"] == "normal" else each["distribution"]
        found.append("-".join(filter(None, (shape_text(each["shape"]), dtype, drawn))))
    return ",".join(found)


def _variant_keys(flat: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return keys of the variant that differ between configs of the same variant's name."""
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for values in flat:
        by_name.setdefault(str(values["variant.name"]), []).append(values)
    return list(
        dict.fromkeys(
            key for same in by_name.values() for key in varying(same) if key.startswith("variant.")
        )
    )


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(_text(item) for item in value)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
