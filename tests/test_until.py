import statistics
from pathlib import Path
from typing import Any

import pytest

import sojourn
from conftest import SMALL_TOML, Capture
from doubles import Inventor, invented, register
from sojourn.backends.result import RunResult
from sojourn.cli.commands import status
from sojourn.errors import InputError, RunFailed
from sojourn.specification import RunSpecification

#: Total throughput in kbit/s of each cell, named by its delay, by seed.
DELIVERED = {
    "1 ms": [5000] * 40,
    "2 ms": [5000 + 37 * seed % 101 for seed in range(40)],
    "3 ms": [5000 + 1000 * (seed % 2) for seed in range(40)],
}
BOUND_MBPS, MOST = 0.02, 20

#: Student's t, 0.975 quantile by degrees of freedom, as printed in statistical tables.
STUDENT = {2: 4.303, 4: 2.776, 7: 2.365, 11: 2.201, 17: 2.110, 19: 2.093}


class Known(Inventor):
    """A backend whose throughputs are those of ``DELIVERED``."""

    def run(self, run: RunSpecification, /) -> RunResult:
        super().run(run)
        cell = f"{run['links'][0]['delay'] // 10**9} ms"
        kilobits = DELIVERED[cell][run["seed"] - 1]
        return invented(run, lambda _, flow: kilobits * 1000 * 3 // 8 if flow == 0 else 0)  # the window is 3 s


def expected_seeds(cell: str) -> int:
    """Applies the definition: batches of 3, 5, 8, 12 and so on, until t s / sqrt(n) is below the bound."""
    for seeds in (3, 5, 8, 12, 18, MOST):
        values = [kilobits / 1000 for kilobits in DELIVERED[cell][:seeds]]
        half = STUDENT[seeds - 1] * statistics.stdev(values) / seeds**0.5
        if half < BOUND_MBPS:
            return seeds
    return MOST


@pytest.fixture
def swept_file(tmp_path: Path) -> Path:
    path = tmp_path / "swept.toml"
    sweep = f'[sweep]\nuntil = "ci(total_mbps) < {BOUND_MBPS}"\nmost_seeds = {MOST}\n'
    axes = '[sweep.axes]\nwait = { key = "network.dumbbell.bottleneck.delay", values = ["1 ms", "2 ms", "3 ms"] }\n'
    path.write_text(SMALL_TOML + sweep + axes, encoding="utf-8")
    return path


def seeds_by_cell(runs: Any) -> dict[str, list[int]]:
    return {str(wait): sorted(frame["seed"]) for (wait,), frame in runs.partition_by(["wait"], as_dict=True).items()}


def test_seeds_per_cell(swept_file: Path) -> None:
    """Each cell gets the number of seeds that the definition of the stopping rule gives, and no run is repeated."""
    backend = Known()
    found = sojourn.run(swept_file, backend=backend)
    seeds = {cell: expected_seeds(cell) for cell in DELIVERED}
    assert seeds["1 ms"] == 3 < seeds["2 ms"] < seeds["3 ms"] == MOST
    assert seeds_by_cell(found.runs) == {cell: list(range(1, number + 1)) for cell, number in seeds.items()}
    assert len(backend.started) == sum(seeds.values())  # none is run twice


def test_until_of_group(swept_file: Path) -> None:
    """A condition on a metric of a group looks at that group: the share of the only group never varies."""
    text = swept_file.read_text(encoding="utf-8").replace("ci(total_mbps) < 0.02", "ci(share_pct, a-b) < 1")
    swept_file.write_text(text, encoding="utf-8")
    assert set(map(len, seeds_by_cell(sojourn.run(swept_file, backend=Known()).runs).values())) == {3}


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("ci(share_pct, a-c) < 1", 'unknown group "a-c", did you mean "a-b"? (known: a-b)'),
        ("ci(share_pct) < 1", '"share_pct" is a metric of groups only; write ci(share_pct, GROUP)'),
        ("ci(drop_pct, a-b) < 1", '"drop_pct" is a metric of runs only; write ci(drop_pct)'),
    ],
)
def test_bad_condition_on_group(condition: str, message: str, swept_file: Path) -> None:
    """A condition on a group that a cell does not have, or on a metric that it does not have, is refused."""
    text = swept_file.read_text(encoding="utf-8").replace("ci(total_mbps) < 0.02", condition)
    swept_file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        sojourn.run(swept_file, backend=Known())
    assert message in str(error.value)


def test_store_continues(swept_file: Path, tmp_path: Path) -> None:
    """A second campaign on the same store runs nothing and has the same result."""
    first = sojourn.run(swept_file, out=tmp_path / "out", backend=Known())
    backend = Known()
    again = sojourn.run(swept_file, out=tmp_path / "out", backend=backend)
    assert backend.started == []
    assert again.runs.equals(first.runs)


def test_seeds_override_condition(swept_file: Path) -> None:
    """A number of seeds overrides the stopping rule."""
    assert set(map(len, seeds_by_cell(sojourn.run(swept_file, 4, backend=Known()).runs).values())) == {4}


def test_uncertain_cells_are_reported(swept_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Cells that reach the maximum of seeds without meeting the bound are reported on stderr."""
    register(monkeypatch, Known)
    assert status(["run", str(swept_file)]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith(
        f"3 cells, 3 to {MOST} seeds each until ci(total_mbps) < {BOUND_MBPS}: 9 runs, 36 simulated seconds"
    )
    values = [kilobits / 1000 for kilobits in DELIVERED["3 ms"][:MOST]]
    half = STUDENT[MOST - 1] * statistics.stdev(values) / MOST**0.5
    assert shown.err == f"wait=3 ms: after {MOST} seeds ci(total_mbps) is {half:.3g}, not below {BOUND_MBPS}\n"


def test_failure_keeps_finished_runs(swept_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A failed run ends the campaign after its batch and keeps the finished runs."""
    register(monkeypatch, lambda: Known(failing={4: RunFailed("it broke")}))
    assert status(["run", str(swept_file), "--out", str(tmp_path / "out")]) == 1
    lines = capsys.readouterr().err.splitlines()
    # The cell without variance has its three seeds; the other two need five each, and the fourth of both fails.
    assert lines[0].startswith("11 of 13 runs succeeded")
    assert lines[-1] == "sojourn: run 2 ms/4: it broke (and 1 more)"
    assert sojourn.open(tmp_path / "out").runs.height == 11
