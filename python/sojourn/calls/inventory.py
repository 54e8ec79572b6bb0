"""What there is, as frames, and files to start from."""

import json
from pathlib import Path
from typing import Any, Literal

import polars as pl

from sojourn import names
from sojourn.calls.display import Tables
from sojourn.errors import InputError
from sojourn.inventory import describing, listing
from sojourn.table import to_frame


def list(what: str, *words: str) -> pl.DataFrame:  # noqa: A001, as sojourn.list it shadows nothing
    """All that there is of a kind: tcp, queues, studies and so on; a row each.

    Args:
        what: ``tcp``, ``queues``, ``video``, ``studies``, ``suites``, ``profiles``, ``metrics``, ``figures``, or of agents
            ``features``, ``actions`` or ``rewards``.
        words: only what has all of them in its name or in what is told of it.

    Raises:
        InputError: there is no such kind, or nothing of it has the words.
    """
    names.check("kind", what, listing.KINDS, InputError)
    return to_frame(listing.listed(what, words))


def describe(name: str) -> Tables:
    """What there is by a name, or in a file with an algorithm of one's own, whose code runs.

    Returns:
        Frames by their names: ``entries``, a row for each thing of that name, and those of its ``parameters`` and the like.

    Raises:
        InputError: there is nothing of that name.
    """
    found = describing.described(name)
    tables = [describing.entries(found), *(table for _, own in found for table in own)]
    return Tables({table.name: to_frame(table) for table in tables})


def new(
    kind: Literal["tcp", "queue"], name: str, language: Literal["python", "c"] = "python", folder: str | Path = "."
) -> tuple[Path, Path]:
    """Writes an algorithm of one's own to start from, and a scenario that compares it with built-in ones.

    Returns:
        The file of the algorithm, and that of the scenario.

    Raises:
        InputError: the name, the kind or the language will not do, or a file is there already.
    """
    from sojourn.plugins import starting

    names.check("kind", kind, ("tcp", "queue"), InputError)
    names.check("language", language, starting.ENDINGS, InputError)
    file, scenario = starting.begin(kind, name, language, Path(folder))
    return file, scenario


def schema(of: Literal["scenario", "card"] = "scenario") -> dict[str, Any]:
    """The JSON Schema of scenario files, or of report cards.

    Raises:
        InputError: there is none of that.
    """
    from sojourn.suite import card
    from sojourn.sweeps import schema

    names.check("schema", of, ("scenario", "card"), InputError)
    found: dict[str, Any] = json.loads(card.schema() if of == "card" else schema.text())
    return found
