"""Descriptions of what there is: an algorithm, a profile, a study, a distribution of sizes or a plugin."""

import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.errors import InputError
from sojourn.table import Column, Content, Row, Table, label, number, text

if TYPE_CHECKING:
    from sojourn.catalogue import Entry, Parameter, Profile, StateValue, Value
    from sojourn.catalogue.published_sizes import Published

#: What is said of one thing by a name: a line about it, and its tables.
Description = tuple[Row, list[Table]]


def described(name: str) -> list[Description]:
    """What there is by a name that ``listing`` has, or in a file with an algorithm of one's own or a study.

    Raises:
        InputError: there is nothing of that name, or the file will not do.
    """
    from sojourn import catalogue, names, policies
    from sojourn.catalogue.published_sizes import PUBLISHED
    from sojourn.plugins import source
    from sojourn.study import library

    if source.language_of(Path(name)) is not None:
        return _own(Path(name))
    if Path(name).suffix in policies.ENDINGS:
        return [_policy(Path(name))]
    known = catalogue.load()
    kinds: list[tuple[str, tuple[Entry, ...]]] = [
        ("congestion control", known.congestion_controls),
        ("slow start", known.slow_starts),
        ("queue discipline", known.queues),
        ("rule of video", known.video_rules),
        ("stack profile", known.profiles),
    ]
    found: list[Description] = []
    for kind, entries in kinds:
        try:
            entry = catalogue.find(kind, name, entries)
        except ValueError:
            continue
        found.append((_about(entry, kind), _tables(entry)))
    if name in library.available() or library.is_path(name):
        found.append(_study(name))
    if name in PUBLISHED:
        found.append(_sizes(PUBLISHED[name]))
    if not found:
        everything = [entry.name for _, entries in kinds for entry in entries] + library.available() + list(PUBLISHED)
        raise InputError(f"{names.nearest('name', name, everything)} (sojourn list shows those of each kind)")
    return found


def entries(found: Iterable[Description]) -> Table:
    """The lines about all that was found, as a table."""
    rows = [about for about, _ in found]
    return Table("entries", "", [text(each) for each in rows[0]], rows)


def _own(path: Path) -> list[Description]:
    """What a plugin defines."""
    from sojourn.plugins.declared import declared
    from sojourn.plugins.reading import reading

    with reading(path) as source:
        own = declared(source)
    kinds = (("congestion control", own.control), ("queue discipline", own.queue))
    return [(_about(entry, kind), _tables(entry)) for kind, entry in kinds if entry is not None]


def _policy(path: Path) -> Description:
    """What a policy was trained with, its layers, and what it tells of itself."""
    from sojourn import policies
    from sojourn.scenario import agents

    try:
        policy = policies.read(path)
    except ValueError as error:
        raise InputError(str(error)) from None
    trained = [
        {"name": key, "value": value if isinstance(value, str) else json.dumps(value)} for key, value in policy.agent.items()
    ]
    layers = [
        {
            **{"layer": place, "inputs": layer.inputs, "outputs": layer.outputs},
            **{"function": layer.function if isinstance(layer.function, str) else json.dumps(layer.function)},
        }
        for place, layer in enumerate(policy.layers)
    ]
    columns = [number("layer", keep=True), number("inputs", keep=True), number("outputs", keep=True), text("function", keep=True)]
    of = agents.decides_for(policy.agent)
    tables = [Table("layers", "Layers", columns, layers), _state(agents.algorithm(path.name, of).state)]
    if trained:
        tables.insert(
            0, Table("agent", "What it was trained with", [label("name", keep=True), text("value", keep=True)], trained)
        )
    return _row(path.name, "policy", {"flow": "congestion control", "queue": "queue discipline"}[of]), tables


def _row(name: str, title: str, kind: str, source: str = "", **more: object) -> Row:
    return {"name": name, "also": [], "title": title, "kind": kind, "source": source, "year": None, "deviations": "", **more}


def _about(entry: "Entry", kind: str) -> Row:
    from sojourn.catalogue import Algorithm

    also = list(entry.aliases)
    if not isinstance(entry, Algorithm):
        return _row(entry.name, entry.title, kind, also=also)
    # Sentences may be broken over lines where they are written.
    deviations = " ".join(entry.deviations.split())
    return _row(entry.name, entry.title, kind, entry.source, also=also, year=entry.year, deviations=deviations)


