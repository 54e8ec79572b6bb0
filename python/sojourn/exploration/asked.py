"""``asked.json``: what a directory of results was searched for, so that no other search replaces what was found there."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sojourn.errors import InputError
from sojourn.exploration.space import Space
from sojourn.store import write_whole

NAME = "asked.json"

#: Of the table ``search`` what only says how long to go on, or what a question has anyway.
_BESIDES = {"budget", "maximise", "minimise", "pareto", "seed"}


def of(space: Space, command: str, wanted: str, seed: int, **more: Any) -> dict[str, Any]:
    """What a command asks of a space, by what people call it.

    Args:
        space: what is searched, with its scenario; the scenario's description makes no difference.
        command: ``search`` or ``range``.
        wanted: what is looked for, in words.
        seed: that of the search.
        more: what else decides which points are tried.
    """
    return {
        "command": command,
        "question": wanted,
        "seed": seed,
        "space": space.searched.model_dump(mode="json", by_alias=True, exclude=_BESIDES),
        "scenario": {key: value for key, value in space.base.items() if key != "description"},
        **more,
    }


def check(directory: Path, asked: Mapping[str, Any]) -> None:
    """Refuses a directory that holds the answer to another question.

    Raises:
        InputError: it does; one line that says in what they differ.
    """
    path = directory / NAME
    try:
        there = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return  # a new directory, or a file that is written again
    wanted = json.loads(_text(asked))
    differ = [key for key in wanted if there.get(key) != wanted[key]]
    if differ:
        key = differ[0]
        told = f": its {key} is {there[key]}" if isinstance(there.get(key), str | int) else f": its {key} is another"
        raise InputError(f"--out {directory}: holds another {there.get('command', 'search')}{told}; give another directory")


def keep(directory: Path, asked: Mapping[str, Any]) -> None:
    """Writes down what a directory is asked."""
    write_whole(directory / NAME, lambda path: path.write_text(_text(asked), encoding="utf-8"))


def _text(asked: Mapping[str, Any]) -> str:
    return json.dumps(asked, indent=1, default=str) + "\n"
