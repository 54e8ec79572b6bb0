"""The map of the atlas: a page, what it shows as a script, and what draws it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from statistics import NormalDist
from typing import Any

import polars as pl
import tomli_w

import lab_setting
from made import atlas
from sojourn.atlas import AXES, DISCIPLINES, TCPS, Landmark, available, load
from sojourn.verdicts import Answer, definitions

#: Where the page is, and the folder of its files.
PLACE, FOLDER = "atlas-map.md", "atlas"

#: A letter for each state of a verdict, and one for what was not asked.
LETTERS = {str(Answer.HOLDS): "H", str(Answer.FAILS): "F", str(Answer.OPEN): "U"}

#: The digits in which a curve's points are written, parts of its greatest.
LEVELS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/"

#: The standard deviations from a border that the first and the last of these stand for, where they say how probable a verdict is.
MOST_DEVIATIONS = 3

#: What is said of a map: sets of verdicts that hold somewhere, a digit each; which of them holds at each place, row by row from
#: the bottom, as a letter and how many in a row; how probable any verdict is, as a digit a place; and the runs that told.
MAP_FIELDS = ("sets", "cells", "levels", "runs")

#: The sets' letters.
LETTERS_OF_SETS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

#: What is said of a cell, in this order; the kernel's verdict only where one was asked.
FIELDS = ("states", "values", "held", "seeds", "metrics", "duration", "most", "curve", "kernel")

PAGE = """---
hide:
  - toc
---

# Map of the atlas

Which congestion controls and queue disciplines get along, by [these verdicts](verdicts.md), at landmarks.
[The atlas](atlas.md) says how it is made, what is surprising in it, and what a kernel says. Made by {engine}.

✗ a verdict holds, ✓ it does not, ? it is undecided, · it cannot be asked. = a kernel agrees, ≠ it differs somewhere. Arrow keys
go from pair to pair.

<link rel="stylesheet" href="{folder}/map.css">
<div id="atlas"><noscript>The map needs JavaScript; docs/measured/atlas has its data.</noscript></div>
<script src="{folder}/data.js"></script>
<script src="{folder}/map.js"></script>
"""


def files(*, has_laboratory: bool) -> dict[str, str]:
    """The page as Markdown, and its files, by their places in the site."""
    here = Path(__file__).parent / FOLDER
    data, ranges = (json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in (_data(has_laboratory), _ranges()))
    return {
        PLACE: PAGE.format(engine=atlas.made()["engine"], folder=FOLDER),
        f"{FOLDER}/data.js": f"window.sojournAtlas = {data};\n",
        f"{FOLDER}/ranges.js": f"window.sojournRanges = {ranges};\n",
        **{f"{FOLDER}/{name}": (here / name).read_text(encoding="utf-8") for name in ("map.js", "map.css")},
    }


def _data(has_laboratory: bool) -> Mapping[str, Any]:
    there = set(atlas.recorded()["landmark"])
    landmarks = [load(name) for name in available() if name in there]
    return {
        "hasLaboratory": has_laboratory,
        "fields": FIELDS,
        "metrics": atlas.metrics(),
        "verdicts": [{"id": each.id, "title": each.title, "tells": each.tells, "bound": each.bound} for each in definitions()],
        "tcps": TCPS,
        "queues": DISCIPLINES,
        "landmarks": [_landmark(each) for each in landmarks],
        "cells": {each.name: dict(_cells(each.name)) for each in landmarks},
        "mapped": atlas.ranges()["landmark"].unique(maintain_order=True).to_list(),
    }


def _ranges() -> Mapping[str, Any]:
    """The maps of ranges, which the page loads when one is to be seen, and the axes of each landmark's planes."""
    planes: dict[str, dict[str, Any]] = {}
    maps: dict[str, dict[str, dict[str, Any]]] = {}
    for place, rows in atlas.ranges().group_by("landmark", *AXES, "plane", maintain_order=True):
        landmark, *pair, plane = map(str, place)
        axes = {axis: {"title": rows[f"{axis}_title"][0], "numbers": _along(rows[axis])} for axis in ("x", "y")}
        known = planes.setdefault(landmark, {}).setdefault(plane, axes)
        assert known == axes, "maps of a landmark have the same axes"
        maps.setdefault(landmark, {}).setdefault("/".join(pair), {})[plane] = _map(rows.sort("y", "x"))
    return {"fields": MAP_FIELDS, "planes": planes, "maps": maps}


