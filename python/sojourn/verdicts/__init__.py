"""Verdicts on a pair under a condition: whether a congestion control and a queue get along (docs/verdicts.md)."""

from sojourn.verdicts.definitions import Definition, definitions, shared_views
from sojourn.verdicts.judging import Answer, Judged, Observed, frame, judge, observe

__all__ = ["Answer", "Definition", "Judged", "Observed", "definitions", "frame", "judge", "observe", "shared_views"]
