"""What a sweep asks to be run: its cells, and how many seeds each gets."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

from sojourn.runs import Cell
from sojourn.scenario.model import Scenario
from sojourn.sweep.matrix import NAME, Matrix


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
