"""A page for each congestion control and queue discipline: what it is, its parameters, and how it moves over time on one line."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tomli_w

import lab_setting
import sojourn
from made.cards import DEPLOYED
from made.cards import place as place_of_card
from prose import plain, table
from sojourn.analysis.result import Result
from sojourn.catalogue import Algorithm, Catalogue, Parameter
from sojourn.figures import draw, registry
from sojourn.figures.saving import svg

#: Folders of the site.
CONTROLS, DISCIPLINES = "congestion-controls", "queue-disciplines"

#: Algorithms that have a report card.
CARDS = {name for names in DEPLOYED.values() for name in names}

#: Congestion controls that need a discipline's marks, and the discipline. The others are behind DropTail.
_MARKED_BY = {"dctcp": "step", "prague": "dualpi2", "vcp": "vcp"}

#: Disciplines whose marks are for one congestion control. The others have flows of CUBIC.
_MARKS_FOR = {"step": "dctcp", "vcp": "vcp"}

#: The group of flows in a scene, and the parameter in which some disciplines ask for a group.
_GROUP, _ASKED = "flows1", "hungriest"

_HOST = {"rate": "1 Gbit/s", "delay": "1 ms"}


def pages(known: Catalogue, *, has_laboratory: bool) -> dict[str, str]:
    """Each page as Markdown, and its pictures, by their places in the site."""
    made: dict[str, str] = {}
    for control in known.congestion_controls:
        made |= _files(control, CONTROLS, scene_of_control(control), ("cwnd-over-time", "queue-over-time"), has_laboratory)
    for queue in known.queues:
        figures = ("delay-over-time", "queue-state-over-time") if queue.state else ("delay-over-time",)
        made |= _files(queue, DISCIPLINES, scene_of_queue(queue), figures, has_laboratory)
    return made


def place(algorithm: Algorithm, folder: str) -> str:
    """Where an algorithm's page is."""
    return f"{folder}/{algorithm.name}.md"


def _files(
    algorithm: Algorithm, folder: str, scene: Mapping[str, Any] | None, figures: Sequence[str], has_laboratory: bool
) -> Mapping[str, str]:
    parts = [f"# {plain(algorithm.title or algorithm.name)}", _known_as(algorithm), *about(algorithm), *_given(algorithm, folder)]
    pictures = {}
    if scene is not None:
        result = sojourn.run(scene)
        pictures = {f"{algorithm.name}-{name}.svg": svg(draw(name, result, titled=False)) for name in figures}
        parts += ["## Over time", _told(scene, result)]
        parts += [f"![{_words(name, algorithm)}]({algorithm.name}-{name}.svg)" for name in figures]
        parts += _again(scene, has_laboratory)
    parts += details(algorithm, "##")
    return {
        place(algorithm, folder): "\n\n".join(parts) + "\n",
        **{f"{folder}/{name}": picture for name, picture in pictures.items()},
    }


def _known_as(algorithm: Algorithm) -> str:
    others = f", also {', '.join(f'`{name}`' for name in algorithm.aliases)}" if algorithm.aliases else ""
    return f"`{algorithm.name}`{others}. [All algorithms](../catalogue.md)."


def about(algorithm: Algorithm) -> Iterator[str]:
    """Its source, and where it deviates from it."""
    if algorithm.source:
        year = f", {algorithm.year}" if algorithm.year else ""
        yield f"**Source.** {plain(algorithm.source)}{year}"
    if algorithm.deviations:
        yield f"**Deviations.** {plain(algorithm.deviations)}"


def details(algorithm: Algorithm, heading: str = "") -> Iterator[str]:
    """Its parameters and its inner state as tables."""
    if algorithm.parameters:
        if heading:
            yield f"{heading} Parameters"
        yield table(
            ("parameter", "default", "allowed", "description", "source"),
            ([f"`{parameter.name}`", *map(plain, _texts(parameter))] for parameter in algorithm.parameters),
        )
    if algorithm.state:
        if heading:
            yield f"{heading} Inner state"
        yield f"Of this a run has samples [where its scenario asks for them]({'../' if heading else ''}measures.md#inner-states):"
        rows = (
            [f"`{value.name}`", *map(plain, (value.unit, value.doc, ", ".join(value.phases or ())))] for value in algorithm.state
        )
        yield table(("value", "unit", "description", "phases"), rows)


