"""A data file of Flent, whose plots then show a simulated run beside measured ones."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sojourn import backends
from sojourn.backends.backend import Backend
from sojourn.exports.places import write_file
from sojourn.exports.tcp_info import interval, samples
from sojourn.metrics.formulas import jain
from sojourn.runs import Run
from sojourn.units import PICOSECONDS

#: Of Flent's files, and a version of Flent that writes it.
FORMAT, FLENT = 4, "2.3.0"

#: Flent's test of several TCP streams in one direction, and its names for their series and the others.
TEST = "tcp_nup"
STREAM, PING = "TCP upload::{}", "Ping (ms) ICMP"
AVERAGE, SUM, FAIRNESS = "TCP upload avg", "TCP upload sum", "TCP upload fairness"

#: When runs begin. The same run gives the same bytes.
START = "1970-01-01T00:00:00.000000Z"

ESTABLISHED = 1

Series = list[float | None]


def write_flent(run: Run, path: Path, title: str, note: str = "", backend: str | Backend = backends.DEFAULT) -> int:
    """Carries out a run and writes throughput and round-trip time of its connections over time to a file ``.flent.gz``.

    ``title`` is what Flent's plots call it, ``note`` is for the readers of the file. Returns how many connections there are.

    Raises:
        InputError: the run has no connections, the backend cannot record them, or there is no place for the file.
        SojournError: the file cannot be written.
    """
    data = flent(run, path.name, title, note, backend)
    text = json.dumps(data, indent=1, sort_keys=True, allow_nan=False)
    write_file(path, lambda unfinished: unfinished.write_bytes(gzip.compress(text.encode(), mtime=0)))
    return int(data["metadata"]["TEST_PARAMETERS"]["upload_streams"])


def flent(run: Run, name: str, title: str, note: str, backend: str | Backend) -> dict[str, Any]:
    """What a data file of Flent holds: each step's throughput in Mbit/s and round-trip time in ms.

    A connection's throughput is what its receiver was handed in the step; the ping is the mean of the connections' latest
    round-trip times, since the simulator sends no pings.
    """
    flows = pl.concat(samples(run, backend)).partition_by("flow", maintain_order=True)
    step = interval(run) / PICOSECONDS
    # A throughput is known from the first step's end on.
    times = flows[0]["time"].to_list()[1:]
    streams = [_throughput(flow, step) for flow in flows]
    results = {STREAM.format(number): stream for number, stream in enumerate(streams, start=1)}
    results |= {name: _over(streams, combine) for name, combine in ((AVERAGE, _mean), (SUM, sum), (FAIRNESS, jain))}
    results[PING] = _over([_known(flow, flow["latest_rtt"] * 1e3) for flow in flows], _mean)
    raw = {STREAM.format(number): _raw(flow, stream) for number, (flow, stream) in enumerate(zip(flows, streams, strict=True), 1)}
    raw[PING] = [{"t": time, "val": value} for time, value in zip(times, results[PING], strict=True) if value is not None]
    return {
        "version": FORMAT,
        "metadata": _metadata(run, name, title, note, results, step),
        "x_values": times,
        "results": results,
        "raw_values": raw,
    }


def _throughput(flow: pl.DataFrame, step: float) -> Series:
    """In Mbit/s; none where the connection is not open and nothing came."""
    rates = flow["bytes_delivered"].cast(pl.Int64).diff()[1:] * 8e-6 / step
    is_open = flow["state"][1:] == ESTABLISHED
    return [rate if opened or rate else None for rate, opened in zip(rates, is_open, strict=True)]


def _known(flow: pl.DataFrame, values: pl.Series) -> Series:
    """Values at the ends of the steps; none where the connection is not open."""
    is_open = flow["state"][1:] == ESTABLISHED
    return [value if opened else None for value, opened in zip(values[1:], is_open, strict=True)]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def _over(series: Sequence[Series], combine: Any) -> Series:
    """At each step what the known values come to."""
    known = ([value for value in values if value is not None] for values in zip(*series, strict=True))
    return [combine(values) if values else None for values in known]


def _raw(flow: pl.DataFrame, stream: Series) -> list[dict[str, float]]:
    """A stream's values as Flent notes those of netperf and of ss, without what is not known."""
    rows = flow[1:].select(
        t="time",
        val=pl.Series(stream, dtype=pl.Float64),
        tcp_rtt=pl.col("rtt") * 1e3,
        tcp_cwnd=pl.col("snd_cwnd") // pl.col("snd_mss"),
        tcp_pacing_rate=pl.col("pacing_rate") * 8e-6,
    )
    known = ({name: value for name, value in row.items() if value is not None} for row in rows.iter_rows(named=True))
    return [row for row in known if "val" in row]


def _metadata(run: Run, name: str, title: str, note: str, results: dict[str, Series], step: float) -> dict[str, Any]:
    specified = run.specification
    nodes = specified["nodes"]
    hosts = list(dict.fromkeys(nodes[group["to"]] for group in specified["flows"]))
    units = {FAIRNESS: "Idx", PING: "ms"}
    return {
        "NAME": TEST,
        "TITLE": title,
        "NOTE": note,
        "TIME": START,
        "T0": START,
        "HOST": hosts[0],
        "HOSTS": hosts,
        "LOCAL_HOST": nodes[specified["flows"][0]["from"]],
        "LENGTH": run.simulated_seconds,
        "TOTAL_LENGTH": run.simulated_seconds,
        "STEP_SIZE": step,
        "TEST_PARAMETERS": {"upload_streams": sum(name.startswith(STREAM.format("")) for name in results)},
        "IP_VERSION": 4,
        "FLENT_VERSION": FLENT,
        "DATA_FILENAME": name,
        "SERIES_META": {series: {"UNITS": units.get(series, "Mbits/s")} for series in results},
    }
