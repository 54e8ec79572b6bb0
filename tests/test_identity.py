"""The identity of backends: runs of another build are stale and made again; runs of another backend are kept beside."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import sojourn
from conftest import ROOT, Capture, complaint, is_shown
from doubles import Inventor, register
from sojourn import backends, figures, report
from sojourn.analysis.frames import NAMES
from sojourn.backends.identity import Identity
from sojourn.campaign import Campaign, Observer, Plan, execute, plan, run
from sojourn.cli import show
from sojourn.cli.commands import status
from sojourn.runs import Cell
from sojourn.scenario import Scenario
from sojourn.store import InMemory, Store
from sojourn.store.journal import Journal
from stores import flips

MakeScenario = Callable[..., Scenario]

OLD = Identity("simulator", "0.1.0", "1a2b3c4d" * 8)
NEW = Identity("simulator", "0.1.0", "5e6f7a8b" * 8)
OTHER = Identity("other", "2.0", "99" * 32)


class Watching(Observer):
    """Records which runs are stale."""

    def __init__(self) -> None:
        self.stale: Counter[Identity] = Counter()

    def planned(self, _plan: Plan, stale: Counter[Identity], /) -> None:
        self.stale = stale


def planned(scenario: MakeScenario, seeds: int, backend: Inventor) -> Plan:
    return plan(Campaign.of_cells("test", [Cell({"tcp": "newreno"}, scenario())], seeds), backend)


def make(scenario: MakeScenario, seeds: int, made_by: Identity, directory: Path) -> tuple[Inventor, Counter[Identity]]:
    """Makes runs of some seeds with a build; returns the backend and the stale runs."""
    backend, watching = Inventor(identity=made_by), Watching()
    with Store(directory, create=True, notify=pytest.fail) as store:
        run(planned(scenario, seeds, backend), backend, store, observer=watching)
    return backend, watching.stale


def builds(runs: pl.DataFrame) -> list[tuple[int, str, str]]:
    """Returns seed, backend and digest of each run."""
    return sorted(runs.select("seed", "backend", "backend_digest").rows())


def superseded(directory: Path, name: str = "runs") -> pl.DataFrame:
    return pl.concat(map(pl.read_parquet, sorted(directory.glob(f"superseded/*/{name}.parquet"))), how="diagonal")


def test_digest_covers_sources() -> None:
    """The digest is SHA-256 over Cargo.lock and the sources, each as path and text with their lengths."""
    crate = ROOT / "crates" / "engine"
    files = {path.relative_to(crate).as_posix(): path for path in (crate / "src").rglob("*.rs")}
    files["Cargo.lock"] = ROOT / "Cargo.lock"
    digest = hashlib.sha256()
    for name in sorted(files):
        for part in (name.encode(), files[name].read_bytes().replace(b"\r\n", b"\n")):
            digest.update(len(part).to_bytes(8, "little") + part)
    assert backends.named("simulator").identity == Identity("simulator", sojourn.__version__, digest.hexdigest())


@pytest.mark.parametrize("other", [OLD, OTHER, Identity("simulator", "0.2.0", NEW.digest)])
def test_keys_differ_by_build(other: Identity, scenario: MakeScenario) -> None:
    """Another digest, version or backend gives the same request another key."""
    cell = Cell({"tcp": "newreno"}, scenario())
    first, second = cell.run(0, NEW), cell.run(0, other)
    assert first.request == second.request
    assert first.key != second.key


def test_runs_name_their_backend(scenario: MakeScenario, tmp_path: Path) -> None:
    """Every run has the name, version and digest of its backend in columns."""
    for store in (InMemory(), Store(tmp_path / "out", create=True)):
        backend = Inventor(identity=NEW)
        runs = run(planned(scenario, 1, backend), backend, store).result.runs
        columns = ["seed", "backend", "backend_version", "backend_digest"]
        assert runs.columns[2:6] == columns
        assert runs.select(columns).row(0) == (1, NEW.name, NEW.version, NEW.digest)


def test_only_stale_runs_repeat(scenario: MakeScenario, tmp_path: Path) -> None:
    """A new build makes again only the stale runs of the campaign."""
    make(scenario, 4, OLD, tmp_path)
    again, stale = make(scenario, 2, NEW, tmp_path)
    assert stale == {OLD: 2}
    assert sorted(each["seed"] for each in again.started) == [1, 2]
    with Store(tmp_path) as store:
        assert len(store) == 4
        assert store.identities == {OLD: 2, NEW: 2}
        assert builds(store.runs) == [(seed, "simulator", (NEW if seed < 3 else OLD).digest) for seed in (1, 2, 3, 4)]
        for name in set(NAMES) - {"transfers"}:  # no flow has a size
            assert getattr(store, name)["key"].n_unique() == 4
    more, stale = make(scenario, 4, NEW, tmp_path)
    assert stale == {OLD: 2}
    assert sorted(each["seed"] for each in more.started) == [3, 4]
    assert make(scenario, 4, NEW, tmp_path)[0].started == []


def test_superseded_runs_are_kept(scenario: MakeScenario, tmp_path: Path) -> None:
    """Replaced runs are kept in `superseded`, where queries can read them."""
    make(scenario, 3, OLD, tmp_path)
    before = {name: pl.read_parquet(tmp_path / f"{name}.parquet") for name in NAMES}
    make(scenario, 1, NEW, tmp_path)
    make(scenario, 3, NEW, tmp_path)
    assert sorted(path.name for path in (tmp_path / "superseded").iterdir()) == ["1", "2"]
    for name in NAMES:
        assert superseded(tmp_path, name).sort("seed", maintain_order=True).equals(before[name])
    assert status(["query", str(tmp_path), f"select count(*) from '{tmp_path}/superseded/*/runs.parquet'"]) == 0


def test_flipped_superseded_frame(scenario: MakeScenario, tmp_path: Path, capsys: Capture) -> None:
    """A query of superseded runs notices a flipped bit of theirs."""
    make(scenario, 3, OLD, tmp_path)
    make(scenario, 3, NEW, tmp_path)
    file = tmp_path / "superseded" / "1" / "runs.parquet"
    for _ in flips(file, 1, 1):
        assert status(["query", str(tmp_path), f"select count(*) from '{tmp_path}/superseded/*/runs.parquet'"]) == 1
    assert complaint(capsys).startswith(f"sojourn: {file}: is damaged")


def test_return_to_old_build(scenario: MakeScenario, tmp_path: Path) -> None:
    """Going back to an old build makes its runs again; no run is duplicated except in `superseded`."""
    for made_by in (OLD, NEW, OLD):
        make(scenario, 2, made_by, tmp_path)
    with Store(tmp_path) as store:
        assert builds(store.runs) == [(1, "simulator", OLD.digest), (2, "simulator", OLD.digest)]
        assert store.flows.height == 4
    assert sorted(superseded(tmp_path)["backend_digest"]) == [OLD.digest] * 2 + [NEW.digest] * 2


def test_two_builds_in_journal(scenario: MakeScenario, tmp_path: Path) -> None:
    """If the journal has the same runs by two builds, the later ones count and the earlier are superseded."""
    with Store(tmp_path, create=True, notify=pytest.fail) as store:
        for made_by in (OLD, NEW):
            backend = Inventor(identity=made_by)
            runs = planned(scenario, 2, backend)
            store.begin(runs.axes)
            for outcome in execute(runs.runs(), backend):
                assert isinstance(outcome.result, bytes)
                store.add(outcome.run, outcome.result)
        assert len(store) == 2
        assert builds(store.runs) == [(1, "simulator", NEW.digest), (2, "simulator", NEW.digest)]
    assert builds(superseded(tmp_path)) == [(1, "simulator", OLD.digest), (2, "simulator", OLD.digest)]


@pytest.mark.parametrize("step", range(7))
def test_crash_keeps_superseded_runs(step: int, scenario: MakeScenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash at any step of consolidation loses neither current nor superseded runs."""
    make(scenario, 3, OLD, tmp_path)
    steps = 0

    def stop_at(original: Callable[..., object]) -> Callable[..., object]:
        def stop(*arguments: object) -> object:
            nonlocal steps
            steps += 1
            if steps == step + 1:
                raise KeyboardInterrupt
            return original(*arguments)

        return stop

    backend = Inventor(identity=NEW)
    with monkeypatch.context() as patch:
        for name in ("rename", "replace"):
            patch.setattr(Path, name, stop_at(getattr(Path, name)))
        for name in ("keep_superseded", "forget"):
            patch.setattr(f"sojourn.store.journal.Journal.{name}", stop_at(getattr(Journal, name)))
        with Store(tmp_path, notify=pytest.fail) as store, pytest.raises(KeyboardInterrupt):
            run(planned(scenario, 2, backend), backend, store)
    with Store(tmp_path, notify=pytest.fail) as store:
        assert builds(store.runs) == [(seed, "simulator", (NEW if seed < 3 else OLD).digest) for seed in (1, 2, 3)]
        assert store.flows.height == 6
    assert set(builds(superseded(tmp_path))) == {(1, "simulator", OLD.digest), (2, "simulator", OLD.digest)}
    assert superseded(tmp_path, "flows").unique(["key", "flow"]).height == 4


