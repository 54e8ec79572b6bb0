"""A policy as a congestion control in C, which decides as the policy does: for ``tcp = { file = "mine.c" }``."""

from importlib.resources import files
from pathlib import Path
from typing import Any

from sojourn import policies
from sojourn.errors import InputError, check_out, within
from sojourn.scenario import agents
from sojourn.units import PICOSECONDS

#: What each feature is in the C file; ``it`` is the interval.
FEATURES = {
    "send_rate": "it->send_rate",
    "delivery_rate": "it->throughput",
    "latency_ratio": "it->least_mean > 0 ? it->rtt / it->least_mean : 1",
    "latency_inflation": "it->inflation",
    "send_ratio": "it->throughput > 0 && it->send_rate < 1000 * it->throughput ? it->send_rate / it->throughput : 1",
    "loss_ratio": "it->loss",
    "rtt_gradient": "it->gradient",
    "rtt_mean": "it->rtt",
    "rtt_min": "it->least_rtt",
    "rtt_max": "it->greatest_rtt",
    "rtt_last": "seconds(state->last_rtt)",
    "base_rtt": "seconds(state->base_rtt)",
    "srtt": "sojourn_seconds(state->srtt)",
    "mark_ratio": "it->marks",
    "retransmit_ratio": "part(state->sent_again, state->sent)",
    "in_flight": "segments(state, state->in_flight)",
    "acknowledged": "segments(state, state->acknowledged)",
    "cwnd": "segments(state, state->window.cwnd)",
    "ssthresh": "state->window.ssthresh == UINT64_MAX ? 1e6 : segments(state, state->window.ssthresh)",
    "mss": "(double)state->window.mss",
    "pacing_rate": "state->rate",
    "rate_sample": "8.0 * state->rate_sample",
    "greatest_rate": "it->greatest_rate",
    "app_limited": "part(state->app_limited, state->acknowledgements)",
    "in_recovery": "state->in_recovery ? 1 : 0",
    "in_phase": "state->phase_since != SOJOURN_NONE ? sojourn_seconds(now - state->phase_since) : 0",
    "timeouts": "(double)state->timeouts",
    "since_loss": (
        "state->lost_at != SOJOURN_NONE ? sojourn_seconds(now - state->lost_at) : "
        "state->opened != SOJOURN_NONE ? sojourn_seconds(now - state->opened) : 0"
    ),
    "interval": "it->seconds",
}

#: What a layer makes of each sum.
FUNCTIONS = {
    "identity": "sum",
    "tanh": "tanh(sum)",
    "relu": "sum < 0 ? 0 : sum",
    "sigmoid": "1.0 / (1.0 + exp(-sum))",
}

#: Numbers on a line.
ON_A_LINE = 4

#: Bits per second in one of Mbit/s, of which steps of rates are.
MEGABIT = 1e6


def write_c(policy: Path, out: Path) -> None:
    """Writes the policy in a file, with the agent that the file says it was trained as, as C.

    Raises:
        InputError: it is no policy, or one that a file in C cannot be; or the file cannot be written.
    """
    check_out(out)
    if out.suffix != ".c":
        raise InputError(f"--out {out}: must end in .c")
    with within(str(policy), InputError):
        if agents.decides_for(policies.read(policy).agent) == "queue":
            raise ValueError("decides in a queue; only congestion controls are written as C")
        text = as_c(agents.read({"policy": policy.name}, policy.parent), out.name)
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out}: {error.strerror}") from None


