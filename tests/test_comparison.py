import json
from pathlib import Path

import polars as pl
import pytest

import sojourn
from conftest import SMALL_TOML, Capture, complaint
from sojourn.analysis import comparison
from sojourn.cli.commands import status
from sojourn.errors import InputError

#: Two cells with seeds 1 to 3 in common; a third cell has seeds of its own.
RUNS = pl.DataFrame(
    {
        "key": list("abcdefgh"),
        "tcp": ["cubic beta=0.8"] * 4 + ["newreno"] * 3 + ["bbr"],
        "queue": ["codel"] * 8,
        "seed": [1, 2, 3, 4, 3, 2, 1, 9],
        "jain": [0.5, 0.6, 0.7, 99.0, 0.9, 0.8, 0.7, 1.0],
        "drop_pct": [None, 1.0, 2.0, 3.0, 4.0, None, 2.0, 1.0],
    }
)


def test_common_seeds_are_compared() -> None:
    """Cells are compared in pairs over the seeds that both have values for."""
    jain, drops = comparison.compare_cells(RUNS, {"tcp": "cubic beta=0.8"}, {"tcp": "newreno"})
    assert jain.metric.name == "jain"
    assert jain.comparison is not None
    assert jain.comparison.pairs == 3
    assert (jain.comparison.first, jain.comparison.second) == pytest.approx((0.6, 0.8))
    assert jain.comparison.difference == pytest.approx((0.2, 0.2, 0.2))  # all pairs differ equally: no width
    # Seed 1 has no value in the first cell, seed 2 none in the second.
    assert drops.comparison is not None
    assert (drops.comparison.pairs, drops.comparison.first, drops.comparison.second) == (1, 2.0, 4.0)


def test_cell_condition() -> None:
    """A cell is written as AXIS=VALUE pairs; values may contain commas and equals signs."""
    axes = comparison.axes_of(RUNS)
    assert axes == ["tcp", "queue"]
    assert comparison.condition("tcp=cubic beta=0.8,queue=codel", axes) == {"tcp": "cubic beta=0.8", "queue": "codel"}
    # A value may contain commas, and text that looks like an axis.
    assert comparison.condition("queue=a,b tcp=3, tcp=x", axes) == {"queue": "a,b tcp=3", "tcp": "x"}


@pytest.mark.parametrize(
    ("first", "second", "metrics", "message"),
    [
        ("tcp=cubic", "tcp=newreno", None, 'unknown value of axis tcp "cubic", did you mean "cubic beta=0.8"?'),
        ("tpc=cubic", "tcp=newreno", None, 'unknown axis "tpc", did you mean "tcp"?'),
        ("tcp", "tcp=newreno", None, "write AXIS=VALUE"),
        ("queue=codel", "tcp=newreno", None, "several cells match; choose a value of tcp"),
        ("tcp=bbr", "tcp=newreno", None, "the two cells have no common seed"),
        ("tcp=newreno", "tcp=newreno", ["jane"], 'unknown metric "jane", did you mean "jain"?'),
    ],
)
def test_bad_comparison(first: str, second: str, metrics: list[str] | None, message: str) -> None:
    """A comparison that cannot be made is an error that says why."""
    axes = comparison.axes_of(RUNS)
    with pytest.raises(InputError) as error:
        comparison.compare_cells(RUNS, comparison.condition(first, axes), comparison.condition(second, axes), metrics)
    assert message in str(error.value)


def test_compare_shows_metrics(tmp_path: Path, capsys: Capture) -> None:
    """`compare` shows one row for each metric asked for, and one-line errors."""
    path, out = tmp_path / "swept.toml", tmp_path / "out"
    sweep = '[sweep]\nseeds = 3\n[sweep.axes]\n"network.dumbbell.bottleneck.queue.name" = ["codel", "pie"]\n'
    path.write_text(SMALL_TOML + sweep, encoding="utf-8")
    assert status(["run", str(path), "--out", str(out)]) == 0
    capsys.readouterr()
    axis = "network.dumbbell.bottleneck.queue.name"
    assert status(["compare", str(out), f"{axis}=codel", f"{axis}=pie", "--metric", "jain", "--metric", "drop_pct"]) == 0
    shown = capsys.readouterr().out
    assert "│ Jain's index of long-lived flows (1: all equal) │     3 │" in shown
    assert "│ Drop ratio (%)                                  │     3 │" in shown
    assert "tilisation" not in shown
    # The least p of three pairs is 2 / 2^3: all signs alike, of either sign.
    assert "With 3 seeds p cannot be below 0.25; with 6 it can be below 0.05." in shown
    assert status(["compare", str(out), f"{axis}=codel", f"{axis}=red"]) == 2
    assert 'unknown value of axis network.dumbbell.bottleneck.queue.name "red"' in complaint(capsys)
    assert status(["compare", str(tmp_path), "a=b", "c=d"]) == 2
    assert "not a results directory" in complaint(capsys)


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of two cells with two seeds."""
    return swept(tmp_path_factory.mktemp("before"), ["codel", "pie"])


def swept(folder: Path, queues: list[str], *options: str) -> Path:
    path, out = folder / "swept.toml", folder / "out"
    sweep = f'[sweep]\nseeds = 2\n[sweep.axes]\nqueue = {{ key = "network.dumbbell.bottleneck.queue.name", values = {queues} }}\n'
    path.write_text(SMALL_TOML + sweep, encoding="utf-8")
    assert status(["run", str(path), "--out", str(out), *options]) == 0
    return out


def test_two_directories(before: Path, tmp_path: Path, capsys: Capture) -> None:
    """`compare DIR DIR2` pairs runs by cell and seed: with a directory itself all is the same, with other settings it is not."""
    capsys.readouterr()
    assert status(["compare", str(before), str(before), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["differences"] == []
    assert all(row["percent"] == 100 for row in shown["agreement"])
    after = swept(tmp_path, ["codel", "red"], "--set", "network.dumbbell.bottleneck.rate='5 Mbit/s'")
    capsys.readouterr()
    assert status(["compare", str(before), str(after), "--metric", "total_mbps"]) == 0
    text = capsys.readouterr().out
    assert "0 of 2 runs are the same in A and B" in text
    assert "1 cell of A not in B." in text
    assert "1 cell of B not in A." in text
    assert status(["compare", str(before), str(after), "--metric", "total_mbps", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    (row,) = shown["differences"]
    assert row["queue"] == "codel"
    with sojourn.open(before) as one, sojourn.open(after) as other:
        a, b = (store.runs.filter(queue="codel")["total_mbps"].mean() for store in (one, other))
    assert (row["a"], row["b"]) == pytest.approx((a, b))


def test_sides_that_cannot_be_compared(before: Path, capsys: Capture) -> None:
    """A value that no cell has, a directory that is not there and a metric that runs have not are refused in one line."""
    capsys.readouterr()
    assert status(["compare", str(before), "queue=codel", "queue=red"]) == 2
    assert 'unknown value of axis queue "red"' in complaint(capsys)
    assert status(["compare", str(before), str(before / "none")]) == 2
    assert "no such directory" in complaint(capsys)
    assert status(["compare", str(before), str(before), "--metric", "share_pct"]) == 2
    assert 'unknown metric "share_pct"' in complaint(capsys)
