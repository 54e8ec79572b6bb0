"""How the claims of a paper fare together, in numbers and on one line."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from sojourn.study.verdicts import LEAST_SEEDS, Judged, Verdict


@dataclass(frozen=True)
class Tally:
    """How many claims, of at least one, have each verdict, and how many are true on most of their seeds."""

    verdicts: Mapping[Verdict, int]
    mostly_true: int
    #: Of the claim with the fewest seeds and of the one with the most; 0 without claims.
    fewest_seeds: int
    most_seeds: int

    @classmethod
    def of(cls, judged: Iterable[Judged]) -> Self:
        """Counts judged claims."""
        return cls.counted((each.verdict, each.held, each.seeds) for each in judged)

    @classmethod
    def counted(cls, claims: Iterable[tuple[Verdict, int, int]]) -> Self:
        """Counts claims by verdict, on how many seeds each is true, and of how many."""
        found = list(claims)
        verdicts = [verdict for verdict, _, _ in found]
        seeds = [of for _, _, of in found]
        return cls(
            verdicts={verdict: verdicts.count(verdict) for verdict in Verdict},
            mostly_true=sum(2 * held > of for _, held, of in found),
            fewest_seeds=min(seeds, default=0),
            most_seeds=max(seeds, default=0),
        )

    @property
    def claims(self) -> int:
        """How many there are."""
        return sum(self.verdicts.values())

    @property
    def is_early(self) -> bool:
        """Whether no claim has the seeds that a verdict takes."""
        return self.most_seeds < LEAST_SEEDS

    @property
    def true_on(self) -> str:
        """The seeds on which ``mostly_true`` claims are true: ``true on this one seed``."""
        if self.most_seeds == 1:
            return "true on this one seed"
        return f"true on most of {'these' if self.fewest_seeds == self.most_seeds else 'their'} {self._seeds}"

    @property
    def line(self) -> str:
        """What the claims come to. Before a verdict is possible, how many are true so far, and how many seeds a verdict takes."""
        if self.is_early:
            return f"{self.mostly_true} of {self._claims} {self.true_on}; a verdict takes {LEAST_SEEDS} seeds"
        hold, fail, undecided = (self.verdicts[verdict] for verdict in (Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED))
        line = f"{self._claims} on {self._seeds}: {hold} hold, {fail} fail, {undecided} undecided"
        if self.fewest_seeds < LEAST_SEEDS:
            line += f" (a verdict takes {LEAST_SEEDS} seeds)"
        return line

    @property
    def _claims(self) -> str:
        return f"{self.claims} {'claim' if self.claims == 1 else 'claims'}"

    @property
    def _seeds(self) -> str:
        least, most = self.fewest_seeds, self.most_seeds
        number = f"{most}" if least == most else f"{least} to {most}"
        return f"{number} {'seed' if most == 1 else 'seeds'}"
