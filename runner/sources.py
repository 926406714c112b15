"""Which files a measurement is of, so that a result made by other code is told from this one."""

from __future__ import annotations

import ast
import functools
import importlib.util
from pathlib import Path

from runner.config import schema


def sources(spec: schema.Workload, variant: schema.Variant) -> list[Path]:
    """Return the files that define the workload and a variant by path; imports none of them.

    With a module come those of its own package that it imports: a model is made of other ops.
    """
    paths = [(spec._target_, "."), (spec.target, ":")]
    if ":" in variant.implementation:
        paths.append((variant.implementation, ":"))
    modules = [path.rpartition(separator)[0] for path, separator in paths if path]
    return list(dict.fromkeys(file for module in modules for file in _files(module)))


@functools.cache
def _files(module: str) -> tuple[Path, ...]:
    package = module.partition(".")[0]
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop(0)
        file = _origin(name)
        if name in found or file is None:
            continue
        found[name] = file
        waiting += [each for each in _imported(file) if each.startswith(f"{package}.")]
    return tuple(found.values())


def _imported(file: Path) -> list[str]:
    """Return the modules that a file names in `from module import ...`."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):  # Compiled, or its own import will say what is wrong.
        return []
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return [node.module for node in nodes if node.module and not node.level]


def _origin(module: str) -> Path | None:
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(found.origin) if found and found.origin else None
