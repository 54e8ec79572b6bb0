"""Intervals as people see them: within the bounds of what is measured, in tables, files and reports."""

import json
import re
from pathlib import Path

import pytest

import sojourn
from conftest import SMALL_TOML, Capture
from sojourn import report
from sojourn.analysis.estimates import over_seeds
from sojourn.cli.commands import status
from sojourn.metrics import METRICS

SWEEP = """
[sweep]
seeds = 2
[sweep.axes]
queue = { key = "network.dumbbell.bottleneck.queue.name", values = ["droptail", "codel"] }
"""


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of two cells with two seeds, whose Student's intervals are wide."""
    folder = tmp_path_factory.mktemp("intervals")
    (folder / "small.toml").write_text(SMALL_TOML + SWEEP, encoding="utf-8")
    sojourn.run(folder / "small.toml", out=folder / "out")
    return folder / "out"


def test_intervals_of_all_metrics_are_within_bounds(swept: Path) -> None:
    """No interval of a mean over seeds reaches beyond what its metric can be; one of Jain's index would without the rule."""
    with sojourn.open(swept) as store:
        known = [name for name in METRICS if name in store.runs.columns]
        found = over_seeds(store.scan("runs"), ["queue"], known)
        free = over_seeds(store.scan("runs"), ["queue"], known, dict.fromkeys(known, (None, None)))
    for name in known:
        least, greatest = METRICS[name].bounds
        for low, high in found.select(f"{name}_ci_low", f"{name}_ci_high").drop_nulls().iter_rows():
            assert least is None or low >= least
            assert greatest is None or high <= greatest
    assert any(low < 0 for name in known for low in free[f"{name}_ci_low"].drop_nulls())
    assert max(free["jain_ci_high"]) > 1


def test_intervals_of_tables_and_reports_are_within_bounds(swept: Path, capsys: Capture) -> None:
    """`run --json` and a report have no negative time and no index above 1 at the end of an interval."""
    assert status(["run", str(swept.parent / "small.toml"), "--out", str(swept), "--json"]) == 0
    for row in json.loads(capsys.readouterr().out)["cells"]:
        assert row["jain_ci_high"] is None or row["jain_ci_high"] <= 1
        assert all(value >= 0 for name, value in row.items() if name.endswith("_ci_low") and value is not None)
    page = report.write(swept).read_text(encoding="utf-8")
    ends = re.findall(r"Jain&#39;s index of long-lived flows: [0-9.]+; 95 % interval ([-0-9.]+) to ([-0-9.]+)", page)
    assert ends
    assert all(float(low) >= 0 and float(high) <= 1 for low, high in ends)
    assert not re.search(r"95 % interval -", page)
