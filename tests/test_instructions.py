"""`make instructions`: what counts as a regression of instructions, and which commit says why. Counts are given; none is made."""

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import judge_instructions
from conftest import Capture
from judge_instructions import judged, main
from sojourn.bench import callgrind, history
from sojourn.bench.history import Recorded
from sojourn.errors import InputError

CELL = "1 Gbit/s, 90 New Reno"

Commit = Callable[[str], str]


@pytest.fixture
def commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commit:
    """A repository in which one commits; what is installed takes 1020 instructions a packet, with rustc 1.95.0."""

    def git(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(message: str) -> str:
        git("commit", "--quiet", "--allow-empty", "--message", message)
        return git("rev-parse", "--short=8", "HEAD")

    git("init", "--quiet")
    monkeypatch.setattr(judge_instructions, "ROOT", tmp_path)
    monkeypatch.setattr(judge_instructions, "counted", lambda _: {CELL: 1020.0})
    monkeypatch.setattr(callgrind, "valgrind", lambda: "valgrind")
    monkeypatch.setattr(history, "compiler", lambda: "1.95.0")
    return commit


def recorded(commit: str, count: float, why: str = "") -> Recorded:
    """A line of the history."""
    return Recorded(commit, "2026-11-25", "1.95.0", 0.5, CELL, count, 1.7, 0.6, why)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "history.csv"


def test_regression_fails_unless_a_commit_says_why(commit: Commit, file: Path, capsys: Capture) -> None:
    """2 % more than recorded fail; a line of a later commit's message lets them pass, the same words within a line do not."""
    history.append(file, [recorded(commit("first"), 1000.0)])
    commit("second\n\nSome Instructions: more")
    assert main(file) == 1
    assert f"{CELL}: 1020 instructions a packet, 1000 at" in capsys.readouterr().err
    commit("third\n\nText.\n\nInstructions: segments now carry a field that receivers ask for")
    assert main(file) == 0


def test_reason_holds_for_what_was_before(commit: Commit, file: Path) -> None:
    """A reason is one for growth until then: it does not excuse growth over what is recorded later."""
    first = recorded(commit("first"), 900.0)
    second = recorded(commit("second\n\nInstructions: needed"), 1000.0)
    history.append(file, [first, second])
    assert main(file) == 1


def test_reason_in_the_history(commit: Commit, file: Path) -> None:
    """A line that says why is one from which on growth is judged; adding lines excuses nothing without a reason."""
    first, second = commit("first"), commit("second")
    history.append(file, [recorded(first, 900.0), recorded(second, 1015.0)])
    assert main(file) == 1
    history.append(file, [recorded(second, 1015.0, "it was needed")])
    assert main(file) == 0
    commit("third\n\nInstructions: a reason, and\nInstructions: another")
    assert history.here(file).why == "a reason, and; another"


def test_growth_bit_by_bit_fails(commit: Commit, file: Path) -> None:
    """Growth of less than 1 % at each recorded commit adds up: each is compared, not the last alone."""
    history.append(file, [recorded(commit("first"), 1000.0), recorded(commit("second"), 1012.0)])
    assert main(file) == 1


@pytest.mark.parametrize(("before", "lines"), [(1000.0, 1), (1009.9, 1), (1010.1, 0), (2000.0, 0)])
def test_one_per_cent_is_allowed(before: float, lines: int) -> None:
    """Up to 1 % more is no regression, nor are fewer; a cell without a record is none."""
    assert len(judged({CELL: 1020.0, "new": 1e9}, [recorded("a", before)], lambda _: [])) == lines


def test_another_compiler_builds_both(commit: Commit, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of another compiler's engine mean nothing: the last recorded commit is built by this one and counted too."""
    commits = [commit("first"), commit("second")]
    history.append(file, [replace(recorded(each, 500.0), rustc="1.90.0") for each in commits])
    asked: list[tuple[str, float]] = []

    def counted_at(commit: str, seconds: float) -> dict[str, float]:
        asked.append((commit, seconds))
        return {CELL: again}

    monkeypatch.setattr(judge_instructions, "counted_at", counted_at)
    again = 1015.0
    assert main(file) == 0
    again = 1000.0
    assert main(file) == 1
    assert asked == [(commits[1], 0.5)] * 2


def test_what_cannot_be_judged_is_left_out(commit: Commit, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """Without valgrind, or without a recorded commit among those before this one, one line says that nothing is compared."""
    commit("first")
    history.append(file, [recorded("00000000", 1.0)])
    assert main(file) == 0
    assert capsys.readouterr().out.endswith("left out\n")
    monkeypatch.setattr(callgrind, "valgrind", lambda: None)
    assert main(file) == 0
    assert capsys.readouterr().out == "make instructions: valgrind is missing; left out\n"


def test_history_has_a_line_for_each_cell_and_commit(file: Path) -> None:
    """What is added of a commit that has lines already takes their place."""
    first, second, again = recorded("a", 1.0), recorded("b", 2.0), recorded("a", 3.0)
    history.append(file, [first])
    history.append(file, [second])
    history.append(file, [again])
    assert history.read(file) == [second, again]


def test_commit_of_the_engine(commit: Commit, file: Path) -> None:
    """What is added is of the commit that is checked out, with its date, and refused if the engine's sources are others."""
    made = commit("first")
    found = history.here(file)
    assert (found.commit, len(found.date), found.rustc, found.why) == (made, len("2026-11-25"), "1.95.0", "")
    (file.parent / "crates").mkdir()
    (file.parent / "crates" / "a.rs").write_text("")
    with pytest.raises(InputError, match=f"crates/ is not as the commit {made} has it; commit it first"):
        history.here(file)


def test_compiler_is_read_from_the_engine() -> None:
    """The engine's file says which rustc built it."""
    assert history.compiler().count(".") == 2
