"""The packet-level simulator as a backend."""

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn import _engine, specification
from sojourn.backends.backend import CONNECTIONS, MOMENT_FLOWS, MOMENT_QUEUES, Moment
from sojourn.backends.identity import Identity
from sojourn.backends.result import FRAMES, RECORDED, RunResult, RunResults, frame
from sojourn.errors import PANIC, InputError, RunCancelled, RunFailed
from sojourn.plugins.source import AGENT, LINUX
from sojourn.scenario.given import Given
from sojourn.specification import RunSpecification
from sojourn.units import PICOSECONDS

if TYPE_CHECKING:
    from sojourn.plugins.loading import Loaded
    from sojourn.plugins.processes import Worker

#: The compiled engine: its digest is that of its sources when it was built.
IDENTITY = Identity("simulator", _engine.version(), _engine.digest())

#: Events handled at one go, some hundredths of a second: an interrupt waits no longer.
EVENTS_AT_ONCE = 20_000

#: States of connections that are handed over at one go.
ROWS_AT_ONCE = 10_000


class Simulator:
    """Runs in the compiled engine, which lets other Python threads run meanwhile.

    A run with plugins is carried out by another process: what crashes there is this run alone.
    """

    def __init__(self) -> None:
        self._cancellation = _engine.Cancellation()
        #: Processes that carry out runs now; none is added once the backend is cancelled.
        self._busy: set[Worker] = set()
        self._is_cancelled = False
        self._lock = threading.Lock()

    @property
    def identity(self) -> Identity:
        """See ``Backend.identity``."""
        return IDENTITY

    def check(self, run: RunSpecification, given: Given, /) -> None:
        """See ``Backend.check``: it can do all that a scenario can say except disciplines of Linux; the engine finds nonsense."""
        self.check_text(run, specification.text(run), given)

    def check_text(self, run: RunSpecification, text: str, given: Given, /) -> int:
        """See ``CheckingTexts.check_text``."""
        for link in run["links"]:
            if link["queue"] is not None and "plugin" in link["queue"]:
                plugin = run["plugins"][link["queue"]["plugin"]]
                if plugin["language"] == LINUX:
                    key = next((key for key in given.keys if key.endswith("queue.linux")), "queue.linux")
                    raise InputError(f"{key}: only a kernel that was built with {plugin['file']} runs it: --backend linux:NAME")
        for plugin in run.get("plugins", ()):
            if plugin["language"] == AGENT and plugin["agent"]["decider"] == "environment":
                key = next((key for key in given.keys if key.endswith(".agent")), "agent")
                raise InputError(
                    f'{key}: it waits for an environment (sojourn.environment); give "policy" or "actions" to run it alone'
                )
        if "programs" in run:
            raise InputError("programs: they run on a real kernel only: --backend linux")
        with complaints():
            return _engine.check(text)

    def run(self, run: RunSpecification, /) -> RunResult:
        """Simulates one run; see ``Backend.run``."""
        if has_own_code(run):
            return result_of(self._elsewhere(run))
        with complaints():
            tables = _engine.run(specification.text(run), self._cancellation)
        return result_of(tables)

    def run_all(self, runs: Sequence[str], /) -> RunResults:
        """See ``Batching.run_all``."""
        with complaints():
            tables = _engine.run_all(runs, self._cancellation)
        return RunResults(
            frames={name: frame(tables[name], columns) for name, columns in FRAMES.items()},
            heights=tables["rows"],
            **tables["summary"],
        )

    def _elsewhere(self, run: RunSpecification) -> Mapping[str, Mapping[str, Any]]:
        """What the engine of another process finds."""
        from sojourn.plugins import processes, worker

        taken: list[Worker] = []

        def take(process: "Worker") -> None:
            taken.append(process)
            with self._lock:
                self._busy.add(process)
                if self._is_cancelled:
                    process.kill()

        try:
            request = (worker.RUN, processes.PATIENCE, specification.text(run), run["plugins"], processes.RUN.get())
            answer, found, *_ = processes.ask(request, take)
        except processes.Crashed as crashed:
            if self._is_cancelled:
                raise RunCancelled("the run was cancelled") from None
            files = ", ".join(plugin["file"] for plugin in run["plugins"])
            raise RunFailed(f"{files}: {crashed}") from None
        finally:
            with self._lock:
                self._busy.difference_update(taken)
        if answer == worker.OK:
            tables: Mapping[str, Mapping[str, Any]] = found
            return tables
        raise InputError(found) if answer == worker.WRONG else RunFailed(found)

    def memory(self, run: RunSpecification, /) -> int:
        """See ``Estimating.memory``."""
        with complaints():
            return _engine.memory(specification.text(run))

    def cancel(self) -> None:
        """See ``Backend.cancel``."""
        self._cancellation.cancel()
        with self._lock:
            self._is_cancelled = True
            for process in self._busy:
                process.kill()

    def step(self, run: RunSpecification, /) -> "SimulatedSteps":
        """See ``Stepping.step``."""
        return SimulatedSteps(run)

    def capture(self, run: RunSpecification, link: int, path: Path, comment: str, /) -> int:
        """See ``Recording.capture``."""
        with complaints():
            return _engine.capture(specification.text(run), link, str(path), comment, _loaded(run))

    def connections(self, run: RunSpecification, interval: int, /) -> Iterator[pl.DataFrame]:
        """See ``Recording.connections``."""
        with complaints():
            under_way = _engine.Connections(specification.text(run), interval, _loaded(run))
        while True:
            with complaints():
                columns = under_way.take(ROWS_AT_ONCE)
            if columns is None:
                return
            yield pl.DataFrame(columns, schema=CONNECTIONS)


