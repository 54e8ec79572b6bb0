"""Findings: what the sentences say of runs whose differences are known beforehand."""

import json
import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest

import sojourn
from conftest import SMALL_TOML, Capture
from sojourn import report
from sojourn.analysis import difference, findings
from sojourn.analysis.difference import Verdict
from sojourn.analysis.findings import Finding, Kind
from sojourn.analysis.result import Result
from sojourn.cli.commands import status
from sojourn.metrics import METRICS
from sojourn.statistics import Estimate, compare, estimate

#: A value of each metric by cell and seed.
Values = Callable[[Mapping[str, str], int], Mapping[str, float]]


def made(axes: Mapping[str, Sequence[str]], seeds: int, values: Values, groups: Sequence[str] = ("all",)) -> Result:
    """A result whose runs have these values; groups have them too."""
    cells: list[dict[str, str]] = [{}]
    for axis, labels in axes.items():
        cells = [{**cell, axis: label} for cell in cells for label in labels]
    names = list(METRICS)
    runs, of_groups = [], []
    for number, cell in enumerate(cells):
        for seed in range(1, seeds + 1):
            found = values(cell, seed)
            row = {"key": f"{number:03}-{seed:03}", **cell, "seed": seed, "events": float(1000 * number + seed)}
            row |= {"data_packets_delivered": seed, "timeouts": 0, "bottleneck_mbps": 20.0, "flow_count": 2, "window_s": 10.0}
            runs.append(row | {"specification": "{}"} | {name: found.get(name) for name in names})
            for group in groups:
                own = {name.partition(" of ")[0]: value for name, value in found.items() if name.endswith(f" of {group}")}
                of_groups.append(
                    {"key": row["key"], **cell, "seed": seed, "flow_group": group} | {name: own.get(name) for name in names}
                )
    schema: dict[str, type[pl.DataType]] = {"key": pl.String, **dict.fromkeys(axes, pl.String), "seed": pl.Int64}
    schema |= dict.fromkeys(names, pl.Float64)
    frames = {
        "runs": pl.DataFrame(runs, schema_overrides=schema),
        "groups": pl.DataFrame(of_groups, schema_overrides=schema),
    }
    result = Result(lambda name: frames[name].lazy(), list(axes))
    result.order = axes
    return result


def texts(found: Sequence[Finding], kind: Kind) -> list[str]:
    return [each.text for each in found if each.kind is kind]


WAIT = {"droptail": (0.500, 0.507, 0.514), "codel": (0.0035, 0.0036, 0.0037)}


def known(cell: Mapping[str, str], seed: int) -> dict[str, float]:
    """CoDel cuts the wait from 507 to 3.6 ms and costs 0.5 % of 20 Mbit/s; Jain's index is the same; losses are chance."""
    codel = cell["queue"] == "codel"
    return {
        "sojourn_mean_s": WAIT[cell["queue"]][seed - 1],
        "total_mbps": (20.0 + 0.001 * seed) * (0.995 if codel else 1),
        "jain": 0.98 + 0.001 * seed,
        "drop_pct": (1.0, 2.0, 3.0)[seed - 1] if codel else (3.0, 1.0, 2.0)[seed - 1],
    }


def test_the_effect_its_cost_what_is_alike_and_what_is_open() -> None:
    """One axis: the effect with interval and share of seeds, its small cost, what is alike, and how many seeds are lacking."""
    found = findings.of(made({"queue": ["droptail", "codel"]}, 3, known))
    assert [each.kind for each in found] == [Kind.EFFECT, Kind.ALIKE, Kind.OPEN]
    effect, alike, undecided = (each.text for each in found)
    # The differences are -496.5, -503.4 and -510.3 ms: -503.4 ± 4.30 * 6.9 / sqrt(3).
    assert effect == (
        "queue: codel instead of droptail cuts the mean sojourn time from 507 to 3.6 ms (95 % interval of the difference -521 to "
        "-486 ms; 3 of 3 seeds), but costs 0.50 % of the total throughput (-0.100022 to -0.099998 Mbit/s)."
    )
    assert alike == (
        "No difference beyond 15 % or the metric's floor: the total throughput and Jain's index of long-lived flows over queue."
    )
    assert undecided.startswith("Not decided by 3 seeds")
    lead = found[0].effects[0]
    expected = compare(WAIT["droptail"], WAIT["codel"])
    assert lead.difference == pytest.approx(expected.difference)
    assert (lead.first.mean, lead.second.mean) == pytest.approx((expected.first, expected.second))
    assert (lead.verdict, lead.better, lead.seeds, lead.pairs, lead.same_way) == (Verdict.DIFFERENT, True, 3, 3, 3)
    (lost,) = found[2].effects
    needed = re.search(r"about ([\d,]+) seeds would decide", undecided)
    assert needed
    # Differences of losses are -2, 1 and 1 points; 15 % of 2 is 0.3.
    deviation = math.sqrt(3)
    assert lost.seeds_needed is not None
    assert 1.96 * deviation / math.sqrt(lost.seeds_needed) < 0.3 < 1.96 * deviation / math.sqrt(0.7 * lost.seeds_needed)


