"""A figure of some results, drawn and titled."""

from collections.abc import Iterable

from sojourn.analysis.comparison import Results
from sojourn.figures import look, origin, sizing
from sojourn.figures.drawn import Drawn, Scale, Selection, Wishes
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
    x_scale: Scale | None = None,
    reverse_delay: bool = False,
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
        x_scale: the scale of an axis of quantities, ``"linear"`` or ``"log"``; the one on which its values lie more evenly unless
            given.
        reverse_delay: whether the delay of a trade-off falls from left to right, so that better is up and to the right.

    Raises:
        InputError: there is no such figure, axis, value, group or seed, the results do not have what it shows, it needs more
            room, or it has no such choice.
    """
    figure = named(name)
    chosen = None if seeds is None else list(seeds)
    wishes = Wishes(x_scale, reverse_delay)
    command = origin.command(name, results, only, chosen, wishes)
    source = Drawn.of(results, only, chosen, order=origin.order(results), command=command, wishes=wishes)

    def drawn(points: int) -> Chart:
        return look.finish(figure.draw(source, points), figure, source, points, titled=titled)

    if width is None and height is None:
        return drawn(DOCUMENT)
    return sizing.fitted(drawn, width, height)
