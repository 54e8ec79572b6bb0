"""Unmodified congestion controls of Linux in the simulator, beside the kernel that is compiled from the same files."""

import os
from pathlib import Path

import polars as pl
import pytest

import sojourn
from sojourn.linux import cache, guest, source

#: The sources of a kernel that is built.
KERNEL = Path(os.environ.get("SOJOURN_KERNEL_SOURCE", "/usr/src/linux"))

#: The scenario of the table in docs/your-own-algorithm.md, which reads the modules from this folder.
SCENARIO, FOLDER = Path(__file__).parents[1] / "docs/measured/linux-modules/modules.toml", "../../../target/linux-source"

#: Cells of the scenario: one flow that fills a buffer, and four through a queue that marks.
CELLS = ("50 Mbit/s, 20 ms, DropTail of 1 BDP", "50 Mbit/s, 40 ms, CoDel with ECN")

MODULES = (
    *("bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv", "scalable", "vegas"),
    *("veno", "westwood", "yeah"),
)

#: How far the simulator's run may be from the kernel's, as the share of the kernel's goodput and of its queue. On the kernel
#: alone queues over four seeds, under CoDel, were 10 to 18 packets with Vegas, 28 to 31 with BIC and 258 to 414 with BBR.
GOODPUT, QUEUE = 0.05, 0.5

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.skipif(not (KERNEL / "net/ipv4/tcp_bbr.c").is_file(), reason="needs SOJOURN_KERNEL_SOURCE"),
]


def built_with(path: Path) -> str:
    """Returns the backend of a kernel of this version that was compiled from a module's file."""
    digest = source.digest(path.read_bytes())
    kernels = [kernel for kernel in cache.kernels() if kernel.program == guest.program_digest()]
    names = [kernel.name for kernel in kernels if kernel.modules.get(path.name) == digest]
    if not names:
        pytest.skip("no kernel is built from SOJOURN_KERNEL_SOURCE")
    return f"linux:{names[0]}"


@pytest.mark.parametrize("name", MODULES)
def test_module_beside_the_kernel(tmp_path: Path, name: str) -> None:
    """A module's goodput and mean queue are the kernel's, within the spread of a kernel's single runs."""
    path = KERNEL / f"net/ipv4/tcp_{name}.c"
    backend = built_with(path)
    scenario = tmp_path / SCENARIO.name
    scenario.write_text(SCENARIO.read_text(encoding="utf-8").replace(FOLDER, str(KERNEL.resolve())), encoding="utf-8")
    # LP estimates the receiver's clock from its first timestamps; what it is with a queue this short is a draw on both.
    cells = CELLS[:1] if name == "lp" else CELLS
    runs = sojourn.run(scenario, only={"tcp": path.name, "path": cells}, backend=["simulator", backend]).runs
    for cell in cells:
        ours, theirs = (
            runs.filter(pl.col("path") == cell, pl.col("backend") == each).row(0, named=True) for each in ("simulator", backend)
        )
        assert ours["total_mbps"] == pytest.approx(theirs["total_mbps"], rel=GOODPUT), cell
        assert ours["queue_mean_pkts"] == pytest.approx(theirs["queue_mean_pkts"], rel=QUEUE, abs=1), cell
