"""Backends: functions from one fully specified run to one result, and the registry of all of them.

Everything outside this package reaches a backend by its name, and nothing outside may know how a run was made. A new backend is a
module here and an entry in ``BACKENDS``.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sojourn import names
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.backends.backend import Backend, Recording, Stepping


def _simulator() -> "Backend":
    from sojourn.backends.simulator import Simulator

    return Simulator()


def _linux(kernel: str | None = None) -> "Backend":
    from sojourn.backends.linux.backend import Linux

    return Linux(kernel)


#: All backends by name. What makes one loads its module, so that names cost nothing.
BACKENDS: dict[str, "Callable[[], Backend]"] = {"simulator": _simulator, "linux": _linux}

#: Backends of which there may be several, each with a name of its own after a colon: ``linux:6.12``.
FAMILIES: dict[str, "Callable[[str], Backend]"] = {"linux": _linux}

#: The backend of those who name none.
DEFAULT = "simulator"


def named(backend: "str | Backend") -> "Backend":
    """The backend of a name; a backend stands for itself.

    Raises:
        InputError: there is none of that name.
    """
    if not isinstance(backend, str):
        return backend
    family, colon, member = backend.partition(":")
    if colon and family in FAMILIES:
        return FAMILIES[family](member)
    names.check("backend", backend, BACKENDS, InputError)
    return BACKENDS[backend]()


def several(wanted: "str | Backend | Sequence[str | Backend]") -> "tuple[Backend, ...]":
    """The backends of one or several names; a backend stands for itself.

    Raises:
        InputError: there is none of a name, none is named, or two are the same.
    """
    found = tuple(map(named, wanted)) if isinstance(wanted, Sequence) and not isinstance(wanted, str) else (named(wanted),)
    if not found:
        raise InputError(f"no backend is named (known: {', '.join(BACKENDS)})")
    names_of = [backend.identity.name for backend in found]
    for name in names_of:
        if names_of.count(name) > 1:
            raise InputError(f"the backend {name} is named {names_of.count(name)} times")
    return found


def stepping(backend: "str | Backend") -> "Stepping":
    """A backend whose runs can be watched while they go on.

    Raises:
        InputError: there is none of that name, or it is not one of those.
    """
    from sojourn.backends.backend import Stepping

    found = named(backend)
    if not isinstance(found, Stepping):
        raise InputError(f"the backend {found.identity.name} cannot show a run in progress")
    return found


def recording(backend: "str | Backend") -> "Recording":
    """A backend that can record the packets of a link and the states of connections.

    Raises:
        InputError: there is none of that name, or it is not one of those.
    """
    from sojourn.backends.backend import Recording

    found = named(backend)
    if not isinstance(found, Recording):
        raise InputError(f"the backend {found.identity.name} cannot record packets or connections")
    return found