def test_one_seed_claims_no_more_than_it_saw() -> None:
    """Of one seed the difference is told as what happened, without an interval, and what to do about that."""
    found = findings.of(made({"queue": ["droptail", "codel"]}, 1, known))
    assert texts(found, Kind.ALIKE) == []
    (effect,) = texts(found, Kind.EFFECT)
    assert "from 500 to 3.50 ms (one run each, so no interval)" in effect
    assert "interval of" not in effect
    assert "take 6 seeds or more" in found[-1].text


def test_cells_whose_seeds_change_nothing_have_no_interval() -> None:
    """Equal runs of all seeds count as one, as in tables."""
    result = made({"queue": ["droptail", "codel"]}, 3, lambda cell, _: known(cell, 1))
    for frame in ("runs", "groups"):
        there = result.frame(frame)
        if frame == "runs":
            there = there.with_columns(events=pl.col("queue").rank("dense"), data_packets_delivered=pl.lit(1))
        result._frames[frame] = there
    alike = Result(lambda name: result._frames[name].lazy(), ["queue"])
    assert alike.repeated.height == 2
    (effect,) = texts(findings.of(alike, result.order), Kind.EFFECT)
    assert "one run each, so no interval" in effect


def test_chance_is_no_finding() -> None:
    """Of cells that draw from one distribution, few comparisons are said to differ: the interval must leave out 15 %."""
    chance = random.Random(3)
    told = 0
    for _ in range(60):
        values = {(queue, seed): chance.uniform(5, 15) for queue in "abcd" for seed in range(1, 6)}
        result = made({"queue": list("abcd")}, 5, lambda cell, seed: {"total_mbps": values[cell["queue"], seed]})  # noqa: B023
        told += len(texts(findings.of(result), Kind.EFFECT))
    assert told <= 3


def test_the_other_axes_are_held() -> None:
    """Of two axes an effect is of pairs with the same value of the other and the same seed, whatever the other does."""

    def values(cell: Mapping[str, str], seed: int) -> dict[str, float]:
        base = {"5 ms": 10.0, "80 ms": 18.0}[cell["wait"]]
        return {"total_mbps": base * (0.5 if cell["queue"] == "codel" else 1) + 0.01 * seed}

    axes = {"queue": ["droptail", "codel"], "wait": ["5 ms", "80 ms"]}
    found = findings.of(made(axes, 3, values))
    queue, wait = (next(each for each in found if each.axis == axis) for axis in axes)
    assert (queue.first, queue.second, wait.first, wait.second) == ("droptail", "codel", "5 ms", "80 ms")
    assert queue.effects[0].difference.mean == pytest.approx((-5 - 9) / 2)
    assert (queue.effects[0].cells, queue.effects[0].pairs, queue.effects[0].seeds) == (2, 6, 3)
    assert "lowers the total throughput from 14.02 to 7.02 Mbit/s" in queue.text or "from 14.0 to 7.02 Mbit/s" in queue.text
    assert "mean over 2 pairs of cells" in queue.text
    assert "6 of 6 pairs of runs" in queue.text
    assert wait.effects[0].difference.mean == pytest.approx((8 + 4) / 2)


def test_an_effect_in_both_directions_is_no_mean() -> None:
    """Where a value helps in one cell and harms in another, the sentence says where, and gives no mean over them."""

    def values(cell: Mapping[str, str], seed: int) -> dict[str, float]:
        waits = {("cubic", "droptail"): 0.26, ("bbr", "droptail"): 0.05, ("cubic", "codel"): 0.002, ("bbr", "codel"): 0.08}
        return {"sojourn_mean_s": waits[cell["tcp"], cell["queue"]] + 1e-5 * seed}

    found = findings.of(made({"tcp": ["cubic", "bbr"], "queue": ["droptail", "codel"]}, 3, values))
    tcp = next(each for each in found if each.axis == "tcp").text
    assert tcp == (
        "tcp: bbr instead of cubic changes the mean sojourn time in both directions, by the other axes: it falls in 1 of 2 pairs "
        "of cells, most from 260 to 50.0 ms (queue droptail) and it rises in 1 of 2 pairs of cells, most from 2.02 to 80.0 ms "
        "(queue codel)."
    )