class SimulatedSteps:
    """A simulation that advances in strides; see ``SteppedRun``.

    Raises:
        InputError: the specification makes no sense.
    """

    def __init__(self, run: RunSpecification) -> None:
        with complaints():
            self._engine = _engine.Stepping(specification.text(run), _loaded(run))
        self._end = run["duration"]
        #: Of what inner states are asked for.
        self._asked = [kind for kind in ("queue", "flow") if run["probe"].get(f"{kind}_state")]

    def moments(self, interval: int) -> Iterator[Moment]:
        """See ``SteppedRun.moments``."""
        while self._engine.now < self._end:
            until = min((self._engine.now // interval + 1) * interval, self._end)
            with complaints():
                while not self._engine.advance(until, EVENTS_AT_ONCE):
                    pass
            yield self._look()

    def _look(self) -> Moment:
        queues, flows = (
            pl.DataFrame(columns, schema=kinds)
            for columns, kinds in ((self._engine.queues(), MOMENT_QUEUES), (self._engine.flows(), MOMENT_FLOWS))
        )
        if not self._asked:
            return Moment(self._engine.now / PICOSECONDS, queues, flows)
        states = pl.DataFrame(self._engine.states(), schema=RECORDED).filter(pl.col("kind").is_in(self._asked))
        return Moment(self._engine.now / PICOSECONDS, queues, flows, states)

    def result(self) -> RunResult:
        """See ``SteppedRun.result``."""
        with complaints():
            return result_of(self._engine.finish())


def has_own_code(run: RunSpecification) -> bool:
    """Whether code of the user's own runs in a run; agents have none."""
    return any(plugin["language"] != AGENT for plugin in run.get("plugins", ()))


def _loaded(run: RunSpecification) -> "list[Loaded] | None":
    """The user's files of a run, for one that goes on in this process.

    Raises:
        InputError: one cannot be loaded.
    """
    if not has_own_code(run):
        return None
    from sojourn.plugins.loading import load_all

    try:
        return load_all(run["plugins"])
    except ValueError as error:
        raise InputError(str(error)) from None


@contextlib.contextmanager
def complaints() -> Iterator[None]:
    """Turns what the engine complains of into what ``Backend.run`` raises."""
    try:
        yield
    except _engine.SpecificationError as error:
        raise InputError(str(error)) from None
    except _engine.Cancelled:
        raise RunCancelled("the run was cancelled") from None
    except _engine.PluginFailed as error:
        raise RunFailed(str(error)) from None
    except MemoryError as error:
        raise RunFailed(str(error) or "out of memory") from None
    except (InputError, OSError):
        raise
    except Exception as error:
        raise RunFailed(str(error)) from error
    except BaseException as error:
        if type(error).__name__ == PANIC:
            raise RunFailed(f"the simulator found a broken invariant: {error} ({_engine.panicked_at()})") from None
        raise


def result_of(tables: Mapping[str, Mapping[str, Any]]) -> RunResult:
    """The engine's columns as frames."""
    summary = tables["summary"]
    frames: dict[str, Any] = {name: frame(tables[name], columns) for name, columns in FRAMES.items()}
    return RunResult(**frames, events=summary["events"], data_packets_delivered=summary["data_packets_delivered"])
