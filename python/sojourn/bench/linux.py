"""What a run on a Linux kernel costs: CPU time for a simulated second, beside a bare event loop timed in the same run."""

import resource
import statistics

from sojourn import backends
from sojourn.backends.backend import Backend
from sojourn.bench import yardstick
from sojourn.bench.dumbbell import dumbbell
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target
from sojourn.errors import InputError
from sojourn.linux import cache
from sojourn.specification import RunSpecification, specify

#: Flows that share the link, each number a measurement of its own.
FLOWS = (1, 10)

#: Simulated seconds of the run whose cost, starting and ending the kernel with it, is taken off, and how many more the other has.
SHORT, MORE = 2.0, 10.0

#: The greatest cost wanted of ten flows.
TARGET = 0.35


def kernel() -> Backend:
    """The first of the kernels that are built."""
    known = cache.kernels()
    return backends.named(f"linux:{known[0].name}" if known else "linux")


def missing() -> str | None:
    """Why nothing can be measured, on one line; none if it can."""
    try:
        kernel()
    except InputError as error:
        return str(error)
    return None


def measure(extent: Extent, notify: Notify) -> Part:
    """Measures runs of two durations in turn; the difference of their CPU times is the cost of the seconds between them."""
    backend = kernel()
    seconds = MORE * extent.scale
    rows: list[Row] = []
    measurements: list[Measurement] = []
    for flows in FLOWS:
        costs: list[float] = []
        at_known_speed: list[float] = []
        for turn in range(extent.repeat):
            notify(f"linux: {flows} flows, {turn + 1} of {extent.repeat}")
            short, long = (_cpu(backend, specification(flows, duration)) for duration in (SHORT, SHORT + seconds))
            loop = yardstick.bare_loop(extent.repeat)
            costs.append((long - short) / seconds)
            at_known_speed.append(costs[-1] * loop / yardstick.KNOWN)
            rows.append({"flows": flows, "cpu_s_a_simulated_second": costs[-1], "bare_loop_packets_per_cpu_s": loop})
        target = Target("at most", TARGET) if flows == FLOWS[-1] else None
        name = "1 flow" if flows == 1 else f"{flows} flows"
        measurements.append(Measurement(name, statistics.median(costs), "s of CPU a simulated second"))
        at_known = f"{name}, bare loop of {yardstick.KNOWN / 1e6:g} M packets/s"
        measurements.append(Measurement(at_known, statistics.median(at_known_speed), "s of CPU a simulated second", target))
    return Part(
        title=f"Cost of a run on {backend.identity}: CUBIC, 50 Mbit/s, 40 ms, DropTail",
        method=(
            f"User and system time of the kernel's processes in a run of {SHORT + seconds:g} s less that of {SHORT:g} s; medians "
            f"of {extent.repeat}. Also as it would be where a bare event loop has the speed that targets were set with."
        ),
        measurements=measurements,
        rows=rows,
    )


def specification(flows: int, seconds: float) -> RunSpecification:
    """Some flows of CUBIC from one host over a link of 50 Mbit/s."""
    bottleneck = {"rate": "50 Mbit/s", "delay": "20 ms", "queue": {"name": "droptail", "limit": "200 packets"}}
    some = {"tcp": "cubic", "count": flows, "start_within": "1 s"}
    return specify(dumbbell("linux", f"{seconds} s", bottleneck, some, stack="linux-6"), 1)


def _cpu(backend: Backend, run: RunSpecification) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    backend.run(run)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