def test_quantities_are_told_from_least_to_greatest() -> None:
    """Of an axis of quantities in any order the sentence goes from the least to the greatest, with what lies between."""
    rates = {"10 Mbit/s": 5.0, "1 Mbit/s": 50.0, "5 Mbit/s": 10.0}
    result = made({"rate": list(rates)}, 3, lambda cell, seed: {"sojourn_mean_s": 1e-3 * (rates[cell["rate"]] + 0.01 * seed)})
    result.order = {}
    (effect,) = texts(findings.of(result), Kind.EFFECT)
    assert effect.startswith("rate: 10 Mbit/s instead of 1 Mbit/s cuts the mean sojourn time from 50.0")
    assert effect.endswith(" In between: 10.0 ms at 5 Mbit/s.")


def test_names_are_told_against_the_first() -> None:
    """Of names the one with the largest effect stands against the first of the file, and the others are listed."""
    waits = {"pie": 15.0, "droptail": 300.0, "codel": 5.0}
    result = made({"queue": list(waits)}, 3, lambda cell, seed: {"sojourn_mean_s": 1e-3 * (waits[cell["queue"]] + 0.01 * seed)})
    (effect,) = texts(findings.of(result), Kind.EFFECT)
    assert effect.startswith("queue: droptail instead of pie raises the mean sojourn time from 15.0 to 300 ms")
    assert effect.endswith(" For comparison: codel 5.0 ms.") or effect.endswith(" For comparison: codel 5.02 ms.")


def test_groups_of_flows_are_told_by_name() -> None:
    """What happens to a group of flows beside others is told of it: its delay, and the share of long-lived ones."""

    def values(cell: Mapping[str, str], seed: int) -> dict[str, float]:
        codel = cell["queue"] == "codel"
        return {
            "total_mbps": 20.0,
            "delay_p99_s of call": (0.03 if codel else 0.6) + 1e-4 * seed,
            "jain of downloads": 0.9,
        }

    found = findings.of(made({"queue": ["droptail", "codel"]}, 3, values, ("call", "downloads")))
    (effect,) = texts(found, Kind.EFFECT)
    assert "cuts the p99 one-way delay of call from 600 to 30.2 ms" in effect


def test_one_cell_states_what_it_measured() -> None:
    """A scenario without axes gets plain sentences on use, wait, losses, fairness and its groups."""

    def values(_: Mapping[str, str], seed: int) -> dict[str, float]:
        return {
            **{"utilisation": 0.98, "sojourn_mean_s": 0.5 + 0.001 * seed, "sojourn_p99_s": 0.6, "drop_pct": 0.25, "jain": 0.9},
            **{"share_pct of a": 82.0 + 0.1 * seed, "jain of a": 0.9, "share_pct of b": 18.0 - 0.1 * seed, "jain of b": 0.9},
        }

    told = texts(findings.of(made({}, 3, values, ("a", "b"))), Kind.STATE)
    assert told == [
        "The bottleneck is in use 98.00 ± 0.00 % of the time; packets wait 502 ± 2 ms before it on average, and 600.00 ± 0.00 ms "
        "at the 99th percentile.",
        "0.25 ± 0.00 % of the packets are dropped; Jain's index of the long-lived flows is 0.90 ± 0.00.",
        "Of all throughput, a has 82.2 ± 0.2 %.",
    ]


def test_shares_of_several_groups_stand_in_one_clause() -> None:
    """What several groups have of all throughput is told at once, and other measures of a group after it."""

    def values(_: Mapping[str, str], seed: int) -> dict[str, float]:
        return {
            **{"share_pct of a": 50.0, "share_pct of b": 30.0, "share_pct of c": 20.0},
            **{"jain of a": 0.9, "jain of b": 0.9, "jain of c": 0.9, "delay_p99_s of b": 0.03 + 1e-4 * seed},
        }

    told = texts(findings.of(made({}, 3, values, ("a", "b", "c"))), Kind.STATE)
    assert told[-1] == (
        "Of all throughput, a has 50.0 ± 0.0 %, b has 30.0 ± 0.0 %, c has 20.0 ± 0.0 %; "
        "the p99 one-way delay of b is 30.2 ± 0.2 ms."
    )


