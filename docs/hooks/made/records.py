"""Results that take long, by what pages ask of them: the answers are kept in a record beside the commands that made the runs.

``campaigns.toml`` of a folder has the commands, by name. ``measured.json`` has, for each, the identity of what made its runs, and
the answer to each query that a page asks. So pages are compared with the record in seconds, all say the same, and a record of
another engine can be told.
"""

import json
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import sojourn
from made.markers import NotMeasured
from made.results import ROOT, Answers, CommandFailed, Rows, ask, run
from prose import plain
from sojourn import backends
from sojourn.study import library
from sojourn.study.tally import Tally
from sojourn.study.verdicts import Verdict

#: Folders whose folders have records.
PLACES = (ROOT / "studies", ROOT / "docs" / "measured")

CAMPAIGNS, RECORD = "campaigns.toml", "measured.json"


@dataclass(frozen=True)
class Agreement:
    """How many values agree, and of how many."""

    agreeing: int
    of: int

    @property
    def percent(self) -> str:
        """Their share, in whole per cent."""
        return f"{100 * self.agreeing / self.of:.0f} %"

    def __str__(self) -> str:
        return f"{self.agreeing} of {self.of}"


@dataclass
class Campaign(Answers):
    """Runs of one command, and what pages ask of them."""

    record: "Record"
    name: str
    command: str
    #: Where its results are, if answers are to come from there.
    directory: Path | None = None
    asked: dict[str, Rows] = field(default_factory=dict)

    def rows(self, sql: str) -> Rows:
        sql = " ".join(sql.split())
        if self.directory is not None:
            self.asked[sql] = ask(self.directory, sql)
            return self.asked[sql]
        try:
            return [tuple(row) for row in self._kept["answers"][sql]]
        except KeyError:
            raise NotMeasured(f"the record has no answer; make docs-numbers STUDIES={self.record.name}:{self.name}") from None

    def agree(self, where: str = "true") -> Agreement:
        """How many published values agree, of those that a condition selects."""
        counted = "select count(*) filter (agrees), count(*) from cells where agrees is not null"
        return Agreement(*self.row(f"{counted} and ({where})"))

    def chance(self, where: str) -> tuple[int, str]:
        """How many published values differ beyond chance, and in per cent how often a seed agrees with the mean of the others."""
        counted = "count(*) filter (beyond_chance::boolean), round(100 * avg(self_agreement::double))::int"
        beyond, alike = self.row(f"select {counted} from cells where agrees is not null and ({where})")
        return beyond, "" if alike is None else str(alike)

    def tables(self) -> list[tuple[str, str, Agreement]]:
        """Each published table: its number, its title and how many of its values agree."""
        counted = "count(*) filter (agrees), count(*)"
        found = self.rows(f'select "table", {counted} from cells where agrees is not null group by "table" order by "table"')
        titles = {table.number: table.title for table in library.load(self.record.name).tables}
        return [(str(number), titles[number], Agreement(agreeing, of)) for number, agreeing, of in found]

    def claim(self, name: str) -> str:
        """The verdict on a claim, on how many seeds it is true, and the values."""
        verdict, evidence = self.row(f"select verdict, evidence from claims where id = '{name}'")
        return plain(f"{verdict}, {evidence}")

    def judged(self, where: str = "true") -> list[tuple[str, str, str, str]]:
        """Claims that a condition selects: id, what the paper says, the verdict, on how many seeds and the values."""
        found = self.rows(f"select id, claim, verdict, evidence from claims where {where} order by id")
        return [(name, plain(claim), verdict, plain(evidence)) for name, claim, verdict, evidence in found]

    @property
    def claims(self) -> Tally:
        """How the claims fare."""
        found = self.rows("select verdict, held, seeds from claims order by id")
        return Tally.counted((Verdict(verdict), held, seeds) for verdict, held, seeds in found)

    @property
    def seeds(self) -> int:
        """How many seeds each cell has."""
        seeds: int = self.value("select count(distinct seed) from runs")
        return seeds

    @property
    def said(self) -> str:
        """The command and what made its runs, for readers."""
        return f"`{self.command}`, {self.made_by}"

    @property
    def made_by(self) -> str:
        """What made the runs, such as ``simulator 0.1.0 (0123abcd)``."""
        return ", ".join(f"{name} {version} ({digest[:8]})" for name, version, digest in self.identities)

    @property
    def identities(self) -> list[tuple[str, str, str]]:
        """Name, version and digest of each backend that made runs."""
        if self.directory is not None:
            with sojourn.open(self.directory) as store:
                return sorted((each.name, each.version, each.digest) for each in store.identities)
        return [(name, version, digest) for name, version, digest in self._kept["made_by"]]

    @property
    def is_stale(self) -> bool:
        """Whether the simulator that made the runs is not the present one."""
        now = backends.named(backends.DEFAULT).identity
        return any(name == now.name and digest != now.digest for name, _, digest in self.identities)

    @property
    def _kept(self) -> Mapping[str, Any]:
        try:
            kept: Mapping[str, Any] = self.record.kept[self.name]
        except KeyError:
            raise NotMeasured(f"not measured yet; make docs-numbers STUDIES={self.record.name}:{self.name}") from None
        if kept["command"] != self.command:
            raise NotMeasured(f"measured by another command; make docs-numbers STUDIES={self.record.name}:{self.name}")
        return kept

    def make(self, results: Path) -> None:
        """Carries the command out, or what is left of it, with its results in a folder of ``results``."""
        directory = results.resolve() / f"{self.record.name}-{self.name}"
        run([*shlex.split(self.command)[1:], "--out", str(directory)])
        axes = ask(directory, "select column_name from (describe runs)")
        cell = ", ".join(f'"{name}"' for (name,) in axes[1 : 1 + [name for (name,) in axes].index("seed")])
        if ask(directory, f"select 1 from runs group by {cell}, backend having count(*) > 1"):
            raise CommandFailed(f"{directory}: has runs of another state of the study too; name another directory of results")
        self.directory = directory


