"""Verdicts: each holds where it must and nowhere else, by pairs and conditions of which that is known."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sojourn
from conftest import Capture, complaint
from sojourn import verdicts
from sojourn.analysis.result import Result
from sojourn.cli.commands import status
from sojourn.statistics import fewest_for_a_majority, most
from sojourn.verdicts import scenes

SEEDS = fewest_for_a_majority()


def scenario(flows: list[dict[str, Any]], queue: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A home's line of 10 Mbit/s and 40 ms with these flows, each with its own host for a sender."""
    hosts = [{"name": f"s{place}", "rate": "1 Gbit/s", "delay": "1 ms"} for place in range(len(flows))]
    dumbbell = {
        "senders": [{**host, "delay": flow.pop("delay", "1 ms")} for host, flow in zip(hosts, flows, strict=True)],
        "receivers": [{"name": "b", "rate": "1 Gbit/s", "delay": "1 ms"}],
        "bottleneck": {"rate": "10 Mbit/s", "delay": "18 ms", "queue": queue},
    }
    return {
        "name": "pair",
        "duration": "40 s",
        "warm_up": "10 s",
        "stack": {"profile": "linux-6"},
        "network": {"dumbbell": dumbbell},
        "flows": [
            {"from": host["name"], "to": "b", "start_within": "1 s", **flow} for host, flow in zip(hosts, flows, strict=True)
        ],
        **changes,
    }


def answers(result: Result) -> dict[str, str]:
    """The answer of each verdict on results of one cell."""
    return {each.definition.id: str(each.answer) for each in verdicts.judge(result)}


def held(flows: list[dict[str, Any]], queue: dict[str, Any], **changes: Any) -> set[str]:
    """The verdicts that hold on most seeds."""
    found = answers(sojourn.run(scenario(flows, queue, **changes), SEEDS, jobs=1))
    return {name for name, answer in found.items() if answer == "holds"}


DEEP = {"name": "droptail", "limit": "10 BDP"}


def test_a_buffer_of_a_packet_leaves_the_link_unused() -> None:
    """A lone New Reno flow without a buffer keeps three quarters of a link busy."""
    assert "unused" in held([{"tcp": "newreno"}], {"name": "droptail", "limit": "1 packets"})


def test_a_buffer_that_takes_no_packet_loses_too_many() -> None:
    """Where nothing arrives no round-trip time is measured, by which New Reno's loss would be known."""
    assert "excess-loss" in held([{"tcp": "newreno"}], {"name": "droptail", "limit": "1000 B"})


def test_cubic_fills_a_deep_buffer_and_codel_empties_it() -> None:
    """Bufferbloat, and its cure."""
    assert "standing-queue" in held([{"tcp": "cubic", "count": 2}], dict(DEEP))
    assert "standing-queue" not in held([{"tcp": "cubic", "count": 2}], {"name": "codel", "limit": "10 BDP"})


def test_ledbat_yields_and_cubic_shares() -> None:
    """LEDBAT is made to leave the link to others; a flow of CUBIC is not, beside another."""
    assert "unfair-by-algorithm" in held([{"tcp": "cubic"}, {"tcp": "ledbat"}], {"name": "droptail", "limit": "4 BDP"})
    found = held([{"tcp": "cubic"}, {"tcp": "cubic"}], {"name": "droptail", "limit": "1 BDP"})
    assert found.isdisjoint({"unfair-by-algorithm", "starvation", "lock-out"})


def test_bbr_prefers_long_ways() -> None:
    """BBR of a longer way takes more than that of a shorter (Hock, Bless and Zitterbart, ICNP 2017); a fair queue prevents it."""
    flows = [{"tcp": "bbr"}, {"tcp": "bbr", "delay": "60 ms"}]
    assert "unfair-by-rtt" in held([dict(each) for each in flows], dict(DEEP), duration="60 s")
    assert "unfair-by-rtt" not in held([dict(each) for each in flows], {"name": "fq_codel", "limit": "10 BDP"}, duration="60 s")


def test_pie_with_a_target_beyond_the_buffer_is_droptail() -> None:
    """A buffer that is full before the target is reached is all that drops."""
    flows = [{"tcp": "cubic", "count": 2}]
    beyond = {"name": "pie", "limit": "1 BDP", "target": "400 ms"}
    assert "out-of-control" in held([dict(each) for each in flows], beyond)
    assert "out-of-control" not in held([dict(each) for each in flows], {"name": "pie", "limit": "10 BDP"})


def test_no_better_than_droptail_is_seen_beside_droptail() -> None:
    """CoDel with a target as long as DropTail's queue drops nothing early, and nothing at all if the buffer is deep."""
    queues = {"droptail": dict(DEEP), "late": {"name": "codel", "limit": "10 BDP", "target": "100 s"}}
    values = [{"label": name, "value": queue} for name, queue in queues.items()]
    axes = {"queue": {"key": "network.dumbbell.bottleneck.queue", "values": values}}
    result = sojourn.run({**scenario([{"tcp": "cubic"}], DEEP), "sweep": {"axes": axes}}, SEEDS, jobs=1)
    found = {each.cell["queue"]: str(each.answer) for each in verdicts.judge(result) if each.definition.id == "out-of-control"}
    assert found == {"late": "holds"}


