"""Programs of one's own behind a router's queue, for tests: a client, a server and the network between them.

import sojourn.programs

network = sojourn.programs.network(rate="20 Mbit/s", delay="20 ms", queue="fq_codel")
outcome = network.run(server="python3 server.py", client="python3 client.py {server}", duration="30 s")
outcome["client"].output
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from sojourn import api, scenario
from sojourn.analysis.result import Result
from sojourn.errors import InputError, RunFailed
from sojourn.store import outputs

__all__ = ["Network", "Outcome", "Program", "Run", "network"]

#: What runs on a host: a command, the keys of a program in a scenario, or several of these.
Run = str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]]

#: The hosts, and the rate of the links to them, which are no bottleneck.
SERVER, CLIENT, _FAST = "server", "client", "1 Gbit/s"

#: Characters of a program's output, and of its errors, that the error of a run has.
_MOST_NOTED = 4_000

#: Frames that an outcome may be asked for.
_FRAMES = ("runs", "groups", "flows", "queues", "transfers", "series", "programs")


@dataclass(frozen=True)
class Program:
    """What became of a program."""

    name: str
    host: str
    #: What it wrote to its standard output and its standard error.
    output: str
    errors: str
    #: Its exit status; none if a signal ended it, or if it had not ended.
    status: int | None
    #: The name of the signal that ended it.
    signal: str | None
    #: When it started and when it ended, in s of the network's time.
    start: float
    end: float | None
    #: Whether the end of the run ended it.
    stopped: bool
    #: The files that were to be kept, by their paths.
    files: Mapping[str, bytes]


class Outcome(Mapping[str, Program]):
    """What came out of a run: its programs by name, and all frames of its network.

    Attributes:
        result: the run's frames, as ``sojourn.run`` returns them.
    """

    def __init__(self, result: Result, programs: Mapping[str, Program]) -> None:
        self.result = result
        self._programs = programs

    def __getitem__(self, name: str) -> Program:
        return self._programs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._programs)

    def __len__(self) -> int:
        return len(self._programs)

    def __repr__(self) -> str:
        return f"Outcome({', '.join(map(repr, self._programs.values()))})"

    @property
    def flows(self) -> pl.DataFrame:
        """A row for each connection or flow of datagrams that programs made."""
        return self.result.flows

    @property
    def queues(self) -> pl.DataFrame:
        """A row for each link with a queue."""
        return self.result.queues


@dataclass(frozen=True)
class Network:
    """A network whose hosts run programs.

    Attributes:
        table: the tables and keys of its scenario, without what each run says.
    """

    table: Mapping[str, Any]

    def run(
        self,
        programs: Mapping[str, Run] | None = None,
        /,
        *,
        duration: str,
        seed: int = 1,
        folder: str | Path = ".",
        backend: str = "linux",
        **on_hosts: Run,
    ) -> Outcome:
        """Runs programs on the network's hosts until its duration is over, in virtual time on a real Linux kernel.

        Args:
            programs: what runs, by hosts, for those whose names are no keywords.
            duration: how long the network exists; what has not ended then is ended. Time in which nothing happens costs nothing.
            seed: the same seed gives the same run, and the kernel's random numbers.
            folder: what programs see as their current folder, which they cannot change.
            backend: the kernel, such as ``linux:7.3`` where several are built.
            on_hosts: what runs, by hosts: a command, a table of ``[[programs]]`` such as ``{"run": "...", "expect": "any"}``, or
                a list of these. ``{server}`` in a command is the address of the host ``server``.

        Raises:
            InputError: the network, a command or the kernel will not do.
            RunFailed: a program did not start, or ended otherwise than with status 0 or what it was to ``expect``; the
                error's notes have what programs wrote last.
        """
        started = [
            {"name": host, **program, "at": host}
            for host, asked in {**(programs or {}), **on_hosts}.items()
            for program in _tables(asked)
        ]
        data = {"name": "programs", **self.table, "duration": duration, "seed": seed, "programs": started}
        made = scenario.from_data(data, "network", Path(folder))
        with TemporaryDirectory(prefix="sojourn-") as out:
            try:
                result = api.run(made, out=Path(out) / "results", backend=backend)
            except RunFailed as failed:
                # The folder is about to go.
                failed.folder, folder_of_files = None, failed.folder
                if folder_of_files is not None:
                    _note(failed, folder_of_files)
                raise
            # The files are about to go, from which frames are read when they are first asked for.
            for name in _FRAMES:
                result.frame(name)
            return Outcome(result, dict(_programs(result.programs, Path(out) / "results")))


def network(
    scenario: Mapping[str, Any] | None = None,
    /,
    *,
    rate: str | None = None,
    delay: str | None = None,
    queue: str | Mapping[str, Any] = "fq_codel",
) -> Network:
    """A network to run programs on: ``server`` and ``client``, each behind a router, and the bottleneck between the routers.

    Args:
        scenario: the tables of a scenario file, such as ``{"network": {...}}``, for other networks than that of the following.
        rate: that of the bottleneck, in both directions.
        delay: of the bottleneck, one way: half the round-trip time.
        queue: its discipline towards the client: a name, or a table such as ``{"name": "codel", "target": "5 ms"}``.
    """
    if scenario is not None:
        if rate is not None or delay is not None:
            raise InputError("network: give either a scenario, or rate and delay")
        return Network(scenario)
    if rate is None or delay is None:
        raise InputError("network: rate and delay are needed")
    near = {"rate": _FAST, "delay": "0 s"}
    bottleneck = {"rate": rate, "delay": delay, "queue": queue}
    dumbbell = {"senders": [{"name": SERVER, **near}], "receivers": [{"name": CLIENT, **near}], "bottleneck": bottleneck}
    return Network({"network": {"dumbbell": dumbbell}})


def _note(failed: RunFailed, folder: Path) -> None:
    """Adds to an error what programs wrote last."""
    for path in sorted(folder.glob("*/*")):
        if path.is_file():
            text = path.read_text("utf-8", "replace")[-_MOST_NOTED:]
            failed.add_note(f"{path.relative_to(folder)}:\n{text}")


def _tables(asked: Run) -> list[Mapping[str, Any]]:
    """The tables of a host's programs."""
    several = [asked] if isinstance(asked, str | Mapping) else asked
    return [{"run": each} if isinstance(each, str) else each for each in several]


def _programs(rows: pl.DataFrame, out: Path) -> Iterator[tuple[str, Program]]:
    """The programs of a run by their names; of those that share one the second has a 2 after it, and so on."""
    seen: Counter[str] = Counter()
    for row in rows.iter_rows(named=True):
        name = row["name"]
        seen[name] += 1
        kept = [path for path in outputs.folder(out, row["key"]).glob(f"{row['program']}-*/files/**/*") if path.is_file()]
        files = {"/".join(path.relative_to(out).parts[4:]): path.read_bytes() for path in sorted(kept)}
        told = {key: row[key] for key in ("name", "host", "output", "errors", "status", "signal", "start", "end", "stopped")}
        yield name if seen[name] == 1 else f"{name} {seen[name]}", Program(**told, files=files)
