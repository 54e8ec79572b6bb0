"""The progress of a campaign in a notebook: a bar that goes when the runs have ended."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sojourn.campaign import Observer, Plan, Tally

#: Seconds before a bar is shown, and between two of its states: what is done at once needs none.
SHOWN_AFTER, INTERVAL = 1.0, 0.2


def observer() -> Observer | None:
    """What shows progress in a notebook; none elsewhere."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    # A kernel has this trait, and the shell of a terminal has not.
    return Bar() if hasattr(shell, "kernel") else None


class Bar(Observer):
    """Shows a bar below the cell of a notebook."""

    @contextmanager
    def running(self, plan: Plan, /) -> Iterator[Callable[[Tally], None]]:
        """See ``Observer.running``."""
        from IPython.display import HTML, display

        began = shown = time.monotonic()
        bar: Any = None

        def advance(tally: Tally) -> None:
            nonlocal shown, bar
            now = time.monotonic()
            if now - began < SHOWN_AFTER or now - shown < INTERVAL:
                return
            shown, drawn = now, HTML(html(tally, len(plan), now - began))
            if bar is None:
                bar = display(drawn, display_id=True)
            else:
                bar.update(drawn)

        try:
            yield advance
        finally:
            if bar is not None:
                bar.update(HTML(""))


def html(tally: Tally, total: int, elapsed: float) -> str:
    """The bar, how many runs have ended, and how long the others will take."""
    left = tally.seconds_left(elapsed)
    failed = f", {tally.failed} failed" if tally.failed else ""
    said = f"{tally.ended} of {total} runs{failed}, {f'{left:.0f} s left' if left >= 1 else 'nearly done'}"
    return f'<progress max="{total}" value="{tally.ended}" aria-label="{said}"></progress> {said}'