def _tables(entry: "Entry") -> list[Table]:
    from sojourn import catalogue
    from sojourn.catalogue import Algorithm, Profile

    if isinstance(entry, Algorithm):
        own = [(parameter, parameter.default, parameter.source) for parameter in entry.parameters]
        return [*([_parameters("parameters", "default", own)] if own else []), *([_state(entry.state)] if entry.state else [])]
    if not isinstance(entry, Profile):
        return []
    known = {parameter.name: parameter for parameter in catalogue.load().stack_settings}
    settings = [(known[setting.name], setting.value, setting.source) for setting in entry.settings]
    return [_parameters("settings", "value", settings), *([_defaults(entry)] if entry.defaults else [])]


def _parameters(name: str, value: str, given: "Iterable[tuple[Parameter, Value, str]]") -> Table:
    """Parameters with a value of each and its source."""
    rows = [
        {
            **{"name": parameter.name, value: parameter.format(set_to), "allowed": parameter.allowed},
            **{"description": parameter.doc, "source": source},
        }
        for parameter, set_to, source in given
    ]
    named = [label(column, keep=True) for column in ("name", value)]
    columns = [*named, text("allowed"), text("description", keep=True), text("source", rank=1)]
    return Table(name, name.capitalize(), columns, rows)


def _state(shown: "Iterable[StateValue]") -> Table:
    """The values of an inner state."""
    rows = [
        {"name": value.name, "unit": value.unit, "description": value.doc, "phases": list(value.phases or ())} for value in shown
    ]
    phases = Column("phases", ("phases",), lambda row: ", ".join(row["phases"]), Content.TEXT)
    columns = [label("name", keep=True), text("unit"), text("description", keep=True), phases]
    return Table("state", "Inner state, sampled where a scenario asks for it", columns, rows)


def _defaults(profile: "Profile") -> Table:
    rows = []
    for default in profile.defaults:
        parameter = profile.parameter_of(default)
        value = str(default.value) if parameter is None else parameter.format(default.value)
        about = {"value": value, "description": "Slow start" if parameter is None else parameter.doc, "source": default.source}
        rows.append({"tcp": default.algorithm, "kind": default.kind, "name": default.parameter, **about})
    named = [label(column, keep=True) for column in ("tcp", "kind", "name", "value")]
    columns = [*named, text("description"), text("source", rank=1)]
    return Table("defaults", "What holds for one congestion control only", columns, rows)


def _sizes(published: "Published") -> Description:
    """A distribution of sizes that has been published."""
    from sojourn.catalogue.published_sizes import CutOff

    kind = f"distribution of {'sizes' if published.of == 'bytes' else 'numbers'}"
    told = _row(published.name, published.title, kind, published.source)
    if isinstance(published.sizes, CutOff):
        columns = [number(f"{key}", f"{key} B" if key != "sigma" else key, keep=True) for key in CutOff._fields]
        return told, [Table("sizes", "Log-normal sizes", columns, [published.sizes._asdict()])]
    rows = [{published.of: value, "probability": share} for value, share in published.sizes]
    columns = [number(published.of, keep=True), number("probability", show=lambda share: f"{share:.4g}", keep=True)]
    return told, [Table("sizes", "Distribution function", columns, rows)]


def _study(name: str) -> Description:
    from sojourn.study import library
    from sojourn.sweeps import values

    if library.is_path(name):
        # One that comes with Sojourn is known to be right.
        loaded = library.load(name)
        name, study = loaded.name, tomllib.loads(loaded.origin.file.read_text(encoding="utf-8"))
    else:
        study = library.contents(name)
    about = _row(name, study["title"], "study", study["source"])
    axes = [{"axis": axis, "values": values.labels(given)} for axis, given in study["sweep"]["axes"].items()]
    readings: list[Row] = [
        {"reading": reading, "description": given["description"], **assumption}
        for reading, given in study.get("readings", {}).items()
        for assumption in given["assumptions"]
    ]
    columns = [number("number", "table", keep=True), text("title", keep=True), text("metrics", keep=True)]
    return about, [
        *([_readings(readings)] if readings else []),
        Table("axes", "Axes", [label("axis", keep=True), text("values", keep=True)], axes),
        Table(
            "tables",
            "Tables",
            columns,
            [{name: described[name] for name in ("number", "title", "metrics")} for described in study["tables"]],
        ),
    ]


def _readings(assumptions: list[Row]) -> Table:
    """What each reading of a study assumes, and why."""
    columns = [
        label("reading", keep=True),
        Column("for", ("when",), lambda row: _given(row["when"]), Content.TEXT, keep=True),
        Column("sets", ("set",), lambda row: _given(row["set"]), Content.TEXT, keep=True),
        text("reason", keep=True),
        text("evidence"),
    ]
    return Table("readings", "Readings", columns, assumptions, section=lambda row: row["reading"])


def _given(given: Mapping[str, object]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in given.items())
