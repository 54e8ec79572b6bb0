"""Distributions of sizes, in bytes, and of numbers of things."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, PlainValidator, ValidationInfo, WithJsonSchema, model_validator

from sojourn.catalogue.published_sizes import PUBLISHED, CutOff, Point
from sojourn.scenario.base import Table
from sojourn.scenario.quantities import Size, at_least
from sojourn.units import SIZE

#: The most rows that a file of sizes or of arrivals may have: each run's specification has them all.
MOST_ROWS = 1_000_000


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


def read_rows(path: Path, columns: Sequence[str] = ()) -> list[tuple[float, ...]]:
    """Some columns, or else all, of a CSV file of numbers with a header."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text"
        raise ValueError(f'cannot read "{path}": {reason}') from None
    rows = [row for row in rows if row]
    header = [cell.strip() for cell in rows[0]] if rows else []
    for wanted in columns:
        if wanted not in header:
            raise ValueError(f'"{path.name}": line 1: no column "{wanted}" (there are: {", ".join(header) or "none"})')
    if len(rows) - 1 > MOST_ROWS:
        raise ValueError(f'"{path.name}": {len(rows) - 1:,} rows; at most {MOST_ROWS:,}')
    places = [header.index(wanted) for wanted in columns or header]
    found = []
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise ValueError(f'"{path.name}": line {number}: {len(row)} values instead of {len(header)}')
        found.append(tuple(_number(row[place], path.name, number) for place in places))
    if not found:
        raise ValueError(f'"{path.name}" has no rows')
    return found


def _number(text: str, name: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f'"{name}": line {line}: "{text.strip()}" is not a number') from None
    if not 0 <= value < 2**63:
        raise ValueError(f'"{name}": line {line}: "{text.strip()}" must be 0 or more')
    return value


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


def from_file(read: Any, description: str) -> Any:
    """A key that names a file, which is read; its path is relative to the scenario's."""

    def validate(given: object, info: ValidationInfo) -> object:
        if not isinstance(given, str) or not given:
            raise ValueError("must name a file")
        return read((info.context if isinstance(info.context, Path) else Path()) / given)

    return PlainValidator(validate), WithJsonSchema({"type": "string", "description": description})


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


def _read(given: object, info: ValidationInfo) -> int | Sizes:
    if isinstance(given, Sizes):
        return given
    if isinstance(given, Mapping):
        return Sizes.model_validate(given, context=info.context)
    return at_least(SIZE, 1)(given)


def _read_count(given: object, info: ValidationInfo) -> int | Counts:
    if isinstance(given, Counts):
        return given
    if isinstance(given, Mapping):
        return Counts.model_validate(given, context=info.context)
    if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given <= MOST_COUNT:
        raise ValueError(f"must be a whole number from 0 to {MOST_COUNT:,}, or a distribution")
    return given


RandomCount = Annotated[
    int | Counts, PlainValidator(_read_count, json_schema_input_type=Annotated[int, Field(ge=0, le=MOST_COUNT)] | Counts)
]
"""A number of things, or a distribution."""

RandomSize = Annotated[int | Sizes, PlainValidator(_read, json_schema_input_type=Size | Sizes)]
"""Bytes, more than 0; or a distribution."""
