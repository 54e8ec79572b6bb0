"""Has a guest go no faster than the host's clock, so that somebody can type into it."""

import time

from sojourn.backends.linux.answers import Answer
from sojourn.backends.linux.units import NANOSECONDS

#: What a guest says that wants to go on, and how far it is in ns (``keep_pace`` of main.c).
_QUESTION = "pace "


def kept(answer: Answer | None) -> Answer:
    """Answers the guest when the host's clock is as far as it is, and otherwise what ``answer`` does."""
    began: float | None = None

    def told(question: str) -> str:
        nonlocal began
        if not question.startswith(_QUESTION):
            return "" if answer is None else answer(question)
        moment, now = int(question.removeprefix(_QUESTION)) / NANOSECONDS, time.monotonic()
        # What is late stays late: it does not hurry afterwards.
        began = now - moment if began is None else max(began, now - moment)
        time.sleep(max(0.0, began + moment - now))
        return "on"

    return told
