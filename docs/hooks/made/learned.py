"""What the policy of examples/learning is worth beside built-in congestion controls, as its program judge.py finds."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from made.results import ROOT, kept

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