def test_no_pair_of_cells_no_finding() -> None:
    """Points of a search, no two of which differ in one axis alone, have no effect of an axis."""
    rows = made({"rate": ["1", "2"], "limit": ["3", "4"]}, 3, lambda *_: {"total_mbps": 1.0})
    runs = rows.runs.filter(pl.col("rate").cast(pl.Int64) + 2 == pl.col("limit").cast(pl.Int64))
    found = Result(lambda name: (runs if name == "runs" else rows.groups.clear()).lazy(), ["rate", "limit"])
    assert findings.of(found) == []


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.6, 2.0, Verdict.DIFFERENT),
        (-2.0, -1.6, Verdict.DIFFERENT),
        (-1.0, 1.5, Verdict.ALIKE),
        (1.0, 2.0, Verdict.OPEN),
        (-2.0, 0.0, Verdict.OPEN),
        (None, None, Verdict.OPEN),
    ],
)
def test_one_rule(low: float | None, high: float | None, verdict: Verdict) -> None:
    """An interval beyond what counts as equal differs, one within is alike, and one across decides nothing."""
    mean = 1.0 if low is None or high is None else (low + high) / 2
    assert difference.judge(Estimate(mean, low, high), 1.5) is verdict


def test_seeds_that_would_decide() -> None:
    """That many seeds with the same mean and deviation do decide, and noticeably fewer do not."""
    values = [0.0, 1.0, 2.0, 1.5, 0.5]
    found = estimate(values)
    number = difference.seeds_needed(found, len(values), 0.8)
    assert number is not None
    spread = math.sqrt(sum((value - 1) ** 2 for value in values) / 4)

    def decided(seeds: int) -> bool:
        from scipy import stats

        half = stats.t.ppf(0.975, seeds - 1) * spread / math.sqrt(seeds)
        return bool(difference.judge(Estimate(1.0, 1 - half, 1 + half), 0.8) is not Verdict.OPEN)

    assert decided(number)
    assert not decided(math.floor(number / 1.2))


SWEEP = """
[sweep]
seeds = 3
[sweep.axes]
queue = { key = "network.dumbbell.bottleneck.queue.name", values = ["droptail", "codel"] }
"""


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of two queues."""
    folder = tmp_path_factory.mktemp("findings")
    (folder / "small.toml").write_text(SMALL_TOML + SWEEP, encoding="utf-8")
    sojourn.run(folder / "small.toml", out=folder / "out")
    return folder / "out"


def test_the_same_sentences_everywhere(swept: Path, capsys: Capture) -> None:
    """The terminal, JSON, the Python prompt and the report begin with the same sentences; the report before anything else."""
    with sojourn.open(swept) as store:
        result = store.result(["queue"], None)
        expected = [each.text for each in findings.of(result, {"queue": ["droptail", "codel"]})]
    assert expected
    file = str(swept.parent / "small.toml")
    capsys.readouterr()
    assert status(["run", file, "--out", str(swept)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1 : 1 + len(expected)] == expected  # after what was to be run
    assert status(["run", file, "--out", str(swept), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["findings"]
    assert [row["text"] for row in rows] == expected
    assert {"metric", "first", "difference_ci_low", "allowed", "verdict", "seeds_needed"} <= rows[0]["values"][0].keys()
    assert str(sojourn.run(file, out=swept)).startswith(expected[0])
    page = report.write(swept).read_text(encoding="utf-8")
    main = page[page.index('<main id="main">') :]
    listed = re.findall(r"<li class=\"[a-z]+\">([^<]*)</li>", main[: main.index("</ul>")])
    assert [text.replace("&#39;", "'") for text in listed] == expected


def test_compare_says_what_differs(swept: Path, capsys: Capture) -> None:
    """Two cells: sentences first, rows by size, titles with units, a tilde where no difference is shown, harm explained."""
    capsys.readouterr()
    assert status(["compare", str(swept), "queue=droptail", "queue=codel"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("queue=codel instead of queue=droptail ")
    assert "│ Total throughput (Mbit/s)" in text
    assert "harm: the part of A's performance that B lacks" in text
    assert status(["compare", str(swept), "queue=droptail", "queue=codel", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    order = ["different", "not decided", "alike"]
    assert [order.index(row["verdict"]) for row in rows] == sorted(order.index(row["verdict"]) for row in rows)
    for row in rows:
        ends = Estimate(row["difference"], row["difference_ci_low"], row["difference_ci_high"])
        assert row["verdict"] == difference.judge(ends, row["allowed"])
        shown = next(line for line in text.splitlines() if f"│ {METRICS[row['metric']].label} " in line)
        assert ("~" in shown) == (row["verdict"] != "different")


def test_compare_of_many_cells_begins_with_sentences(swept: Path, tmp_path: Path, capsys: Capture) -> None:
    """Two directories: what the second is instead of the first, over all cells."""
    file = str(swept.parent / "small.toml")
    sojourn.run(file, out=tmp_path / "slow", changes={"network.dumbbell.bottleneck.rate": "2 Mbit/s"})
    capsys.readouterr()
    assert status(["compare", str(swept), str(tmp_path / "slow")]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith(f"{tmp_path / 'slow'} instead of {swept} ")
    assert "mean over 2 pairs of cells" in first
