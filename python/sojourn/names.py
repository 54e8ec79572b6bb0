"""Messages for names that are not known."""

import difflib
from collections.abc import Iterable


def unknown(what: str, given: str, known: Iterable[str]) -> str:
    """``unknown key "duratoin", did you mean "duration"? (known: ...)``."""
    names = list(known)
    close = difflib.get_close_matches(given.casefold(), {name.casefold(): name for name in names}, n=1, cutoff=0.5)
    nearest = next((name for name in names if close and name.casefold() == close[0]), None)
    hint = f', did you mean "{nearest}"?' if nearest else ""
    listed = f"known: {', '.join(names)}" if names else "there is none"
    return f'unknown {what} "{given}"{hint} ({listed})'
