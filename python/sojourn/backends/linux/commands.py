"""Commands of programs, looked up before a run where their programs will be: what is not there is refused in one line."""

import stat
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from sojourn.backends.linux.programs import ENVIRONMENT, place
from sojourn.errors import InputError
from sojourn.specification import FOLDER, RunSpecification

#: The scenario's folder as programs see it, and what is made anew for them: what will be there is not known.
_SCENARIO, _MADE = "scenario", ("dev", "proc", "run", "sys", "tmp")

#: Links that are followed, as many as Linux follows (path_resolution(7)), and interpreters of scripts.
_MOST_LINKS, _MOST_SCRIPTS = 40, 5

#: Machines by their numbers in a file's header (elf(5), e_machine).
_MACHINES = {3: "i386", 8: "MIPS", 20: "PowerPC", 21: "PowerPC 64", 22: "s390", 40: "ARM", 183: "AArch64", 243: "RISC-V"}
_OWN = 62


def check(run: RunSpecification) -> None:
    """Checks that the command of each program of a run is there and is for this machine.

    Raises:
        InputError: one is not.
    """
    places = run.get("places", {})
    for number, program in enumerate(run.get("programs", ())):
        root, folder = place(program["root"], places), Path(places[FOLDER])
        paths = {**ENVIRONMENT, **program["environment"]}["PATH"].split(":")
        if (fault := _fault(program["command"][0], root, folder, paths)) is not None:
            where = "this machine" if program["root"] is None else "its root"
            raise InputError(f"programs[{number}].run: {fault.format(where)}")


def _fault(command: str, root: Path, folder: Path, paths: Sequence[str]) -> str | None:
    for _ in range(_MOST_SCRIPTS):
        names = [command] if "/" in command else [f"{path}/{command}" for path in paths if path]
        places = [place for name in names for place in _place(name, root, folder)]
        if any(place is None for place in places):
            return None
        files = [place for place in places if place is not None and place.is_file()]
        if not files:
            return f'there is no "{command}" on {{}}'
        found = next((file for file in files if file.stat().st_mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)), None)
        if found is None:
            return f'"{command}" on {{}} may not be executed'
        with found.open("rb") as file:
            head = file.read(256)
        if head.startswith(b"\x7fELF"):
            machine = int.from_bytes(head[18:20], "little" if head[5] == 1 else "big")
            return (
                None if machine == _OWN else f'"{command}" on {{}} is for {_MACHINES.get(machine, "another machine")}, not x86-64'
            )
        words = head[2:].split(b"\n")[0].split() if head.startswith(b"#!") else []
        if not words:
            return None
        command = words[0].decode(errors="replace")
    return None


def _place(name: str, root: Path, folder: Path) -> list[Path | None]:
    """Where a name leads to in a root, as no link can lead out of it: nowhere, to a file, or (None) to what is not known."""
    left = list(reversed(PurePosixPath("/", _SCENARIO, name).parts[1:]))
    parts: list[str] = []
    links = 0
    while left:
        part = left.pop()
        if part == "..":
            parts = parts[:-1]
            continue
        parts.append(part)
        if parts[0] in _MADE:
            return [None]
        path = _host(parts, root, folder)
        if path.is_symlink():
            links += 1
            if links > _MOST_LINKS:
                return []
            target = PurePosixPath("/", *parts[:-1], str(path.readlink()))
            parts, left = [], [*left, *reversed(target.parts[1:])]
    return [_host(parts, root, folder)]


def _host(parts: Sequence[str], root: Path, folder: Path) -> Path:
    return folder.joinpath(*parts[1:]) if parts[:1] == [_SCENARIO] else root.joinpath(*parts)
