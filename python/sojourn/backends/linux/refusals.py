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
    if given.matching("sender_overhead"):
        raise InputError("sender_overhead: Linux sends at once; leave it out")
    for limitation in limitations.found:
        for key in _asked(limitation.key, given):
            raise InputError(f"{key}: {limitation.reason}")


def _asked(end: str, given: Given) -> list[str]:
    """The keys that were set and end so; ``reverse_queue.limit`` ends with ``queue.limit`` too."""
    names = end.split(".")
    return [key for key in given.keys if all(_same(*pair) for pair in zip(key.split(".")[-len(names) :], names, strict=False))]


def _same(part: str, name: str) -> bool:
    return part.removeprefix("reverse_") == name
