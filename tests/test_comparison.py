from pathlib import Path

import polars as pl
import pytest

from conftest import SMALL_TOML, Capture, complaint
from sojourn import comparison
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
    assert "│ jain     │     3 │" in shown
    assert "│ drop_pct │     3 │" in shown
    assert "utilisation" not in shown
    # The least p of three pairs is 2 / 2^3: all signs alike, of either sign.
    assert "With 3 seeds p cannot be below 0.25; with 6 it can be below 0.05." in shown
    assert status(["compare", str(out), f"{axis}=codel", f"{axis}=red"]) == 2
    assert 'unknown value of axis network.dumbbell.bottleneck.queue.name "red"' in complaint(capsys)
    assert status(["compare", str(tmp_path), "a=b", "c=d"]) == 2
    assert "not a results directory" in complaint(capsys)