def as_c(agent: agents.Agent, file: str) -> str:
    """The agent of a policy as C, in a file of this name."""
    keys = agent.agent
    if keys["over"] is not None:
        raise ValueError(
            f"over: a file in C sets the window alone and cannot be over {keys['over']['name']}; train without it to export"
        )
    known = {feature["name"]: feature for feature in agents.registry()["features"]}
    action = keys["action"]
    is_paced = action["name"].startswith("rate")
    layers = keys["decider"]["policy"]["layers"]
    parts = {
        "TITLE": agent.file,
        "FILE": file,
        "INTERVAL_IN_WORDS": _interval_in_words(keys["interval"]),
        "OBSERVED": ", ".join(keys["observe"]),
        "HISTORY": str(keys["history"]),
        "ACTION_IN_WORDS": f"{action['name']} ({', '.join(f'{key} = {value}' for key, value in action['parameters'].items())})",
        "POLICY": "\n".join(
            [_shape(keys, layers), *map(_layer, range(len(layers)), layers), _decide(agents.spaces(keys), layers)]
        ),
        "OBSERVE": "\n".join(
            f"\trow[{place}] = observed({FEATURES[name]}, {_bounds(known[name], keys['only_tcp_info'])});"
            for place, name in enumerate(keys["observe"])
        ),
        **_questions(keys["interval"]),
        "ACT": _act(action, is_paced),
        "PACING": PACING if is_paced else "",
        "NEEDS": " | SOJOURN_NEEDS_PACING" if is_paced else "",
        "PACING_HOOK": "\n\t.pacing_rate = pacing_rate," if is_paced else "",
    }
    text = (files("sojourn.exports") / "policy.c.in").read_text(encoding="utf-8")
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


PACING = """
static uint64_t pacing_rate(void *memory, const struct sojourn_window *window, sojourn_time srtt)
{
	(void)window;
	(void)srtt;
	return (uint64_t)((struct state *)memory)->rate;
}
"""


def _number(value: float) -> str:
    """A number in C that is exactly this."""
    return repr(float(value))


def _numbers(values: list[float]) -> str:
    lines = (values[first : first + ON_A_LINE] for first in range(0, len(values), ON_A_LINE))
    return "\n".join("\t" + ", ".join(map(_number, line)) + "," for line in lines)


def _shape(keys: agents.Json, layers: list[agents.Json]) -> str:
    outputs = len(layers[-1]["weights"])
    return f"#define FEATURES {len(keys['observe'])}\n#define HISTORY {keys['history']}\n#define OUTPUTS {outputs}\n"


def _layer(place: int, layer: agents.Json) -> str:
    rows, function = layer["weights"], layer["function"]
    inputs, outputs = len(rows[0]), len(rows)
    if isinstance(function, str):
        value = FUNCTIONS[function]
    else:
        least, most = map(_number, function["clip"])
        value = f"sum < {least} ? {least} : sum > {most} ? {most} : sum"
    return f"""static const double weights_{place}[{outputs * inputs}] = {{
{_numbers([weight for row in rows for weight in row])}
}};

static const double biases_{place}[{outputs}] = {{
{_numbers(layer["biases"])}
}};

static void layer_{place}(const double *inputs, double *outputs)
{{
	for (int row = 0; row < {outputs}; row++) {{
		double sum = 0;

		for (int place = 0; place < {inputs}; place++)
			sum += weights_{place}[row * {inputs} + place] * inputs[place];
		sum += biases_{place}[row];
		outputs[row] = {value};
	}}
}}
"""


def _decide(spaces: agents.Json, layers: list[agents.Json]) -> str:
    """The function that evaluates the network, and takes its output as an action that is allowed."""
    steps = []
    for place, layer in enumerate(layers):
        steps += [f"\tdouble layer{place + 1}[{len(layer['weights'])}];"]
    calls = [f"\tlayer_{place}(layer{place}, layer{place + 1});" for place in range(len(layers))]
    last = f"layer{len(layers)}"
    if "steps" in spaces:
        answer = f"""
	double greatest = -INFINITY;

	for (int step = 0; step < OUTPUTS; step++)
		greatest = {last}[step] > greatest ? {last}[step] : greatest;
	for (int step = 0; step < OUTPUTS; step++)
		if ({last}[step] == greatest)
			return step;
	return NAN;"""
    else:
        least, most = map(_number, spaces["box"])
        answer = f"\n\treturn {last}[0] < {least} ? {least} : {last}[0] > {most} ? {most} : {last}[0];"
    declared = "\n".join(["\tdouble layer0[FEATURES * HISTORY];", *steps])
    return f"""/* The action; not a number if the policy gives none. */
static double decide(const float *observation)
{{
{declared}

	for (int place = 0; place < FEATURES * HISTORY; place++)
		layer0[place] = observation[place];
{chr(10).join(calls)}{answer}
}}"""


