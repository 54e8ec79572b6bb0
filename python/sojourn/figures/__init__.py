"""Figures of results, as Altair charts that a notebook shows and that can be saved.

from sojourn import figures

with sojourn.open("results/piotrowska") as store:
    chart = figures.draw("heatmap-fairness", store, only={"scenario": "AL"})

``available`` has the figures. The drawing code is imported on first use, because Altair and polars load slowly.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from sojourn.figures.registry import Family, Figure, available, named

if TYPE_CHECKING:
    from sojourn.analysis.comparison import Results
    from sojourn.figures.drawing import draw
    from sojourn.figures.drawn import Drawn, Selection
    from sojourn.figures.look import DOCUMENT, Chart
    from sojourn.figures.saving import save, svg

_MODULES = {
    "draw": "drawing",
    **dict.fromkeys(("Drawn", "Results", "Selection"), "drawn"),
    **dict.fromkeys(("Chart", "DOCUMENT"), "look"),
    **dict.fromkeys(("save", "svg"), "saving"),
}


if not TYPE_CHECKING:  # type checkers would take any name for one that is here

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