def test_lost_journal_keeps_builds(scenario: MakeScenario, tmp_path: Path) -> None:
    """Without its journal, a store still knows which builds made its runs."""
    make(scenario, 2, OLD, tmp_path)
    (tmp_path / "journal.sqlite").unlink()
    again, stale = make(scenario, 3, NEW, tmp_path)
    assert stale == {OLD: 2}
    assert len(again.started) == 3


def test_commands_report_stale_runs(
    scenario_file: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """`plan` and `run` report how many runs are stale and which builds made them."""
    out, file = tmp_path / "out", str(scenario_file())
    register(monkeypatch, lambda: Inventor(identity=OLD))
    assert status(["run", file, "--seeds", "2", "--out", str(out)]) == 0
    register(monkeypatch, lambda: Inventor(identity=NEW))
    capsys.readouterr()
    old, new = "simulator 0.1.0 (1a2b3c4d)", "simulator 0.1.0 (5e6f7a8b)"
    assert status(["plan", file, "--seeds", "3", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert f"2 of 3 runs in {out} were made by {old} and are stale; they would be made again by {new}\n" in shown
    assert f"{out} has the results of 0 of 3 runs\n" in shown
    assert status(["run", file, "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"1 of 1 run in {out} was made by {old} and is stale; it is made again by {new}\n")
    assert status(["run", file, "--out", str(out)]) == 0
    assert "stale" not in capsys.readouterr().out


def test_stale_line_that_the_docs_show(scenario: MakeScenario) -> None:
    """docs/results.md shows how stale results are reported."""
    line = show.stale({OLD: 12}, planned(scenario, 72, Inventor(identity=NEW)), Path("results/piotrowska"), "are made")
    assert is_shown(line, "results.md")


STUDY = {"load": "MC", "queue": "pie", "scenario": "DC", "tcp": "newreno"}


def test_old_results_are_readable(scenario_file: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports, claims, comparisons, figures and queries read results of an older build."""
    small, study = tmp_path / "small", tmp_path / "study"
    sojourn.run(scenario_file(), 2, out=small, backend=Inventor(identity=OLD))
    sojourn.reproduce("piotrowska", 2, only=STUDY, out=study, backend=Inventor(identity=OLD))
    register(monkeypatch, lambda: Inventor(identity=NEW))
    for directory in (small, study):
        page = report.write(directory).read_text(encoding="utf-8")
        assert "simulator 0.1.0 (1a2b3c4d)" in page
        assert status(["query", str(directory), "select count(*) from runs"]) == 0
    assert status(["claims", "piotrowska", str(study)]) == 0
    assert status(["compare", str(small), "scenario=small", "scenario=small"]) == 0
    with sojourn.open(small) as store:
        figures.draw("queue-over-time", store)


def test_backends_coexist(scenario: MakeScenario, tmp_path: Path, capsys: Capture) -> None:
    """A store has the runs of two backends, and figures and `compare` treat the backend as an axis."""
    for made_by in (NEW, OTHER):
        _, stale = make(scenario, 2, made_by, tmp_path)
        assert not stale
    with Store(tmp_path) as store:
        assert sorted(store.runs["backend"]) == ["other", "other", "simulator", "simulator"]
        paired = "select a.seed from runs a join runs b using (request) where a.backend < b.backend order by 1"
        assert store.sql(paired)["seed"].to_list() == [1, 2]
        assert figures.Drawn.of(store).axes == {"tcp": ["newreno"], "backend": ["other", "simulator"]}
        chosen = figures.Drawn.of(store, {"backend": "other"})
        assert set(chosen.cells["axis backend"]) == {"other"}
        assert chosen.frame("flows").collect().height == 4
    assert status(["compare", str(tmp_path), "backend=simulator", "backend=other", "--metric", "total_mbps"]) == 0
    assert "Total throughput (Mbit/s) │     2 │" in capsys.readouterr().out


def test_report_of_all_backends(scenario: MakeScenario, tmp_path: Path) -> None:
    """A report has the runs of all backends, each a cell of its own."""
    for made_by in (NEW, OTHER):
        sojourn.run(scenario(), 2, out=tmp_path / "out", backend=Inventor(identity=made_by))
    page = report.write(tmp_path / "out").read_text(encoding="utf-8")
    assert f"{OTHER}: 2 runs" in page
    assert f"{NEW}: 2 runs" in page
    assert "2 cells" in page
    commands = (tmp_path / "out" / "commands.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["backend"]["name"] for line in commands] == ["simulator", "other"]


def test_unknown_backend(scenario: MakeScenario, scenario_file: Callable[..., Path], capsys: Capture) -> None:
    """An unknown backend is a one-line error."""
    with pytest.raises(sojourn.InputError, match='unknown backend "simulater", did you mean "simulator"'):
        sojourn.run(scenario(), backend="simulater")
    assert status(["run", str(scenario_file()), "--backend", "nope"]) == 2
    assert complaint(capsys) == 'sojourn: unknown backend "nope" (known: simulator, linux)\n'


def test_backend_capabilities(
    scenario_file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    """`watch` and `export` refuse a backend that cannot do it, in one line."""
    register(monkeypatch, lambda: Inventor(identity=OTHER), "other")
    file = str(scenario_file())
    assert status(["watch", file, "--backend", "other"]) == 2
    assert "the backend other cannot show a run in progress" in capsys.readouterr().err
    assert status(["export", file, "--backend", "other", "--format", "pcapng", "--out", str(tmp_path / "x.pcapng")]) == 2
    assert "the backend other cannot record packets or connections" in capsys.readouterr().err


def test_only_backends_name_simulator() -> None:
    """Only the package `backends` names the simulator's class; everything else uses the registry."""
    for folder in ("python/sojourn", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            if "backends" not in path.parts and path != Path(__file__):
                assert "Simulator" not in path.read_text(encoding="utf-8").replace("Simulator::", ""), path
