"""A figure of some results, drawn and titled."""

from collections.abc import Iterable

from sojourn.figures import look, origin
from sojourn.figures.chart import Chart
from sojourn.figures.drawn import Drawn, Results, Selection
from sojourn.figures.look import DOCUMENT
from sojourn.figures.registry import named


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
        name: which figure; ``figures.available()`` has them all.
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
