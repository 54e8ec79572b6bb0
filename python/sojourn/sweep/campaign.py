"""What is to be run: cells, and how many seeds each gets."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Self

from sojourn.backends import Backend
from sojourn.errors import InputError
from sojourn.runs import Cell, Run
from sojourn.scenario.model import Scenario
from sojourn.sweep.matrix import NAME, Matrix, called
from sojourn.units import LARGEST


@dataclass(frozen=True)
class Repeated:
    """Cells with so many seeds each. Cells are made when they are asked for, as often as that is."""

    name: str
    #: What errors call the source of the cells.
    origin: str
    axes: tuple[str, ...]
    size: int
    make: Callable[[], Iterator[Cell]]
    repetitions: int
    #: What each axis of a sweep sets, for people, and what its values are called.
    described: Mapping[str, tuple[str, list[str]]] = field(default_factory=dict)

    @classmethod
    def of_matrix(cls, matrix: Matrix, repetitions: int) -> Self:
        """All cells of a matrix."""
        return cls(matrix.name, matrix.origin, matrix.axes, matrix.size, matrix.cells, repetitions, matrix.described())

    @classmethod
    def of_scenario(cls, scenario: Scenario, repetitions: int) -> Self:
        """The one cell of a scenario that is no file's."""
        cell = Cell({NAME: scenario.name}, scenario)
        return cls(scenario.name, f'scenario "{scenario.name}"', (NAME,), 1, lambda: iter([cell]), repetitions)

    def cells(self) -> Iterator[Cell]:
        """All cells, in order."""
        return self.make()

    def runs(self) -> list[Run]:
        """All runs, in order: those of the first cell first."""
        return list(chain.from_iterable(cell.runs(self.repetitions) for cell in self.cells()))


@dataclass(frozen=True)
class Extent:
    """How much there is to do, for one seed of each cell."""

    cells: int
    simulated_seconds: float
    #: See ``Run.cost``.
    cost: float
    #: The run with the most of it.
    heaviest: Run


def check(campaign: Repeated, backend: Backend, on_cell: Callable[[], None] = lambda: None) -> Extent:
    """Makes every cell and has the backend look at its first run, so that bad input is found before anything is run or written.

    Args:
        campaign: what is to be checked.
        backend: what will carry it out.
        on_cell: told of each cell that is fine.

    Raises:
        InputError: a cell makes no sense, or two cells are the same run.
    """
    seen: dict[str, str] = {}
    seconds = cost = 0.0
    heaviest: Run | None = None
    for cell in campaign.cells():
        run, name = cell.run(0), called(cell.axes)
        try:
            backend.check(run.specification)
            if run.seed + campaign.repetitions - 1 > LARGEST:
                raise InputError(f"seed: {run.seed} is too large to count {campaign.repetitions} seeds up from")
        except InputError as error:
            where = f"{campaign.origin}: cell {name}" if campaign.size > 1 else campaign.origin
            raise InputError(f"{where}: {error}") from None
        if run.key in seen:
            raise InputError(f"{campaign.origin}: the cells {seen[run.key]} and {name} are the same run; exclude one")
        seen[run.key] = name
        seconds += run.simulated_seconds
        cost += run.cost
        if heaviest is None or run.cost > heaviest.cost:
            heaviest = run
        on_cell()
    if heaviest is None:
        raise InputError(f"{campaign.origin}: there is no cell")
    return Extent(len(seen), seconds, cost, heaviest)
