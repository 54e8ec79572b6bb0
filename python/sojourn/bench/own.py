"""Speed of users' own congestion controls: the templates of ``sojourn new``, which do what New Reno does, and the built-in."""

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from sojourn import _engine, specification
from sojourn.bench import piotrowska
from sojourn.bench.measurements import Extent, Measurement, Notify, Part, Row, Target
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
        shares: list[float] = []
        rates: list[float] = []
        for turn in range(extent.repeat):
            notify(f"own: {language}, {turn + 1} of {extent.repeat}")
            built_in, (seconds, calls) = _timed(reference, None), _timed(run, [plugin])
            shares.append(built_in[0] / seconds)
            rates.append(calls / seconds)
        speeds = {"share_of_new_renos_speed": statistics.median(shares), "hook_calls_a_second": statistics.median(rates)}
        rows.append({"language": language, **speeds})
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


def _timed(run: RunSpecification, plugins: list[Loaded] | None) -> tuple[float, int]:
    """CPU seconds of the engine, and calls of hooks meanwhile."""
    text, calls = specification.text(run), _engine.plugin_calls()
    began = time.thread_time()
    _engine.run(text, None, plugins)
    return time.thread_time() - began, (_engine.plugin_calls() - calls) // 2
