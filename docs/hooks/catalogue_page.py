"""The catalogue of algorithms and stack profiles as a page."""

from collections.abc import Iterable, Iterator

import algorithm_pages
from made.cards import place
from prose import plain, table
from sojourn.catalogue import Algorithm, Catalogue, Parameter, Profile

INTRODUCTION = """# Catalogue

All algorithms and stack profiles that a scenario can name, as `sojourn list` and `sojourn describe` show them. The page of each
congestion control and queue discipline has its source, deviations and parameters, and what it does over time on one line.
[Behaviour](behaviour.md) says what to expect of each, and [differences](differences.md) gives the reasons for deviations."""


def page(catalogue: Catalogue) -> str:
    """The page as Markdown."""
    return "\n\n".join(_parts(catalogue)) + "\n"


def _parts(catalogue: Catalogue) -> Iterator[str]:
    yield INTRODUCTION
    yield "## Congestion controls"
    yield 'Of a group of flows: `tcp = "cubic"`, or `tcp = { name = "cubic", beta = 0.8 }`.'
    yield _pages(catalogue.congestion_controls, algorithm_pages.CONTROLS)
    yield "## Slow starts"
    yield 'Of a congestion control that has one: `tcp = { name = "cubic", slow_start = "hystart" }`.'
    yield from _sections(catalogue.slow_starts)
    yield "## Queue disciplines"
    yield 'Of a link: `queue = { name = "codel", limit = "1000 packets" }`.'
    yield _pages(catalogue.queues, algorithm_pages.DISCIPLINES)
    yield "## Rules of video"
    yield 'Of a viewer: `video = { rule = "bba1" }`.'
    yield from _sections(catalogue.video_rules)
    yield "## Stack profiles"
    yield 'The constants of a TCP: `stack = { profile = "linux-6" }`. Each setting can be changed by itself.'
    settings = {setting.name: setting for setting in catalogue.stack_settings}
    for profile in catalogue.profiles:
        yield from _profile(profile, settings)
        yield from _defaults(profile)


def _pages(algorithms: Iterable[Algorithm], folder: str) -> str:
    """A row an algorithm, which leads to its page."""
    rows = (
        [
            f"[`{each.name}`]({algorithm_pages.place(each, folder)})",
            plain(each.title),
            ", ".join(f"`{name}`" for name in each.aliases),
            str(each.year or ""),
            f"[card]({place(each.name)})" if each.name in algorithm_pages.CARDS else "",
        ]
        for each in algorithms
    )
    return table(("name", "what it is", "also", "year:", "report card"), rows)


def _sections(algorithms: Iterable[Algorithm]) -> Iterator[str]:
    for algorithm in algorithms:
        yield f"### {plain(algorithm.name)}"
        also = f" (also {', '.join(map(plain, algorithm.aliases))})" if algorithm.aliases else ""
        yield f"{plain(algorithm.title)}{also}."
        yield from algorithm_pages.about(algorithm)
        yield from algorithm_pages.details(algorithm)


def _profile(profile: Profile, settings: dict[str, Parameter]) -> Iterator[str]:
    yield f"### {plain(profile.name)}"
    yield f"{plain(profile.title)}."
    rows = (
        [f"`{each.name}`", *map(plain, (settings[each.name].format(each.value), settings[each.name].doc, each.source))]
        for each in profile.settings
    )
    yield table(("setting", "value", "description", "source"), rows)


def _defaults(profile: Profile) -> Iterator[str]:
    if not profile.defaults:
        return
    yield "What holds for one congestion control only:"
    rows = []
    for each in profile.defaults:
        described = profile.parameter_of(each)
        value = str(each.value) if described is None else described.format(each.value)
        kind = each.kind.replace("_", " ")
        rows.append([f"`{each.algorithm}`", kind, f"`{each.parameter}`", *map(plain, (value, each.source))])
    yield table(("tcp", "of", "name", "value", "source"), rows)
