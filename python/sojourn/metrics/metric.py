"""A metric: what it is called, what it is a value of, how it is computed, shown and compared."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from sojourn import digits

if TYPE_CHECKING:
    from sojourn.metrics.observation import Observation


class Scope(StrEnum):
    """What a metric is a value of."""

    #: All flows of a run, or one group of them.
    RUN = "run"
    #: A group of a run's flows beside the others; a whole run has no such value.
    GROUP = "group"
    #: A link's queue; the value of a run is the bottleneck's.
    QUEUE = "queue"


class Better(StrEnum):
    """Which of two values users prefer."""

    MORE = "more"
    LESS = "less"


class Display(NamedTuple):
    """The unit in which people read a metric, and what a value is multiplied by to be in it."""

    unit: str
    factor: float


MILLISECONDS = Display("ms", 1e3)
PERCENT = Display("%", 100)

#: Times that packets and hosts take count as equal within this much, in s. Hosts do not tell less: Linux's driver of Intel's
#: cards allows 20,000 interrupts a second at most in its default mode, and what comes meanwhile waits for the next one
#: (Documentation/networking/device_drivers/ethernet/intel/e1000e.rst, ``InterruptThrottleRate``).
TIME_FLOOR = 1 / 20_000


#: The least and the greatest value that something can have; none where there is no bound.
Bounds: TypeAlias = tuple[float | None, float | None]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One metric; an entry of the registry."""

    #: The column of ``runs`` and ``groups``, and what studies and ``--metric`` call it. It ends in the unit unless it has none.
    name: str
    #: In words, in lower case, such as ``mean sojourn time``.
    title: str
    #: Digits after the point of a value in ``unit``.
    decimals: int
    #: The formula in Markdown, for docs/measures.md.
    definition: str
    compute: "Callable[[Observation], float | None]"
    #: A column of ``flows``, or a frame: where that has no value the metric has none, and need not be computed.
    needs: str = ""
    scope: Scope = Scope.RUN
    #: Of stored values and published tables; empty if it has none.
    unit: str = ""
    #: Where the definition comes from, if it is a paper's.
    source: str = ""
    #: Which values users prefer, where that is plain; harm is defined of such metrics only.
    better: Better | None = None
    #: The unit in figures, reports and on the terminal, if it is not ``unit``.
    display: Display | None = None
    #: The label of an axis or a column; title and unit unless given.
    axis: str = ""
    #: What its bars are called among figures, and its heat map after ``heatmap-``; the name with hyphens unless given.
    figure: str = ""
    #: Whether tables and pages that show only a few metrics of a run have it.
    main: bool = False
    #: The same of a group.
    main_of_group: bool = False
    #: Published values agree within this much in any case, in ``unit``.
    floor: float = 0.0
    #: The same as a part of the fair share, the bottleneck's rate over the number of flows.
    fair_share_floor: float = 0.0
    #: The ends of a scale of colours, in the unit of display; values outside extend it, and none leaves an end to the values.
    ends: tuple[float | None, float | None] = (0, None)
    #: The least and the greatest value that there can be, in ``unit``: intervals of means end there.
    bounds: Bounds = (0, None)

    @property
    def of_run(self) -> bool:
        """Whether a whole run has a value, which is then a column of ``runs``."""
        return self.scope in (Scope.RUN, Scope.QUEUE)

    @property
    def of_group(self) -> bool:
        """Whether a group of flows has a value, which is then a column of ``groups``."""
        return self.scope in (Scope.RUN, Scope.GROUP)

    @property
    def told_of(self) -> str:
        """What has a value of it, in words."""
        return "run, group" if self.scope is Scope.RUN else str(self.scope)

    @property
    def caption(self) -> str:
        """The title as a heading has it: ``Mean sojourn time``."""
        return self.title[0].upper() + self.title[1:]

    @property
    def figure_name(self) -> str:
        """What its bars are called among figures."""
        return self.figure or self.name.replace("_", "-")

    @property
    def heading(self) -> str:
        """Title and unit: ``drop ratio (%)``."""
        return f"{self.title} ({self.unit})" if self.unit else self.title

    @property
    def shown_unit(self) -> str:
        """The unit in which people read it."""
        return self.display.unit if self.display else self.unit

    @property
    def factor(self) -> float:
        """From ``unit`` to ``shown_unit``."""
        return self.display.factor if self.display else 1

    @property
    def label(self) -> str:
        """What axes and columns say: ``Mean sojourn time (ms)``."""
        if self.axis:
            return self.axis
        return f"{self.caption} ({self.shown_unit})" if self.shown_unit else self.caption

    def format(self, value: float) -> str:
        """A value in ``unit``, as tables beside published values have it."""
        return f"{value:.{self.decimals}f}"

    def number(self, value: float) -> str:
        """A value in ``shown_unit``, without the unit."""
        return f"{value * self.factor:.{self.decimals - round(math.log10(self.factor))}f}"

    def formats(self, mean: float, *others: float, half: float) -> list[str]:
        """As ``format``: a mean, numbers beside it and half of its interval, which says how many digits they have."""
        return digits.of_interval(mean, *others, half=half) or [self.format(each) for each in (mean, *others, half)]

    def numbers(self, mean: float, *others: float, half: float) -> list[str]:
        """As ``number``: a mean, numbers beside it and half of its interval, which says how many digits they have."""
        shown = (each * self.factor for each in (mean, *others))
        return digits.of_interval(*shown, half=half * self.factor) or [self.number(each) for each in (mean, *others, half)]
