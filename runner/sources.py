"""Which files a measurement is of, so that a result made by other code is told from this one."""

from __future__ import annotations

import ast
import functools
import importlib.util
import pkgutil
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

from runner.config import schema

INSTALLED = {"site-packages", "dist-packages"}
"""Folders of what versions tell apart."""


def sources(spec: schema.Workload, variant: schema.Variant) -> list[Path]:
    """Return the files that define the workload and a variant by path; runs none of them.

    With a module come those that it imports from its own package, or from the folder in which that
    lies: a model is made of other ops. What is installed, Python's own and the runner are not.
    """
    paths = [(spec._target_, "."), (spec.target, ":")]
    if ":" in variant.implementation:
        paths.append((variant.implementation, ":"))
    modules = [path.rpartition(separator)[0] for path, separator in paths if path]
    return list(dict.fromkeys(file for module in modules for file in _files(module)))


@functools.cache
def _files(module: str) -> tuple[Path, ...]:
    top = _top(module)
    root = _folder(top)
    found: dict[str, Path | None] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop(0)
        if name in found or not (_top(name) == top or _belongs(_top(name), root)):
            continue
        spec = _find(name)
        found[name] = file = _file(spec)
        waiting += _imported(name, spec, file) if spec and file else []
    return tuple(file for file in found.values() if file)


def _imported(name: str, spec: ModuleSpec, file: Path) -> Iterator[str]:
    """Yield what a module's file may import, packages before what is taken from them."""
    package = name if spec.submodule_search_locations is not None else name.rpartition(".")[0]
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):  # Compiled, or its own import will say what is wrong.
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield _top(alias.name)  # The name that such an import binds.
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            yield from _from(node, package)


def _from(node: ast.ImportFrom, package: str) -> Iterator[str]:
    """Yield the module of a `from` import, and its names, which may be modules too."""
    try:
        module = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
    except ImportError:  # Beyond the package: its own import will say so.
        return
    yield module
    yield from (f"{module}.{alias.name}" for alias in node.names)


@functools.cache
def _belongs(top: str, root: Path | None) -> bool:
    """Tell whether a top-level module is of the same project: below root, and not installed."""
    if root is None or top in sys.stdlib_module_names or top == _top(__name__):
        return False
    folder = _folder(top)
    inside = folder is not None and folder.is_relative_to(root)
    return inside and folder is not None and not INSTALLED & set(folder.parts)


def _folder(top: str) -> Path | None:
    """Return the folder in which a top-level module or package lies."""
    spec = _find(top)
    if spec is None:
        return None
    places = list(spec.submodule_search_locations or ())
    here = places[0] if places else spec.origin
    return Path(here).parent if here else None


def _find(module: str) -> ModuleSpec | None:
    """Return where a module lies; the packages above it are looked through, and not run."""
    top, *rest = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except ValueError:  # It is __main__, or another without a spec.
        return None
    for depth, _ in enumerate(rest, start=2):
        name = ".".join(module.split(".")[:depth])
        folders = (spec.submodule_search_locations if spec else None) or ()
        finders = [finder for finder in map(pkgutil.get_importer, folders) if finder]
        spec = next((found for each in finders if (found := each.find_spec(name))), None)
    return spec


def _file(spec: ModuleSpec | None) -> Path | None:
    file = Path(spec.origin) if spec and spec.has_location and spec.origin else None
    return file if file and file.is_file() else None


def _top(module: str) -> str:
    return module.partition(".")[0]
