"""Whether a search finds more than chance with the same budget: ``python bench/search.py``, about a quarter of an hour.

Both use the same space, the same budget, and the same rule for more seeds (docs/search.md); only who proposes differs. What each
has found is the mean over ten seeds of its best point, before shrinking. A line a target: in how many seeds of the search it
was better, and the medians of what both found.
"""

import argparse
from pathlib import Path
from statistics import median

import sojourn
from sojourn.exploration.finding import Finding

TARGETS = sorted(Path(__file__).parent.parent.glob("examples/search/*.toml"))


def found(of: Finding) -> float:
    """The mean of the best point, of which more is better."""
    mean = None if of.best is None else of.best.mean()
    return float("-inf") if mean is None else of.aims[0].sign * mean


def main() -> None:
    """Prints a line a target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", default="150 runs")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("targets", nargs="*", type=Path, default=TARGETS)
    given = parser.parse_args()
    for target in given.targets:
        by = {
            proposer: [
                found(sojourn.search(target, budget=given.budget, seed=seed, jobs=given.jobs, proposer=proposer))
                for seed in range(given.seeds)
            ]
            for proposer in ("evolving", "evenly")
        }
        better = sum(ours > theirs for ours, theirs in zip(by["evolving"], by["evenly"], strict=True))
        ours, theirs = (abs(median(each)) for each in by.values())
        print(f"{target.stem}: better in {better} of {given.seeds} seeds, median {ours:.4g}, by chance {theirs:.4g}", flush=True)


if __name__ == "__main__":
    main()
