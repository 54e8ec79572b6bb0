"""The cells of the study piotrowska, as the benchmark runs them: shorter, and measured from the start."""

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from sojourn.specification import RunSpecification
from sojourn.study import library
from sojourn.study.design import Study
from sojourn.units import PICOSECONDS

STUDY = "piotrowska"

#: The cell of the data centre with nine flows, which most parts derive theirs from, and the one with 90.
FEW_FLOWS = {"scenario": "DC", "load": "UC", "tcp": "newreno", "queue": "droptail"}
SOME_FLOWS = {**FEW_FLOWS, "load": "MC"}

#: Duration of a cell relative to the data centre's, by scenario. The access link has a tenth of its rate, so both deliver about
#: as many packets.
LENGTHS = {"DC": 1, "AL": 10}

#: Flows start within at most this share of a cell; the study's 3 s of 100 s would be most of a cell of a few seconds.
STARTING = 0.3


def cells(only: Mapping[str, Iterable[str]]) -> list[dict[str, str]]:
    """The cells of the study's matrix that have the given values of some axes."""
    return [dict(axes) for axes in _study().part(only).points()]


def specification(axes: Mapping[str, str], seconds: float, changes: Mapping[str, Any] | None = None) -> RunSpecification:
    """The run of a cell; ``seconds`` are the simulated seconds of a data-centre cell, ``changes`` those of ``Study.part``."""
    cell = _study().part({}, changes).cell(axes).specification
    duration = seconds * LENGTHS[axes["scenario"]] * PICOSECONDS
    flows = [{**flow, "start_within": min(flow["start_within"], round(duration * STARTING))} for flow in cell["flows"]]
    return {**cell, "duration": round(duration), "warm_up": 0, "flows": flows}


@functools.cache
def _study() -> Study:
    """The study, read once for all its cells."""
    return library.load(STUDY)
