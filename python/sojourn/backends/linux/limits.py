"""What Linux cannot do of a run: refused at once, or only if somebody asked for it."""

from dataclasses import dataclass, field


class Impossible(Exception):
    """Linux cannot do this at all, so the run is refused.

    Attributes:
        key: the part of the scenario's key that asks for it, such as ``queue.limit``.
        reason: why.
    """

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"{key}: {reason}")
        self.key = key
        self.reason = reason


@dataclass(frozen=True)
class Limitation:
    """Linux does something else than the specification says."""

    #: The part of the scenario's keys that ask for it, such as ``queue.mtu``.
    key: str
    #: What Linux does.
    reason: str


@dataclass
class Limitations:
    """All that a translation met. None of it matters where nobody set the key: the specification's value is a default then."""

    found: list[Limitation] = field(default_factory=list)

    def note(self, key: str, reason: str) -> None:
        """Notes a limitation."""
        self.found.append(Limitation(key, reason))
