"""Making an atlas: the runs of pairs at landmarks, their verdicts, and a kernel's verdicts on some of them."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from sojourn import atlas, backends, names
from sojourn import campaign as campaigns
from sojourn.api.execution import Settings, call_of, carry_out
from sojourn.atlas import Landmark, Pair, folder, rows
from sojourn.atlas.pairs import ALONE, BESIDE, DISCIPLINES, TCPS, everything, named, pairs
from sojourn.backends.backend import Backend
from sojourn.campaign import Campaign, Observer, Plan
from sojourn.errors import InputError
from sojourn.runs import Cell
from sojourn.scenario.reading import Shared
from sojourn.statistics import fewest_for_a_majority
from sojourn.sweeps import estimate

#: The discipline that others are held to: whether they are out of control is asked beside it.
REFERENCE = "droptail"

#: Of cells that are not at a border one in so many is checked by a kernel.
ONE_IN = 10


@dataclass(frozen=True)
class PlannedLandmark:
    """A landmark and its campaign, all of whose cells have been checked."""

    landmark: Landmark
    #: What was asked for; DropTail is run besides where something has to be held to it.
    wanted: Sequence[Pair]
    cells: Sequence[Cell] = field(repr=False)
    plan: Plan = field(repr=False)
    #: Pairs that make no scenario, each with the reason.
    left_out: Sequence[str] = ()


@dataclass(frozen=True)
class Atlas:
    """An atlas that has been checked, before its first run: landmarks, the cheapest first."""

    landmarks: Sequence[PlannedLandmark]
    seeds: int
    #: Whether congestion controls and disciplines were both named, so that a kernel is asked about each of their pairs.
    named: bool = False

    @property
    def cells(self) -> int:
        """How many cells it has."""
        return sum(len(each.cells) for each in self.landmarks)

    def seconds(self, carrier: Backend, jobs: int | None = None) -> float:
        """About how long all its runs take on this machine: one run of each landmark tells."""
        return sum(self._seconds(each, carrier) for each in self.landmarks) / campaigns.workers(jobs)

    def _seconds(self, each: PlannedLandmark, carrier: Backend) -> float:
        first = each.plan.cells[0].run()
        speed = estimate.measure(first, lambda run: campaigns.carry_out(run, carrier))
        return speed.seconds(len(each.plan), estimate.packets(each.plan.cost))


@dataclass
class Checks:
    """How far a kernel has been asked: pairs that it was asked about, that it cannot carry out, and that are left."""

    done: int = 0
    refused: int = 0
    left: int = 0


def plan_atlas(
    landmarks: Iterable[str] = (),
    tcps: Iterable[str] = (),
    queues: Iterable[str] = (),
    besides: Iterable[str] = (),
    *,
    whole: bool = False,
    seeds: int | None = None,
    backend: str | Backend = backends.DEFAULT,
) -> Atlas:
    """Checks an atlas; nothing is run.

    Args:
        landmarks: names of landmarks; all of them unless given.
        tcps: congestion controls; the twelve of the atlas unless given.
        queues: disciplines; the twelve of the atlas unless given.
        besides: ``"alone"`` or ``"cubic"``; both unless given.
        whole: take all congestion controls and disciplines of the catalogue where none are given.
        seeds: seeds of each cell; the fewest by which a verdict can be decided unless given.
        backend: what carries out the runs.

    Raises:
        InputError: there is no such landmark or algorithm, or no pair is left.
    """
    carrier, tcps, queues = backends.named(backend), named("tcp", tcps), named("queue", queues)
    number = fewest_for_a_majority() if seeds is None else seeds
    if number < 1:
        raise InputError(f"seeds must be 1 or more, not {number}")
    every_tcp, every_queue = everything() if whole else (TCPS, DISCIPLINES)
    besides = list(besides) or [ALONE, BESIDE]
    names.check("beside", besides, (ALONE, BESIDE), InputError)
    wanted = list(pairs(tcps or every_tcp, queues or every_queue, besides))
    if not wanted:
        raise InputError(f"no pair is left: {BESIDE} is beside nobody but itself, so it is only {ALONE}")
    listed = [atlas.load(name) for name in dict.fromkeys(landmarks)] or [atlas.load(name) for name in atlas.available()]
    planned = [_planned(each, there, number, carrier) for each in listed if (there := list(filter(each.has, wanted)))]
    if not planned:
        raise InputError(f"landmark {listed[0].name}: has only {', '.join(listed[0].disciplines)}")
    return Atlas(sorted(planned, key=lambda each: each.plan.cost), number, bool(tcps and queues))


def survey(
    planned: Atlas,
    *,
    out: str | Path,
    jobs: int | None = None,
    backend: str | Backend = backends.DEFAULT,
    cluster: str | None = None,
    observer: Observer | None = None,
) -> Iterator[tuple[PlannedLandmark, pl.DataFrame]]:
    """Makes the runs of a planned atlas, landmark by landmark, and yields what each says when it is kept.

    Args:
        planned: what ``plan_atlas`` has checked.
        out: a directory for the results; runs that it has are not made again.
        jobs: how many runs at once; as many as there are cores unless given.
        backend: what it was planned with.
        cluster: the address of a Dask scheduler whose workers make the runs.
        observer: what looks on meanwhile.

    Raises:
        InputError: the directory will not do.
        RunFailed: a run failed.
    """
    kept = folder.Folder(Path(out))
    Path(out).mkdir(parents=True, exist_ok=True)
    call = call_of("atlas", repr(str(out)), backend)
    for each in planned.landmarks:
        name = each.landmark.name
        settings = Settings(kept.store(name), jobs, backends.named(backend), cluster, observer or Observer())
        result = carry_out(Campaign.of_cells(name, each.cells, planned.seeds), settings, call, None, None, None)
        found = rows.rows(name, result, each.wanted)
        kept.add(name, found, rows.curves(name, result, each.wanted))
        yield each, found


def to_check(found: pl.DataFrame, seed: int) -> list[Pair]:
    """The pairs of a landmark that a kernel is asked about: those at a border, and one in ten of the others, drawn by a seed.

    Those at a border come first; within each kind the order is drawn, so that the first of them are a sample.
    """
    landmark = found["landmark"][0]
    border = {Pair(*row[1:]) for row in rows.at_border(found).iter_rows()}
    every = [Pair(*row) for row in found.select(atlas.AXES).unique(maintain_order=True).iter_rows()]
    # Each pair has a draw of its own, so that another pair changes nothing for it.
    lot = {pair: random.Random(f"{seed} {landmark} {pair.label}").random() for pair in every}
    drawn = {pair for pair in every if pair not in border and lot[pair] * ONE_IN < 1}
    return [*sorted(drawn, key=lot.__getitem__), *sorted(border, key=lot.__getitem__)]


def cheapest_first(pairs: Iterable[Pair]) -> list[Pair]:
    """Pairs in groups that are held to the same reference, whose runs are made once: those with most to share them come first."""
    groups: dict[Pair, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(_reference(pair), []).append(pair)
    by_size = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0].label))
    return [pair for reference, group in by_size for pair in sorted(group, key=lambda pair: pair != reference)]


def check_atlas(
    planned: Atlas,
    by: str | Backend,
    *,
    out: str | Path,
    seed: int = 1,
    most: int | None = None,
    jobs: int | None = None,
    observer: Observer | None = None,
    progress: Callable[[PlannedLandmark, Checks], None] = lambda *_: None,
) -> Checks:
    """Asks a kernel about some pairs of an atlas: those at a border and one in ten of the others, or all that were named.

    The cheapest come first: landmarks with less to carry, and there the pairs that share what they are held to.

    Args:
        planned: what has been drawn in ``out``; landmarks that are not there are passed over.
        by: the kernel.
        out: the directory.
        seed: by which the others are drawn.
        most: how many pairs of each landmark are asked about, those that were asked before among them; all unless given.
        jobs: how many runs at once.
        observer: what looks on.
        progress: called after each pair, with how it stands with the landmark.

    Returns:
        How it stands with all of them.
    """
    carrier, kept, whole = backends.named(by), folder.Folder(Path(out)), Checks()
    call = call_of("atlas", repr(str(out)), by)
    for each in sorted(planned.landmarks, key=lambda each: each.plan.cost / len(each.cells)):
        name = each.landmark.name
        found = kept.rows(name)
        if found is None:
            continue
        wanted = set(each.wanted)
        asked = each.wanted if planned.named else [pair for pair in to_check(found, seed) if pair in wanted]
        if most is None:
            asked = cheapest_first(asked)
        done = kept.checks(name)
        known = set() if done is None else {Pair(*row) for row in done.select(atlas.AXES).unique().iter_rows()}
        state = Checks(left=len(asked))
        for pair in asked:
            if pair not in known and most is not None and state.done >= most:
                continue
            state.left -= 1
            cells = [each.landmark.cell(one) for one in _with_reference([pair])]
            campaign = Campaign.of_cells(name, cells, planned.seeds)
            try:
                campaigns.plan(campaign, carrier)
            except InputError:
                state.refused += 1
                continue
            if pair not in known:
                settings = Settings(kept.store(name, carrier.identity.name), jobs, carrier, None, observer or Observer())
                said = rows.rows(name, carry_out(campaign, settings, call, None, None, None), [pair])
                kept.add_check(name, _of_kernel(said, carrier.identity.name))
            state.done += 1
            progress(each, state)
        whole = Checks(whole.done + state.done, whole.refused + state.refused, whole.left + state.left)
    return whole


def _of_kernel(said: pl.DataFrame, kernel: str) -> pl.DataFrame:
    """A kernel's verdicts, as the tables of an atlas have them."""
    checked = (pl.col(column).alias(f"check_{column}") for column in ("state", "value", "held", "seeds"))
    return said.select(*rows.PLACE, pl.lit(kernel).alias("check"), *checked)


