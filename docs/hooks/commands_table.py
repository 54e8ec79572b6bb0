"""Which function or method does what a command does: ``registry("commands")`` in a page (write-a-number.md)."""

from collections.abc import Mapping
from dataclasses import dataclass

from prose import table


@dataclass(frozen=True)
class Pair:
    """What to call instead of a command."""

    #: Functions and methods, by their names in ``sojourn``; none of a command that Python has no use for.
    calls: tuple[str, ...]
    #: What they return, or why there is none.
    about: str


#: By the names of commands, in the order of ``sojourn --help``.
PAIRS: Mapping[str, Pair] = {
    "demo": Pair(("demo",), "a result"),
    "run": Pair(("run", "sweep"), "a result; `sweep` is `--vary`, and makes what `run` and `plan` take"),
    "plan": Pair(("plan",), "frames: what is to be run, and the axes"),
    "check": Pair(("check",), "a frame: what is valid"),
    "new": Pair(("new",), "the paths of the files"),
    "reproduce": Pair(("reproduce",), "a result, with `cells` and `claims` as frames"),
    "linux": Pair((), 'sets a machine up, once; `run` with `backend="linux"` uses it'),
    "watch": Pair((), "draws on a terminal while a run goes on; `plot` draws the series afterwards"),
    "lab": Pair((), "opens a page in a browser"),
    "shell": Pair((), "needs a terminal"),
    "report": Pair(("Result.report", "Store.report", "Reproduction.report"), "the path of the page"),
    "plot": Pair(("Result.plot", "Store.plot"), "an Altair chart"),
    "query": Pair(("Result.query", "Store.query"), "a frame"),
    "export": Pair(("export",), "the path; of `tcp-info` also a frame"),
    "list": Pair(("list",), "a frame"),
    "describe": Pair(("describe",), "frames"),
    "evaluate": Pair(("evaluate",), "a frame: a row a question"),
    "verdicts": Pair(("Result.verdicts", "Store.verdicts"), "a frame: a row a cell and verdict"),
    "search": Pair(("search",), "the finding, with `points` as a frame"),
    "range": Pair(("find_range",), "the range, with `borders` as a frame"),
    "atlas": Pair(("find_atlas",), "a frame: a row a pair and verdict"),
    "compare": Pair(("Result.compare", "Store.compare"), "a frame: a row a metric"),
    "claims": Pair(("Reproduction.claims", "Store.claims"), "a frame: a row a claim"),
    "schema": Pair(("schema",), "a dictionary"),
    "oracle": Pair((), "is a tool for development"),
    "packetdrill": Pair((), "is a tool for development"),
    "bench": Pair((), "is a tool for development"),
}


def commands() -> str:
    """A row a command."""
    return table(
        ("command", "in Python", "returns"),
        (
            [
                f"`sojourn {name}`",
                ", ".join(map(_called, pair.calls)) or "none",
                pair.about if pair.calls else f"It {pair.about}.",
            ]
            for name, pair in PAIRS.items()
        ),
    )


def _called(name: str) -> str:
    return f"`{name}`" if "." in name else f"`sojourn.{name}`"
