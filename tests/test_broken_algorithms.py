"""Algorithms broken on purpose fail exactly the questions made for them, and correct ones pass all (tests/data/broken)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import sojourn

BROKEN = Path(__file__).parent / "data" / "broken"

#: What does not respond at all cannot be written as a window: a constant rate above the link's.
CONSTANT = {"name": "cbr", "rate": "6 Mbit/s", "packet_size": "1500 B"}

#: The questions that each congestion control must fail. What takes too much or keeps its window does so beside others (share), in
#: its own rate (stability) and where it is told by marks; a constant rate has no long-lived TCP flow, so it has no value of two.
CONTROLS: list[tuple[str | Mapping[str, Any], set[str]]] = [
    ("sound", set()),
    ("greedy", {"share", "stability", "marks"}),
    ("never_backs_off", {"share", "loss", "stability"}),
    (CONSTANT, {"share", "loss", "no-feedback", "marks", "stability", "round-trip-times"}),
    ("oscillates", {"stability", "small-windows", "marks"}),
    ("starves", {"small-windows", "stability", "used"}),
    ("ignores_marks", {"marks"}),
    ("unfair_by_rtt", {"round-trip-times"}),
    ("window_of_one", {"small-windows", "used"}),
]

#: The same of queue disciplines: what favours one flow drops nothing of it, so its queue is longer as well.
QUEUES = [
    ("sound", set()),
    ("never_drops", {"delay"}),
    ("drops_always", {"used", "bursts"}),
    ("favours", {"fairness", "delay"}),
    ("fears_bursts", {"bursts"}),
]

#: Those that `make test` tries; `make test-long` tries all.
QUICK = {"sound", "ignores_marks", "fears_bursts"}


def named(cases: list[Any]) -> list[Any]:
    """Returns cases as parameters, most of them long."""
    return [pytest.param(*case, id=str(case[0]), marks=[] if str(case[0]) in QUICK else pytest.mark.long) for case in cases]


def failing(candidate: Any, of: str, folder: str) -> set[str]:
    """Returns the questions of a folder's suite that are a concern for a candidate, or that it fails."""
    asked = BROKEN / folder / f"{candidate}.py" if isinstance(candidate, str) else candidate
    found = sojourn.evaluate(asked, of, BROKEN / folder / "suite.toml")
    assert found["error"].null_count() == found.height
    if candidate == "sound":
        assert set(found["verdict"]) == {"pass"}
    return set(found.filter(found["verdict"].is_in(["concern", "fail"]))["id"])


@pytest.mark.parametrize(("candidate", "questions"), named(CONTROLS))
def test_congestion_controls(candidate: str | Mapping[str, Any], questions: set[str]) -> None:
    """A broken congestion control fails what was made for it and nothing else."""
    assert failing(candidate, "tcp", "controls") == questions


@pytest.mark.parametrize(("candidate", "questions"), named(QUEUES))
def test_queue_disciplines(candidate: str, questions: set[str]) -> None:
    """A broken queue discipline fails what was made for it and nothing else."""
    assert failing(candidate, "queue", "queues") == questions
