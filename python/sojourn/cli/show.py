"""Results on the terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from rich.text import Text

from sojourn import digits
from sojourn.analysis import findings, repetition, summary
from sojourn.analysis.result import Result
from sojourn.backends.identity import Identity
from sojourn.campaign import Campaign, CampaignOutcome, Imprecise, Plan, randomness
from sojourn.cli.console import Form, put
from sojourn.names import BACKEND
from sojourn.study.cells import Agreement, Compared, by_backend
from sojourn.study.cells import frame as cells_frame
from sojourn.study.design import Study
from sojourn.study.tally import Tally
from sojourn.study.verdicts import Judged, Verdict
from sojourn.sweeps.estimate import Speed
from sojourn.sweeps.stopping import StoppingRule
from sojourn.table import Column, Content, Row, Table, label, number, of_frame, text

if TYPE_CHECKING:
    from sojourn.api import Reproduction


def random(planned: Plan) -> str:
    """What is random in the cells of a campaign, on one line."""
    return randomness.line(cell.random for cell in planned.cells)


def succeeded(outcome: CampaignOutcome, out: Path | None) -> str:
    """How many runs of a campaign with failures have results, and where they are."""
    failed = len(outcome.failures)
    said = f"{outcome.finished} of {digits.counted(outcome.finished + failed, 'run')} succeeded, {failed} failed"
    return said if out is None else f"{said}; results are in {out}, and the same command makes only failed runs again"


def resumed(outcome: CampaignOutcome, out: Path) -> str:
    """How many runs of a campaign were in its directory already, and how many were made."""
    total = digits.counted(outcome.finished + len(outcome.failures), "run")
    made = outcome.finished - outcome.found
    return f"{outcome.found:,} of {total} found in {out}, {made:,} made"


def result(found: Result, form: Form = None, groups: Sequence[str] | None = None) -> None:
    """The findings on a scenario, its flows, their groups and its queues over the measuring window; of some groups only these."""
    put([*_findings(found, groups), *summary.of_cell(found, groups)], form)


def cells(found: Result, planned: Plan, form: Form = None, groups: Sequence[str] | None = None) -> None:
    """The findings on a sweep, the main metrics of its cells over the measuring window, and of groups; of some only these."""
    order = [list(cell.axes.values()) for cell in planned.cells]
    put([*_findings(found, groups), *summary.of_cells(found, order, groups)], form)


def _findings(found: Result, groups: Sequence[str] | None) -> list[Table]:
    """What was found; nothing where only some groups are to be shown."""
    return [summary.sentences(findings.of(found))] if groups is None else []


def extent(planned: Plan) -> str:
    """How much there is to run, on one line."""
    until = planned.until
    several = len(planned.cells) > 1
    seeds = f"{digits.counted(planned.repetitions, 'seed')}{' each' if several else ''}"
    times = ""
    if until is not None:
        each = " each" if several else ""
        seeds = f"{planned.repetitions} to {until.most_seeds} seeds{each} until ci({until.told}) < {until.bound:g}"
        times = f", or up to {until.most_seeds / planned.repetitions:.3g} times as much"
    runs = f"{digits.counted(len(planned), 'run')}, {planned.simulated_seconds:,.10g} simulated seconds"
    return f"{digits.counted(len(planned.cells), 'cell')}, {seeds}: {runs}{times}"


def stale(made_by: Mapping[Identity, int], planned: Plan, directory: Path, made: str) -> str:
    """What of a store's results is of another build of the backend, on one line; ``made`` says when they are made again."""
    number = sum(made_by.values())
    were, are = ("was", "is") if number == 1 else ("were", "are")
    builds = " and ".join(map(str, made_by))
    what = f"{number:,} of {digits.counted(len(planned), 'run')} in {directory} {were} made by {builds} and {are} stale"
    again = " and ".join(str(each) for each in planned.backends if each.name in {build.name for build in made_by})
    return f"{what}; {'it' if number == 1 else 'they'} {made} again by {again}"


def imprecise(cell: Imprecise, rule: StoppingRule) -> str:
    """A cell whose metric is not known well enough, on one line."""
    after = f"{cell.cell.name}: after {cell.seeds} seeds ci({rule.told}) is"
    if cell.repeated:
        return f"{after} unknown, because all gave the same run: {repetition.REMEDY}"
    half = "unknown" if cell.half is None else f"{cell.half:.3g}"
    return f"{after} {half}, not below {rule.bound:g}"


def axes(campaign: Campaign) -> Table:
    """The axes of a campaign: what each sets, and its values."""
    rows = [
        {"axis": name, "sets": key, "count": len(labels), "values": list(labels)}
        for name, (key, labels) in campaign.described.items()
    ]
    columns = [label("axis", keep=True), label("sets", rank=1), number("count", "number"), text("values", keep=True)]
    return Table("axes", "Axes", columns, rows)


def planned(plan: Plan, kept: int, seconds: float) -> Table:
    """For programs: how much there is to run, how many of the runs are there, and how long the others will take."""
    row = {
        "cells": len(plan.cells),
        "seeds": plan.repetitions,
        "runs": len(plan),
        "simulated_s": plan.simulated_seconds,
        "kept": kept,
        "estimated_s": seconds,
    }
    return Table("plan", "", [number(name) for name in row], [row])


