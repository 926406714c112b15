"""Drawing for a page that may be light or dark: text stays text, colours are the page's own."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, MUTED, RULE = "#010203", "#020304", "#030405"
SERIES = tuple(f"#0a0b{number:02x}" for number in range(8))
"""Colours that no one sees: each stands for one of the page's, which its style gives."""
VARIABLES = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    RULE: "var(--rule)",
    **{colour: f"var(--series-{number})" for number, colour in enumerate(SERIES)},
}
DASHES = ("solid", "dashed", "dotted", "dashdot")


def look(number: int) -> dict[str, Any]:
    """Return the colour and dash of the line of this number: told apart by more than colour."""
    dash = DASHES[(number // len(SERIES)) % len(DASHES)]
    return {"color": SERIES[number % len(SERIES)], "linestyle": dash}


def drawn(name: str, size: tuple[float, float], draw: Callable[[Axes], None]) -> str:
    """Return what `draw` puts on axes as an SVG element; `name` keeps its ids apart from others."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with _settings(name):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        figure.patch.set_alpha(0)
        axes = figure.subplots()
        axes.patch.set_alpha(0)
        draw(axes)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Type")))
    return _for_page(text.getvalue(), name)


@contextmanager
def _settings(name: str) -> Iterator[None]:
    import matplotlib as mpl

    colours = dict.fromkeys(("text.color", "axes.labelcolor", "axes.titlecolor"), INK)
    ticks = dict.fromkeys(("xtick.color", "ytick.color"), MUTED)
    rest = {"axes.edgecolor": RULE, "grid.color": RULE, "font.size": 9.0, "legend.frameon": False}
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name, **colours, **ticks, **rest}):
        yield


def _for_page(svg: str, name: str) -> str:
    """Return the bare element in the page's colours, with ids that are this picture's own."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, variable)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", svg)


def logarithmic(axis: Any) -> None:
    """Make an axis logarithmic, marked by plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator

    scale = axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale
    scale("log")
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(FuncFormatter(lambda _, __: ""))


def only_at(values: Sequence[float], axis: Any) -> None:
    """Mark an axis at these places only."""
    from matplotlib.ticker import FixedLocator, NullLocator

    axis.set_major_locator(FixedLocator(list(values)))
    axis.set_minor_locator(NullLocator())
    axis.set_ticklabels([f"{value:g}" for value in values])
