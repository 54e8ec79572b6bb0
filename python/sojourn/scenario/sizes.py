"""Distributions of sizes, in bytes, and of numbers of things."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, PlainValidator, ValidationInfo, model_validator

from sojourn.catalogue.published_sizes import PUBLISHED, CutOff, Point
from sojourn.scenario.base import Table
from sojourn.scenario.files import from_file, read_rows
from sojourn.scenario.quantities import Size, at_least
from sojourn.units import SIZE

#: The most things that are drawn at a time, such as objects of a page.
MOST_COUNT = 10_000

#: What each distribution needs, and may have besides.
_KEYS = {
    "exponential": (("mean",), ()),
    "lognormal": (("mean", "sigma"), ("least", "most")),
    "pareto": (("shape", "least"), ("most",)),
    "empirical": ((), ("name", "file")),
}


@dataclass(frozen=True)
class Points:
    """A distribution function from a file."""

    name: str
    points: tuple[Point, ...]


def _read_points(path: Path, of: str) -> Points:
    """A distribution function: values, in a column of that name, and the probability of values up to there."""
    points = tuple((value, share) for value, share in read_rows(path, (of, "probability")))
    if len(points) < 2:
        raise ValueError(f'"{path.name}": a distribution function needs two rows')
    for number, (before, after) in enumerate(pairwise(points), start=3):
        if after[0] < before[0] or after[1] < before[1]:
            raise ValueError(f'"{path.name}": line {number}: {of} and probability must not be less than in the line before')
    if points[-1][1] != 1:
        raise ValueError(f'"{path.name}": the probabilities must end at 1, not at {points[-1][1]:g}')
    if points[-1][0] < 1:
        raise ValueError(f'"{path.name}": {of} must reach 1')
    return Points(path.name, points)


_SIZES, _SIZES_SCHEMA = from_file(partial(_read_points, of="bytes"), "CSV of a distribution function: bytes, probability.")
_COUNTS, _COUNTS_SCHEMA = from_file(partial(_read_points, of="objects"), "CSV of a distribution function: objects, probability.")


class Distribution(Table):
    """A distribution of sizes or of numbers of things, which differ in their units, and in what has been published."""

    #: What it is of, in messages.
    what: ClassVar[str]

    distribution: Literal["exponential", "lognormal", "pareto", "empirical"]
    mean: Any = None
    sigma: float | None = Field(None, gt=0, le=10, description="Standard deviation of the natural logarithm.")
    shape: float | None = Field(None, gt=0, le=100, description="Tail index.")
    least: Any = None
    most: Any = None
    name: Any = None
    file: Any = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        needed, possible = _KEYS[self.distribution]
        for key in ("mean", "sigma", "shape", "least", "most", "name", "file"):
            if getattr(self, key) is not None and key not in (*needed, *possible):
                raise ValueError(f"{key}: {self.distribution} {self.what} have {' and '.join((*needed, *possible))}")
        for key in needed:
            if getattr(self, key) is None:
                raise ValueError(f'{self.distribution} {self.what} need "{key}"')
        if self.distribution == "empirical" and (self.name is None) == (self.file is None):
            raise ValueError(f'empirical {self.what} need either "name" or "file"')
        if self.least is not None and self.most is not None and self.most <= self.least:
            raise ValueError(f"most: {self._shown(self.most)} must be more than least, {self._shown(self.least)}")
        if self.distribution == "pareto" and self.most is None and self.shape is not None and self.shape <= 1:
            raise ValueError(f'shape: the mean is infinite at {self.shape:g}; must be above 1, or "most" must be given')
        return self

    def _shown(self, value: Any) -> str:
        return f"{value:g}"

    def as_json(self) -> dict[str, Any]:
        """The distribution as a run's specification has it."""
        match self.distribution:
            case "exponential":
                return {"exponential": {"mean": self.mean}}
            case "lognormal":
                return CutOff(self.mean or 0, self.sigma or 0, self.least, self.most).as_json()
            case "pareto":
                return {"pareto": {"shape": self.shape, "least": self.least, "most": self.most}}
            case "empirical":
                if self.file is not None:
                    return {"empirical": self.file.points}
                return PUBLISHED[str(self.name)].as_json()


class Sizes(Distribution):
    """Random sizes."""

    what = "sizes"

    mean: Size | None = Field(None, description="Mean; of log-normal sizes before they are cut off.")
    least: Size | None = Field(None, description="Least size.")
    most: Size | None = Field(None, description="Greatest size.")
    name: Literal["web-search", "data-mining", "web-main-object", "web-embedded-object"] | None = Field(
        None, description="A distribution that has been published."
    )
    file: Annotated[Points | None, _SIZES, _SIZES_SCHEMA] = None

    def _shown(self, value: int) -> str:
        return f'"{SIZE.format(value)}"'


Count = Annotated[float, Field(ge=1, le=MOST_COUNT)]


class Counts(Distribution):
    """Random numbers of things, rounded up."""

    what = "numbers"

    mean: Count | None = Field(None, description="Mean; of log-normal numbers before they are cut off.")
    least: Count | None = Field(None, description="Least number.")
    most: Count | None = Field(None, description="Greatest number.")
    name: Literal["web-objects"] | None = Field(None, description="A distribution that has been published.")
    file: Annotated[Points | None, _COUNTS, _COUNTS_SCHEMA] = None


def _or_plain(kind: type[Distribution], plain: Callable[[object], int]) -> Callable[[object, ValidationInfo], Any]:
    """Reads a distribution of a kind, or else a plain number."""

    def read(given: object, info: ValidationInfo) -> Any:
        if isinstance(given, Mapping):
            return kind.model_validate(given, context=info.context)
        return given if isinstance(given, kind) else plain(given)

    return read


def _number_of_things(given: object) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given <= MOST_COUNT:
        raise ValueError(f"must be a whole number from 0 to {MOST_COUNT:,}, or a distribution")
    return given


RandomCount = Annotated[
    int | Counts,
    PlainValidator(
        _or_plain(Counts, _number_of_things), json_schema_input_type=Annotated[int, Field(ge=0, le=MOST_COUNT)] | Counts
    ),
]
"""A number of things, or a distribution."""

RandomSize = Annotated[int | Sizes, PlainValidator(_or_plain(Sizes, at_least(SIZE, 1)), json_schema_input_type=Size | Sizes)]
"""Bytes, more than 0; or a distribution."""


def as_json(given: int | Distribution) -> dict[str, Any]:
    """A size or a number of things as a run's specification has it."""
    return given.as_json() if isinstance(given, Distribution) else {"fixed": given}