def _along(numbers: pl.Series) -> Sequence[float | None]:
    return _numbers(iter(numbers.unique().sort()))


def _map(rows: pl.DataFrame) -> Sequence[Any]:
    sets = rows["holds"].value_counts(sort=True).sort("count", "holds", descending=[True, False])["holds"].to_list()
    letters = dict(zip(sets, LETTERS_OF_SETS, strict=False))
    cells = "".join(f"{letters[name]}{len(list(same))}" for name, same in groupby(rows["holds"]))
    index = {each.id: number for number, each in enumerate(definitions())}
    digits = ["".join(LEVELS[index[name]] for name in names.split(", ") if name) for names in sets]
    levels = "".join(_level(probability, bool(names)) for probability, names in rows.select("any", "holds").iter_rows())
    return [digits, cells, levels, rows["runs"][0]]


def _level(probability: float, is_beyond: bool) -> str:
    """How many standard deviations a place is from the border, as a digit; of half of the digits it is beyond."""
    least = NormalDist().cdf(-MOST_DEVIATIONS)
    deviations = NormalDist().inv_cdf(min(max(probability, least), 1 - least))
    level, half = round((len(LEVELS) - 1) * (deviations / MOST_DEVIATIONS + 1) / 2), len(LEVELS) // 2
    return LEVELS[max(level, half) if is_beyond else min(level, half - 1)]


def _landmark(landmark: Landmark) -> Mapping[str, Any]:
    """A landmark, with the scenarios of any pair; disciplines with parameters have their own."""
    scenarios = {queue: _any(landmark, queue) for queue in DISCIPLINES if landmark.parameters(queue)} | {
        "": _any(landmark, "@queue")
    }
    return {
        **landmark.model_dump(include={"name", "title", "about", "source", "scaled"}),
        "templates": {queue: tomli_w.dumps(scenario) for queue, scenario in scenarios.items()},
        "labs": {queue: lab_setting.state(scenario) for queue, scenario in scenarios.items()},
    }


def _any(landmark: Landmark, queue: str) -> Mapping[str, Any]:
    """The scenario of any pair, in which these names stand for those of its algorithms."""
    return {"name": f"{landmark.name}-@tcp-{queue}", **landmark.filled("@tcp", queue, "@beside")}


def _cells(landmark: str) -> Iterator[tuple[str, Sequence[Any]]]:
    curves = {row[1:4]: row[4:] for row in atlas.curves().iter_rows() if row[0] == landmark}
    found = atlas.recorded().filter(landmark=landmark)
    for place, rows in found.group_by(*AXES, maintain_order=True):
        of = {row["verdict"]: row for row in rows.iter_rows(named=True)}
        every = [of[each.id] for each in definitions()]
        first = every[0]
        duration, curve = curves[place]
        most = max(curve)
        cell = {
            "states": _letters(row["state"] for row in every),
            "values": _numbers(row["value"] for row in every),
            "held": [row["held"] or 0 for row in every],
            "seeds": max(row["seeds"] or 0 for row in every),
            "metrics": _numbers(first[name] for name in atlas.metrics()),
            "duration": duration,
            "most": _number(most),
            "curve": "".join(LEVELS[round((len(LEVELS) - 1) * point / most) if most else 0] for point in curve),
        }
        if first["check"] is not None:
            states, values = _letters(row["check_state"] for row in every), _numbers(row["check_value"] for row in every)
            cell["kernel"] = {"name": first["check"], "states": states, "values": values}
        yield "/".join(place), [cell[name] for name in FIELDS if name in cell]


def _letters(states: Iterator[str]) -> str:
    return "".join(LETTERS.get(state, "-") for state in states)


def _numbers(values: Iterator[float | None]) -> Sequence[float | None]:
    return [_number(value) for value in values]


def _number(value: float | None) -> float | None:
    """A number as a table shows it."""
    if value is None:
        return None
    short = float(f"{value:.3g}")
    return int(short) if short.is_integer() else short
