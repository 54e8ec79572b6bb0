"""A figure of some results, drawn and titled."""

from collections.abc import Iterable

from sojourn.analysis.comparison import Results
from sojourn.figures import look, origin, sizing
from sojourn.figures.drawn import Drawn, Selection
from sojourn.figures.look import DOCUMENT, Chart
from sojourn.figures.registry import named


def draw(
    name: str,
    results: Results,
    only: Selection | None = None,
    seeds: Iterable[int] | None = None,
    *,
    width: float | None = None,
    height: float | None = None,
    titled: bool = True,
) -> Chart:
    """Draws a figure of some results, with its title and the commands behind it.

    Args:
        name: which figure; ``figures.available()`` has them all.
        results: a store, or the result of a campaign.
        only: values of some axes, such as ``{"tcp": ["cubic", "bbr"]}``, and of ``group`` groups of flows; all cells unless
            given.
        seeds: seeds to draw; all unless given. A figure over time shows the first.
        width: exactly how wide, in points; about as wide as a document's text unless given.
        height: exactly how high, in points; as the figure chooses unless given.
        titled: whether it has its title, what it shows and the commands above it.

    Raises:
        InputError: there is no such figure, axis, value, group or seed, the results do not have what it shows, or it needs more
            room.
    """
    figure = named(name)
    chosen = None if seeds is None else list(seeds)
    command = origin.command(name, results, only, chosen)
    source = Drawn.of(results, only, chosen, order=origin.order(results), command=command)

    def drawn(points: int) -> Chart:
        return look.finish(figure.draw(source, points), figure, source, points, titled=titled)

    if width is None and height is None:
        return drawn(DOCUMENT)
    return sizing.fitted(drawn, width, height)
