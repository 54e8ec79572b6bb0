"""Speed of users' own congestion controls: the templates of ``sojourn new``, which do what New Reno does, and the built-in."""

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from sojourn import _engine, specification
from sojourn.bench import piotrowska, speed, yardstick
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target, values
from sojourn.errors import RunFailed
from sojourn.plugins import source, starting
from sojourn.plugins.compiler import compiler
from sojourn.plugins.declared import declared
from sojourn.plugins.loading import Loaded, load
from sojourn.specification import RunSpecification

#: What the templates are called here.
NAME = "aimd"


def measure(extent: Extent, notify: Notify) -> Part:
    """Compares the templates with New Reno in runs made in turn; figures are medians of ``extent.repeat``."""
    reference = piotrowska.specification(piotrowska.FEW_FLOWS, extent.seconds)
    rows: list[Row] = []
    # Without a compiler there is nothing to measure of C.
    languages = [language for language in starting.ENDINGS if language != "c" or compiler() is not None]
    for language in languages:
        run, plugin = controlled(reference, language)
        turns: list[Row] = []
        for turn in range(extent.repeat):
            notify(f"own: {language}, {turn + 1} of {extent.repeat}")
            built_in, (seconds, calls, packets) = _timed(reference, None), _timed(run, [plugin])
            turns.append(
                {
                    "share_of_new_renos_speed": built_in[0] / seconds,
                    "hook_calls_a_second": calls / seconds,
                    "packets_per_cpu_second": packets / seconds,
                    "share_of_bare_loop": packets / seconds / yardstick.bare_loop(1),
                }
            )
        medians = {name: statistics.median(values(turns, name)) for name in turns[0]}
        rows.append({"language": language, **medians, "steps_a_packet": speed.steps(specification.text(run), [plugin]) / packets})
    of = {str(row["language"]): row for row in rows}
    python = float(of["python"]["hook_calls_a_second"])
    measurements = [Measurement("Python", python, "acks/CPU s", Target("at least", 100_000))]
    if "c" in of:
        share = float(of["c"]["share_of_new_renos_speed"])
        measurements.append(Measurement("C", share, "of the built-in's", Target("at least", 0.8)))
    return Part(
        title="Speed of users' own congestion controls",
        method=(
            "The templates of sojourn new, which do what New Reno does, in the study piotrowska's data centre with nine flows, "
            "in runs made in turn with the built-in; CPU time of the engine's thread, the network's share of it included. A "
            "hook is called for each acknowledgement in congestion avoidance."
        ),
        measurements=measurements,
        rows=rows,
    )


def controlled(reference: RunSpecification, language: str) -> tuple[RunSpecification, Loaded]:
    """The same run with every flow under the template of a language, and that loaded."""
    with tempfile.TemporaryDirectory() as folder:
        file, _ = starting.begin("tcp", NAME, language, Path(folder))
        own = source.read(file)
    try:
        control = declared(own).control
        plugin = load(own)
    except ValueError as error:
        raise RunFailed(f"bench own: {error}") from None
    parameters = {} if control is None else {parameter.name: parameter.default for parameter in control.parameters}
    sends: dict[str, Any] = {"name": own.file, "slow_start": "standard", "parameters": parameters, "stack": 0, "plugin": 0}
    flows = [{**flow, "source": sends} for flow in reference["flows"]]
    return {**reference, "flows": flows, "plugins": [own.as_json()]}, plugin


def _timed(run: RunSpecification, plugins: list[Loaded] | None) -> tuple[float, int, int]:
    """CPU seconds of the engine, calls of hooks meanwhile, and data packets delivered."""
    text, calls = specification.text(run), _engine.plugin_calls()
    began = time.thread_time()
    tables = _engine.run(text, None, plugins)
    seconds = time.thread_time() - began
    return seconds, (_engine.plugin_calls() - calls) // 2, tables["summary"]["data_packets_delivered"]
