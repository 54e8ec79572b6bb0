"""Whether a search finds more than chance with the same budget: ``python bench/search.py``, about a quarter of an hour.

Both use the same space, the same budget, and the same rule for more seeds (docs/search.md); only who proposes differs. What each
has found is the mean over ten seeds of its best point, before shrinking. A line a target: in how many seeds of the search it
was better, and the medians of what both found.
"""

import argparse
import sys
from contextlib import suppress
from pathlib import Path
from statistics import median

import sojourn
from sojourn.api.searching import PROPOSERS
from sojourn.exploration.hunt import Hunt

#: Fronts have no best point to compare.
TARGETS = [
    file for file in sorted(Path(__file__).parent.parent.glob("examples/search/*.toml")) if "\npareto" not in file.read_text()
]


class Over(Exception):
    """The search is over: what would follow shrinks what it has found, and confirms it."""


def found(target: Path, budget: str, seed: int, jobs: int | None, proposer: str) -> float:
    """The mean of the best point, of which more is better."""
    best = float("-inf")

    def look(hunt: Hunt) -> None:
        nonlocal best
        mean = None if hunt.best is None else hunt.best.mean()
        best = best if mean is None else hunt.aims[0].sign * mean
        if hunt.purse.spent >= hunt.purse.runs:
            raise Over

    with suppress(Over):
        sojourn.search(target, budget=budget, seed=seed, jobs=jobs, proposer=proposer, progress=look)
    return best


def main() -> None:
    """Prints a line a target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", default="150 runs")
    parser.add_argument("--first", type=int, default=0, help="the first seed of the search")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("targets", nargs="*", type=Path, default=TARGETS)
    given = parser.parse_args()
    for target in given.targets:
        both: list[list[float]] = []
        for seed in range(given.first, given.first + given.seeds):
            both.append([found(target, given.budget, seed, given.jobs, proposer) for proposer in PROPOSERS])
            print(f"{target.stem}, seed {seed}: {both[-1][0]:.4g}, by chance {both[-1][1]:.4g}", file=sys.stderr, flush=True)
        better = sum(ours > theirs for ours, theirs in both)
        ours, theirs = (abs(median(each)) for each in zip(*both, strict=True))
        print(f"{target.stem}: better in {better} of {given.seeds} seeds, median {ours:.4g}, by chance {theirs:.4g}", flush=True)


if __name__ == "__main__":
    main()
