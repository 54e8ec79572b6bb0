"""``commands.jsonl``: the commands that made what a directory holds, each once, the latest last."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sojourn.backends.identity import Identity
from sojourn.errors import InputError
from sojourn.store.files import write_whole

NAME = "commands.jsonl"


@dataclass(frozen=True)
class Provenance:
    """Where results come from."""

    #: What a user typed or called, so that it can be done again.
    command: str
    #: Of Sojourn.
    version: str
    #: What carried out the runs.
    backend: Identity
    #: The study that it reproduced, by name, or one's own by the path of its file; none of a scenario file.
    study: str | None = None
    #: The reading of the study, as stated if it is none.
    reading: str | None = None
    #: The cells that it was limited to, as values of axes.
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: Keys that it set in the scenarios.
    changes: Mapping[str, Any] = field(default_factory=dict)
    #: What the scenario is called, and what it says of itself.
    name: str = ""
    description: str = ""
    #: The axes of its sweep and all their labels, in the order of the file.
    axes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def reproduces(self, place: str, name: str) -> bool:
        """Whether it reproduced the study of this place and name; one's own may have been elsewhere then."""
        return self.study == place or (self.name == name and all(each and "/" in each for each in (self.study, place)))


def note(directory: Path, provenance: Provenance) -> None:
    """Adds a line, or moves it to the end if it is there; the store must be locked."""
    path = directory / NAME
    there = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    line = json.dumps(asdict(_moved(provenance, lambda path: f"./{os.path.relpath(path, directory)}")), default=str)
    text = "".join(f"{each}\n" for each in [*(other for other in there if other != line), line])
    write_whole(path, lambda unfinished: unfinished.write_text(text, encoding="utf-8"))


def read(directory: Path) -> Sequence[Provenance]:
    """All lines, in the order in which they came; none of a directory that no command was noted in."""
    path = directory / NAME
    if not path.exists():
        return []
    try:
        lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        made = [Provenance(**{**line, "backend": Identity(**line["backend"])}) for line in lines]
    except (ValueError, TypeError, KeyError):
        raise InputError(f"{path}: is damaged; remove it, and the next command will write a new one") from None
    return [_moved(each, lambda path: str((directory / path).resolve())) for each in made]


def _moved(provenance: Provenance, path: Callable[[str], str]) -> Provenance:
    """With another path of its study: in the file it is relative to the directory, so that both can be published together."""
    own = provenance.study is not None and "/" in provenance.study
    return replace(provenance, study=path(str(provenance.study))) if own else provenance


def order(made: Sequence[Provenance]) -> Mapping[str, Sequence[str]]:
    """The axes and their labels as the files of some commands order them; the latest first, where several differ."""
    labels: dict[str, dict[str, None]] = {}
    for each in reversed(made):
        for axis, values in each.axes.items():
            labels.setdefault(axis, {}).update(dict.fromkeys(values))
    return {axis: list(values) for axis, values in labels.items()}
