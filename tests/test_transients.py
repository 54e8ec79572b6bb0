"""What is said of runs whose beginning differs from the rest of them."""

from pathlib import Path
from typing import Any

import sojourn
from conftest import scenario_data
from sojourn.analysis import summary
from sojourn.analysis.result import Result
from sojourn.scenario import from_data


def late(warm_up: str, **probe: str) -> Result:
    """A source of 9 Mbit/s that fills a line of 10 Mbit/s only from 4 s on, when another joins it; both are constant."""
    source: dict[str, Any] = {"name": "cbr", "rate": "9 Mbit/s", "packet_size": "1500 B"}
    flows = [
        {"from": "a", "to": "b", "tcp": source, "start": "0 s"},
        {"from": "a", "to": "b", "tcp": source | {"rate": "6 Mbit/s"}, "start": "4 s"},
    ]
    queue = {"name": "droptail", "limit": "10 packets"}
    data = scenario_data(flows=flows, duration="20 s", warm_up=warm_up, probe=probe)
    data["network"]["dumbbell"]["bottleneck"] |= {"rate": "10 Mbit/s", "queue": queue}
    return sojourn.run(from_data(data, "test"))


def test_transient_is_told() -> None:
    """A queue that fills for the first 4 s is told of if the measuring window opens before, and leaves results as they are."""
    result = late("1 s", queue_series="100 ms")
    transient = result.transients.row(0, named=True)
    assert transient["measure"] == "queue length"
    assert transient["warm_up_s"] == 1
    assert abs(transient["transient_s"] - 4) <= 0.5  # five samples are one batch
    told = f"By MSER-5 the queue length looks transient for the first {transient['transient_s']:.3g} s; warm_up is 1 s."
    assert result.unsettled == told
    assert told in summary.tables(result)[-1].notes


def test_long_warm_up_is_silent() -> None:
    """Nothing is said of a warm-up that is long enough, nor without samples."""
    assert late("5 s", queue_series="100 ms").unsettled is None
    without = late("1 s")
    assert without.unsettled is None
    assert without.transients.height == 0


def test_transients_of_cells(tmp_path: Path) -> None:
    """Of a sweep the cells are counted; goodput is looked at where flows are sampled. The windows make it constant."""
    flow = '[[flows]]\nfrom = "a"\nto = "b"\ntcp = "newreno"\nstart = "{}"\n'
    text = """name = "cells"
duration = "20 s"
warm_up = "2 s"
sender_overhead = "0 s"
probe = { flow_series = "100 ms" }
stack = { receive_buffer = "4 kB" }
network.dumbbell.senders = [{ name = "a", rate = "100 Mbit/s", delay = "1 ms" }]
network.dumbbell.receivers = [{ name = "b", rate = "100 Mbit/s", delay = "1 ms" }]
network.dumbbell.bottleneck = { rate = "1 Mbit/s", delay = "1 ms", queue = { name = "droptail", limit = "20 packets" } }
"""
    sweep = '[sweep.axes]\nbegin = {{ key = "flows.0.start", values = ["0 s", "6 s"] }}\n'
    (tmp_path / "cells.toml").write_text(text + flow.format("0 s") + sweep.format())
    result = sojourn.run(tmp_path / "cells.toml")
    assert result.transients["measure"].to_list() == ["goodput"] * 2
    assert result.unsettled is not None
    assert result.unsettled.startswith("By MSER-5 the goodput looks transient for longer than warm_up in 1 of 2 cells, up to 6")
