"""The pairs of the atlas: a congestion control and a queue discipline that people deploy, alone or beside CUBIC."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sojourn import catalogue
from sojourn.errors import InputError

#: Those that have report cards, and H-TCP, which Linux and FreeBSD have.
TCPS = ("newreno", "cubic", "bbr", "bbr3", "prague", "dctcp", "vegas", "westwood", "ledbat", "hybla", "illinois", "htcp")

#: Those that have report cards.
DISCIPLINES = ("droptail", "red", "codel", "fq_codel", "pie", "fq_pie", "cake", "dualpi2", "sfq", "sfb", "choke", "ared")

#: What those that are deployed do and the catalogue's defaults do not: Linux's FQ-CoDel marks unless it is told not to, CAKE and
#: SFB always (net/sched/sch_fq_codel.c, fq_codel_init; sch_cake.c; sch_sfb.c).
DEPLOYED: Mapping[str, Mapping[str, Any]] = {name: {"ecn": True} for name in ("fq_codel", "cake", "sfb")}

#: The congestion control that half of the flows have which are not alone, and what it is called where all are alike.
BESIDE, ALONE = "cubic", "alone"

#: What tells cells of a landmark apart.
AXES = ("tcp", "queue", "beside")


@dataclass(frozen=True)
class Pair:
    """A congestion control behind a discipline, alone or beside CUBIC."""

    tcp: str
    queue: str
    beside: str

    @property
    def axes(self) -> Mapping[str, str]:
        """The values of its axes."""
        return dict(zip(AXES, (self.tcp, self.queue, self.beside), strict=True))

    @property
    def other(self) -> str:
        """The congestion control of the flows beside its own."""
        return self.tcp if self.beside == ALONE else BESIDE

    @property
    def label(self) -> str:
        """What people call it."""
        return "/".join(self.axes.values())


def pairs(tcps: Iterable[str], queues: Iterable[str], besides: Iterable[str]) -> Iterator[Pair]:
    """All pairs of these. CUBIC is beside nobody but itself, so it has one pair behind each discipline."""
    besides, queues = list(besides), list(queues)
    for tcp in tcps:
        for queue in queues:
            for beside in besides:
                if beside != tcp:
                    yield Pair(tcp, queue, beside)


def everything() -> tuple[list[str], list[str]]:
    """All congestion controls that answer congestion, and all disciplines."""
    known = catalogue.load()
    return [each.name for each in known.congestion_controls if not each.rate_based], [each.name for each in known.queues]


def named(kind: str, given: Iterable[str]) -> list[str]:
    """The names that the catalogue has for algorithms.

    Raises:
        InputError: there is no such algorithm, or it answers no congestion.
    """
    tcps, queues = everything()
    allowed = tcps if kind == "tcp" else queues
    every = catalogue.load().congestion_controls if kind == "tcp" else catalogue.load().queues
    entries = [each for each in every if each.name in allowed]
    what = "congestion control" if kind == "tcp" else "queue discipline"
    found = []
    for name in given:
        try:
            found.append(catalogue.find(what, name, entries).name)
        except ValueError as error:
            raise InputError(f"--{kind}: {error}") from None
    return list(dict.fromkeys(found))
