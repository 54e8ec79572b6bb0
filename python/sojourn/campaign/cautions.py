"""Links to which more arrives than they carry, and queue disciplines that cannot do where they stand what they are there for."""

from sojourn import _engine
from sojourn.specification import Json, RunSpecification, simulated, text
from sojourn.units import DURATION, PICOSECONDS, RATE

#: Bytes of a full packet for CAKE of Linux: 1500 and Ethernet's header (net/sched/sch_cake.c, cake_set_rate).
FULL_PACKET = 1514

#: Congestion controls that ask for ECN whatever their stack says (RFC 8257, RFC 9331), and sources that know none.
ALWAYS_ECN, NEVER_ECN = ("dctcp", "prague"), ("cbr", "voice", "ping")


def warnings(run: RunSpecification) -> tuple[str, ...]:
    """A line for each link that is offered too much, and for each queue that cannot do what it is there for."""
    rules = {"cake": _of_cake, "step": _of_step}
    queues = ((link, rules.get(link["queue"]["name"])) for link in run["links"] if link["queue"] is not None)
    return (*_overloads(run), *(line for link, rule in queues if rule is not None and (line := rule(run, link)) is not None))


def _overloads(run: RunSpecification) -> list[str]:
    """Of links to which flows that arrive by themselves bring the whole rate or more.

    What waits for such a link grows until the end, and what is measured depends on the duration.
    """
    if not any("arrivals" in flow for flow in run["flows"]):
        return []
    loads: dict[int, float] = {}
    for link, load in _engine.loads(text(simulated(run))):
        loads[link] = loads.get(link, 0) + load
    return [
        f"arrivals: a load of {load:g} on the link {_name(run, run['links'][link])} never drains: "
        "flows wait longer and longer until the end"
        for link, load in loads.items()
        if load >= 1
    ]


def _of_step(run: RunSpecification, link: Json) -> str | None:
    """Without ECN a threshold marks nobody."""
    if any(_may_be_marked(run, flow["source"]) for flow in run["flows"]):
        return None
    return (
        f"step on the link {_name(run, link)} marks nobody and drops at its limit alone, because no flow has ECN; "
        'set stack.ecn = "classic", or give flows dctcp'
    )


def _may_be_marked(run: RunSpecification, source: Json) -> bool:
    if "plugin" in source or source["name"] in ALWAYS_ECN:
        return True
    return source["name"] not in NEVER_ECN and run["stacks"][source["stack"]]["ecn"] != "off"


def _of_cake(run: RunSpecification, link: Json) -> str | None:
    """CAKE raises its target for slow links, but knows no rate besides its bandwidth."""
    parameters = link["queue"]["parameters"]
    packet = FULL_PACKET * 8 * PICOSECONDS // link["rate"]
    if parameters["bandwidth"] or parameters["target"] >= packet:
        return None
    target, time, raised = (DURATION.approximate(each) for each in (parameters["target"], packet, packet * 3 // 2))
    return (
        f"cake on the link {_name(run, link)}: its target of {target} is below the {time} of a packet, because it has no "
        f'bandwidth; with bandwidth = "{RATE.format(link["rate"])}" it is {raised}, as in Linux'
    )


def _name(run: RunSpecification, link: Json) -> str:
    return f"{run['nodes'][link['from']]} -> {run['nodes'][link['to']]}"
