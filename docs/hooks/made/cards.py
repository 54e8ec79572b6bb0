"""Report cards of algorithms that are deployed, as ``make cards`` made them: for pages, and for the test that asks again.

Modules of Linux are not kept here, since their licence is another; their cards say which file was evaluated.
"""

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
class Module:
    """A file of a congestion control for Linux: where it is from, what it holds, and which suite asks it."""

    repository: str
    commit: str
    sha256: str
    suite: str
    #: A file of Sojourn that is to stand beside it, if it is asked of its inner state.
    shows: str | None = None


#: The modules of Linux whose cards are made where the files are at hand, by the files' names.
MODULES = {
    "tcp_copa.c": Module(
        "https://github.com/Aruuni/copa-kernel",
        "15653f0671e2b11844d33b78edee219e148d6c66",
        "3b7e217deeab0acf628e7c6d3c0d7105b9b580b227d10302f16c251a3eb9a0cd",
        "rfc9743",
    ),
    "tcp_bbr.c": Module(
        "https://github.com/google/bbr",
        "001a430b3ddbbc6d9173061a74d8b580c757b91b",
        "44155c299d5056df71c1fc96aa466f31f34c915dddc0cdfcc2d5092cf395eb02",
        "bbr-draft",
        "suites/bbr-draft/tcp_bbr.shows.c",
    ),
}

#: The suites of cards.
SUITES = tuple(dict.fromkeys((*DEPLOYED, *(module.suite for module in MODULES.values()))))


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
    commit: str


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
    return [[f"`{question}`", *(found.get((question, name), "") for name in candidates(suite))] for question in questions]


def headings(suite: str) -> list[str]:
    """The headings of such rows."""
    return ["question", *(f"[`{name}`]({place(name)})" if name in MODULES else name for name in candidates(suite))]


def place(candidate: str) -> str:
    """Where the page of a candidate is in the site."""
    return f"cards/{candidate.removesuffix('.c')}.md"


def candidates(suite: str) -> list[str]:
    """Whose cards there are by a suite: those that are deployed, then modules of Linux."""
    recorded_of = dict.fromkeys(each.candidate for each in recorded() if each.suite == suite)
    return [*DEPLOYED.get(suite, ()), *(name for name in recorded_of if name in MODULES)]


def card(suite: str, candidate: str) -> list[Answered]:
    """The card of a candidate, a row for each question."""
    return [each for each in recorded() if (each.suite, each.candidate) == (suite, candidate)]


def verdict(suite: str, candidate: str, question: str) -> str:
    """What is said of a candidate."""
    (found,) = (each.verdict for each in card(suite, candidate) if each.question == question)
    return found


def engine(suite: str) -> str:
    """What made the cards of a suite, and the commit that it was built from."""
    return ", ".join(dict.fromkeys(f"{each.engine} of commit {each.commit}" for each in recorded() if each.suite == suite))
