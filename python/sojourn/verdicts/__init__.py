"""Verdicts on a pair under a condition: whether a congestion control and a queue get along (docs/verdicts.md)."""

from sojourn.verdicts.definitions import Definition, definitions, shared_views
from sojourn.verdicts.judging import Answer, Judged, frame, judge

__all__ = ["Answer", "Definition", "Judged", "definitions", "frame", "judge", "shared_views"]
