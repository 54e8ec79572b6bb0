"""Start-up: the user CPU time of commands that do little more than start, relative to importing what every command needs.

A ratio does not depend on the machine, and hardly on its load: each command is timed right after the imports that it is compared
with.
"""

import resource
import shutil
import statistics
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sojourn.bench import process
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target
from sojourn.errors import InputError

#: Rounds of the standard benchmark, besides a first one that is not counted: it reads the files from disk.
ROUNDS = 15

PYTHON, SOJOURN = "python", "sojourn"


@dataclass(frozen=True)
class Command:
    """A command, and the greatest ratio of its time to the reference's that is wanted.

    The first of ``words`` is ``PYTHON`` or ``SOJOURN``.
    """

    name: str
    words: list[str]
    target: float
    environment: Mapping[str, str] = field(default_factory=dict)


REFERENCE = Command("imports", [PYTHON, "-c", "import click, rich.table"], 1.0)

#: What bash asks for when Tab is pressed after "sojourn ".
TAB = {"_SOJOURN_COMPLETE": "bash_complete", "COMP_WORDS": "sojourn ", "COMP_CWORD": "1"}

COMMANDS = [
    Command("sojourn --version", [SOJOURN, "--version"], 2.0),
    Command("sojourn --help", [SOJOURN, "--help"], 2.0),
    Command("sojourn list tcp", [SOJOURN, "list", "tcp"], 3.0),
    Command("sojourn describe codel", [SOJOURN, "describe", "codel"], 3.0),
    Command("import sojourn", [PYTHON, "-c", "import sojourn"], 5.0),
    Command("Tab completion", [SOJOURN], 2.0, TAB),
]


def measure(extent: Extent, notify: Notify) -> Part:
    """Times each command and the reference in turn; a ratio is the median over the rounds."""
    rounds = max(1, round(ROUNDS * min(1.0, extent.scale)))
    pairs: dict[str, list[tuple[float, float]]] = {command.name: [] for command in COMMANDS}
    for turn in range(rounds + 1):
        notify(f"start-up: {turn} of {rounds}" if turn > 0 else "start-up: a round that is not counted")
        for command in COMMANDS:
            pairs[command.name].append((user_seconds(REFERENCE), user_seconds(command)))
    rows: list[Row] = []
    measurements: list[Measurement] = []
    for command in COMMANDS:
        references, times = zip(*pairs[command.name][1:], strict=True)
        ratio = statistics.median(time / reference for time, reference in zip(times, references, strict=True))
        rows.append(
            {
                "command": command.name,
                "user_cpu_milliseconds": 1e3 * statistics.median(times),
                "imports_user_cpu_milliseconds": 1e3 * statistics.median(references),
                "ratio": ratio,
            }
        )
        measurements.append(Measurement(command.name, ratio, "times imports", Target("at most", command.target)))
    return Part(
        title="Start-up: user CPU time relative to that of Python importing click and rich.table",
        method=f"Each command and the imports in turn; medians of {rounds} rounds, after one that is not counted.",
        measurements=measurements,
        rows=rows,
    )


def user_seconds(command: Command) -> float:
    """User CPU seconds of a command."""
    program, *arguments = command.words
    path = sys.executable if program == PYTHON else sojourn()
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    process.output(command.name, [path, *arguments], environment=command.environment)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def sojourn() -> str:
    """The path of the command ``sojourn`` that belongs to this Python."""
    directory = Path(sys.executable).parent
    path = shutil.which(SOJOURN, path=str(directory))
    if path is None:
        raise InputError(f"bench --only startup: there is no command sojourn in {directory}; install Sojourn there")
    return path