def _bounds(feature: agents.Json, only_tcp_info: bool) -> str:
    step = feature["step"] if only_tcp_info else 0
    return ", ".join(_number(value) for value in (step, feature["least"], feature["most"], feature["scale"]))


def _interval_in_words(interval: agents.Json) -> str:
    (kind, value), *_ = interval.items()
    match kind:
        case "time":
            return f"every {value / PICOSECONDS:g} s"
        case "round_trips":
            return "every smoothed round-trip time" if value == 1 else f"every {value:g} smoothed round-trip times"
        case _:
            return f"after every {value} acknowledgements"


def _questions(interval: agents.Json) -> dict[str, str]:
    """How a question is closed, and when one falls due: when the connection is open, and after an acknowledgement."""
    (kind, value), *_ = interval.items()
    if kind == "acknowledgements":
        after = f"""	if (!state->is_due && state->acknowledgements >= {value}) {{
		end_interval(state, delivery->now);
		state->due = next_multiple(ACKNOWLEDGEMENT_GRID, delivery->now);
		state->is_due = 1;
	}}"""
        return {"CLOSE": "\t\tstate->is_due = 0;", "FIRST_QUESTION": "", "AFTER_ACKNOWLEDGEMENT": after}
    is_time = kind == "time"
    following = f"{value}ull" if is_time else f"round_trips(state, {_number(value)})"
    first = f"next_multiple({value}ull, now)" if is_time else "now"
    return {
        "CLOSE": f"\t\tend_interval(state, state->due);\n\t\tstate->due += {following};",
        "FIRST_QUESTION": f"\tstate->due = {first};\n\tstate->is_due = 1;",
        "AFTER_ACKNOWLEDGEMENT": "",
    }


def _act(action: agents.Json, is_paced: bool) -> str:
    """What an answer does."""
    parameters: dict[str, Any] = action["parameters"]
    kind = action["name"].rpartition("_")[2]
    if kind == "factor":
        changed = f"answer == 0 ? current : current * exp2({_number(parameters['doublings'])} * answer)"
    elif kind == "delta":
        scale = _number(parameters["scale"])
        changed = f"answer == 0 ? current : answer > 0 ? current * (1.0 + {scale} * answer) : current / (1.0 - {scale} * answer)"
    elif kind == "steps":
        unit = MEGABIT if is_paced else 1.0
        cases = [f"answer == {place} ? {_step(text, unit)} : " for place, text in enumerate(parameters["steps"])]
        changed = f"{''.join(cases)}current"
    else:
        changed = "answer"
    limits = f"{_number(parameters['least'])}, {_number(parameters['most'])}"
    lines = ["double answer = state->answer[place];"]
    if is_paced and kind != "rate":
        lines += [
            "double srtt = sojourn_seconds(state->srtt > 0 ? state->srtt : FIRST_ROUND_TRIP);",
            "double current = state->rate > 0 ? state->rate : 8.0 * (double)window->cwnd / srtt;",
        ]
    elif not is_paced:
        lines.append("double current = (double)(state->set_window ? state->set_window : window->cwnd) / (double)window->mss;")
    lines.append(f"double changed = {changed};")
    lines.append("")
    # What changes nothing keeps the value, even one that is out of bounds.
    lines += (
        [f"changed = limited(changed, {limits});"]
        if changed == "answer"
        else [
            "if (changed != current)",
            f"\tchanged = limited(changed, {limits});",
        ]
    )
    if is_paced:
        lines += ["state->rate = changed;"]
    else:
        lines += [
            "if (changed == current)",
            "\tcontinue;",
            "state->set_window = (uint64_t)round(changed * (double)window->mss);",
            "if (state->set_window < window->mss)",
            "\tstate->set_window = window->mss;",
            "state->has_fallen = 0;",
        ]
    return "\n".join(f"\t\t{line}" if line else "" for line in lines)


def _step(text: str, unit: float) -> str:
    sign, number = text[0], _number(float(text[1:].strip()))
    match sign:
        case "*":
            return f"current * {number}"
        case "/":
            return f"current * (1.0 / {number})"
        case _:
            return f"current {sign} {number} * {unit}"
