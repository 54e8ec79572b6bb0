"""Random runs over all controls, queues, stacks and traffics: what holds of every run, whatever it is of.

Each is drawn from its number, so that one that fails is made again by `pytest -k "[17]"`.
"""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn
from conftest import IN_CI
from sojourn import catalogue
from sojourn.analysis.frames import NAMES
from sojourn.analysis.result import Result
from sojourn.metrics import METRICS
from sojourn.scenario import Scenario, from_data

#: How many there are, and each of which also `make test` tries.
ALL, FEW = (160 if IN_CI else 400), 20

TRAFFICS: dict[str, dict[str, Any]] = {
    "bulk": {},
    "sized": {"size": "300 kB"},
    "transfers": {"size": {"distribution": "exponential", "mean": "40 kB"}, "arrivals": {"process": "poisson", "rate": 4}},
    "users": {"size": "30 kB", "arrivals": {"users": 3, "think": "200 ms"}},
    "pages": {"page": {"objects": 5, "first": "8 kB", "size": "20 kB"}, "arrivals": {"process": "poisson", "rate": 1}},
    "multiplexed": {"page": {"objects": 5, "first": "8 kB", "size": "20 kB", "multiplexed": True, "interleaved": True}},
    "exchanges": {"exchange": {"response": "40 kB", "count": 3, "think": "20 ms"}, "arrivals": {"process": "poisson", "rate": 3}},
    "video": {"video": {"rule": "bba0", "ladder": ["300 kbit/s", "1 Mbit/s"], "segment": "1 s", "buffer": "10 s"}},
    "periodic": {"periodic": {"size": "3 kB", "every": "100 ms"}},
}

#: What a discipline cannot do without.
REQUIRED: dict[str, dict[str, Any]] = {
    "tbf": {"rate": "5 Mbit/s"},
    "apd_static": {"hungriest": "first"},
    "codel_static": {"hungriest": "first"},
}

#: Columns and metrics that are parts of a whole, and the whole.
WHOLES = {
    **{name: 100.0 for name in METRICS if name.endswith("_pct")},
    **dict.fromkeys(("jain", "jain_1s", "jain_100ms", "utilisation", "loss_synchronisation"), 1.0),
}


def drawn(number: int) -> dict[str, Any]:
    """The scenario of a number, as a file has it. The round trip without queues is `2 * delay` at least."""
    chance = random.Random(f"random run {number}")
    controls = [each.name for each in catalogue.load().congestion_controls]
    # Each control and each queue has its turn.
    control, queue = controls[number % len(controls)], [each.name for each in catalogue.load().queues][number % 35]
    warm_up = chance.choice([0, 1, 3])
    link: dict[str, Any] = {
        "rate": f"{chance.choice([1, 4, 10, 40])} Mbit/s",
        "delay": f"{delay_of(chance)} ms",
        "queue": {"name": queue, "limit": f"{chance.choice([5, 30, 200])} packets", **REQUIRED.get(queue, {})},
    }
    variant = chance.choice(["plain", "plain", "plain", "lossy", "reordering", "outage", "trace", "acks"])
    if variant == "lossy":
        link |= {"loss": 0.03, "reverse": {"loss": 0.03}}
    elif variant == "reordering":
        link |= {"impairments": {"jitter": {"mean": "2 ms", "reorders": True}, "duplication": 0.02}}
    elif variant == "outage":
        link |= {"changes": [{"at": "2 s", "rate": "0 bit/s"}, {"at": "2500 ms", "rate": "10 Mbit/s"}]}
    elif variant == "trace":
        link |= {"rate": {"trace": "opportunities"}}
    elif variant == "acks":
        link |= {"reverse": {"rate": "500 kbit/s", "queue": {"name": "droptail", "limit": "20 packets"}}}
    unresponsive = catalogue.load().congestion_control(control).unresponsive
    flows = [flow(chance, "first", control, "bulk" if unresponsive or control == "tfrc" else chance.choice(list(TRAFFICS)))]
    if chance.random() < 0.7:
        flows.append(flow(chance, "second", chance.choice(["cubic", "newreno", "bbr", "tfrc"]), "bulk"))
    if chance.random() < 0.3:
        flows[-1]["both_ways"] = True
    return {
        "name": f"random run {number}",
        "duration": "6 s",
        "warm_up": f"{warm_up} s",
        "stack": chance.choice([profile.name for profile in catalogue.load().profiles]),
        "network": {
            "dumbbell": {
                "senders": [{"name": "a", "rate": "100 Mbit/s"}],
                "receivers": [{"name": "b", "rate": "100 Mbit/s"}],
                "bottleneck": link,
            }
        },
        "flows": flows,
        "probe": {"flow_series": "100 ms", "queue_series": "100 ms"} if chance.random() < 0.7 else {},
    }


def delay_of(chance: random.Random) -> int:
    return chance.choice([1, 5, 20, 60])


def flow(chance: random.Random, group: str, control: str, traffic: str) -> dict[str, Any]:
    """An entry of flows. Those without a time of arrival of their own start before, at and after the window opens."""
    entry: dict[str, Any] = {"from": "a", "to": "b", "group": group, "tcp": control, **TRAFFICS[traffic]}
    if control == "cbr":
        entry["tcp"] = {"name": "cbr", "rate": f"{chance.choice([1, 20])} Mbit/s"}
    if "arrivals" not in entry:
        entry |= {"start": chance.choice(["0 s", "1 s", "3200 ms"]), "count": chance.choice([1, 2, 5])}
    return entry


