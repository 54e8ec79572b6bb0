"""The atlas of docs/atlas.md, as `make atlas` made it: for pages, and for the test that asks again."""

import json
import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from made.results import ROOT
from sojourn import backends
from sojourn.api import charting
from sojourn.atlas import ALONE, AXES, DISCIPLINES, NOT_ASKED, TCPS, Agreement, folder, load, rows
from sojourn.atlas.folder import ATLAS, CURVES, RANGES
from sojourn.atlas.pairs import pairs as pairs_of
from sojourn.atlas.planes import PLANES
from sojourn.atlas.rows import METRICS
from sojourn.store import provenance
from sojourn.verdicts import Answer

FOLDER = ROOT / "docs" / "measured" / "atlas"

#: What made it, beside the tables.
MADE = "made.json"

#: The seed by which pairs are drawn that a kernel is asked about, as the command has it.
SEED = 1

#: Digits of what is kept.
DIGITS = 4

HOLDS, FAILS, OPEN = map(str, Answer)


@cache
def recorded() -> pl.DataFrame:
    """All verdicts."""
    return pl.read_parquet(FOLDER / ATLAS)


@cache
def curves() -> pl.DataFrame:
    """The queue of each pair over time."""
    return pl.read_parquet(FOLDER / CURVES)


@cache
def ranges() -> pl.DataFrame:
    """The maps of pairs' ranges."""
    return pl.read_parquet(FOLDER / RANGES)


@cache
def made() -> Mapping[str, str]:
    """What made it: ``command``, ``engine``, and ``kernel``, if one was asked."""
    said: Mapping[str, str] = json.loads((FOLDER / MADE).read_text(encoding="utf-8"))
    return said


def resume(results: Path) -> None:
    """Lets a directory of results begin with what is kept, so that checks and maps go on there without the simulator's runs."""
    kept = folder.Folder(results)
    results.mkdir(parents=True, exist_ok=True)
    for landmark in recorded()["landmark"].unique(maintain_order=True):
        of_it = recorded().filter(landmark=landmark)
        kept.add(landmark, of_it.select(*rows.ROWS), curves().filter(landmark=landmark).cast(pl.Schema(rows.CURVES)))
        checks = of_it.filter(pl.col("check").is_not_null())
        if not checks.is_empty():
            kept.add_check(landmark, checks.select(*rows.PLACE, *folder.CHECKED))
        maps = ranges().filter(landmark=landmark)
        if not maps.is_empty():
            kept.add_ranges(landmark, maps.cast(pl.Schema(rows.RANGES)))
    # Last: a directory that has it has all of them.
    shutil.copyfile(FOLDER / MADE, results / MADE)


def publish(results: Path, command: str) -> None:
    """Keeps what a directory of results says, with as many digits as pages show."""
    # The latest command of each store made what is there now, besides what the directory began with.
    before = json.loads((results / MADE).read_text(encoding="utf-8")) if (results / MADE).is_file() else {}
    makers = [noted[-1].backend for store in sorted(results.iterdir()) if (noted := provenance.read(store))]

    def made_by(kind: str, *, simulator: bool) -> str:
        new = (str(each) for each in makers if (each.name == backends.DEFAULT) is simulator)
        return ", ".join(dict.fromkeys([*filter(None, before.get(kind, "").split(", ")), *new]))

    said = {"command": command, "engine": made_by("engine", simulator=True), "kernel": made_by("kernel", simulator=False)}
    found, queues = pl.read_parquet(results / ATLAS), pl.read_parquet(results / CURVES)
    numbers = [name for name, kind in found.schema.items() if kind == pl.Float64()]
    found = found.with_columns(pl.col(numbers).round_sig_figs(DIGITS))
    queues = queues.with_columns(pl.col("queue_ms").list.eval(pl.element().round_sig_figs(2)).cast(pl.List(pl.Float32())))
    tables = {ATLAS: found, CURVES: queues}
    if (results / RANGES).is_file():
        maps = pl.read_parquet(results / RANGES)
        tables[RANGES] = maps.with_columns(pl.col("any").round(3).cast(pl.Float32()), pl.col("x", "y").round_sig_figs(DIGITS))
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.write_parquet(FOLDER / name, compression="zstd", compression_level=19)
    text = json.dumps({name: value for name, value in said.items() if value}, indent=2)
    (FOLDER / MADE).write_text(text + "\n", encoding="utf-8")


