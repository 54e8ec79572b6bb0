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
    from sojourn.api import expand, load, sweep
    from sojourn.calls.checking import check
    from sojourn.calls.display import named
    from sojourn.calls.inventory import describe, list, new, schema  # noqa: A004, as sojourn.list it shadows nothing
    from sojourn.calls.planning import plan
    from sojourn.calls.results import Result, Store
    from sojourn.calls.running import (
        Reproduction,
        demo,
        evaluate,
        export,
        find_atlas,
        find_range,
        open,  # noqa: A004, as above
        reproduce,
        run,
        search,
    )
    from sojourn.errors import InputError, RunCancelled, RunFailed, SojournError, StoreFailed
    from sojourn.scenario import Scenario

    __version__: str

#: The modules that have the names.
_MODULES = {
    **dict.fromkeys(("expand", "load", "sweep"), "api"),
    **dict.fromkeys(
        ("Reproduction", "demo", "evaluate", "export", "find_atlas", "find_range", "open", "reproduce", "run", "search"),
        "calls.running",
    ),
    **dict.fromkeys(("describe", "list", "new", "schema"), "calls.inventory"),
    **dict.fromkeys(("Result", "Store"), "calls.results"),
    "check": "calls.checking",
    "named": "calls.display",
    "plan": "calls.planning",
    **dict.fromkeys(("InputError", "RunCancelled", "RunFailed", "SojournError", "StoreFailed"), "errors"),
    "Scenario": "scenario",
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
    "check",
    "demo",
    "describe",
    "evaluate",
    "expand",
    "export",
    "find_atlas",
    "find_range",
    "list",
    "load",
    "named",
    "new",
    "open",
    "plan",
    "programs",
    "reproduce",
    "run",
    "schema",
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


def __dir__() -> tuple[str, ...]:
    return tuple(sorted({*globals(), *__all__}))
