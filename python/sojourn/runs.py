"""The cells of a matrix and their runs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Self

from sojourn import _engine
from sojourn.backends.identity import Identity
from sojourn.scenario.given import Given
from sojourn.scenario.model import Scenario
from sojourn.specification import RunSpecification, around_seed, simulated, specify, text, texts, with_seed
from sojourn.units import PICOSECONDS

#: Bytes of the hashes that stand for runs: enough that no two of any number of runs that can be made share one.
HASH_BYTES = 16

#: Texts that are hashed at once.
AT_ONCE = 500


@dataclass(frozen=True)
class Run:
    """One cell of a matrix with one seed, and the backend that carries it out."""

    axes: Mapping[str, str]
    seed: int
    specification: RunSpecification
    backend: Identity

    @classmethod
    def of(
        cls,
        axes: Mapping[str, str],
        seed: int,
        specification: RunSpecification,
        backend: Identity,
        text: str,
        cost: float,
    ) -> Self:
        """A run whose text and cost are known."""
        run = cls(axes, seed, specification, backend)
        vars(run).update(text=text, cost=cost)
        return run

    @cached_property
    def request(self) -> str:
        """A hash of the whole specification, the seed in it: what is asked of a backend, whichever it is."""
        return _hash(self.text)

    @cached_property
    def text(self) -> str:
        """The specification as it is written."""
        return text(self.specification)

    @cached_property
    def key(self) -> str:
        """A hash of all that the result depends on: the request, and the identity of the backend."""
        return key(self.request, self.backend)

    @property
    def label(self) -> str:
        """What people call the run among those of its campaign, such as ``DC/HC/codel/cubic/1``."""
        return "/".join([*self.axes.values(), str(self.seed)])

    @property
    def simulated_seconds(self) -> float:
        """How long the run lasts, in its own time."""
        return self.specification["duration"] / PICOSECONDS

    @cached_property
    def cost(self) -> float:
        """About how much work the run is: what the links that limit its flows can carry in its duration, in bits.

        What programs will send nobody knows: they count as flows that fill the slowest link.
        """
        if "programs" not in self.specification:
            return self.carried * self.simulated_seconds
        slowest: int = min(link["rate"] for link in self.specification["links"])
        return (_engine.carried(text(simulated(self.specification))) + slowest) * self.simulated_seconds

    @cached_property
    def carried(self) -> int:
        """What the links that limit its flows can carry, in bits/s, where it has no programs."""
        return _engine.carried(self.text)


@dataclass(frozen=True)
class Cell:
    """One cell of a matrix: the values of its axes, and the scenario that they make."""

    axes: Mapping[str, str]
    scenario: Scenario

    @cached_property
    def specification(self) -> RunSpecification:
        """The cell's first run, with the scenario's seed."""
        return specify(self.scenario, self.scenario.seed)

    @cached_property
    def given(self) -> Given:
        """The keys that were set in its scenario."""
        return Given(self.scenario)

    def run(self, repetition: int, backend: Identity) -> Run:
        """The cell's run number ``repetition``; the first is 0 and has the scenario's seed, the others count up from it."""
        seed = self.scenario.seed + repetition
        return Run(self.axes, seed, with_seed(self.specification, seed), backend)


def requests(specification: str, seeds: Iterable[int]) -> Iterator[str]:
    """``Run.request`` of a cell's runs with some seeds, for less than making the runs costs; the text is that of any of them."""
    if (around := around_seed(specification)) is None:
        return _hashes(texts(specification, seeds))
    before, after = around
    return _hashes(map(str, seeds), before, after)


def keys(requests: Iterable[str], backend: Identity) -> Iterator[str]:
    """The keys of runs, by their requests and what carries them out."""
    return _hashes(requests, _before(backend))


def key(request: str, backend: Identity) -> str:
    """The key of one run."""
    return _hash(request, _before(backend))


def called(axes: Mapping[str, str]) -> str:
    """A cell as people write it: ``tcp=cubic,queue=codel``."""
    return ",".join(f"{axis}={label}" for axis, label in axes.items())


def _before(backend: Identity) -> str:
    """What stands before a request in what a key is the hash of."""
    return "\n".join((backend.name, backend.version, backend.digest, ""))


def _hash(text: str, before: str = "") -> str:
    return _engine.hashes(before, [text], "", HASH_BYTES)[0]


def _hashes(middles: Iterable[str], before: str = "", after: str = "") -> Iterator[str]:
    """The hashes of texts of which only the middles differ."""
    left = iter(middles)
    while some := list(islice(left, AT_ONCE)):
        yield from _engine.hashes(before, some, after, HASH_BYTES)
