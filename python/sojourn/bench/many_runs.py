"""Many short runs: peak memory of the commands that make, resume, ask and report them, and CPU time for each run.

Memory is the peak resident set of a process that carries out one command, by its own account: ``ru_maxrss`` of a child may be the
peak of its parent.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target
from sojourn.errors import RunFailed

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
print(json.dumps({"megabytes": int(peak.split()[1]) * 1024 / 1e6, "cpu_seconds": used.ru_utime + used.ru_stime}))
sys.exit(ended)
"""


@dataclass(frozen=True)
class Took:
    """What a command took."""

    megabytes: float
    cpu_seconds: float


def measure(extent: Extent, notify: Notify) -> Part:
    """Measures two campaigns, of which the larger has four times as many runs."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as directory:
        fewer, more = (
            _campaign(rows, Path(directory), CELLS * max(1, round(runs * extent.scale / CELLS)), notify) for runs in (FEWER, MORE)
        )
    runs = int(rows[-1]["runs"])
    measurements = [
        Measurement(f"{name}: peak memory with {runs} runs", took.megabytes, "MB", Target("below", 300.0))
        for name, took in more.items()
    ]
    grown = more["run"].megabytes - fewer["run"].megabytes
    return Part(
        name="many-runs",
        title="Many runs of 20 ms: peak memory and CPU time of commands",
        method=f"Each command in a process of its own, with {rows[0]['runs']} and with {runs} runs in {CELLS} cells.",
        measurements=[
            *measurements,
            Measurement("run: growth of peak memory, four times the runs", grown, "MB"),
            Measurement("run: CPU time of a run", 1e3 * more["run"].cpu_seconds / runs, "ms"),
            Measurement("resume: CPU time", more["resume"].cpu_seconds, "s"),
        ],
        rows=rows,
    )


def _campaign(rows: list[Row], directory: Path, runs: int, notify: Notify) -> dict[str, Took]:
    file, results = directory / "many.toml", str(directory / str(runs))
    file.write_text(SCENARIO, encoding="utf-8")
    again = ["run", str(file), "--seeds", str(runs // CELLS), "--out", results]
    query = "select rate, avg(jain), count(*) from runs group by rate"
    commands = {"run": again, "resume": again, "query": ["query", results, query], "report": ["report", results]}
    took: dict[str, Took] = {}
    for name, words in commands.items():
        notify(f"many-runs: {name} with {runs} runs")
        took[name] = measured(words)
        rows.append(
            {"runs": runs, "command": name, "memory_megabytes": took[name].megabytes, "cpu_seconds": took[name].cpu_seconds}
        )
    return took


def measured(words: Sequence[str]) -> Took:
    """What a command of Sojourn took, in a process of its own."""
    ended = subprocess.run([sys.executable, "-c", COMMAND, *words], capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise RunFailed(f"bench: sojourn {words[0]} failed: {' '.join(ended.stderr.split())}")
    return Took(**json.loads(ended.stdout.splitlines()[-1]))
