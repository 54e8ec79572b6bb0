"""Report cards of algorithms that are deployed, as ``make cards`` made them: for pages, and for the test that asks again."""

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache

from made.results import ROOT

FILE = ROOT / "docs" / "measured" / "cards" / "cards.csv"

#: The algorithms of each suite whose cards are made.
DEPLOYED = {
    "rfc9743": ("newreno", "cubic", "bbr", "bbr3", "prague", "dctcp", "vegas", "westwood", "ledbat", "hybla", "illinois"),
    "rfc7928": ("droptail", "red", "codel", "fq_codel", "pie", "fq_pie", "cake", "dualpi2", "sfq", "sfb", "choke", "ared"),
}


@dataclass(frozen=True)
class Answered:
    """A question of a card."""

    suite: str
    candidate: str
    question: str
    section: str
    verdict: str
    measured: str
    comparators: str
    where: str
    #: What made it.
    command: str
    engine: str


@cache
def recorded() -> list[Answered]:
    """All that was recorded."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return [Answered(**row) for row in csv.DictReader(file)]


def write(answers: Sequence[Answered]) -> None:
    """Writes the file."""
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(Answered.__dataclass_fields__), lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, answers))


def of(suite: str) -> list[list[str]]:
    """A row for each question of a suite: its name, and each candidate's verdict."""
    found = {(each.question, each.candidate): each.verdict for each in recorded() if each.suite == suite}
    questions = dict.fromkeys(question for question, _ in found)
    return [[f"`{question}`", *(found.get((question, name), "") for name in DEPLOYED[suite])] for question in questions]


def headings(suite: str) -> list[str]:
    """The headings of such rows."""
    return ["question", *DEPLOYED[suite]]


def verdict(suite: str, candidate: str, question: str) -> str:
    """What is said of a candidate."""
    (found,) = (
        each.verdict for each in recorded() if (each.suite, each.candidate, each.question) == (suite, candidate, question)
    )
    return found


def engine(suite: str) -> str:
    """What made the cards of a suite."""
    return ", ".join(dict.fromkeys(each.engine for each in recorded() if each.suite == suite))
