"""Parameters as a file in Python declares them: attributes of its class, with default, bounds and meaning; and its inner state.

An instance has the values instead: numbers as they are, durations in seconds, sizes in bytes, rates in bits per second.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from sojourn import units
from sojourn.catalogue import DIMENSIONS

#: The kinds of parameter whose values are times, which hooks see in seconds.
IN_SECONDS = "duration"


@dataclass(frozen=True)
class Declaration:
    """A parameter of a class."""

    kind: str
    default: Any
    least: Any = None
    most: Any = None
    doc: str = ""
    source: str = ""
    choices: tuple[str, ...] | None = None

    def described(self, name: str) -> dict[str, Any]:
        """The parameter as the catalogue has it, in base units."""
        return {
            **{"name": name, "kind": self.kind, "doc": self.doc, "source": self.source, "choices": self.choices},
            **{"default": self._base(self.default), "minimum": self._base(self.least), "maximum": self._base(self.most)},
        }

    def _base(self, value: Any) -> Any:
        dimension = DIMENSIONS.get(self.kind)
        return value if value is None or dimension is None else dimension.parse(value)

    def seen(self, value: Any) -> Any:
        """A value in base units as hooks see it."""
        return value / units.PICOSECONDS if self.kind == IN_SECONDS else value


@dataclass(frozen=True)
class ShownAttribute:
    """An attribute of a class's instances that they show as their inner state."""

    doc: str
    unit: str
    phases: tuple[str, ...]

    def described(self, name: str) -> dict[str, Any]:
        """The value as the catalogue has it."""
        return {"name": name, "unit": self.unit, "doc": self.doc, "phases": self.phases or None}


def state(doc: str = "", *, unit: str = "", phases: Sequence[str] = ()) -> Any:
    """A value of the inner state: what an instance has in this attribute, None at first, is sampled where a scenario asks for it.

    It is a number, None while it is not known, or one of ``phases``.
    """
    return ShownAttribute(doc, unit, tuple(phases))


def number(default: float, *, least: float | None = None, most: float | None = None, doc: str = "", source: str = "") -> float:
    """A real number."""
    return cast(float, Declaration("number", default, least, most, doc, source))


def integer(default: int, *, least: int | None = 0, most: int | None = None, doc: str = "", source: str = "") -> int:
    """A whole number, 0 or more."""
    return cast(int, Declaration("integer", default, least, most, doc, source))


def boolean(default: bool, *, doc: str = "", source: str = "") -> bool:
    """True or false."""
    return cast(bool, Declaration("boolean", default, doc=doc, source=source))


def choice(default: str, *others: str, doc: str = "", source: str = "") -> str:
    """One of a few words."""
    return cast(str, Declaration("choice", default, doc=doc, source=source, choices=(default, *others)))


def duration(default: str, *, least: str | None = "0 s", most: str | None = None, doc: str = "", source: str = "") -> float:
    """A length of time, declared as a scenario writes it (``"5 ms"``); hooks see seconds."""
    return cast(float, Declaration("duration", default, least, most, doc, source))


def size(default: str, *, least: str | None = "0 B", most: str | None = None, doc: str = "", source: str = "") -> int:
    """A size, declared as a scenario writes it (``"1500 B"``); hooks see bytes."""
    return cast(int, Declaration("size", default, least, most, doc, source))


def rate(default: str, *, least: str | None = "1 bit/s", most: str | None = None, doc: str = "", source: str = "") -> int:
    """A rate, declared as a scenario writes it (``"10 Mbit/s"``); hooks see bits per second."""
    return cast(int, Declaration("rate", default, least, most, doc, source))
