"""The packet-level simulator as a backend."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from sojourn import _engine, specification
from sojourn.backends.result import FLOW_SERIES, FLOWS, QUEUE_SERIES, QUEUES, RunResult, frame
from sojourn.errors import InputError, RunCancelled, RunFailed
from sojourn.specification import RunSpecification


class Simulator:
    """Runs in the compiled engine, which lets other Python threads run meanwhile."""

    def __init__(self) -> None:
        self._cancellation = _engine.Cancellation()

    def check(self, run: RunSpecification) -> None:
        """See ``Backend.check``: the engine builds the whole simulation, then finds that it has been cancelled."""
        cancelled = Simulator()
        cancelled.cancel()
        with contextlib.suppress(RunCancelled):
            cancelled.run(run)

    def run(self, run: RunSpecification) -> RunResult:
        """Simulates one run; see ``Backend.run``."""
        with complaints():
            tables = self._call(specification.text(run))
        return result_of(tables)

    def _call(self, run: str) -> dict[str, dict[str, Any]]:
        """The engine alone: from a specification's text to columns; the benchmark times it."""
        return _engine.run(run, self._cancellation)

    def cancel(self) -> None:
        """See ``Backend.cancel``."""
        self._cancellation.cancel()


@contextlib.contextmanager
def complaints() -> Iterator[None]:
    """Turns what the engine complains of into what ``Backend.run`` raises."""
    try:
        yield
    except _engine.SpecificationError as error:
        raise InputError(str(error)) from None
    except _engine.Cancelled:
        raise RunCancelled("the run was cancelled") from None
    except Exception as error:
        raise RunFailed(str(error)) from error
    except BaseException as error:
        # A panic in the engine arrives as an exception outside the Exception tree.
        if type(error).__name__ == "PanicException":
            raise RunFailed(f"the simulator stopped on a broken invariant: {error}") from error
        raise


def result_of(tables: Mapping[str, Mapping[str, Any]]) -> RunResult:
    """The engine's columns as frames."""
    summary = tables["summary"]
    return RunResult(
        flows=frame(tables["flows"], FLOWS),
        queues=frame(tables["queues"], QUEUES),
        queue_series=frame(tables["queue_series"], QUEUE_SERIES),
        flow_series=frame(tables["flow_series"], FLOW_SERIES),
        events=summary["events"],
        data_packets_delivered=summary["data_packets_delivered"],
    )