def test_starvation_is_what_the_metric_counts() -> None:
    """Two ways to the same number: the view of verdicts in SQL, and the metric ``starved_pct``."""
    flows: list[dict[str, Any]] = [{"tcp": "cubic", "count": 3}, {"tcp": "ledbat", "count": 2}, {"tcp": "bbr", "delay": "100 ms"}]
    result = sojourn.run(scenario(flows, dict(DEEP), duration="20 s"), SEEDS, jobs=1)
    (found,) = (each for each in verdicts.judge(result) if each.definition.id == "starvation")
    assert sorted(found.values) == pytest.approx(sorted(result.runs["starved_pct"].to_list()))
    assert found.held == sum(value > 0 for value in result.runs["starved_pct"].to_list()) > 0


def test_convergence_and_oscillation_need_samples() -> None:
    """What cannot be told is not judged; two flows of New Reno at equal round-trip times share soon."""
    flows = [{"tcp": "newreno"}, {"tcp": "newreno"}]
    without = answers(sojourn.run(scenario([dict(each) for each in flows], dict(DEEP)), SEEDS, jobs=1))
    assert {"oscillation", "slow-convergence", "unfair-by-rtt", "synchronisation"}.isdisjoint(without)
    probe = {"queue_series": "100 ms", "flow_series": "1 s"}
    queue = {"name": "droptail", "limit": "1 BDP"}
    sampled = answers(sojourn.run(scenario(flows, queue, probe=probe, duration="60 s"), SEEDS, jobs=1))
    assert sampled["slow-convergence"] != "holds"
    assert sampled["oscillation"] == "does not hold"


def test_promises() -> None:
    """Targets, RED's automatic threshold by hand, and Appenzeller's buffer of others."""
    codel = {"name": "codel", "parameters": {"target": 5 * 10**9}}
    red = {"name": "red", "parameters": {"max": {"packets": 0}, "target_delay": 5 * 10**9, "mean_packet_size": 1500}}
    assert scenes.promise(codel, 1e7, 0.1, 4) == pytest.approx(0.005)
    # Five packets of 1500 bytes take 6 ms at 10 Mbit/s, more than half of 5 ms; at 100 Mbit/s less. Three times that.
    assert scenes.promise(red, 1e7, 0.1, 4) == pytest.approx(0.018)
    assert scenes.promise(red, 1e8, 0.1, 4) == pytest.approx(0.0075)
    assert scenes.promise({"name": "droptail"}, 1e7, 0.1, 25) == pytest.approx(0.01)


@given(st.integers(0, 40), st.integers(0, 40))
def test_most_is_one_sided_and_symmetric(times: int, others: int) -> None:
    """What holds most of the time does not fail most of the time, and six that agree are the least."""
    of, opposite = times + others, {True: False, False: True, None: None}
    assert most(others, of) == opposite[most(times, of)]
    assert times + others >= SEEDS or most(times, of) is None


def test_seeds_that_change_nothing_count_once() -> None:
    """Six runs that are one decide nothing."""
    stack = {"profile": "linux-6", "random_overhead": False}
    data = scenario([{"tcp": "cubic"}], dict(DEEP), stack=stack, sender_overhead="0 s", duration="20 s")
    data["flows"][0]["start_within"] = "0 s"
    (found,) = (each for each in verdicts.judge(sojourn.run(data, SEEDS, jobs=1)) if each.definition.id == "standing-queue")
    assert (found.held, found.seeds, str(found.answer)) == (1, 1, "undecided")


def test_a_discipline_that_does_not_say_why_it_drops() -> None:
    """A kernel's CAKE does not tell drops of a full buffer from others: whether it is out of control is not asked then."""
    found = sojourn.run(scenario([{"tcp": "cubic", "count": 4}], {"name": "pie", "limit": "10 packets"}), SEEDS, jobs=1)
    assert answers(found)["out-of-control"] == "holds"

    def untold(name: str) -> pl.LazyFrame:
        frame = found.scan(name)
        return frame.with_columns(drops_overflow=pl.lit(None, pl.UInt64)) if name == "queues" else frame

    assert "out-of-control" not in answers(Result(untold, found.axes))


def test_command(tmp_path: Path, capfd: Capture) -> None:
    """What it prints, as text and for programs, and what it refuses."""
    sojourn.run(scenario([{"tcp": "cubic", "count": 2}], dict(DEEP)), SEEDS, jobs=1, out=tmp_path / "r")
    assert status(["verdicts", str(tmp_path / "r")]) == 0
    said = capfd.readouterr().out
    assert "standing-queue" in said
    assert "1 cell: 0 get along, 1 do not" in said
    assert status(["verdicts", str(tmp_path / "r"), "--csv"]) == 0
    table = pl.read_csv(capfd.readouterr().out.encode())
    rows: Mapping[str, str] = dict(table.select("verdict", "answer").iter_rows())
    assert (rows["standing-queue"], rows["unused"]) == ("holds", "does not hold")
    assert status(["verdicts", str(tmp_path / "r"), "--verdict", "standing"]) == 2
    assert complaint(capfd).startswith('sojourn: unknown verdict "standing"')
    assert status(["verdicts", str(tmp_path)]) == 2
    assert complaint(capfd)
