"""Many short runs: peak memory of the commands that make, resume, ask and report them, and CPU time for each run.

Memory is the peak resident set of a process that carries out one command, by its own account: ``ru_maxrss`` of a child may be the
peak of its parent.
"""

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from sojourn.bench import process
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target, values

#: Runs of the smaller and of the larger campaign.
FEWER, MORE = 5_000, 20_000

SCENARIO = """
name = "many"
duration = "20 ms"

[network.dumbbell]
senders = [{ name = "sender", rate = "100 Mbit/s", delay = "1 ms" }]
receivers = [{ name = "receiver", rate = "100 Mbit/s", delay = "1 ms" }]
bottleneck = { rate = "10 Mbit/s", delay = "1 ms", queue = { name = "codel", limit = "100 packets" } }

[[flows]]
from = "sender"
to = "receiver"
count = 2
start_within = "2 ms"

[sweep.axes]
rate = { key = "network.dumbbell.bottleneck.rate", values = ["5 Mbit/s", "10 Mbit/s", "20 Mbit/s", "50 Mbit/s"] }
tcp = { key = "flows.*.tcp", values = ["newreno", "cubic"] }
queue = { key = "network.dumbbell.bottleneck.queue.name", values = ["codel", "pie"] }
"""

CELLS = 16

#: Carries out a command, and says last what it took.
COMMAND = """
import json, resource, sys
from pathlib import Path
from sojourn.cli.commands import status
ended = status(sys.argv[1:])
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
used = resource.getrusage(resource.RUSAGE_SELF)
print()
print(json.dumps({"memory_megabytes": int(peak.split()[1]) * 1024 / 1e6, "cpu_seconds": used.ru_utime + used.ru_stime}))
sys.exit(ended)
"""

QUERY = "select rate, avg(jain), count(*) from runs group by rate"


def measure(extent: Extent, notify: Notify) -> Part:
    """Measures two campaigns, of which the larger has four times as many runs."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as directory:
        for runs in (CELLS * max(1, round(runs * extent.scale / CELLS)) for runs in (FEWER, MORE)):
            rows += measured("many-runs", runs, _commands(Path(directory), runs), notify)
    more = rows[len(rows) // 2 :]
    less, most = rows[0], more[0]
    resumed = next(row for row in more if row["command"] == "resume")
    before, after = values([less, most], "memory_megabytes")
    return Part(
        title="Many runs of 20 ms: peak memory and CPU time of commands",
        method=f"Each command in a process of its own, with {less['runs']} and with {most['runs']} runs in {CELLS} cells.",
        measurements=[
            *peaks(more, f" with {most['runs']} runs"),
            Measurement("run: growth of peak memory, four times the runs", after - before, "MB"),
            Measurement("run: CPU time of a run", 1e3 * float(most["cpu_seconds"]) / int(most["runs"]), "ms"),
            Measurement("resume: CPU time", float(resumed["cpu_seconds"]), "s"),
        ],
        rows=rows,
    )


def _commands(directory: Path, runs: int) -> dict[str, list[str]]:
    """The commands that are measured, by what they are called: the first makes the runs."""
    file, results = directory / "many.toml", str(directory / str(runs))
    file.write_text(SCENARIO, encoding="utf-8")
    again = ["run", str(file), "--seeds", str(runs // CELLS), "--out", results]
    return {"run": again, "resume": again, "query": ["query", results, QUERY], "report": ["report", results]}


def measured(part: str, runs: int, commands: Mapping[str, Sequence[str]], notify: Notify) -> list[Row]:
    """What each command took with a number of runs."""
    rows: list[Row] = []
    for name, words in commands.items():
        notify(f"{part}: {name} with {runs} runs")
        rows.append({"runs": runs, "command": name, **took(words)})
    return rows


def took(words: Sequence[str]) -> dict[str, float]:
    """What a command of Sojourn took in a process of its own: ``memory_megabytes`` and ``cpu_seconds``."""
    said = process.output(f"sojourn {words[0]}", [sys.executable, "-c", COMMAND, *words])
    numbers: dict[str, float] = json.loads(said.splitlines()[-1])
    return numbers


def peaks(rows: Sequence[Row], of: str = "") -> list[Measurement]:
    """The peak memory of each command."""
    return [
        Measurement(f"{row['command']}: peak memory{of}", float(row["memory_megabytes"]), "MB", Target("below", 300.0))
        for row in rows
    ]
