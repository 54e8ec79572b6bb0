"""Sojourn: how TCP congestion controls and router queue disciplines get along.

import sojourn

result = sojourn.run("scenario.toml", seeds=3)
result.flows                                    # a polars frame; .to_pandas() makes it a pandas one
sojourn.reproduce("piotrowska", only={"load": "UC"}).cells
"""

from sojourn._engine import version
from sojourn.api import Reproduction, expand, load, reproduce, run
from sojourn.errors import InputError, RunCancelled, RunFailed, SojournError
from sojourn.results import Result
from sojourn.scenario import Scenario

__version__ = version()

__all__ = [
    "InputError",
    "Reproduction",
    "Result",
    "RunCancelled",
    "RunFailed",
    "Scenario",
    "SojournError",
    "__version__",
    "expand",
    "load",
    "reproduce",
    "run",
]