def _planned(landmark: Landmark, wanted: Sequence[Pair], seeds: int, carrier: Backend) -> PlannedLandmark:
    shared, cells, left_out = Shared(), {}, {}

    def plan(some: Iterable[Cell]) -> Plan:
        return campaigns.plan(Campaign.of_cells(f"landmark {landmark.name}", list(some), seeds), carrier)

    for pair in _with_reference(wanted):
        try:
            cells[pair] = landmark.cell(pair, shared)
        except InputError as error:
            left_out[pair] = str(error)
    try:
        planned = plan(cells.values()) if cells else None
    except InputError:
        # The backend says only which is the first that it refuses.
        for pair in list(cells):
            try:
                plan([cells[pair]])
            except InputError as error:
                left_out[pair] = str(error)
                del cells[pair]
        planned = plan(cells.values()) if cells else None
    there = [pair for pair in wanted if pair in cells]
    if planned is None or not there:
        raise InputError(next(left_out[pair] for pair in wanted))
    return PlannedLandmark(landmark, there, list(cells.values()), planned, list(left_out.values()))


def _with_reference(wanted: Sequence[Pair]) -> list[Pair]:
    """The pairs, and the same behind DropTail."""
    return list(dict.fromkeys((*wanted, *map(_reference, wanted))))


def _reference(pair: Pair) -> Pair:
    return Pair(pair.tcp, REFERENCE, pair.beside)
