"""Sojourn: how TCP congestion control interacts with queue disciplines, simulated packet by packet.

import sojourn

result = sojourn.run("scenario.toml", seeds=3)
result.flows                                    # a polars frame; .to_pandas() makes a pandas one
sojourn.open("results").sql("select * from runs")
sojourn.reproduce("piotrowska", only={"load": "UC"}).cells
sojourn.evaluate("bbr")                         # a report card as a frame, a row a question
sojourn.search("scenario.toml", maximise="drop_pct").points    # where do they break?
sojourn.find_range("scenario.toml").borders                     # and where does that begin?
sojourn.programs.network(rate="20 Mbit/s", delay="20 ms")       # runs programs: see ``sojourn.programs``

What these names stand for is loaded when it is first used.
"""

TYPE_CHECKING = False  # type checkers take it for True; the module typing takes longer to load than all of this
if TYPE_CHECKING:
    from sojourn import programs
    from sojourn.analysis.result import Result
    from sojourn.api import Reproduction, evaluate, expand, find_range, load, open, reproduce, run, search, sweep  # noqa: A004, as sojourn.open it shadows nothing
    from sojourn.errors import InputError, RunCancelled, RunFailed, SojournError, StoreFailed
    from sojourn.scenario import Scenario
    from sojourn.store import Store

    __version__: str

#: The modules that have the names.
_MODULES = {
    **dict.fromkeys(
        ("Reproduction", "evaluate", "expand", "find_range", "load", "open", "reproduce", "run", "search", "sweep"), "api"
    ),
    **dict.fromkeys(("InputError", "RunCancelled", "RunFailed", "SojournError", "StoreFailed"), "errors"),
    "Result": "analysis.result",
    "Scenario": "scenario",
    "Store": "store",
}

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
    "evaluate",
    "expand",
    "find_range",
    "load",
    "open",
    "programs",
    "reproduce",
    "run",
    "search",
    "sweep",
]

# Type checkers know the names from above, and that there are no others.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        import importlib

        if name == "__version__":
            value = importlib.import_module("sojourn._engine").version()
        elif name == "programs":
            value = importlib.import_module("sojourn.programs")
        elif name in _MODULES:
            value = getattr(importlib.import_module(f"sojourn.{_MODULES[name]}"), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
