"""A campaign: what is to be run."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from sojourn.digits import counted
from sojourn.errors import InputError
from sojourn.runs import Cell
from sojourn.scenario.model import Scenario
from sojourn.sweeps.matrix import NAME, Matrix
from sojourn.sweeps.model import MOST_CELLS
from sojourn.sweeps.stopping import LEAST_SEEDS, StoppingRule

#: Runs that a campaign has at most: the journal of a store keeps the key of each, about 200 bytes.
MOST_RUNS = 10_000_000


@dataclass(frozen=True)
class Campaign:
    """Cells with a number of seeds each. Cells are made on demand, each time they are iterated."""

    name: str
    #: What errors call the source of the cells.
    origin: str
    axes: tuple[str, ...]
    size: int
    make: Callable[[], Iterable[Cell]]
    #: How many seeds of each cell.
    repetitions: int
    #: What may give a cell more seeds than that.
    until: StoppingRule | None = None
    #: What each axis of a sweep sets, for people, and what its values are called.
    described: Mapping[str, tuple[str, list[str]]] = field(default_factory=dict)
    #: What the scenario says of itself.
    description: str = ""
    #: The axes and all their labels, chosen or not, in the order of the file.
    order: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        seeds = self.repetitions if self.until is None else max(self.repetitions, self.until.most_seeds)
        runs = self.size * seeds
        if self.size > MOST_CELLS or runs > MOST_RUNS:
            up_to = "" if self.until is None else "up to "
            extent = f"{counted(self.size, 'cell')} x {up_to}{counted(seeds, 'seed')}: {runs:,} runs"
            raise InputError(f"{self.origin}: {extent}; at most {MOST_CELLS:,} cells and {MOST_RUNS:,} runs")

    @classmethod
    def of_matrix(cls, matrix: Matrix, seeds: int | None = None) -> Self:
        """All cells of a matrix, each with this number of seeds, or the number that its sweep sets."""
        until = None if seeds is not None else matrix.sweep.stopping
        repetitions = LEAST_SEEDS if until is not None else _positive(seeds if seeds is not None else matrix.sweep.seeds or 1)
        described = matrix.described()
        size, cells, description = matrix.size, matrix.cells, matrix.description
        order = {axis: list(each.values) for axis, each in matrix.sweep.axes.items()}
        return cls(matrix.name, matrix.origin, matrix.axes, size, cells, repetitions, until, described, description, order)

    @classmethod
    def of_scenario(cls, scenario: Scenario, seeds: int = 1) -> Self:
        """The one cell of a scenario that is no file's."""
        cell = Cell({NAME: scenario.name}, scenario)
        origin, description = f'scenario "{scenario.name}"', scenario.description
        return cls(scenario.name, origin, (NAME,), 1, lambda: [cell], _positive(seeds), description=description)

    @classmethod
    def of_cells(cls, name: str, cells: Sequence[Cell], seeds: int = 1) -> Self:
        """Existing cells, which have the same axes."""
        return cls(name, name, tuple(cells[0].axes), len(cells), lambda: cells, _positive(seeds))

    def cells(self) -> Iterator[Cell]:
        """All cells, in order."""
        return iter(self.make())


def _positive(seeds: int) -> int:
    if seeds < 1:
        raise InputError(f"seeds must be 1 or more, not {seeds}")
    return seeds
