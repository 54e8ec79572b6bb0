"""Congestion controls: our names and parameters as modules of Linux and their parameters under ``/sys/module``."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sojourn import catalogue
from sojourn.backends.linux.limits import Impossible, Limitations
from sojourn.backends.linux.units import microseconds, milliseconds
from sojourn.linux.cache import BUILD, PRAGUE
from sojourn.linux.source import OLDEST, digest
from sojourn.plugins.source import AGENT, LINUX


@dataclass(frozen=True)
class Module:
    """A congestion control of Linux."""

    #: As TCP_CONGESTION takes it (tcp(7)).
    name: str
    #: Parameters of ours that are parameters of the module: its name for each, and the value there.
    parameters: Mapping[str, tuple[str, Callable[[Any], int]]] = field(default_factory=dict)
    #: Parameters of ours that choose among several, and what each of those values is for the module's parameters.
    choices: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    #: The file with which a kernel must have been built to have it; every kernel has the others.
    file: str | None = None


def _in_1024ths(value: float) -> int:
    return round(value * 1024)


#: The stack profile that says what the modules do.
PROFILE = "linux-6"
#: By our names; parameters are those of net/ipv4/tcp_*.c in Linux 6.1 that can be written.
MODULES = {
    "newreno": Module("reno"),
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
    "hstcp": Module("highspeed"),
    "htcp": Module("htcp", {"rtt_scaling": ("use_rtt_scaling", int), "adaptive_backoff": ("use_bandwidth_switch", int)}),
    "westwood": Module("westwood"),
    "veno": Module("veno"),
    "illinois": Module("illinois"),
    "hybla": Module("hybla", {"rtt0": ("rtt0", milliseconds)}),
    "scalable": Module("scalable"),
    "vegas": Module("vegas", {name: (name, int) for name in ("alpha", "beta", "gamma")}),
    "yeah": Module("yeah"),
    "lp": Module("lp"),
    "bbr": Module("bbr"),
    "dctcp": Module(
        "dctcp",
        {"g": ("dctcp_shift_g", lambda g: round(-math.log2(g))), "initial_alpha": ("dctcp_alpha_on_init", _in_1024ths)},
    ),
    "prague": Module(
        "prague",
        {"virtual_rtt": ("prague_rtt_target", microseconds), "transition": ("prague_rtt_transition", int)},
        # Version 0.7 begins with alpha = 1 and keeps to the window, as 0.5 did, if asked to.
        {"rules": {"linux": {}, "linux-2020": {"prague_alpha_mode": 1, "prague_cwnd_mode": 0}}},
        PRAGUE,
    ),
}

#: Slow starts of CUBIC as its parameter ``hystart``.
_HYSTART = {"standard": 0, "hystart": 1}


#: The name under which a module registers its congestion control, and a parameter with the permissions of its file.
_REGISTERED = re.compile(r'\.name\s*=\s*"([^"]+)"')
_PARAMETER = re.compile(r"module_param(?:_named)?\(\s*(\w+)\s*,[^)]*,\s*(0[0-7]*)\s*\)")
_WRITABLE = 0o200


@dataclass(frozen=True)
class Added:
    """The user's files that a run names, and those that its kernel was built with."""

    #: As the specification has them.
    plugins: Sequence[Mapping[str, Any]] = ()
    #: Digests by name.
    modules: Mapping[str, str] = field(default_factory=dict)
    #: The kernel's.
    version: tuple[int, ...] = OLDEST

    def text(self, plugin: int, key: str, example: str) -> tuple[str, str]:
        """The name and the text of the very file that a scenario names in the table ``key``; ``example`` is one that would do."""
        named = self.plugins[plugin]
        file, text = named["file"], named["files"].get(named["file"], "")
        if named["language"] == AGENT:
            raise Impossible(key, "Linux has no agents; only the simulator carries them out")
        if named["language"] != LINUX:
            raise Impossible(
                f"{key}.file", f'Linux runs modules of its own only: {{ linux = "{example.format(Path(file).stem)}" }}'
            )
        if self.modules.get(file) != digest(text.encode()):
            builds = f"`{BUILD} --name NAME --add {file}` builds one with it"
            other = f"another {file}" if file in self.modules else f"no {file}"
            raise Impossible(f"{key}.linux", f"this kernel was built with {other}; {builds}, for --backend linux:NAME")
        return file, text