def cell(landmark: str, tcp: str, queue: str, beside: str = ALONE) -> dict[str, dict[str, Any]]:
    """What is said of a pair, by verdict."""
    place = dict(zip(("landmark", *AXES), (landmark, tcp, queue, beside), strict=True))
    rows = recorded().filter(*(pl.col(name) == value for name, value in place.items()))
    return {row["verdict"]: row for row in rows.iter_rows(named=True)}


def state(verdict: str, landmark: str, tcp: str, queue: str, beside: str = ALONE) -> str:
    """What the simulator says."""
    return str(cell(landmark, tcp, queue, beside)[verdict]["state"])


def value(verdict: str, landmark: str, tcp: str, queue: str, beside: str = ALONE) -> float:
    """The mean of a verdict's value over seeds."""
    return float(cell(landmark, tcp, queue, beside)[verdict]["value"])


def metric(name: str, landmark: str, tcp: str, queue: str, beside: str = ALONE) -> float:
    """The mean of a metric over seeds; also ``own_mbps`` and ``cubic_mbps``, what a flow gets."""
    return float(next(iter(cell(landmark, tcp, queue, beside).values()))[name])


def kernel(verdict: str, landmark: str, tcp: str, queue: str, beside: str = ALONE) -> str:
    """What the kernel says, in words."""
    row = cell(landmark, tcp, queue, beside)[verdict]
    if row["check_state"] is None:
        return "not asked"
    shown = "" if row["check_value"] is None else f" ({row['check_value']:.3g})"
    return f"{row['check_state']}{shown}"


def tally(verdict: str, **place: str) -> str:
    """In how many cells a verdict holds of those with these values of ``landmark`` and axes in which it is asked."""
    asked = recorded().filter(verdict=verdict, **place).filter(pl.col("state") != NOT_ASKED)
    holds, left = (asked.filter(state=each).height for each in (HOLDS, OPEN))
    return f"{holds} of {asked.height}" + (f", {left} undecided" if left else "")


def holding(verdict: str, said: str = HOLDS, **place: str) -> list[str]:
    """The landmarks at which a verdict has a state, of cells with these values of axes."""
    return recorded().filter(verdict=verdict, state=said, **place)["landmark"].to_list()


def pairs() -> list[tuple[str, str, int, int, int, int]]:
    """Each landmark's title, and how many pairs it has, get along, do not, and are undecided."""
    states = recorded().group_by("landmark", *AXES, maintain_order=True)
    asked = states.agg(bad=(pl.col("state") == HOLDS).any(), open=(pl.col("state") == OPEN).any())
    asked = asked.with_columns(open=pl.col("open") & ~pl.col("bad"))
    table = asked.group_by("landmark", maintain_order=True).agg(pl.len(), pl.col("bad").sum(), pl.col("open").sum())
    return [
        (f"`{name}`", load(name).about, number, number - bad - left, bad, left) for name, number, bad, left in table.iter_rows()
    ]


def by_verdict() -> list[tuple[str, int, int, int, int, int]]:
    """Of each verdict in how many cells it holds, does not, and is undecided; and in how many a kernel agrees and differs."""
    found = []
    for verdict in recorded()["verdict"].unique(maintain_order=True):
        of_it = recorded().filter(pl.col("verdict") == verdict)
        holds, fails, left = (of_it.filter(pl.col("state") == each).height for each in (HOLDS, FAILS, OPEN))
        same, other = (of_it.filter(pl.col("agreement") == str(each)).height for each in (Agreement.SAME, Agreement.DIFFERS))
        found.append((f"`{verdict}`", holds, fails, left, same, other))
    return found


