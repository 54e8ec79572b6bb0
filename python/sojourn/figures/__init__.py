"""Figures of results, as Altair charts that a notebook shows and that can be saved.

from sojourn import figures

with sojourn.open("results/piotrowska") as store:
    chart = figures.draw("heatmap-fairness", store, only={"scenario": "AL"})
"""

from collections.abc import Iterable, Mapping

from sojourn import names
from sojourn.errors import InputError
from sojourn.figures import bars, distributions, heatmaps, look, origin, over_time, tradeoffs
from sojourn.figures.drawn import Drawn, Results, Selection
from sojourn.figures.figure import Chart, Figure
from sojourn.figures.look import DOCUMENT
from sojourn.figures.saving import save, svg

#: All figures by name.
FIGURES: Mapping[str, Figure] = {
    figure.name: figure for family in (over_time, bars, tradeoffs, heatmaps, distributions) for figure in family.FIGURES
}

__all__ = ["DOCUMENT", "FIGURES", "Chart", "Drawn", "Figure", "Results", "Selection", "draw", "named", "save", "svg"]


def named(name: str) -> Figure:
    """A figure by its name.

    Raises:
        InputError: there is none of that name.
    """
    if name not in FIGURES:
        raise InputError(names.unknown("figure", name, FIGURES))
    return FIGURES[name]


def draw(
    name: str,
    results: Results,
    only: Selection | None = None,
    seeds: Iterable[int] | None = None,
    *,
    width: int = DOCUMENT,
) -> Chart:
    """Draws a figure of some results, with its title and the commands behind it.

    Args:
        name: which figure; ``FIGURES`` has them all.
        results: a store, or the result of a campaign.
        only: values of some axes, such as ``{"tcp": ["cubic", "bbr"]}``; all cells unless given.
        seeds: seeds to draw; all unless given. A figure over time shows the first.
        width: about how wide, in points.

    Raises:
        InputError: there is no such figure, axis, value or seed, or the results do not have what it shows.
    """
    figure = named(name)
    chosen = None if seeds is None else list(seeds)
    command = origin.command(name, results, only, chosen)
    source = Drawn.of(results, only, chosen, order=origin.order(results), command=command)
    return look.finish(figure.draw(source, width), figure, source)
