"""Sojourn: how TCP congestion controls and router queue disciplines get along.

import sojourn

result = sojourn.run("scenario.toml", seeds=3)
result.flows                                    # a polars frame; .to_pandas() makes it a pandas one
sojourn.open("results").sql("select * from runs")
sojourn.reproduce("piotrowska", only={"load": "UC"}).cells
"""

from sojourn._engine import version
from sojourn.api import Reproduction, expand, load, open, reproduce, run  # noqa: A004, as sojourn.open it shadows nothing
from sojourn.errors import InputError, RunCancelled, RunFailed, SojournError, StoreFailed
from sojourn.results import Result
from sojourn.scenario import Scenario
from sojourn.store import Store

__version__ = version()

__all__ = [
    "InputError",
    "Reproduction",
    "Result",
    "RunCancelled",
    "RunFailed",
    "Scenario",
    "SojournError",
    "Store",
    "StoreFailed",
    "__version__",
    "expand",
    "load",
    "open",
    "reproduce",
    "run",
]
