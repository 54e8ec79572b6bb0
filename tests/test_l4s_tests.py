"""The study of the L4S tests: its cells are the rows of the tests' two tables, and what it compares with is what they print."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from sojourn import backends
from sojourn.specification import RunSpecification
from sojourn.study import library
from sojourn.study.published import ALL, read
from sojourn.sweeps.matrix import Point

STUDY = library.load("l4s-tests")
FOLDER = Path(__file__).parents[1] / "studies" / "l4s-tests"

#: What the tests call Reno.
NAMES = {"reno": "newreno"}


def rows() -> Iterator[tuple[Point, dict[str, str]]]:
    """The printed rows that are run, and the cell of each."""
    with (FOLDER / "published" / "rows.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            queue = "pfifo" if row["queue"].startswith("pfifo") else row["queue"]
            pair = f"{row['first']}, {row['second'].removesuffix('-ecn')}"
            rtts = f"{row['rtt1_ms']} ms, {row['rtt2_ms']} ms"
            if queue != "cnq_codel_af":
                yield {"rate": f"{row['rate_mbps']} Mbit/s", "queue": queue, "pair": pair, "rtts": rtts}, row


def run_of(point: Point) -> RunSpecification:
    return STUDY.matrix.cell(point).specification


def test_cells_are_the_rows() -> None:
    """Each row but those of the AQM that Sojourn lacks is a cell, and each cell a row: 216 less 48."""
    printed = [tuple(point.values()) for point, _ in rows()]
    assert len(printed) == len(set(printed)) == 216 - 48
    assert set(printed) == {tuple(point.values()) for point in STUDY.matrix.points()}


def test_published_values_are_printed() -> None:
    """Throughputs and Jain's indices of tables.csv are those of the rows."""
    printed: dict[tuple[str, ...], set[str]] = {}
    for point, row in rows():
        cell = tuple(point.values())
        second = row["second"].split("-")[0]
        if row["scenario"] == "1":
            printed[*cell, "jain", ALL] = {row["jain_or_ratio"]}
        if row["first"] != second:
            printed[*cell, "avg_mbps", row["first"]] = {row["mbps1"]}
            printed[*cell, "avg_mbps", NAMES.get(second, second)] = {row["mbps2"]}
    assert STUDY.published is not None
    values = read(FOLDER / STUDY.published.file, STUDY, STUDY.published)
    found: dict[tuple[str, ...], set[str]] = {}
    for value in values:
        found.setdefault((*value.axes.values(), value.metric, value.algorithm or ALL), set()).add(value.printed)
    assert found == printed


@pytest.mark.parametrize("rtts", ["10 ms, 10 ms", "80 ms, 20 ms", "160 ms, 10 ms"])
def test_delays_are_half_of_each_way(rtts: str) -> None:
    """A host's link has half of its flow's RTT, and no other link has a delay."""
    run = run_of({"rate": "50 Mbit/s", "queue": "dualpi2", "pair": "prague, prague", "rtts": rtts})
    delays = {run["nodes"][link["from"]]: link["delay"] for link in run["links"] if run["nodes"][link["from"]] in ("a", "b")}
    first, second = (int(rtt.removesuffix(" ms")) * 10**9 for rtt in rtts.split(", "))
    assert delays == {"a": first // 2, "b": second // 2}
    assert sum(link["delay"] for link in run["links"]) == first + second


def test_windows() -> None:
    """60 s of 180 count in scenario 1, 40 of 60 in scenario 6, up to 2 s before the end."""
    common = {"rate": "50 Mbit/s", "pair": "prague, cubic", "rtts": "20 ms, 20 ms"}
    for queue, length, counted in (("fq_codel", 180, 60), ("fq_codel(1q)", 60, 40)):
        run = run_of({**common, "queue": queue})
        seconds = [run[key] // 10**12 for key in ("duration", "warm_up")]
        assert seconds == [length - 2, length - 2 - counted]


def test_cells_are_accepted() -> None:
    """The simulator accepts every cell."""
    for cell in STUDY.matrix.cells():
        backends.named("simulator").check(cell.specification, cell.given)