def differing() -> list[tuple[str, ...]]:
    """Cells in which a kernel's verdict is the opposite."""
    rows = recorded().filter(pl.col("agreement") == str(Agreement.DIFFERS))
    return [
        (
            *(f"`{row[name]}`" for name in ("landmark", "tcp", "queue", "beside", "verdict")),
            f"{row['state']} ({row['value']:.3g})" if row["value"] is not None else row["state"],
            f"{row['check_state']} ({row['check_value']:.3g})" if row["check_value"] is not None else row["check_state"],
        )
        for row in rows.iter_rows(named=True)
    ]


def checked() -> tuple[int, int, int]:
    """How many cells a kernel was asked about, and of their decided verdicts how many are the same and how many differ."""
    asked = recorded().filter(pl.col("check").is_not_null()).select("landmark", *AXES).unique().height
    same, other = (recorded().filter(pl.col("agreement") == str(each)).height for each in (Agreement.SAME, Agreement.DIFFERS))
    return asked, same, other


def to_check() -> int:
    """How many pairs a kernel would be asked about."""
    return sum(len(charting.to_check(found, SEED)) for _, found in recorded().group_by("landmark", maintain_order=True))


def unasked() -> int:
    """How many of them it was not asked about."""
    known = set(recorded().filter(pl.col("check").is_not_null()).select("landmark", *AXES).unique().iter_rows())
    return sum(
        (landmark, *pair.axes.values()) not in known
        for (landmark,), found in recorded().group_by("landmark", maintain_order=True)
        for pair in charting.to_check(found, SEED)
    )


def checks() -> list[tuple[str, int, int, int, int, int]]:
    """Of each landmark about how many pairs a kernel is to be asked and was, and how its verdicts stand to the simulator's."""
    found: list[tuple[str, int, int, int, int, int]] = []
    for (landmark,), of_it in recorded().group_by("landmark", maintain_order=True):
        asked = of_it.filter(pl.col("check").is_not_null()).select(AXES).n_unique()
        same, other, left = (
            of_it.filter(agreement=str(each)).height for each in (Agreement.SAME, Agreement.DIFFERS, Agreement.OPEN)
        )
        found.append((f"`{landmark}`", len(charting.to_check(of_it, SEED)), asked, same, other, left))
    return found


def differ(verdict: str, **place: str) -> int:
    """In how many cells with these values of ``landmark`` and axes a kernel's verdict is the opposite."""
    return recorded().filter(verdict=verdict, agreement=str(Agreement.DIFFERS), **place).height


def mapped() -> list[tuple[str, ...]]:
    """Of each discipline and plane on how much of its pairs' maps they get along, and the verdict that holds most elsewhere."""
    found = []
    for queue in DISCIPLINES:
        told = [f"`{queue}`"]
        for plane in PLANES:
            places = ranges().filter(queue=queue, plane=plane)
            holds = places["holds"].str.split(", ").explode().replace("", None).drop_nulls()
            worst = holds.value_counts(sort=True).sort("count", "holds", descending=[True, False]).row(0)
            shares = (f"{100 * number / places.height:.0f} %" for number in (places.filter(holds="").height, worst[1]))
            told += [next(shares), f"`{worst[0]}`, {next(shares)}"]
        found.append(tuple(told))
    return found


def mapped_pairs() -> str:
    """Of how many pairs that are alone there are maps, and how many there are."""
    return f"{ranges().select(AXES).n_unique()} of {len(list(pairs_of(TCPS, DISCIPLINES, [ALONE])))}"


def metrics() -> Sequence[str]:
    """The metrics that each row has."""
    return (*METRICS, "own_mbps", "cubic_mbps")
