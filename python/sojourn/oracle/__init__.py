"""A built-in congestion control beside Linux's module of it: one sequence of events through both, and where they part."""

from sojourn.oracle.kernel import module
from sojourn.oracle.pairs import PAIRS
from sojourn.oracle.parting import Parting, parting
from sojourn.oracle.running import Sequence, run
