"""What Linux cannot do of a run: refused at once, or only if somebody asked for it, as one line that begins with the key."""

from dataclasses import dataclass, field

from sojourn.errors import InputError
from sojourn.scenario.given import Given


class Impossible(Exception):
    """Linux cannot do this at all, or does something else than the specification says.

    Attributes:
        key: the part of the scenario's keys that asks for it, such as ``queue.limit``.
        reason: why.
    """

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"{key}: {reason}")
        self.key = key
        self.reason = reason

    def refused(self, given: Given) -> InputError:
        """The error that a user sees, who may have set the key."""
        return InputError(f"{next(iter(given.having(self.key)), self.key)}: {self.reason}")


@dataclass
class Limitations:
    """All that a translation met. None of it matters where nobody set the key: the specification's value is a default then."""

    found: list[Impossible] = field(default_factory=list)

    def note(self, key: str, reason: str) -> None:
        """Notes a limitation."""
        self.found.append(Impossible(key, reason))

    def refuse(self, given: Given) -> None:
        """Refuses what Linux does otherwise, where somebody asked for it."""
        for limitation in self.found:
            if given.having(limitation.key):
                raise limitation.refused(given)
