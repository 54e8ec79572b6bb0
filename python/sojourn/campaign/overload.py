"""Links to which more arrives than they carry.

What waits for them grows until the end, and what is measured depends on the duration.
"""

from sojourn import _engine
from sojourn.specification import RunSpecification, text


def warnings(run: RunSpecification) -> tuple[str, ...]:
    """A line for each link to which flows that arrive by themselves bring its whole rate or more."""
    if not any("arrivals" in flow for flow in run["flows"]):
        return ()
    loads: dict[int, float] = {}
    for link, load in _engine.loads(text(run)):
        loads[link] = loads.get(link, 0) + load
    return tuple(_warning(run, link, load) for link, load in loads.items() if load >= 1)


def _warning(run: RunSpecification, link: int, load: float) -> str:
    origin, target = (run["nodes"][run["links"][link][end]] for end in ("from", "to"))
    return (
        f"arrivals: a load of {load:g} on the link {origin} -> {target} never drains: flows wait longer and longer until the end"
    )
