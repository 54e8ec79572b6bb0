"""Stores used by processes that are killed, run out of space or run at the same time."""

import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

import campaigns
from conftest import IN_CI
from sojourn.store import Store

#: Seeds of each of the two cells.
REPETITIONS = 40


def parquet(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.glob("*.parquet")}


def finish(directory: Path) -> None:
    process = campaigns.start(directory, REPETITIONS)
    process.join(60)
    assert process.exitcode == 0


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    directory = tmp_path_factory.mktemp("store") / "undisturbed"
    finish(directory)
    return parquet(directory)


@pytest.mark.parametrize("times", [3, pytest.param(30 if IN_CI else 100, marks=pytest.mark.long)])
def test_killed_process_keeps_runs(times: int, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    """Killed at random times and restarted, campaigns end with the same files as without kills, and lose no finished run."""
    began = time.monotonic()
    finish(tmp_path / "timed")
    lasts = time.monotonic() - began
    chance = random.Random(20)
    kills, stores, finished = 0, 0, 0
    while kills < times:
        directory = tmp_path / str(stores)
        process = campaigns.start(directory, REPETITIONS)
        process.join(chance.uniform(0, 1.1 * lasts))
        if process.is_alive():
            process.kill()
            process.join()
            kills += 1
            if (directory / "sojourn.json").exists():
                with Store(directory, notify=pytest.fail) as store:
                    assert len(store) >= finished
                    finished = len(store)
        else:
            assert process.exitcode == 0
            assert parquet(directory) == undisturbed
            stores, finished = stores + 1, 0
    finish(directory)
    assert parquet(directory) == undisturbed
    print(f"{kills} kills over {stores + 1} stores in {time.monotonic() - began:.0f} s")


def test_two_processes_share_store(undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    """Two processes that fill a store at once leave the same files as one."""
    processes = [campaigns.start(tmp_path / "out", REPETITIONS) for _ in range(2)]
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert parquet(tmp_path / "out") == undisturbed


@contextmanager
def small_disk(directory: Path, size: str) -> Iterator[None]:
    directory.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", directory], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("no file system of a given size can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", directory], check=True)


@pytest.mark.parametrize("size", ["300k", *(pytest.param(size, marks=pytest.mark.long) for size in ("96k", "1100k", "1200k"))])
def test_full_disk_keeps_runs(size: str, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    """A full disk is a one-line error, and the campaign can be continued; some sizes hold part of the journal, some all of it."""
    disk = tmp_path / "disk"
    with small_disk(disk, size):
        process = campaigns.start(disk / "out", REPETITIONS, tmp_path / "complaint")
        process.join(60)
        assert process.exitcode == campaigns.FAILED
        complaint = (tmp_path / "complaint").read_text()
        assert "\n" not in complaint, complaint
        assert str(disk / "out") in complaint
        assert "thrift" not in complaint.lower()
        subprocess.run(["mount", "-o", "remount,size=50m", disk], check=True)
        finish(disk / "out")
        assert parquet(disk / "out") == undisturbed


@pytest.mark.parametrize("largest", [120_000, *(pytest.param(largest, marks=pytest.mark.long) for largest in (40_000, 200_000))])
def test_file_size_limit_keeps_runs(largest: int, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    """A limit on file sizes is a one-line error, and the campaign can be continued."""
    process = campaigns.start(tmp_path / "out", REPETITIONS, tmp_path / "complaint", largest)
    process.join(60)
    assert process.exitcode == campaigns.FAILED
    assert "\n" not in (tmp_path / "complaint").read_text()
    finish(tmp_path / "out")
    assert parquet(tmp_path / "out") == undisturbed
    assert pl.read_parquet(tmp_path / "out" / "runs.parquet").height == 2 * REPETITIONS