def read(number: int, folder: Path) -> Scenario:
    # Each third millisecond has opportunities, of which the third has two: a packet of 1500 bytes each.
    (folder / "opportunities").write_text("3\n6\n9\n9\n")
    data = drawn(number)
    return from_data(data, "random.toml", folder)


def check_bounds(result: Result) -> None:
    """No value is infinite or not a number, none is negative, and no part is more than its whole."""
    for name in NAMES:
        frame = getattr(result, name)
        for column in frame.columns:
            if frame.schema[column].is_float():
                known = frame[column].drop_nulls()
                assert known.is_finite().all(), f"{name}.{column} is not a number"
                assert (known >= 0).all(), f"{name}.{column} is negative: {known.min()}"
            if column in WHOLES:
                most = frame[column].drop_nulls().max()
                assert most is None or most <= WHOLES[column] * (1 + 1e-9), f"{name}.{column}: {most} of {WHOLES[column]}"
    fairness = result.runs.filter(pl.col("jain").is_not_null())
    assert (fairness["jain"] * fairness["long_lived_count"] >= 1 - 1e-9).all(), "Jain's index is at least 1/n"


def check_delays(result: Result, data: Mapping[str, Any]) -> None:
    """Nothing is faster than the wire: neither a round trip nor a packet, an answer or a transfer."""
    delay = int(data["network"]["dumbbell"]["bottleneck"]["delay"].split()[0]) / 1000
    for frame, column, least in (
        ("flows", "rtt_min", 2 * delay),
        ("flows", "delay_min", delay),
        ("flows", "rtt_trimmed", 2 * delay),
        ("transfers", "completion_time", delay),
    ):
        found = getattr(result, frame)[column].drop_nulls().min()
        assert found is None or found >= least, f"{frame}.{column}: {found} s, over a path of {least} s"
    link = data["network"]["dumbbell"]["bottleneck"]
    if "changes" not in link and "trace" not in link["rate"]:  # The ideal time is that of the first rate.
        assert (result.transfers["slowdown"] >= 1 - 1e-9).all(), "no transfer is faster than alone"


def check_use(result: Result, data: Mapping[str, Any]) -> None:
    """A link is used whose queue is never seen empty, whatever its rate does; a token bucket keeps packets back."""
    if not data["probe"] or data["network"]["dumbbell"]["bottleneck"]["queue"]["name"] == "tbf":
        return
    opens = int(data["warm_up"].split()[0])
    length = pl.col("value").filter((pl.col("kind") == "queue") & (pl.col("measure") == "packets") & (pl.col("time") >= opens))
    for link, least in result.series.filter(pl.col("time") > 0).group_by("which").agg(length.min()).drop_nulls().iter_rows():
        used = result.queues.filter(link=link)["utilisation"]
        assert least < 2 or (used > 0.9).all(), f"{link}: {used.to_list()} of the link, though {least} packets wait at least"


def check_conservation(result: Result) -> None:
    """What entered a queue left it, was dropped or is in it; what is complete was delivered."""
    queues = result.queues
    ended = queues["total_departures"] + queues["total_drops"] + queues["queued_at_end"]
    assert (queues["total_arrivals"] == ended).all()
    assert (queues["drops"] == queues["drops_overflow"] + queues["drops_early"]).all()
    assert (result.flows["bytes_delivered"] <= result.flows["total_bytes_delivered"]).all()
    assert (result.flows["retransmissions"] <= result.flows["segments_sent"]).all()
    complete = result.transfers.filter(pl.col("kind") != "page").group_by("key", "flow").agg(pl.col("bytes").sum())
    both = complete.join(result.flows, on=["key", "flow"])
    assert (both["bytes"] <= both["total_bytes_delivered"]).all()


def frames(result: Result) -> dict[str, pl.DataFrame]:
    """All frames, in an order that does not depend on that of the runs."""
    return {name: getattr(result, name).sort("seed", maintain_order=True) for name in NAMES}


# What is drawn may be a discipline that marks nobody, or a load above one; runs of both are runs.
@pytest.mark.filterwarnings("ignore:step on the link", "ignore:arrivals. a load of")
@pytest.mark.parametrize("number", [n if n % (ALL // FEW) == 0 else pytest.param(n, marks=pytest.mark.long) for n in range(ALL)])
def test_random_run(number: int, tmp_path: Path) -> None:
    """Every run conserves bytes and packets, and keeps shares, indices and delays in their bounds; every value is a number.

    Two seeds are the same bytes, made one after another or by two workers that go on where a campaign of one seed ended.
    """
    scenario = read(number, tmp_path)
    result = sojourn.run(scenario, seeds=2, jobs=1)
    check_bounds(result)
    check_delays(result, drawn(number))
    check_use(result, drawn(number))
    check_conservation(result)
    if number % 4 == 0:
        sojourn.run(scenario, seeds=1, out=tmp_path / "kept")
        resumed = sojourn.run(scenario, seeds=2, jobs=2, out=tmp_path / "kept")
        for name, frame in frames(result).items():
            assert frame.equals(frames(resumed)[name]), name