def duration(seconds: float) -> str:
    """A time in the two largest units that it needs."""
    units = {"d": 86400, "h": 3600, "min": 60, "s": 1}
    left, parts = max(1, round(seconds)), list[str]()
    for unit, size in units.items():
        number, left = divmod(left, size)
        if number or parts:
            parts.append(f"{number} {unit}")
    return " ".join(part for part in parts[:2] if not part.startswith("0 "))


def estimated(speed: Speed, runs: int, packets: float, number: int) -> str:
    """The estimated time of a number of runs with a number of workers, on one line."""
    millions, milliseconds = speed.packets_per_second / 1e6, speed.overhead * 1e3
    rounded = float(f"{packets:.3g}")
    return (
        f"about {duration(speed.seconds(runs, packets) / number)} with {number} at a time: up to "
        f"{rounded:,.0f} packets of 1500 bytes at {millions:.3g} million per second (measured in the largest cell), plus "
        f"{float(f'{milliseconds:.2g}'):g} ms per run"
    )


VERDICTS = {verdict: Text(verdict, style) for verdict, style in zip(Verdict, ("green", "red", "yellow"), strict=True)}


def claims(judged: Iterable[tuple[str, Judged]]) -> Table:
    """Each claim of a study with its verdict, the seeds on which it holds, and the values that show it."""
    rows = [{"study": study, **_judged(each)} for study, each in judged]
    columns = [
        *_backends(rows),
        label("id", keep=True),
        text("claim", keep=True),
        Column("verdict", ("verdict",), lambda row: VERDICTS[row["verdict"]], Content.LABEL, keep=True),
        Column("held", ("held", "seeds"), lambda row: f"{row['held']}/{row['seeds']}", Content.NUMBER),
        Column(
            "95 % interval",
            ("share", "share_ci_low", "share_ci_high"),
            lambda row: f"{row['share_ci_low']:.2f} to {row['share_ci_high']:.2f}",
            Content.NUMBER,
            rank=1,
        ),
        text("values", "values over seeds", rank=2),
    ]
    return Table("claims", "Claims", columns, rows, beside=["source", "study"])


def _judged(judged: Judged) -> Row:
    share, low, high = judged.share
    claim = judged.claim
    return {
        BACKEND: judged.backend,
        **{"id": claim.id, "claim": claim.claim, "source": claim.source, "verdict": judged.verdict, "values": judged.shown},
        **{"held": judged.held, "seeds": judged.seeds, "share": share, "share_ci_low": low, "share_ci_high": high},
    }


def verdicts_in_all(judged: Sequence[Judged], there_are: int) -> str:
    """What the claims of a paper come to, on one line for each backend."""
    if not judged:
        return f"none of {digits.counted(there_are, 'claim')} can be judged from these runs"
    parts = by_backend(judged)
    if len(parts) > 1:
        return "\n".join(f"{backend}: {verdicts_in_all(part, there_are)}" for backend, part in parts.items())
    line = Tally.of(judged).line
    if len(judged) < there_are:
        line += f"; {there_are - len(judged)} more cannot be judged from these runs"
    return line


def papers(found: Iterable[tuple[Study, Sequence[Judged], Sequence[Compared]]]) -> Table:
    """How the claims of each paper fare, and how many of its published values agree."""
    rows = [
        {"study": study.name, **{str(verdict): count for verdict, count in tally.verdicts.items()}, **agreeing}
        for study, judged, comparison in found
        for tally, agreeing in _agreeing(judged, comparison)
    ]
    columns = [
        label("study", keep=True),
        *_backends(rows),
        *(number(verdict, heading) for verdict, heading in zip(Verdict, ("claims hold", "fail", "undecided"), strict=True)),
        AGREEING,
    ]
    return Table("papers", "Papers", columns, rows)


def readings(found: Mapping[str, "Reproduction"]) -> Table:
    """How many values and claims of a study agree under each reading, and with each backend if there are several."""
    rows = [
        {"reading": reading, "claims": tally.line if tally.claims else "", **agreeing}
        for reading, reproduction in found.items()
        for tally, agreeing in _agreeing(reproduction.judged, reproduction.comparison)
    ]
    columns = [label("reading", keep=True), *_backends(rows), replace(AGREEING, keep=True), text("claims")]
    return Table("readings", "By reading", columns, rows)


def _agreeing(judged: Sequence[Judged], comparison: Sequence[Compared]) -> Iterator[tuple[Tally, Row]]:
    """How the claims fare, and how many values agree with the published, with each backend."""
    values, claims = by_backend(comparison), by_backend(judged)
    for backend in {**values, **claims} or [None]:
        agreed = Agreement.of(values.get(backend, ()))
        yield Tally.of(claims.get(backend, ())), {BACKEND: backend, "agree": agreed.agreeing, "values": agreed.total}


def _of_published(row: Row) -> str:
    return f"{row['agree']} of {row['values']}" if row["values"] else "none published"


AGREEING = Column("values agree", ("agree", "values"), _of_published, Content.NUMBER)


def _backends(rows: Sequence[Row]) -> list[Column]:
    """The column of backends, where there are several."""
    return [label(BACKEND, keep=True)] if any(row[BACKEND] for row in rows) else []


def reproduced(found: Iterable[tuple[Study, Sequence[Judged], Sequence[Compared]]]) -> list[Table]:
    """For programs: all cells of studies beside what was published, and all claims."""
    studies = list(found)
    compared = pl.concat([cells_frame(study, comparison) for study, _, comparison in studies], how="diagonal")
    return [of_frame("cells", compared), claims((study.name, each) for study, judged, _ in studies for each in judged)]
