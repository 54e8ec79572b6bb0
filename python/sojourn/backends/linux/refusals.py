"""What Linux cannot do of a run, as one line that begins with the key."""

from sojourn.backends.linux.limits import Impossible, Limitations
from sojourn.errors import InputError
from sojourn.scenario.given import Given


def refuse_impossible(problem: Impossible, given: Given) -> InputError:
    """The error for what Linux cannot do at all."""
    keys = _asked(problem.key, given)
    return InputError(f"{keys[0] if keys else problem.key}: {problem.reason}")


def refuse(limitations: Limitations, given: Given) -> None:
    """Refuses what Linux does otherwise, where somebody asked for it.

    Raises:
        InputError: somebody did.
    """
    for limitation in limitations.found:
        for key in _asked(limitation.key, given):
            raise InputError(f"{key}: {limitation.reason}")


def _asked(part: str, given: Given) -> list[str]:
    """The keys that were set and have this part in them; ``reverse.queue.limit`` has ``queue.limit`` too."""
    names = part.split(".")
    return [key for key in given.keys if _has(key.split("."), names)]


def _has(key: list[str], names: list[str]) -> bool:
    return any(key[place : place + len(names)] == names for place in range(len(key)))
