"""How many of packetdrill's scripts have which verdict, by the list in tests/packetdrill.toml."""

import tomllib
from collections import Counter
from functools import cache
from itertools import chain
from typing import Any

from made.results import ROOT

LIST = ROOT / "tests" / "packetdrill.toml"

VERDICTS = ("passed", "failed", "not_for_us")


@cache
def counts() -> dict[str, tuple[int, ...]]:
    """Of each collection, by name: all scripts, then those of each verdict."""
    found = {each["name"]: [len(each[verdict]) for verdict in VERDICTS] for each in _collections()}
    return {name: (sum(judged), *judged) for name, judged in found.items()}


def together() -> tuple[int, ...]:
    """The same of all collections."""
    return tuple(sum(column) for column in zip(*counts().values(), strict=True))


def place(name: str) -> str:
    """Where a collection is from."""
    described: str = next(each["title"] for each in _collections() if each["name"] == name)
    return described


def day(name: str) -> str:
    """When ``make packetdrill`` last counted a collection."""
    days: list[object] = [each.get("counted", "before") for each in _collections() if each["name"] == name]
    return str(days[0])


def twice() -> list[str]:
    """Scripts that a collection lists more than once."""
    return [
        f"{each['name']}/{script}"
        for each in _collections()
        for script, number in Counter(chain.from_iterable(each[verdict] for verdict in VERDICTS)).items()
        if number > 1
    ]


def _collections() -> list[dict[str, Any]]:
    collections: list[dict[str, Any]] = tomllib.loads(LIST.read_text(encoding="utf-8"))["collection"]
    return collections
