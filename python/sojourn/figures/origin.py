"""Where a figure comes from: the commands that draw it and that made its results, and the order of its axes."""

import shlex
from collections.abc import Mapping, Sequence

from sojourn.analysis.comparison import Results
from sojourn.analysis.result import Result
from sojourn.figures.drawn import Selection, Wishes, chosen_labels
from sojourn.store import Store, provenance
from sojourn.study import library


def command(name: str, results: Results, only: Selection | None, seeds: Sequence[int] | None, wishes: Wishes) -> str:
    """The commands behind a figure, a line each: those that made the results, and the one that draws it."""
    if isinstance(results, Store):
        words = ["sojourn", "plot", str(results.directory), "--figure", name]
        for axis, wanted in (only or {}).items():
            words += [word for label in chosen_labels(wanted) for word in ("--only", f"{axis}={label}")]
        words += [word for seed in seeds or () for word in ("--seed", str(seed))]
        words += ["--x-scale", wishes.x_scale] if wishes.x_scale else []
        words += ["--reverse-delay"] if wishes.reverse_delay else []
        return "\n".join([*(made.command for made in results.provenance), shlex.join(words)])
    return results.command if isinstance(results, Result) else ""


def order(results: Results) -> Mapping[str, Sequence[str]]:
    """The axes and their labels in the order of the study or the scenario file that made the results, where it is known."""
    if isinstance(results, Result):
        return results.order
    made = results.provenance if isinstance(results, Store) else ()
    studies = [each.study for each in made if each.study is not None and library.exists(each.study)]
    return library.load(studies[-1]).axes if studies else provenance.order(made)
