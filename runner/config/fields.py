"""The schema seen as data: which keys there are, of which kind, and what their words are.

Shared by the conversion, the check of the command line, Hydra's schema and `--help`, so none of
them can know a key that the others do not.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from runner.config.kinds import Kind


@dataclass(frozen=True)
class Field:
    """One key of a group; exactly one of `kind`, `group`, `items`, `values` says what it holds."""

    name: str
    doc: str
    default: Any
    optional: bool
    kind: Kind | None = None
    group: type | None = None
    items: Field | None = None
    """For a list: its element."""
    values: Field | None = None
    """For a mapping with free keys: its values."""

    @property
    def allowed(self) -> str:
        """Say in words what the key takes."""
        if self.kind:
            words = self.kind.allowed
        elif self.items:
            words = f"a list of: {self.items.allowed}"
        elif self.values:
            words = f"a mapping by name of: {self.values.allowed}"
        else:
            names = ", ".join(fields_of(self.group)) if self.group else ""
            words = f"a mapping with {names}"
        return f"{words}, or null" if self.optional else words


@cache
def fields_of(group: type) -> dict[str, Field]:
    """Return the fields of a schema class by name, in their order."""
    hints = get_type_hints(group, include_extras=True)
    docs = _docs(group)
    return {
        field.name: _describe(
            field.name, hints[field.name], docs.get(field.name, ""), _default(field)
        )
        for field in dataclasses.fields(group)
    }


def walk(group: type, path: str = "") -> Iterator[tuple[str, Field]]:
    """Yield every field below a schema class with its dotted path, groups before their keys."""
    for name, field in fields_of(group).items():
        here = f"{path}.{name}" if path else name
        yield here, field
        if field.group:
            yield from walk(field.group, here)


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


def _describe(name: str, hint: Any, doc: str, default: Any) -> Field:
    optional = False
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = [arm for arm in get_args(hint) if arm is not type(None)]
        optional = True
    base: dict[str, Any] = {"name": name, "doc": doc, "default": default, "optional": optional}
    if get_origin(hint) is Annotated:
        return Field(**base, kind=get_args(hint)[1])
    if get_origin(hint) is Literal:
        return Field(**base, kind=_choice(get_args(hint)))
    if get_origin(hint) is tuple:
        return Field(**base, items=_describe(name, get_args(hint)[0], "", None))
    if get_origin(hint) is dict:
        return Field(**base, values=_describe(name, get_args(hint)[1], "", None))
    return Field(**base, group=hint)


def _choice(choices: tuple[Any, ...]) -> Kind:
    def parse(value: object) -> Any:
        if isinstance(value, bool) or value not in choices:
            raise ValueError
        return value

    words = tuple(str(choice) for choice in choices)
    return Kind(parse, "one of " + ", ".join(words), words)


def _docs(group: type) -> dict[str, str]:
    """Return the string below each field of a class, which is its documentation."""
    (tree,) = ast.parse(inspect.getsource(group)).body
    assert isinstance(tree, ast.ClassDef)
    docs = {}
    for before, after in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(before, ast.AnnAssign) and isinstance(after, ast.Expr):
            assert isinstance(before.target, ast.Name)
            assert isinstance(after.value, ast.Constant)
            docs[before.target.id] = " ".join(str(after.value.value).split())
    return docs
