"""The definitions of verdicts, which are data: ``verdicts.toml`` in this folder."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from sojourn.scenario.base import Table

FILE = "verdicts.toml"

#: What stands for a verdict's threshold in its query.
THRESHOLD = "{threshold}"


class Definition(Table):
    """What one verdict means."""

    id: str
    title: str
    #: What it says in words, which the threshold ends.
    tells: str
    threshold: float
    #: Of the threshold and of values; empty for shares of one.
    unit: str
    #: Why this threshold.
    reason: str
    source: str
    #: SQL that returns a row for each run that can be judged: ``key``, ``holds`` and ``value``.
    query: str

    @property
    def bound(self) -> str:
        """The threshold with its unit."""
        return f"{self.threshold:g} {self.unit}".rstrip()


@cache
def definitions() -> tuple[Definition, ...]:
    """All verdicts, in the order of the file."""
    return tuple(Definition.model_validate(each) for each in _file()["verdicts"])


def shared_views() -> Mapping[str, str]:
    """Tables that suites may read too, by their names: SQL over the frames of results."""
    views: Mapping[str, str] = _file()["views"]
    return views


def query_of(definition: Definition) -> str:
    """The query of a verdict, with the views that it reads."""
    views = {**shared_views(), **_file()["own_views"]}
    tables = ",\n".join(f"{name} AS ({query})" for name, query in views.items())
    asked = definition.query.replace(THRESHOLD, repr(definition.threshold))
    return f"WITH {tables}\nSELECT key, holds, value FROM (\n{asked}\n)"


@cache
def _file() -> Mapping[str, Any]:
    return tomllib.loads((files("sojourn.verdicts") / FILE).read_text(encoding="utf-8"))
