from collections.abc import Callable
from pathlib import Path

import pytest

from doubles import Inventor
from sojourn import results
from sojourn.campaign import conduct
from sojourn.errors import InputError
from sojourn.runs import Cell, Run
from sojourn.scenario import Scenario
from sojourn.store import Store


@pytest.fixture
def run(scenario: Callable[..., Scenario]) -> Run:
    return Cell({"scenario": "small"}, scenario()).run(0)


def snapshot(directory: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_a_directory_with_other_results_is_left_alone(run: Run, tmp_path: Path) -> None:
    conduct([run], Inventor(), Store(tmp_path), 1)
    before = snapshot(tmp_path)
    with pytest.raises(InputError, match="holds other results already"):
        Store(tmp_path)
    assert snapshot(tmp_path) == before


def test_results_of_a_crash_are_left_alone(run: Run, tmp_path: Path) -> None:
    Store(tmp_path).add(0, results.of_run(run, Inventor().run(run.specification)))
    before = snapshot(tmp_path)
    assert len(before) == len(results.NAMES)
    with pytest.raises(InputError, match="holds other results already"):
        Store(tmp_path)
    assert snapshot(tmp_path) == before


def test_a_directory_with_a_foreign_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match=r'holds "thesis\.tex" already'):
        Store(tmp_path)
    assert snapshot(tmp_path) == {tmp_path / "thesis.tex": b"precious"}


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    with pytest.raises(InputError, match="File exists"):
        Store(tmp_path / "file")
    with pytest.raises(InputError, match="Not a directory"):
        Store(tmp_path / "file" / "below")


def test_frames_convert_for_pandas(run: Run) -> None:
    result = conduct([run], Inventor(), Store(None), 1).result
    assert result is not None
    frame = result.flows.to_pandas()
    assert frame["bytes_delivered"].tolist() == [1000, 1001]
    assert frame["completed"].isna().all()
