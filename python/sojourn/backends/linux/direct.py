"""Queue disciplines that the installed ``tc`` need not know: the guest sets them up itself, over netlink.

They are DualPI2, which Linux has since 6.17, and those of users' files that a kernel was built with.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sojourn.backends.linux import netlink
from sojourn.backends.linux.algorithms import Added
from sojourn.backends.linux.disciplines import ENDLESS_BYTES, Limit, Place, fixed
from sojourn.backends.linux.limits import Impossible
from sojourn.backends.linux.units import microseconds
from sojourn.linux.cache import BUILD, DUALPI2

#: Finds the name under which a file registers its discipline.
_REGISTERED = re.compile(r'\.id\s*=\s*"([^"]+)"')


@dataclass(frozen=True)
class Direct:
    """A discipline as the kernel takes it."""

    kind: str
    #: Attributes of netlink, concatenated.
    options: bytes = b""


def translate(queue: Mapping[str, Any], limit: Limit, place: Place, added: Added) -> Direct | None:
    """A discipline that the guest makes; None if ``tc`` makes it."""
    if "plugin" in queue:
        return _own(queue["plugin"], limit, added)
    if queue["name"] != "dualpi2":
        return None
    if DUALPI2 not in added.modules:
        newer = f"Linux has it since 6.17: `{BUILD} --source TREE` builds that, or --add {DUALPI2} with a file for this one"
        raise Impossible("queue.name", f"this kernel has no dualpi2; {newer}")
    return Direct("dualpi2", _dualpi2(queue["parameters"], limit, place))


def _own(plugin: int, limit: Limit, added: Added) -> Direct:
    file, text = added.text(plugin, "queue", "sch_mine.c")
    registered = _REGISTERED.search(text)
    if registered is None:
        raise Impossible("queue.linux", f"{file} registers no queue discipline")
    if limit != Limit():
        raise Impossible("queue.limit", f"{file} has its own limit")
    return Direct(registered.group(1))


def _dualpi2(parameters: Mapping[str, Any], limit: Limit, place: Place) -> bytes:
    """DualPI2's attributes (TCA_DUALPI2_* in include/uapi/linux/pkt_sched.h of Linux 6.17); gains are in 256ths of a hertz."""
    fixed(place, parameters, "rules", "linux", why="DualPI2 of Linux draws at random")
    if parameters["range"]:
        place.note("range", "DualPI2 of Linux marks from a threshold on: range = 0")
    if parameters["scheduler"] != "wrr":
        place.note("scheduler", "DualPI2 of Linux has wrr")
    coupling, share = parameters["coupling_factor"], parameters["classic_share"] * 100
    if coupling != round(coupling) or not 1 <= coupling <= 255:
        place.note("coupling_factor", "DualPI2 of Linux takes whole numbers up to 255")
    if share != round(share):
        place.note("classic_share", "DualPI2 of Linux takes whole percents")
    numbers = {
        1: limit.in_packets("dualpi2"),
        2: ENDLESS_BYTES,
        3: microseconds(parameters["target"]),
        4: microseconds(parameters["update_interval"]),
        5: max(round(parameters["alpha"] * 256), 1),
        6: max(round(parameters["beta"] * 256), 1),
        8: microseconds(parameters["minimum_threshold"] + parameters["range"] // 2),
        9: parameters["minimum_packets"],
    }
    small = {10: min(max(round(coupling), 1), 255), 13: round(share)}
    attributes = [*(netlink.number(kind, value) for kind, value in numbers.items())]
    return b"".join([*attributes, *(netlink.number(kind, value, "B") for kind, value in small.items())])
