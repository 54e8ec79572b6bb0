"""Backends: functions from one fully specified run to one result.

Nothing outside a backend may know how a run was made.
"""

from typing import Protocol

from sojourn.backends.result import RunResult
from sojourn.specification import RunSpecification


class Backend(Protocol):
    """Something that can carry out a run. Its methods may be called from several threads at once."""

    def check(self, run: RunSpecification) -> None:
        """Looks at a run without carrying it out.

        Raises:
            InputError: the specification makes no sense.
        """
        ...

    def run(self, run: RunSpecification) -> RunResult:
        """Carries out one run.

        Raises:
            InputError: the specification makes no sense.
            RunFailed: the run could not be finished.
            RunCancelled: ``cancel`` was called.
        """
        ...

    def cancel(self) -> None:
        """Makes all present and later runs of this backend end soon with ``RunCancelled``."""
        ...
