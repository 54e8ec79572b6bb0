"""What the policy of examples/learning is worth beside built-in controls, as its program judge.py finds, and its report card."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from made.results import ROOT, kept
from sojourn import api
from sojourn.suite import words
from sojourn.suite.card import Card

#: The example.
FOLDER = ROOT / "examples" / "learning"


@dataclass(frozen=True)
class Judged:
    """The rewards of the policy and of a built-in control, episode by episode."""

    own: Sequence[float]
    other: Sequence[float]

    @property
    def better(self) -> int:
        """In how many episodes the policy has the greater reward."""
        return sum(own > other for own, other in zip(self.own, self.other, strict=True))


@dataclass(frozen=True)
class Carded:
    """The report card of the policy."""

    card: Card

    def count(self, verdict: str) -> int:
        """How many questions have a verdict."""
        return sum(row.verdict == verdict for row in self.card.rows)

    def all(self, verdict: str, *questions: str) -> bool:
        """Whether these questions have a verdict."""
        return {row.verdict for row in self.card.rows if row.id in questions} == {verdict}

    def of(self, verdict: str) -> list[list[str]]:
        """A row for each question of a verdict: what was asked, and what was found of the policy, of others, and where."""
        return [
            [
                f"{row.question} (`{row.id}`)",
                words.number(row, found.candidate),
                words.comparators(row, found),
                words.where(found),
            ]
            for row in self.card.rows
            if row.verdict == verdict and (found := row.deciding)
        ]


@cache
def carded() -> Carded:
    """The policy's quick card."""
    return Carded(Card.model_validate_json(kept("learned-card.json", _asked)))


def _asked() -> str:
    return api.ask(api.plan_evaluation(FOLDER / "policy.json", quick=True)).model_dump_json()


@cache
def judged(against: str) -> Judged:
    """The policy beside a built-in congestion control, in the episodes of held-out.toml."""
    return Judged(*json.loads(kept(f"learned-{against}.json", lambda: _made(against))))


def _made(against: str) -> str:
    sys.path.insert(0, str(FOLDER))
    try:
        from judge import judged as found  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(FOLDER))
    return json.dumps([rewards.tolist() for rewards in found(FOLDER / "policy.json", against)])
