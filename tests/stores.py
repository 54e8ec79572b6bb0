"""Stores with invented results, and damage to their files."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from doubles import Inventor
from sojourn.campaign import Campaign, CampaignOutcome, Plan, plan, run
from sojourn.runs import Cell
from sojourn.scenario import Scenario
from sojourn.store import Store

MakeScenario = Callable[..., Scenario]


def planned(scenario: MakeScenario, repetitions: int, **axes: str) -> Plan:
    axes = axes or {"scenario": "small"}
    return plan(Campaign.of_cells("test", [Cell(axes, scenario())], repetitions), Inventor())


def keep(
    runs: Plan, directory: Path, notify: Callable[[str], None] = pytest.fail, backend: Inventor | None = None
) -> CampaignOutcome:
    with Store(directory, create=True, notify=notify) as store:
        return run(runs, backend or Inventor(), store, jobs=1)


def damage(file: Path, how: str) -> None:
    whole = file.read_bytes()
    if how == "truncated":
        file.write_bytes(whole[: len(whole) // 2])
    elif how == "empty":
        file.write_bytes(b"")
    elif how == "foreign":
        file.write_bytes(b"precious, and no file of ours" * 100)
    elif how == "missing":
        file.unlink()
    elif how == "a directory":
        file.unlink()
        file.mkdir()


def flips(file: Path, count: int, seed: int) -> Iterator[int]:
    """Flips single bits of a file by chance, one after the other, and says which; the file is whole again at the end."""
    whole, chance = file.read_bytes(), random.Random(seed)
    try:
        for bit in (chance.randrange(8 * len(whole)) for _ in range(count)):
            flipped = bytearray(whole)
            flipped[bit // 8] ^= 1 << bit % 8
            file.write_bytes(flipped)
            yield bit
    finally:
        file.write_bytes(whole)
