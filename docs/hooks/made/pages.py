"""The pages of the project, and what expressions in them may use."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import takewhile
from pathlib import Path
from textwrap import dedent
from typing import Any

import registry_tables
from made import atlas, behaviour, benchmark, cards, history, learned, packetdrill
from made.markers import Made, made
from made.records import Campaign, Record
from made.results import ROOT, code, output, refusal, results
from made.sources import source
from prose import table
from sojourn import catalogue, statistics
from sojourn.digits import of_interval


@dataclass
class Page:
    """A file in Markdown, with the pictures that it makes."""

    path: Path
    records: Mapping[str, Record]
    pictures: dict[Path, bytes] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its place in the project."""
        return str(self.path.relative_to(ROOT))

    def made(self) -> Made:
        """The page made again; meanwhile ``pictures`` gets what is drawn."""
        own = {"measured": self._measured, "picture": self._picture, "block": self._block}
        return made(self.path.read_text(encoding="utf-8"), {**_names(), **own})

    def _measured(self, name: str, campaign: str = "main") -> Campaign:
        """A campaign that takes long, by the folder of its record."""
        return self.records[name].campaigns[campaign]

    def _block(self, beginning: str) -> str:
        """The indented block of the page with this beginning."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        block = takewhile(lambda line: not line or line.startswith("    "), lines[lines.index(f"    {beginning}") :])
        return dedent("\n".join(block)).strip("\n") + "\n"

    def _picture(self, path: str, drawn: bytes, text: str) -> str:
        """A picture, with the text for those who do not see it."""
        self.pictures[ROOT / path] = drawn
        return f"![{text}]({os.path.relpath(ROOT / path, self.path.parent)})"


def pages() -> list[Path]:
    """All files in Markdown whose numbers are made."""
    patterns = ("*.md", "docs/*.md", "docs/decisions/*.md", "studies/*/README.md")
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


@cache
def _names() -> Mapping[str, Any]:
    return {
        "results": results,
        "output": output,
        "refusal": refusal,
        "code": code,
        "source": source,
        "rows": rows,
        "digits": digits,
        "spread": spread,
        "mean": mean,
        "of_interval": of_interval,
        "percent": percent,
        "catalogue": catalogue.load(),
        "packetdrill": packetdrill,
        "behaviour": behaviour,
        "benchmark": benchmark,
        "cards": cards,
        "atlas": atlas,
        "history": history,
        "judged": learned.judged,
        "carded": learned.carded,
        "registry": lambda name: registry_tables.TABLES[name](),
    }


def rows(headings: Sequence[str], found: Sequence[Sequence[Any]]) -> str:
    """A table; a heading that ends with a colon is of a column aligned to the right, and no value is an empty cell."""
    return table(headings, (["" if value is None else str(value) for value in row] for row in found))


def digits(value: float, places: int = 1) -> str:
    """A number with so many decimal places."""
    return f"{value:,.{places}f}"


def percent(part: float, whole: float = 1, places: int = 0) -> str:
    """A share in per cent."""
    return f"{100 * part / whole:.{places}f}"


def mean(values: Sequence[float], places: int = 1) -> str:
    """The mean of independent repetitions and half its interval, as tables of results show them.

    ``places`` are those of repetitions that are all alike.
    """
    found = statistics.estimate(values)
    assert found.high is not None
    half = found.high - found.mean
    return " ± ".join(of_interval(found.mean, half=half) or (digits(found.mean, places), digits(half, places)))


def spread(values: Sequence[float], places: int = 1) -> str:
    """The least and the greatest of some numbers; one number if they are printed alike."""
    least, most = digits(min(values), places), digits(max(values), places)
    return least if least == most else f"{least} to {most}"
