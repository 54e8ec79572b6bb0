"""A plan: a campaign whose cells have all been checked."""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, tee

from sojourn import backends, names, specification
from sojourn.backends.backend import Backend, CheckingTexts
from sojourn.backends.identity import Identity
from sojourn.campaign import cautions, randomness
from sojourn.campaign.model import Campaign
from sojourn.errors import InputError
from sojourn.runs import Run, called, keys, requests
from sojourn.scenario.given import Given
from sojourn.specification import RunSpecification, with_seed
from sojourn.sweeps.stopping import StoppingRule
from sojourn.units import LARGEST


@dataclass(frozen=True)
class PlannedCell:
    """A cell of which only as much is kept as its runs need: there may be many thousands."""

    #: Its labels; where a campaign has several backends the name of its own is the last.
    axes: dict[str, str]
    #: The seed of the first run; the others count up from it.
    seed: int
    #: ``Run.cost`` and ``Run.simulated_seconds`` of each run.
    cost: float
    simulated_seconds: float
    #: What will carry out its runs.
    backend: Identity
    #: The specification's text, compressed with that of another cell, with which it has most in common.
    packed: bytes = field(repr=False)
    other: bytes = field(repr=False)
    #: What its seeds decide.
    random: randomness.Parts = ()
    #: What is said of it before it is run.
    warnings: tuple[str, ...] = ()
    #: Where files of its programs are on this machine, which is no part of the text.
    places: Mapping[str, str] | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """What people call it."""
        return called(self.axes)

    def runs(self, numbers: Iterable[int]) -> Iterator[Run]:
        """Runs by their numbers: the first is 0 and has the cell's seed, the others count up from it."""
        specified: RunSpecification = json.loads(self._text)
        if self.places is not None:
            specified["places"] = dict(self.places)
        seeds, again = tee(self.seed + number for number in numbers)
        for seed, text in zip(seeds, specification.texts(self._text, again), strict=True):
            yield Run.of(self.axes, seed, with_seed(specified, seed), self.backend, text, self.cost)

    def run(self) -> Run:
        """The first run."""
        return next(self.runs([0]))

    def requests(self, repetitions: int) -> Iterator[str]:
        """``Run.request`` of the first runs, without making the runs."""
        return requests(self._text, range(self.seed, self.seed + repetitions))

    def keys(self, repetitions: int) -> Iterator[str]:
        """The keys of the first runs, without making the runs."""
        return keys(self.requests(repetitions), self.backend)

    @property
    def _text(self) -> str:
        return zlib.decompressobj(zdict=self.other).decompress(self.packed).decode()


@dataclass(frozen=True)
class Plan:
    """A campaign that has been checked, and what will carry it out: each cell once by each backend."""

    name: str
    axes: Sequence[str]
    cells: Sequence[PlannedCell]
    repetitions: int
    backends: Sequence[Identity]
    until: StoppingRule | None = None

    def __len__(self) -> int:
        return len(self.cells) * self.repetitions

    @property
    def cost(self) -> float:
        """``Run.cost`` of all runs together."""
        return self.repetitions * sum(cell.cost for cell in self.cells)

    @property
    def warnings(self) -> list[str]:
        """What is said of the cells before they are run, each line once."""
        return list(dict.fromkeys(line for cell in self.cells for line in cell.warnings))

    @property
    def simulated_seconds(self) -> float:
        """How long all runs last together, in their own time."""
        return self.repetitions * sum(cell.simulated_seconds for cell in self.cells)

    def requests(self, backend: Identity) -> Iterator[str]:
        """``Run.request`` of all runs of a backend, cell by cell."""
        return chain.from_iterable(cell.requests(self.repetitions) for cell in self.cells if cell.backend == backend)

    def run_keys(self) -> Iterator[str]:
        """The keys of all runs, cell by cell."""
        return chain.from_iterable(cell.keys(self.repetitions) for cell in self.cells)

    def longest_first(self) -> Sequence[PlannedCell]:
        """The cells, those with the longest runs first."""
        return sorted(self.cells, key=lambda cell: -cell.cost)

    def runs(self) -> Iterator[Run]:
        """All runs, made one by one; the longest cells come first."""
        return chain.from_iterable(cell.runs(range(self.repetitions)) for cell in self.longest_first())


