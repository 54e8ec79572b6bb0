"""Claims judged: each one's query asked of results, seed by seed, and the verdict over seeds."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from statistics import fmean

import polars as pl

from sojourn.analysis import repetition
from sojourn.analysis.result import Result
from sojourn.names import BACKEND
from sojourn.statistics import Estimate, fewest_for_a_majority, most, share
from sojourn.store import write_whole
from sojourn.study import asking
from sojourn.study.asking import HOLDS, SEED
from sojourn.study.claims import Claim, called, cells
from sojourn.study.design import Study

#: With fewer the interval of a share always has one half in it, however alike the seeds are.
LEAST_SEEDS = fewest_for_a_majority()


class Verdict(StrEnum):
    """What runs say of a claim."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Judged:
    """A claim, and its outcome over a number of seeds."""

    claim: Claim
    #: On how many seeds it holds, and of how many.
    held: int
    seeds: int
    #: What shows it, by name: the values of the seeds that have one; what no seed has is left out.
    values: Mapping[str, Sequence[float] | Sequence[str]]
    #: What made the runs, where the results of several backends are told apart.
    backend: str | None = None

    @property
    def share(self) -> Estimate:
        """The share of seeds on which it holds."""
        return share(self.held, self.seeds)

    @property
    def verdict(self) -> Verdict:
        """Decided only if the 95 % interval of the share lies on one side of one half; see ``LEAST_SEEDS``."""
        decided = most(self.held, self.seeds)
        return Verdict.UNDECIDED if decided is None else Verdict.HOLDS if decided else Verdict.FAILS

    @property
    def shown(self) -> str:
        """The values on one line: of numbers the mean, and in brackets the range over seeds; of words on how many seeds."""
        return ", ".join(f"{name} {_over_seeds(values)}" for name, values in self.values.items())

    @property
    def evidence(self) -> str:
        """The share of seeds with its interval, and the values, on one line."""
        _, low, high = self.share
        seeds = f"{self.held} of {self.seeds} seeds [{low:.2f}, {high:.2f}]"
        return f"{seeds}; {self.shown}" if self.values else seeds


def bind(study: Study, claims: Iterable[Claim]) -> None:
    """Asks every query of empty tables, so that one that cannot be answered is found before anything is run."""
    asking.bind(list(study.axes), {called(claim, study): claim.query for claim in claims})


def judge(study: Study, claims: Iterable[Claim], result: Result) -> list[Judged]:
    """Judges those claims all of whose cells have runs, each on the seeds that all these cells have.

    Seeds that change nothing in any of these cells count as one. A seed for which a query's ``holds`` is null counts for nothing:
    runs of other durations, say, may not have what it asks for. A claim is left out if it can be told of no seed.
    """
    wanted = list(claims)
    axes = list(study.axes)
    seeds_of: dict[tuple[str, ...], set[int]] = {}
    for *labels, seed in result.columns("runs", [*axes, SEED]).iter_rows():
        seeds_of.setdefault(tuple(labels), set()).add(seed)
    common = {
        claim.id: set[int].intersection(
            *(seeds_of.get(tuple(cell[axis] for axis in axes), set()) for cell in cells(claim, study))
        )
        for claim in wanted
    }
    wanted = [claim for claim in wanted if common[claim.id]]
    repeated = repetition.labels(result.repeated, axes)
    for claim in wanted:
        if all(tuple(cell[axis] for axis in axes) in repeated for cell in cells(claim, study)):
            common[claim.id] = {min(common[claim.id])}
    with asking.answers(result) as answers:
        judged = [
            _judged(
                claim,
                answers.of(called(claim, study), claim.query, study.sweep.meant("select", claim.select), common[claim.id]),
            )
            for claim in wanted
        ]
    return [each for each in judged if each.seeds]


def frame(judged: Iterable[Judged]) -> pl.DataFrame:
    """The verdicts as a frame: id, claim, source, verdict, held, seeds, evidence; of several backends also backend."""
    judged = list(judged)
    text, number = pl.String(), pl.Int64()
    columns = {"id": text, "claim": text, "source": text, "verdict": text, "held": number, "seeds": number, "evidence": text}
    rows = [
        (each.claim.id, each.claim.claim, each.claim.source, str(each.verdict), each.held, each.seeds, each.evidence)
        for each in judged
    ]
    found = pl.DataFrame(rows, schema=columns, orient="row")
    if any(each.backend for each in judged):
        found = found.with_columns(pl.Series(BACKEND, [each.backend for each in judged], pl.String()))
    return found


def write(path: Path, judged: Iterable[Judged]) -> None:
    """Writes ``claims.csv``."""
    write_whole(path, frame(judged).write_csv)


def _judged(claim: Claim, found: pl.DataFrame) -> Judged:
    values = {name: found[name].drop_nulls().to_list() for name in found.columns if name not in (SEED, HOLDS)}
    known = {name: listed for name, listed in values.items() if listed}
    return Judged(claim, int(found[HOLDS].sum()), found[HOLDS].count(), known)


def _over_seeds(values: Sequence[float] | Sequence[str]) -> str:
    numbers = [value for value in values if not isinstance(value, str)]
    if not numbers:
        words = Counter(map(str, values)).most_common()
        return words[0][0] if len(words) == 1 else " / ".join(f"{word} ({times})" for word, times in words)
    mean, least, most = fmean(numbers), min(numbers), max(numbers)
    return f"{mean:.4g}" + (f" ({least:.4g} to {most:.4g})" if least != most else "")