@dataclass
class Record:
    """The campaigns of a folder and the file of their answers."""

    folder: Path

    @property
    def name(self) -> str:
        """The name of the study, or of what else was measured."""
        return self.folder.name

    @cached_property
    def campaigns(self) -> dict[str, Campaign]:
        """Its campaigns by name."""
        named = tomllib.loads((self.folder / CAMPAIGNS).read_text(encoding="utf-8"))
        return {name: Campaign(self, name, entry["command"]) for name, entry in named.items()}

    @cached_property
    def kept(self) -> Mapping[str, Any]:
        """What the file has."""
        path = self.folder / RECORD
        found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return found

    def write(self) -> None:
        """Writes the file: what was asked of campaigns whose results are at hand, and what it had of the others."""
        kept = {name: self.kept[name] for name in self.campaigns if name in self.kept}
        for name, campaign in self.campaigns.items():
            if campaign.directory is not None:
                kept[name] = {
                    "command": campaign.command,
                    "made_by": campaign.identities,
                    "answers": dict(sorted(campaign.asked.items())),
                }
        (self.folder / RECORD).write_text(_text(kept), encoding="utf-8")


def available() -> dict[str, Record]:
    """All records by name."""
    return {path.parent.name: Record(path.parent) for place in PLACES for path in sorted(place.glob(f"*/{CAMPAIGNS}"))}


def _text(kept: Mapping[str, Any]) -> str:
    """JSON with a row of an answer on a line, so that changes are seen."""
    campaigns = []
    for name in sorted(kept):
        answers = [
            f"      {json.dumps(sql)}: [\n" + ",\n".join(f"        {json.dumps(row)}" for row in rows) + "\n      ]"
            for sql, rows in kept[name]["answers"].items()
        ]
        campaigns.append(
            f"  {json.dumps(name)}: {{\n"
            f'    "command": {json.dumps(kept[name]["command"])},\n'
            f'    "made_by": {json.dumps(kept[name]["made_by"])},\n'
            f'    "answers": {{\n' + ",\n".join(answers) + "\n    }\n  }"
        )
    return "{\n" + ",\n".join(campaigns) + "\n}\n"


def stale() -> list[str]:
    """A line for each campaign that an engine other than the present one made, or that has not been made yet."""
    lines = []
    for name, record in available().items():
        for campaign in record.campaigns.values():
            try:
                told = f"made by {campaign.made_by}" if campaign.is_stale else ""
            except NotMeasured as error:
                told = str(error).partition(";")[0]
            if told:
                lines.append(f"stale: {name}:{campaign.name}, {told}; make docs-numbers STUDIES={name}:{campaign.name}")
    return lines