def translate(source: Mapping[str, Any], limitations: Limitations, added: Added) -> tuple[str, dict[str, str]]:
    """The module of a congestion control, and its parameters by their paths."""
    if "plugin" in source:
        return _added(source, added, limitations)
    name = source["name"]
    if name not in MODULES:
        has = [ours for ours, module in MODULES.items() if module.file is None]
        raise Impossible("tcp.name", f"Linux has no {name} (it has {', '.join((*has, 'cbr'))})")
    module = MODULES[name]
    if module.file is not None and module.file not in added.modules:
        builds = f"`{BUILD} --name NAME --add {module.file}` builds a kernel that has it"
        raise Impossible("tcp.name", f"Linux itself has no {name}; {builds}, for --backend linux:NAME")
    settings: dict[str, str] = {}
    known = catalogue.load()
    control = known.congestion_control(name)
    fixed = known.profile(PROFILE).defaults_of(control)
    for parameter in control.parameters:
        value = source["parameters"][parameter.name]
        if parameter.name in module.parameters:
            there, convert = module.parameters[parameter.name]
            settings[_path(module.name, there)] = str(convert(value))
        elif value in module.choices.get(parameter.name, {}):
            chosen = module.choices[parameter.name][value]
            settings |= {_path(module.name, there): str(setting) for there, setting in chosen.items()}
        elif value != fixed[parameter.name]:
            limitations.note(f"tcp.{parameter.name}", f"{module.name} of Linux has no such parameter")
    slow_start = _slow_start(source)
    if name == "cubic":
        settings[_path("cubic", "hystart")] = str(_HYSTART.get(slow_start, 1))
        if slow_start not in _HYSTART:
            limitations.note("tcp.slow_start", f"cubic of Linux has {' and '.join(_HYSTART)}")
        elif isinstance(source["slow_start"], dict):
            usual = {parameter.name: parameter.default for parameter in known.slow_start(slow_start).parameters}
            if source["slow_start"]["parameters"] != usual:
                limitations.note("tcp.slow_start", "the constants of Linux's HyStart are not set")
    elif slow_start != "standard":
        limitations.note("tcp.slow_start", f"{module.name} of Linux has the standard slow start only")
    return module.name, settings


@dataclass(frozen=True)
class Wishes:
    """What a congestion control asks of ECN, whatever the stack says (include/net/tcp.h, TCP_CONG_*)."""

    #: That it is negotiated.
    ecn: bool = False
    #: Packets with ECT(1), for which ECN is Accurate ECN.
    ect1: bool = False

    def over(self, stack: Mapping[str, Any]) -> Mapping[str, Any]:
        """The stack that a flow has then: in the simulator, too, a congestion control of L4S asks for Accurate ECN by itself."""
        return {**stack, "ecn": "accurate", "ecn_codepoint": "ect1"} if self.ect1 else stack


def wishes(source: Mapping[str, Any], added: Added) -> Wishes:
    """What the congestion control of a flow asks of ECN."""
    if "plugin" not in source:
        return Wishes(ecn=source["name"] in ("dctcp", "prague"), ect1=source["name"] == "prague")
    _, text = added.text(source["plugin"], "tcp", "{}.c")
    return Wishes(ecn="TCP_CONG_NEEDS_" in text, ect1="TCP_CONG_ECT_1_NEGOTIATION" in text)


def _added(source: Mapping[str, Any], added: Added, limitations: Limitations) -> tuple[str, dict[str, str]]:
    """The module that the kernel was built with from the very file that a scenario names."""
    file, text = added.text(source["plugin"], "tcp", "{}.c")
    registered = _REGISTERED.search(text)
    if registered is None:
        raise Impossible("tcp.linux", f"{file} registers no congestion control")
    if _slow_start(source) != "standard":
        limitations.note("tcp.slow_start", f"{file} has its own slow start")
    writable = {name for name, permissions in _PARAMETER.findall(text) if int(permissions, 8) & _WRITABLE}
    settings: dict[str, str] = {}
    for parameter, value in source["parameters"].items():
        if parameter in writable:
            settings[f"/sys/module/{Path(file).stem}/parameters/{parameter}"] = str(int(value))
        else:
            limitations.note(f"tcp.{parameter}", f"{file} does not let it be set while the kernel runs")
    return registered.group(1), settings


def _slow_start(source: Mapping[str, Any]) -> str:
    """The name of a flow's slow start, which a specification gives alone or with parameters."""
    slow_start = source["slow_start"]
    return str(slow_start["name"]) if isinstance(slow_start, dict) else str(slow_start)


def _path(module: str, parameter: str) -> str:
    return f"/sys/module/tcp_{module}/parameters/{parameter}"
