"""What make instructions does: no cell takes more instructions than were recorded, unless a commit since says why."""

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from conftest import ROOT
from sojourn.bench import callgrind, history, instructions
from sojourn.bench.history import Recorded

HISTORY = ROOT / "bench" / "history.csv"

#: Engines of other commits.
BUILT = ROOT / "target" / "instructions"

#: How many times the instructions of a recorded commit a cell may take.
ALLOWED = 1.01

Counts = Mapping[str, float]


def judged(now: Counts, recorded: Sequence[Recorded], said: Callable[[str], Sequence[str]]) -> list[str]:
    """A line for each cell that has grown without a reason, beside the least that was recorded since the last reason.

    A reason is what lines of the history say, or the messages of commits after them.
    """
    explained = [place for place, each in enumerate(recorded) if each.why]
    since = [each.commit for each in recorded[explained[-1] if explained else 0 :]]
    lines = []
    for cell, count in now.items():
        unexplained = [each for each in recorded if each.cell == cell and each.commit in since and not said(each.commit)]
        least = min(unexplained, key=lambda each: each.instructions_a_packet, default=None)
        if least is not None and count > ALLOWED * least.instructions_a_packet:
            change = 100 * (count / least.instructions_a_packet - 1)
            before = f"{least.instructions_a_packet:.0f} at {least.commit}"
            lines.append(f"{cell}: {count:.0f} instructions a packet, {before}: {change:+.1f} %")
    return lines


def counted(seconds: float) -> Counts:
    """Instructions a packet of each cell with the engine that is installed."""
    runs = {cell: cell.specification(seconds) for cell in instructions.CELLS}
    found = instructions.counts(runs, lambda _: None)
    return {cell.name: count / packets for cell, (packets, count) in found.items()}


def counted_at(commit: str, seconds: float) -> Counts:
    """The same at another commit, whose engine is built here."""
    folder = BUILT / commit
    if not folder.exists():
        archive = subprocess.run(["git", "-C", str(ROOT), "archive", commit], check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="tar")
    target = ["--manifest-path", str(folder / "Cargo.toml"), "--target-dir", str(BUILT / "target")]
    profile = ["--release", "--locked", "--config", "profile.release.strip=true"]
    environment = os.environ | {"PYO3_PYTHON": sys.executable, "PYTHONPATH": str(folder / "python")}
    subprocess.run(["cargo", "build", "--quiet", "--package", "sojourn-python", *profile, *target], check=True, env=environment)
    shutil.copy(BUILT / "target" / "release" / "lib_engine.so", folder / "python" / "sojourn" / "_engine.abi3.so")
    out = folder / "bench.json"
    extent = ["--seconds", str(seconds), "--repeat", "1", "--out", str(out)]
    command = [sys.executable, "-m", "sojourn", "bench", "--only", "instructions", *extent]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    (part,) = json.loads(out.read_text(encoding="utf-8"))["parts"]
    return {row["cell"]: row["instructions_a_packet"] for row in part["rows"]}


def comparable(recorded: Sequence[Recorded], rustc: str) -> list[Recorded]:
    """What was counted as long and of engines that this compiler built; if there is nothing, the last commit is counted again."""
    last = recorded[-1]
    alike = [each for each in recorded if (each.rustc, each.seconds) == (rustc, last.seconds)]
    if alike:
        return alike
    print(f"make instructions: the engine is built by rustc {rustc}; {last.commit} is built by it and counted too", flush=True)
    counts = counted_at(last.commit, last.seconds)
    of_last = [each for each in recorded if each.commit == last.commit]
    return [replace(each, rustc=rustc, instructions_a_packet=counts[each.cell]) for each in of_last]


def main(file: Path = HISTORY) -> int:
    """Counts and judges; the exit status is 1 if a cell has grown and nobody says why."""
    if callgrind.valgrind() is None:
        print("make instructions: valgrind is missing; left out")
        return 0
    recorded = [each for each in history.read(file) if history.is_before(ROOT, each.commit)]
    if not recorded:
        print("make instructions: no recorded commit is among those before this one, as in a shallow clone; left out")
        return 0
    before = comparable(recorded, history.compiler())
    now = counted(recorded[-1].seconds)
    last = {each.cell: each for each in before}
    for cell, count in now.items():
        said = f", {last[cell].instructions_a_packet:.0f} at {last[cell].commit}" if cell in last else ""
        print(f"{cell}: {count:.0f} instructions a packet{said}")
    lines = judged(now, before, lambda commit: history.reasons(ROOT, commit))
    for line in lines:
        print(f"make instructions: {line}", file=sys.stderr)
    if lines:
        print(f'make instructions: a commit may say why in a line "{history.BECAUSE}..." (CONTRIBUTING.md)', file=sys.stderr)
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