def _texts(parameter: Parameter) -> tuple[str, ...]:
    return parameter.format(parameter.default), parameter.allowed, parameter.doc, parameter.source


def _given(algorithm: Algorithm, folder: str) -> Iterator[str]:
    key = "tcp" if folder == CONTROLS else "queue"
    yield f'In a [scenario](../scenarios.md): `{key} = "{algorithm.name}"`; on a terminal: `sojourn describe {algorithm.name}`.'
    seen = "What to expect of it, and why, is said under [behaviour](../behaviour.md)"
    card = f", what it does to others on its [report card](../{place_of_card(algorithm.name)})" if algorithm.name in CARDS else ""
    yield f"{seen}{card}."


def scene_of_control(control: Algorithm) -> Mapping[str, Any] | None:
    """Two flows, the second ten seconds later; none of what has no window, since the scenario says what that sends."""
    if control.unresponsive:
        return None
    queue = _MARKED_BY.get(control.name)
    bottleneck = {"name": "droptail", "limit": "1 BDP"} if queue is None else {"name": queue, "limit": "400 packets"}
    return _scene(control.name, bottleneck, [{"tcp": control.name, "start": start} for start in ("0 s", "10 s")])


def scene_of_queue(queue: Algorithm) -> Mapping[str, Any]:
    """Four flows in a buffer of four times the bandwidth-delay product."""
    asks = {parameter.name for parameter in queue.parameters} & {_ASKED}
    given = {"name": queue.name, "limit": "4 BDP", **dict.fromkeys(asks, _GROUP)}
    flows = [{"tcp": _MARKS_FOR.get(queue.name, "cubic"), "count": 4, "start_within": "1 s"}]
    return _scene(queue.name, given, flows, **({"queue_state": True} if queue.state else {}))


def _scene(name: str, queue: Mapping[str, Any], flows: Sequence[Mapping[str, Any]], **probe: bool) -> Mapping[str, Any]:
    return {
        "name": name,
        "duration": "30 s",
        "warm_up": "5 s",
        "stack": {"profile": "linux-6"},
        "network": {
            "dumbbell": {
                "senders": [{"name": "server", **_HOST}],
                "receivers": [{"name": "home", **_HOST}],
                "bottleneck": {"rate": "20 Mbit/s", "delay": "18 ms", "queue": queue},
            }
        },
        "flows": [
            {"from": "server", "to": "home", "group": f"flows{number}", **flow} for number, flow in enumerate(flows, start=1)
        ],
        "probe": {"queue_series": "100 ms", "flow_series": "100 ms", **probe},
    }


def _told(scene: Mapping[str, Any], result: Result) -> str:
    """What the pictures are of, and the measures of the run."""
    flows, queue = scene["flows"], scene["network"]["dumbbell"]["bottleneck"]["queue"]
    count = "Four" if "count" in flows[0] else "Two"
    late = ", the second from the tenth second on," if len(flows) > 1 else ""
    room = queue["limit"].replace(" BDP", " bandwidth-delay products")
    (run,) = result.runs.iter_rows(named=True)
    used, wait, dropped = f"{100 * run['utilisation']:.0f} %", f"{1e3 * run['sojourn_mean_s']:.1f} ms", f"{run['drop_pct']:.2f} %"
    return (
        f"{count} flows of `{flows[0]['tcp']}`{late} share a line of 20 Mbit/s and 40 ms behind `{queue['name']}` with room for "
        f"{room}, on the stack `linux-6`. From the fifth second on they use {used} of it, packets wait {wait} in the mean, and "
        f"{dropped} are dropped. One seed: this shows how it moves, and compares nothing."
    )


def _words(figure: str, algorithm: Algorithm) -> str:
    """A picture's text for who cannot see it."""
    return f"{registry.named(figure).title}: {plain(algorithm.name)}"


def _again(scene: Mapping[str, Any], has_laboratory: bool) -> Iterator[str]:
    setting = lab_setting.state(scene)
    if setting is not None and has_laboratory:
        yield f"[Open it in the laboratory](../laboratory.html{lab_setting.address(setting)}), and change it there."
    listing = "\n".join(f"    {line}" if line else "" for line in tomli_w.dumps(dict(scene)).splitlines())
    yield f'??? note "The scenario, for `sojourn run`"\n\n    ```toml\n{listing}\n    ```'
