"""Congestion controls: our names and parameters as modules of Linux and their parameters under ``/sys/module``."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sojourn import catalogue
from sojourn.backends.linux.limits import Impossible, Limitations
from sojourn.backends.linux.units import milliseconds


@dataclass(frozen=True)
class Module:
    """A congestion control of Linux."""

    #: As TCP_CONGESTION takes it (tcp(7)).
    name: str
    #: Parameters of ours that are parameters of the module: its name for each, and the value there.
    parameters: Mapping[str, tuple[str, Callable[[Any], int]]]


def _in_1024ths(value: float) -> int:
    return round(value * 1024)


#: The stack profile that says what the modules do.
PROFILE = "linux-6"

_NONE: Mapping[str, tuple[str, Callable[[Any], int]]] = {}

#: By our names; parameters are those of net/ipv4/tcp_*.c in Linux 6.1 that can be written.
MODULES = {
    "newreno": Module("reno", _NONE),
    "cubic": Module(
        "cubic",
        {
            "beta": ("beta", _in_1024ths),
            "fast_convergence": ("fast_convergence", int),
            "reno_friendly": ("tcp_friendliness", int),
        },
    ),
    "bic": Module(
        "bic",
        {
            "beta": ("beta", _in_1024ths),
            "max_increment": ("max_increment", round),
            "low_window": ("low_window", round),
            "smooth_part": ("smooth_part", round),
            "fast_convergence": ("fast_convergence", int),
        },
    ),
    "hstcp": Module("highspeed", _NONE),
    "htcp": Module("htcp", {"rtt_scaling": ("use_rtt_scaling", int), "adaptive_backoff": ("use_bandwidth_switch", int)}),
    "westwood": Module("westwood", _NONE),
    "veno": Module("veno", _NONE),
    "illinois": Module("illinois", _NONE),
    "hybla": Module("hybla", {"rtt0": ("rtt0", milliseconds)}),
    "scalable": Module("scalable", _NONE),
    "vegas": Module("vegas", {name: (name, int) for name in ("alpha", "beta", "gamma")}),
    "yeah": Module("yeah", _NONE),
    "lp": Module("lp", _NONE),
    "bbr": Module("bbr", _NONE),
    "dctcp": Module(
        "dctcp",
        {"g": ("dctcp_shift_g", lambda g: round(-math.log2(g))), "initial_alpha": ("dctcp_alpha_on_init", _in_1024ths)},
    ),
}

#: Slow starts of CUBIC as its parameter ``hystart``.
_HYSTART = {"standard": 0, "hystart": 1}


def translate(source: Mapping[str, Any], limitations: Limitations) -> tuple[str, dict[str, str]]:
    """The module of a congestion control, and its parameters by their paths.

    Raises:
        Impossible: Linux has no such congestion control.
    """
    name = source["name"]
    if name not in MODULES:
        raise Impossible("tcp.name", f"Linux has no {name} (it has {', '.join((*MODULES, 'cbr'))})")
    module = MODULES[name]
    settings: dict[str, str] = {}
    known = catalogue.load()
    control = known.congestion_control(name)
    fixed = known.profile(PROFILE).defaults_of(control)
    for parameter in control.parameters:
        value = source["parameters"][parameter.name]
        if parameter.name in module.parameters:
            there, convert = module.parameters[parameter.name]
            settings[_path(module.name, there)] = str(convert(value))
        elif value != fixed[parameter.name]:
            limitations.note(f"tcp.{parameter.name}", f"{module.name} of Linux has no such parameter")
    slow_start = source["slow_start"]
    if name == "cubic":
        settings[_path("cubic", "hystart")] = str(_HYSTART.get(slow_start, 1))
        if slow_start not in _HYSTART:
            limitations.note("tcp.slow_start", f"cubic of Linux has {' and '.join(_HYSTART)}")
    elif slow_start != "standard":
        limitations.note("tcp.slow_start", f"{module.name} of Linux has the standard slow start only")
    return module.name, settings


def _path(module: str, parameter: str) -> str:
    return f"/sys/module/tcp_{module}/parameters/{parameter}"
