"""What became of a run's programs: their ends, what they wrote, and the files that are kept of them."""

import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.backends.linux.units import NANOSECONDS
from sojourn.backends.result import PROGRAMS, frame
from sojourn.errors import RunFailed
from sojourn.specification import Json, RunSpecification

#: What could not be started, by the number of the error (errno(3)).
_REASONS = {
    2: "there is no such command",
    8: "it is no program of this machine's kind",
    13: "it may not be executed",
    20: "there is no such command",
    38: "the kernel lacks what it needs",
    40: "its path leads nowhere",
}

#: Words of a program's errors that a line has.
_MOST_WORDS = 200


def programs(run: RunSpecification, told: Mapping[int, Mapping[str, str]], folder: Path) -> pl.DataFrame:
    """A row for each program; ``told`` is what the guest says of it.

    Raises:
        RunFailed: one could not be started, or ended otherwise than its scenario expects.
    """
    rows = [
        _row(run, number, program, {name: int(value) for name, value in told[number].items()}, folder)
        for number, program in enumerate(run.get("programs", ()))
    ]
    return frame({name: [row[name] for row in rows] for name in PROGRAMS}, PROGRAMS)


def files(run: RunSpecification, folder: Path) -> dict[str, bytes]:
    """What programs wrote as far as the run went, and their files that are kept, by paths that begin with numbers and names."""
    found: dict[str, bytes] = {}
    for number, program in enumerate(run.get("programs", ())):
        place = f"{number}-{_plain(program['name'])}"
        for stream in ("output", "errors"):
            file = folder / f"program-{number}.{stream}"
            # Of a run that failed some may not have started.
            if file.exists() and (written := file.read_bytes()):
                found[f"{place}/{stream}"] = written
        for kept in range(len(list(folder.glob(f"kept-{number}-*")))):
            name, _, content = (folder / f"kept-{number}-{kept}").read_bytes().partition(b"\n")
            found[f"{place}/files/{_inside(name.decode('utf-8', 'replace'))}"] = content
    return found


def _row(run: RunSpecification, number: int, program: Json, said: Mapping[str, int], folder: Path) -> dict[str, Any]:
    output, errors = ((folder / f"program-{number}.{stream}").read_text("utf-8", "replace") for stream in ("output", "errors"))
    what = f"programs[{number}] ({program['name']})"
    if said["error"]:
        reason = _REASONS.get(said["error"], f"error {said['error']}")
        raise RunFailed(f"{what}: {program['command'][0]}: {reason}")
    has_ended = "ended" in said
    if has_ended and not said["stopped"]:
        _check(what, program["expect"], said["status"], said["signal"], errors or output)
    return {
        "program": number,
        "name": program["name"],
        "host": run["nodes"][program["host"]],
        "command": " ".join(program["command"]),
        "start": said["started"] / NANOSECONDS,
        "end": said["ended"] / NANOSECONDS if has_ended else None,
        "status": said["status"] if has_ended and not said["signal"] else None,
        "signal": signal.Signals(said["signal"]).name if has_ended and said["signal"] else None,
        "stopped": bool(said["stopped"]),
        "output": output,
        "errors": errors,
        "bytes_output": said["output"],
        "bytes_errors": said["errors"],
        "files_kept": said["kept"],
        "files_left_out": said["left_out"],
    }


def _check(what: str, expected: int | str, status: int, number: int, wrote: str) -> None:
    """Checks how a program ended by itself."""
    if expected == "any" or (not number and status == expected):
        return
    last = next((line.strip() for line in reversed(wrote.splitlines()) if line.strip()), "")
    how = f"ended by {signal.Signals(number).name}" if number else f"ended with status {status}"
    raise RunFailed(f"{what}: {how} instead of status {expected}" + (f": {last[:_MOST_WORDS]}" if last else ""))


def _plain(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)


def _inside(name: str) -> str:
    """A path that leads to nowhere else."""
    return "/".join(part for part in name.split("/") if part not in ("", ".", ".."))
