"""What is random in a run: all that its seed decides."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sojourn import catalogue
from sojourn.analysis.repetition import REMEDY
from sojourn.catalogue import Algorithm
from sojourn.plugins.source import Source, of_json
from sojourn.scenario.choices import control_of, queue_of
from sojourn.scenario.impairments import drawn_impairments
from sojourn.specification import Json, RunSpecification
from sojourn.units import DURATION

Parts = tuple[tuple[str, str], ...]
"""What is random, each with what is known of it."""


def parts(run: RunSpecification) -> Parts:
    """What draws random numbers in a run."""
    known = catalogue.load()
    found: dict[str, str] = {}
    spread = [flow["start_within"] for flow in run["flows"] if flow["start_within"]]
    if spread:
        found["starts"] = f"within {DURATION.approximate(max(spread))}"
    if run["sender_overhead"]:
        found["sender_overhead"] = f"up to {DURATION.approximate(run['sender_overhead'])}"
    if any("delay_range" in link for link in run["links"]):
        found["delays"] = "of hosts"
    if any(change.get("repeat", {}).get("spread") for link in run["links"] for change in link["changes"]):
        found["changes"] = "of links"
    if arrivals := _arrivals(run):
        found["arrivals"] = arrivals
    if any(_is_drawn(flow["application"]) for flow in run["flows"] if "application" in flow):
        found["sessions"] = ""
    losses = [loss for link in run["links"] for loss in (link["loss"], *(change["loss"] for change in link["changes"]))]
    if any(loss is not None and 0 < loss < 1 for loss in losses):
        found["losses of links"] = ""
    names = (name for link in run["links"] if "impairments" in link for name in drawn_impairments(link["impairments"]))
    if impairments := list(dict.fromkeys(names)):
        found["impairments"] = ", ".join(impairments)
    for link in run["links"]:
        queue = link["queue"]
        if queue is not None and (drawn := _drawn(_algorithm(run, queue, queue_of, known.queue), queue)) is not None:
            found[queue["name"]] = drawn
    for flow in run["flows"]:
        source = flow["source"]
        control = _algorithm(run, source, control_of, known.congestion_control)
        switches = [switch for switch in control.random_if if source["parameters"][switch]]
        if control.random is not None or switches:
            found[control.name] = control.random or ", ".join(switches)
    if run.get("programs"):
        # The guest's random numbers come from the seed, and with them what programs draw, their ports and their addresses.
        found["programs"] = "what they and the kernel draw"
    return tuple(found.items())


def _drawn(discipline: Algorithm, queue: Json) -> str | None:
    """What a queue draws random numbers for."""
    is_drawn = discipline.random_rules is None or queue["parameters"]["rules"] == discipline.random_rules
    return discipline.random if is_drawn else None


def _is_drawn(application: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a session draws sizes or think times."""
    if "vectors" in application:
        return False
    (settings,) = application.values()
    sizes = (size for key, size in settings.items() if key != "rule" and isinstance(size, Mapping))
    return bool(settings.get("think")) or any("fixed" not in size for size in sizes)


def _arrivals(run: RunSpecification) -> str:
    """What is drawn of flows that arrive by themselves."""
    given = [flow["arrivals"] for flow in run["flows"] if "arrivals" in flow]
    times = "times" if any({"poisson", "users"} & arrivals["process"].keys() for arrivals in given) else ""
    sizes = "sizes" if any(arrivals["sizes"] is not None and "fixed" not in arrivals["sizes"] for arrivals in given) else ""
    return " and ".join(filter(None, (times, sizes)))


def _algorithm(
    run: RunSpecification, chosen: Json, own: Callable[[Source], Algorithm], built_in: Callable[[str], Algorithm]
) -> Algorithm:
    """What a queue or a source of a run names: a plugin, or an entry of the catalogue."""
    return own(of_json(run["plugins"][chosen["plugin"]])) if "plugin" in chosen else built_in(chosen["name"])


def line(cells: Iterable[Parts]) -> str:
    """What is random in the cells of a campaign, on one line."""
    of = Counter(cells)
    total, without = of.total(), of[()]
    if without == total:
        return f"random: nothing: all seeds give the same run; {REMEDY}"
    names: dict[str, set[str]] = {}
    times: Counter[str] = Counter()
    for found, number in of.items():
        for name, detail in found:
            names.setdefault(name, set()).add(detail)
            times[name] += number
    told = ", ".join(_told(name, details, times[name], total) for name, details in names.items())
    return f"random: {told}" + (f"; in {without:,} of {total:,} cells nothing: {REMEDY}" if without else "")


def _told(name: str, details: set[str], times: int, of: int) -> str:
    where = [f"{times:,} of {of:,} cells"] if times < of else []
    in_brackets = ", ".join([*(details if len(details) == 1 and "" not in details else []), *where])
    return f"{name} ({in_brackets})" if in_brackets else name
