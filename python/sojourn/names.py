"""Names that mean the same everywhere, and messages for names that are not known."""

import difflib
from collections.abc import Iterable

#: What selections of cells call a group of flows, as if it were an axis; no axis has this name.
GROUP = "group"


def unknown(what: str, given: str, known: Iterable[str]) -> str:
    """``unknown key "duratoin", did you mean "duration"? (known: ...)``."""
    names = list(known)
    close = difflib.get_close_matches(given.casefold(), {name.casefold(): name for name in names}, n=1, cutoff=0.5)
    nearest = next((name for name in names if close and name.casefold() == close[0]), None)
    hint = f', did you mean "{nearest}"?' if nearest else ""
    return f'unknown {what} "{given}"{hint} (known: {", ".join(names)})'
