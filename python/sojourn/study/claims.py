"""What a paper says in words: claims as data, each with the query that decides it."""

from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError, model_validator

from sojourn.errors import InputError, within
from sojourn.scenario import read_toml
from sojourn.scenario.base import Table
from sojourn.scenario.problems import describe
from sojourn.study.design import Study, Values
from sojourn.sweeps.matrix import Point
from sojourn.sweeps.model import matches


class Claim(Table):
    """One sentence of a paper that measurement can decide."""

    id: str
    #: What the paper says, in other words than its own.
    claim: str
    #: Where it says so.
    source: str
    #: The cells of the matrix that it is about: only their rows are in the query's tables. All of them unless told.
    select: dict[str, Values] = Field(default_factory=dict)
    #: SQL that returns a row a seed: ``seed``, ``holds``, and the values that show it.
    query: str
    #: What was taken for words such as "notably", and why.
    reading: str | None = None


class Claims(Table):
    """A whole ``claims.toml``."""

    claims: list[Claim]

    @model_validator(mode="after")
    def _differ(self) -> Self:
        seen: set[str] = set()
        for claim in self.claims:
            if claim.id in seen:
                raise ValueError(f'claims: two have the id "{claim.id}"')
            seen.add(claim.id)
        return self


def read(path: Path, study: Study) -> list[Claim]:
    """Reads a file of claims; the queries are not looked at."""
    try:
        claims = Claims.of(read_toml(path)).claims
    except ValidationError as error:
        raise InputError(f"{path}: {describe(error)}") from None
    for claim in claims:
        cells(claim, study)
    return claims


def cells(claim: Claim, study: Study) -> list[Point]:
    """The cells of the matrix that a claim is about."""
    place = called(claim, study)
    with within(place, InputError):
        meant = study.sweep.meant("select", claim.select)
    found = [point for point in study.points if matches(meant, point)]
    if not found:
        raise InputError(f"{place}: select: the study has no such cell")
    return found


def called(claim: Claim, study: Study) -> str:
    """What errors call a claim."""
    return f"study {study.name}: claim {claim.id}"
