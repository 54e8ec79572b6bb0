"""The atlas: which congestion controls and queue disciplines get along, pair by pair, at landmarks (docs/atlas.md)."""

from sojourn.atlas.landmark import Landmark, available, load
from sojourn.atlas.pairs import ALONE, AXES, BESIDE, DEPLOYED, DISCIPLINES, TCPS, Pair
from sojourn.atlas.rows import NOT_ASKED, Agreement

__all__ = [
    "ALONE",
    "AXES",
    "BESIDE",
    "DEPLOYED",
    "DISCIPLINES",
    "NOT_ASKED",
    "TCPS",
    "Agreement",
    "Landmark",
    "Pair",
    "available",
    "load",
]
