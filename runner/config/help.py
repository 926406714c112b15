"""`python -m runner --help`: groups, choices and keys in plain words, from the schema itself."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from runner.config.fields import Field, fields_of
from runner.config.groups import choices, conf_dir, summary
from runner.config.plain import shape_text
from runner.config.schema import Config

HEAD = """\
Measure a PyTorch workload: python -m runner [-m] [group=choice] [group.key=value] ...

  python -m runner workload=rmsnorm variant=compiled        one combination
  python -m runner -m variant=naive,fused,compiled          a sweep over every value given
  python -m runner -m experiment=NAME                       a sweep kept in conf/experiment/
  python -m runner ... plan=true                            what would run, and why
  python -m runner.report | runner.compare | runner.trace | runner.roofline
  python -m runner.doctor | runner.ui                       each with its own --help

Hydra's own: --cfg job, --info, --hydra-help, --config-dir DIR; --full-error adds tracebacks.
Exit codes: 0 good, 1 some failed or incorrect, 2 bad usage, 3 regression, 4 nothing measured.
"""


def text() -> str:
    """Return the whole help text."""
    groups = choices([conf_dir()])
    top = [field for field in fields_of(Config).values() if not field.group]
    blocks = [HEAD]
    for name, field in fields_of(Config).items():
        if field.group:
            blocks.append("\n".join(_group(name, field.group, groups.get(name, {}))))
    if groups.get("experiment"):
        blocks.append("\n".join(["experiment", *_choices(groups["experiment"])]))
    blocks.append("\n".join(["top level", *(line for field in top for line in _key("", field))]))
    return "\n\n".join(blocks) + "\n"


def _group(name: str, group: type, files: dict[str, Any]) -> Iterator[str]:
    doc = (group.__doc__ or "").strip().split("\n\n")[0]
    yield f"{name}: {doc}"
    yield from _choices(files)
    for field in fields_of(group).values():
        yield from _key(f"{name}.", field)


def _choices(files: dict[str, Any]) -> Iterator[str]:
    for choice, file in files.items():
        yield f"  ={choice:<14} {summary(file)}"


def _key(prefix: str, field: Field) -> Iterator[str]:
    default = "null" if field.default is None else _shown(field.default)
    words = f"{field.doc} ({field.allowed}; default {default})"
    if field.group:
        words = f"{field.doc} (null or the keys below)"
    yield from textwrap.wrap(
        f"{prefix}{field.name}  {words}",
        width=98,
        initial_indent="  ",
        subsequent_indent="      ",
        break_on_hyphens=False,
    )
    if field.group:
        for inner in fields_of(field.group).values():
            yield from _key(f"{prefix}{field.name}.", inner)


def _shown(value: Any) -> str:
    if isinstance(value, tuple) and value and all(isinstance(size, int) for size in value):
        return str(shape_text(value))
    if isinstance(value, bool):
        return str(value).lower()
    return str(list(value) if isinstance(value, tuple) else value)