def plan(campaign: Campaign, backend: Backend | Sequence[Backend], on_cell: Callable[[], None] = lambda: None) -> Plan:
    """Has the backend check all cells, so that bad input is found before anything is run or written.

    Args:
        campaign: what is to be run.
        backend: what will carry it out; several each carry out all of it, and the backend is then the last of the axes.
        on_cell: called after each cell that is fine.
    """
    carriers = backends.several(backend)
    cells: list[PlannedCell] = []
    seen: dict[str, str] = {}
    known_random: dict[randomness.Parts, randomness.Parts] = {}
    first, packer = b"", None
    checking = [(carrier, _checking(carrier)) for carrier in carriers]
    for cell, carrier, check in ((cell, carrier, check) for cell in campaign.cells() for carrier, check in checking):
        beside = {names.BACKEND: carrier.identity.name} if len(carriers) > 1 else {}
        axes = {**cell.axes, **beside}
        name = called(axes)
        try:
            run = cell.run(0, carrier.identity)
            check(run, cell.given)
            if run.seed + campaign.repetitions - 1 > LARGEST:
                raise InputError(f"seed: {run.seed} is too large: {campaign.repetitions} seeds count up from it")
            groups = dict.fromkeys(flow["group"] for flow in run.specification["flows"])
            if campaign.until is not None and campaign.until.group not in (None, *groups):
                raise InputError(f"sweep.until: {names.unknown(names.GROUP, str(campaign.until.group), groups)}")
        except InputError as error:
            alone = [*cell.axes.values()] == [campaign.name]  # a scenario that is not swept
            where = called(beside) if alone else f"cell {name}"
            raise InputError(": ".join(filter(None, (campaign.origin, where, str(error))))) from None
        other = seen.setdefault(run.key, name)
        if other is not name:
            raise InputError(f"{campaign.origin}: the cells {other} and {name} are the same run; exclude one")
        text = run.text.encode()
        if packer is None:
            first, packer = text, _packer(text)
        packing = packer.copy()
        packed = packing.compress(text) + packing.flush()
        random = randomness.parts(run.specification)
        random = known_random.setdefault(random, random)  # the same for most cells
        warnings = cautions.warnings(run.specification)
        seconds, places = run.simulated_seconds, run.specification.get("places")
        cells.append(PlannedCell(axes, run.seed, run.cost, seconds, run.backend, packed, first, random, warnings, places))
        if carrier is carriers[-1]:
            on_cell()
    axes_of_all = (*campaign.axes, names.BACKEND) if len(carriers) > 1 else campaign.axes
    identities = tuple(carrier.identity for carrier in carriers)
    return Plan(campaign.name, axes_of_all, cells, campaign.repetitions, identities, campaign.until)


def _checking(carrier: Backend) -> Callable[[Run, Given], None]:
    """What has a backend look at a run."""
    if not isinstance(carrier, CheckingTexts):
        return lambda run, given: carrier.check(run.specification, given)

    def check(run: Run, given: Given) -> None:
        vars(run)["carried"] = carrier.check_text(run.specification, run.text, given)

    return check


def _packer(text: bytes) -> "zlib._Compress":
    """What a copy of packs a text that has most in common with this one.

    Its window is that in which the one text can be compared with the other. It holds little else: each text costs a copy of it.
    """
    window = min(max(9, (len(text) + 512).bit_length()), zlib.MAX_WBITS)
    return zlib.compressobj(level=3, wbits=window, memLevel=5, zdict=text)
